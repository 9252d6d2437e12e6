// Links, addresses and telephone numbers in a reply. The bank's assistant gives out none, so each is shown as
// dead text and marked: whoever planted it in a payee's name or a document must not speak in the bank's voice.

/** A piece of a reply. */
export interface Piece {
  readonly text: string;
  readonly foreign: boolean;
}

/** `https://…`, `www.…`, and names that end in a usual top-level domain, with whatever path follows. */
const LINK =
  /(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)[^\s<>"“”]+|(?<![\p{L}\p{N}@.-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}[\p{L}\p{N}])?\.){1,5}(?:com|net|org|info|biz|io|app|dev|me|co|ly|gl|link|site|online|shop|xyz|top|club|live|support|help|bank|example|invalid|test|de|at|ch|fr|es|it|pl|nl|uk|us|eu|in|ru|cn|tk)(?![\p{L}\p{N}])(?:[/?#][^\s<>"“”]*)?/giu;
/** Somebody's mailbox. */
const MAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,24}/giu;
/** A telephone number, and no group within an account number: with a country code, or a leading zero and groups that no date and no account number has. */
const PHONE = /(?<![\p{L}\p{N}+.,-]|\d )(?:(?:\+|00)[1-9]\d{0,2}[\s().\/-]{0,3}(?:\d[\s().\/-]{0,2}){6,12}\d|\(?0[1-9]\d{1,4}\)?[\s\/-](?:\d{2,9}[\s\/-]?){1,4}|0[1-9]\d{8,10})(?![\p{L}\p{N}])/gu;
/** What looks like the start of a telephone number and is none: a date, a sort code. */
const NO_PHONE = /^0\d[-/.]\d{2}[-/.]\d{2,4}$/u;

/** Cuts a reply at what does not come from the bank. The pieces put together are the reply. */
export function pieces(reply: string): readonly Piece[] {
  const marks: { start: number; end: number }[] = [];
  for (const pattern of [LINK, MAIL, PHONE]) {
    for (const match of reply.matchAll(pattern)) {
      const text = match[0].replace(/[\s.,;:!?)\]}'’]+$/u, "");
      if (pattern === PHONE && (NO_PHONE.test(text) || text.replace(/\D/gu, "").length < 8)) continue;
      if (text !== "") marks.push({ start: match.index, end: match.index + text.length });
    }
  }
  marks.sort((a, b) => a.start - b.start || b.end - a.end);
  const found: Piece[] = [];
  let at = 0;
  for (const mark of marks) {
    if (mark.end <= at) continue;
    const start = Math.max(mark.start, at);
    if (start > at) found.push({ text: reply.slice(at, start), foreign: false });
    found.push({ text: reply.slice(start, mark.end), foreign: true });
    at = mark.end;
  }
  if (at < reply.length) found.push({ text: reply.slice(at), foreign: false });
  return found;
}
