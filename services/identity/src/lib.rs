//! Who is asking: signed tokens that travel where a customer id must not.
//!
//! Two kinds of token, both compact JWS signed with Ed25519. A *session token* goes from the chat
//! origin to the door and is good for one turn of one conversation. A *request token* goes from the
//! door to the bank server and is good for one call: it names method, path and the digest of the
//! body, so nothing on the way can change what was allowed.
//!
//! The crate is pure. The clock and the random source are arguments, keys are handed in, and a
//! token that was seen before is the caller's business (the bank keeps `used_request`). It decides
//! only whether a token is one of ours, unaltered, for this use and still in time.
//!
//! Every verifier fails closed: algorithm and type are fixed by the caller's function, never taken
//! from the token; the key id must be in the pinned set; a header or claim that we did not declare
//! refuses the token.

mod compact;
mod key;
mod one_header;
mod provider;
mod random_id;
mod request;
mod session;

pub use compact::{LEEWAY_SECONDS, SignError, TOKEN_BYTES_MAX, TokenError, compact_parts};
pub use key::{
    KeyError, SigningKey, SigningKeyFile, VerifyingKeyFile, VerifyingKeys, generate_key,
};
pub use one_header::exactly_one;
pub use random_id::{RandomIdError, TokenId, TurnId};
pub use request::{
    REQUEST_HEADER, REQUEST_LIFETIME_SECONDS, RequestClaims, body_digest, sign_request,
    verify_request,
};
pub use session::{
    SESSION_HEADER, SESSION_LIFETIME_SECONDS_MAX, SessionClaims, sign_session, verify_session,
};
