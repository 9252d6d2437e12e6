// A list of amounts becomes a picture; anything else stays words.
import assert from "node:assert/strict";
import test from "node:test";

import { rowsOf } from "../dist/chat/chart.js";

test("a list of amounts in one currency is read as it is written", () => {
  assert.deepEqual(rowsOf("You spent in 2026-11:\n• Groceries: 1,240.50 EUR\n• Eating out: 86.20 EUR"), [
    { name: "Groceries", amount: "1,240.50 EUR", value: 1240.5 },
    { name: "Eating out", amount: "86.20 EUR", value: 86.2 },
  ]);
  assert.deepEqual(
    rowsOf("- Miete: 1.200,00 EUR\n- Essen: 310,5 EUR.").map((row) => row.value),
    [1200, 310.5],
  );
  assert.deepEqual(rowsOf("A: 12 000 JPY\nB: 9 JPY").map((row) => row.value), [12000, 9]);
});

test("one amount, two currencies, a sentence or nothing at all make no picture", () => {
  for (const reply of ["", "You spent 12.00 EUR.", "• A: 1.00 EUR", "• A: 1.00 EUR\n• B: 2.00 USD", "• A: 0.00 EUR\n• B: 0.00 EUR"]) {
    assert.deepEqual(rowsOf(reply), [], reply);
  }
  const many = Array.from({ length: 13 }, (_, n) => `• ${n}x: 1.00 EUR`).join("\n");
  assert.deepEqual(rowsOf(many), []);
});
