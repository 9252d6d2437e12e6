// After a Confirm, in a real browser over the real bank: the time to undo, what the bank holds, and what both say.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { cardOf, inState, LOOK_MS, picture } from "./cards.mjs";
import { ledgerOf } from "./ledger.mjs";
import { requestsOf } from "./requests.mjs";

let bank;
let browser;
let toBob;
let number, balance;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
  ({ toBob } = requestsOf(bank));
  ({ number, balance } = ledgerOf(bank));
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});

async function signIn(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => {
    // Chromium's remark about every frame with these two words; the chat's is of another origin.
    if (!message.text().startsWith("An iframe which has both")) said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(await bank.open("ada"));
  await page.locator("#waiting-count").waitFor();
  return { context, page, said };
}

/** Looks at the card for as long as it takes, and presses its button. */
async function press(page, request) {
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await card.locator(".confirm").click();
  return card;
}

test("a payment is undone by keyboard alone, and the card says so in words", async () => {
  const { page, context, said } = await signIn();
  const before = await balance();
  const request = await toBob(20);
  const waiting = page.locator(request.selector);
  await waiting.waitFor();
  assert.match(await waiting.locator(".undo-note").innerText(), /10 seconds to undo/);
  const card = await press(page, request);
  await inState(page, request, "confirmed");
  assert.equal(await balance(), before - 2_000);
  assert.match(await card.locator(".undo-time").innerText(), /You can undo this for \d+ seconds?\./);
  await picture(page, "undo");
  // A page that is opened again still offers it.
  await page.reload();
  await inState(page, request, "confirmed");
  const undo = page.locator(`${request.selector} .undo`);
  assert.match(await undo.getAttribute("aria-description"), /20 euros/);
  await undo.focus();
  await page.keyboard.press("Enter");
  await page.locator(`${request.selector} .undo`).waitFor({ state: "detached" });
  await page.locator(`${request.selector} .card-status`, { hasText: "Undone. Nothing was sent" }).waitFor();
  assert.equal(await balance(), before);
  await picture(page, "undone");
  assert.deepEqual(said, []);
  await context.close();
});

test("after its time the button is gone and the words say that it is on its way", async () => {
  const { page, context } = await signIn();
  await bank.plant("UPDATE bank.setting SET undo_seconds = 2");
  const request = await toBob(21);
  const card = await press(page, request);
  await card.locator(".undo").waitFor();
  await card.locator(".undo").waitFor({ state: "detached", timeout: 6_000 });
  assert.equal(await card.locator(".card-status").innerText(), "On its way.");
  await bank.plant("UPDATE bank.setting SET undo_seconds = 10");
  await context.close();
});

test("a held payment says why and until when, on a small screen too, and can be cancelled", async () => {
  await bank.plant(
    "INSERT INTO bank.operator_rule (rule_id, currency, above_minor_units, operator) VALUES (gen_random_uuid(), 'EUR', 3000, 'grace')",
  );
  const { page, context, said } = await signIn({ viewport: { width: 320, height: 900 } });
  const before = await balance();
  const request = await toBob(35);
  const waiting = page.locator(request.selector);
  await waiting.locator('[data-code="held_operator_rule"]').waitFor();
  const card = await press(page, request);
  await inState(page, request, "held");
  assert.match(await card.locator(".card-status").innerText(), /The bank waits until somebody of the bank has looked at it/);
  assert.match(await card.locator(".hold-time").innerText(), /ends unsent on .* \(in [34] days\)/);
  await picture(page, "held");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(wide, false, "nothing to scroll sideways at 320 px");
  await card.getByRole("button", { name: "Cancel" }).click();
  await inState(page, request, "cancelled");
  assert.equal(await balance(), before);
  assert.deepEqual(said, []);
  await context.close();
});

test("a notice's link stops what leaves without a login, and the panel stops everything with one press", async () => {
  await bank.plant("UPDATE bank.operator_rule SET ended_at = bank.bank_clock()");
  const { page, context, said } = await signIn();
  const before = await balance();
  const request = await toBob(22);
  await press(page, request);
  await inState(page, request, "confirmed");
  await page.goto(`${bank.origins.panel}/notices`);
  assert.equal(await page.locator(".notices li").first().locator(".what").innerText(), "New:\nYou confirmed something");
  await picture(page, "notices");
  // What a channel would have carried; the word itself is known to its hash alone.
  await bank.plant(
    "UPDATE bank.notice SET not_me_hash = sha256(convert_to(repeat('a', 64), 'UTF8')) WHERE kind = 'confirmed' AND number = (SELECT max(number) FROM bank.notice WHERE kind = 'confirmed')",
  );
  const stranger = await browser.newContext({ viewport: { width: 320, height: 800 } });
  const link = await stranger.newPage();
  await link.goto(`${bank.origins.panel}/not-me#stop-${"a".repeat(64)}`);
  assert.equal(new URL(link.url()).hash, "", "the word has left the address");
  assert.equal(await number("SELECT count(*)::text AS n FROM bank.payment_freeze"), 0, "opening it stops nothing");
  await link.getByRole("button", { name: "This was not me: stop my payments" }).click();
  await link.locator("#not-me-said", { hasText: "Stopped. Nothing leaves your accounts any more" }).waitFor();
  assert.deepEqual(await stranger.cookies(), []);
  await picture(link, "not-me");
  assert.equal(await balance(), before, "what could be undone was undone");
  await page.goto(`${bank.origins.panel}/safety`);
  await page.locator(".frozen").waitFor();
  await page.getByRole("button", { name: "Let payments go again" }).click();
  await page.getByText("sign in once more").waitFor();
  await picture(page, "safety");
  assert.deepEqual(said, []);
  await stranger.close();
  await context.close();
});
