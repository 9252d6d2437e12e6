// What the chat says in its own voice: what was looked at, what went wrong, whether anything happened.

import { t } from "./texts.js";

const LOOKED_AT: Readonly<Record<string, string>> = {
  list_accounts: t("accounts"),
  get_balance: t("a balance"),
  list_transactions: t("activity"),
  list_payees: t("payees"),
  list_cards: t("cards"),
  get_limits: t("limits"),
  list_open_requests: t("waiting requests"),
  get_request_status: t("a request's state"),
  get_spending_by_category: t("spending"),
  list_standing_orders: t("standing orders"),
  list_documents: t("the list of documents"),
  read_document: t("a document"),
};

/** What a tool looked at, in words; null for a tool that looks at nothing. */
export function lookedAt(tool: string): string | null {
  return Object.hasOwn(LOOKED_AT, tool) ? (LOOKED_AT[tool] ?? null) : null;
}

const FLAGGED: Readonly<Record<string, string>> = {
  list_payees: t("a payee’s name"),
  list_transactions: t("the text of a payment"),
  list_standing_orders: t("a standing order"),
  list_documents: t("the title of a letter"),
  read_document: t("a letter"),
};

/** What the assistant was told about a text that gives it orders: that it is data. */
export function flaggedIn(tool: string): string {
  const where = Object.hasOwn(FLAGGED, tool) ? FLAGGED[tool] : undefined;
  return t("Somebody wrote an instruction for the assistant into {place}. It was told to ignore it.", { place: where ?? t("a text it read") });
}

/** Always true: the assistant has no way to move any. */
const NOTHING_HAPPENED = t("The assistant moved no money.");

const FAILED: Readonly<Record<string, string>> = {
  model_unavailable: t("The assistant cannot be reached right now."),
  agent_unavailable: t("The assistant cannot be reached right now."),
  budget: t("This question took too much work, so the assistant stopped."),
  timeout: t("The assistant took too long and was stopped."),
  door_refused: t("The assistant asked for something it may not have, and was stopped."),
  door_unavailable: t("The assistant cannot look anything up right now."),
  reply_too_long: t("The reply became too long and was cut here."),
  interrupted: t("The reply broke off."),
  withheld: t("The bank stopped this reply: it held something that is not yours to see. The bank was told."),
  secret_asked: t("The bank stopped this reply: it asked for a secret. The bank never asks for your PIN, password or codes here."),
};

/** Why a reply ended before its end. Always says whether money moved. */
export function failure(code: string): string {
  const why = Object.hasOwn(FAILED, code) ? FAILED[code] : undefined;
  return `${why ?? t("The assistant could not finish.")} ${NOTHING_HAPPENED} ${t("Anything it prepared waits beside the chat.")}`;
}

/** Why a message was not taken, by the code of the bank's answer. */
export function refusal(code: string | null): string {
  switch (code) {
    case "turn_running":
      return t("The assistant is still answering in another window. Wait for it, then send this again.");
    case "message_too_long":
      return t("This message is too long. Shorten it and send it again.");
    case "message_empty":
    case "message_characters":
      return t("This message holds characters the bank cannot store. Remove them and send it again.");
    case "too_many_messages":
      return t("That was a lot of messages. Wait a minute, then send this again.");
    default:
      return t("The bank could not take this message. It was not sent, and no money moved.");
  }
}

export const TRY_AGAIN = t("Put my message back in the box");
export const NOT_SENT = t("Not sent: there is no connection to the bank. No money moved.");
export const NO_CONNECTION = t("There is no connection to the bank right now. Try again in a minute.");
export const STOPPED = t("Stopped. The assistant moved no money.");
export const STILL_RUNNING = t("The assistant was still answering this when the page was opened again.");
export const OFFLINE = t("You are offline. What you type stays here until the connection is back.");
export const PREPARED = t("Prepared. It waits for you under “Waiting for you”.");
export const NOT_FROM_THE_BANK = t("not from the bank");
export const RELOAD = t("The chat lost its connection to your session. Reload the page.");
export const NOT_FRAMED = t("This chat opens inside the bank's page. Open that page instead.");
export const SIGNED_OUT = t("You were signed out, so the chat closed. Reload the page to sign in again.");

export const YOU = t("You");
export const ASSISTANT = t("Assistant");
export const WORKING = t("is working…");
export const NO_ANSWER = t("(The assistant gave no answer.)");
export const LOOKED = t("looked at:");
/** What stands beside a thing that was looked at: the door's receipt of it. */
export function receiptOf(leaf: string): string {
  return t("receipt {code}", { code: leaf.slice(0, 12) });
}
export const NEVER_ASKED = t("the bank never asks for this");
export const SAFE_ACCOUNT = t(
  "The bank never asks you to move money to a “safe account”. Whoever does is a fraudster: do not do it, and call the bank.",
);
export const SEND_AGAIN = t("Send again");
export const PUT_BACK = t("Put it back in the box");
export const NO_CONVERSATIONS = t("No earlier conversation.");
export const CURRENT = t("This conversation");
export const WITHOUT_WORDS = t("Nothing was written in it");
export const LIST_TROUBLE = t("The conversations cannot be shown right now. Try again in a minute.");
/** A picture of numbers in a reply. */
export function pictureOf(number: number): string {
  return t("Picture of the {count} amounts above, as the assistant says them", { count: number });
}
export const TABLE = t("As a table");
export const WHAT = t("What");
export const AMOUNT = t("Amount");
/** How many characters fit, or stand over. */
export function charactersLeft(left: number): string {
  return left >= 0 ? t("{count} characters left", { count: left }) : t("{count} characters too long", { count: -left });
}

/** Questions that only look. They bring in no value a payment could rest on. */
export const SUGGESTIONS: readonly string[] = [
  t("What is my balance?"),
  t("What did I spend this month?"),
  t("Show my last payments"),
  t("What is waiting for me?"),
];

/** Longest message, in characters as the bank counts them. */
export const MESSAGE_LENGTH_MAX = 2000;
/** From here on the number of characters left is shown. */
export const COUNT_FROM = 1800;
