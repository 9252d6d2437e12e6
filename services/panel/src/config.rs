//! The panel's config: one JSON object, secrets included, read once at start.

use std::path::PathBuf;

use countersign_domain::{CustomerId, Secret};
use countersign_receipts::LogKeyFile;
use countersign_serve::Listen;
use serde::Deserialize;

use crate::{name_check::NameCheckConfig, notices::Channels};

/// Everything the panel is told. An unknown or missing field stops the start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// The one origin this page has, such as `http://localhost:8480`.
    pub panel_origin: String,
    /// The one origin it frames, such as `http://127.0.0.1:8481`.
    pub chat_origin: String,
    /// The database, as the role that draws and confirms.
    pub database_url: Secret,
    /// The database, as the role that credits payees inside the bank.
    pub poster_database_url: Secret,
    /// The database, as the role that expires what nobody confirmed.
    pub sweeper_database_url: Secret,
    /// The database, as the role that finds held payments whose time has come.
    pub releaser_database_url: Secret,
    /// The database, as the role that gathers events into the bank's log.
    pub notary_database_url: Secret,
    /// The database, as the role that claims notices to deliver.
    pub relay_database_url: Secret,
    /// How notices reach customers beside the panel.
    pub notices: Channels,
    /// The database, as the role that keeps the answers of name checks.
    pub checker_database_url: Secret,
    /// Who knows in whose name accounts at other banks are; nobody, where there is none.
    pub name_check: Option<NameCheckConfig>,
    /// The bank's number for emergencies, as people dial it.
    pub bank_phone: String,
    /// The key that signs heads of the bank's log.
    pub notary_key: LogKeyFile,
    /// A folder of this process alone, for the newest head of the bank's log that it signed or saw.
    pub state_folder: PathBuf,
    /// The name of the bank's log in its checkpoints.
    pub log_origin: String,
    /// Where customers sign in; not together with the demo, whose printed addresses are the other way in.
    pub sign_in: Option<countersign_sign_in::Settings>,
    /// The demo's customers, or nothing outside the demo.
    pub demo: Option<Demo>,
}

/// The demo: who can be picked in the page's header by somebody who is signed in already.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demo {
    /// In the order in which they are shown.
    pub customers: Vec<DemoCustomer>,
}

/// One customer of the demo.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoCustomer {
    /// Who.
    pub id: CustomerId,
    /// The name in the picker.
    pub name: String,
}
