// The list of conversations, and reading an earlier one. Only the newest goes on: what was asked for in another one
// grounds nothing in this.

import { make, required } from "./dom.js";
import { ask, type Kept, type Listed, SessionEnded } from "./session.js";
import * as words from "./words.js";

/** What the list needs of the page around it. */
interface Page {
  /** The conversation that goes on. */
  readonly current: () => string;
  /** Whether a reply is on its way: nothing else is shown meanwhile. */
  readonly isBusy: () => boolean;
  /** What stands in the box, to be kept over a reload. */
  readonly draft: () => string;
  readonly showCurrent: (said: readonly Kept[]) => void;
  readonly showEarlier: (said: readonly Kept[]) => void;
  readonly signedOut: () => void;
}

/** The list behind its button. */
export class Conversations {
  readonly #bar = required("bar", HTMLElement);
  readonly #toggle = required("conversations", HTMLButtonElement);
  readonly #list = required("conversation-list", HTMLElement);
  readonly #earlier = required("earlier", HTMLElement);
  readonly #back = required("back", HTMLButtonElement);

  constructor(private readonly page: Page) {
    this.#toggle.addEventListener("click", () => {
      if (this.#list.hidden) void this.#unfold();
      else this.#fold();
    });
    this.#list.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.#fold();
      this.#toggle.focus();
    });
    this.#back.addEventListener("click", () => {
      if (!this.page.isBusy()) void this.#read(this.page.current());
    });
  }

  /** Offers the list from now on. */
  open(): void {
    this.#bar.hidden = false;
  }

  /** Takes it away for good. */
  close(): void {
    this.#fold();
    this.#bar.hidden = true;
    this.#earlier.hidden = true;
  }

  /** A fresh conversation is shown: no earlier one is any more. */
  leave(): void {
    this.#fold();
    this.#earlier.hidden = true;
  }

  #fold(): void {
    this.#list.hidden = true;
    this.#toggle.setAttribute("aria-expanded", "false");
  }

  async #unfold(): Promise<void> {
    this.#toggle.setAttribute("aria-expanded", "true");
    this.#list.hidden = false;
    this.#list.replaceChildren();
    try {
      const { conversations } = await ask<{ readonly conversations: readonly Listed[] }>("/conversations", this.page.draft);
      if (this.#list.hidden) return;
      const rows = conversations.map((one) => make("li", {}, [this.#entry(one)]));
      if (rows.length === 0) this.#say(words.NO_CONVERSATIONS);
      else this.#list.replaceChildren(make("ol", {}, rows));
    } catch (error) {
      this.#failed(error);
    }
  }

  #entry(one: Listed): HTMLElement {
    const isCurrent = one.conversation === this.page.current();
    const begins = one.begins === "" ? words.WITHOUT_WORDS : one.begins;
    const when = new Date(one.last_at);
    const shown = when.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    const button = make("button", { class: "entry", attributes: { type: "button", ...(isCurrent ? { "aria-current": "true" } : {}) } }, [
      make("bdi", { class: "begins", text: begins }),
      make("time", { class: "soft", text: isCurrent ? `${words.CURRENT} · ${shown}` : shown, attributes: { datetime: one.last_at } }),
    ]);
    button.addEventListener("click", () => {
      if (!this.page.isBusy()) void this.#read(one.conversation);
    });
    return button;
  }

  async #read(conversation: string): Promise<void> {
    try {
      const { history } = await ask<{ readonly history: readonly Kept[] }>(
        `/history?conversation=${encodeURIComponent(conversation)}`,
        this.page.draft,
      );
      const isCurrent = conversation === this.page.current();
      this.#fold();
      this.#earlier.hidden = isCurrent;
      if (isCurrent) this.page.showCurrent(history);
      else this.page.showEarlier(history);
      // The pressed button is gone: whoever uses the keyboard goes on where the words are.
      (isCurrent ? this.#toggle : this.#back).focus();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (error instanceof SessionEnded) this.page.signedOut();
    else this.#say(words.LIST_TROUBLE);
  }

  #say(text: string): void {
    this.#list.hidden = false;
    this.#list.replaceChildren(make("p", { class: "soft", text, attributes: { role: "status" } }));
  }
}
