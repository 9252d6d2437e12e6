// Held calls, as they come and go. The token behind the # leaves the address bar before anything else is done.
import { forgetSession, hasSession, news, openSession, whole } from "./api.js";
import { Card, shown } from "./card.js";
import { make, required } from "./dom.js";
import { openingOf, saveButton } from "./save.js";
const TOKEN = /^#([0-9a-f]{64})$/;
const AGAIN_MILLISECONDS = 2_000;
const WORDS = {
    released: "Released",
    denied: "Denied",
    expired: "Denied: nobody decided in time",
    withdrawn: "Denied: whoever asked went away",
    shut_down: "Denied: the door stopped",
    changed: "Denied: it had changed since it was held",
};
const cards = new Map();
/** What this page showed, so that it can be saved once it is decided. */
const calls = new Map();
const CALLS_MAX = 20;
let version = null;
let running = false;
let asked = new AbortController();
function notice(text) {
    const element = required("notice");
    element.hidden = text === null;
    element.textContent = text ?? "";
}
function say(text) {
    if (text !== "")
        required("say").textContent = text;
}
async function useToken() {
    const token = TOKEN.exec(window.location.hash)?.[1];
    if (token === undefined)
        return;
    window.history.replaceState(null, "", window.location.pathname);
    const answer = await openSession(token);
    if (answer.kind === "ok")
        notice(null);
    else if (answer.kind === "lost")
        notice("The door did not answer. Open the link again.");
    else if (!hasSession())
        notice("This link was used before or is not the newest. Open the newest one.");
}
/** Waits for news again and again, until the session ends. */
async function follow() {
    if (running)
        return;
    running = true;
    while (hasSession()) {
        const answer = await news(version);
        if (answer.kind === "ok") {
            notice(null);
            version = answer.value.version;
            await draw(answer.value);
        }
        else if (answer.kind === "refused" && answer.status === 401) {
            forgetSession();
            clear();
            notice("Your session has ended. Open the newest link.");
        }
        else {
            notice("The door does not answer. Nothing is released meanwhile.");
            version = null;
            await pause(AGAIN_MILLISECONDS);
        }
    }
    running = false;
}
function pause(milliseconds) {
    asked = new AbortController();
    const { signal } = asked;
    return new Promise((resolve) => {
        const timer = window.setTimeout(resolve, milliseconds);
        signal.addEventListener("abort", () => {
            window.clearTimeout(timer);
            resolve();
        });
    });
}
function clear() {
    cards.clear();
    calls.clear();
    required("holds").replaceChildren();
    required("past-section").hidden = true;
    required("empty").hidden = true;
    required("who").hidden = true;
}
async function draw(found) {
    const who = required("who");
    who.hidden = false;
    who.replaceChildren("Deciding as ", ...shown(found.approver));
    const place = required("holds");
    const wanted = new Set(found.holds.map((listed) => listed.hold));
    for (const [hold, card] of cards) {
        if (wanted.has(hold))
            continue;
        const hadFocus = card.element.contains(document.activeElement);
        card.element.remove();
        cards.delete(hold);
        if (hadFocus)
            focusFirst();
    }
    for (const listed of found.holds) {
        let card = cards.get(listed.hold);
        if (card === undefined) {
            const answer = await whole(listed.hold);
            if (answer.kind !== "ok")
                continue;
            card = new Card(answer.value, say);
            remember(answer.value);
            cards.set(listed.hold, card);
            place.append(card.element);
            say(`A call waits: ${answer.value.server}, ${answer.value.tool ?? answer.value.method}.`);
            if (document.activeElement === document.body)
                card.deny.focus({ preventScroll: true });
        }
        card.setTimes(listed);
    }
    required("empty").hidden = found.holds.length > 0;
    document.title = found.holds.length > 0 ? `(${found.holds.length}) Held calls` : "Held calls";
    required("past-section").hidden = found.past.length === 0;
    required("past").replaceChildren(...found.past.map(past));
}
function remember(call) {
    calls.set(call.hold, call);
    const [oldest] = calls.keys();
    if (calls.size > CALLS_MAX && oldest !== undefined)
        calls.delete(oldest);
}
/** Denying comes first: a press that was meant for something else does no harm. */
function focusFirst() {
    const [first] = cards.values();
    if (first !== undefined)
        first.deny.focus();
    else
        required("past-title").focus();
}
function past(done) {
    const receipt = done.receipt === null ? "not in the record" : `receipt ${done.receipt}`;
    return make("li", { attributes: { "data-why": done.why, "data-hold": done.hold } }, [
        make("p", {}, [
            ...shown(done.server),
            " › ",
            ...shown(done.name),
            `: ${WORDS[done.why] ?? done.why}, ${new Date(done.at).toLocaleTimeString()}`,
        ]),
        make("p", { class: "receipt", text: receipt }),
        ...files(done),
    ]);
}
/** What can be saved of a decision: the signed record, and the call where this page showed it. */
function files(done) {
    if (done.signed === undefined)
        return [];
    const call = calls.get(done.hold);
    const about = `${done.name}, ${new Date(done.at).toLocaleTimeString()}`;
    const buttons = [saveButton("Save the signed decision", `approval-${done.hold}.json`, done.signed)];
    if (call !== undefined)
        buttons.push(saveButton("Save the call", `call-${done.hold}.json`, openingOf(call)));
    for (const button of buttons)
        button.setAttribute("aria-label", `${button.textContent ?? ""}: ${about}`);
    return [make("p", {}, buttons)];
}
required("past-title").tabIndex = -1;
window.addEventListener("hashchange", () => void useToken().then(follow));
window.setInterval(() => cards.forEach((card) => card.tick()), 1_000);
document.addEventListener("visibilitychange", () => asked.abort());
await useToken();
if (hasSession())
    void follow();
else if (required("notice").hidden)
    notice("Open this page by the link that the door gave you.");
