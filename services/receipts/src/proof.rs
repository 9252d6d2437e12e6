//! Checking proofs against roots, as RFC 9162 §2.1.3.2 and §2.1.4.2 describe it.

use crate::tree::empty_root;
use crate::{Hash, node_hash};

/// A proof that proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The leaf lies beyond the tree, or the older tree is larger than the newer.
    #[error("the proof speaks of a leaf or a size beyond the tree")]
    BeyondTree,
    /// The proof has too few or too many hashes.
    #[error("the proof has the wrong length")]
    WrongLength,
    /// The hashes do not lead to the root.
    #[error("the proof does not lead to the root")]
    WrongRoot,
}

/// Checks that the leaf with this hash is at `index` in the tree of `size` leaves with `root`.
///
/// # Errors
/// [`ProofError`] when that is not shown.
pub fn verify_inclusion(
    leaf: Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: Hash,
) -> Result<(), ProofError> {
    if index >= size {
        return Err(ProofError::BeyondTree);
    }
    let (mut position, mut last) = (index, size - 1);
    let mut hash = leaf;
    for sibling in proof {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if position & 1 == 1 || position == last {
            hash = node_hash(*sibling, hash);
            while position & 1 == 0 && position != 0 {
                position >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(hash, *sibling);
        }
        position >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return Err(ProofError::WrongLength);
    }
    if hash == root {
        Ok(())
    } else {
        Err(ProofError::WrongRoot)
    }
}

/// Checks that the tree of `new_size` leaves begins with the whole tree of `old_size` leaves.
///
/// # Errors
/// [`ProofError`] when that is not shown.
pub fn verify_consistency(
    old_size: u64,
    old_root: Hash,
    new_size: u64,
    new_root: Hash,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if old_size > new_size {
        return Err(ProofError::BeyondTree);
    }
    if old_size == new_size || old_size == 0 {
        if !proof.is_empty() {
            return Err(ProofError::WrongLength);
        }
        let expected = if old_size == 0 {
            empty_root()
        } else {
            new_root
        };
        return if old_root == expected {
            Ok(())
        } else {
            Err(ProofError::WrongRoot)
        };
    }
    // An old tree that is one perfect subtree is its own first node.
    let first = old_size.is_power_of_two().then_some(old_root);
    let mut hashes = first.iter().chain(proof);
    let mut old = *hashes.next().ok_or(ProofError::WrongLength)?;
    let mut new = old;
    let (mut position, mut last) = (old_size - 1, new_size - 1);
    while position & 1 == 1 {
        position >>= 1;
        last >>= 1;
    }
    for hash in hashes {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if position & 1 == 1 || position == last {
            old = node_hash(*hash, old);
            new = node_hash(*hash, new);
            while position & 1 == 0 && position != 0 {
                position >>= 1;
                last >>= 1;
            }
        } else {
            new = node_hash(new, *hash);
        }
        position >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return Err(ProofError::WrongLength);
    }
    if old == old_root && new == new_root {
        Ok(())
    } else {
        Err(ProofError::WrongRoot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf_hash;

    #[test]
    fn a_leaf_beyond_the_tree_is_not_in_it() {
        let only = leaf_hash(b"only");
        assert_eq!(verify_inclusion(only, 0, 1, &[], only), Ok(()));
        for (index, size) in [(1, 1), (5, 1), (0, 0), (u64::MAX, 1)] {
            let refused = verify_inclusion(only, index, size, &[], only);
            assert_eq!(refused, Err(ProofError::BeyondTree));
        }
    }

    #[test]
    fn a_tree_that_shrank_is_not_consistent() {
        let root = leaf_hash(b"root");
        let refused = verify_consistency(2, root, 1, root, &[]);
        assert_eq!(refused, Err(ProofError::BeyondTree));
        let refused = verify_consistency(1, root, 1, root, &[root]);
        assert_eq!(refused, Err(ProofError::WrongLength));
        let refused = verify_consistency(0, root, 1, root, &[]);
        assert_eq!(refused, Err(ProofError::WrongRoot));
        let refused = verify_consistency(3, root, 4, root, &[]);
        assert_eq!(refused, Err(ProofError::WrongLength));
    }
}
