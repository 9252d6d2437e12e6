// Several payments on one card, as a table: what goes to whom, the total, and a button that drops one.
import { make } from "./dom.js";
import { spoken, written } from "./words.js";
import { t } from "./texts.js";
const TOTAL = t("Total");
/** The rows of a card that belong to none of its payments; the total stands in the table. */
export function otherRows(card) {
    if (card.payments.length === 0)
        return card.rows;
    const inTable = card.payments.flatMap((payment) => Array.from({ length: payment.rows }, (_, index) => payment.first_row + index));
    return card.rows.filter((row, index) => !inTable.includes(index) && row.label !== TOTAL);
}
/** The table of a card's payments; with `drop`, each has a button. */
export function paymentTable(card, names, drop) {
    const total = card.rows.find((row) => row.label === TOTAL);
    const columns = drop === null ? 2 : 3;
    return make("table", { class: "payments" }, [
        make("caption", { class: "visually-hidden", text: t("{count} payments", { count: card.payments.length }) }),
        make("thead", {}, [
            make("tr", {}, [
                make("th", { text: t("To"), attributes: { scope: "col" } }),
                make("th", { class: "amount", text: t("Amount"), attributes: { scope: "col" } }),
                ...(drop === null ? [] : [make("td")]),
            ]),
        ]),
        make("tbody", {}, card.payments.map((payment) => line(card, payment, names, drop))),
        ...(total === undefined
            ? []
            : [
                make("tfoot", {}, [
                    make("tr", {}, [
                        make("th", { text: TOTAL, attributes: { scope: "row" } }),
                        make("td", { class: "amount", attributes: { colspan: String(columns - 1) } }, written(total.value, [])),
                    ]),
                ]),
            ]),
    ]);
}
function line(card, payment, names, drop) {
    const rows = card.rows.slice(payment.first_row, payment.first_row + payment.rows);
    const value = (label) => rows.find((row) => row.label === label)?.value ?? null;
    const name = value(t("To"));
    const account = value(t("Account"));
    const amount = value(t("Amount"));
    const open = (what) => make("span", { class: "soft", text: what });
    const button = () => make("button", {
        class: "button",
        attributes: { type: "button" },
        on: { click: () => drop?.(payment) },
    }, [t("Drop"), make("span", { class: "visually-hidden", text: ` ${spoken(payment.about, names)}` })]);
    return make("tr", {}, [
        make("th", { attributes: { scope: "row" } }, [
            name === null ? open(t("not chosen yet")) : make("bdi", { class: "outsider", text: name }),
            ...(account === null ? [] : [make("span", { class: "account" }, [make("bdi", { text: account })])]),
        ]),
        make("td", { class: "amount" }, amount === null ? [open(t("not given yet"))] : written(amount, [])),
        ...(drop === null ? [] : [make("td", { class: "drop" }, [button()])]),
    ]);
}
