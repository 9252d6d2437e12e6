//! What policies let pass, and what makes them refuse.

mod bank;
mod caps;
mod fails_closed;
mod field_cases;
mod holds;
mod identities;
mod lints;
mod properties;
mod reference;
mod servers;
mod stand;
mod wrong_files;
