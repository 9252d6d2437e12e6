// The public keys to check with, in each of their forms: a key set, the file of one key, one line.

import { fromBase64, hexadecimal, joined, sha256, utf8 } from "./bytes.js";
import { readJson, record, textOf } from "./json.js";
import { Code, Refused } from "./verdict.js";

/** The signature type of Ed25519 in signed notes. */
const ED25519 = 0x01;
/** Most keys of one set. */
const KEYS_MAX = 1024;
/** What stands before the key in its DER form (RFC 8410). */
const SPKI_HEAD = "302a300506032b6570032100";
/** Points of a small order, by their y in both signs: under such a key anybody can sign. */
const SMALL_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** A key of one log. */
export interface LogKey {
  origin: string;
  key: CryptoKey;
  /** The first bytes of a signature line that is this key's. */
  hint: Uint8Array;
}

export function isSmallOrder(point: Uint8Array): boolean {
  const unsigned = Uint8Array.from(point);
  unsigned[31] = (unsigned[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(hexadecimal(unsigned));
}

const P = (1n << 255n) - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base % P, rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** Whether 32 bytes are a point of the curve: browsers take any, and the command refuses those that are none. */
function isPoint(raw: Uint8Array): boolean {
  const y = raw.reduceRight((number, byte, at) => (number << 8n) | BigInt(at === 31 ? byte & 0x7f : byte), 0n) % P;
  const u = (y * y - 1n + P) % P;
  const v = (D * y * y + 1n) % P;
  // x² = u / v has a root when u·v is a square (RFC 8032, section 5.1.3).
  const root = power((u * v) % P, (P - 1n) / 2n);
  return root === 0n || root === 1n;
}

/** Whether this browser knows the signatures at all. */
export async function knowsEd25519(): Promise<boolean> {
  try {
    const generator = Uint8Array.of(0x58, ...new Array<number>(31).fill(0x66));
    await crypto.subtle.importKey("raw", generator, "Ed25519", false, ["verify"]);
    return true;
  } catch {
    return false;
  }
}

function isOrigin(origin: string): boolean {
  return origin !== "" && utf8(origin).length <= 255 && !/[\p{White_Space}\p{Cc}+]/u.test(origin);
}

const badKey = () => new Refused(Code.Malformed, "read a log's public key: not a sound Ed25519 key");
const badLine = () => new Refused(Code.Malformed, "read a log's public key: not a verifier line");

async function logKey(origin: string, raw: Uint8Array | null): Promise<LogKey> {
  if (!isOrigin(origin)) {
    throw new Refused(Code.Malformed, "read a log's origin: a name without spaces or '+' is wanted");
  }
  if (raw?.length !== 32 || isSmallOrder(raw) || !isPoint(raw)) throw badKey();
  let key: CryptoKey;
  try {
    key = await crypto.subtle.importKey("raw", joined(raw), "Ed25519", false, ["verify"]);
  } catch {
    throw badKey();
  }
  const digest = await sha256(utf8(`${origin}\n`), Uint8Array.of(ED25519), raw);
  return { origin, key, hint: digest.slice(0, 4) };
}

/** Reads a key file in any of its forms. Keys that were revoked are left out. */
export async function readKeys(text: string): Promise<LogKey[]> {
  const set = keySet(text);
  if (set === null) return [await oneKey(text)];
  if (set.keys.length === 0) throw badKey();
  const keys: LogKey[] = [];
  for (const entry of set.keys) {
    const key = await logKey(set.issuer, fromBase64(entry.key));
    if (entry.status !== "revoked") keys.push(key);
  }
  return keys;
}

interface KeySet {
  issuer: string;
  keys: { key: string; status: string }[];
}

function keySet(text: string): KeySet | null {
  const set = record(readJson(text), ["issuer", "keys"], "passed over");
  const issuer = textOf(set?.get("issuer"));
  const entries = set?.get("keys");
  if (issuer === undefined || entries?.is !== "array") return null;
  const names = new Set<string>();
  const keys: KeySet["keys"] = [];
  for (const entry of entries.value) {
    const optional = ["created_at", "revoked_at", "endorsed_by"];
    const members = record(entry, ["key_id", "alg", "status", "public_key_b64", ...optional], "passed over");
    const name = textOf(members?.get("key_id"));
    const key = textOf(members?.get("public_key_b64"));
    const status = textOf(members?.get("status"));
    const known = status !== undefined && ["active", "rotated", "revoked"].includes(status);
    const whole = optional.every((name) => ["string", "null", undefined].includes(members?.get(name)?.is));
    if (name === undefined || key === undefined || !known || !whole) return null;
    if (textOf(members?.get("alg")) === undefined) return null;
    names.add(name);
    keys.push({ key, status });
  }
  if (names.size !== keys.length || keys.length > KEYS_MAX) return null;
  return { issuer, keys };
}

async function oneKey(text: string): Promise<LogKey> {
  if (text.trimStart().startsWith("{")) {
    const file = record(readJson(text), ["key_id", "origin", "public_pem"], "refused");
    const [name, origin, pem] = ["key_id", "origin", "public_pem"].map((name) => textOf(file?.get(name)));
    if (name === undefined || origin === undefined || pem === undefined) throw badKey();
    return logKey(origin, fromPem(pem));
  }
  const [, origin, digits, base64] = /^([^+]*)\+([^+]*)\+([^]*)$/.exec(text.trimEnd()) ?? [];
  if (origin === undefined || digits === undefined || base64 === undefined) throw badLine();
  const bytes = fromBase64(base64);
  if (bytes?.[0] !== ED25519 || bytes.length !== 33) throw badLine();
  const key = await logKey(origin, bytes.slice(1));
  if (hexadecimal(key.hint) !== digits) throw badLine();
  return key;
}

function fromPem(pem: string): Uint8Array | null {
  const [, body] = /^-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=]{60})\r?\n-----END PUBLIC KEY-----\r?\n?$/.exec(pem) ?? [];
  const der = body === undefined ? null : fromBase64(body);
  if (der?.length !== 44 || hexadecimal(der.slice(0, 12)) !== SPKI_HEAD) return null;
  return der.slice(12);
}
