// The page's checks over the vectors that the command is held to: the same code for every one.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { verifyLog } from "../dist/verifier/log.js";
import { verifyProof, verifyReceipt } from "../dist/verifier/receipt.js";

const { good, cases } = JSON.parse(await readFile(new URL("../../fixtures/verifier/cases.json", import.meta.url), "utf8"));

/** The files of a case: the good ones of its kind, with what was done to them. */
function filesOf({ kind, files, flip }) {
  const all = { ...good[kind], ...files };
  if (flip === undefined) return all;
  const bytes = Buffer.from(all[flip.file]);
  bytes[flip.position] ^= flip.bits;
  return { ...all, [flip.file]: bytes.toString() };
}

function check(one) {
  const { kind } = one;
  const files = filesOf(one);
  const policies = files.policy === undefined ? [] : [files.policy];
  switch (kind) {
    case "receipt":
      return verifyReceipt(files.receipt, files.keys, policies);
    case "proof":
      return verifyProof(files.payload, files.proof, files.keys, policies);
    case "log":
      return verifyLog([new TextEncoder().encode(files.lines)], files.checkpoint, files.keys, policies);
    default:
      throw new Error(`no such kind: ${kind}`);
  }
}

test("every vector gets the code that the command gives it", async () => {
  assert.ok(cases.length > 200, `${cases.length} cases`);
  const different = [];
  for (const one of cases) {
    const { code, what } = await check(one);
    if (code !== one.code) different.push(`${one.name}: ${code} (${what}), the command says ${one.code}`);
  }
  assert.deepEqual(different, []);
});

test("the page is one script that parses, and names nothing outside itself", async () => {
  const page = await readFile(new URL("../dist/verifier/verifier.html", import.meta.url), "utf8");
  const script = /<script type="module">([^]*)<\/script>/.exec(page)[1];
  // Two modules with one name at their top would be no script any more.
  assert.doesNotThrow(() => new Function(`return async () => {${script}\n}`));
  assert.match(page, /default-src 'none'; script-src 'sha256-/);
  assert.doesNotMatch(page, /https?:\/\/|\bsrc=|@import|url\(/);
});
