// Which presses of Confirm count. A press must be the customer's own, on a card that they could
// read: never a key that was already down, never in the second in which the card or the focus changed.
import { t } from "./texts.js";
/** How long a card must have stood unchanged, and how long after the window's focus keys are ignored. */
export const GUARD_MILLISECONDS = 1_000;
/** Why a press did not count, in the words that stand beside the button. */
export const WHY = {
    changed: t("The card appeared or changed a moment ago. Read it, then press again."),
    focus: t("You just came back to this page. Read the card, then press again."),
    key: t("That key was already down. Let go, then press again."),
    elsewhere: t("The press began somewhere else. Press the button itself."),
    script: t("Only you can press this button."),
};
let focusReturnedAt = performance.now();
/** Watches the window, once per page: when it, or the tab, comes back to the front. */
export function watchWindow() {
    window.addEventListener("focus", () => {
        focusReturnedAt = performance.now();
    });
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "visible")
            focusReturnedAt = performance.now();
    });
}
/** Judges the presses of one button that belongs to one unchanged drawing of a card. */
export class Gesture {
    button;
    accepted;
    swallowed;
    #visibleSince = null;
    #pointerBegan = null;
    #keyBegan = null;
    #observer;
    constructor(button, card, accepted, swallowed) {
        this.button = button;
        this.accepted = accepted;
        this.swallowed = swallowed;
        this.#observer = new IntersectionObserver((entries) => {
            for (const entry of entries) {
                if (!entry.isIntersecting)
                    this.#visibleSince = null;
                else
                    this.#visibleSince ??= performance.now();
            }
        });
        this.#observer.observe(card);
        document.addEventListener("visibilitychange", this.#onVisibility);
        button.addEventListener("pointerdown", () => {
            this.#pointerBegan = { verdict: this.#unchangedForLongEnough() };
        });
        button.addEventListener("keydown", (event) => this.#onKeyDown(event));
        for (const lost of ["blur", "pointercancel"]) {
            button.addEventListener(lost, () => {
                this.#pointerBegan = null;
                this.#keyBegan = null;
            });
        }
        button.addEventListener("click", (event) => this.#onClick(event));
    }
    /** Stops judging: the drawing is gone. */
    end() {
        this.#observer.disconnect();
        document.removeEventListener("visibilitychange", this.#onVisibility);
    }
    #onVisibility = () => {
        // The second counts again from when the page could be seen again.
        if (this.#visibleSince === null)
            return;
        this.#visibleSince = document.visibilityState === "visible" ? performance.now() : Infinity;
    };
    #unchangedForLongEnough() {
        const since = this.#visibleSince;
        if (since === null || performance.now() - since < GUARD_MILLISECONDS)
            return "changed";
        return null;
    }
    #keysCount() {
        if (performance.now() - focusReturnedAt < GUARD_MILLISECONDS)
            return "focus";
        return this.#unchangedForLongEnough();
    }
    #onKeyDown(event) {
        if (event.key !== "Enter" && event.key !== " ")
            return;
        if (event.repeat) {
            event.preventDefault();
            if (this.#keyBegan === null)
                this.swallowed(WHY.key);
            return;
        }
        this.#keyBegan = { verdict: this.#keysCount() };
    }
    #onClick(event) {
        event.preventDefault();
        const verdict = this.#judge(event);
        this.#pointerBegan = null;
        this.#keyBegan = null;
        if (this.button.disabled)
            return;
        if (verdict === null)
            this.accepted();
        else
            this.swallowed(WHY[verdict]);
    }
    #judge(event) {
        if (!event.isTrusted)
            return "script";
        // An empty pointerType is a key, or assistive technology that presses without one.
        const byPointer = event.detail > 0 && event.pointerType !== "";
        if (byPointer)
            return this.#pointerBegan === null ? "elsewhere" : this.#pointerBegan.verdict;
        return this.#keyBegan === null ? this.#keysCount() : this.#keyBegan.verdict;
    }
}
