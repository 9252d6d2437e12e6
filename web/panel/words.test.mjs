// Sentences with outsiders' names and amounts: what is heard, and what a name can not do to its neighbours.
import assert from "node:assert/strict";
import test from "node:test";

globalThis.document = { documentElement: { lang: "en" }, getElementById: () => null };
const { spoken, spokenAmount } = await import("../dist/panel/words.js");

test("an amount is heard with the currency's name and exactly its digits", () => {
  assert.equal(spokenAmount("20.00 EUR"), "20 euros");
  assert.equal(spokenAmount("1.00 EUR"), "1 euro");
  assert.equal(spokenAmount("1,480.50 EUR"), "1,480.50 euros");
  assert.equal(spokenAmount("48,000 JPY"), "48,000 Japanese yen");
  assert.equal(spokenAmount("95.250 KWD"), "95.250 Kuwaiti dinars");
  // More digits than a float keeps.
  assert.equal(spokenAmount("9,999,999,999,999.99 EUR"), "9,999,999,999,999.99 euros");
});

test("a sentence is heard whole", () => {
  assert.equal(spoken("Send 20.00 EUR to Bob Smith", ["Bob Smith"]), "Send 20 euros to Bob Smith");
  assert.equal(spoken("Freeze the card Everyday ·· 4417", []), "Freeze the card Everyday ·· 4417");
});

test("an amount inside a name stays the name's letters", () => {
  const names = ["Bob 500.00 EUR"];
  assert.equal(spoken("Send 20.00 EUR to Bob 500.00 EUR", names), "Send 20 euros to Bob 500.00 EUR");
});

test("the longer of two names that begin at one place is taken", () => {
  const names = ["Bob", "Bob 9.00 EUR"];
  assert.equal(spoken("To Bob 9.00 EUR", names), "To Bob 9.00 EUR");
});

test("a name that is empty or not there changes nothing", () => {
  assert.equal(spoken("Send 20.00 EUR", ["", "Eve"]), "Send 20 euros");
});
