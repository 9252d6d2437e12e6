//! HTTP in front and HTTP behind: messages keep their bytes, their headers are named one by one.

pub mod arrival;
pub mod behind;
pub mod clients;
pub mod definitions;
pub mod events;
pub mod exchange;
pub mod gate;
pub mod house;
pub mod hub;
pub mod lines;
mod lost;
pub mod metadata;
pub mod mirrored;
pub mod relay;
pub mod router;
pub mod sessions;
pub mod streams;
pub mod tls;
pub mod tokens;
pub mod upstream;
pub mod waiting;
