// The note for the payee: one line, typed here and nowhere else. Enter in it does nothing.

import { namesOf, type Card } from "./api.js";
import { make } from "./dom.js";
import { t } from "./texts.js";

const NOTE_CHARACTERS_MAX = 200;
const CHARACTERS_LEFT_SHOWN_BELOW = 40;

/** The field with its label, its rest of characters and its complaint. */
export class NoteField {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #hint: HTMLElement;

  constructor(card: Card, typedBefore: string) {
    const id = `note-${card.action}`;
    this.#hint = make("p", { class: "hint", id: `${id}-hint`, attributes: { role: "status" } });
    this.#input = make("input", {
      id,
      attributes: {
        type: "text",
        maxlength: String(NOTE_CHARACTERS_MAX),
        autocomplete: "off",
        dir: "auto",
        "aria-describedby": `${id}-hint`,
      },
      on: {
        keydown: (event) => {
          if ((event as KeyboardEvent).key === "Enter") event.preventDefault();
        },
        input: () => this.#showRest(),
      },
    });
    this.#input.value = typedBefore;
    const [payee, ...others] = namesOf(card);
    const label = make("label", { attributes: { for: id } });
    if (payee === undefined || others.length > 0) label.append(t("Note for the payee (optional)"));
    else {
      const [before = "", after = ""] = t("Note for {name} (optional)").split("{name}");
      label.append(before, make("bdi", { text: payee }), after);
    }
    this.element = make("div", { class: "field" }, [label, this.#input, this.#hint]);
  }

  get value(): string {
    return this.#input.value;
  }

  get hasFocus(): boolean {
    return document.activeElement === this.#input;
  }

  focus(): void {
    this.#input.focus();
  }

  refuse(text: string): void {
    this.#hint.textContent = text;
    this.#input.setAttribute("aria-invalid", "true");
    this.#input.focus();
  }

  #showRest(): void {
    this.#input.removeAttribute("aria-invalid");
    const left = NOTE_CHARACTERS_MAX - Array.from(this.#input.value).length;
    this.#hint.textContent =
      left < CHARACTERS_LEFT_SHOWN_BELOW ? t("{count} characters left", { count: left }) : "";
  }
}
