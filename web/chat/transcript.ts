// The messages on the page. Everything is text; a reply in progress grows piece by piece.

import { make, required } from "./dom.js";
import { type Piece, pieces } from "./foreign.js";
import { chartOf } from "./chart.js";
import type { Looked } from "./session.js";
import * as words from "./words.js";

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

function add(kind: "customer" | "assistant"): { item: HTMLLIElement; text: HTMLElement } {
  const text = make("p", { class: "text", attributes: { dir: "auto" } });
  const who = kind === "customer" ? words.YOU : words.ASSISTANT;
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
    const { item, text: element } = add("customer");
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
  add("customer").text.textContent = text;
  follow();
}

/** What the bank says of a piece of a reply: nothing, that it is not its own, or that no bank advises it. */
export type Mark = "plain" | "foreign" | "warned";

interface Part {
  readonly text: string;
  readonly mark: Mark;
}

/** A piece of a reply: text, or a link, a number or an advice that is shown dead and marked. */
function shownPart(part: Part): Node {
  if (part.mark === "plain") return document.createTextNode(part.text);
  const note = part.mark === "foreign" ? words.NOT_FROM_THE_BANK : words.NEVER_ASKED;
  return make("span", { class: "foreign" }, [
    make("bdi", { text: part.text }),
    make("small", {}, [document.createTextNode(" ("), make("bdi", { text: note }), document.createTextNode(")")]),
  ]);
}

/** What the bank left unmarked is looked through once more. */
function looked(part: Part): readonly Part[] {
  if (part.mark !== "plain") return [part];
  return pieces(part.text).map((piece: Piece) => ({ text: piece.text, mark: piece.foreign ? "foreign" : "plain" }));
}

/** A reply that is on its way. */
export class Reply {
  readonly #item: HTMLLIElement;
  readonly #text: HTMLElement;
  readonly #things = make("ul");
  readonly #summary = make("summary");
  readonly #looked = make("details", { class: "looked", attributes: { hidden: "" } }, [this.#summary, this.#things]);
  readonly #named: string[] = [];
  readonly #waiting = make("span", { class: "waiting", text: words.WORKING });
  readonly #parts: Part[] = [];
  readonly #flags: string[] = [];
  readonly #tools = new Set<string>();
  #whole = "";
  #prepared = false;
  #correction = "";
  #drawing = false;

  constructor() {
    const { item, text } = add("assistant");
    this.#item = item;
    this.#text = text;
    item.setAttribute("aria-busy", "true");
    item.firstElementChild?.append(" ", this.#waiting);
    item.append(this.#looked);
    follow();
  }

  /** Adds a piece of text. The bank has marked the ones that name an address which is not its own. */
  append(piece: string, mark: Mark = "plain"): void {
    this.#whole += piece;
    const last = this.#parts.at(-1);
    // Text is kept together, so that what the bank left unmarked is looked through whole once more.
    if (last !== undefined && mark === "plain" && last.mark === "plain") this.#parts[this.#parts.length - 1] = { text: last.text + piece, mark };
    else this.#parts.push({ text: piece, mark });
    if (mark === "warned") this.#remark(words.SAFE_ACCOUNT);
    // At most once per picture: a long reply in small pieces is not looked through for each of them.
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      if (this.#drawing) this.#draw();
    });
  }

  #draw(): void {
    this.#drawing = false;
    this.#text.replaceChildren(...this.#parts.flatMap(looked).map(shownPart));
    follow();
  }

  /** Notes what was looked at by the door's receipts, each thing once. */
  looked({ tool, receipt }: Looked): void {
    const thing = words.lookedAt(tool);
    if (thing === null || this.#named.includes(thing)) return;
    this.#named.push(thing);
    this.#tools.add(tool);
    this.#summary.textContent = `${words.LOOKED} ${this.#named.join(", ")}`;
    const code = make("bdi", { class: "receipt", text: words.receiptOf(receipt), attributes: { title: receipt } });
    this.#things.append(make("li", {}, [document.createTextNode(`${thing}: `), code]));
    this.#looked.hidden = false;
    follow();
  }

  /** Says that a text the assistant read was written to give it orders. */
  flagged(tool: string): void {
    this.#remark(words.flaggedIn(tool));
  }

  /** Says something of the reply in the bank's own voice, once. */
  #remark(text: string): void {
    if (this.#flags.includes(text)) return;
    this.#flags.push(text);
    this.#item.append(make("p", { class: "trouble", text }));
    follow();
  }

  /** Points at the card. The card itself is the panel's alone. */
  prepared(): void {
    if (this.#prepared) return;
    this.#prepared = true;
    this.#item.append(make("p", { class: "prepared", text: words.PREPARED }));
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
    if (this.#whole === "" && trouble === null) this.append(words.NO_ANSWER);
    this.#draw();
    // A picture only of what was looked up in this turn.
    const chart = this.#tools.has("get_spending_by_category") ? chartOf(this.#whole) : null;
    if (chart !== null) this.#text.after(chart);
    // Read once, when it is whole: pieces read as they come are noise.
    const parts = [`${words.ASSISTANT}:`, this.#whole, this.#prepared ? words.PREPARED : ""];
    parts.push(...this.#flags, this.#correction, trouble ?? "");
    if (aloud === "aloud") say.textContent = parts.filter((part) => part !== "").join(" ");
  }
}
