// A reply's lines come out the same however the stream was cut.
import assert from "node:assert/strict";
import test from "node:test";

import { parseLine, readLines } from "../dist/chat/lines.js";

const reply = [
  { type: "recorded", utterance: "utt_1" },
  { type: "text", text: "Grüße 👩 " },
  { type: "foreign", text: "evil.example" },
  { type: "looked_at", tool: "list_payees", receipt: "0a" },
  { type: "flagged", tool: "list_payees" },
  { type: "corrected", record: { confirmed: [], waiting: ["transfer"], dropped: [] } },
  { type: "done" },
];
const bytes = new TextEncoder().encode(reply.map((line) => `${JSON.stringify(line)}\n`).join(""));

async function read(...pieces) {
  const lines = [];
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  for await (const line of readLines(body)) lines.push(line);
  return lines;
}

test("the cut of the stream does not matter", async () => {
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(await read(bytes.slice(0, at), bytes.slice(at)), reply, `cut at ${at}`);
  }
});

test("a last line without its end is read", async () => {
  assert.deepEqual(await read(bytes.slice(0, -1)), reply);
});

test("lines of another form are passed over", () => {
  for (const text of ["", "{", "null", "[]", '{"type":"html","html":"<b>"}', '{"type":"text","text":1}', '{"type":"toString"}']) {
    assert.equal(parseLine(text), null, text);
  }
});

test("a line without end is given up", async () => {
  const long = new TextEncoder().encode(`{"type":"text","text":"${"x".repeat(70_000)}`);
  await assert.rejects(read(long, long));
});
