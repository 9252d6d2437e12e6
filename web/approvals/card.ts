// One held call, drawn once: a held call never changes, only its time runs.

import { decide, stopCountdown, type Listed, type Row, type Step, type Whole } from "./api.js";
import { make } from "./dom.js";
import { guard } from "./gesture.js";
import { clockText, momentAfter, secondsUntil } from "./time.js";
import { pieces, strangeness } from "./visible.js";

/** Longer values are folded until they are opened; approving wants them open. */
const FOLDED_CHARACTERS = 600;
const FOLDED_LINES = 14;
const SOON_SECONDS = 60;
const NOTE_CHARACTERS_MAX = 160;

/** A card on the page. */
export class Card {
  readonly element: HTMLElement;
  readonly deny: HTMLButtonElement;
  readonly #approve: HTMLButtonElement;
  readonly #why = make("p", { class: "why", attributes: { role: "status" } });
  readonly #timeLeft = make("p", { class: "figures" });
  readonly #countdown = make("div", { class: "countdown", attributes: { role: "status" } });
  readonly #countdownText = make("span");
  readonly #note: HTMLInputElement;
  readonly #folded = new Set<HTMLElement>();
  readonly #shownAt = performance.now();
  #expiresAt = 0;
  #countdownAt: number | null = null;

  constructor(
    private readonly call: Whole,
    private readonly changed: (said: string) => void,
  ) {
    const title = `title-${call.hold}`;
    const note = `note-${call.hold}`;
    this.#note = make("input", {
      id: note,
      attributes: { maxlength: String(NOTE_CHARACTERS_MAX), autocomplete: "off" },
    });
    this.deny = this.#choice("deny", "Deny");
    this.#approve = this.#choice("approve", "Approve");
    const stop = make("button", { class: "button", text: "Hold it", attributes: { type: "button" } });
    stop.hidden = !call.here;
    guard(stop, () => this.#shownAt, () => void this.#stop(), (why) => this.#say(why));
    this.#countdown.append(this.#countdownText, stop);
    this.#countdown.hidden = true;
    this.element = make("article", { class: "card", attributes: { "aria-labelledby": title, "data-hold": call.hold } }, [
      make("div", { class: "card-head" }, [
        make("h2", { id: title }, [...shown(call.server), " › ", ...shown(call.tool ?? call.method)]),
        this.#timeLeft,
      ]),
      this.#countdown,
      this.#facts(),
      this.#values(),
      this.#others(),
      ...(call.here
        ? [
            make("div", { class: "note" }, [
              make("label", { text: "Reason (optional, kept in the record)", attributes: { for: note } }),
              this.#note,
            ]),
            make("div", { class: "choices" }, [this.deny, this.#approve]),
          ]
        : [make("p", { class: "soft", text: "Its rule takes no decision on this page, only a signed review." })]),
      this.#why,
    ]);
  }

  /** Takes the time left from the list. */
  setTimes(listed: Listed): void {
    this.#expiresAt = momentAfter(listed.expires_in);
    this.#countdownAt = listed.countdown_in === undefined ? null : momentAfter(listed.countdown_in);
    this.tick();
  }

  /** Shows the time left; called each second. */
  tick(): void {
    const seconds = secondsUntil(this.#expiresAt);
    this.#timeLeft.textContent = seconds > 0 ? `Denied by itself in ${clockText(seconds)}` : "Time is up";
    this.#timeLeft.classList.toggle("soon", seconds <= SOON_SECONDS);
    this.#countdown.hidden = this.#countdownAt === null;
    // Where it goes on by itself, nothing is denied by itself before that.
    this.#timeLeft.hidden = this.#countdownAt !== null;
    if (this.#countdownAt !== null) {
      this.#countdownText.textContent = `Goes on by itself in ${clockText(secondsUntil(this.#countdownAt))} unless you hold or deny it.`;
    }
  }

  #facts(): HTMLElement {
    const { call } = this;
    const held = new Date(call.held_at);
    const facts: (readonly [string, readonly (Node | string)[]])[] = [
      ["Asked by", shown(call.identity)],
      ["Held by", [code(call.rule), " in policy ", code(call.policy)]],
      ["Held at", [held.toLocaleTimeString(), " (", call.held_at, ")"]],
      ["Policy file", [code(call.policy_sha256.slice(0, 16)), "…"]],
    ];
    if (call.commit !== null) facts.push(["About commit", [make("span", { class: "code" }, shown(call.commit))]]);
    return make(
      "dl",
      { class: "facts" },
      facts.flatMap(([label, value]) => [make("dt", { text: label }), make("dd", {}, value)]),
    );
  }

  #values(): HTMLElement {
    const rows = this.call.arguments;
    if (rows.length === 0) return make("p", { class: "soft", text: "It is called without arguments." });
    return make("dl", { class: "values" }, rows.map((row) => this.#row(row)));
  }

  #row(row: Row): HTMLElement {
    const strange = row.kind === "string" ? strangeness(row.text) : 0;
    const about = row.kind === "string" ? `${[...row.text].length} characters` : row.kind;
    return make("div", {}, [
      make("dt", {}, [make("span", { class: "code" }, pathNodes(row.path)), make("span", { text: about })]),
      make("dd", {}, [
        ...(strange > 0
          ? [make("p", { class: "strange", text: strange === 1 ? "1 character does not show, or looks like another." : `${strange} characters do not show, or look like others.` })]
          : []),
        this.#value(row),
      ]),
    ]);
  }

  #value(row: Row): HTMLElement {
    const value = make("bdi", { class: "value" });
    const characters = [...row.text];
    const long = characters.length > FOLDED_CHARACTERS || row.text.split("\n").length > FOLDED_LINES;
    if (!long) {
      value.append(...(row.text === "" ? [make("span", { class: "mark", text: "empty" })] : shown(row.text)));
      return value;
    }
    const first = row.text.split("\n").slice(0, FOLDED_LINES).join("\n");
    value.append(...shown([...first].slice(0, FOLDED_CHARACTERS).join("")), "…");
    const open = make("button", {
      class: "quiet",
      text: `Show all ${characters.length.toLocaleString("en")} characters`,
      attributes: { type: "button" },
      on: {
        click: () => {
          value.replaceChildren(...shown(row.text));
          this.#folded.delete(value);
          open.remove();
          value.tabIndex = -1;
          value.focus();
        },
      },
    });
    this.#folded.add(value);
    return make("div", {}, [value, open]);
  }

  #others(): HTMLElement {
    const others = make("details", {}, [
      make("summary", { text: "Everything else in the message" }),
      make("dl", { class: "values" }, this.call.others.map((row) =>
        make("div", {}, [
          make("dt", {}, [make("span", { class: "code" }, pathNodes(row.path))]),
          make("dd", {}, [make("bdi", { class: "value" }, shown(row.text))]),
        ]),
      )),
      make("p", { class: "soft", text: "The whole message, byte for byte as the server receives it:" }),
      make("bdi", { class: "value whole", attributes: { tabindex: "0", role: "region", "aria-label": "The whole message" } }, shown(this.call.message)),
    ]);
    return others;
  }

  #choice(choice: "approve" | "deny", words: string): HTMLButtonElement {
    const name = this.call.tool ?? this.call.method;
    const button = make("button", {
      class: `button ${choice}`,
      text: words,
      attributes: { type: "button", "aria-label": `${words} ${name}` },
    });
    guard(button, () => this.#shownAt, () => void this.#decide(choice), (why) => this.#say(why));
    return button;
  }

  async #decide(choice: "approve" | "deny"): Promise<void> {
    if (choice === "approve" && this.#folded.size > 0) {
      this.#say(`Open ${this.#folded.size === 1 ? "the long value" : "the long values"} before you approve.`);
      return;
    }
    this.#busy(true);
    const answer = await decide(this.call, choice, this.#note.value.trim());
    if (answer.kind === "ok") {
      this.changed(choice === "approve" ? "Approved. The call goes on." : "Denied. The call does not go on.");
      return;
    }
    this.#busy(false);
    if (answer.kind === "lost") this.#say("The door did not answer. The list shows what became of the call.");
    else this.#say(`${answer.title}.`);
    this.changed("");
  }

  async #stop(): Promise<void> {
    const answer = await stopCountdown(this.call.hold);
    if (answer.kind === "ok") {
      this.#countdownAt = null;
      this.tick();
      this.#say("Held. It goes on only when you approve it.");
    } else if (answer.kind === "refused") this.#say(`${answer.title}.`);
    else this.#say("The door did not answer. Press again.");
  }

  #busy(busy: boolean): void {
    this.deny.disabled = busy;
    this.#approve.disabled = busy;
  }

  #say(why: string): void {
    this.#why.textContent = why;
  }
}

/** A stranger's text as nodes, with marks where it does not show what it is. */
export function shown(text: string): Node[] {
  return pieces(text).map((piece) => {
    if (piece.note === null) return document.createTextNode(piece.text);
    if (piece.text === "\n") {
      const end = make("span", { class: "mark", text: "↵", attributes: { title: piece.note } });
      return make("span", {}, [end, "\n"]);
    }
    const text = piece.shown ? `${piece.text} ${piece.note}` : piece.note;
    return make("span", { class: "mark", text, attributes: { title: piece.note } });
  });
}

function code(text: string): HTMLElement {
  return make("span", { class: "code" }, shown(text));
}

function pathNodes(path: readonly Step[]): Node[] {
  return path.flatMap((step, at) => {
    if (typeof step === "number") return [document.createTextNode(`[${step}]`)];
    const before = at === 0 ? [] : [document.createTextNode(".")];
    return [...before, ...(step === "" ? shown("\u200b") : shown(step))];
  });
}
