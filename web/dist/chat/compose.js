// The message box: what is typed, what was pasted, and when it may be sent.
import { required } from "./dom.js";
import { SpanTracker, wholeText } from "./spans.js";
import { charactersLeft, COUNT_FROM, MESSAGE_LENGTH_MAX } from "./words.js";
/** The box at the foot of the chat. */
export class Compose {
    onSend;
    #form = required("compose", HTMLFormElement);
    #box = required("text", HTMLTextAreaElement);
    #send = required("send", HTMLButtonElement);
    #stop = required("stop", HTMLButtonElement);
    #count = required("count", HTMLElement);
    #tracker = new SpanTracker();
    #busy = false;
    constructor(onSend, onStop) {
        this.onSend = onSend;
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
            if (event.key !== "Enter" || event.shiftKey || event.isComposing)
                return;
            event.preventDefault();
            if (!event.repeat)
                this.#submit();
        });
        this.#form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#submit();
        });
        this.#stop.addEventListener("click", onStop);
        // The panel may put the keyboard into this frame at the customer's wish; it belongs in the box then.
        window.addEventListener("focus", () => {
            if (document.activeElement === document.body && !this.#form.hidden)
                this.#box.focus();
        });
        this.#draw();
    }
    /** Shows the box. It never takes the focus by itself: it stands beside the page that confirms. */
    show() {
        this.#form.hidden = false;
        this.#draw();
    }
    /** Takes the box away. */
    close() {
        this.#form.hidden = true;
    }
    /** While a reply is on its way and the box is empty, Stop takes the place of Send. */
    set busy(busy) {
        this.#busy = busy;
        this.#draw();
    }
    /** What stands in the box now. */
    get text() {
        return this.#box.value;
    }
    /** Puts a message back that was not sent. A newer one in the box stays. */
    restore(draft) {
        if (this.#box.value !== "")
            return;
        this.#box.value = draft.text;
        this.#tracker.reset(draft.text, draft.spans);
        this.#draw();
        this.#box.focus();
    }
    /** Puts a text in the box that the page carried over a reload; where its parts came from is forgotten. */
    restoreText(text) {
        if (text !== "" && this.#box.value === "") {
            this.#box.value = text;
            this.#tracker.reset(text, wholeText(text));
            this.#draw();
        }
    }
    #submit() {
        const text = this.#box.value;
        if (text.trim() === "" || length(text) > MESSAGE_LENGTH_MAX)
            return;
        const spans = this.#tracker.spansOf(text);
        this.#box.value = "";
        this.#tracker.reset();
        this.#draw();
        this.onSend({ text, spans });
    }
    #draw() {
        const text = this.#box.value;
        const used = length(text);
        this.#send.disabled = text.trim() === "" || used > MESSAGE_LENGTH_MAX;
        const stopping = this.#busy && text === "";
        const hadFocus = document.activeElement === this.#send || document.activeElement === this.#stop;
        this.#stop.hidden = !stopping;
        this.#send.hidden = stopping;
        if (hadFocus && (this.#send.hidden || this.#send.disabled) && this.#stop.hidden)
            this.#box.focus();
        const left = MESSAGE_LENGTH_MAX - used;
        this.#count.textContent = used < COUNT_FROM ? "" : charactersLeft(left);
        this.#box.style.height = "auto";
        this.#box.style.height = `${this.#box.scrollHeight + 2}px`;
    }
}
/** Characters as the bank counts them. */
function length(text) {
    return Array.from(text).length;
}
