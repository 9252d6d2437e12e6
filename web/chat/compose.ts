// The message box: what is typed, what was pasted, and when it may be sent.

import { required } from "./dom.js";
import { type Span, SpanTracker, wholeText } from "./spans.js";
import { charactersLeft, COUNT_FROM, MESSAGE_LENGTH_MAX } from "./words.js";

/** A message as the customer wrote it. Offsets are UTF-16. */
export interface Draft {
  readonly text: string;
  readonly spans: readonly Span[];
}

/** The box at the foot of the chat. */
export class Compose {
  readonly #form = required("compose", HTMLFormElement);
  readonly #box = required("text", HTMLTextAreaElement);
  readonly #send = required("send", HTMLButtonElement);
  readonly #stop = required("stop", HTMLButtonElement);
  readonly #count = required("count", HTMLElement);
  readonly #tracker = new SpanTracker();
  #busy = false;

  constructor(
    private readonly onSend: (draft: Draft) => void,
    onStop: () => void,
  ) {
    this.#box.addEventListener("beforeinput", (event) => {
      this.#tracker.beforeEdit({
        selectionStart: this.#box.selectionStart,
        selectionEnd: this.#box.selectionEnd,
        inputType: event.inputType,
      });
    });
    this.#box.addEventListener("input", (event) => {
      const inputType = event instanceof InputEvent ? event.inputType : "";
      this.#tracker.afterEdit(this.#box.value, this.#box.selectionEnd, inputType);
      this.#draw();
    });
    this.#box.addEventListener("keydown", (event) => {
      // While an input method is composing, Enter picks a candidate.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!event.repeat) this.#submit();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#stop.addEventListener("click", onStop);
    // The panel may put the keyboard into this frame at the customer's wish; it belongs in the box then.
    window.addEventListener("focus", () => {
      if (document.activeElement === document.body && !this.#form.hidden) this.#box.focus();
    });
    this.#draw();
  }

  /** Shows the box. It never takes the focus by itself: it stands beside the page that confirms. */
  show(): void {
    this.#form.hidden = false;
    this.#draw();
  }

  /** Takes the box away. */
  close(): void {
    this.#form.hidden = true;
  }

  /** While a reply is on its way and the box is empty, Stop takes the place of Send. */
  set busy(busy: boolean) {
    this.#busy = busy;
    this.#draw();
  }

  /** What stands in the box now. */
  get text(): string {
    return this.#box.value;
  }

  /** Puts a message back that was not sent. A newer one in the box stays. */
  restore(draft: Draft): void {
    if (this.#box.value !== "") return;
    this.#box.value = draft.text;
    this.#tracker.reset(draft.text, draft.spans);
    this.#draw();
    this.#box.focus();
  }

  /** Puts a text in the box that the page carried over a reload; where its parts came from is forgotten. */
  restoreText(text: string): void {
    if (text !== "" && this.#box.value === "") {
      this.#box.value = text;
      this.#tracker.reset(text, wholeText(text));
      this.#draw();
    }
  }

  #submit(): void {
    const text = this.#box.value;
    if (text.trim() === "" || length(text) > MESSAGE_LENGTH_MAX) return;
    const spans = this.#tracker.spansOf(text);
    this.#box.value = "";
    this.#tracker.reset();
    this.#draw();
    this.onSend({ text, spans });
  }

  #draw(): void {
    const text = this.#box.value;
    const used = length(text);
    this.#send.disabled = text.trim() === "" || used > MESSAGE_LENGTH_MAX;
    const stopping = this.#busy && text === "";
    const hadFocus = document.activeElement === this.#send || document.activeElement === this.#stop;
    this.#stop.hidden = !stopping;
    this.#send.hidden = stopping;
    if (hadFocus && (this.#send.hidden || this.#send.disabled) && this.#stop.hidden) this.#box.focus();
    const left = MESSAGE_LENGTH_MAX - used;
    this.#count.textContent = used < COUNT_FROM ? "" : charactersLeft(left);
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight + 2}px`;
  }
}

/** Characters as the bank counts them. */
function length(text: string): number {
  return Array.from(text).length;
}
