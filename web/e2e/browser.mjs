// A real Chromium, told to talk to nobody but the pages under test.
import { chromium } from "playwright-core";

export function launchBrowser() {
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: process.env.COUNTERSIGN_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      // Chromium's own sandbox refuses to run as root.
      ...(root ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
