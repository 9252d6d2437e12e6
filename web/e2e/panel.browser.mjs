// The panel in a real browser over the real bank: which presses count, what happens when a card changes under the
// customer's eyes, and what the page shows when it does not know. Money is counted in the tables, not on the page.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { cardOf, inState, LOOK_MS } from "./cards.mjs";
import { ledgerOf } from "./ledger.mjs";
import { requestsOf } from "./requests.mjs";

let bank;
let browser;
let writes, asks, toBob, clear;
let number, balance, executions;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
  ({ writes, asks, toBob, clear } = requestsOf(bank));
  ({ number, balance, executions } = ledgerOf(bank));
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});
beforeEach(() => clear());

/** Signs Ada in in a browser of her own. */
async function signIn(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(await bank.open("ada"));
  await page.locator("#waiting-count").waitFor();
  return { context, page, said };
}

const focused = (page) => page.evaluate(() => `${document.activeElement.tagName}.${document.activeElement.className}`);

test("a newcomer types, presses once, and has a receipt", async () => {
  const { page, context, said } = await signIn();
  const before = await balance();
  assert.equal(new URL(page.url()).hash, "", "the token left the address bar");
  const chat = page.frameLocator("#chat");
  await chat.locator("#text").fill("Send 20 to Bob");
  await chat.locator("#text").press("Enter");
  const confirm = page.getByRole("button", { name: "Send 20.00 EUR to Bob Smith" });
  await confirm.waitFor();
  assert.equal(await page.locator("#waiting-count").innerText(), "1");
  assert.match(await page.locator(".you-wrote").innerText(), /Send 20 to Bob/);
  await page.waitForTimeout(LOOK_MS);
  await confirm.click();
  await page.locator('.card[data-state="confirmed"]').waitFor();
  assert.equal(await balance(), before - 2_000);
  assert.match(await page.locator(".card").innerText(), /New balance\s+1,220\.50 EUR/);
  await page.getByRole("link", { name: "Receipt", exact: true }).click();
  await page.getByRole("heading", { name: "Send 20.00 EUR" }).waitFor();
  const unexpected = said.filter((line) => !line.includes("allow-scripts and allow-same-origin"));
  assert.deepEqual(unexpected, []);
  await context.close();
});

test("a card appears and is read aloud without taking the focus", async () => {
  const { page, context } = await signIn();
  await page.waitForTimeout(300);
  await cardOf(page, await toBob(11));
  assert.equal(await page.locator("#say-politely").textContent(), "Waiting for you: Send 11 euros to Bob Smith");
  assert.equal(await focused(page), "BODY.page");
  await context.close();
});

test("only the customer's own, considered press counts", async () => {
  const { page, context } = await signIn();
  const before = await executions();
  const request = await toBob(12);
  const card = await cardOf(page, request);
  const [confirm, why] = [card.locator(".confirm"), card.locator(".why")];
  await confirm.click();
  assert.match(await why.innerText(), /appeared or changed a moment ago/);
  await page.waitForTimeout(LOOK_MS);

  await confirm.evaluate((button) => {
    button.focus();
    button.click();
    button.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
    button.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  });
  assert.match(await why.innerText(), /Only you can press/);

  // A key that was already down when the button got the focus.
  await card.locator("input").focus();
  await page.keyboard.down("Enter");
  await confirm.evaluate((button) => button.focus());
  await page.keyboard.down("Enter");
  await page.keyboard.down("Enter");
  assert.match(await why.innerText(), /already down/);
  await page.keyboard.up("Enter");

  // The second after the window came back.
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await page.keyboard.press("Enter");
  assert.match(await why.innerText(), /just came back/);

  await card.locator("input").fill("Rent");
  await card.locator("input").press("Enter");
  await page.waitForTimeout(300);
  assert.equal(await card.getAttribute("data-state"), "pending");
  assert.equal(await executions(), before);
  await context.close();
});

test("the keyboard alone is enough", async () => {
  const { page, context } = await signIn();
  const request = await toBob(13);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await card.locator("input").focus();
  await page.keyboard.type("Rent");
  while (!(await focused(page)).includes("confirm")) await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await inState(page, request, "confirmed");
  assert.equal(await focused(page), "P.card-status", "the outcome is read, not another button");
  const [{ note }] = await bank.query(`SELECT note FROM bank.execution WHERE action_id = '${request.id}'`);
  assert.equal(note, "Rent");
  await context.close();
});

test("payments of one message are one card, and one of them can be dropped by the keyboard", async () => {
  const { page, context } = await signIn();
  const before = await balance();
  await page.frameLocator("#chat").locator("#text").fill("Pay Alice 30 and Bob 45");
  await page.frameLocator("#chat").locator("#text").press("Enter");
  const confirm = page.getByRole("button", { name: "Send 75.00 EUR to 2 payees" });
  await confirm.waitFor();
  const card = page.locator('.card[data-state="pending"]');
  const heard = card.getByRole("table", { name: "2 payments" });
  assert.match(await heard.innerText(), /To\s+Amount[\s\S]+Alice[\s\S]+30\.00 EUR[\s\S]+Bob Smith[\s\S]+45\.00 EUR[\s\S]+Total\s+75\.00 EUR/);
  await card.getByRole("button", { name: "Drop 45 euros to Bob Smith" }).focus();
  await page.keyboard.press("Enter");
  const left = page.getByRole("button", { name: "Send 30.00 EUR to Alice" });
  await left.waitFor();
  assert.equal(await focused(page), "P.card-status", "what was dropped is read, and no button has the focus");
  assert.match(await card.locator(".card-status").innerText(), /^Dropped: 45\.00 EUR[\s\S]+to Bob Smith\./);
  assert.equal(await card.locator("table").count(), 0, "one payment is no table");
  await page.waitForTimeout(LOOK_MS);
  await left.click();
  // Another payment may still wait for its undo window beside it.
  await page.locator('.card[data-state="confirmed"]').filter({ hasText: "Alice" }).first().waitFor();
  assert.equal(await balance(), before - 3_000);
  await context.close();
});

test("a double click is one payment", async () => {
  const { page, context } = await signIn();
  const before = await balance();
  const request = await toBob(14);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await card.locator(".confirm").dblclick();
  await inState(page, request, "confirmed");
  assert.equal(await balance(), before - 1_400);
  await context.close();
});

test("a replaced card loses its button and says so, and the newer one waits for its own press", async () => {
  const { page, context } = await signIn();
  const older = await toBob(15);
  const card = await cardOf(page, older);
  await card.locator(".confirm").focus();
  await writes("no, 16 to Bob", older.conversation);
  const newer = await asks(older.conversation, { payee: "Bob Smith", amount: 1_600, instead: older });
  await inState(page, older, "superseded");
  assert.equal(await card.locator("button").count(), 0);
  assert.match(await card.innerText(), /Replaced by a newer request/);
  assert.equal(await focused(page), "P.card-status");
  const next = await cardOf(page, newer);
  assert.match(await next.innerText(), /Send 16\.00 EUR/);
  // What took another request's place is agreed to with a passkey, and this customer has none yet.
  await next.getByText("You have no passkey yet").waitFor();
  assert.equal(await next.locator(".confirm").count(), 0);
  await card.getByRole("link").click();
  assert.match(await focused(page), /card-title/);
  await context.close();
});

test("a tab that missed the news is refused and shows the card as it is now", async () => {
  const { page, context } = await signIn();
  const before = await executions();
  const request = await toBob(17);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await page.route("**/api/cards", (route) => route.abort());
  await bank.plant("UPDATE bank.payee SET name = 'Bob Smyth' WHERE name = 'Bob Smith'");
  await card.locator(".confirm").click();
  await card.getByText("Something changed since this card was drawn").waitFor();
  assert.equal(await card.locator(".confirm").innerText(), "Send 17.00 EUR to Bob Smyth");
  // The new card has a second of its own.
  await card.locator(".confirm").click();
  assert.match(await card.locator(".why").innerText(), /a moment ago/);
  assert.equal(await executions(), before);
  await bank.plant("UPDATE bank.payee SET name = 'Bob Smith' WHERE name = 'Bob Smyth'");
  await context.close();
});

test("what one tab confirmed the other shows, and both share one stream", async () => {
  const { page, context } = await signIn();
  const request = await toBob(18);
  await cardOf(page, request);
  let streams = 0;
  context.on("request", (made) => (streams += made.url().endsWith("/api/events") ? 1 : 0));
  const others = [];
  for (let tab = 0; tab < 5; tab += 1) {
    const other = await context.newPage();
    await other.goto(bank.origins.panel);
    await cardOf(other, request);
    others.push(other);
  }
  await page.bringToFront();
  await page.waitForTimeout(LOOK_MS);
  const began = Date.now();
  const answered = page.waitForResponse((response) => response.url().endsWith("/confirm"));
  await page.locator(`${request.selector} .confirm`).click();
  await answered;
  const took = Date.now() - began;
  assert.ok(took < 1_000, `six tabs open, answered after ${took} ms`);
  for (const other of others) await inState(other, request, "confirmed");
  assert.equal(streams, 0, "the first tab has the one stream");
  assert.equal(await number(`SELECT count(*)::text AS n FROM bank.execution WHERE action_id = '${request.id}'`), 1);
  await context.close();
});

test("a later no takes the button away until the customer keeps it", async () => {
  const { page, context } = await signIn();
  const request = await toBob(19);
  const card = await cardOf(page, request);
  await writes("no, stop", request.conversation);
  await card.getByRole("button", { name: "Keep" }).waitFor();
  assert.equal(await card.locator(".confirm").count(), 0);
  await card.getByRole("button", { name: "Keep" }).click();
  await card.locator(".confirm").waitFor();
  await page.waitForTimeout(LOOK_MS);
  await card.getByRole("button", { name: "Cancel" }).click();
  await inState(page, request, "cancelled");
  await context.close();
});

test("open values are fields, and filling them makes a card of its own", async () => {
  const { page, context } = await signIn();
  const request = await asks(await writes("Send some money"), {});
  const card = await cardOf(page, request);
  const [confirm, use] = [card.locator(".confirm"), card.getByRole("button", { name: "Use this" })];
  assert.equal(await confirm.isDisabled(), true);
  await use.click();
  assert.notEqual(await card.locator(".complaint").first().innerText(), "");
  await card.locator("select").selectOption({ label: "Carol ·· 7731" });
  await card.locator('input[inputmode="decimal"]').fill("nineteen");
  await use.click();
  await card.getByText("Type an amount such as 20.00").waitFor();
  assert.match(await card.innerText(), /Carol/, "what was right is kept");
  await card.locator('input[inputmode="decimal"]').fill("1,019.50");
  await card.locator('input[inputmode="decimal"]').press("Enter");
  await card.getByText("Check everything, then press the button.").waitFor();
  assert.match(await card.innerText(), /Send 1,019\.50 EUR/);
  // So much wants a passkey, and this customer has none yet.
  await card.getByText("You have no passkey yet").waitFor();
  assert.doesNotMatch(await focused(page), /BUTTON/);
  await context.close();
});

test("an answer that never came is looked up, never sent again", async () => {
  const { page, context } = await signIn();
  const before = await balance();
  const request = await toBob(21);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  let sent = 0;
  await page.route("**/confirm", async (route) => {
    sent += 1;
    await route.fetch();
    await route.abort();
  });
  let silent = true;
  await page.route("**/api/cards", (route) => (silent ? route.abort() : route.continue()));
  await card.locator(".confirm").click();
  await inState(page, request, "unknown");
  assert.match(await card.innerText(), /We don't know yet whether this went through/);
  assert.equal(await card.locator("button").count(), 0);
  silent = false;
  await inState(page, request, "confirmed");
  assert.equal(sent, 1);
  assert.equal(await balance(), before - 2_100);
  await context.close();
});

test("a panel that dies in mid-press leaves one truth", async () => {
  const { page, context } = await signIn();
  const before = await balance();
  const request = await toBob(22);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  const crashed = bank.crash("panel");
  await card.locator(".confirm").click();
  await crashed;
  await card.locator('.confirm, a[href^="/receipts/"]').first().waitFor({ timeout: 40_000 });
  const done = await number(`SELECT count(*)::text AS n FROM bank.execution WHERE action_id = '${request.id}'`);
  assert.equal(await balance(), before - done * 2_200);
  assert.equal(await card.locator(".confirm").count(), done === 1 ? 0 : 1);
  await context.close();
});

test("the page holds its policy: no script can make markup, and nobody can frame or message it", async () => {
  const { page, context } = await signIn();
  const tried = await page.evaluate(() => {
    const attempt = (act) => {
      try {
        act();
        return "allowed";
      } catch (error) {
        return error.name;
      }
    };
    return {
      markup: attempt(() => (document.body.innerHTML = "<b>x</b>")),
      policy: attempt(() => window.trustedTypes.createPolicy("x", {})),
    };
  });
  assert.deepEqual(tried, { markup: "TypeError", policy: "TypeError" });
  const request = await toBob(20);
  const card = await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  const made = [];
  page.on("request", (sent) => made.push(sent.url()));
  await page.evaluate(() => window.postMessage({ confirm: true, code: "x" }, "*"));
  await page.waitForTimeout(300);
  assert.equal(await card.getAttribute("data-state"), "pending");
  assert.deepEqual(made.filter((url) => url.includes("/actions/") || url.includes("/chat-code")), []);
  await context.close();
});

test("signed out in one tab is signed out in all", async () => {
  const { page, context } = await signIn();
  const other = await context.newPage();
  await other.goto(bank.origins.panel);
  await other.locator("#waiting-count").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await other.bringToFront();
  await other.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await context.close();
});

test("on a narrow phone the card comes first and nothing runs over", async () => {
  const { page, context } = await signIn({ viewport: { width: 320, height: 640 }, hasTouch: true });
  const request = await toBob(23);
  const card = await cardOf(page, request);
  const [cardTop, chatTop] = await Promise.all([
    card.evaluate((element) => element.getBoundingClientRect().top),
    page.locator("#chat").evaluate((element) => element.getBoundingClientRect().top),
  ]);
  assert.ok(cardTop < chatTop);
  for (const path of ["/", "/accounts", "/activity", "/receipts", "/limits"]) {
    await page.goto(bank.origins.panel + path);
    await page.locator("main").waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 320, `${path} is ${width} wide`);
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("main button, header a, header button, main select")]
        .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 24)
        .map((element) => element.textContent),
    );
    assert.deepEqual(small, [], path);
  }
  await page.goto(bank.origins.panel);
  await cardOf(page, request);
  await page.waitForTimeout(LOOK_MS);
  await page.locator(`${request.selector} .confirm`).scrollIntoViewIfNeeded();
  await page.locator(`${request.selector} .confirm`).tap();
  await inState(page, request, "confirmed");
  await context.close();
});


test("a card that ran out loses its button by itself", async () => {
  const { page, context } = await signIn();
  const request = await toBob(24);
  const card = await cardOf(page, request);
  await bank.plant(
    `ALTER TABLE bank.pending_action DISABLE TRIGGER action_moves_along_its_edges;
     UPDATE bank.pending_action SET expires_at = bank.bank_clock() + interval '3 seconds' WHERE action_id = '${request.id}';
     ALTER TABLE bank.pending_action ENABLE TRIGGER action_moves_along_its_edges`,
  );
  await page.reload();
  await card.locator(".time-left.soon").waitFor();
  await inState(page, request, "expired");
  assert.equal(await card.locator("button").count(), 0);
  assert.match(await card.innerText(), /Nobody confirmed this in time/);
  await context.close();
});
