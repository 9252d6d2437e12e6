//! The bank's processes: their names, ports and users.

/// One process of the bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    /// The page that confirms, and the bank's loops.
    Panel,
    /// The chat's origin.
    Intake,
    /// The allowlist proxy between agent and bank server.
    Door,
    /// The bank as an MCP server.
    BankMcp,
    /// Drives the model.
    Agent,
    /// What operators read.
    Dashboard,
}

/// First of the user ids that services get under root. Systemd and the user databases of the common
/// systems leave this range alone; [`crate::server::DATABASE_GROUP`] lies below it.
const FIRST_UID: u32 = 60_711;

impl Service {
    /// Every process, in the order of their ports.
    pub const ALL: [Self; 6] = [
        Self::Panel,
        Self::Intake,
        Self::Door,
        Self::BankMcp,
        Self::Agent,
        Self::Dashboard,
    ];

    /// The name, as in `countersign-<name>`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Intake => "intake",
            Self::Door => "door",
            Self::BankMcp => "bank-mcp",
            Self::Agent => "agent",
            Self::Dashboard => "dashboard",
        }
    }

    /// The distance of its port from the first one.
    #[must_use]
    pub const fn port_offset(self) -> u16 {
        self as u16
    }

    /// Its user and group id under root.
    #[must_use]
    pub const fn uid(self) -> u32 {
        FIRST_UID + self as u32
    }

    /// Whether it has a login to the database.
    #[must_use]
    pub const fn uses_database(self) -> bool {
        matches!(
            self,
            Self::Panel | Self::Intake | Self::BankMcp | Self::Dashboard
        )
    }

    /// The services it calls. A cage refuses every other connection.
    #[must_use]
    pub const fn calls(self) -> &'static [Self] {
        match self {
            Self::Intake => &[Self::Agent],
            Self::Agent => &[Self::Door],
            Self::Door => &[Self::BankMcp],
            Self::Panel | Self::BankMcp | Self::Dashboard => &[],
        }
    }

    /// Whether it tells its numbers on a listener of their own.
    #[must_use]
    pub const fn tells_numbers(self) -> bool {
        matches!(
            self,
            Self::Intake | Self::Door | Self::BankMcp | Self::Dashboard
        )
    }

    /// The services whose numbers it reads. A cage refuses every other connection.
    #[must_use]
    pub const fn reads_numbers_of(self) -> &'static [Self] {
        match self {
            Self::Dashboard => &[Self::Door],
            _ => &[],
        }
    }

    /// The host that its listener answers to, without the port: only panel and dashboard have names
    /// with cookies, and not the same one: browsers share cookies between the ports of a host.
    #[must_use]
    pub const fn host(self) -> &'static str {
        match self {
            Self::Panel => "localhost",
            Self::Dashboard => "dashboard.localhost",
            _ => "127.0.0.1",
        }
    }
}
