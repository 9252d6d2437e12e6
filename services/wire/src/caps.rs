//! How much of everything the reader accepts.

/// The limits of one reading. Every one of them is checked before the memory it guards is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Longest document, in bytes.
    pub bytes: u32,
    /// Deepest nesting of arrays and objects; `1` is a flat object.
    pub depth: u8,
    /// Most members of one object.
    pub members_per_object: u32,
    /// Most values and member names in the whole document.
    pub nodes: u32,
    /// Longest string or member name, in bytes as written.
    pub string_bytes: u32,
    /// Longest number, in bytes as written.
    pub number_bytes: u32,
}

impl Caps {
    /// A message from a client: what a person's assistant has reason to send, and not much more.
    pub const MESSAGE: Self = Self {
        bytes: 1 << 20,
        depth: 32,
        members_per_object: 256,
        nodes: 32_768,
        string_bytes: 256 << 10,
        number_bytes: 64,
    };

    /// An answer from a server: lists of definitions are larger and deeper than calls.
    pub const ANSWER: Self = Self {
        bytes: 8 << 20,
        depth: 64,
        members_per_object: 4_096,
        nodes: 1 << 20,
        string_bytes: 4 << 20,
        number_bytes: 64,
    };

    /// The claims or the header of a token.
    pub const TOKEN: Self = Self {
        bytes: 4 << 10,
        depth: 4,
        members_per_object: 32,
        nodes: 128,
        string_bytes: 2 << 10,
        number_bytes: 20,
    };

    /// The same limits with another size of document.
    #[must_use]
    pub const fn with_bytes(self, bytes: u32) -> Self {
        Self { bytes, ..self }
    }
}

impl Default for Caps {
    fn default() -> Self {
        Self::MESSAGE
    }
}
