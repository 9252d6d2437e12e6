//! The Merkle tree of RFC 6962, kept as its perfect subtrees.
//!
//! A [`Node`] names a perfect subtree; once its last leaf is there it never changes. An append
//! completes at most log2(n) + 1 of them, which a keeper stores in rows, a file or memory. Every
//! root and every proof is computed from stored nodes alone.

use crate::{Hash, leaf_hash, node_hash};

/// A perfect subtree: at `level`, the leaves from `index << level` on, `1 << level` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Height above the leaves.
    pub level: u8,
    /// Position from the left among the nodes of its level.
    pub index: u64,
}

/// A node that a proof needs and the keeper did not have, or a question beyond the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingNode {
    /// The keeper has no such node.
    #[error("node {} of level {} is missing", .0.index, .0.level)]
    Node(Node),
    /// The leaf or the older size lies beyond the size asked about.
    #[error("the tree has only {size} leaves")]
    BeyondTree {
        /// The size asked about.
        size: u64,
    },
}

/// The root of a tree without leaves: the hash of nothing.
#[must_use]
pub fn empty_root() -> Hash {
    use sha2::Digest as _;
    Hash::from(<[u8; 32]>::from(sha2::Sha256::digest([])))
}

/// The right edge of a growing tree: its perfect subtrees from the largest to the smallest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Compact {
    size: u64,
    peaks: Vec<Hash>,
}

impl Clone for Compact {
    fn clone(&self) -> Self {
        Self {
            size: self.size,
            peaks: self.peaks.clone(),
        }
    }

    // With every line of a record: into what is allocated already.
    fn clone_from(&mut self, source: &Self) {
        self.size = source.size;
        self.peaks.clone_from(&source.peaks);
    }
}

impl Compact {
    /// A tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree of this size from stored nodes; reads [`nodes_for_peaks`] of it.
    ///
    /// # Errors
    /// [`MissingNode`] when the keeper lacks one.
    pub fn load(size: u64, node: impl Fn(Node) -> Option<Hash>) -> Result<Self, MissingNode> {
        let peaks = nodes_for_peaks(size)
            .into_iter()
            .map(|peak| node(peak).ok_or(MissingNode::Node(peak)))
            .collect::<Result<_, _>>()?;
        Ok(Self { size, peaks })
    }

    /// The tree with these peaks, largest first; nothing when a tree of this size has not as many.
    #[must_use]
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Self { size, peaks })
    }

    /// The roots of the perfect subtrees, largest first.
    #[must_use]
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf whose completed nodes nobody wants to keep.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        let mut position = self.size;
        while position & 1 == 1 {
            let Some(left) = self.peaks.pop() else { break };
            hash = node_hash(left, hash);
            position >>= 1;
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// Appends a payload. See [`Compact::append_leaf`].
    pub fn append(&mut self, payload: &[u8]) -> Vec<(Node, Hash)> {
        self.append_leaf(leaf_hash(payload))
    }

    /// Appends a leaf and returns the nodes it completed, the leaf itself first.
    ///
    /// A keeper that wants to answer with proofs stores them; they are final.
    pub fn append_leaf(&mut self, leaf: Hash) -> Vec<(Node, Hash)> {
        let mut node = Node {
            level: 0,
            index: self.size,
        };
        let mut hash = leaf;
        let mut completed = vec![(node, hash)];
        while node.index & 1 == 1 {
            // A right child completes its parent, whose left child is the smallest peak.
            let Some(left) = self.peaks.pop() else { break };
            hash = node_hash(left, hash);
            node = Node {
                level: node.level + 1,
                index: node.index >> 1,
            };
            completed.push((node, hash));
        }
        self.peaks.push(hash);
        self.size += 1;
        completed
    }

    /// The root over all leaves.
    #[must_use]
    pub fn root(&self) -> Hash {
        let mut smallest_first = self.peaks.iter().rev().copied();
        smallest_first.next().map_or_else(empty_root, |last| {
            smallest_first.fold(last, |right, left| node_hash(left, right))
        })
    }
}

/// The largest power of two below `length`, for `length` of two or more.
const fn split(length: u64) -> u64 {
    1 << (63 - (length - 1).leading_zeros())
}

/// The perfect subtrees that together hold the leaves from `start` on, largest first.
///
/// `start` must be a multiple of the largest one's length, as the ranges of RFC 6962 are.
fn subtrees(start: u64, end: u64) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut at = start;
    while at < end {
        let level = 63 - (end - at).leading_zeros();
        nodes.push(Node {
            level: level as u8,
            index: at >> level,
        });
        at += 1 << level;
    }
    nodes
}

/// The nodes whose hashes make the root of a tree of this size, largest first.
#[must_use]
pub fn nodes_for_peaks(size: u64) -> Vec<Node> {
    subtrees(0, size)
}

/// The ranges of leaves whose roots are the inclusion proof, from the leaf's sibling upwards.
fn inclusion_ranges(index: u64, size: u64) -> Vec<(u64, u64)> {
    let (mut start, mut end) = (0, size);
    let mut ranges = Vec::new();
    while end - start > 1 {
        let middle = start + split(end - start);
        if index < middle {
            ranges.push((middle, end));
            end = middle;
        } else {
            ranges.push((start, middle));
            start = middle;
        }
    }
    ranges.reverse();
    ranges
}

/// The ranges of leaves whose roots are the consistency proof from `old` to `new` leaves.
fn consistency_ranges(old: u64, new: u64) -> Vec<(u64, u64)> {
    let (mut start, mut end) = (0, new);
    let mut ranges = Vec::new();
    // Whether the subtree looked at is one that the verifier already has as its old root.
    let mut known = true;
    while old != end {
        let middle = start + split(end - start);
        if old <= middle {
            ranges.push((middle, end));
            end = middle;
        } else {
            ranges.push((start, middle));
            start = middle;
            known = false;
        }
    }
    if !known {
        ranges.push((start, end));
    }
    ranges.reverse();
    ranges
}

fn nodes_of(ranges: &[(u64, u64)]) -> Vec<Node> {
    ranges
        .iter()
        .flat_map(|(start, end)| subtrees(*start, *end))
        .collect()
}

/// The hashes of these ranges from stored nodes.
fn hashes_of(
    ranges: Vec<(u64, u64)>,
    node: impl Fn(Node) -> Option<Hash>,
) -> Result<Vec<Hash>, MissingNode> {
    ranges
        .into_iter()
        .map(|(start, end)| {
            let mut hash = None;
            for subtree in subtrees(start, end).into_iter().rev() {
                let left = node(subtree).ok_or(MissingNode::Node(subtree))?;
                hash = Some(hash.map_or(left, |right| node_hash(left, right)));
            }
            hash.ok_or(MissingNode::BeyondTree { size: end })
        })
        .collect()
}

/// The stored nodes that [`inclusion_proof`] will ask for, to be read in one go.
#[must_use]
pub fn nodes_for_inclusion(index: u64, size: u64) -> Vec<Node> {
    if index >= size {
        return Vec::new();
    }
    nodes_of(&inclusion_ranges(index, size))
}

/// The stored nodes that [`consistency_proof`] will ask for, to be read in one go.
#[must_use]
pub fn nodes_for_consistency(old: u64, new: u64) -> Vec<Node> {
    if old == 0 || old >= new {
        return Vec::new();
    }
    nodes_of(&consistency_ranges(old, new))
}

/// The proof that the leaf at `index` is in the tree of `size` leaves, from the leaf upwards.
///
/// # Errors
/// [`MissingNode`] when there is no such leaf or the keeper lacks a node.
pub fn inclusion_proof(
    index: u64,
    size: u64,
    node: impl Fn(Node) -> Option<Hash>,
) -> Result<Vec<Hash>, MissingNode> {
    if index >= size {
        return Err(MissingNode::BeyondTree { size });
    }
    hashes_of(inclusion_ranges(index, size), node)
}

/// The proof that the tree of `new` leaves only added to the tree of `old` leaves.
///
/// # Errors
/// [`MissingNode`] when `old` is larger than `new` or the keeper lacks a node.
pub fn consistency_proof(
    old: u64,
    new: u64,
    node: impl Fn(Node) -> Option<Hash>,
) -> Result<Vec<Hash>, MissingNode> {
    if old > new {
        return Err(MissingNode::BeyondTree { size: new });
    }
    if old == 0 || old == new {
        return Ok(Vec::new());
    }
    hashes_of(consistency_ranges(old, new), node)
}

/// A whole tree in memory, for verifiers and tests.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    edge: Compact,
    levels: Vec<Vec<Hash>>,
}

impl MemoryTree {
    /// A tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a leaf.
    pub fn append_leaf(&mut self, leaf: Hash) {
        for (node, hash) in self.edge.append_leaf(leaf) {
            let level = usize::from(node.level);
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(hash);
        }
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.edge.size()
    }

    /// The hash of a node, once it is complete.
    #[must_use]
    pub fn node(&self, node: Node) -> Option<Hash> {
        let index = usize::try_from(node.index).ok()?;
        self.levels
            .get(usize::from(node.level))?
            .get(index)
            .copied()
    }

    /// The root at a size this tree has reached.
    ///
    /// # Errors
    /// [`MissingNode`] when it has not.
    pub fn root_at(&self, size: u64) -> Result<Hash, MissingNode> {
        if size > self.size() {
            return Err(MissingNode::BeyondTree { size: self.size() });
        }
        Compact::load(size, |node| self.node(node)).map(|edge| edge.root())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{verify_consistency, verify_inclusion};

    /// The inputs and roots that implementations of Certificate Transparency are tried with.
    const LEAVES: [&str; 8] = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ];
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    #[test]
    fn roots_agree_with_the_published_ones() {
        let mut edge = Compact::new();
        assert_eq!(
            edge.root().to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let mut pushed = Compact::new();
        for (leaf, root) in LEAVES.iter().zip(ROOTS) {
            let leaf = hex::decode(leaf).unwrap();
            edge.append(&leaf);
            pushed.push(leaf_hash(&leaf));
            assert_eq!(edge.root().to_string(), root);
            assert_eq!(pushed, edge);
        }
    }

    fn tree(size: u64) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for leaf in 0..size {
            tree.append_leaf(leaf_hash(&leaf.to_be_bytes()));
        }
        tree
    }

    #[test]
    fn every_leaf_of_every_small_tree_is_proved_and_no_other() {
        let tree = tree(40);
        for size in 1..=tree.size() {
            let root = tree.root_at(size).unwrap();
            for index in 0..size {
                let proof = inclusion_proof(index, size, |node| tree.node(node)).unwrap();
                let leaf = leaf_hash(&index.to_be_bytes());
                verify_inclusion(leaf, index, size, &proof, root).unwrap();
                let other = leaf_hash(&(index + 1).to_be_bytes());
                assert!(verify_inclusion(other, index, size, &proof, root).is_err());
                assert!(
                    verify_inclusion(leaf, index ^ 1, size, &proof, root).is_err() || size == 1
                );
                let mut longer = proof.clone();
                longer.push(root);
                assert!(verify_inclusion(leaf, index, size, &longer, root).is_err());
                if let Some((_, shorter)) = proof.split_last() {
                    assert!(verify_inclusion(leaf, index, size, shorter, root).is_err());
                }
            }
        }
    }

    #[test]
    fn every_growth_is_proved_and_a_changed_past_is_not() {
        let tree = tree(40);
        let mut forged = MemoryTree::new();
        for leaf in 0..40_u64 {
            let leaf = if leaf == 3 { 999 } else { leaf };
            forged.append_leaf(leaf_hash(&leaf.to_be_bytes()));
        }
        for new in 1..=40 {
            for old in 0..=new {
                let proof = consistency_proof(old, new, |node| tree.node(node)).unwrap();
                let (old_root, new_root) = (tree.root_at(old).unwrap(), tree.root_at(new).unwrap());
                verify_consistency(old, old_root, new, new_root, &proof).unwrap();
                if old > 3 && old < new {
                    let root = forged.root_at(new).unwrap();
                    let proof = consistency_proof(old, new, |node| forged.node(node)).unwrap();
                    assert!(verify_consistency(old, old_root, new, root, &proof).is_err());
                }
            }
        }
    }

    #[test]
    fn a_tree_loaded_from_stored_nodes_goes_on_as_before() {
        let whole = tree(23);
        let mut loaded = Compact::load(13, |node| whole.node(node)).unwrap();
        for leaf in 13..23_u64 {
            loaded.append(&leaf.to_be_bytes());
        }
        assert_eq!(loaded.root(), whole.root_at(23).unwrap());
    }

    #[test]
    fn what_a_proof_asks_for_is_what_was_announced() {
        use std::cell::RefCell;
        let tree = tree(21);
        for index in 0..21 {
            let asked = RefCell::new(Vec::new());
            inclusion_proof(index, 21, |node| {
                asked.borrow_mut().push(node);
                tree.node(node)
            })
            .unwrap();
            let mut announced = nodes_for_inclusion(index, 21);
            let mut asked = asked.into_inner();
            announced.sort_unstable();
            asked.sort_unstable();
            assert_eq!(asked, announced);
        }
    }

    #[test]
    fn a_missing_node_and_a_missing_leaf_are_errors() {
        let tree = tree(8);
        assert!(matches!(
            inclusion_proof(2, 8, |_| None),
            Err(MissingNode::Node(_))
        ));
        assert_eq!(
            inclusion_proof(8, 8, |node| tree.node(node)),
            Err(MissingNode::BeyondTree { size: 8 })
        );
        assert!(consistency_proof(9, 8, |node| tree.node(node)).is_err());
        assert!(tree.root_at(9).is_err());
    }
}
