// Passkeys in a real browser with a virtual authenticator: what a press that wants one does, and everything that is no agreement.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { inState, LOOK_MS, picture } from "./cards.mjs";
import { ledgerOf } from "./ledger.mjs";
import { requestsOf } from "./requests.mjs";

let bank;
let browser;
let requests;
let executions;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
  requests = requestsOf(bank);
  ({ executions } = ledgerOf(bank));
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});
beforeEach(async () => {
  await requests.clear();
  await bank.plant("UPDATE bank.passkey SET removed_at = bank.bank_clock() WHERE removed_at IS NULL");
});

/** Signs Ada in, in a browser of her own with a device that verifies her. */
async function signIn() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const said = [];
  page.on("pageerror", (error) => said.push(String(error)));
  const device = await context.newCDPSession(page);
  await device.send("WebAuthn.enable");
  const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await page.goto(await bank.open("ada"));
  await page.locator("#waiting-count").waitFor();
  const tell = (method, more) => device.send(`WebAuthn.${method}`, { authenticatorId, ...more });
  return { context, page, said, tell };
}

const toStranger = () => requests.transfer("Send 20 to Bright Solar", { payee: "Bright Solar", amount: 2_000 });

async function setUp(page, name = "My phone") {
  await page.goto(`${bank.origins.panel}/passkeys`);
  await page.getByLabel("A name for it").fill(name);
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.locator("[data-passkey]", { hasText: name }).waitFor();
  await page.goto(bank.origins.panel);
}

async function press(page, request) {
  const button = page.locator(`${request.selector} .confirm`);
  await button.waitFor();
  await page.waitForTimeout(LOOK_MS);
  await button.click();
}

test("a card that wants a passkey leads to one and back, and is confirmed with it", async () => {
  const { page, context, said } = await signIn();
  const before = await executions();
  const request = await toStranger();
  const card = page.locator(request.selector);
  await card.getByText("You have no passkey yet").waitFor();
  assert.equal(await card.locator(".confirm").count(), 0);
  await picture(page, "passkey-none");
  await card.getByRole("link", { name: "Set up a passkey" }).click();
  await page.getByLabel("A name for it").fill("My phone");
  await picture(page, "passkey-page");
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await card.getByText("You confirm this with your passkey: it goes to somebody new.").waitFor();
  await picture(page, "passkey-ready");
  await press(page, request);
  await inState(page, request, "confirmed");
  assert.equal(await executions(), before + 1);
  await card.getByRole("link", { name: "Receipt", exact: true }).click();
  await page.getByText("The passkey that agreed").waitFor();
  await picture(page, "passkey-receipt");
  assert.deepEqual(said, []);
  await context.close();
});

test("a small payment to somebody known asks no device", async () => {
  const { page, context, tell } = await signIn();
  await tell("removeVirtualAuthenticator", {});
  const request = await requests.transfer("Send 20 to Bob", { payee: "Bob Smith", amount: 2_000 });
  await press(page, request);
  await inState(page, request, "confirmed");
  await context.close();
});

test("a device that verifies nobody, and a prompt turned away, send nothing", async () => {
  const { page, context, tell } = await signIn();
  await setUp(page);
  const before = await executions();
  const request = await toStranger();
  const card = page.locator(request.selector);
  await tell("setUserVerified", { isUserVerified: false });
  await press(page, request);
  await card.getByText("Your passkey did not agree. Nothing was sent.").waitFor();
  await picture(page, "passkey-declined");
  assert.equal(await executions(), before);
  // The same card, agreed to after all.
  await tell("setUserVerified", { isUserVerified: true });
  await press(page, request);
  await inState(page, request, "confirmed");
  await context.close();
});

test("while the device waits nothing is sent, and a prompt that is cancelled leaves the card as it was", async () => {
  const { page, context, tell } = await signIn();
  await setUp(page);
  const before = await executions();
  const request = await toStranger();
  const card = page.locator(request.selector);
  await tell("setAutomaticPresenceSimulation", { enabled: false });
  await page.evaluate(() => {
    // The person's own "cancel" of the browser's dialog, as the page learns of it.
    const get = navigator.credentials.get.bind(navigator.credentials);
    const stop = new AbortController();
    window.turnAway = () => stop.abort();
    navigator.credentials.get = (options) => get({ ...options, signal: stop.signal });
  });
  await press(page, request);
  await card.getByText("Waiting for your passkey…").waitFor();
  assert.equal(await card.locator("button").count(), 0);
  await page.evaluate(() => window.turnAway());
  await card.getByText("Your passkey did not agree. Nothing was sent.").waitFor();
  assert.equal(await executions(), before);
  await context.close();
});

test("another device's passkey is none of this customer's", async () => {
  const { page, context, tell } = await signIn();
  await setUp(page);
  const { credentials } = await tell("getCredentials", {});
  const own = credentials[0];
  // The device now holds a stranger's key under the same id.
  const { privateKey } = await globalThis.crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  const pkcs8 = Buffer.from(await globalThis.crypto.subtle.exportKey("pkcs8", privateKey)).toString("base64");
  await tell("clearCredentials", {});
  await tell("addCredential", { credential: { ...own, privateKey: pkcs8 } });
  const before = await executions();
  const request = await toStranger();
  await press(page, request);
  await page.locator(request.selector).getByText("The passkey's answer does not fit this card.").waitFor();
  assert.equal(await executions(), before);
  await context.close();
});

/** Sends what the page sent once more, with something of it changed. */
const again = (page, path, body) =>
  page.evaluate(
    async ([path, body]) => {
      const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      return { status: answer.status, ...(await answer.json()) };
    },
    [path, JSON.stringify(body)],
  );

test("what a passkey signed is good for one card, showing and note", async () => {
  const { page, context } = await signIn();
  await setUp(page);
  const before = await executions();
  const request = await toStranger();
  let kept;
  await page.route("**/confirm", (route) => {
    kept = { path: new URL(route.request().url()).pathname, body: route.request().postDataJSON() };
    return route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify({ code: "busy", status: 503 }) });
  });
  await press(page, request);
  await page.locator(request.selector).getByText("The bank is busy right now").waitFor();
  await page.unroute("**/confirm");

  const note = await again(page, kept.path, { ...kept.body, note: "for Eve" });
  assert.equal(note.code, "step_up_refused");
  const none = await again(page, kept.path, { ...kept.body, assertion: null });
  assert.equal(none.code, "step_up_due");
  const cards = await (await page.request.get(`${bank.origins.panel}/api/cards`)).json();
  const shown = cards.cards.find((card) => card.action === `act_${request.id.replaceAll("-", "")}`);
  const nonce = await again(page, kept.path, { ...kept.body, nonce: shown.nonce });
  assert.equal(nonce.code, "step_up_refused");
  const other = await requests.transfer("Send 21 to Bright Solar", { payee: "Bright Solar", amount: 2_100, instead: request });
  const moved = await again(page, kept.path.replace(request.id.replaceAll("-", ""), other.id.replaceAll("-", "")), kept.body);
  assert.equal(moved.code, "stale_card");
  const superseded = await again(page, kept.path, kept.body);
  assert.equal(superseded.code, "not_open");
  assert.equal(await executions(), before);
  await page.locator(other.selector).getByText("You confirm this with your passkey: it took the place of an earlier request.").waitFor();
  await context.close();
});

test("a second passkey wants the first one's leave, and so does taking one away", async () => {
  const { page, context, tell } = await signIn();
  await setUp(page, "Phone");
  await page.goto(`${bank.origins.panel}/passkeys`);
  await page.getByLabel("A name for it").fill("Key");
  // The same device may hold no second one: what it says is the person's "no" or the browser's, and nothing is changed.
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.getByText("Your device did not agree. Nothing was changed.").waitFor();
  await page.getByRole("button", { name: "Rename Phone" }).click();
  await page.getByLabel("New name").fill("Old phone");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("[data-passkey]", { hasText: "Old phone" }).waitFor();
  await tell("setUserVerified", { isUserVerified: false });
  await page.getByRole("button", { name: "Remove Old phone" }).click();
  await page.getByText("Your device did not agree. Nothing was changed.").waitFor();
  await tell("setUserVerified", { isUserVerified: true });
  await page.getByRole("button", { name: "Remove Old phone" }).click();
  await page.getByText("You have no passkey yet.").waitFor();
  await context.close();
});

test("who lost them all is told what waits, and may stop it", async () => {
  const { page, context } = await signIn();
  await setUp(page);
  const request = await toStranger();
  await page.goto(`${bank.origins.panel}/passkeys`);
  await page.getByRole("button", { name: "I lost all my passkeys" }).click();
  await page.getByRole("heading", { name: "You are getting back in" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Set up a passkey" }).count(), 0);
  await picture(page, "passkey-recovery");
  await page.goto(bank.origins.panel);
  await page.locator(request.selector).getByText("You are getting back in").waitFor();
  assert.equal(await page.locator(`${request.selector} .confirm`).count(), 0);
  await page.goto(`${bank.origins.panel}/passkeys`);
  await page.getByRole("button", { name: "I found my passkey" }).click();
  await page.getByRole("button", { name: "I lost all my passkeys" }).waitFor();
  await context.close();
});

test("where the browser displays the payment itself, what it displayed is compared and agreed to", async (t) => {
  const { page, context, tell } = await signIn();
  const device = await context.newCDPSession(page);
  await device.send("Page.setSPCTransactionMode", { mode: "autoAccept" });
  const available = await page.evaluate(() => PaymentRequest.securePaymentConfirmationAvailability?.() ?? "unknown");
  t.diagnostic(`Secure Payment Confirmation: ${available}`);
  await setUp(page);
  const request = await toStranger();
  await press(page, request);
  await inState(page, request, "confirmed");
  const [{ kind }] = await bank.query(
    `SELECT convert_from(payload, 'UTF8')::jsonb -> 'step_up' ->> 'kind' AS kind FROM bank.bank_event WHERE kind = 'confirmed' AND action_id = '${request.id}'`,
  );
  assert.equal(kind, available === "available" ? "payment.get" : "webauthn.get");
  await context.close();
});
