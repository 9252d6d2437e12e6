// A small picture of amounts that stand in a reply, one a line, with a table behind it. It draws what the reply says and
// knows nothing else: the words above it, the picture and the table cannot differ.
import { make } from "./dom.js";
import * as words from "./words.js";
/** `• Groceries: 1,240.50 EUR`: a name, a colon, an amount and its currency, and nothing behind. */
const LINE = /^\s*(?:[•*–-]\s*)?(?<name>[^:\n]{1,60}?)\s*:\s*(?<amount>(?<digits>\d[\d.,'\u00a0\u202f ]*)\s?(?<currency>[A-Z]{3}))\.?\s*$/u;
/** From so many amounts on a picture says it better. */
const ROWS_MIN = 2;
/** With more it says nothing. */
const ROWS_MAX = 12;
/** The amounts of a reply, where it is a list of amounts of one currency; else none. */
export function rowsOf(reply) {
    const found = reply.split("\n").flatMap((line) => {
        const groups = LINE.exec(line)?.groups;
        return groups === undefined ? [] : [groups];
    });
    const currencies = new Set(found.map((groups) => groups["currency"]));
    if (found.length < ROWS_MIN || found.length > ROWS_MAX || currencies.size !== 1)
        return [];
    const rows = found.map((groups) => ({
        name: groups["name"] ?? "",
        amount: groups["amount"] ?? "",
        value: valueOf(groups["digits"] ?? ""),
    }));
    return rows.every((row) => Number.isFinite(row.value)) && rows.some((row) => row.value > 0) ? rows : [];
}
/** A number as it is written: the last point or comma with one or two digits behind it is the decimal one. */
function valueOf(digits) {
    const decimal = /[.,](\d{1,2})\s*$/u.exec(digits);
    const whole = decimal === null ? digits : digits.slice(0, decimal.index);
    return Number(`${whole.replace(/\D/gu, "")}.${decimal?.[1] ?? "0"}`);
}
/** The picture and its table; null for a reply that is no list of amounts. */
export function chartOf(reply) {
    const rows = rowsOf(reply);
    if (rows.length === 0)
        return null;
    const most = Math.max(...rows.map((row) => row.value));
    const bars = rows.map((row) => make("div", { class: "bar-row" }, [
        make("bdi", { class: "bar-name", text: row.name }),
        // A meter's width needs no style of its own, which the page's rules forbid.
        make("meter", { attributes: { min: "0", max: String(most), value: String(row.value) } }),
        make("bdi", { class: "figures", text: row.amount }),
    ]));
    const picture = make("div", { class: "bars", attributes: { role: "img", "aria-label": words.pictureOf(rows.length) } }, bars);
    const head = make("tr", {}, [words.WHAT, words.AMOUNT].map((text) => make("th", { text, attributes: { scope: "col" } })));
    const body = rows.map((row) => make("tr", {}, [make("td", {}, [make("bdi", { text: row.name })]), make("td", { class: "figures" }, [make("bdi", { text: row.amount })])]));
    const table = make("table", {}, [make("thead", {}, [head]), make("tbody", {}, body)]);
    const behind = make("details", {}, [make("summary", { text: words.TABLE }), table]);
    return make("figure", { class: "chart" }, [picture, behind]);
}
