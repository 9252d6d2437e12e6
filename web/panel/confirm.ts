// The way of one Confirm: prepare, confirm, outcome. Where no answer comes, the page asks what
// became of it and never sends it a second time by itself.

import { sayAtOnce } from "./announce.js";
import { get, post, type Card, type Cards, type Confirmed, type Refusal } from "./api.js";
import type { CardView } from "./card.js";
import { setServerTime } from "./clock.js";
import { askPasskey, type Payment, type RequestOptions } from "./passkey.js";
import { t } from "./texts.js";

/** What the flow needs of the list. */
export interface List {
  replace(card: Card, remark: string): void;
  over(view: CardView, state: string, message: string | null): void;
  settled(): void;
}

const POLL_MILLISECONDS = 2_000;
/**
 * How long a Confirm whose answer was lost may still take effect: longer than the server lets any
 * request run. A card that still waits after this was not sent.
 */
const SETTLED_MILLISECONDS = 20_000;

const NOT_AGREED = t("Your passkey did not agree. Nothing was sent. Press the button again, or cancel.");
const NO_PASSKEYS = t("This browser knows no passkeys, and this wants one. Nothing was sent. Open this page in another browser.");

/** What the bank says before a press counts: whether a passkey has to agree, and to what. */
interface Prepared {
  readonly step_up: { readonly options: RequestOptions; readonly payment: Payment | null } | null;
}

/** Confirms what the drawing shows. A second call for the same drawing does nothing. */
export async function confirmCard(list: List, view: CardView, note: string): Promise<void> {
  const { card, nonce } = view;
  if (view.busy || card.confirm_hash === null || nonce === null) return;
  const path = `/api/actions/${card.action}`;
  const body = { version: card.version, confirm_hash: card.confirm_hash, nonce, note };
  view.drawWaiting(card.kind === "transfer" ? t("Sending…") : t("Working…"));

  const prepared = await post<Prepared>(`${path}/prepare`, body);
  if (prepared.kind === "lost") {
    list.replace(card, t("We could not reach the bank. Nothing was sent. Try again."));
    return;
  }
  if (prepared.kind === "refused") {
    refused(list, view, prepared.refusal);
    return;
  }
  let assertion: object | null = null;
  if (prepared.value.step_up !== null) {
    view.drawWaiting(t("Waiting for your passkey…"));
    const asked = await askPasskey(prepared.value.step_up.options, prepared.value.step_up.payment);
    if (asked.kind !== "answered") {
      list.replace(card, asked.kind === "declined" ? NOT_AGREED : NO_PASSKEYS);
      return;
    }
    assertion = asked.answer;
    view.drawWaiting(card.kind === "transfer" ? t("Sending…") : t("Working…"));
  }
  const answer = await post<Confirmed>(`${path}/confirm`, { ...body, assertion });
  if (answer.kind === "ok") {
    done(list, view, answer.value);
  } else if (answer.kind === "refused") {
    refused(list, view, answer.refusal);
  } else {
    await findOut(list, view);
  }
}

function done(list: List, view: CardView, confirmed: Confirmed): void {
  view.drawDone(confirmed);
  list.settled();
  view.focusText();
  sayAtOnce(confirmed.message);
}

function refused(list: List, view: CardView, refusal: Refusal): void {
  const detail = refusal.detail === "" ? t("The bank could not do this. Nothing was sent.") : refusal.detail;
  if (refusal.card !== null) {
    list.replace(refusal.card, detail);
  } else if (refusal.status === 410) {
    list.over(view, "expired", null);
  } else if (refusal.code === "note") {
    list.replace(view.card, t("Nothing was sent. Look at the note."));
  } else if (refusal.status === 403) {
    // The passkey's answer did not count, or none was there: the card still waits.
    list.replace(view.card, detail);
  } else if (refusal.code === "older_copy") {
    list.replace(view.card, detail);
  } else if (refusal.status === 503) {
    list.replace(view.card, t("The bank is busy right now. Nothing was sent. Press again in a moment."));
  } else if (refusal.status === 401) {
    window.location.reload();
  } else {
    list.over(view, "refused", detail);
  }
}

/** Asks until the bank knows. */
async function findOut(list: List, view: CardView): Promise<void> {
  view.drawUnknown();
  list.settled();
  view.focusText();
  sayAtOnce(t("We don't know yet whether this went through. Don't send it again; we're checking."));
  const lostAt = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const answer = await get<Cards>("/api/cards");
    if (answer.kind === "refused" && answer.refusal.status === 401) {
      window.location.reload();
      return;
    }
    if (answer.kind === "ok") {
      setServerTime(answer.value.server_time, answer.tookMilliseconds);
      const card = answer.value.cards.find((one) => one.action === view.card.action);
      const settled = askedAt - lostAt > SETTLED_MILLISECONDS;
      if (card !== undefined && card.state !== "pending") {
        list.over(view, card.state, card.message);
        list.replace(card, card.message ?? t("It went through."));
        return;
      }
      if (card !== undefined && settled) {
        list.replace(card, t("It did not go through. Nothing was sent. You can press the button again."));
        return;
      }
      if (card === undefined && settled) {
        list.over(view, "gone", t("This request is no longer waiting. Look at your receipts for what became of it."));
        return;
      }
    }
    await new Promise((resolve) => window.setTimeout(resolve, POLL_MILLISECONDS));
  }
}
