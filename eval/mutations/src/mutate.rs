//! Changes seeds: bytes, ranges, pieces of other seeds, and the tokens that readers trip over.

/// Most changes of one input.
const CHANGES_MAX: u64 = 4;
/// Longest input, in bytes.
const INPUT_BYTES_MAX: usize = 1 << 14;

/// Pieces that readers trip over.
const TOKENS: [&[u8]; 28] = [
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\xEF\xBB\xBF",
    b"\xC0\xAF",
    b"\xFF",
    b"\0",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"1e309",
    b"-0",
    b"9007199254740993",
    b"NaN",
    b"\r",
    b"\n\n",
    b"\r\n",
    b"data: ",
    b"\xE2\x80\xA8",
    b"*a",
    b"&a ",
    b"\xE2\x80\x94",
    b"\t",
];

/// A source of changes, the same for the same seed.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// A mutator.
    pub const fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self {
            state: seed | 1 << 63,
        }
    }

    /// A changed copy of one of the seeds.
    pub fn change(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.next() % CHANGES_MAX {
            self.change_once(&mut input, seeds);
        }
        input.truncate(INPUT_BYTES_MAX);
        input
    }

    fn change_once(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(24)).min(input.len());
        match self.next() % 7 {
            0 if at < input.len() => input[at] ^= 1 << (self.next() % 8),
            1 if at < input.len() => input[at] = (self.next() & 0xFF) as u8,
            2 if at < end => drop(input.drain(at..end)),
            3 if at < end => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            4 => {
                let token = TOKENS[self.below(TOKENS.len())];
                input.splice(at..at, token.iter().copied());
            }
            5 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                let piece =
                    other[from..(from + 1 + self.below(64)).min(other.len()).max(from)].to_vec();
                input.splice(at..at, piece);
            }
            _ => input.truncate(at),
        }
    }

    /// A number below this one; 0 below 0.
    fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        (self.next() % end) as usize
    }

    /// The next number (xorshift64*).
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_changes() {
        let seeds = [b"{\"a\":1}".to_vec(), b"[]".to_vec()];
        let run = |seed| -> Vec<Vec<u8>> {
            let mut mutator = Mutator::new(seed);
            (0..100).map(|_| mutator.change(&seeds)).collect()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!(
            run(1)
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len()
                > 50
        );
    }
}
