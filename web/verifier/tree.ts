// The tree of a log (RFC 6962): hashes of leaves and nodes, inclusion, and the root of a log that grows.

import { joined, same, sha256 } from "./bytes.js";
import { Code, Refused } from "./verdict.js";

/** The hash of a leaf: SHA-256 of 0x00 and the payload's exact bytes. */
export function leafHash(payload: Uint8Array): Promise<Uint8Array> {
  return sha256(Uint8Array.of(0), payload);
}

/** The hash of an inner node: SHA-256 of 0x01 and both children. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Promise<Uint8Array> {
  return sha256(Uint8Array.of(1), joined(left, right));
}

/** Checks that a leaf is at a place of the tree with this size and root (RFC 9162, section 2.1.3.2). */
export async function checkInclusion(
  leaf: Uint8Array,
  index: bigint,
  size: bigint,
  proof: Uint8Array[],
  root: Uint8Array,
): Promise<void> {
  if (index >= size) throw new Refused(Code.Hash, "the proof speaks of a leaf or a size beyond the tree");
  const wrongLength = () => new Refused(Code.Hash, "the proof has the wrong length");
  let position = index;
  let last = size - 1n;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0n) throw wrongLength();
    if ((position & 1n) === 1n || position === last) {
      hash = await nodeHash(sibling, hash);
      while ((position & 1n) === 0n && position !== 0n) {
        position >>= 1n;
        last >>= 1n;
      }
    } else {
      hash = await nodeHash(hash, sibling);
    }
    position >>= 1n;
    last >>= 1n;
  }
  if (last !== 0n) throw wrongLength();
  if (!same(hash, root)) throw new Refused(Code.Hash, "the proof does not lead to the root");
}

/** The right edge of a log that grows: enough for its root at every length. */
export class Frontier {
  size = 0n;
  last: Uint8Array | null = null;
  /** Roots of whole subtrees, the largest first. */
  private peaks: Uint8Array[] = [];

  async append(leaf: Uint8Array): Promise<void> {
    let hash = leaf;
    for (let rest = this.size; (rest & 1n) === 1n; rest >>= 1n) {
      hash = await nodeHash(this.peaks.pop() as Uint8Array, hash);
    }
    this.peaks.push(hash);
    this.last = leaf;
    this.size += 1n;
  }

  async root(): Promise<Uint8Array> {
    let root = this.peaks.at(-1);
    if (root === undefined) return sha256();
    for (const peak of this.peaks.slice(0, -1).reverse()) root = await nodeHash(peak, root);
    return root;
  }
}
