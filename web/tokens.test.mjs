// Every text colour is readable on every ground it stands on, in both schemes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");
const darkAt = css.indexOf("@media (prefers-color-scheme: dark)");
const colours = (text) =>
  Object.fromEntries([...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
const light = colours(css.slice(0, darkAt));
const dark = { ...light, ...colours(css.slice(darkAt)) };

const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

const pairs = [
  // [text, ground, least contrast]
  ...["ground", "surface", "sunken", "accent-soft"].flatMap((ground) => [
    ["ink", ground, 7], // amounts are set in ink
    ["ink-soft", ground, 4.5],
    ["accent", ground, 4.5],
  ]),
  ["on-accent", "accent", 4.5],
  ["on-accent", "accent-strong", 4.5],
  ["good-ink", "good-ground", 7],
  ["warn-ink", "warn-ground", 7],
  ["bad-ink", "bad-ground", 7],
  ["ink", "good-ground", 7],
  ["ink", "warn-ground", 7],
  ["ink", "bad-ground", 7],
  ["bad-ink", "surface", 4.5],
  ["bad-ink", "ground", 4.5],
  // The edge of a field or a button is not text, but it must be seen.
  ["line-strong", "surface", 3],
  ["line-strong", "ground", 3],
];

for (const [scheme, table] of [["light", light], ["dark", dark]]) {
  test(`colours of the ${scheme} scheme are readable`, () => {
    for (const [text, ground, least] of pairs) {
      assert.ok(table[text] && table[ground], `${text} and ${ground} are defined`);
      const found = contrast(table[text], table[ground]);
      assert.ok(found >= least, `${text} on ${ground}: ${found.toFixed(2)} < ${least}`);
    }
  });
}

test("the dark scheme changes every colour", () => {
  assert.ok(Object.keys(light).length >= 17);
  for (const name of Object.keys(light)) assert.notEqual(dark[name], light[name], name);
});
