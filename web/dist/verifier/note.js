// A log's head as a signed note (C2SP tlog-checkpoint over signed-note).
import { fromBase64, hashFromBase64, joined, same, utf8 } from "./bytes.js";
import { isSmallOrder } from "./keys.js";
import { Code, Refused } from "./verdict.js";
/** Longest note, in bytes, and most signature lines. */
const NOTE_BYTES_MAX = 128 << 10;
const SIGNATURES_MAX = 32;
const malformed = () => new Refused(Code.Malformed, "read a checkpoint: not a signed note of origin, size and root");
/** A number as programs write it: digits without a zero in front, within 64 bits; null for any other text. */
export function plainNumber(digits) {
    if (!/^(?:0|[1-9][0-9]{0,19})$/.test(digits))
        return null;
    const number = BigInt(digits);
    return number < 1n << 64n ? number : null;
}
function readText(text) {
    const lines = text.slice(0, -1).split("\n");
    const [origin, digits, base64] = lines;
    if (lines.length !== 3 || !origin || digits === undefined || base64 === undefined)
        throw malformed();
    const size = plainNumber(digits);
    const root = hashFromBase64(base64);
    if (size === null || root === null)
        throw malformed();
    return { origin, size, root };
}
async function holds(key, signature, text) {
    // Whoever checks strictly takes no signature that a second message could have, too.
    if (signature.length !== 64 || isSmallOrder(signature.slice(0, 32)))
        return false;
    return crypto.subtle.verify("Ed25519", key.key, joined(signature), utf8(text));
}
/** Reads a note and checks its signature. Lines of other keys are passed over, as the format asks. */
export async function checkNote(note, key) {
    const control = /[\u0000-\u0009\u000b-\u001f]/;
    if (utf8(note).length > NOTE_BYTES_MAX || control.test(note) || !note.endsWith("\n"))
        throw malformed();
    const end = note.lastIndexOf("\n\n");
    if (end < 0)
        throw malformed();
    const text = note.slice(0, end + 1);
    const checkpoint = readText(text);
    if (checkpoint.origin !== key.origin)
        throw new Refused(Code.Key, "read a checkpoint: another log's");
    const signatures = note.slice(end + 2);
    const lines = signatures === "" ? [] : signatures.slice(0, -1).split("\n");
    let signed = false;
    for (const [count, line] of lines.entries()) {
        const [, name, base64] = /^\u2014 ([^ ]*) ([^]*)$/.exec(line) ?? [];
        const bytes = base64 === undefined ? null : fromBase64(base64);
        if (!name || bytes === null || count === SIGNATURES_MAX)
            throw malformed();
        if (bytes.length < 4 || name !== key.origin || !same(bytes.slice(0, 4), key.hint))
            continue;
        if (!(await holds(key, bytes.slice(4), text))) {
            throw new Refused(Code.Signature, "read a checkpoint: the signature does not hold");
        }
        signed = true;
    }
    if (!signed)
        throw unknownKey();
    return checkpoint;
}
/** No key signed it. */
export function unknownKey() {
    return new UnknownKey(Code.Key, "read a checkpoint: not signed by this key");
}
/** The one refusal after which another key is tried. */
export class UnknownKey extends Refused {
}
