// What counts as typed. Each test drives the tracker as a browser's text box would.
import assert from "node:assert/strict";
import test from "node:test";

import { SpanTracker, toBytes, wholeText } from "../dist/chat/spans.js";

/** A text box: a text and a selection, which fires the events a browser fires. */
class Box {
  text = "";
  start = 0;
  end = 0;
  tracker = new SpanTracker();
  undone = [];

  select(start, end = start) {
    this.start = start;
    this.end = end;
    return this;
  }
  find(part) {
    const at = this.text.indexOf(part);
    assert.notEqual(at, -1, part);
    return this.select(at, at + part.length);
  }
  replace(start, end, piece, inputType) {
    this.undone.push(this.text);
    this.tracker.beforeEdit({ selectionStart: this.start, selectionEnd: this.end, inputType });
    this.text = this.text.slice(0, start) + piece + this.text.slice(end);
    this.select(start + piece.length);
    this.tracker.afterEdit(this.text, this.end, inputType);
    return this;
  }
  type(text) {
    for (const letter of text) this.replace(this.start, this.end, letter, "insertText");
    return this;
  }
  paste(text) {
    return this.replace(this.start, this.end, text, "insertFromPaste");
  }
  backspace() {
    const from = this.start === this.end ? Math.max(0, this.start - 1) : this.start;
    return this.replace(from, this.end, "", "deleteContentBackward");
  }
  undo() {
    const text = this.undone.pop();
    this.tracker.beforeEdit({ selectionStart: this.start, selectionEnd: this.end, inputType: "historyUndo" });
    this.text = text;
    this.select(text.length);
    this.tracker.afterEdit(text, this.end, "historyUndo");
    return this;
  }
  /** The text with what counts as pasted in [brackets] and as dropped in {braces}. */
  marked() {
    const spans = this.tracker.spansOf(this.text);
    let out = "";
    let at = 0;
    for (const span of spans) {
      const [open, close] = span.kind === "paste" ? "[]" : "{}";
      out += this.text.slice(at, span.start) + open + this.text.slice(span.start, span.end) + close;
      at = span.end;
    }
    return out + this.text.slice(at);
  }
}

test("typed text is typed", () => {
  assert.equal(new Box().type("Send 20 to Bob").marked(), "Send 20 to Bob");
});

test("a paste is marked and typing around it is not", () => {
  const box = new Box().type("Pay this: ").paste("Bob 500").type(" please");
  assert.equal(box.marked(), "Pay this: [Bob 500] please");
  box.select(0).type("Hi. ");
  assert.equal(box.marked(), "Hi. Pay this: [Bob 500] please");
});

test("typing inside a paste splits it", () => {
  const box = new Box().paste("Bob 500").select(4).type("1");
  assert.equal(box.marked(), "[Bob ]1[500]");
});

test("a paste over a selection replaces what was typed there", () => {
  assert.equal(new Box().type("Send 20 to Bob").find("20").paste("900").marked(), "Send [900] to Bob");
});

test("typing over a pasted selection is typed", () => {
  assert.equal(new Box().type("Send ").paste("900").type(" to Bob").find("900").type("20").marked(), "Send 20 to Bob");
});

test("an equal letter next to a paste does not move the mark", () => {
  assert.equal(new Box().paste("00").select(0).type("0").marked(), "0[00]");
  assert.equal(new Box().paste("00").type("0").marked(), "[00]0");
  assert.equal(new Box().type("00").select(1).paste("0").marked(), "0[0]0");
});

test("deleting takes the mark along", () => {
  const box = new Box().type("a ").paste("bcd").type(" e");
  assert.equal(box.find("c").backspace().marked(), "a [bd] e");
  assert.equal(box.find("bd").backspace().marked(), "a  e");
  const forward = new Box().paste("xy").type("z").select(1);
  forward.replace(1, 2, "", "deleteContentForward");
  assert.equal(forward.marked(), "[x]z");
});

test("deleting a whole word backwards keeps the rest right", () => {
  const box = new Box().paste("one ").type("two three");
  box.replace(8, 13, "", "deleteWordBackward");
  assert.equal(box.marked(), "[one ]two ");
});

test("a drop is marked as a drop", () => {
  const box = new Box().type("Pay  now").select(8);
  box.replace(4, 4, "Bob", "insertFromDrop");
  assert.equal(box.marked(), "Pay {Bob} now");
});

test("undo brings back what was typed as typed and what was pasted as pasted", () => {
  const box = new Box().type("Send ").paste("900").backspace().backspace().backspace().type("20");
  assert.equal(box.marked(), "Send 20");
  for (let i = 0; i < 5; i += 1) box.undo();
  assert.equal(box.marked(), "Send [900]");
});

test("a text reached once by pasting stays pasted when undo returns to it", () => {
  const box = new Box().type("Pay ").paste("20").backspace().backspace().type("20");
  assert.equal(box.marked(), "Pay 20");
  box.type("!").undo();
  assert.equal(box.marked(), "Pay [20]");
});

test("what cannot be followed is pasted as a whole", () => {
  const box = new Box().type("Send 20 to Bob");
  box.replace(5, 7, "900", "insertFromSomewhereNew");
  assert.equal(box.marked(), "[Send 900 to Bob]");

  const unannounced = new Box().type("Send 20");
  unannounced.tracker.afterEdit("Send 900", 8, "insertText");
  unannounced.text = "Send 900";
  assert.equal(unannounced.marked(), "[Send 900]");

  const changedBehind = new Box().type("Send 20");
  assert.deepEqual(changedBehind.tracker.spansOf("Send 900"), wholeText("Send 900"));
});

test("a keyboard's clipboard strip is no typing", () => {
  const box = new Box();
  box.replace(0, 0, "x".repeat(65), "insertText");
  assert.equal(box.marked(), `[${box.text}]`);
  const lines = new Box();
  lines.replace(0, 0, "a\nb", "insertText");
  assert.equal(lines.marked(), "[a\nb]");
});

test("a composition replaces its own earlier form and is typed", () => {
  const box = new Box().paste("x");
  box.replace(1, 1, "に", "insertCompositionText");
  box.replace(1, 2, "にほ", "insertCompositionText");
  box.replace(1, 3, "日本", "insertCompositionText");
  assert.equal(box.marked(), "[x]日本");
});

test("offsets in bytes fall on characters", () => {
  const text = "é👩 abc";
  assert.deepEqual(toBytes(text, [{ kind: "paste", start: 4, end: 7 }]), [{ kind: "paste", start: 7, end: 10 }]);
  // In the middle of the surrogate pair: the whole character is taken.
  assert.deepEqual(toBytes(text, [{ kind: "paste", start: 2, end: 4 }]), [{ kind: "paste", start: 2, end: 7 }]);
  assert.deepEqual(toBytes(text, [{ kind: "drop", start: 0, end: 2 }]), [{ kind: "drop", start: 0, end: 6 }]);
});

test("against a slow model: random edits never lose a pasted letter", () => {
  // Pasted letters are upper case, typed ones lower case: after any edits every upper-case letter is marked,
  // and no lower-case one is.
  let seed = 12345;
  const random = (below) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 200; round += 1) {
    const box = new Box();
    for (let step = 0; step < 30; step += 1) {
      const a = random(box.text.length + 1);
      const b = Math.min(box.text.length, a + random(4));
      box.select(a, b);
      const piece = "aabb".slice(0, 1 + random(3));
      [() => box.type(piece), () => box.paste(piece.toUpperCase()), () => box.backspace()][random(3)]();
      const spans = box.tracker.spansOf(box.text);
      for (let at = 0; at < box.text.length; at += 1) {
        const marked = spans.some((span) => span.start <= at && at < span.end);
        assert.equal(marked, box.text[at] !== box.text[at].toLowerCase(), `${box.text} at ${at}`);
      }
    }
  }
});
