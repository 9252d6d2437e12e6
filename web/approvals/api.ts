// The page's own endpoints. The session stands in session storage, for this tab alone, and goes along as a header;
// there is no cookie that another page of this machine could borrow.

const SESSION = "countersign-session";
const ANSWER_MILLISECONDS_MAX = 30_000;

/** One step on the way to a value: a member's name, or a place in an array. */
export type Step = string | number;

/** One value and where it stands. */
export interface Row {
  readonly path: readonly Step[];
  readonly kind: "string" | "number" | "boolean" | "null" | "empty";
  readonly text: string;
}

/** A held call in the list; times are milliseconds from the answer. */
export interface Listed {
  readonly hold: string;
  readonly digest: string;
  readonly expires_in: number;
  readonly countdown_in?: number;
}

/** Everything about a held call. */
export interface Whole {
  readonly hold: string;
  readonly digest: string;
  readonly salt: string;
  readonly server: string;
  readonly method: string;
  readonly tool: string | null;
  readonly definition: string | null;
  readonly identity: string;
  readonly rule: string;
  readonly policy: string;
  readonly policy_sha256: string;
  readonly commit: string | null;
  /** Whether the rule takes a decision on this page. */
  readonly here: boolean;
  readonly webhook: boolean;
  readonly held_at: string;
  readonly expires_at: string;
  readonly arguments: readonly Row[];
  readonly others: readonly Row[];
  readonly message: string;
}

/** How a hold ended. */
export interface Done {
  readonly hold: string;
  readonly server: string;
  readonly name: string;
  readonly why: string;
  readonly at: string;
  readonly receipt: string | null;
  /** The signed record, as a verifier reads it. */
  readonly signed?: { readonly payload: string; readonly signature: string };
}

/** Everything that is held now. */
export interface News {
  readonly version: number;
  readonly approver: string;
  readonly holds: readonly Listed[];
  readonly past: readonly Done[];
}

/** What came of a request. `lost` means that no answer came: the door may have acted. */
export type Answer<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "refused"; readonly status: number; readonly code: string; readonly title: string }
  | { readonly kind: "lost" };

/** Whether this tab has a session. */
export function hasSession(): boolean {
  return sessionStorage.getItem(SESSION) !== null;
}

/** Forgets the session. */
export function forgetSession(): void {
  sessionStorage.removeItem(SESSION);
}

/** Exchanges a link's token for a session. */
export async function openSession(token: string): Promise<Answer<unknown>> {
  const answer = await ask<{ readonly session: string }>("/api/session", { token });
  if (answer.kind === "ok") sessionStorage.setItem(SESSION, answer.value.session);
  return answer;
}

/** What is held; waits for news after a version. */
export function news(after: number | null): Promise<Answer<News>> {
  return ask(after === null ? "/api/holds" : `/api/holds?after=${after}`);
}

/** One held call. */
export function whole(hold: string): Promise<Answer<Whole>> {
  return ask(`/api/holds/${hold}`);
}

/** Decides about the call that was shown. */
export function decide(call: Whole, choice: "approve" | "deny", note: string): Promise<Answer<Done>> {
  return ask(`/api/holds/${call.hold}/decide`, {
    digest: call.digest,
    choice,
    note: note === "" ? null : note,
    commit: call.commit,
  });
}

/** Stops a countdown. */
export function stopCountdown(hold: string): Promise<Answer<null>> {
  return ask(`/api/holds/${hold}/stop`, {});
}

async function ask<T>(path: string, body?: unknown): Promise<Answer<T>> {
  const headers = new Headers();
  const session = sessionStorage.getItem(SESSION);
  if (session !== null) headers.set("authorization", `Bearer ${session}`);
  const init: RequestInit = {
    headers,
    credentials: "omit",
    redirect: "error",
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
  };
  if (body !== undefined) {
    headers.set("content-type", "application/json");
    init.method = "POST";
    init.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(path, init);
    if (response.status === 204) return { kind: "ok", value: null as T };
    const value: unknown = await response.json();
    if (response.ok) return { kind: "ok", value: value as T };
    const problem = value as { readonly code?: string; readonly title?: string };
    const { code = "unknown", title = "The door refused this." } = problem;
    return { kind: "refused", status: response.status, code, title };
  } catch {
    return { kind: "lost" };
  }
}
