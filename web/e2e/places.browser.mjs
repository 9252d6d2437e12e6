// The pages as places: for whoever uses no mouse, hears the page, sees it large, or has a narrow screen. WCAG 2.2 AA over
// every page of panel, chat and dashboard, with cards in every state that waits.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { assertAccessible } from "./axe.mjs";
import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { cardOf, LOOK_MS, picture } from "./cards.mjs";
import { requestsOf } from "./requests.mjs";

const PLACES = ["/", "/accounts", "/activity", "/receipts", "/limits", "/passkeys", "/notices", "/safety", "/not-me"];

let bank;
let browser;
let requests;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
  requests = requestsOf(bank);
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});
beforeEach(() => requests.clear());

async function signIn(options = {}, withChat = true) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(await bank.open("ada"));
  await page.locator("#waiting-count").waitFor();
  if (withChat) await page.frameLocator("#chat").locator("#text").waitFor();
  return { context, page };
}

const toBob = () => requests.toBob(20);
test("every place of the panel, with the chat beside it, passes axe in light and dark", async (t) => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context } = await signIn({ colorScheme });
    for (const path of PLACES) {
      await page.goto(bank.origins.panel + path);
      await page.locator("main").waitFor();
      t.diagnostic(`${colorScheme} ${path}: ${await assertAccessible(page, `${colorScheme} ${path}`)} rules`);
    }
    await page.goto(`${bank.origins.panel}/receipts/nothing`);
    await assertAccessible(page, "a page that is not there");
    await context.close();
  }
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(bank.origins.panel);
  await assertAccessible(page, "the sign-in page");
  await context.close();
});

test("cards in every state pass axe", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await requests.clear();
    const { page, context } = await signIn({ colorScheme });
    const ready = await toBob();
    const open = await requests.transfer("Send some money to Mum", { payee: "Mum", amount: null });
    const careful = await requests.transfer("Send 21 to Bright Solar", { payee: "Bright Solar", amount: 2_100 });
    for (const request of [ready, open, careful]) await cardOf(page, request);
    await assertAccessible(page, `${colorScheme}: waiting, open and careful`);
    await picture(page, `cards-${colorScheme}`);
    await page.locator(`${ready.selector} .confirm`).scrollIntoViewIfNeeded();
    await page.waitForTimeout(LOOK_MS);
    await page.locator(`${ready.selector} .confirm`).click();
    await page.locator(`${ready.selector}[data-state="confirmed"]`).waitFor();
    await page.locator(`${open.selector}`).getByRole("button", { name: "Cancel" }).click();
    await page.locator(`${open.selector}[data-state="cancelled"]`).waitFor();
    await assertAccessible(page, `${colorScheme}: confirmed and cancelled`);
    await page.locator(ready.selector).getByRole("link", { name: "Receipt", exact: true }).click();
    await page.locator("main").waitFor();
    await assertAccessible(page, `${colorScheme}: a receipt`);
    await context.close();
  }
});

test("the dashboard passes axe", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const signedIn = page.waitForResponse((answer) => answer.url().endsWith("/login"));
  await page.goto(await bank.operate("olga"));
  assert.equal((await signedIn).status(), 204);
  for (const path of ["/", "/explain", "/reads"]) {
    await page.goto(bank.origins.dashboard + path);
    await page.locator("main").waitFor();
    await assertAccessible(page, `dashboard ${path}`);
  }
  await context.close();
});

test("without a mouse: from the top of the page through the card to a receipt", async () => {
  const { page, context } = await signIn();
  const request = await toBob();
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await page.locator("body").focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Go to what waits for you");
  await page.keyboard.press("Enter");
  // Every stop on the way can be seen, and the way leads through the card in the order in which it is read.
  const stops = [];
  for (let presses = 0; presses < 25; presses += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate((selector) => {
      const at = document.activeElement;
      const box = at.getBoundingClientRect();
      const seen = box.width > 0 && box.top < innerHeight && box.bottom > 0;
      const ring = getComputedStyle(at);
      const name = at.labels?.[0]?.textContent ?? at.textContent;
      return { inCard: at.closest(selector) !== null, name: name.trim(), seen, ringed: ring.outlineStyle !== "none" || ring.boxShadow !== "none" };
    }, request.selector);
    if (stop.inCard) {
      assert.ok(stop.seen && stop.ringed, JSON.stringify(stop));
      stops.push(stop.name);
    }
    if (stop.name === "Send 20.00 EUR to Bob Smith") break;
  }
  assert.deepEqual(stops, ["Note for Bob Smith (optional)", "Cancel", "Change", "Send 20.00 EUR to Bob Smith"]);
  await page.keyboard.press("Enter");
  await page.locator(`${request.selector}[data-state="confirmed"]`).waitFor();
  // The button is gone; whoever pressed it is still at this card.
  assert.ok(await card.evaluate((element) => element.contains(document.activeElement)));
  await context.close();
});

test("whoever hears the page hears what a card is about, the amount in words, and what warns of it", async () => {
  const { page, context } = await signIn();
  const careful = await requests.transfer("Send 21 to Bright Solar", { payee: "Bright Solar", amount: 2_100 });
  const card = await cardOf(page, careful);
  const heard = await card.ariaSnapshot();
  for (const words of [
    'heading "Send 21 euros" [level=3]',
    "term: To",
    "definition: Bright Solar",
    "You confirm this with your passkey: it goes to somebody new.",
    "You have never paid Bright Solar before.",
    "Set up a passkey",
  ]) {
    assert.ok(heard.includes(words), `${words} in\n${heard}`);
  }
  const known = await toBob();
  const button = page.locator(`${known.selector} .confirm`);
  await button.waitFor();
  assert.equal(await button.getAttribute("aria-describedby").then((ids) => ids.includes("heard-")), true);
  const about = await page.locator(`${known.selector} .visually-hidden[id^="heard-"]`).textContent();
  assert.equal(about, "Send 20 euros to Bob Smith");
  await context.close();
});

test("at 320 pixels, and at 640 with text twice as large, nothing runs over and everything can be pressed", async () => {
  const { page, context } = await signIn({ viewport: { width: 320, height: 640 }, hasTouch: true });
  const request = await requests.transfer("Send 21 to Bright Solar", { payee: "Bright Solar", amount: 2_100 });
  for (const [pixels, size] of [[320, "100%"], [640, "200%"]]) {
    await page.setViewportSize({ width: pixels, height: 640 });
    for (const path of PLACES) {
      await page.goto(bank.origins.panel + path);
      await page.locator("main").waitFor();
      if (path === "/") await cardOf(page, request);
      await page.evaluate((size) => document.documentElement.style.setProperty("font-size", size), size);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= pixels, `${path} at ${size} is ${width} wide`);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll("main button, main input, header a, header button, main select")]
          .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 24)
          .map((element) => element.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(small, [], `${path} at ${size}`);
      if (path === "/" || path === "/passkeys") await picture(page, `narrow-${size === "200%" ? "large-" : ""}${path.slice(1) || "home"}`);
    }
  }
  await assertAccessible(page, "320 pixels");
  await context.close();
});

test("who wants less motion gets none, and forced colours keep the borders", async () => {
  const { page, context } = await signIn(
    { reducedMotion: "reduce", forcedColors: "active" },
    // The chat is not looked at here, and a customer gets ten codes for it in a minute.
    false,
  );
  const request = await toBob();
  const card = await cardOf(page, request);
  const moving = await page.evaluate(() => document.getAnimations().length);
  assert.equal(moving, 0);
  const border = await card.locator(".confirm").evaluate((element) => getComputedStyle(element).borderTopStyle);
  assert.notEqual(border, "none");
  await context.close();
});
