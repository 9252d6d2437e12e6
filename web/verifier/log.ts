// A log: every line follows from the one before, and all of it from a signed head.

import { fromUtf8, hexadecimal, same } from "./bytes.js";
import { type Json, member, readPayload, textOf } from "./json.js";
import { readKeys } from "./keys.js";
import { type Checkpoint, checkNote, UnknownKey, unknownKey } from "./note.js";
import { isOfPolicy } from "./receipt.js";
import { Frontier, leafHash } from "./tree.js";
import { Code, Refused, type Verdict, judged } from "./verdict.js";

/** Longest line, in bytes. */
const LINE_BYTES_MAX = 64 << 10;
const LINE_END = 0x0a;

/** Checks a log's files, in order, against a head that was saved elsewhere. */
export function verifyLog(
  files: Uint8Array[],
  note: string,
  keys: string,
  policies: string[],
): Promise<Verdict> {
  return judged(async () => {
    const head = await signedHead(note, keys);
    const frontier = new Frontier();
    let root = head.size === 0n ? await frontier.root() : null;
    let foreign: bigint | null = null;
    for await (const payload of follow(files, frontier)) {
      if (frontier.size === head.size) root = await frontier.root();
      if (foreign === null && !(await isOfPolicy(payload, policies))) foreign = frontier.size;
    }
    if (frontier.size < head.size) {
      const what = `${frontier.size} lines where the head was signed for ${head.size}`;
      throw new Refused(Code.Truncated, what);
    }
    if (root === null || !same(root, head.root)) {
      const what = `the first ${head.size} lines are not the ones the head was signed for`;
      throw new Refused(Code.Fork, what);
    }
    if (foreign !== null) {
      const what = `line ${foreign} was decided by a policy that is not one of those given`;
      throw new Refused(Code.Policy, what);
    }
    const what = `${head.size} of ${frontier.size} lines under the signed head of ${head.origin}`;
    return { code: Code.Holds, what };
  });
}

async function signedHead(note: string, keys: string): Promise<Checkpoint> {
  let refused: Refused = unknownKey();
  for (const key of await readKeys(keys)) {
    try {
      return await checkNote(note, key);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!(error instanceof UnknownKey)) refused = error;
    }
  }
  throw refused;
}

async function* follow(files: Uint8Array[], frontier: Frontier): AsyncGenerator<[string, Json][]> {
  let torn = false;
  const broken = (problem: string) =>
    new Refused(Code.ChainBreak, `line ${frontier.size + 1n}: ${problem}`);
  for (const file of files) {
    if (torn) throw broken("the file before ends in an unfinished line");
    let from = 0;
    while (from < file.length) {
      const end = file.indexOf(LINE_END, from);
      if (end < 0) {
        const rest = file.subarray(from);
        // A crash of the machine can leave any number of zeros where lines were to stand.
        const zeros = rest.every((byte) => byte === 0);
        if (rest.length > LINE_BYTES_MAX && !zeros) throw broken("the line is too long");
        torn = true;
        break;
      }
      const line = file.subarray(from, end);
      from = end + 1;
      const payload = readLine(line, broken);
      const expected = frontier.last === null ? undefined : hexadecimal(frontier.last);
      if (textOf(member(payload, "previous")) !== expected) {
        throw broken("the line does not name the line before it");
      }
      const sequence = member(payload, "sequence");
      if (sequence?.is !== "number" || sequence.value.integer !== frontier.size) {
        throw broken("the line's place is not its number");
      }
      await frontier.append(await leafHash(line));
      yield payload;
    }
  }
}

function readLine(line: Uint8Array, broken: (problem: string) => Refused): [string, Json][] {
  if (line.length > LINE_BYTES_MAX) throw broken("the line is too long");
  const text = fromUtf8(line);
  if (text === null) throw broken("the line is not a JSON object");
  try {
    return readPayload(text);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw broken(error.code === Code.Hash ? "the line is not canonical JSON" : "the line is not a JSON object");
  }
}
