// Time left, counted with the browser's steady counter: the server says how long, never until when.

/** A moment on this page's own counter, so many milliseconds from now. */
export function momentAfter(milliseconds: number): number {
  return performance.now() + milliseconds;
}

/** Whole seconds until a moment, never below zero. */
export function secondsUntil(moment: number): number {
  return Math.max(0, Math.ceil((moment - performance.now()) / 1000));
}

/** "14:05", or "2:00:00" above an hour. */
export function clockText(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}
