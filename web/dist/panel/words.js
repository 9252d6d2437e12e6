// Amounts and names inside bank-made sentences: amounts are spoken with the currency's name, names
// of outsiders are isolated so that their letters cannot turn the sentence around.
import { make } from "./dom.js";
import { MARKS } from "./texts.js";
/** Currencies whose amounts are spoken by name. Other codes are left as they stand. */
const CURRENCIES = [
    ...["EUR", "GBP", "USD", "CHF", "PLN", "JPY", "KWD", "CAD", "AUD", "NZD", "BRL", "MXN", "ARS"],
    ...["SEK", "NOK", "DKK", "CZK", "INR", "TND", "BHD"],
];
const [GROUP, POINT] = [`\\${MARKS.group}`, `\\${MARKS.point}`];
const AMOUNT = new RegExp(`(?<![\\d.,])(\\d{1,3}(?:${GROUP}\\d{3})*|\\d+)(${POINT}\\d{1,3})? (${CURRENCIES.join("|")})\\b`, "g");
/** Cuts a sentence at the names in it, and only outside of them at the amounts. */
function pieces(sentence, names) {
    const found = [];
    let rest = sentence;
    while (rest !== "") {
        let at = -1;
        let name = "";
        for (const candidate of names) {
            if (candidate === "")
                continue;
            const position = rest.indexOf(candidate);
            const earlier = position !== -1 && (at === -1 || position < at);
            const longer = position === at && position !== -1 && candidate.length > name.length;
            if (earlier || longer) {
                at = position;
                name = candidate;
            }
        }
        if (at === -1) {
            found.push(...amounts(rest));
            break;
        }
        found.push(...amounts(rest.slice(0, at)), { text: name, kind: "name" });
        rest = rest.slice(at + name.length);
    }
    return found;
}
function amounts(text) {
    const found = [];
    let last = 0;
    for (const match of text.matchAll(AMOUNT)) {
        if (match.index > last)
            found.push({ text: text.slice(last, match.index), kind: "plain" });
        found.push({ text: match[0], kind: "amount" });
        last = match.index + match[0].length;
    }
    if (last < text.length)
        found.push({ text: text.slice(last), kind: "plain" });
    return found;
}
/** "1,480.00 EUR" as a person says it: "1,480 euros". Exact: the digits never become a float. */
export function spokenAmount(amount) {
    const [digits, currency] = amount.split(" ");
    if (digits === undefined || currency === undefined)
        return amount;
    const plain = digits.replaceAll(MARKS.group, "").replace(MARKS.point, ".");
    try {
        // A decimal string is formatted exactly; the type of `format` does not know it yet.
        return new Intl.NumberFormat(document.documentElement.lang || "en", {
            style: "currency",
            currency,
            currencyDisplay: "name",
            trailingZeroDisplay: "stripIfInteger",
        }).format(plain);
    }
    catch {
        return amount;
    }
}
/** The whole sentence as it should be heard. */
export function spoken(sentence, names) {
    return pieces(sentence, names)
        .map((piece) => (piece.kind === "amount" ? spokenAmount(piece.text) : piece.text))
        .join("");
}
/**
 * The sentence as nodes: names isolated; each amount once for the eye and once for the ear, unless
 * `forTheEyeOnly` (a button's name must be the words on it).
 */
export function written(sentence, names, forTheEyeOnly = false) {
    return pieces(sentence, names).flatMap((piece) => {
        if (piece.kind === "name")
            return [make("bdi", { class: "outsider", text: piece.text })];
        if (piece.kind === "plain")
            return [document.createTextNode(piece.text)];
        if (forTheEyeOnly)
            return [make("bdi", { class: "figures", text: piece.text })];
        return [
            make("bdi", { class: "figures", text: piece.text, attributes: { "aria-hidden": "true" } }),
            make("span", { class: "visually-hidden", text: spokenAmount(piece.text) }),
        ];
    });
}
