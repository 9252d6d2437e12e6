// The chat page: it sends what the customer writes and shows what comes back. It confirms nothing, and its
// only word to the page around it is to reload itself when the session ended.

import { Compose, type Draft } from "./compose.js";
import { make, required } from "./dom.js";
import { readLines } from "./lines.js";
import { call, carriedDraft, open, type Opened, Refused, SessionEnded } from "./session.js";
import { toBytes, wholeText } from "./spans.js";
import { addKept, clear, Reply, Sent } from "./transcript.js";
import * as words from "./words.js";

const notice = required("notice", HTMLElement);
const suggestions = required("suggestions", HTMLElement);
const fresh = required("new", HTMLButtonElement);

let running: AbortController | null = null;
let stopped = false;

const compose = new Compose(
  (draft) => void send(draft, crypto.randomUUID()),
  () => {
    stopped = true;
    running?.abort();
  },
);

function tell(text: string | null): void {
  notice.textContent = text ?? "";
  notice.hidden = text === null;
}

/** Sends one message under one id, so that sending it again is the same message. */
async function send(draft: Draft, id: string): Promise<void> {
  if (running !== null) return;
  suggestions.hidden = true;
  const sent = new Sent(draft.text);
  // Lone halves of a character cannot be sent; each becomes one replacement character of the same length here.
  const text = draft.text.toWellFormed();
  running = new AbortController();
  stopped = false;
  compose.busy = true;
  let recorded = false;
  let reply: Reply | null = null;
  let trouble: string | null = words.failure("interrupted");
  try {
    const body = { client_message_id: id, text, spans: toBytes(text, draft.spans) };
    const answer = await call("/messages", body, () => draft.text, running.signal);
    reply = new Reply();
    if (answer.body === null) throw new Error("the answer has no body");
    for await (const line of readLines(answer.body)) {
      if (line.type === "recorded") recorded = true;
      else if (line.type === "text") reply.append(line.text);
      else if (line.type === "looked_at") reply.looked(line.tool);
      else if (line.type === "prepared") reply.prepared();
      else if (line.type === "done") trouble = null;
      else trouble = words.failure(line.code);
    }
  } catch (error) {
    if (error instanceof SessionEnded) {
      ended(words.SIGNED_OUT);
    } else if (error instanceof Refused) {
      sent.notSent(words.refusal(error.code), "Put it back in the box", () => compose.restore(draft));
    } else if (!stopped && !recorded) {
      sent.notSent(words.NOT_SENT, "Send again", () => void send(draft, id));
    }
    if (stopped) {
      reply ??= new Reply();
      trouble = words.STOPPED;
    }
  } finally {
    reply?.end(trouble);
    running = null;
    compose.busy = false;
  }
}

function suggest(): void {
  suggestions.replaceChildren(
    ...words.SUGGESTIONS.map((text) => {
      const button = make("button", { class: "suggestion", text, attributes: { type: "button" } });
      // The customer picked it but did not type it, so nothing in it counts as typed.
      button.addEventListener("click", () => void send({ text, spans: wholeText(text) }, crypto.randomUUID()));
      return button;
    }),
  );
  suggestions.hidden = false;
}

function show(opened: Opened): void {
  clear();
  for (const message of opened.history) addKept(message.role, message.text);
  if (opened.history.length === 0) suggest();
}

function ended(text: string): void {
  compose.close();
  suggestions.hidden = true;
  tell(text);
}

fresh.addEventListener("click", () => {
  if (running !== null) return;
  void (async () => {
    try {
      await call("/conversations", {}, () => compose.text);
      clear();
      suggest();
    } catch (error) {
      if (error instanceof SessionEnded) ended(words.SIGNED_OUT);
      else tell(words.NOT_SENT);
    }
  })();
});

window.addEventListener("offline", () => tell(words.OFFLINE));
window.addEventListener("online", () => tell(null));

async function start(): Promise<void> {
  const panelOrigin = document.body.dataset["panelOrigin"] ?? "";
  if (window.parent === window) {
    tell(words.NOT_FRAMED);
    return;
  }
  try {
    const opened = await open(panelOrigin);
    show(opened);
    compose.show();
    compose.restoreText(carriedDraft());
  } catch {
    ended(words.RELOAD);
  }
}

void start();
