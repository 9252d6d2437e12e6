// A reply arrives as one JSON object a line. Pieces of the stream end anywhere, also inside a character.

import { asRecord, type Record as BankRecord } from "./record.js";

/** One line of a reply. Lines of another form are passed over. */
export type Line =
  | { readonly type: "recorded"; readonly utterance: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "foreign"; readonly text: string }
  | { readonly type: "flagged"; readonly tool: string }
  | { readonly type: "warned"; readonly text: string }
  | { readonly type: "looked_at"; readonly tool: string; readonly receipt: string }
  | { readonly type: "prepared"; readonly action: string }
  | { readonly type: "corrected"; readonly record: BankRecord }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly code: string };

/** Longest line that is kept; the bank's own are far shorter. */
const LINE_LENGTH_MAX = 64 * 1024;

/** Reads a body line by line until it ends. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<Line, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const text of lines) {
        const line = parseLine(text);
        if (line !== null) yield line;
      }
      if (done) return;
      if (rest.length > LINE_LENGTH_MAX) throw new Error("a line of the reply is too long");
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** One line as an object of a known form, or null. */
export function parseLine(text: string): Line | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) return null;
  const member = { recorded: "utterance", text: "text", foreign: "text", warned: "text", flagged: "tool", looked_at: "tool", prepared: "action", failed: "code" };
  if (value.type === "done") return { type: "done" };
  if (value.type === "corrected") {
    const record = asRecord((value as { readonly record?: unknown }).record);
    return record === null ? null : { type: "corrected", record };
  }
  if (typeof value.type !== "string" || !Object.hasOwn(member, value.type)) return null;
  const name = member[value.type as keyof typeof member];
  const members = value as Readonly<Record<string, unknown>>;
  if (value.type === "looked_at" && typeof members["receipt"] !== "string") return null;
  return typeof members[name] === "string" ? (value as Line) : null;
}
