// The countdown follows the server's clock, not this computer's.
import assert from "node:assert/strict";
import test from "node:test";

import { minutesAndSeconds, secondsUntil, serverNow, setServerTime, spokenTimeLeft } from "../dist/panel/clock.js";

test("the server's time counts, with half of the way added", () => {
  setServerTime("2030-01-01T00:00:00.000Z", 400);
  const now = serverNow();
  assert.ok(Math.abs(now - Date.parse("2030-01-01T00:00:00.200Z")) < 50, String(now));
  assert.equal(secondsUntil("2030-01-01T00:10:00.000Z"), 600);
  assert.equal(secondsUntil("2029-12-31T23:59:59.000Z"), 0);
});

test("a time that is no time changes nothing", () => {
  setServerTime("2030-01-01T00:00:00.000Z", 0);
  setServerTime("soon", 0);
  assert.ok(Math.abs(serverNow() - Date.parse("2030-01-01T00:00:00.000Z")) < 50);
});

test("time left is written and spoken", () => {
  assert.equal(minutesAndSeconds(581), "9:41");
  assert.equal(minutesAndSeconds(5), "0:05");
  assert.equal(spokenTimeLeft(120), "2 minutes left.");
  assert.equal(spokenTimeLeft(60), "One minute left.");
  assert.equal(spokenTimeLeft(20), "20 seconds left.");
  for (const quiet of [0, 1, 19, 21, 59, 61]) assert.equal(spokenTimeLeft(quiet), null, String(quiet));
});
