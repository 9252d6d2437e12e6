//! Under which terms a call is held: how long, and who may decide.

use std::time::Duration;

use countersign_receipts::ApprovalWay;

/// How long a call is held when the policy says nothing.
pub const TIME_TO_LIVE_DEFAULT: Duration = Duration::from_secs(900);
/// How long a call may be held at most; no receipt counts longer either.
pub const TIME_TO_LIVE_MAX: Duration = Duration::from_secs(86_400);

/// The ways by which a decision may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// The door's own page.
    pub page: bool,
    /// A signed call of another system.
    pub webhook: bool,
    /// A question carried by the client.
    pub client: bool,
}

impl Ways {
    /// No way at all.
    pub const NONE: Self = Self {
        page: false,
        webhook: false,
        client: false,
    };

    /// The door's own page and nothing else.
    pub const PAGE: Self = Self {
        page: true,
        ..Self::NONE
    };

    /// What both have.
    pub const fn both(self, other: Self) -> Self {
        Self {
            page: self.page && other.page,
            webhook: self.webhook && other.webhook,
            client: self.client && other.client,
        }
    }

    /// Whether a decision may come this way. A countdown has a rule of its own.
    pub const fn has(self, way: ApprovalWay) -> bool {
        match way {
            ApprovalWay::Page => self.page,
            ApprovalWay::Webhook => self.webhook,
            ApprovalWay::Client => self.client,
            ApprovalWay::Countdown => false,
        }
    }

    /// Whether there is any.
    pub const fn any(self) -> bool {
        self.page || self.webhook || self.client
    }
}

/// Under which terms a call is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long, until it counts as denied.
    pub time_to_live: Duration,
    /// After how long it goes on by itself, where the rule says that what it does can be undone.
    pub countdown: Option<Duration>,
    /// The ways by which a decision may come.
    pub ways: Ways,
}

impl Terms {
    /// The terms of a rule that says nothing about them.
    pub const DEFAULT: Self = Self {
        time_to_live: TIME_TO_LIVE_DEFAULT,
        countdown: None,
        ways: Ways::PAGE,
    };

    /// The same, but only a person may decide. An agent can ask for this and for nothing else.
    #[must_use]
    pub const fn for_a_person(mut self) -> Self {
        self.countdown = None;
        self.ways.client = false;
        self
    }
}
