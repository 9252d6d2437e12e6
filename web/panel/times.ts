// Moments on a server-drawn page: how long ago, with the exact moment on focus or under the pointer.

import { t } from "./texts.js";

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["minute", 60],
  ["hour", 3_600],
  ["day", 86_400],
];
const DAYS_RELATIVE_MAX = 7;

/** Rewrites recent moments as "3 minutes ago". Older ones keep their date. */
export function startTimes(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>("time[data-relative]")) {
    const seconds = Math.round((Date.now() - Date.parse(element.dateTime)) / 1000);
    const words = ago(seconds);
    if (words === null) continue;
    element.title = element.textContent ?? "";
    element.tabIndex = 0;
    element.textContent = words;
  }
}

function ago(seconds: number): string | null {
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > DAYS_RELATIVE_MAX * 86_400) return null;
  if (seconds < 60) return t("just now");
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });
  let [unit, length] = STEPS[0] as [Intl.RelativeTimeFormatUnit, number];
  for (const step of STEPS) if (seconds >= step[1]) [unit, length] = step;
  return format.format(-Math.floor(seconds / length), unit);
}
