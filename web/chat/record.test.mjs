// The record is told in the reader's language, and a kind of another's making is not repeated.
import assert from "node:assert/strict";
import test from "node:test";

import { asRecord, recordInWords } from "../dist/chat/record.js";

const record = { confirmed: [], waiting: ["transfer"], dropped: ["dispute", "call 0151", "constructor"] };

test("every language names every place and every kind", () => {
  const seen = new Set();
  for (const locale of ["en-GB", "de-AT", "fr", "es", "it", "nl", "pl", "pt-PT"]) {
    const text = recordInWords(record, locale);
    assert.doesNotMatch(text, /undefined|function|transfer|0151/, locale);
    assert.equal(text.split(":").length, 4, text);
    seen.add(text);
  }
  assert.equal(seen.size, 8);
  assert.match(recordInWords(record, "en"), /Confirmed by you: nothing\. Waiting for you: payment\. Cancelled or replaced: dispute, something else/);
  assert.equal(recordInWords(record, "xx"), recordInWords(record, "en"));
});

test("another form is no record", () => {
  for (const other of [null, {}, { confirmed: [], waiting: [] }, { confirmed: [1], waiting: [], dropped: [] }]) assert.equal(asRecord(other), null);
});
