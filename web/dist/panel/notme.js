// The page behind a notice's link. The word stands behind the # of the address; it goes to the bank with the press and
// leaves the address at once, so that it is in no history.
import { post } from "./api.js";
import { required } from "./dom.js";
import { t } from "./texts.js";
/** Starts the button, where the page has it. */
export function startNotMe() {
    const button = document.getElementById("not-me");
    if (!(button instanceof HTMLButtonElement))
        return;
    // Marked, so that no word is taken for the token of a login.
    const word = /^#stop-([0-9a-f]{64})$/.exec(window.location.hash)?.[1];
    window.history.replaceState(null, "", window.location.pathname);
    const said = required("not-me-said");
    const say = (text) => {
        said.hidden = false;
        said.textContent = text;
        said.focus();
    };
    if (word === undefined) {
        button.disabled = true;
        say(t("This link is not whole. Open it from the notice again, or call the bank."));
        return;
    }
    button.addEventListener("click", () => {
        button.disabled = true;
        void (async () => {
            const answer = await post("/api/not-me", { word });
            if (answer.kind === "ok") {
                button.hidden = true;
                say(t(answer.value.message));
            }
            else if (answer.kind === "refused") {
                say(answer.refusal.detail);
            }
            else {
                button.disabled = false;
                say(t("We could not reach the bank. Press again, or call the bank."));
            }
        })();
    });
}
