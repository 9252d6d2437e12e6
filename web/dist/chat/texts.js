// What the page itself says, in the customer's language. English is written here; the other sentences come with the page.
const ENGLISH = { sentences: {} };
function ofPage() {
    const element = typeof document === "undefined" ? null : document.getElementById("sentences");
    if (element === null)
        return ENGLISH;
    return JSON.parse(element.textContent ?? "");
}
const language = ofPage();
/** A sentence in the page's language, with its values put in. */
export function t(english, values = {}) {
    const sentence = Object.hasOwn(language.sentences, english) ? (language.sentences[english] ?? english) : english;
    return sentence.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}
