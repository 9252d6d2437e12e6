// Who the chat is: the panel hands over a one-use code, the bank gives a bearer for it, and the bearer lives in
// this module's memory only. No cookie and no storage API; losing it costs one reload, which brings a new code.

import type { Record as BankRecord } from "./record.js";

/** A message of the conversation as the bank kept it. */
export type Kept =
  | { readonly role: "customer"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly state: "running" | "complete" | "stopped" | "failed";
      readonly looked_at: readonly Looked[];
      readonly corrected: BankRecord | null;
    };

/** One thing the assistant looked at, by the door's receipt of it. */
export interface Looked {
  readonly tool: string;
  readonly receipt: string;
}

/** A conversation in the list of them. */
export interface Listed {
  readonly conversation: string;
  /** Its first message, cut; empty when nothing was written. */
  readonly begins: string;
  readonly messages: number;
  /** When something was last written in it, in RFC 3339. */
  readonly last_at: string;
}

/** What the bank answers to a code. */
export interface Opened {
  readonly conversation: string;
  readonly customer_name: string;
  /** The language in which the bank speaks with the customer. */
  readonly language: string;
  readonly history: readonly Kept[];
}

/** The session is over; the page is reloading or says how to go on. */
export class SessionEnded extends Error {}

/** The bank refused, with the code of its answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string | null,
  ) {
    super(`refused: ${code ?? status}`);
  }
}

/** What outlives the one reload: that it happened, and the message that was being written. */
interface Carried {
  readonly reloaded: true;
  readonly draft: string;
}

/** How long the panel may take to hand over a code. */
const CODE_WAIT_MILLISECONDS = 15_000;

let bearer: string | null = null;

/** Waits for the panel's code and redeems it. */
export async function open(panelOrigin: string): Promise<Opened> {
  const code = await nextCode(panelOrigin);
  const answer = await fetch("/redeem", post({ code }));
  if (!answer.ok) throw await refused(answer);
  const opened = (await answer.json()) as Opened & { readonly bearer: string };
  bearer = opened.bearer;
  return opened;
}

function nextCode(panelOrigin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new SessionEnded("no code came")), CODE_WAIT_MILLISECONDS);
    window.addEventListener("message", (event: MessageEvent<unknown>) => {
      if (event.origin !== panelOrigin || event.source !== window.parent || window.parent === window) return;
      const data = event.data;
      if (typeof data !== "object" || data === null || !("code" in data) || typeof data.code !== "string") return;
      clearTimeout(timer);
      resolve(data.code);
    });
  });
}

/** Calls the bank as this chat. An ended session reloads once and throws. */
export async function call(path: string, body: unknown, draft: () => string, signal?: AbortSignal): Promise<Response> {
  return answered(path, { ...post(body), ...(signal === undefined ? {} : { signal }) }, draft);
}

/** Asks the bank for something as this chat. An ended session reloads once and throws. */
export async function ask<T>(path: string, draft: () => string): Promise<T> {
  return (await (await answered(path, { ...SAFE, method: "GET" }, draft)).json()) as T;
}

async function answered(path: string, init: RequestInit, draft: () => string): Promise<Response> {
  if (bearer === null) throw new SessionEnded("no bearer");
  const answer = await fetch(path, {
    ...init,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${bearer}` },
  });
  if (answer.status === 401) {
    bearer = null;
    reloadOnce(draft());
    throw new SessionEnded("signed out");
  }
  if (!answer.ok) throw await refused(answer);
  // The session works, so a later 401 may reload again.
  history.replaceState(null, "");
  return answer;
}

/** What every request of the chat has in common. */
const SAFE: RequestInit = { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "same-origin" };

function post(body: unknown): RequestInit {
  return { ...SAFE, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

async function refused(answer: Response): Promise<Refused> {
  let code: string | null = null;
  try {
    const problem: unknown = await answer.json();
    if (typeof problem === "object" && problem !== null && "type" in problem && typeof problem.type === "string") {
      code = problem.type.replace("urn:countersign:problem:", "");
    }
  } catch {
    // An answer without a readable body still has its status.
  }
  return new Refused(answer.status, code);
}

/** A new `load` makes the panel send a new code. A second 401 in a row means it would not help. */
function reloadOnce(draft: string): void {
  if (carried() !== null) return;
  const state: Carried = { reloaded: true, draft };
  history.replaceState(state, "");
  location.reload();
}

function carried(): Carried | null {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("reloaded" in state)) return null;
  return state as Carried;
}

/** The message that was being written when the page reloaded itself. */
export function carriedDraft(): string {
  const draft: unknown = carried()?.draft;
  return typeof draft === "string" ? draft : "";
}
