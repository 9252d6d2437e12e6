// Strangers' text on the approval page: nothing hides, nothing passes for something else, nothing plain is marked.
import assert from "node:assert/strict";
import test from "node:test";

const { pieces, strangeness } = await import("../dist/approvals/visible.js");

const notes = (text) => pieces(text).filter((piece) => piece.note !== null).map((piece) => piece.note);

test("the pieces are the text, whatever it holds", () => {
  for (const text of ["", "plain", "a\u202eb\u200bc", "раураl", "👩‍👩‍👧 and ﬁne", "  x  ", "\ud83d", "e\u0301\u0301\u0301\u0301"]) {
    assert.equal(pieces(text).map((piece) => piece.text).join(""), text);
  }
});

test("plain text in any one script is not marked", () => {
  for (const text of [
    "Hello, World 12.50", "/home/ada/notes.txt", "Zürich señor naïve Łódź", "Привет, мир", "Καλημέρα κόσμε",
    "שלום עולם", "你好 世界", "한국어", "नमस्ते", "{\"a\": [1, 2]}", "user@example.org", "😀",
  ]) {
    assert.deepEqual(notes(text), [], text);
  }
});

test("what does not show is named", () => {
  for (const [text, name] of [
    ["a\u202eb", "right-to-left override"], ["a\u2066b", "left-to-right isolate"], ["a\u200bb", "zero-width space"],
    ["a\u00adb", "soft hyphen"], ["a\u00a0b", "no-break space"], ["a\tb", "tab"], ["a\u0000b", "null"],
    ["a\u001b[31m", "escape"], ["a\u3164b", "hangul filler"], ["a\u{e0041}b", "does not show"],
    ["a\ufe0fb", "does not show"], ["a\u2800b", "braille blank"], ["a\ufeffb", "byte order mark"],
    ["a\u2028b", "line separator"], ["a\ue000b", "does not show"],
  ]) {
    const [note] = notes(text);
    assert.ok(note?.endsWith(name), `${JSON.stringify(text)}: ${note}`);
  }
  assert.equal(strangeness("two\nlines"), 0);
  assert.deepEqual(notes(" a  b "), ["space", "space", "space", "space"]);
});

test("what passes for something else is named", () => {
  assert.deepEqual(notes("pаypal"), ["U+0430 Cyrillic letter"]);
  assert.equal(notes("раура").length, 5, "a whole word of letters that are read as Latin");
  assert.deepEqual(notes("gοogle"), ["U+03BF Greek letter"]);
  assert.deepEqual(notes("ａdmin"), ["U+FF41 looks like a"]);
  assert.deepEqual(notes("𝐚dmin"), ["U+1D41A looks like a"]);
  assert.deepEqual(notes("1٢3"), ["U+0662 digit"]);
  assert.deepEqual(notes("/etc∕passwd"), ["U+2215 looks like /"]);
  assert.deepEqual(notes("a–b"), ["U+2013 looks like -"]);
  assert.deepEqual(notes("admın"), ["U+0131 looks like i"]);
  assert.ok(notes("e\u0301\u0301\u0301\u0301")[0].includes("piled mark"));
});
