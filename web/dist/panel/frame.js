// The chat in its frame. The panel speaks to it once per load, with a code for one use, and only to
// the chat's own origin; it listens to nothing the frame says.
import { post } from "./api.js";
import { make, required } from "./dom.js";
import { t } from "./texts.js";
/** Typing this recently means that the customer was not on the way into the chat. */
const TYPING_MILLISECONDS = 1_500;
/** Loads the chat. Does nothing on pages without the frame. */
export function startChat() {
    const frame = document.getElementById("chat");
    if (!(frame instanceof HTMLIFrameElement))
        return;
    const origin = frame.dataset["origin"];
    if (origin === undefined)
        return;
    // The listener stands before the address does: a frame that has one in the markup can be loaded
    // before this script runs, and would then wait for a code for ever.
    frame.addEventListener("load", () => void passCode(frame, origin));
    frame.src = `${origin}/?lang=${encodeURIComponent(document.documentElement.lang)}`;
    watchCursor(frame);
}
/** Moves the keyboard into the chat, because the customer asked for it. */
export function focusChat() {
    const frame = document.getElementById("chat");
    if (!(frame instanceof HTMLIFrameElement))
        return;
    frame.scrollIntoView({ block: "nearest" });
    frame.focus();
}
async function passCode(frame, origin) {
    const trouble = required("chat-trouble");
    const answer = await post("/chat-code", {});
    trouble.hidden = answer.kind === "ok";
    if (answer.kind === "ok")
        frame.contentWindow?.postMessage({ code: answer.value.code }, origin);
}
/** Says so when the chat takes the keyboard out of a field in which the customer was typing. */
function watchCursor(frame) {
    let typedAt = -Infinity;
    let lastField = null;
    let pointerOverFrame = false;
    frame.addEventListener("pointerenter", () => {
        pointerOverFrame = true;
    });
    frame.addEventListener("pointerleave", () => {
        pointerOverFrame = false;
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Tab")
            typedAt = -Infinity;
        else if (event.target instanceof HTMLInputElement) {
            typedAt = performance.now();
            lastField = event.target;
        }
    });
    window.addEventListener("blur", () => {
        if (document.activeElement !== frame || pointerOverFrame || lastField === null)
            return;
        if (performance.now() - typedAt > TYPING_MILLISECONDS || !lastField.isConnected)
            return;
        const words = make("p", {
            class: "complaint",
            text: t("The chat took the cursor. What you type now goes there. Click the field to go on here."),
            attributes: { role: "alert" },
        });
        lastField.insertAdjacentElement("afterend", words);
        lastField.addEventListener("focus", () => words.remove(), { once: true });
    });
}
