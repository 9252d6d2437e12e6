// What is marked as not from the bank, and what an honest answer about money may hold unmarked.
import assert from "node:assert/strict";
import test from "node:test";

import { pieces } from "../dist/chat/foreign.js";

const foreign = (reply) => pieces(reply).filter((piece) => piece.foreign).map((piece) => piece.text);

test("links, addresses and telephone numbers are marked", () => {
  for (const [reply, marked] of [
    ["Go to https://bank-secure.example/login?x=1.", ["https://bank-secure.example/login?x=1"]],
    ["see www.refund.example/a now", ["www.refund.example/a"]],
    ["Visit northstar-refund.com, quickly", ["northstar-refund.com"]],
    ["![a](https://x.example/p.png?d=BALANCE)", ["https://x.example/p.png?d=BALANCE"]],
    ["javascript://alert", ["javascript://alert"]],
    ["bänk-sicher.de/a", ["bänk-sicher.de/a"]],
    ["Write to help@northstar.example please", ["help@northstar.example"]],
    ["Call +49 1512 3456787 now", ["+49 1512 3456787"]],
    ["Call 0044 20 7946 0958", ["0044 20 7946 0958"]],
    ["ring 07700 900461 or 0113 496 0122", ["07700 900461", "0113 496 0122"]],
    ["(0151) 2345678", ["(0151) 2345678"]],
    ["01512345678", ["01512345678"]],
  ]) {
    assert.deepEqual(foreign(reply), marked, reply);
  }
});

test("honest answers about money are left alone", () => {
  for (const reply of [
    "Your balance is 1,480.00 EUR and 1.480,00 EUR.",
    "Paid on 2026-11-30 12:05, next 2026-12-30 12.",
    "Direct debit due 04-11-26, sort code 04-00-04, 30/11/2026, 05.11.2026.",
    "IBAN DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432.",
    "Your card ending 4821 is frozen. ****4821",
    "Order 2024 20260401, 95.250 KWD, 48,000 JPY, 0.05 EUR.",
    "act_019800000000700080000000000000ab, e.g. this, i.e. that. No. 5.",
    "Bob Smith ·· 6819\nRent 0012",
    "I looked at your payees.Then I stopped.",
  ]) {
    assert.deepEqual(foreign(reply), [], reply);
  }
});

test("the pieces put together are the reply", () => {
  const reply = "a https://x.example b +49 151 23456787 c@d.example. e";
  assert.equal(pieces(reply).map((piece) => piece.text).join(""), reply);
  assert.equal(foreign(reply).length, 3);
});

test("a long reply takes no long time", () => {
  for (const part of ["a.", "0 1 ", "a@", "https:", "0151-", "+1 2 3 "]) {
    const began = performance.now();
    pieces(part.repeat(20_000 / part.length));
    assert.ok(performance.now() - began < 500, part);
  }
});
