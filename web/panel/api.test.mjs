// Which texts on a card are names.
import assert from "node:assert/strict";
import test from "node:test";

import { namesOf } from "../dist/panel/api.js";

test("a name is the whole value of a row for names", () => {
  const rows = [
    { label: "Amount", value: "20.00 EUR" },
    { label: "To", value: "Bob Smith" },
    { label: "From", value: "Current ·· 0013" },
    { label: "Came from", value: "Eve" },
  ];
  assert.deepEqual(namesOf({ rows }), ["Bob Smith", "Eve"]);
});
