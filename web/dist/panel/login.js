// Signing in with the one-use address that the bank printed: the token stands behind the # and so
// reaches no server log. It leaves the address bar before anything else is done with it.
import { post } from "./api.js";
import { required } from "./dom.js";
import { t } from "./texts.js";
const TOKEN = /^#([0-9a-f]{64})$/;
/** Uses the token in the address, now and when one is typed into the open page. Says whether there was one. */
export function startLogin() {
    window.addEventListener("hashchange", () => void useToken());
    const present = TOKEN.test(window.location.hash);
    void useToken();
    return present;
}
async function useToken() {
    const token = TOKEN.exec(window.location.hash)?.[1];
    if (token === undefined)
        return;
    window.history.replaceState(null, "", window.location.pathname);
    const answer = await post("/login", { token });
    if (answer.kind === "ok") {
        window.location.reload();
        return;
    }
    const status = required("page-status");
    status.hidden = false;
    status.textContent =
        answer.kind === "lost"
            ? t("The bank did not answer. Open the address again.")
            : t("This address was used before or is too old. Ask for a fresh one.");
}
