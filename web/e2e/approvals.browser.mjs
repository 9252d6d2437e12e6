// The door's approval page in a real browser: a real door around a real server, held calls seen and decided.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import { launchBrowser } from "./browser.mjs";

const LOOK_MS = 1_100;
const POLICY = `version: 1
id: notes
default: deny
require_pins: false
servers:
  notes: {}
tools:
  keep_note:
    args:
      title: {type: string, max_length: 200}
      text: {type: string, max_length: 20000}
  read_note:
    args:
      title: {type: string}
rules:
  - {id: keeps, tool: keep_note, effect: require_approval}
`;

let browser;
let door;

/** A door of its own for each test file, started as a client would start it. */
async function startDoor() {
  const program = join(dirname(process.env.COUNTERSIGN_XTASK ?? ""), "countersign-door");
  if (!existsSync(program)) throw new Error("COUNTERSIGN_XTASK does not stand beside a door; run `cargo xtask test --only browser`");
  const folder = mkdtempSync(join(tmpdir(), "approvals-"));
  const at = (name) => join(folder, name);
  writeFileSync(at("policy.yaml"), POLICY);
  execFileSync(program, ["keys", "init", "--keys", at("keys"), "--origin", "door.example/notes"]);
  const child = spawn(
    program,
    [
      "run", "--policy", at("policy.yaml"), "--keys", at("keys"), "--log", at("record"), "--approver", "Grace",
      "--", process.execPath, join(import.meta.dirname, "notes-server.mjs"), at("calls"),
    ],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  const waiting = new Map();
  let next = 1;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const ask = (method, params, id = next++) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    /** Calls a tool; the answer may wait for a person. */
    call: (name, args) => ask("tools/call", { name, arguments: args }),
    /** Takes back the last question. */
    cancel: () =>
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: next - 1 } })}\n`,
      ),
    /** The newest link. */
    link: () => readFileSync(at("record/approval-links"), "utf8").trim().split("\t")[1],
    /** What reached the server. */
    calls: () => (existsSync(at("calls")) ? readFileSync(at("calls"), "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []),
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

before(async () => {
  [door, browser] = await Promise.all([startDoor(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await door?.stop();
});

async function open(options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(door.link());
  await page.locator("#who").waitFor();
  return { page, context, said };
}

const cardOf = (page, title) => page.locator(".card").filter({ hasText: title });
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? "");

/** A held call and its card, once there was time to look at it. */
async function held(page, args) {
  const answer = door.call("keep_note", args);
  const card = cardOf(page, args.text);
  await card.waitFor();
  await page.waitForTimeout(LOOK_MS);
  return { answer, card };
}

test("a person approves by mouse, and the server gets the call then and not before", async () => {
  const { page, context, said } = await open();
  assert.equal(new URL(page.url()).hash, "", "the token has left the address");
  const { answer, card } = await held(page, { title: "Milk", text: "two litres" });
  assert.match(await card.innerText(), /notes › keep_note[\s\S]*keeps in policy notes[\s\S]*title[\s\S]*Milk[\s\S]*two litres/);
  // Other calls do not wait behind it.
  const other = await door.call("read_note", { title: "Milk" });
  assert.equal(other.result.content[0].text, "read_note done");
  assert.equal(door.calls().filter((call) => call.params.name === "keep_note").length, 0);
  await card.getByLabel("Reason").fill("It is only milk");
  await card.getByRole("button", { name: "Approve keep_note" }).click();
  assert.equal((await answer).result.content[0].text, "keep_note done");
  await page.locator('[data-why="released"]').first().waitFor();
  assert.match(await page.locator("#past").innerText(), /Released[\s\S]*receipt [0-9a-f]{64}/);
  assert.equal(door.calls().filter((call) => call.params.name === "keep_note").length, 1);
  const saved = async (name) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name }).first().click(),
    ]);
    return JSON.parse(readFileSync(await download.path(), "utf8"));
  };
  const decision = JSON.parse((await saved(/Save the signed decision/)).payload);
  assert.deepEqual([decision.decision, decision.decided_by.name, decision.note], ["released", "Grace", "It is only milk"]);
  assert.deepEqual(JSON.parse((await saved(/Save the call/)).message), door.calls().find((call) => call.params.name === "keep_note"));
  assert.deepEqual(said, []);
  await context.close();
});

test("deny has the focus, and the keyboard is enough", async () => {
  const { page, context } = await open();
  const { answer, card } = await held(page, { text: "dark rum", title: "" });
  assert.equal(await focused(page), "Deny");
  assert.match(await card.innerText(), /empty/);
  await page.keyboard.press("Enter");
  const { error } = await answer;
  assert.deepEqual([error.code, error.data.rule], [-32003, "keeps"]);
  const approved = await held(page, { title: "Tea", text: "green" });
  while ((await focused(page)) !== "Approve") await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  assert.ok((await approved.answer).result);
  await context.close();
});

test("a press in the first second, a script's press and a held key do not count", async () => {
  const { page, context } = await open();
  const answer = door.call("keep_note", { title: "Fast", text: "x" });
  const fresh = cardOf(page, "Fast");
  await fresh.waitFor();
  const approve = fresh.getByRole("button", { name: "Approve keep_note" });
  await approve.click();
  assert.match(await fresh.locator(".why").innerText(), /a moment ago/);
  await page.waitForTimeout(LOOK_MS);
  await approve.evaluate((button) => button.click());
  assert.match(await fresh.locator(".why").innerText(), /Only you/);
  assert.equal(door.calls().some((call) => call.params.arguments.title === "Fast"), false);
  await fresh.getByRole("button", { name: "Deny keep_note" }).click();
  assert.equal((await answer).error.code, -32003);
  await context.close();
});

test("text that hides, turns around or passes for other text is named", async () => {
  const { page, context } = await open();
  const { answer, card } = await held(page, { title: "p\u0430y\u200bpal \u202efdp.exe", text: "<img src=x onerror=alert(1)>" });
  const text = await card.innerText();
  for (const named of ["U+0430 Cyrillic letter", "U+200B zero-width space", "U+202E right-to-left override", "<img src=x onerror=alert(1)>"]) {
    assert.ok(text.includes(named), named);
  }
  assert.match(text, /3 characters do not show/);
  await card.getByRole("button", { name: "Deny keep_note" }).click();
  await answer;
  await context.close();
});

test("a long value is opened before it can be approved", async () => {
  const { page, context } = await open();
  const text = `${"All work and no play. ".repeat(100)}END`;
  const answer = door.call("keep_note", { title: "Long", text });
  const card = cardOf(page, "All work");
  await card.waitFor();
  await page.waitForTimeout(LOOK_MS);
  const approve = card.getByRole("button", { name: "Approve keep_note" });
  await approve.click();
  assert.match(await card.locator(".why").innerText(), /Open the long value/);
  await card.getByRole("button", { name: /Show all/ }).click();
  assert.ok((await card.innerText()).includes("END"));
  await approve.click();
  assert.ok((await answer).result);
  assert.equal(door.calls().at(-1).params.arguments.text, text);
  await context.close();
});

test("two pages, one decision", async () => {
  const first = await open();
  const second = await open();
  const { answer, card } = await held(first.page, { title: "Both", text: "for two" });
  await second.page.waitForTimeout(LOOK_MS);
  await cardOf(second.page, "for two").getByRole("button", { name: "Deny keep_note" }).click();
  assert.equal((await answer).error.code, -32003);
  await card.waitFor({ state: "detached" });
  assert.match(await first.page.locator("#past li").first().innerText(), /Denied/);
  await Promise.all([first.context.close(), second.context.close()]);
});

test("a call that its client takes back is gone from the page", async () => {
  const { page, context } = await open();
  const { card } = await held(page, { title: "No", text: "never mind" });
  door.cancel();
  await card.waitFor({ state: "detached" });
  assert.match(await page.locator("#past li").first().innerText(), /whoever asked went away/);
  await context.close();
});

test("a link opens one session, in one tab, and no cookie", async () => {
  const link = door.link();
  const { page, context } = await open();
  const cookies = await context.cookies();
  assert.deepEqual(cookies, []);
  assert.equal(await page.evaluate(() => localStorage.length + document.cookie.length), 0);
  const again = await context.newPage();
  await again.goto(link);
  await again.getByText("This link was used before").waitFor();
  assert.equal(await again.locator(".card").count(), 0);
  const bare = await context.newPage();
  await bare.goto(new URL("/", link).href);
  await bare.getByText("Open this page by the link").waitFor();
  await page.reload();
  await page.locator("#who").waitFor();
  await context.close();
});

test("another page of this machine can neither read nor decide", async () => {
  const { page, context } = await open();
  const { answer, card } = await held(page, { title: "Wall", text: "of stone" });
  const session = await page.evaluate(() => sessionStorage.getItem("countersign-session"));
  const hold = await card.getAttribute("data-hold");
  const other = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>other</p>"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const stranger = await context.newPage();
  await stranger.goto(`http://127.0.0.1:${other.address().port}/`);
  const origin = new URL(page.url()).origin;
  // Even with the session in hand: another origin, in every way a page can ask.
  const tried = await stranger.evaluate(
    async ([origin, hold, session]) => {
      const attempt = (path, init) =>
        fetch(origin + path, init).then((answer) => answer.type, (error) => error.name);
      return [
        await attempt("/api/holds", { headers: { authorization: `Bearer ${session}` } }),
        await attempt(`/api/holds/${hold}/decide`, { method: "POST", mode: "no-cors", body: "{}" }),
        await attempt("/", { mode: "no-cors" }),
      ];
    },
    [origin, hold, session],
  );
  assert.deepEqual(tried, ["TypeError", "TypeError", "TypeError"]);
  assert.equal(await card.getAttribute("data-hold"), hold, "still held");
  const frame = await stranger.evaluate((origin) => {
    const frame = document.createElement("iframe");
    frame.src = origin;
    document.body.append(frame);
    return new Promise((resolve) => (frame.onload = () => resolve(frame.contentDocument === null)));
  }, origin);
  assert.equal(frame, true, "an error page, not the door's");
  await card.getByRole("button", { name: "Deny keep_note" }).click();
  await answer;
  other.close();
  await context.close();
});

test("no script can make markup on the page", async () => {
  const { page, context } = await open();
  const tried = await page.evaluate(() => {
    const attempt = (act) => {
      try {
        act();
        return "allowed";
      } catch (error) {
        return error.name;
      }
    };
    return [
      attempt(() => (document.body.innerHTML = "<b>x</b>")),
      attempt(() => window.trustedTypes.createPolicy("x", {})),
    ];
  });
  assert.deepEqual(tried, ["TypeError", "TypeError"]);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`at 320 px, ${colorScheme}, nothing runs over and everything can be pressed`, async () => {
    const { page, context } = await open({ viewport: { width: 320, height: 640 }, colorScheme, hasTouch: true });
    const { answer, card } = await held(page, { title: "W".repeat(180), text: `${colorScheme}${"_long_word_without_end".repeat(20)}` });
    await card.locator("summary").click();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, summary")]
        .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 24)
        .map((element) => element.textContent),
    );
    assert.deepEqual(small, []);
    await card.getByRole("button", { name: "Deny keep_note" }).tap();
    assert.equal((await answer).error.code, -32003);
    await context.close();
  });
}
