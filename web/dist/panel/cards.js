// The list of requests that wait. Drawings are thrown away and made anew; a value is never changed
// under a button that could be pressed.
import { sayAtOnce, sayPolitely } from "./announce.js";
import { get, headline, namesOf, post } from "./api.js";
import { CardView, fingerprint } from "./card.js";
import { setServerTime } from "./clock.js";
import { confirmCard } from "./confirm.js";
import { required } from "./dom.js";
import { focusChat } from "./frame.js";
import { spoken } from "./words.js";
import { t } from "./texts.js";
/** Everything that waits, as drawn. */
export class CardList {
    #views = new Map();
    #list = required("cards");
    #count = required("waiting-count");
    #bar = required("waiting-bar");
    #empty = required("cards-empty");
    #inView = true;
    #reading = null;
    #again = false;
    #readOnce = false;
    #acts = {
        confirm: (view, note) => void confirmCard(this, view, note),
        cancel: (view) => void this.#cancel(view),
        undo: (view) => void this.#undo(view),
        keep: (view) => void this.#keep(view),
        fill: (view, values) => void this.#fill(view, values),
        drop: (view, payment) => void this.#drop(view, payment),
        change: () => {
            focusChat();
            sayPolitely(t("Type what should be different. The card stays until a newer request replaces it."));
        },
        ranOut: (view) => {
            if (view.busy)
                return;
            this.#over(view, "expired", null);
            void this.refresh();
        },
        goTo: (action) => {
            const target = this.#views.get(action);
            target?.element.scrollIntoView({ block: "nearest" });
            target?.focusText();
        },
    };
    constructor() {
        // The bar is for those who scrolled away from what waits.
        const watch = new IntersectionObserver((entries) => {
            for (const entry of entries)
                this.#inView = entry.isIntersecting;
            this.#tally();
        });
        watch.observe(required("waiting"));
    }
    /** Reads the list again. A wake-up that comes while reading makes one more round, never a second at once. */
    refresh() {
        if (this.#reading !== null) {
            this.#again = true;
            return this.#reading;
        }
        this.#reading = (async () => {
            do {
                this.#again = false;
                await this.#read();
            } while (this.#again);
        })().finally(() => {
            this.#reading = null;
        });
        return this.#reading;
    }
    /** Draws a card that an answer brought, in place of the drawing it belongs to. */
    replace(card, remark) {
        const older = this.#views.get(card.action);
        if (older !== undefined)
            older.busy = false;
        this.#draw(card, remark);
        this.#tally();
    }
    /** Draws a card as over and says so. */
    over(view, state, message) {
        this.#over(view, state, message);
        this.#tally();
    }
    /** Counts what waits, after a drawing changed itself. */
    settled() {
        this.#tally();
    }
    async #read() {
        const answer = await get("/api/cards");
        if (answer.kind === "refused" && answer.refusal.status === 401) {
            window.location.reload();
            return;
        }
        const trouble = required("cards-trouble");
        trouble.hidden = answer.kind === "ok";
        if (answer.kind !== "ok")
            return;
        setServerTime(answer.value.server_time, answer.tookMilliseconds);
        const unread = document.getElementById("unread");
        if (unread !== null)
            unread.textContent = String(answer.value.unread);
        const seen = new Set();
        // Each new drawing goes to the top, so the oldest is taken first.
        const oldestFirst = [...answer.value.cards].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
        for (const card of oldestFirst) {
            seen.add(card.action);
            this.#take(card);
        }
        for (const [action, view] of this.#views) {
            if (!seen.has(action) && !view.busy && view.element.dataset["state"] === "pending") {
                this.#over(view, "gone", null);
            }
        }
        this.#readOnce = true;
        this.#tally();
    }
    /** One card of the list against its drawing. */
    #take(card) {
        const view = this.#views.get(card.action);
        if (view === undefined) {
            // What was over before this page saw it is history, not news.
            if (card.state !== "pending" && card.state !== "held" && card.undo_until === null)
                return;
            this.#draw(card, null);
            return;
        }
        if (view.busy)
            return;
        const drawn = view.element.dataset["state"];
        // Undone in another tab, or with the link of a notice.
        const undone = drawn === "confirmed" && card.undone !== null && view.offersUndo;
        if (drawn !== "pending" && drawn !== "held" && !undone)
            return;
        if (view.fingerprint === fingerprint(card)) {
            view.nonce = card.nonce;
        }
        else if (card.state === "pending") {
            this.#draw(card, card.asks_again === null ? t("This changed. Check it again.") : null);
        }
        else {
            this.#draw(card, null);
            const now = this.#views.get(card.action);
            sayAtOnce(`${spoken(headline(card), namesOf(card))}: ${now?.element.querySelector(".card-status")?.textContent ?? ""}`);
        }
    }
    #draw(card, remark) {
        const older = this.#views.get(card.action);
        const view = new CardView(card, this.#acts, { note: older?.note ?? "", remark });
        this.#views.set(card.action, view);
        if (older === undefined) {
            this.#list.prepend(view.element);
            if (this.#readOnce && card.state === "pending") {
                sayPolitely(t("Waiting for you: {about}", { about: spoken(headline(card), namesOf(card)) }));
            }
            return;
        }
        const focused = older.hasFocus;
        const typing = older.typesNote;
        view.keepTyped(older);
        older.end();
        older.element.replaceWith(view.element);
        // The focus goes to words, or back into the note: never to a button, and never out of the chat.
        if (typing && card.state === "pending")
            view.focusNote();
        else if (focused)
            view.focusText();
        if (remark !== null)
            sayAtOnce(remark);
    }
    #over(view, state, message) {
        const focused = view.hasFocus;
        view.drawOver(state, message);
        if (focused)
            view.focusText();
        sayAtOnce(view.element.querySelector(".card-status")?.textContent ?? "");
    }
    #tally() {
        let waiting = 0;
        for (const view of this.#views.values()) {
            const state = view.element.dataset["state"];
            if (state === "pending" || state === "waiting" || state === "unknown")
                waiting += 1;
        }
        this.#count.textContent = String(waiting);
        this.#bar.textContent = waiting === 1 ? t("1 waiting") : t("{count} waiting", { count: waiting });
        this.#bar.hidden = waiting === 0 || this.#inView;
        this.#empty.hidden = this.#views.size > 0;
        document.documentElement.dataset["waiting"] = waiting > 0 ? "yes" : "no";
    }
    async #cancel(view) {
        view.drawWaiting(t("Cancelling…"));
        const answer = await post(`/api/actions/${view.card.action}/cancel`, { version: view.card.version });
        if (answer.kind === "ok") {
            this.over(view, "cancelled", null);
            return;
        }
        await this.#redraw(view, answer.kind === "lost" ? t("We could not reach the bank. Look again whether it was cancelled.") : answer.refusal.detail);
    }
    /** Takes a payment back. The bank's clock decides whether it was in time. */
    async #undo(view) {
        view.drawWaiting(t("Undoing it…"));
        const answer = await post(`/api/actions/${view.card.action}/undo`, { version: view.card.version });
        if (answer.kind === "ok") {
            this.replace(answer.value, answer.value.message ?? t("Undone. Nothing was sent."));
        }
        else if (answer.kind === "refused" && answer.refusal.card !== null) {
            this.replace(answer.refusal.card, answer.refusal.detail);
        }
        else {
            const remark = answer.kind === "lost" ? t("We could not reach the bank. Look whether it was undone.") : answer.refusal.detail;
            await this.#redraw(view, remark);
        }
    }
    async #keep(view) {
        view.drawWaiting(t("Keeping it…"));
        const answer = await post(`/api/actions/${view.card.action}/keep`, { version: view.card.version });
        const remark = answer.kind === "ok"
            ? t("Kept. Check it, then press the button.")
            : answer.kind === "lost"
                ? t("We could not reach the bank. Nothing was sent.")
                : answer.refusal.detail;
        await this.#redraw(view, remark);
    }
    /** Takes one payment out. What is left is a new card, with a press of its own. */
    async #drop(view, payment) {
        view.drawWaiting(t("Dropping it…"));
        const answer = await post(`/api/actions/${view.card.action}/drop`, {
            version: view.card.version,
            line: payment.line,
        });
        if (answer.kind === "ok") {
            this.replace(answer.value, t("Dropped: {about}. Check what is left, then press the button.", { about: payment.about }));
        }
        else if (answer.kind === "refused" && answer.refusal.card !== null) {
            this.replace(answer.refusal.card, answer.refusal.detail);
        }
        else {
            const remark = answer.kind === "lost" ? t("We could not reach the bank. Nothing was sent.") : answer.refusal.detail;
            await this.#redraw(view, remark);
        }
    }
    async #fill(view, values) {
        let current = view;
        for (const { slot, value } of values) {
            current.busy = true;
            const answer = await post(`/api/actions/${current.card.action}/fill`, {
                version: current.card.version,
                slot: slot.slot,
                line: slot.line,
                value,
            });
            current.busy = false;
            if (answer.kind === "ok") {
                const filled = answer.value;
                const next = filled.open_slots.length === 0 ? t("Check everything, then press the button.") : t("Noted.");
                // An answer can also be the way out; then the card says why it ended.
                this.replace(filled, filled.state === "pending" ? next : (filled.message ?? ""));
                if (filled.state !== "pending")
                    return;
                const redrawn = this.#views.get(current.card.action);
                if (redrawn === undefined)
                    return;
                current = redrawn;
                continue;
            }
            if (answer.kind === "lost") {
                current.slotRefused(slot, t("We could not reach the bank. Nothing was sent. Try again."));
            }
            else if (answer.refusal.card !== null) {
                this.replace(answer.refusal.card, answer.refusal.detail);
            }
            else if (answer.refusal.status === 422) {
                current.slotRefused(slot, answer.refusal.detail);
            }
            else {
                await this.#redraw(current, answer.refusal.detail);
            }
            return;
        }
    }
    /** Throws a drawing away and draws what the bank says now. */
    async #redraw(view, remark) {
        const answer = await get("/api/cards");
        view.busy = false;
        const card = answer.kind === "ok" ? answer.value.cards.find((one) => one.action === view.card.action) : undefined;
        if (answer.kind === "ok")
            setServerTime(answer.value.server_time, answer.tookMilliseconds);
        if (card !== undefined) {
            this.replace(card, remark);
        }
        else if (answer.kind === "ok") {
            this.over(view, "gone", null);
        }
        else {
            this.replace(view.card, remark);
        }
    }
}
