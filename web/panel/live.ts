// Wake-ups. A wake-up says only that something may have changed; the page then reads the list as
// ever. One tab of the browser holds the stream, because a browser opens six connections to a host
// and a Confirm must always find one; the other tabs hear of it through the browser itself.

const WAKE_KEY = "countersign-wake";
const LOCK = "countersign-wake-stream";
/** A visible tab without a stream of its own reads the list this often: the tab that has one may be asleep. */
const FALLBACK_MILLISECONDS = 30_000;
const RECONNECT_MILLISECONDS = 3_000;

/** Calls `wake` whenever the list may have changed. */
export function listen(wake: () => void): void {
  window.addEventListener("storage", (event) => {
    if (event.key === WAKE_KEY) wake();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") wake();
  });
  let stream: EventSource | null = null;
  window.setInterval(() => {
    const hears = stream?.readyState === EventSource.OPEN;
    if (!hears && document.visibilityState === "visible") wake();
  }, FALLBACK_MILLISECONDS);
  const passOn = (): void => {
    wake();
    localStorage.setItem(WAKE_KEY, String(Date.now()));
  };
  // The lock is held for as long as the tab lives; then the browser gives it to the next one.
  void navigator.locks.request(LOCK, () =>
    holdStream(passOn, (opened) => {
      stream = opened;
    }),
  );
}

function holdStream(wake: () => void, opened: (stream: EventSource) => void): Promise<never> {
  const open = (): void => {
    const stream = new EventSource("/api/events");
    opened(stream);
    stream.addEventListener("wake", wake);
    stream.addEventListener("open", wake);
    stream.addEventListener("error", () => {
      // A closed stream may mean that the session ended; reading the list finds out.
      wake();
      if (stream.readyState === EventSource.CLOSED) window.setTimeout(open, RECONNECT_MILLISECONDS);
    });
  };
  open();
  return new Promise<never>(() => undefined);
}
