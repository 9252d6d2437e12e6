// The messages on the page. Everything is text; a reply in progress grows piece by piece.

import { make, required } from "./dom.js";
import { type Piece, pieces } from "./foreign.js";
import { flaggedIn, lookedAt, NOT_FROM_THE_BANK, PREPARED } from "./words.js";

const list = required("messages", HTMLOListElement);
const scroll = required("scroll", HTMLElement);
const say = required("say", HTMLElement);
const welcome = required("welcome", HTMLElement);

/** Whether the reader is at the end, so that new text may scroll. Reading further up is not disturbed. */
let following = true;
scroll.addEventListener("scroll", () => {
  following = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 48;
});
function follow(): void {
  if (following) scroll.scrollTop = scroll.scrollHeight;
}
new ResizeObserver(follow).observe(scroll);

function add(who: "You" | "Assistant", kind: "customer" | "assistant"): { item: HTMLLIElement; text: HTMLElement } {
  const text = make("p", { class: "text", attributes: { dir: "auto" } });
  const item = make("li", { class: `message ${kind}` }, [make("span", { class: "who", text: who }), text]);
  list.append(item);
  welcome.hidden = true;
  return { item, text };
}

/** Takes every message away and shows the welcome. */
export function clear(): void {
  list.replaceChildren();
  welcome.hidden = false;
  following = true;
}

/** Shows a message the customer sent; it is theirs at once, and says so if it could not be sent. */
export class Sent {
  readonly #item: HTMLLIElement;
  readonly #text: string;

  constructor(text: string) {
    const { item, text: element } = add("You", "customer");
    this.#item = item;
    this.#text = text;
    element.textContent = text;
    following = true;
    follow();
  }

  /** Says why it was not taken, and offers the one thing to do. */
  notSent(why: string, label: string, again: () => void): void {
    this.#item.classList.add("not-sent");
    const button = make("button", { class: "button", text: label, attributes: { type: "button" } });
    const trouble = make("div", { class: "trouble", attributes: { role: "alert" } }, [
      make("p", { text: why }),
      button,
    ]);
    button.addEventListener("click", () => {
      this.#item.remove();
      again();
    });
    this.#item.append(trouble);
    follow();
  }

  /** The text as sent. */
  get text(): string {
    return this.#text;
  }
}

/** Shows what the customer wrote at an earlier time. */
export function addKept(text: string): void {
  add("You", "customer").text.textContent = text;
  follow();
}

/** A piece of a reply: text, or a link or number that is shown dead and marked. */
function shownPiece(piece: Piece): Node {
  if (!piece.foreign) return document.createTextNode(piece.text);
  return make("span", { class: "foreign" }, [
    make("bdi", { text: piece.text }),
    make("small", { text: ` (${NOT_FROM_THE_BANK})` }),
  ]);
}

/** A reply that is on its way. */
export class Reply {
  readonly #item: HTMLLIElement;
  readonly #text: HTMLElement;
  readonly #looked = make("p", { class: "looked", attributes: { hidden: "" } });
  readonly #things: string[] = [];
  readonly #waiting = make("span", { class: "waiting", text: "is working…" });
  readonly #parts: Piece[] = [];
  readonly #flags: string[] = [];
  #whole = "";
  #prepared = false;
  #correction = "";
  #drawing = false;

  constructor() {
    const { item, text } = add("Assistant", "assistant");
    this.#item = item;
    this.#text = text;
    item.setAttribute("aria-busy", "true");
    item.firstElementChild?.append(" ", this.#waiting);
    item.append(this.#looked);
    follow();
  }

  /** Adds a piece of text. The bank has marked the ones that name an address which is not its own. */
  append(piece: string, foreign = false): void {
    this.#whole += piece;
    const last = this.#parts.at(-1);
    // Text is kept together, so that what the bank left unmarked is looked through whole once more.
    if (last !== undefined && !foreign && !last.foreign) this.#parts[this.#parts.length - 1] = { text: last.text + piece, foreign };
    else this.#parts.push({ text: piece, foreign });
    // At most once per picture: a long reply in small pieces is not looked through for each of them.
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      if (this.#drawing) this.#draw();
    });
  }

  #draw(): void {
    this.#drawing = false;
    const shown = this.#parts.flatMap((part) => (part.foreign ? [part] : pieces(part.text)));
    this.#text.replaceChildren(...shown.map(shownPiece));
    follow();
  }

  /** Notes what the assistant looked at, each thing once. */
  looked(tool: string): void {
    const thing = lookedAt(tool);
    if (thing === null || this.#things.includes(thing)) return;
    this.#things.push(thing);
    this.#looked.textContent = `▸ looked at: ${this.#things.join(", ")}`;
    this.#looked.hidden = false;
    follow();
  }

  /** Says that a text the assistant read was written to give it orders. */
  flagged(tool: string): void {
    const text = flaggedIn(tool);
    if (this.#flags.includes(text)) return;
    this.#flags.push(text);
    this.#item.append(make("p", { class: "trouble", text }));
    follow();
  }

  /** Points at the card. The card itself is the panel's alone. */
  prepared(): void {
    if (this.#prepared) return;
    this.#prepared = true;
    this.#item.append(make("p", { class: "prepared", text: PREPARED }));
    follow();
  }

  /** Sets the record beside a reply that says more than what happened. */
  corrected(record: string): void {
    this.#correction = record;
    this.#item.append(make("p", { class: "trouble", text: record, attributes: { dir: "auto" } }));
    follow();
  }

  /** Offers one thing to do behind a reply that did not come to its end; once done, the offer goes. */
  offer(label: string, act: () => void): void {
    const button = make("button", { class: "button", text: label, attributes: { type: "button" } });
    button.addEventListener("click", () => {
      button.remove();
      act();
    });
    this.#item.append(button);
    follow();
  }

  /** Takes it away: nothing came. */
  remove(): void {
    this.#item.remove();
  }

  /** Ends the reply, with a sentence when it did not come to its end. An old one is not read aloud again. */
  end(trouble: string | null, aloud: "aloud" | "silent" = "aloud"): void {
    this.#waiting.remove();
    this.#item.removeAttribute("aria-busy");
    if (trouble !== null) {
      this.#item.append(make("p", { class: "trouble", text: trouble }));
    }
    if (this.#whole === "" && trouble === null) this.append("(The assistant gave no answer.)");
    this.#draw();
    // Read once, when it is whole: pieces read as they come are noise.
    const words = ["Assistant:", this.#whole, this.#prepared ? PREPARED : ""];
    words.push(...this.#flags, this.#correction, trouble ?? "");
    if (aloud === "aloud") say.textContent = words.filter((part) => part !== "").join(" ");
  }
}
