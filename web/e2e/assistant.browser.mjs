// What the chat shows besides words: the conversations there were, what was looked at by the door's receipts, a picture of
// amounts with its table, the bank's own sentences in the panel's language, and what stands there when something is wrong.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { assertAccessible } from "./axe.mjs";
import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { picture } from "./cards.mjs";

let bank;
let browser;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});

async function open(options = {}, language = null) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(await bank.open("ada"));
  if (language !== null) {
    await page.getByRole("button", { name: language }).click();
    await page.waitForLoadState();
  }
  const chat = page.frameLocator("#chat");
  const box = chat.locator("#text");
  await box.waitFor();
  const frame = () => page.frames().find((one) => one.url().startsWith(bank.origins.chat));
  return { context, page, chat, box, frame };
}

async function startOver({ page, chat }) {
  const begun = page.waitForResponse((response) => response.url().endsWith("/conversations") && response.request().method() === "POST");
  await chat.locator("#new").click();
  await begun;
  await chat.locator(".suggestion").first().waitFor();
}

async function send({ page, chat, box }, words) {
  const before = await chat.locator(".assistant").count();
  await box.focus();
  await page.keyboard.type(words);
  await box.press("Enter");
  await chat.locator(".assistant").nth(before).waitFor();
  await chat.locator(".waiting").waitFor({ state: "detached" });
}

test("what was looked at stands under the door's receipts, and spending is a picture with a table", async () => {
  for (const [colorScheme, width] of [
    ["light", 1280],
    ["dark", 360],
  ]) {
    const ada = await open({ colorScheme, viewport: { width, height: 900 } });
    const { chat, page } = ada;
    await startOver(ada);
    await send(ada, "What did I spend last month?");
    const looked = chat.locator(".looked").last();
    assert.match(await looked.locator("summary").innerText(), /looked at: .*spending/);
    await looked.locator("summary").click();
    const leaf = await looked.locator(".receipt").first().getAttribute("title");
    const [row] = await bank.query(`SELECT tool FROM bank.tool_call WHERE record_leaf = decode('${leaf}', 'hex')`);
    assert.ok(row.tool.length > 0, leaf);
    const bars = await chat.locator(".chart .bar-row").count();
    assert.ok(bars >= 2, `${bars} bars`);
    await chat.locator(".chart summary").click();
    assert.equal(await chat.locator(".chart tbody tr").count(), bars);
    const reply = await chat.locator(".assistant .text").last().innerText();
    for (const amount of await chat.locator(".chart tbody td.figures").allInnerTexts()) {
      assert.ok(reply.includes(amount), `${amount} is not in the reply`);
    }
    const wider = await ada.frame().evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wider <= 0, `${wider} pixels too wide at ${width}`);
    await picture(page, `assistant-spending-${colorScheme}-${width}`);
    await assertAccessible(page, `spending, ${colorScheme}`);
    await ada.context.close();
  }
});

test("earlier conversations are listed, read by keyboard, and not gone on with", async () => {
  const ada = await open();
  const { chat, page } = ada;
  await startOver(ada);
  await send(ada, "What are my limits?");
  await startOver(ada);
  await send(ada, "Show my cards");
  await chat.locator("#conversations").focus();
  await page.keyboard.press("Enter");
  const entries = chat.locator(".entry");
  await entries.first().waitFor();
  assert.match(await entries.nth(0).innerText(), /Show my cards[^]*This conversation/);
  assert.match(await entries.nth(1).innerText(), /What are my limits\?/);
  await picture(page, "assistant-conversations");
  await assertAccessible(page, "conversations");
  await page.keyboard.press("Tab"); // New conversation
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await chat.locator("#earlier").waitFor();
  assert.equal(await chat.locator(".customer .text").first().innerText(), "What are my limits?");
  assert.equal(await ada.box.isVisible(), false, "an earlier conversation is read, not written in");
  assert.match(await chat.locator(".looked summary").first().innerText(), /limits/);
  await picture(page, "assistant-earlier");
  await assertAccessible(page, "an earlier conversation");
  assert.equal(await ada.frame().evaluate(() => document.activeElement?.id), "back");
  await page.keyboard.press("Enter");
  await ada.box.waitFor();
  assert.equal(await chat.locator(".customer .text").first().innerText(), "Show my cards");
  // Escape folds the list and gives the keyboard back.
  await page.keyboard.press("Enter");
  await entries.first().waitFor();
  await entries.first().focus();
  await page.keyboard.press("Escape");
  assert.equal(await chat.locator("#conversation-list").isVisible(), false);
  assert.equal(await ada.frame().evaluate(() => document.activeElement?.id), "conversations");
  await ada.context.close();
});

test("the bank's own sentences are in the panel's language, and the page runs its way", async () => {
  for (const [language, lang, dir, placeholder, looked, offline] of [
    ["Deutsch", "de", "ltr", "Nachricht…", /angesehen:/, "Sie sind offline"],
    ["العربية", "ar", "rtl", "رسالة…", /اطّلع على:/, "أنت غير متصل"],
    ["English", "en", "ltr", "Message…", /looked at:/, "You are offline"],
  ]) {
    const ada = await open({ viewport: { width: 390, height: 844 } }, language);
    const { chat, page } = ada;
    const frame = ada.frame();
    assert.deepEqual(await frame.evaluate(() => [document.documentElement.lang, document.documentElement.dir]), [lang, dir]);
    await startOver(ada);
    assert.equal(await ada.box.getAttribute("placeholder"), placeholder);
    await send(ada, "What are my limits?");
    assert.match(await chat.locator(".looked summary").innerText(), looked);
    await picture(page, `assistant-${lang}`);
    await assertAccessible(page, lang);
    await ada.context.setOffline(true);
    await chat.getByText(offline).waitFor();
    await chat.locator("#conversations").click();
    await chat.locator("#conversation-list p").waitFor();
    await picture(page, `assistant-offline-${lang}`);
    await assertAccessible(page, `offline, ${lang}`);
    await ada.context.setOffline(false);
    await ada.context.close();
  }
});

test("an assistant that is away says so, says that no money moved, and takes the message again", async () => {
  const ada = await open();
  const { chat, page } = ada;
  await startOver(ada);
  await page.route("**/messages", (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" }));
  await ada.box.focus();
  await page.keyboard.type("What is my balance?");
  await ada.box.press("Enter");
  const trouble = chat.locator(".trouble");
  await trouble.waitFor();
  assert.match(await trouble.innerText(), /no money moved/);
  await picture(page, "assistant-error");
  await assertAccessible(page, "an error");
  await page.unroute("**/messages");
  await chat.getByRole("button", { name: "Put it back in the box" }).click();
  assert.equal(await ada.box.inputValue(), "What is my balance?");
  await ada.context.close();
});
