// The page's own endpoints. The session stands in session storage, for this tab alone, and goes along as a header;
// there is no cookie that another page of this machine could borrow.
const SESSION = "countersign-session";
const ANSWER_MILLISECONDS_MAX = 30_000;
/** Whether this tab has a session. */
export function hasSession() {
    return sessionStorage.getItem(SESSION) !== null;
}
/** Forgets the session. */
export function forgetSession() {
    sessionStorage.removeItem(SESSION);
}
/** Exchanges a link's token for a session. */
export async function openSession(token) {
    const answer = await ask("/api/session", { token });
    if (answer.kind === "ok")
        sessionStorage.setItem(SESSION, answer.value.session);
    return answer;
}
/** What is held; waits for news after a version. */
export function news(after) {
    return ask(after === null ? "/api/holds" : `/api/holds?after=${after}`);
}
/** One held call. */
export function whole(hold) {
    return ask(`/api/holds/${hold}`);
}
/** Decides about the call that was shown. */
export function decide(call, choice, note) {
    return ask(`/api/holds/${call.hold}/decide`, {
        digest: call.digest,
        choice,
        note: note === "" ? null : note,
        commit: call.commit,
    });
}
/** Stops a countdown. */
export function stopCountdown(hold) {
    return ask(`/api/holds/${hold}/stop`, {});
}
async function ask(path, body) {
    const headers = new Headers();
    const session = sessionStorage.getItem(SESSION);
    if (session !== null)
        headers.set("authorization", `Bearer ${session}`);
    const init = {
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
        if (response.status === 204)
            return { kind: "ok", value: null };
        const value = await response.json();
        if (response.ok)
            return { kind: "ok", value: value };
        const problem = value;
        const { code = "unknown", title = "The door refused this." } = problem;
        return { kind: "refused", status: response.status, code, title };
    }
    catch {
        return { kind: "lost" };
    }
}
