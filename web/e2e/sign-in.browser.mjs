// Signing in at an identity provider in a real browser: the way there and back, who is nobody here, and how a session ends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { answerOf, passThrough, startProvider } from "./provider.mjs";

let bank;
let browser;
let provider;

before(async () => {
  provider = await startProvider();
  [bank, browser] = await Promise.all([startBank({ provider: provider.issuer }), launchBrowser()]);
  provider.serve(bank.origins);
  await bank.plant(`INSERT INTO bank.login_identity (issuer, subject, customer_id)
    SELECT '${provider.issuer}', lower(split_part(display_name, ' ', 1)) || '-at-the-bank', customer_id FROM bank.customer`);
  await bank.plant(`INSERT INTO bank.operator_identity (issuer, subject, operator) VALUES ('${provider.issuer}', 'olga-at-the-bank', 'olga')`);
});
after(async () => {
  await browser?.close();
  await bank?.stop();
  await provider?.stop();
});

async function visitor() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(15_000);
  return { context, page: await context.newPage() };
}

/** Signs somebody in from the page that says nobody is. */
async function signIn(page, origin, login) {
  await page.goto(origin);
  await page.getByRole("link", { name: "Sign in" }).click();
  await passThrough(page, login);
}

async function ada() {
  const { context, page } = await visitor();
  await signIn(page, bank.origins.panel, "ada-at-the-bank");
  await page.locator("#waiting-count").waitFor();
  return { context, page };
}

const cookiesOf = async (context, origin) => (await context.cookies(origin)).filter((cookie) => cookie.name.startsWith("__Host-countersign"));

test("a customer signs in at the provider and is back on the panel, with a Strict session and no picker", async () => {
  const { context, page } = await ada();
  assert.equal(page.url(), `${bank.origins.panel}/`);
  const cookies = await cookiesOf(context, bank.origins.panel);
  assert.deepEqual(cookies.map(({ name, sameSite, httpOnly, secure }) => ({ name, sameSite, httpOnly, secure })), [
    { name: "__Host-countersign-panel", sameSite: "Strict", httpOnly: true, secure: true },
  ]);
  assert.equal(await page.locator("[action='/demo/switch']").count(), 0, "the demo's picker is the demo's alone");
  // The chat in the frame is the same customer's.
  await page.frameLocator("iframe").getByRole("textbox").waitFor();
  await context.close();
});

test("somebody whom the provider knows and the bank does not is told so, and has no session", async () => {
  const { context, page } = await visitor();
  await signIn(page, bank.origins.panel, "mallory");
  await page.getByRole("heading", { name: "This login has no account here" }).waitFor();
  assert.deepEqual(await cookiesOf(context, bank.origins.panel), []);
  await context.close();
});

test("an answer of the provider is good in the browser that began, and there once", async () => {
  const { context, page } = await visitor();
  await page.goto(bank.origins.panel);
  await page.getByRole("link", { name: "Sign in" }).click();
  const answer = await answerOf(page, "ada-at-the-bank");
  // The victim's browser is made to open the attacker's answer: that would sign the victim in as the attacker.
  const victim = await visitor();
  await victim.page.goto(answer);
  await victim.page.getByRole("heading", { name: "You were not signed in" }).waitFor();
  assert.deepEqual(await cookiesOf(victim.context, bank.origins.panel), []);
  await victim.context.close();
  // Where it began, it counts, and not again.
  await page.goto(answer);
  await page.locator("#waiting-count").waitFor();
  await page.goto(answer);
  await page.getByRole("heading", { name: "You were not signed in" }).waitFor();
  await context.close();
});

test("a logout at the provider ends the panel's session, its chat and its stream", async () => {
  const { context, page } = await ada();
  const other = await ada();
  const elsewhere = await context.newPage();
  await elsewhere.goto(`${provider.issuer}/session/end`);
  await elsewhere.getByRole("button", { name: /yes/i }).click();
  await elsewhere.getByText(/sign-out success/i).first().waitFor();
  await page.goto(bank.origins.panel);
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  const [{ alive }] = await bank.query(`SELECT count(*) FILTER (WHERE g.revoked_at IS NULL)::int AS alive FROM bank.session_grant g
    JOIN bank.provider_session p USING (secret_hash) JOIN bank.used_logout u ON u.issuer = p.issuer WHERE p.sid IS NOT NULL AND g.secret_hash IN
    (SELECT secret_hash FROM bank.provider_session ORDER BY created_at DESC LIMIT 2)`);
  assert.equal(alive, 1, "the session in the other browser, another session of the provider's, lives on");
  await other.page.reload();
  await other.page.locator("#waiting-count").waitFor();
  await other.context.close();
  await context.close();
});

test("a session rests when nothing is done in it, whatever its page asks by itself", async () => {
  await bank.plant("UPDATE bank.setting SET session_idle_seconds = 180");
  try {
    const { context, page } = await ada();
    const ask = () => page.evaluate(async () => (await fetch("/api/cards")).status);
    await bank.clock(150);
    await page.goto(`${bank.origins.panel}/accounts`);
    await page.getByRole("heading", { name: "Accounts" }).waitFor();
    await bank.clock(300);
    assert.equal(await ask(), 200, "opening a page kept it alive");
    await bank.clock(340);
    assert.equal(await ask(), 401, "asking for cards did not");
    await page.reload();
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    await context.close();
  } finally {
    await bank.clock(0);
    await bank.plant("UPDATE bank.setting SET session_idle_seconds = 43200");
  }
});

test("an operator signs in as an operator, and a customer's login is nobody's there", async () => {
  const { context, page } = await visitor();
  await signIn(page, bank.origins.dashboard, "olga-at-the-bank");
  await page.getByText("olga").first().waitFor();
  assert.equal(page.url(), `${bank.origins.dashboard}/`);
  await context.close();
  const customer = await visitor();
  await signIn(customer.page, bank.origins.dashboard, "ada-at-the-bank");
  await customer.page.getByRole("heading", { name: "This login has no account here" }).waitFor();
  await customer.context.close();
});

test("a logout that the provider did not say ends nothing", async () => {
  const { context, page } = await ada();
  const said = async (body, type = "application/x-www-form-urlencoded") =>
    (await fetch(`${bank.origins.panel}/sign-in/ended`, { method: "POST", headers: { "content-type": type }, body })).status;
  assert.equal(await said("logout_token=e30.e30."), 400);
  assert.equal(await said("logout_token="), 400);
  assert.equal(await said("a=b"), 422);
  assert.equal(await said('{"logout_token":"x"}', "application/json"), 415);
  await page.reload();
  await page.locator("#waiting-count").waitFor();
  await context.close();
});
