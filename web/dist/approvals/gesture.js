// Which presses count: the person's own, on a card that stood unchanged long enough to be read, never a key that
// was already down.
/** How long a card must have been in view before a press on it counts. */
export const GUARD_MILLISECONDS = 1_000;
/** Calls `accepted` for a press that counts, and `swallowed` with the reason for one that does not. */
export function guard(button, shownAt, accepted, swallowed) {
    let keyHeld = false;
    button.addEventListener("keydown", (event) => {
        if (event.repeat && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            keyHeld = true;
        }
    });
    button.addEventListener("keyup", () => {
        keyHeld = false;
    });
    button.addEventListener("click", (event) => {
        if (!event.isTrusted)
            return swallowed("Only you can press this button.");
        if (keyHeld)
            return swallowed("That key was already down. Let go, then press again.");
        if (performance.now() - shownAt() < GUARD_MILLISECONDS) {
            return swallowed("The card appeared a moment ago. Read it, then press again.");
        }
        accepted();
    });
}
