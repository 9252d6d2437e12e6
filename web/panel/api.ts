// The panel's own endpoints, and what they answer. Same origin only; the cookie goes along by itself.

import { t } from "./texts.js";

/** A label and the value beside it, in the order in which the record holds them. */
export interface Row {
  readonly label: string;
  readonly value: string;
}

/** A value the customer still has to give. */
export interface OpenSlot {
  readonly slot: string;
  readonly line: number;
  readonly label: string;
  readonly help: string;
  readonly kind: "choice" | "amount" | "text" | "date";
  readonly choices: readonly { readonly value: string; readonly label: string }[] | null;
}

/** One payment of a card that has several. */
export interface CardPayment {
  /** Its number, by which it is dropped. */
  readonly line: number;
  /** The place of its first row among the card's rows, and how many it has. */
  readonly first_row: number;
  readonly rows: number;
  /** What a button that drops it is about. */
  readonly about: string;
}

/** Where a request stands. */
export type CardState =
  | "pending"
  | "superseded"
  | "cancelled"
  | "expired"
  | "refused"
  | "held"
  | "confirmed";

/** One request as the bank draws it. */
export interface Card {
  readonly action: string;
  readonly version: number;
  readonly kind: string;
  readonly state: CardState;
  readonly title: string;
  readonly button: string;
  readonly rows: readonly Row[];
  /** The names on it that outsiders chose. */
  readonly names: readonly string[];
  /** The payments, where there are several; each can be dropped. */
  readonly payments: readonly CardPayment[];
  readonly warnings: readonly { readonly code: string; readonly text: string }[];
  readonly you_wrote: { readonly text: string } | null;
  readonly open_slots: readonly OpenSlot[];
  readonly note_allowed: boolean;
  readonly asks_again: { readonly text: string } | null;
  /** Whether the press wants a passkey, and whether there is one to ask. */
  readonly step_up: "ready" | "not_enrolled" | "frozen" | null;
  readonly left_today: string | null;
  readonly created: string;
  readonly expires: string;
  /** Absent where the bank would not run what stands here; then `message` says why. */
  readonly confirm_hash: string | null;
  readonly nonce: string | null;
  readonly superseded_by: string | null;
  readonly message: string | null;
  readonly receipt: string | null;
  /** How long it can be undone after Confirm, in seconds; null where no money goes to somebody else. */
  readonly undo_seconds: number | null;
  /** Until when it can be undone; null once it cannot. */
  readonly undo_until: string | null;
  /** When it was undone. */
  readonly undone: string | null;
  /** Why the bank waits, while it does. */
  readonly hold: CardHold | null;
}

/** Why the bank waits after a Confirm, and how long. */
export interface CardHold {
  readonly reason: string;
  readonly text: string;
  /** When it goes by itself; null where something has to happen first. */
  readonly goes: string | null;
  /** When it ends unsent. */
  readonly ends: string;
}

/** The names on a card. Wherever one of them stands in a sentence of the card, it is isolated. */
export function namesOf(card: Card): string[] {
  return [...card.names];
}

/** What a card is about in one line: the button's words once there is a button to press. */
export function headline(card: Card): string {
  return card.confirm_hash === null ? card.title : card.button;
}

/** Every request worth showing now, with the server's clock. */
export interface Cards {
  readonly server_time: string;
  /** Notices that were not listed yet. */
  readonly unread: number;
  readonly cards: readonly Card[];
}

/** What a Confirm that took effect answers. */
export interface Confirmed {
  readonly outcome: "confirmed" | "held";
  readonly receipt: string | null;
  readonly short_code: string | null;
  readonly balance: string | null;
  readonly message: string;
  readonly undo_until: string | null;
  readonly hold: CardHold | null;
}

/** A refusal as the server words it: `code` for the page, `detail` for the person. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly card: Card | null;
}

/**
 * What came of a request. `lost` means that no answer came, or one that tells nothing:
 * the server may have acted.
 */
export type Answer<T> =
  | { readonly kind: "ok"; readonly value: T; readonly tookMilliseconds: number }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "lost" };

/** What the bank says of itself where it did nothing. */
const NOTHING_WAS_DONE: ReadonlySet<string> = new Set(["busy", "older_copy"]);
const ANSWER_MILLISECONDS_MAX = 12_000;

async function ask<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  const began = performance.now();
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      credentials: "same-origin",
      redirect: "error",
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
    });
  } catch {
    return { kind: "lost" };
  }
  const body: unknown = await response.json().catch(() => null);
  const tookMilliseconds = performance.now() - began;
  if (response.ok) {
    if (body === null && response.status !== 204) return { kind: "lost" };
    return { kind: "ok", value: body as T, tookMilliseconds };
  }
  const problem = (body ?? {}) as Partial<Record<"code" | "detail" | "type", string>> & { card?: Card };
  const code = problem.code ?? problem.type?.split(":").pop();
  // A gateway's page, a crash: no word of the bank's, so nothing is known.
  if (code === undefined || (response.status >= 500 && !NOTHING_WAS_DONE.has(code))) return { kind: "lost" };
  return {
    kind: "refused",
    refusal: {
      status: response.status,
      code,
      detail: t(problem.detail ?? ""),
      card: problem.card ?? null,
    },
  };
}

/** Reads from the panel. */
export function get<T>(path: string): Promise<Answer<T>> {
  return ask<T>(path, { method: "GET", headers: { Accept: "application/json" } });
}

/** Writes to the panel. The browser adds Origin; without it the server refuses. */
export function post<T>(path: string, body: object): Promise<Answer<T>> {
  return ask<T>(path, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}
