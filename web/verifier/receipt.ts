// One event: a receipt, or a payload with its proof as C2SP tlog-proof text.

import { hashFromBase64, hexadecimal, sha256, utf8 } from "./bytes.js";
import { type Json, member, readJson, readPayload, record, textOf } from "./json.js";
import { type LogKey, readKeys } from "./keys.js";
import { type Checkpoint, checkNote, plainNumber, UnknownKey, unknownKey } from "./note.js";
import { checkInclusion, leafHash } from "./tree.js";
import { Code, Refused, type Verdict, judged } from "./verdict.js";

const FORMAT = "countersign.receipt/v1";
const PROOF_HEADER = "c2sp.org/tlog-proof@v1";
const MEMBERS = ["format", "payload", "leaf_index", "inclusion", "checkpoint"] as const;
/** Most hashes of a proof text. */
const HASHES_MAX = 63;

interface Place {
  index: bigint;
  inclusion: string[];
  checkpoint: string;
}

const noReceipt = () => new Refused(Code.Malformed, `read a receipt: not of the form ${FORMAT}`);
const noProof = () => new Refused(Code.Malformed, "read a proof: not a tlog-proof text");

/** Checks a receipt's file. */
export function verifyReceipt(text: string, keys: string, policies: string[]): Promise<Verdict> {
  return judged(async () => {
    const logKeys = await readKeys(keys);
    const receipt = record(readJson(text), MEMBERS, "refused");
    const payload = textOf(receipt?.get("payload"));
    const index = receipt?.get("leaf_index");
    const inclusion = receipt?.get("inclusion");
    const checkpoint = textOf(receipt?.get("checkpoint"));
    const isFormat = textOf(receipt?.get("format")) === FORMAT;
    if (!isFormat || payload === undefined || checkpoint === undefined) throw noReceipt();
    if (index?.is !== "number" || index.value.integer === null || index.value.integer < 0n) throw noReceipt();
    if (inclusion?.is !== "array") throw noReceipt();
    const hashes = inclusion.value.map(textOf);
    if (!hashes.every((hash) => hash !== undefined)) throw noReceipt();
    return eventHolds(payload, { index: index.value.integer, inclusion: hashes, checkpoint }, logKeys, policies, noReceipt);
  });
}

/** Checks a payload against its proof text. */
export function verifyProof(
  payload: string,
  proof: string,
  keys: string,
  policies: string[],
): Promise<Verdict> {
  return judged(async () => {
    const logKeys = await readKeys(keys);
    const place = readProof(proof);
    // Canonical JSON holds no line end: one behind it is the file's.
    return eventHolds(payload.replace(/\n$/, ""), place, logKeys, policies, noProof);
  });
}

function readProof(text: string): Place {
  const end = text.indexOf("\n\n");
  if (end < 0) throw noProof();
  const lines = text.slice(0, end).split("\n");
  if (lines.shift() !== PROOF_HEADER) throw noProof();
  if (lines[0]?.startsWith("extra ")) lines.shift();
  const index = plainNumber(/^index ([^]*)$/.exec(lines.shift() ?? "")?.[1] ?? "");
  if (index === null || lines.length > HASHES_MAX || lines.some((hash) => hashFromBase64(hash) === null)) {
    throw noProof();
  }
  return { index, inclusion: lines, checkpoint: text.slice(end + 2) };
}

async function eventHolds(
  text: string,
  place: Place,
  keys: LogKey[],
  policies: string[],
  broken: () => Refused,
): Promise<Verdict> {
  let last: Refused = unknownKey();
  for (const key of keys) {
    const payload = readPayload(text);
    const inclusion = place.inclusion.map(hashFromBase64);
    if (!inclusion.every((hash) => hash !== null)) throw broken();
    let head: Checkpoint;
    try {
      head = await checkNote(place.checkpoint, key);
    } catch (error) {
      if (!(error instanceof UnknownKey)) throw error;
      last = error;
      continue;
    }
    await checkInclusion(await leafHash(utf8(text)), place.index, head.size, inclusion, head.root);
    if (!(await isOfPolicy(payload, policies))) {
      throw new Refused(Code.Policy, "the decision comes from a policy that is not one of those given");
    }
    return { code: Code.Holds, what: `event ${place.index} of ${head.size} in ${head.origin}`, payload: text };
  }
  throw last;
}

/** Whether a line says that one of these policy files decided; a line without a policy says nothing. */
export async function isOfPolicy(payload: [string, Json][], policies: string[]): Promise<boolean> {
  if (policies.length === 0) return true;
  const policy = member(payload, "policy");
  const named = policy?.is === "object" ? member(policy.value, "sha256") : undefined;
  if (named === undefined) return true;
  for (const text of policies) {
    if (hexadecimal(await sha256(utf8(text))) === textOf(named)) return true;
  }
  return false;
}
