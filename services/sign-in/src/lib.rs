//! Sign-in at a bank's own identity provider: OpenID Connect, authorization code with PKCE, and back-channel logout.
//!
//! A kit of the human side: `panel` signs customers in with it, `dashboard` operators, each as a client of its own. It holds no
//! session and no database; whose account an identity is, and what a session may do, is for the service to say. Tokens of
//! the provider end here: what goes on is who it was and the provider's name for the session.
//!
//! Sources: OpenID Connect Core 1.0, OpenID Connect Back-Channel Logout 1.0, RFC 7636 (PKCE), RFC 9207 (`iss` in the answer).

mod claims;
mod error;
mod fetch;
mod logout;
mod provider;
mod round;
mod settings;
pub mod web;

pub use error::SignInError;
pub use logout::LoggedOut;
pub use provider::{Answer, Provider, SignedIn};
pub use round::Round;
pub use settings::{Settings, SettingsError};
