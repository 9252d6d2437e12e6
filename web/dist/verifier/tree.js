// The tree of a log (RFC 6962): hashes of leaves and nodes, inclusion, and the root of a log that grows.
import { joined, same, sha256 } from "./bytes.js";
import { Code, Refused } from "./verdict.js";
/** The hash of a leaf: SHA-256 of 0x00 and the payload's exact bytes. */
export function leafHash(payload) {
    return sha256(Uint8Array.of(0), payload);
}
/** The hash of an inner node: SHA-256 of 0x01 and both children. */
export function nodeHash(left, right) {
    return sha256(Uint8Array.of(1), joined(left, right));
}
/** Checks that a leaf is at a place of the tree with this size and root (RFC 9162, section 2.1.3.2). */
export async function checkInclusion(leaf, index, size, proof, root) {
    if (index >= size)
        throw new Refused(Code.Hash, "the proof speaks of a leaf or a size beyond the tree");
    const wrongLength = () => new Refused(Code.Hash, "the proof has the wrong length");
    let position = index;
    let last = size - 1n;
    let hash = leaf;
    for (const sibling of proof) {
        if (last === 0n)
            throw wrongLength();
        if ((position & 1n) === 1n || position === last) {
            hash = await nodeHash(sibling, hash);
            while ((position & 1n) === 0n && position !== 0n) {
                position >>= 1n;
                last >>= 1n;
            }
        }
        else {
            hash = await nodeHash(hash, sibling);
        }
        position >>= 1n;
        last >>= 1n;
    }
    if (last !== 0n)
        throw wrongLength();
    if (!same(hash, root))
        throw new Refused(Code.Hash, "the proof does not lead to the root");
}
/** The right edge of a log that grows: enough for its root at every length. */
export class Frontier {
    size = 0n;
    last = null;
    /** Roots of whole subtrees, the largest first. */
    peaks = [];
    async append(leaf) {
        let hash = leaf;
        for (let rest = this.size; (rest & 1n) === 1n; rest >>= 1n) {
            hash = await nodeHash(this.peaks.pop(), hash);
        }
        this.peaks.push(hash);
        this.last = leaf;
        this.size += 1n;
    }
    async root() {
        let root = this.peaks.at(-1);
        if (root === undefined)
            return sha256();
        for (const peak of this.peaks.slice(0, -1).reverse())
            root = await nodeHash(peak, root);
        return root;
    }
}
