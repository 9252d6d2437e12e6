// The chat page: it sends what the customer writes and shows what comes back. It confirms nothing, and its
// only word to the page around it is to reload itself when the session ended.
import { Compose } from "./compose.js";
import { Conversations } from "./conversations.js";
import { make, required } from "./dom.js";
import { readLines } from "./lines.js";
import { recordInWords } from "./record.js";
import { call, carriedDraft, open, Refused, SessionEnded } from "./session.js";
import { toBytes, wholeText } from "./spans.js";
import { addKept, clear, Reply, Sent } from "./transcript.js";
import * as words from "./words.js";
const notice = required("notice", HTMLElement);
const suggestions = required("suggestions", HTMLElement);
const fresh = required("new", HTMLButtonElement);
/** How long to wait for a reply that has just been stopped, or runs in another window, before saying so. */
const WAITS_MILLISECONDS = [100, 200, 400, 800, 1600];
let conversation = "";
/** The language of the bank's own words. */
let language = "en";
let running = null;
/** Why the running reply was stopped by the customer; null while it was not. */
let stopped = null;
let next = null;
const compose = new Compose((draft) => submit({ ...draft, id: crypto.randomUUID() }), () => stop("stop"));
function tell(text) {
    notice.textContent = text ?? "";
    notice.hidden = text === null;
}
function stop(why) {
    stopped = why;
    running?.abort();
}
/** Sends a message. One that is written while a reply is on its way stops it: the newer word counts. */
function submit(message) {
    if (running === null) {
        void send(message);
    }
    else {
        next = message;
        stop("newer message");
    }
}
async function send(message) {
    suggestions.hidden = true;
    const sent = new Sent(message.text);
    running = new AbortController();
    stopped = null;
    compose.busy = true;
    let recorded = false;
    let signedOut = false;
    let reply = null;
    let trouble = words.failure("interrupted");
    try {
        const answer = await post(message, running.signal);
        reply = new Reply();
        if (answer.body === null)
            throw new Error("the answer has no body");
        for await (const line of readLines(answer.body)) {
            if (line.type === "recorded")
                recorded = true;
            else if (line.type === "text")
                reply.append(line.text);
            else if (line.type === "foreign" || line.type === "warned")
                reply.append(line.text, line.type);
            else if (line.type === "flagged")
                reply.flagged(line.tool);
            else if (line.type === "looked_at")
                reply.looked(line);
            else if (line.type === "prepared")
                reply.prepared();
            else if (line.type === "corrected")
                reply.corrected(recordInWords(line.record, language));
            else if (line.type === "done")
                trouble = null;
            else
                trouble = words.failure(line.code);
        }
    }
    catch (error) {
        if (error instanceof SessionEnded) {
            signedOut = true;
            ended(words.SIGNED_OUT);
        }
        else if (error instanceof Refused) {
            sent.notSent(words.refusal(error.code), words.PUT_BACK, () => compose.restore(message));
        }
        else if (stopped === null && !recorded) {
            reply?.remove();
            reply = null;
            sent.notSent(words.NOT_SENT, words.SEND_AGAIN, () => submit(message));
        }
    }
    finally {
        if (stopped !== null && trouble !== null) {
            reply ??= new Reply();
            trouble = words.STOPPED;
        }
        reply?.end(trouble);
        // What was typed goes back into the box with where its parts came from; sending it stays the customer's own act.
        if (reply !== null && trouble !== null && next === null && !signedOut)
            reply.offer(words.TRY_AGAIN, () => compose.restore(message));
        running = null;
        compose.busy = false;
        const waiting = next;
        next = null;
        if (waiting !== null)
            void send(waiting);
    }
}
/** Hands a message to the bank. A conversation answers one message at a time, so this waits a little for its turn. */
async function post(message, signal) {
    // Lone halves of a character cannot be sent; each becomes one replacement character, of the same length here.
    const text = message.text.toWellFormed();
    const spans = toBytes(text, message.spans);
    const body = { client_message_id: message.id, conversation, text, spans };
    for (const wait of WAITS_MILLISECONDS) {
        try {
            return await call("/messages", body, () => message.text, signal);
        }
        catch (error) {
            if (!(error instanceof Refused) || error.code !== "turn_running")
                throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
        signal.throwIfAborted();
    }
    return call("/messages", body, () => message.text, signal);
}
function suggest() {
    suggestions.replaceChildren(...words.SUGGESTIONS.map((text) => {
        const button = make("button", { class: "suggestion", text, attributes: { type: "button" } });
        // The customer picked it but did not type it, so nothing in it counts as typed.
        button.addEventListener("click", () => submit({ text, spans: wholeText(text), id: crypto.randomUUID() }));
        return button;
    }));
    suggestions.hidden = false;
}
/** Shows what was said in a conversation. */
function show(said) {
    clear();
    for (const message of said) {
        if (message.role === "customer") {
            addKept(message.text);
            continue;
        }
        const reply = new Reply();
        reply.append(message.text);
        for (const looked of message.looked_at)
            reply.looked(looked);
        if (message.corrected !== null)
            reply.corrected(recordInWords(message.corrected, language));
        const trouble = {
            complete: null,
            stopped: words.STOPPED,
            failed: words.failure("interrupted"),
            running: words.STILL_RUNNING,
        };
        reply.end(trouble[message.state], "silent");
    }
}
/** Shows the conversation that goes on. */
function showCurrent(said) {
    show(said);
    suggestions.hidden = true;
    if (said.length === 0)
        suggest();
    compose.show();
}
/** Shows an earlier conversation: to read, not to go on with. */
function showEarlier(said) {
    show(said);
    suggestions.hidden = true;
    compose.close();
}
const conversations = new Conversations({
    current: () => conversation,
    isBusy: () => running !== null,
    draft: () => compose.text,
    showCurrent,
    showEarlier,
    signedOut: () => ended(words.SIGNED_OUT),
});
function ended(text) {
    conversations.close();
    compose.close();
    suggestions.hidden = true;
    tell(text);
}
fresh.addEventListener("click", () => {
    if (running !== null)
        return;
    void (async () => {
        try {
            const answer = await call("/conversations", {}, () => compose.text);
            ({ conversation } = (await answer.json()));
            tell(null);
            conversations.leave();
            showCurrent([]);
        }
        catch (error) {
            if (error instanceof SessionEnded)
                ended(words.SIGNED_OUT);
            else
                tell(error instanceof Refused ? words.refusal(error.code) : words.NO_CONNECTION);
        }
    })();
});
window.addEventListener("offline", () => tell(words.OFFLINE));
window.addEventListener("online", () => tell(null));
if (!navigator.onLine)
    tell(words.OFFLINE);
async function start() {
    const panelOrigin = document.body.dataset["panelOrigin"] ?? "";
    if (window.parent === window) {
        tell(words.NOT_FRAMED);
        return;
    }
    try {
        const opened = await open(panelOrigin);
        ({ conversation, language } = opened);
        showCurrent(opened.history);
        conversations.open();
        compose.restoreText(carriedDraft());
    }
    catch {
        ended(words.RELOAD);
    }
}
void start();
