// Text of strangers, made to show what it is made of: characters that do not show, that turn the line around,
// or that look like others. The text itself is never changed; what is added stands in marks of its own.
const NAMES = {
    0x00: "null", 0x08: "backspace", 0x09: "tab", 0x0a: "line break", 0x0b: "vertical tab", 0x0c: "form feed",
    0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete", 0x85: "next line", 0xa0: "no-break space",
    0xad: "soft hyphen", 0x34f: "grapheme joiner", 0x61c: "arabic letter mark", 0x115f: "hangul filler",
    0x1160: "hangul filler", 0x180e: "vowel separator", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner",
    0x200d: "zero-width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator",
    0x2029: "paragraph separator", 0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding",
    0x202c: "end of direction", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
    0x202f: "narrow no-break space", 0x2060: "word joiner", 0x2066: "left-to-right isolate",
    0x2067: "right-to-left isolate", 0x2068: "first-strong isolate", 0x2069: "end of isolate", 0x2800: "braille blank",
    0x3000: "ideographic space", 0x3164: "hangul filler", 0xfeff: "byte order mark", 0xffa0: "hangul filler",
    0xfffc: "object replacement", 0xfffd: "replacement character",
};
/** What has no shape, or moves its neighbours. The plain space is judged by its place. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffd]/u;
const SPACE = /[\p{Zs}]/u;
const LETTER = /\p{L}/u;
const LATIN = /\p{Script=Latin}/u;
const COMMON = /[\p{Script=Common}\p{Script=Inherited}]/u;
const MARK = /\p{M}/u;
const WORD = /[\p{L}\p{M}\p{N}_]/u;
/** Scripts whose letters are named when they stand among Latin ones. */
const SCRIPTS = [
    ["Cyrillic", /\p{Script=Cyrillic}/u],
    ["Greek", /\p{Script=Greek}/u],
    ["Armenian", /\p{Script=Armenian}/u],
    ["Cherokee", /\p{Script=Cherokee}/u],
    ["Coptic", /\p{Script=Coptic}/u],
    ["Lisu", /\p{Script=Lisu}/u],
    ["Georgian", /\p{Script=Georgian}/u],
    ["Hebrew", /\p{Script=Hebrew}/u],
    ["Arabic", /\p{Script=Arabic}/u],
];
/** Letters of other scripts that can be read as Latin ones. A word of nothing else is one to look at twice. */
const READ_AS_LATIN = new Set("аеорсухіјѕһԁԛԝвкмнтАВЕКМНОРСТУХІЈЅԌԚԜοορτυνικαηΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցօհզᎪᎠᎬᎻᏔᏟᏚ");
/** Single characters that pass for ASCII ones and that NFKC does not fold. */
const READ_AS = {
    "ı": "i", "ɩ": "i", "ɡ": "g", "ɑ": "a", "ʟ": "l", "ǀ": "l", "ⵏ": "l", "ꞁ": "l",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "˗": "-",
    "∕": "/", "⁄": "/", "⧸": "/", "╱": "/", "∶": ":", "꞉": ":", "ː": ":", "‚": ",", "ʼ": "'", "‘": "'", "’": "'",
    "′": "'", "“": '"', "”": '"', "″": '"', "∗": "*", "⁎": "*", "ꓸ": ".", "۔": ".", "∣": "|", "·": ".",
};
const code = (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
/** Cuts a text into plain pieces and strange ones. The pieces' texts together are the text. */
export function pieces(text) {
    const characters = [...text];
    const strange = lookalikes(characters);
    const found = [];
    let plain = "";
    const flush = () => {
        if (plain !== "")
            found.push({ text: plain, note: null, shown: true });
        plain = "";
    };
    characters.forEach((character, at) => {
        const note = hidden(characters, at);
        const alike = strange.get(at);
        if (note === null && alike === undefined) {
            plain += character;
            return;
        }
        flush();
        found.push({ text: character, note: note ?? alike ?? null, shown: note === null });
    });
    flush();
    return found;
}
/** How many strange pieces a text has. */
export function strangeness(text) {
    return pieces(text).filter((piece) => piece.note !== null && piece.text !== "\n").length;
}
function hidden(characters, at) {
    const character = characters[at] ?? "";
    const point = character.codePointAt(0) ?? 0;
    if (character === " ") {
        const atEdge = at === 0 || at === characters.length - 1;
        const doubled = characters[at - 1] === " " || characters[at + 1] === " ";
        return atEdge || doubled ? "space" : null;
    }
    if (HIDDEN.test(character) || SPACE.test(character))
        return `${code(character)} ${NAMES[point] ?? "does not show"}`;
    // Marks that pile up climb over their neighbours.
    if (MARK.test(character) && MARK.test(characters[at - 1] ?? "") && MARK.test(characters[at - 2] ?? "")) {
        return `${code(character)} piled mark`;
    }
    return null;
}
/** Which characters look like others, by their place. */
function lookalikes(characters) {
    const found = new Map();
    characters.forEach((character, at) => {
        if (character.codePointAt(0) < 0x80)
            return;
        const folded = READ_AS[character] ?? character.normalize("NFKC");
        if (character !== "…" && /^[\x21-\x7e]+$/.test(folded))
            found.set(at, `${code(character)} looks like ${folded}`);
        else if (/\p{Nd}/u.test(character))
            found.set(at, `${code(character)} digit`);
    });
    let start = 0;
    while (start < characters.length) {
        if (!WORD.test(characters[start] ?? "")) {
            start += 1;
            continue;
        }
        let end = start;
        while (end < characters.length && WORD.test(characters[end] ?? ""))
            end += 1;
        markWord(characters, start, end, found);
        start = end;
    }
    return found;
}
function markWord(characters, start, end, found) {
    const foreign = [];
    let latin = 0;
    for (let at = start; at < end; at += 1) {
        const character = characters[at] ?? "";
        if (!LETTER.test(character) || COMMON.test(character))
            continue;
        if (LATIN.test(character))
            latin += 1;
        else
            foreign.push(at);
    }
    const allRead = foreign.length > 0 && foreign.every((at) => READ_AS_LATIN.has(characters[at] ?? ""));
    if (foreign.length === 0 || (latin === 0 && !allRead))
        return;
    for (const at of foreign) {
        const character = characters[at] ?? "";
        const script = SCRIPTS.find(([, test]) => test.test(character))?.[0] ?? "other script";
        found.set(at, `${code(character)} ${script} letter`);
    }
}
