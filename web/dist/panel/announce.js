// Words for people who listen to the page. Two regions stand in the page from the start, because a
// region that is added together with its text is often not read.
import { required } from "./dom.js";
/** Says something when the listener pauses: a new card, the time left. */
export function sayPolitely(text) {
    say("say-politely", text);
}
/** Says something at once. Only for a card that was replaced or ran out, and for outcomes. */
export function sayAtOnce(text) {
    say("say-at-once", text);
}
function say(id, text) {
    const region = required(id);
    // The same sentence twice must be read twice: an unchanged text is no change.
    region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}
