// Draws one request. What stands here is the bank's own text, except the customer's own words and
// names that outsiders chose, and both are marked as such. A drawing never changes its values: when
// they change, the list throws the drawing away and makes a new one.

import { sayPolitely } from "./announce.js";
import { holdPart, undoPart, type Counting } from "./after.js";
import { headline, namesOf, type Card, type CardHold, type CardPayment, type Confirmed, type OpenSlot } from "./api.js";
import { minutesAndSeconds, secondsUntil, spokenTimeLeft } from "./clock.js";
import { make } from "./dom.js";
import { Gesture } from "./gesture.js";
import { NoteField } from "./note.js";
import { otherRows, paymentTable } from "./payments.js";
import { SlotForm } from "./slots.js";
import { spoken, written } from "./words.js";
import { t } from "./texts.js";

/** What the customer can do with a card; the list carries it out. */
export interface Acts {
  confirm(view: CardView, note: string): void;
  cancel(view: CardView): void;
  undo(view: CardView): void;
  keep(view: CardView): void;
  fill(view: CardView, values: readonly { slot: OpenSlot; value: string }[]): void;
  drop(view: CardView, payment: CardPayment): void;
  change(): void;
  ranOut(view: CardView): void;
  goTo(action: string): void;
}

/** Below this the time left is also shown as a warning. */
const SECONDS_LEFT_WARNING = 20;

/** The bank's sentence for a request that is over, where the server sent none. */
const OVER: Readonly<Record<string, string>> = {
  superseded: t("Replaced by a newer request."),
  cancelled: t("Cancelled. Nothing was sent. Ask the assistant if you still want it."),
  expired: t("Nobody confirmed this in time. Nothing was sent. Ask the assistant again."),
  refused: t("The bank could not do this. Nothing was sent."),
  held: t("You agreed to this. The bank is waiting before it does it."),
  confirmed: t("Done."),
  gone: t("This request is no longer waiting."),
};

/** One drawing of one card. */
export class CardView {
  readonly element: HTMLElement;
  /** What the drawing shows; a card with another fingerprint needs another drawing. */
  readonly fingerprint: string;
  /** The showing this drawing confirms with. Renewed when the same values were shown again. */
  nonce: string | null;
  /** The names on the card. */
  readonly names: readonly string[];
  /** No live update replaces the drawing while an answer is awaited. */
  busy = false;
  readonly #note: NoteField | null;
  readonly #slots: SlotForm | null;
  readonly #body: HTMLElement;
  readonly #status: HTMLElement;
  readonly #heading: HTMLHeadingElement;
  #gesture: Gesture | null = null;
  #ticker: number | undefined;
  #after: Counting | null = null;

  constructor(
    readonly card: Card,
    private readonly acts: Acts,
    before: { readonly note: string; readonly remark: string | null } = { note: "", remark: null },
  ) {
    this.fingerprint = fingerprint(card);
    this.names = namesOf(card);
    this.nonce = card.nonce;
    this.#heading = make(
      "h3",
      { class: "card-title", id: `title-${card.action}`, attributes: { tabindex: "-1" } },
      written(card.title, this.names),
    );
    this.#status = make("p", { class: "card-status", attributes: { tabindex: "-1", hidden: "" } });
    this.#body = make("div", { class: "card-body" });
    this.element = make(
      "article",
      {
        class: "card",
        id: `card-${card.action}`,
        attributes: { "aria-labelledby": `title-${card.action}`, "data-state": card.state },
      },
      [this.#heading, this.#status, this.#body],
    );
    this.#note = card.note_allowed && card.state === "pending" ? new NoteField(card, before.note) : null;
    this.#slots =
      card.state === "pending" && card.open_slots.length > 0
        ? new SlotForm(card, (values) => acts.fill(this, values))
        : null;
    if (card.state === "pending") {
      this.#drawOpen();
      if (card.message !== null) this.say(card.message);
    } else {
      this.#drawOver(card.state, card.message);
    }
    if (before.remark !== null) this.say(before.remark);
  }

  /** The note as typed so far. */
  get note(): string {
    return this.#note?.value ?? "";
  }

  /** Whether the keyboard's focus is inside this drawing. */
  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  /** Shows a bank-made sentence under the title. */
  say(text: string): void {
    this.#status.hidden = false;
    this.#status.replaceChildren(...written(text, this.names));
  }

  /** Moves the focus to the sentence under the title, or to the title where there is none. Never to a button. */
  focusText(): void {
    (this.#status.hidden ? this.#heading : this.#status).focus();
  }

  /** Puts the focus back into the note after a new drawing took the place of an old one. */
  focusNote(): void {
    this.#note?.focus();
  }

  /** Whether the customer is typing the note. */
  get typesNote(): boolean {
    return this.#note?.hasFocus ?? false;
  }

  /** Says beside the note what is wrong with it. */
  noteRefused(text: string): void {
    this.#note?.refuse(text);
  }

  /** Says beside the first open field what is wrong with its value. */
  slotRefused(slot: OpenSlot, text: string): void {
    this.#slots?.refuse(slot, text);
  }

  /** Takes over what was typed into fields that are still open. */
  keepTyped(older: CardView): void {
    if (older.#slots !== null) this.#slots?.keepTyped(older.#slots);
  }

  /** While an answer is awaited: no button, and words for what happens. */
  drawWaiting(text: string): void {
    const focused = this.hasFocus;
    this.busy = true;
    this.#clear();
    this.element.dataset["state"] = "waiting";
    this.#body.replaceChildren(...this.#rows(), make("p", { class: "card-progress", text }));
    // The pressed button is gone; whoever works by keyboard stays at this card.
    if (focused) this.focusText();
  }

  /** The outcome is not known. The sentence stays until it is. */
  drawUnknown(): void {
    this.busy = true;
    this.#clear();
    this.element.dataset["state"] = "unknown";
    this.say(
      t("We don't know yet whether this went through. Don't send it again; we're checking."),
    );
    this.#body.replaceChildren(...this.#rows(), make("p", { class: "card-progress", text: t("Checking…") }));
  }

  /** It took effect: amount, name, new balance, short code, receipt. */
  drawDone(done: Confirmed): void {
    this.busy = false;
    this.#clear();
    this.element.dataset["state"] = done.outcome;
    this.say(done.message);
    const payments = this.card.payments.length === 0 ? [] : [paymentTable(this.card, this.names, null)];
    const rows = make("dl", { class: "card-rows" });
    for (const row of otherRows(this.card)) {
      if (this.card.names.includes(row.value)) addRow(rows, row.label, written(row.value, this.names));
    }
    if (done.balance !== null) {
      addRow(rows, t("New balance"), written(done.balance, []));
    }
    if (done.short_code !== null) {
      addRow(rows, t("Short code"), [make("code", { text: done.short_code })]);
    }
    const links = done.receipt === null ? [] : [receiptLink(done.receipt)];
    this.#body.replaceChildren(...this.#afterwards(done.undo_until, done.hold), ...payments, rows, ...links);
  }

  /** Whether the drawing offers to undo. */
  get offersUndo(): boolean {
    return this.#after !== null && this.element.dataset["state"] === "confirmed";
  }

  /** What can still be done after the Confirm: undo it, or cancel what the bank holds. */
  #afterwards(undoUntil: string | null, hold: CardHold | null): Node[] {
    const about = spoken(this.card.button, this.names);
    if (hold !== null) {
      this.#after = holdPart(hold);
      const foot = make("div", { class: "card-foot" }, [this.#button("Cancel", () => this.acts.cancel(this))]);
      return [this.#after.element, foot];
    }
    if (undoUntil === null) return [];
    const part = undoPart(
      undoUntil,
      about,
      () => {
        if (!this.busy) this.acts.undo(this);
      },
      () => {
        const focused = this.hasFocus;
        part.element.remove();
        this.#after = null;
        this.say(t("On its way."));
        if (focused) this.focusText();
      },
    );
    this.#after = part;
    return [part.element];
  }

  /** It is over without this page having done it, or it vanished from the list. */
  drawOver(state: string, message: string | null): void {
    this.busy = false;
    this.#clear();
    this.#drawOver(state, message);
  }

  /** Lets go of timers and observers. */
  end(): void {
    this.#clear();
  }

  #clear(): void {
    this.#gesture?.end();
    this.#gesture = null;
    window.clearInterval(this.#ticker);
    this.#after?.end();
    this.#after = null;
  }

  #drawOver(state: string, message: string | null): void {
    this.element.dataset["state"] = state;
    this.say(message ?? OVER[state] ?? t("This request is over."));
    const parts: Node[] = [];
    const next = this.card.superseded_by;
    if (state === "superseded" && next !== null) {
      parts.push(
        make("p", {}, [
          make("a", {
            text: t("Go to the newer request"),
            attributes: { href: `#card-${next}` },
            on: {
              click: (event) => {
                event.preventDefault();
                this.acts.goTo(next);
              },
            },
          }),
        ]),
      );
    }
    if (this.card.state === state && (this.card.hold !== null || this.card.undo_until !== null)) {
      parts.push(...this.#afterwards(this.card.undo_until, this.card.hold), ...this.#rows());
    }
    if (this.card.receipt !== null) parts.push(receiptLink(this.card.receipt));
    this.#body.replaceChildren(...parts);
  }

  #drawOpen(): void {
    const card = this.card;
    const parts: Node[] = this.#rows(
      card.asks_again === null
        ? (payment) => {
            if (!this.busy) this.acts.drop(this, payment);
          }
        : null,
    );
    if (card.you_wrote !== null) {
      parts.push(
        make("p", { class: "you-wrote" }, [
          `${t("You wrote:")} `,
          make("q", {}, [make("bdi", { text: card.you_wrote.text })]),
        ]),
      );
    }
    for (const warning of card.warnings) {
      parts.push(make("p", { class: "warning", attributes: { "data-code": warning.code } }, written(warning.text, this.names)));
    }
    if (card.left_today !== null) {
      parts.push(make("p", { class: "left-today" }, [`${t("Left today after this:")} `, ...written(card.left_today, [])]));
    }
    if (card.asks_again !== null) {
      parts.push(
        this.#asksAgain(card.asks_again.text),
        make("div", { class: "card-foot" }, [this.#time()]),
      );
      this.#body.replaceChildren(...parts);
      return;
    }
    if (this.#slots !== null) parts.push(this.#slots.element);
    if (this.#note !== null) parts.push(this.#note.element);
    parts.push(
      make("div", { class: "card-foot" }, [
        this.#time(),
        this.#button(t("Cancel"), () => this.acts.cancel(this)),
        this.#button(t("Change"), () => this.acts.change()),
      ]),
      ...this.#confirm(),
    );
    this.#body.replaceChildren(...parts);
  }

  #rows(drop: ((payment: CardPayment) => void) | null = null): HTMLElement[] {
    const list = make("dl", { class: "card-rows" });
    for (const row of otherRows(this.card)) addRow(list, row.label, written(row.value, this.names));
    return this.card.payments.length === 0 ? [list] : [paymentTable(this.card, this.names, drop), list];
  }

  #asksAgain(wrote: string): HTMLElement {
    return make("div", { class: "asks-again" }, [
      make("p", {}, around(t("You wrote {words} after this was prepared. What now?"), "{words}", make("q", {}, [make("bdi", { text: wrote })]))),
      make("div", { class: "card-foot" }, [
        this.#button(t("Keep"), () => this.acts.keep(this)),
        this.#button(t("Cancel"), () => this.acts.cancel(this)),
      ]),
    ]);
  }

  #button(text: string, act: () => void): HTMLButtonElement {
    const about = spoken(headline(this.card), this.names);
    return make("button", {
      class: "button",
      text,
      attributes: { type: "button", "aria-description": about },
      on: {
        click: () => {
          if (!this.busy) act();
        },
      },
    });
  }

  #confirm(): Node[] {
    const card = this.card;
    const why = make("p", { class: "why", id: `why-${card.action}`, attributes: { role: "status" } });
    const heard = make("span", {
      class: "visually-hidden",
      id: `heard-${card.action}`,
      text: spoken(headline(card), this.names),
    });
    const button = make(
      "button",
      {
        class: "button button-primary confirm",
        attributes: { type: "button", "aria-describedby": `heard-${card.action} why-${card.action}` },
      },
      // One child, so that the words stay one run of text.
      [make("span", {}, written(card.button, this.names, true))],
    );
    if (this.#slots !== null) {
      button.disabled = true;
      why.textContent = this.#slots.reason;
    } else if (card.confirm_hash === null) {
      // What the bank would not run has no button; the sentence above says why.
      return [];
    } else if (card.step_up === "not_enrolled") {
      return [noPasskeyYet()];
    } else if (card.step_up === "frozen") {
      return [gettingBackIn()];
    } else {
      this.#gesture = new Gesture(
        button,
        this.element,
        () => this.acts.confirm(this, this.note),
        (reason) => {
          why.textContent = reason;
        },
      );
    }
    const undo = card.undo_seconds ?? 0;
    const note =
      undo === 0 || card.warnings.some((warning) => warning.code.startsWith("held_"))
        ? []
        : [make("p", { class: "undo-note", text: t("After your press you have {count} seconds to undo it.", { count: undo }) })];
    return [...note, button, heard, why];
  }

  #time(): HTMLElement {
    const shown = make("time", {
      class: "time-left figures",
      attributes: { datetime: this.card.expires, title: absolute(this.card.expires) },
    });
    let last = -1;
    const tick = (): void => {
      const seconds = secondsUntil(this.card.expires);
      if (seconds === last) return;
      last = seconds;
      shown.textContent = t("Ends in {time}", { time: minutesAndSeconds(seconds) });
      shown.classList.toggle("soon", seconds <= SECONDS_LEFT_WARNING);
      const words = spokenTimeLeft(seconds);
      if (words !== null) sayPolitely(`${spoken(headline(this.card), this.names)}: ${words}`);
      if (seconds === 0) {
        window.clearInterval(this.#ticker);
        this.acts.ranOut(this);
      }
    };
    this.#ticker = window.setInterval(tick, 250);
    tick();
    return shown;
  }
}

/** Everything of a card that a person can see or that a Confirm carries, except the showing. */
export function fingerprint(card: Card): string {
  return JSON.stringify({ ...card, nonce: "" });
}

function addRow(list: HTMLElement, label: string, value: readonly Node[]): void {
  list.append(make("div", {}, [make("dt", { text: label }), make("dd", {}, [make("bdi", {}, value)])]));
}

/** In place of the button: without a passkey this is not done, whatever is pressed. */
function noPasskeyYet(): HTMLElement {
  return make("div", { class: "step-up" }, [
    make("p", { text: t("You have no passkey yet. Set one up first; this waits meanwhile.") }),
    make("p", {}, [make("a", { class: "button button-primary", text: t("Set up a passkey"), attributes: { href: "/passkeys#for-card" } })]),
  ]);
}

function gettingBackIn(): HTMLElement {
  return make("div", { class: "step-up" }, [
    make("p", { text: t("You are getting back in after you lost your passkeys. Until that is over this is not done.") }),
    make("p", {}, [make("a", { text: t("See where that stands"), attributes: { href: "/passkeys" } })]),
  ]);
}

/** A sentence with an element where it names one. */
function around(sentence: string, place: string, element: Node): (Node | string)[] {
  const [before = "", after = ""] = sentence.split(place);
  return [before, element, after];
}

function receiptLink(receipt: string): HTMLElement {
  return make("p", {}, [make("a", { text: t("Receipt"), attributes: { href: receipt } })]);
}

function absolute(moment: string): string {
  return new Intl.DateTimeFormat(document.documentElement.lang || "en", {
    dateStyle: "medium",
    timeStyle: "medium",
  }).format(new Date(moment));
}
