// Values the customer still has to give. Each is a labelled field; what is filled in makes a new
// version of the request at the bank and a new card here, which waits for a press of its own.
import { make } from "./dom.js";
import { t } from "./texts.js";
/** Up to this many choices stand open as radio buttons; more become a list to pick from. */
const RADIO_CHOICES_MAX = 6;
/** The fields of one card and the one button that hands them in. */
export class SlotForm {
    element;
    #fields;
    constructor(card, submit) {
        this.#fields = card.open_slots.map((slot) => field(card, slot));
        const go = () => {
            const values = this.#fields
                .map((one) => ({ slot: one.slot, value: one.read() }))
                .filter(({ value }) => value !== "");
            const [first] = this.#fields;
            if (values.length === 0) {
                if (first !== undefined)
                    this.refuse(first.slot, first.slot.kind === "choice" ? t("Choose one first.") : t("Fill this in first."));
                return;
            }
            submit(values);
        };
        const button = make("button", {
            class: "button",
            text: t("Use this"),
            attributes: { type: "button" },
            on: { click: go },
        });
        this.element = make("div", {
            class: "slots",
            on: {
                keydown: (event) => {
                    const key = event;
                    if (key.key !== "Enter" || key.repeat || key.isComposing)
                        return;
                    if (!(key.target instanceof HTMLInputElement))
                        return;
                    key.preventDefault();
                    go();
                },
            },
        }, [...this.#fields.map((one) => one.element), button]);
    }
    /** Why the card cannot be confirmed yet. */
    get reason() {
        const missing = this.#fields.map((one) => one.slot.label);
        return t("Still open above: {what}", { what: missing.join(" · ") });
    }
    /** Says beside a field what is wrong with its value, and puts the focus there. */
    refuse(slot, text) {
        const found = this.#fields.find((one) => same(one.slot, slot)) ?? this.#fields[0];
        if (found === undefined)
            return;
        found.complaint.textContent = text;
        found.focus();
    }
    /** Takes over what was typed into the same fields of an older drawing. */
    keepTyped(older) {
        for (const mine of this.#fields) {
            const theirs = older.#fields.find((one) => same(one.slot, mine.slot));
            if (theirs !== undefined)
                mine.write(theirs.read());
        }
    }
}
function same(a, b) {
    return a.slot === b.slot && a.line === b.line;
}
function field(card, slot) {
    const id = `slot-${card.action}-${slot.slot}-${slot.line}`;
    const help = make("p", { class: "hint", id: `${id}-help`, text: slot.help });
    const complaint = make("p", { class: "complaint", id: `${id}-wrong`, attributes: { role: "alert" } });
    const described = { "aria-describedby": `${id}-help ${id}-wrong` };
    if (slot.choices !== null && slot.choices.length <= RADIO_CHOICES_MAX) {
        return radios(slot, slot.choices, id, help, complaint, described);
    }
    const control = slot.choices === null ? input(slot, id, described) : select(slot.choices, id, described);
    const label = make("label", { text: slot.label, attributes: { for: id } });
    return {
        slot,
        complaint,
        element: make("div", { class: "field" }, [label, help, control, complaint]),
        read: () => tidy(slot, control.value),
        write: (value) => {
            control.value = value;
        },
        focus: () => control.focus(),
    };
}
function input(slot, id, described) {
    return make("input", {
        id,
        attributes: {
            ...described,
            type: slot.kind === "date" ? "date" : "text",
            autocomplete: "off",
            dir: "auto",
            ...(slot.kind === "amount" ? { inputmode: "decimal" } : {}),
        },
    });
}
function select(choices, id, described) {
    const empty = make("option", { text: t("Choose…"), attributes: { value: "" } });
    const options = choices.map((choice) => make("option", { text: choice.label, attributes: { value: choice.value } }));
    return make("select", { id, attributes: described }, [empty, ...options]);
}
function radios(slot, choices, id, help, complaint, described) {
    const inputs = choices.map((choice, index) => make("input", { id: `${id}-${index}`, attributes: { type: "radio", name: id, value: choice.value } }));
    const lines = inputs.map((radio, index) => make("label", { class: "choice", attributes: { for: radio.id } }, [
        radio,
        make("bdi", { text: choices[index]?.label ?? "" }),
    ]));
    return {
        slot,
        complaint,
        element: make("fieldset", { class: "field", attributes: described }, [
            make("legend", { text: slot.label }),
            help,
            ...lines,
            complaint,
        ]),
        read: () => inputs.find((radio) => radio.checked)?.value ?? "",
        write: (value) => {
            for (const radio of inputs)
                radio.checked = radio.value === value;
        },
        focus: () => inputs[0]?.focus(),
    };
}
/** Takes grouping commas and outer spaces out of an amount that is written clearly; the bank judges the rest. */
function tidy(slot, typed) {
    const value = typed.trim();
    if (slot.kind !== "amount")
        return value;
    if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(value))
        return value.replaceAll(",", "");
    return value;
}
