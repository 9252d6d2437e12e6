// Files to keep: what a verifier reads elsewhere, without the door.
import { make } from "./dom.js";
/** A button that saves a value as a JSON file. */
export function saveButton(words, name, value) {
    const save = () => {
        const url = URL.createObjectURL(new Blob([JSON.stringify(value)], { type: "application/json" }));
        const link = make("a", { attributes: { href: url, download: name } });
        link.click();
        window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
    };
    return make("button", { class: "quiet", text: words, attributes: { type: "button" }, on: { click: save } });
}
/** Exactly the call that was decided about, with the salt that opens its digest. */
export function openingOf(call) {
    const { salt, server, method, tool, definition, identity, policy_sha256, message } = call;
    return { salt, server, method, tool, definition, identity, policy_sha256, message };
}
