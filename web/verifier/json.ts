// JSON as the command reads it: one document, members that stand twice are seen, no half characters, numbers in range.

import { Code, Refused } from "./verdict.js";

/** Most levels, as the command's reader has them. */
const DEPTH_MAX = 127;
/** The largest integer that every reader holds exactly. */
const EXACT_MAX = 9007199254740992n;

/** A number, with whether it was written as an integer that 64 bits hold. */
export interface Numeral {
  value: number;
  integer: bigint | null;
}

/** A value. Members keep their order and may stand twice. */
export type Json =
  | { is: "null" }
  | { is: "boolean"; value: boolean }
  | { is: "number"; value: Numeral }
  | { is: "string"; value: string }
  | { is: "array"; value: Json[] }
  | { is: "object"; value: [string, Json][] };

class NoJson extends Error {}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS: [string, Json][] = [
  ["null", { is: "null" }],
  ["true", { is: "boolean", value: true }],
  ["false", { is: "boolean", value: false }],
];

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  document(): Json {
    const value = this.value(0);
    this.space();
    if (this.at !== this.text.length) throw new NoJson();
    return value;
  }

  private space(): void {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
  }

  private take(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private value(depth: number): Json {
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object(depth + 1);
      case "[":
        return this.array(depth + 1);
      case '"':
        return { is: "string", value: this.string() };
    }
    for (const [literal, value] of LITERALS) {
      if (this.text.startsWith(literal, this.at)) {
        this.at += literal.length;
        return value;
      }
    }
    return { is: "number", value: this.number() };
  }

  private object(depth: number): Json {
    this.at += 1;
    if (depth > DEPTH_MAX) throw new NoJson();
    const members: [string, Json][] = [];
    if (this.take("}")) return { is: "object", value: members };
    do {
      this.space();
      const name = this.string();
      if (!this.take(":")) throw new NoJson();
      members.push([name, this.value(depth)]);
    } while (this.take(","));
    if (!this.take("}")) throw new NoJson();
    return { is: "object", value: members };
  }

  private array(depth: number): Json {
    this.at += 1;
    if (depth > DEPTH_MAX) throw new NoJson();
    const elements: Json[] = [];
    if (this.take("]")) return { is: "array", value: elements };
    do elements.push(this.value(depth));
    while (this.take(","));
    if (!this.take("]")) throw new NoJson();
    return { is: "array", value: elements };
  }

  private string(): string {
    if (this.text[this.at] !== '"') throw new NoJson();
    let end = this.at + 1;
    while (this.text[end] !== '"') {
      if (end >= this.text.length) throw new NoJson();
      end += this.text[end] === "\\" ? 2 : 1;
    }
    const raw = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch {
      throw new NoJson();
    }
    if (typeof value !== "string" || !isWhole(value)) throw new NoJson();
    return value;
  }

  private number(): Numeral {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) throw new NoJson();
    this.at += text.length;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new NoJson();
    const plain = /^-?[0-9]+$/.test(text) && text !== "-0" ? BigInt(text) : null;
    const fits = plain !== null && plain >= -(1n << 63n) && plain < 1n << 64n;
    return { value, integer: fits ? plain : null };
  }
}

/** Whether a text has no half of a surrogate pair. */
export function isWhole(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) return false;
  }
  return true;
}

/** Reads a document; null when it is none. */
export function readJson(text: string): Json | null {
  try {
    return new Reader(text).document();
  } catch (error) {
    if (error instanceof NoJson) return null;
    throw error;
  }
}

/** The canonical text (RFC 8785); null when the value has none that all readers agree on. */
export function canonical(value: Json): string | null {
  switch (value.is) {
    case "null":
      return "null";
    case "boolean":
      return String(value.value);
    case "string":
      return JSON.stringify(value.value);
    case "number": {
      const { integer, value: number } = value.value;
      if (integer === null) return JSON.stringify(number === 0 ? 0 : number);
      return integer > EXACT_MAX || integer < -EXACT_MAX ? null : integer.toString();
    }
    case "array": {
      const elements = value.value.map(canonical);
      return elements.includes(null) ? null : `[${elements.join(",")}]`;
    }
    case "object": {
      const members = new Map<string, string>();
      for (const [name, member] of value.value) {
        const text = canonical(member);
        if (text === null) return null;
        // A member that stands twice survives once, and the texts differ.
        members.set(name, text);
      }
      // Strings of JavaScript are compared by UTF-16 units, as the format wants.
      const names = [...members.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join(",")}}`;
    }
  }
}

/** Reads a payload and refuses every spelling but the canonical one. */
export function readPayload(text: string): [string, Json][] {
  const value = readJson(text);
  if (value?.is !== "object") throw new Refused(Code.Malformed, "read a payload: not a JSON object");
  if (canonical(value) !== text) throw new Refused(Code.Hash, "read a payload: not in canonical form");
  return value.value;
}

/** A member of an object by its name. */
export function member(members: [string, Json][], name: string): Json | undefined {
  return members.find(([other]) => other === name)?.[1];
}

/** A text, or nothing where the value is none. */
export function textOf(value: Json | undefined): string | undefined {
  return value?.is === "string" ? value.value : undefined;
}

/** The members of a record with these names, none of them twice; null when it is no such record. */
export function record(
  value: Json | null,
  names: readonly string[],
  others: "refused" | "passed over",
): Map<string, Json> | null {
  if (value?.is !== "object") return null;
  const found = new Map<string, Json>();
  for (const [name, member] of value.value) {
    if (!names.includes(name)) {
      if (others === "refused") return null;
      continue;
    }
    if (found.has(name)) return null;
    found.set(name, member);
  }
  return found;
}
