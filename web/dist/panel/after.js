// What stands on a card after its Confirm: how long it can still be undone, or why the bank waits. Both say it in
// words; no bar runs down, and nothing depends on colour.
import { sayAtOnce, sayPolitely } from "./announce.js";
import { minutesAndSeconds, secondsUntil } from "./clock.js";
import { make } from "./dom.js";
/** The time to undo, with its button. `about` is what would be undone, as it should be heard. */
export function undoPart(until, about, undo, over) {
    const left = make("time", { class: "figures", attributes: { datetime: until } });
    const button = make("button", {
        class: "button undo",
        text: "Undo",
        attributes: { type: "button", "aria-description": about },
        on: { click: undo },
    });
    const element = make("div", { class: "undo-part" }, [
        make("p", { class: "undo-time" }, ["You can undo this for ", left, "."]),
        button,
    ]);
    const first = secondsUntil(until);
    sayPolitely(`${about}: you can undo this for ${first} seconds.`);
    let last = -1;
    const ticker = window.setInterval(tick, 250);
    tick();
    function tick() {
        const seconds = secondsUntil(until);
        if (seconds === last)
            return;
        last = seconds;
        left.textContent = seconds === 1 ? "1 second" : `${seconds} seconds`;
        if (seconds > 0)
            return;
        window.clearInterval(ticker);
        sayAtOnce(`${about}: it is on its way.`);
        over();
    }
    return { element, end: () => window.clearInterval(ticker) };
}
/** Why the bank waits, until when, and what happens then. */
export function holdPart(hold) {
    const end = hold.goes ?? hold.ends;
    const moment = new Intl.DateTimeFormat(document.documentElement.lang || "en", {
        dateStyle: "medium",
        timeStyle: "short",
    }).format(new Date(end));
    const left = make("span", { class: "figures" });
    const words = hold.goes === null ? "If nothing happens before, it ends unsent on" : "It goes by itself on";
    const element = make("p", { class: "hold-time", attributes: { "data-reason": hold.reason } }, [
        `${words} `,
        make("time", { text: moment, attributes: { datetime: end } }),
        " (",
        left,
        ").",
    ]);
    const tick = () => {
        left.textContent = `in ${timeLeft(secondsUntil(end))}`;
    };
    tick();
    const ticker = window.setInterval(tick, 1_000);
    return { element, end: () => window.clearInterval(ticker) };
}
/** "3 days", "5 hours", "12 minutes", "0:42": as exact as a person needs it. */
export function timeLeft(seconds) {
    if (seconds >= 2 * 86_400)
        return `${Math.floor(seconds / 86_400)} days`;
    if (seconds >= 2 * 3_600)
        return `${Math.floor(seconds / 3_600)} hours`;
    if (seconds >= 120)
        return `${Math.floor(seconds / 60)} minutes`;
    return minutesAndSeconds(seconds);
}
