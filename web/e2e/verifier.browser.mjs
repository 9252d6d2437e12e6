// The verifier page from a disk, in a real browser without a network: the vectors that the command is held to get the same
// codes, and what is shown is what was signed.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { launchBrowser } from "./browser.mjs";

const PAGE = new URL("../dist/verifier/verifier.html", import.meta.url).href;
const CASES = new URL("../../fixtures/verifier/cases.json", import.meta.url);
/** Names of the page's inputs by what a file is. */
const INPUTS = ["receipt", "payload", "proof", "lines", "checkpoint", "keys", "policy"];

let browser;
let page;
const errors = [];

before(async () => {
  browser = await launchBrowser();
  const context = await browser.newContext();
  await context.setOffline(true);
  page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("request", (request) => {
    if (request.url() !== PAGE) errors.push(`asked for ${request.url()}`);
  });
  await page.goto(PAGE);
  await page.locator("#check:enabled").waitFor();
});

after(() => browser?.close());

/** The files of a case: the good ones of its kind, with what was done to them. */
function filesOf({ good }, { kind, files, flip }) {
  const all = { ...good[kind], ...files };
  if (flip === undefined) return { kind, files: all };
  const bytes = Buffer.from(all[flip.file]);
  bytes[flip.position] ^= flip.bits;
  return { kind, files: { ...all, [flip.file]: bytes } };
}

async function verdict({ kind, files }) {
  await page.check(`input[name=kind][value=${kind}]`);
  for (const name of INPUTS) {
    const text = files[name];
    const chosen = text === undefined ? [] : [{ name, mimeType: "text/plain", buffer: Buffer.from(text) }];
    await page.setInputFiles(`#${name}`, chosen);
  }
  await page.click("#check");
  await page.locator("#verdict[data-code]").waitFor();
  const code = Number(await page.getAttribute("#verdict", "data-code"));
  return { code, text: await page.innerText("#verdict") };
}

test("the page gives every vector the code that the command gives it", async () => {
  const vectors = JSON.parse(await readFile(CASES, "utf8"));
  const told = vectors.cases.filter(({ flip }) => flip === undefined);
  const changed = vectors.cases.filter(({ flip }) => flip !== undefined);
  const some = changed.filter((_, at) => at % 6 === 0);
  const different = [];
  for (const one of [...told, ...some]) {
    const { code, text } = await verdict(filesOf(vectors, one));
    if (code !== one.code) different.push(`${one.name}: ${code} (${text}), the command says ${one.code}`);
  }
  assert.deepEqual(different, []);
  assert.ok(told.length > 80 && some.length > 20, `${told.length} and ${some.length}`);
});

test("what holds is shown as it was signed, with nothing hidden in it", async () => {
  const vectors = JSON.parse(await readFile(CASES, "utf8"));
  const named = (wanted) => filesOf(vectors, vectors.cases.find(({ name }) => name === wanted));
  const shown = await verdict(named("a receipt that holds"));
  assert.match(shown.text, /It holds/);
  assert.match(shown.text, /"tool": "tool_6"/);
  const refused = await verdict(named("receipt, another tool"));
  assert.match(refused.text, /Refused/);
  assert.doesNotMatch(refused.text, /tool_7/);
});

test("what is missing is said, and the page reached nothing", async () => {
  const { code, text } = await verdict({ kind: "log", files: {} });
  assert.equal(code, 3);
  assert.match(text, /choose the public key/);
  const inside = await page.evaluate(async () => {
    try {
      await fetch("http://127.0.0.1:9/");
      return "reached";
    } catch {
      return "refused";
    }
  });
  assert.equal(inside, "refused");
  const complaints = errors.filter((error) => !error.includes("127.0.0.1:9"));
  assert.deepEqual(complaints, []);
});

test("a browser without these signatures says so and checks nothing", async () => {
  const context = await browser.newContext();
  const old = await context.newPage();
  await old.addInitScript(() => {
    const importKey = crypto.subtle.importKey.bind(crypto.subtle);
    crypto.subtle.importKey = (format, data, kind, ...rest) =>
      kind === "Ed25519" ? Promise.reject(new DOMException("unknown", "NotSupportedError")) : importKey(format, data, kind, ...rest);
  });
  await old.goto(PAGE);
  await old.locator("#unable:visible").waitFor();
  assert.match(await old.innerText("#unable"), /does not know Ed25519/);
  assert.ok(await old.isDisabled("#check"));
  await context.close();
});
