//! Models that are asked over HTTP: one endpoint, one key, and no other address whatever the answer says.
//!
//! A wire format ([`Protocol`]) says how a conversation is written and how frames of the answer are read; everything
//! else is common: retries before the first word, time-outs, limits, and the rule that a call leaves here only when the
//! whole reply has come.

pub(crate) mod anthropic;
mod assembly;
pub(crate) mod bedrock;
mod endpoint;
mod exchange;
mod frames;
mod grouped;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod rendering;
mod settings;
mod sign;
mod wait;

pub use exchange::client as http_client;

pub use endpoint::{Endpoint, EndpointError, is_loopback};
pub use settings::{Bedrock, BedrockCredentials, Hosted, Limits, Prices};
pub use sign::{AwsKeys, SignError, sign};

pub(crate) use assembly::{Assembly, Ending};
pub(crate) use exchange::{Protocol, Remote, client};
pub(crate) use frames::Frame;
