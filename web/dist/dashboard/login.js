"use strict";
// Signing in with the one-use address that was printed: the token stands behind the # and so reaches no server log.
// It leaves the address bar before anything else is done with it.
const TOKEN = /^#([0-9a-f]{64})$/;
async function useToken() {
    const token = TOKEN.exec(window.location.hash)?.[1];
    if (token === undefined)
        return;
    window.history.replaceState(null, "", window.location.pathname);
    let status = 0;
    try {
        const answer = await fetch("/login", {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ token }),
        });
        status = answer.status;
    }
    catch {
        // Nobody answered: said below.
    }
    if (status === 204) {
        window.location.reload();
        return;
    }
    const line = document.getElementById("page-status");
    if (line === null)
        return;
    line.hidden = false;
    line.textContent =
        status === 0
            ? "The dashboard did not answer. Open the address again."
            : "This address was used before or is too old. Ask for a fresh one.";
}
window.addEventListener("hashchange", () => void useToken());
void useToken();
