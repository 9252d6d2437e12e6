// Who the chat is: the panel hands over a one-use code, the bank gives a bearer for it, and the bearer lives in
// this module's memory only. No cookie and no storage API; losing it costs one reload, which brings a new code.
/** The session is over; the page is reloading or says how to go on. */
export class SessionEnded extends Error {
}
/** The bank refused, with the code of its answer. */
export class Refused extends Error {
    status;
    code;
    constructor(status, code) {
        super(`refused: ${code ?? status}`);
        this.status = status;
        this.code = code;
    }
}
/** How long the panel may take to hand over a code. */
const CODE_WAIT_MILLISECONDS = 15_000;
let bearer = null;
/** Waits for the panel's code and redeems it. */
export async function open(panelOrigin) {
    const code = await nextCode(panelOrigin);
    const answer = await fetch("/redeem", post({ code }));
    if (!answer.ok)
        throw await refused(answer);
    const opened = (await answer.json());
    bearer = opened.bearer;
    return opened;
}
function nextCode(panelOrigin) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new SessionEnded("no code came")), CODE_WAIT_MILLISECONDS);
        window.addEventListener("message", (event) => {
            if (event.origin !== panelOrigin || event.source !== window.parent || window.parent === window)
                return;
            const data = event.data;
            if (typeof data !== "object" || data === null || !("code" in data) || typeof data.code !== "string")
                return;
            clearTimeout(timer);
            resolve(data.code);
        });
    });
}
/** Calls the bank as this chat. An ended session reloads once and throws. */
export async function call(path, body, draft, signal) {
    return answered(path, { ...post(body), ...(signal === undefined ? {} : { signal }) }, draft);
}
/** Asks the bank for something as this chat. An ended session reloads once and throws. */
export async function ask(path, draft) {
    return (await (await answered(path, { ...SAFE, method: "GET" }, draft)).json());
}
async function answered(path, init, draft) {
    if (bearer === null)
        throw new SessionEnded("no bearer");
    const answer = await fetch(path, {
        ...init,
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${bearer}` },
    });
    if (answer.status === 401) {
        bearer = null;
        reloadOnce(draft());
        throw new SessionEnded("signed out");
    }
    if (!answer.ok)
        throw await refused(answer);
    // The session works, so a later 401 may reload again.
    history.replaceState(null, "");
    return answer;
}
/** What every request of the chat has in common. */
const SAFE = { cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "same-origin" };
function post(body) {
    return { ...SAFE, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}
async function refused(answer) {
    let code = null;
    try {
        const problem = await answer.json();
        if (typeof problem === "object" && problem !== null && "type" in problem && typeof problem.type === "string") {
            code = problem.type.replace("urn:countersign:problem:", "");
        }
    }
    catch {
        // An answer without a readable body still has its status.
    }
    return new Refused(answer.status, code);
}
/** A new `load` makes the panel send a new code. A second 401 in a row means it would not help. */
function reloadOnce(draft) {
    if (carried() !== null)
        return;
    const state = { reloaded: true, draft };
    history.replaceState(state, "");
    location.reload();
}
function carried() {
    const state = history.state;
    if (typeof state !== "object" || state === null || !("reloaded" in state))
        return null;
    return state;
}
/** The message that was being written when the page reloaded itself. */
export function carriedDraft() {
    const draft = carried()?.draft;
    return typeof draft === "string" ? draft : "";
}
