// The server's time on this page. The computer's own clock may be wrong and may jump, so the page
// counts from the last answer with the browser's steady counter.

import { t } from "./texts.js";

let serverAt = Date.now();
let countedAt = performance.now();

/** Takes the server's time from an answer; half of the way there and back is assumed to be the way here. */
export function setServerTime(text: string, tookMilliseconds: number): void {
  const parsed = Date.parse(text);
  if (Number.isNaN(parsed)) return;
  serverAt = parsed + tookMilliseconds / 2;
  countedAt = performance.now();
}

/** The server's time now, in milliseconds since 1970. */
export function serverNow(): number {
  return serverAt + (performance.now() - countedAt);
}

/** Whole seconds until a moment, never below zero. */
export function secondsUntil(moment: string): number {
  return Math.max(0, Math.ceil((Date.parse(moment) - serverNow()) / 1000));
}

/** "9:41". */
export function minutesAndSeconds(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** What is said aloud when this many seconds are left, or nothing: each full minute, and the last 20 seconds. */
export function spokenTimeLeft(seconds: number): string | null {
  if (seconds === 20) return t("{count} seconds left.", { count: seconds });
  if (seconds > 0 && seconds % 60 === 0) {
    const minutes = seconds / 60;
    return minutes === 1 ? t("One minute left.") : t("{count} minutes left.", { count: minutes });
  }
  return null;
}
