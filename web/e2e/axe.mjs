// axe over a page and its frames, under the page's own strict policy: the rules of WCAG 2.2 A and AA.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Fails with every rule that is broken and where. Answers how many rules were passed. */
export async function assertAccessible(page, what) {
  const broken = [];
  let passed = 0;
  for (const frame of page.frames()) {
    await frame.evaluate(source);
    const found = await frame.evaluate(
      (rules) => globalThis.axe.run(document, { runOnly: rules, iframes: false, resultTypes: ["violations"] }),
      RULES,
    );
    passed += found.passes.length;
    for (const { id, help, nodes } of found.violations) {
      broken.push(`${id}: ${help}: ${nodes.map((node) => node.html.slice(0, 140)).join(" | ")}`);
    }
  }
  assert.deepEqual(broken, [], what);
  return passed;
}
