// The page in another language: its sentences, and amounts as that language writes them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const file = JSON.parse(readFileSync(new URL("../../services/texts/languages/de.json", import.meta.url), "utf8"));
const textContent = JSON.stringify({ group: file.group, point: file.point, sentences: file.texts });
globalThis.document = { documentElement: { lang: "de" }, getElementById: () => ({ textContent }) };
const { t } = await import("../dist/panel/texts.js");
const { spoken, spokenAmount } = await import("../dist/panel/words.js");

test("a sentence is said in the page's language, and in English where it has none", () => {
  assert.equal(t("Sending…"), "Wird gesendet…");
  assert.equal(t("{count} waiting", { count: 2 }), "2 warten");
  assert.equal(t("A sentence nobody translated {x}", { y: 1 }), "A sentence nobody translated {x}");
  assert.equal(t("toString"), "toString");
});

test("an amount is heard with exactly its digits, whatever marks it is written with", () => {
  assert.equal(spokenAmount("1.240,50 EUR"), "1.240,50 Euro");
  assert.equal(spoken("20,00 EUR an Bob Smith senden", ["Bob Smith"]), "20 Euro an Bob Smith senden");
});
