// Which parts of a message were pasted or dropped, kept right through every later edit.
//
// The bank grounds a payment only in what the customer typed, so this errs to one side: text counts as typed
// only when the edit that brought it in is known exactly. Offsets are UTF-16 here, as in the text box; `toBytes`
// turns them into the UTF-8 offsets that the bank stores. A hostile page could lie about all of it; what this
// file protects is the honest customer who pastes a text somebody sent them.
/** Typed text does not come in larger pieces than a dictated phrase; a keyboard's clipboard strip does. */
const TYPED_PIECE_MAX = 64;
/** Texts remembered for undo and redo. */
const REMEMBERED_MAX = 200;
/** Follows one message box from empty to sent. */
export class SpanTracker {
    #text = "";
    #spans = [];
    #before = null;
    /** Earlier states by their text: undo and redo bring them back. */
    #remembered = new Map();
    /** Starts over with a text whose parts are known: empty, or a message that was not sent. */
    reset(text = "", spans = []) {
        this.#text = text;
        this.#spans = tidy(spans);
        this.#before = null;
        this.#remembered.clear();
        this.#remember();
    }
    /** A `beforeinput` event: the selection it is about to replace. */
    beforeEdit(before) {
        this.#before = before;
    }
    /** An `input` event: the text and the caret after it. */
    afterEdit(text, caret, inputType) {
        const before = this.#before;
        this.#before = null;
        const edit = exactEdit(this.#text, text, caret, before, inputType);
        if (inputType === "historyUndo" || inputType === "historyRedo") {
            this.#spans = this.#remembered.get(text) ?? wholeText(text);
        }
        else if (edit === null) {
            this.#spans = wholeText(text);
        }
        else {
            this.#spans = tidy(applyEdit(this.#spans, edit));
        }
        this.#text = text;
        this.#remember();
    }
    /** The parts of the text that is about to be sent. A text this tracker has not followed is pasted as a whole. */
    spansOf(text) {
        return text === this.#text ? this.#spans : wholeText(text);
    }
    #remember() {
        const known = this.#remembered.get(this.#text);
        // One text reached in two ways: whatever was pasted in either counts as pasted.
        const spans = known === undefined ? this.#spans : tidy([...known, ...this.#spans]);
        this.#remembered.delete(this.#text);
        this.#remembered.set(this.#text, spans);
        if (this.#remembered.size > REMEMBERED_MAX) {
            const [oldest] = this.#remembered.keys();
            if (oldest !== undefined)
                this.#remembered.delete(oldest);
        }
    }
}
/** The whole of a text as pasted. */
export function wholeText(text) {
    return text === "" ? [] : [{ kind: "paste", start: 0, end: text.length }];
}
/** The edit between two texts, or null when what happened is not certain. */
function exactEdit(old, text, caret, before, inputType) {
    if (before === null || before.inputType !== inputType)
        return null;
    const place = inputType.startsWith("delete")
        ? deletedPlace(old, text, before)
        : insertedPlace(old, text, caret, before);
    if (place === null)
        return null;
    const inserted = text.slice(place.start, place.start + place.insertedLength);
    const kind = kindOf(inputType, inserted);
    return kind === "unknown" ? null : { ...place, kind };
}
function kindOf(inputType, inserted) {
    if (inserted === "")
        return null;
    switch (inputType) {
        case "insertText":
        case "insertCompositionText":
        case "insertFromComposition":
            return inserted.length > TYPED_PIECE_MAX || inserted.includes("\n") ? "paste" : null;
        case "insertLineBreak":
        case "insertParagraph":
            return inserted === "\n" ? null : "unknown";
        case "insertFromDrop":
            return "drop";
        case "insertFromPaste":
        case "insertFromPasteAsQuotation":
        case "insertFromYank":
            return "paste";
        // A spelling suggestion is one word the customer picked from the browser's own list.
        case "insertReplacementText":
            return /\s/u.test(inserted.trim()) ? "paste" : null;
        default:
            return "unknown";
    }
}
/** Where text went in: it ends at the caret, and begins at the selection where that fits. */
function insertedPlace(old, text, caret, before) {
    const tail = text.slice(caret);
    if (!old.endsWith(tail))
        return null;
    const oldEnd = old.length - tail.length;
    if (before.selectionEnd === oldEnd) {
        const start = before.selectionStart;
        if (start <= caret && old.slice(0, start) === text.slice(0, start)) {
            return { start, end: oldEnd, insertedLength: caret - start };
        }
    }
    // A composition or a spelling suggestion replaces more than the selection: what is equal in front stays.
    const limit = Math.min(oldEnd, caret);
    let start = 0;
    while (start < limit && old[start] === text[start])
        start += 1;
    return { start, end: oldEnd, insertedLength: caret - start };
}
/** What went out: the selection, or what stood before or behind the caret. */
function deletedPlace(old, text, before) {
    const removed = old.length - text.length;
    if (removed < 0)
        return null;
    const starts = before.selectionEnd > before.selectionStart
        ? [before.selectionStart]
        : [before.selectionStart - removed, before.selectionStart];
    for (const start of starts) {
        if (start < 0)
            continue;
        if (old.slice(0, start) + old.slice(start + removed) === text) {
            return { start, end: start + removed, insertedLength: 0 };
        }
    }
    return null;
}
/** Moves the spans over an edit. A part inside a pasted span splits it; what is left on each side stays pasted. */
function applyEdit(spans, edit) {
    const shift = edit.insertedLength - (edit.end - edit.start);
    const moved = [];
    for (const span of spans) {
        if (span.start < edit.start)
            moved.push({ ...span, end: Math.min(span.end, edit.start) });
        if (span.end > edit.end) {
            moved.push({ ...span, start: Math.max(span.start, edit.end) + shift, end: span.end + shift });
        }
    }
    if (edit.kind !== null && edit.insertedLength > 0) {
        moved.push({ kind: edit.kind, start: edit.start, end: edit.start + edit.insertedLength });
    }
    return moved;
}
/** Sorted, without empty, touching or overlapping parts of one kind. */
function tidy(spans) {
    const sorted = spans.filter((span) => span.end > span.start).sort((a, b) => a.start - b.start || a.end - b.end);
    const kept = [];
    for (const span of sorted) {
        const last = kept.at(-1);
        if (last === undefined || span.start > last.end || (span.start === last.end && span.kind !== last.kind)) {
            kept.push(span);
        }
        else {
            kept[kept.length - 1] = { ...last, end: Math.max(last.end, span.end) };
        }
    }
    return kept;
}
/** The same parts in UTF-8 bytes. A part that begins or ends inside a character takes the whole character. */
export function toBytes(text, spans) {
    const encoder = new TextEncoder();
    const bytesBefore = (at) => encoder.encode(text.slice(0, at)).length;
    return tidy(spans.map((span) => {
        const start = splitsCharacter(text, span.start) ? span.start - 1 : span.start;
        const end = splitsCharacter(text, span.end) ? span.end + 1 : span.end;
        return { kind: span.kind, start: bytesBefore(start), end: bytesBefore(end) };
    }));
}
function splitsCharacter(text, at) {
    return isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
}
function isBetween(value, low, high) {
    return value >= low && value <= high;
}
