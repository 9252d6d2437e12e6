// The panel's own endpoints, and what they answer. Same origin only; the cookie goes along by itself.
import { t } from "./texts.js";
/** The names on a card. Wherever one of them stands in a sentence of the card, it is isolated. */
export function namesOf(card) {
    return [...card.names];
}
/** What a card is about in one line: the button's words once there is a button to press. */
export function headline(card) {
    return card.confirm_hash === null ? card.title : card.button;
}
/** What the bank says of itself where it did nothing. */
const NOTHING_WAS_DONE = new Set(["busy", "older_copy"]);
const ANSWER_MILLISECONDS_MAX = 12_000;
async function ask(path, init) {
    const began = performance.now();
    let response;
    try {
        response = await fetch(path, {
            ...init,
            credentials: "same-origin",
            redirect: "error",
            cache: "no-store",
            signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
        });
    }
    catch {
        return { kind: "lost" };
    }
    const body = await response.json().catch(() => null);
    const tookMilliseconds = performance.now() - began;
    if (response.ok) {
        if (body === null && response.status !== 204)
            return { kind: "lost" };
        return { kind: "ok", value: body, tookMilliseconds };
    }
    const problem = (body ?? {});
    const code = problem.code ?? problem.type?.split(":").pop();
    // A gateway's page, a crash: no word of the bank's, so nothing is known.
    if (code === undefined || (response.status >= 500 && !NOTHING_WAS_DONE.has(code)))
        return { kind: "lost" };
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
export function get(path) {
    return ask(path, { method: "GET", headers: { Accept: "application/json" } });
}
/** Writes to the panel. The browser adds Origin; without it the server refuses. */
export function post(path, body) {
    return ask(path, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/json" },
        body: JSON.stringify(body),
    });
}
