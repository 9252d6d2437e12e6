//! Where a log stands: enough of it to go on, to be signed for, and to be checked against a head.

use crate::{Compact, Hash};

/// The right edge of a log, its last leaf, and the edge as it was before that leaf.
///
/// With the edge before, a reader can see from a signed root alone which leaf was the last one, so
/// that a line that goes on from a stored frontier names a leaf nobody made up.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    before: Compact,
    edge: Compact,
    last: Option<Hash>,
}

impl Clone for Frontier {
    fn clone(&self) -> Self {
        Self {
            before: self.before.clone(),
            edge: self.edge.clone(),
            last: self.last,
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.before.clone_from(&source.before);
        self.edge.clone_from(&source.edge);
        self.last = source.last;
    }
}

impl Frontier {
    /// A log without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The frontier that [`Frontier::before`] and [`Frontier::last`] were taken from.
    ///
    /// Nothing when there are as many peaks as no tree of `size` leaves has.
    #[must_use]
    pub fn from_parts(size: u64, before: Vec<Hash>, last: Option<Hash>) -> Option<Self> {
        match (size.checked_sub(1), last) {
            (None, None) => before.is_empty().then(Self::new),
            (Some(size_before), Some(last)) => {
                let before = Compact::from_peaks(size_before, before)?;
                let mut frontier = Self {
                    edge: before.clone(),
                    before: Compact::new(),
                    last: None,
                };
                frontier.append(last);
                Some(frontier)
            }
            _ => None,
        }
    }

    /// The frontier with these peaks, when a signed root will decide whether they are true: the
    /// edge before the last leaf is not known then.
    #[must_use]
    pub fn from_peaks(size: u64, peaks: Vec<Hash>, last: Hash) -> Option<Self> {
        let edge = Compact::from_peaks(size, peaks).filter(|_| size > 0)?;
        Some(Self {
            before: Compact::new(),
            edge,
            last: Some(last),
        })
    }

    /// Appends a leaf.
    pub fn append(&mut self, leaf: Hash) {
        self.before.clone_from(&self.edge);
        self.edge.push(leaf);
        self.last = Some(leaf);
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.edge.size()
    }

    /// The root over them.
    #[must_use]
    pub fn root(&self) -> Hash {
        self.edge.root()
    }

    /// The last leaf.
    #[must_use]
    pub const fn last(&self) -> Option<Hash> {
        self.last
    }

    /// The peaks of the tree without its last leaf, largest first.
    #[must_use]
    pub fn before(&self) -> &[Hash] {
        self.before.peaks()
    }

    /// The peaks of the tree, largest first.
    #[must_use]
    pub fn peaks(&self) -> &[Hash] {
        self.edge.peaks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf_hash;

    #[test]
    fn a_frontier_is_its_parts_and_no_others() {
        let mut frontier = Frontier::new();
        let mut whole = Compact::new();
        for leaf in 0..70_u64 {
            let parts = (frontier.size(), frontier.before().to_vec(), frontier.last());
            let again = Frontier::from_parts(parts.0, parts.1.clone(), parts.2).unwrap();
            assert_eq!(again.root(), whole.root());
            assert_eq!(again.peaks(), frontier.peaks());
            assert!(
                Frontier::from_parts(parts.0 + 2, parts.1.clone(), parts.2).is_none()
                    || parts.0.wrapping_sub(1).count_ones() == (parts.0 + 1).count_ones()
            );
            let other = leaf_hash(b"another");
            if let Some(forged) = Frontier::from_parts(parts.0, parts.1, parts.2.map(|_| other)) {
                assert!(leaf == 0 || forged.root() != whole.root());
            }
            let leaf = leaf_hash(&leaf.to_be_bytes());
            frontier.append(leaf);
            whole.push(leaf);
        }
    }
}
