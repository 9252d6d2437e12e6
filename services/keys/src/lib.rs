//! Keys of tokens as files that change while services run.
//!
//! One folder for each kind of token: `jwks.json`, which is for everybody (a JWK set, RFC 7517, with
//! RFC 8037 keys), and `<kid>.key`, a private key for whoever signs and nobody else. A signer and its
//! verifiers look at their file once a second, so that a rotation needs no restart: a new key signs only
//! after everybody had time to read it, the old one is accepted for an overlap and then ends by itself.
//!
//! It fails closed. A key that ended or was revoked neither signs nor verifies; a file that cannot be read
//! leaves what was read before in force for [`STALE_SECONDS_MAX`] and nothing after that. A token never makes
//! anybody read the file, whatever key it names.
//!
//! The crate reads and writes these files and nothing else. The clock and the random source are arguments.

mod change;
mod error;
mod jwks;
mod read;
mod sign;
mod verify;
mod watch;

pub use change::{Overlap, init, revoke, rotate};
pub use error::KeysError;
pub use jwks::{Jwk, JwkSet, Revoked};
pub use read::{private_file, public_file, read_set, write_set};
pub use sign::{FolderOfKeys, Signer, SigningKeySource};
pub use verify::{JwksFile, Verifier, VerifyingKeySource};
pub use watch::STALE_SECONDS_MAX;
