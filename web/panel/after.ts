// What stands on a card after its Confirm: how long it can still be undone, or why the bank waits. Both say it in
// words; no bar runs down, and nothing depends on colour.

import { sayAtOnce, sayPolitely } from "./announce.js";
import type { CardHold } from "./api.js";
import { minutesAndSeconds, secondsUntil } from "./clock.js";
import { make } from "./dom.js";
import { t } from "./texts.js";

/** A part of a card that counts down until it is thrown away. */
export interface Counting {
  readonly element: HTMLElement;
  end(): void;
}

/** The time to undo, with its button. `about` is what would be undone, as it should be heard. */
export function undoPart(until: string, about: string, undo: () => void, over: () => void): Counting {
  const left = make("time", { class: "figures", attributes: { datetime: until } });
  const button = make("button", {
    class: "button undo",
    text: t("Undo"),
    attributes: { type: "button", "aria-description": about },
    on: { click: undo },
  });
  const [before = "", after = ""] = t("You can undo this for {time}.").split("{time}");
  const element = make("div", { class: "undo-part" }, [
    make("p", { class: "undo-time" }, [before, left, after]),
    button,
  ]);
  const first = secondsUntil(until);
  sayPolitely(`${about}: ${t("You can undo this for {time}.", { time: t("{count} seconds", { count: first }) })}`);
  let last = -1;
  const ticker = window.setInterval(tick, 250);
  tick();
  function tick(): void {
    const seconds = secondsUntil(until);
    if (seconds === last) return;
    last = seconds;
    left.textContent = seconds === 1 ? t("1 second") : t("{count} seconds", { count: seconds });
    if (seconds > 0) return;
    window.clearInterval(ticker);
    sayAtOnce(`${about}: ${t("It is on its way.")}`);
    over();
  }
  return { element, end: () => window.clearInterval(ticker) };
}

/** Why the bank waits, until when, and what happens then. */
export function holdPart(hold: CardHold): Counting {
  const end = hold.goes ?? hold.ends;
  const moment = new Intl.DateTimeFormat(document.documentElement.lang || "en", {
    dateStyle: "medium",
    timeStyle: "short",
  }).format(new Date(end));
  const left = make("span", { class: "figures" });
  const words = hold.goes === null ? t("If nothing happens before, it ends unsent on") : t("It goes by itself on");
  const element = make("p", { class: "hold-time", attributes: { "data-reason": hold.reason } }, [
    `${words} `,
    make("time", { text: moment, attributes: { datetime: end } }),
    " (",
    left,
    ").",
  ]);
  const tick = (): void => {
    left.textContent = t("in {time}", { time: timeLeft(secondsUntil(end)) });
  };
  tick();
  const ticker = window.setInterval(tick, 1_000);
  return { element, end: () => window.clearInterval(ticker) };
}

/** "3 days", "5 hours", "12 minutes", "0:42": as exact as a person needs it. */
export function timeLeft(seconds: number): string {
  if (seconds >= 2 * 86_400) return t("{count} days", { count: Math.floor(seconds / 86_400) });
  if (seconds >= 2 * 3_600) return t("{count} hours", { count: Math.floor(seconds / 3_600) });
  if (seconds >= 120) return t("{count} minutes", { count: Math.floor(seconds / 60) });
  return minutesAndSeconds(seconds);
}
