// The chat in its frame, in a real browser over the real bank: what was typed and what was pasted, lost connections
// and sessions, and the wall around the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";

let bank;
let browser;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});

/** Signs Ada in in a browser of her own and waits until the chat takes messages. */
async function open(options = {}) {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  const seen = { console: [], cookies: [] };
  page.on("console", (message) => seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.console.push(String(error)));
  context.on("request", (request) => {
    if (request.url().startsWith(bank.origins.chat)) seen.cookies.push(request.headers().cookie);
  });
  await page.goto(await bank.open("ada"));
  const chat = page.frameLocator("#chat");
  const box = chat.locator("#text");
  await box.waitFor();
  const frame = () => page.frames().find((one) => one.url().startsWith(bank.origins.chat));
  return { context, page, chat, box, frame, seen };
}

/** A fresh conversation, so that tests do not read each other's words. */
async function startOver({ page, chat }) {
  const begun = page.waitForResponse((response) => response.url().endsWith("/conversations"));
  await chat.locator("#new").click();
  await begun;
  await chat.locator(".suggestion").first().waitFor();
}

/** Presses Enter and waits for the end of the reply. */
async function send({ page, chat, box }) {
  const before = await chat.locator(".assistant").count();
  await box.press("Enter");
  await chat.locator(".assistant").nth(before).waitFor();
  await chat.locator(".waiting").waitFor({ state: "detached" });
  await page.waitForTimeout(50);
}

async function newestMessage() {
  const [row] = await bank.query("SELECT body, spans FROM bank.utterance ORDER BY sequence DESC LIMIT 1");
  return row;
}

const messages = async () => Number((await bank.query("SELECT count(*)::text AS n FROM bank.utterance"))[0].n);

async function paste({ page, box }, text) {
  await page.bringToFront();
  await page.evaluate((words) => navigator.clipboard.writeText(words), text);
  await box.focus();
  await page.keyboard.press("Control+V");
}

test("typed words are typed and pasted ones are pasted, through edits and undo", async () => {
  const ada = await open();
  const { page, box, context } = ada;
  await startOver(ada);

  await box.focus();
  await page.keyboard.type("Pay é: ");
  await paste(ada, "Bob 500");
  await page.keyboard.type(" ok");
  await send(ada);
  assert.deepEqual(await newestMessage(), {
    body: "Pay é: Bob 500 ok",
    spans: [{ kind: "paste", start: 8, end: 15 }],
  });

  await paste(ada, "500");
  await page.keyboard.press("Home");
  await page.keyboard.type("About ");
  await page.keyboard.press("End");
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("Backspace");
  await page.keyboard.press("Control+Z");
  assert.equal(await box.inputValue(), "About 500");
  await send(ada);
  assert.deepEqual((await newestMessage()).spans, [{ kind: "paste", start: 6, end: 9 }]);

  await box.focus();
  await page.keyboard.type("What did I spnd");
  await page.keyboard.press("Control+Backspace");
  await page.keyboard.type("spend?");
  await send(ada);
  assert.deepEqual(await newestMessage(), { body: "What did I spend?", spans: [] });

  const devtools = await context.newCDPSession(page);
  await box.focus();
  await devtools.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
  await devtools.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  await devtools.send("Input.insertText", { text: "日本" });
  await send(ada);
  assert.deepEqual(await newestMessage(), { body: "日本", spans: [] });

  await box.evaluate((element) => {
    element.value = "changed behind the page's back";
  });
  await send(ada);
  assert.deepEqual((await newestMessage()).spans, [{ kind: "paste", start: 0, end: 30 }]);
  await context.close();
});

test("dragged words are dropped ones", async () => {
  const ada = await open();
  const { page, chat, box } = ada;
  await startOver(ada);
  await box.focus();
  await page.keyboard.type("hello");
  await send(ada);
  await box.focus();
  await page.keyboard.type("Pay ");
  const from = await chat.locator(".customer .text").boundingBox();
  const to = await box.boundingBox();
  await chat.locator(".customer .text").selectText();
  await page.mouse.move(from.x + 20, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + 30, from.y + from.height, { steps: 4 });
  await page.mouse.move(to.x + to.width - 30, to.y + to.height / 2, { steps: 10 });
  await page.mouse.up();
  assert.equal(await box.inputValue(), "Pay hello");
  await send(ada);
  assert.deepEqual((await newestMessage()).spans, [{ kind: "drop", start: 4, end: 9 }]);
  await ada.context.close();
});

test("a request in ordinary words is prepared, and the chat points at the panel", async () => {
  const ada = await open();
  await startOver(ada);
  await ada.box.focus();
  await ada.page.keyboard.type("Send 20 to Bob");
  await send(ada);
  await ada.chat.locator(".prepared").waitFor();
  assert.match(await ada.chat.locator(".looked").last().innerText(), /payees/);
  // One of Ada's payees has an order for a name: that it was ignored is said, and nothing else is wrong.
  const remarks = await ada.chat.locator(".trouble").allInnerTexts();
  assert.ok(remarks.every((remark) => /told to ignore it/.test(remark)), remarks.join());
  // Change puts the keyboard where the customer writes what should be different.
  await ada.page.getByRole("button", { name: "Change" }).first().click();
  await ada.page.keyboard.type("No, 30");
  assert.equal(await ada.box.inputValue(), "No, 30");
  await send(ada);
  assert.deepEqual(await newestMessage(), { body: "No, 30", spans: [] });
  await ada.context.close();
});

test("a suggested question is no typing", async () => {
  const ada = await open();
  await startOver(ada);
  const question = ada.chat.locator(".suggestion").first();
  const text = await question.innerText();
  await question.click();
  await ada.chat.locator(".assistant").waitFor();
  await ada.chat.locator(".waiting").waitFor({ state: "detached" });
  assert.deepEqual(await newestMessage(), { body: text, spans: [{ kind: "paste", start: 0, end: text.length }] });
  await ada.context.close();
});

test("a message without a connection waits, and is sent once", async () => {
  const ada = await open();
  await startOver(ada);
  const before = await messages();
  await ada.context.setOffline(true);
  await ada.chat.getByText("You are offline").waitFor();
  await ada.box.focus();
  await ada.page.keyboard.type("What is my balance?");
  await ada.box.press("Enter");
  const again = ada.chat.getByRole("button", { name: "Send again" });
  await again.waitFor();
  assert.match(await ada.chat.locator(".trouble").innerText(), /No money moved/);
  assert.equal(await messages(), before);
  await ada.context.setOffline(false);
  await again.click();
  await ada.chat.locator(".assistant").waitFor();
  await ada.chat.locator(".waiting").waitFor({ state: "detached" });
  assert.equal(await messages(), before + 1);
  assert.equal(await ada.chat.locator(".customer").count(), 1);
  await ada.context.close();
});

test("a lost chat session reloads the frame once and keeps the draft", async () => {
  const ada = await open();
  await startOver(ada);
  await ada.page.evaluate(() => {
    window.loads = 0;
    document.getElementById("chat").addEventListener("load", () => (window.loads += 1));
  });
  const loads = () => ada.page.evaluate(() => window.loads);
  await bank.plant("UPDATE bank.session_grant SET revoked_at = bank.bank_clock() WHERE audience = 'intake'");
  await ada.box.focus();
  await ada.page.keyboard.type("my long draft");
  await ada.box.press("Enter");
  await ada.page.waitForFunction(() => window.loads === 1);
  await ada.box.waitFor();
  assert.equal(await ada.box.inputValue(), "my long draft");
  await send(ada);
  // The page does not know any more how the draft came in.
  assert.deepEqual((await newestMessage()).spans, [{ kind: "paste", start: 0, end: 13 }]);
  assert.equal(await loads(), 1);
  await ada.context.close();
});

test("both walls of the page hold", async () => {
  const ada = await open();
  await startOver(ada);
  await ada.box.focus();
  await ada.page.keyboard.type("<img src=x onerror=alert(1)> https://evil.example");
  await send(ada);
  // What the page itself does breaks no rule. Chromium's remark is about frames of the same origin.
  assert.deepEqual(
    ada.seen.console.filter((text) => !/allow-scripts and allow-same-origin/.test(text)),
    [],
  );
  const frame = ada.frame();
  await assert.rejects(
    frame.evaluate(() => {
      document.body.innerHTML = "<b>no</b>";
    }),
    /TrustedHTML/,
  );
  assert.equal(await frame.evaluate(() => document.cookie), "");
  const reached = await frame.evaluate(
    (panel) => fetch(`${panel}/api/cards`, { mode: "no-cors", credentials: "include" }).then(() => true, () => false),
    bank.origins.panel,
  );
  assert.equal(reached, false, "the frame reaches nothing but its own origin");
  assert.equal(await frame.evaluate(() => document.querySelectorAll("img, a, iframe, style").length), 0);
  assert.deepEqual([...new Set(ada.seen.cookies)], [undefined], "the chat's server never sees a cookie");
  await ada.context.close();
});

test("by keyboard alone, at 320 pixels, in both schemes and with large text", async () => {
  for (const [colorScheme, size] of [
    ["light", "100%"],
    ["dark", "200%"],
  ]) {
    const ada = await open({ viewport: { width: 320, height: 700 }, colorScheme });
    await startOver(ada);
    const frame = ada.frame();
    await frame.evaluate((fontSize) => {
      document.documentElement.style.fontSize = fontSize;
    }, size);
    const wider = await frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wider <= 0, `${colorScheme}: ${wider} pixels too wide`);
    await ada.box.focus();
    await ada.page.keyboard.type("one");
    await ada.page.keyboard.press("Shift+Enter");
    await ada.page.keyboard.type("two");
    await send(ada);
    assert.equal((await newestMessage()).body, "one\ntwo");
    assert.equal(await frame.evaluate(() => document.activeElement?.id), "text", "writing goes on");
    await ada.chat.locator("#conversations").focus();
    await ada.page.keyboard.press("Tab");
    assert.equal(await frame.evaluate(() => document.activeElement?.id), "new");
    await ada.context.close();
  }
});
