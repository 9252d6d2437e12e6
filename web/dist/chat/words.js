// What the chat says in its own voice: what was looked at, what went wrong, whether anything happened.
const LOOKED_AT = {
    list_accounts: "accounts",
    get_balance: "a balance",
    list_transactions: "activity",
    list_payees: "payees",
    list_cards: "cards",
    get_limits: "limits",
    list_open_requests: "waiting requests",
    get_request_status: "a request's state",
    get_spending_by_category: "spending",
    list_standing_orders: "standing orders",
    list_documents: "the list of documents",
    read_document: "a document",
};
/** What a tool looked at, in words; null for a tool that looks at nothing. */
export function lookedAt(tool) {
    return Object.hasOwn(LOOKED_AT, tool) ? (LOOKED_AT[tool] ?? null) : null;
}
const FLAGGED = {
    list_payees: "a payee’s name",
    list_transactions: "the text of a payment",
    list_standing_orders: "a standing order",
    list_documents: "the title of a letter",
    read_document: "a letter",
};
/** What the assistant was told about a text that gives it orders: that it is data. */
export function flaggedIn(tool) {
    const where = Object.hasOwn(FLAGGED, tool) ? FLAGGED[tool] : undefined;
    return `Somebody wrote an instruction for the assistant into ${where ?? "a text it read"}. It was told to ignore it.`;
}
/** Always true: the assistant has no way to move any. */
const NOTHING_HAPPENED = "The assistant moved no money.";
const FAILED = {
    model_unavailable: "The assistant cannot be reached right now.",
    agent_unavailable: "The assistant cannot be reached right now.",
    budget: "This question took too much work, so the assistant stopped.",
    timeout: "The assistant took too long and was stopped.",
    door_refused: "The assistant asked for something it may not have, and was stopped.",
    door_unavailable: "The assistant cannot look anything up right now.",
    reply_too_long: "The reply became too long and was cut here.",
    interrupted: "The reply broke off.",
    withheld: "The bank stopped this reply: it held something that is not yours to see. The bank was told.",
    secret_asked: "The bank stopped this reply: it asked for a secret. The bank never asks for your PIN, password or codes here.",
};
/** Why a reply ended before its end. Always says whether money moved. */
export function failure(code) {
    const why = Object.hasOwn(FAILED, code) ? FAILED[code] : undefined;
    return `${why ?? "The assistant could not finish."} ${NOTHING_HAPPENED} Anything it prepared waits beside the chat.`;
}
/** Why a message was not taken, by the code of the bank's answer. */
export function refusal(code) {
    switch (code) {
        case "turn_running":
            return "The assistant is still answering in another window. Wait for it, then send this again.";
        case "message_too_long":
            return "This message is too long. Shorten it and send it again.";
        case "message_empty":
        case "message_characters":
            return "This message holds characters the bank cannot store. Remove them and send it again.";
        case "too_many_messages":
            return "That was a lot of messages. Wait a minute, then send this again.";
        default:
            return "The bank could not take this message. It was not sent, and no money moved.";
    }
}
export const TRY_AGAIN = "Put my message back in the box";
export const NOT_SENT = "Not sent: there is no connection to the bank. No money moved.";
export const STOPPED = "Stopped. The assistant moved no money.";
export const STILL_RUNNING = "The assistant was still answering this when the page was opened again.";
export const OFFLINE = "You are offline. What you type stays here until the connection is back.";
export const PREPARED = "Prepared. It waits for you under “Waiting for you”.";
export const NOT_FROM_THE_BANK = "not from the bank";
export const RELOAD = "The chat lost its connection to your session. Reload the page.";
export const NOT_FRAMED = "This chat opens inside the bank's page. Open that page instead.";
export const SIGNED_OUT = "You were signed out, so the chat closed. Reload the page to sign in again.";
/** Questions that only look. They bring in no value a payment could rest on. */
export const SUGGESTIONS = [
    "What is my balance?",
    "What did I spend this month?",
    "Show my last payments",
    "What is waiting for me?",
];
/** Longest message, in characters as the bank counts them. */
export const MESSAGE_LENGTH_MAX = 2000;
/** From here on the number of characters left is shown. */
export const COUNT_FROM = 1800;
