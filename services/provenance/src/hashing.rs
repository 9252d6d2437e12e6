//! A quick hash for tables of words that are fixed when the program is built: what people type only looks
//! them up, so nobody can fill them with words that collide.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A table of words.
pub(crate) type WordMap<V> = HashMap<Box<str>, V, BuildHasherDefault<Fnv>>;

/// FNV-1a with 64 bits.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
