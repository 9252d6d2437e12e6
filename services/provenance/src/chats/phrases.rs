//! What generated chats are made of, in eight languages.

/// The sentences of one language. `{a}` stands for an amount, `{p}` for a payee.
pub(super) struct Phrases {
    pub locale: &'static str,
    pub amounts: &'static [&'static str],
    pub asks: &'static [&'static str],
    pub fragments: &'static [&'static str],
    /// What stands before and behind a request that nobody makes any more.
    pub doubts: &'static [(&'static str, &'static str)],
    /// Corrections with a pair of their own.
    pub repairs: &'static [&'static str],
    pub noes: &'static [&'static str],
    /// Turns that have nothing to do with a request.
    pub talk: &'static [&'static str],
}

pub(super) const NAMES: &[&str] = &["Bob", "Alice", "Carol", "Dave"];
