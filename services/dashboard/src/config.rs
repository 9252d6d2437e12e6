//! The dashboard's config: one JSON object, secrets included, read once at start.

use countersign_domain::Secret;
use countersign_serve::{Listen, NumbersAt};
use serde::Deserialize;

use crate::door::DoorPlaces;

/// Everything the dashboard is told. An unknown or missing field stops the start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// The one origin this page has, such as `http://dashboard.localhost:8485`.
    pub dashboard_origin: String,
    /// Where operators sign in; printed addresses are good beside it for as long as somebody makes them.
    pub sign_in: Option<countersign_sign_in::Settings>,
    /// The database, as the role that reads for operators.
    pub database_url: Secret,
    /// Where the door tells its numbers, and where calls are approved. Without it the pages say that they do not know.
    #[serde(default)]
    pub door: Option<DoorPlaces>,
    /// Where this process tells its own numbers, on loopback; nowhere without it.
    #[serde(default)]
    pub metrics: NumbersAt,
}
