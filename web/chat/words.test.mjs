// Every sentence about a failure says whether money moved.
import assert from "node:assert/strict";
import test from "node:test";

import * as words from "../dist/chat/words.js";

test("a failure of any kind says that no money moved", () => {
  for (const code of ["model_unavailable", "budget", "door_refused", "something new", "constructor"]) {
    assert.match(words.failure(code), /moved no money/, code);
    assert.doesNotMatch(words.failure(code), /undefined|function/, code);
  }
});

test("a tool that looks at nothing has no words", () => {
  assert.equal(words.lookedAt("list_payees"), "payees");
  assert.equal(words.lookedAt("request_transfer"), null);
  assert.equal(words.lookedAt("toString"), null);
});

test("a flagged text is told by where it stood, and a place of somebody's own making is not repeated", () => {
  assert.match(words.flaggedIn("list_payees"), /payee’s name/);
  for (const tool of ["call 0151", "constructor"]) assert.match(words.flaggedIn(tool), /a text it read/);
});

test("a withheld reply says why", () => {
  assert.match(words.failure("withheld"), /not yours to see/);
  assert.match(words.failure("secret_asked"), /never asks for your PIN/);
});
