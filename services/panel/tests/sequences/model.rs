//! What should happen, in as few words as can be: two customers, their requests, and what each act does to them.
//!
//! It knows nothing of the bank's tables and shares no code with them. An act gives the worlds it may lead to: more than one only where the order of
//! two things is left open, none when what was answered must not be.

use countersign_domain::{ActionId, ActionState as State};

/// Seconds a request waits.
const WAITS: i64 = 600;
/// Seconds in which a payment can be undone.
const UNDO: i64 = 10;
/// Seconds a held payment waits at most.
const HELD: i64 = 345_600;
/// Limits in cents: one payment, one day, everything that waits, and above what an operator looks first.
const ONE: i64 = 60_000;
const DAY: i64 = 100_000;
const WAITING: i64 = 90_000;
const LOOKED_AT: i64 = 35_000;

/// Who of the two.
pub type Who = usize;

/// One payment: its number on the card, the payee by name, cents.
pub type Line = (i16, &'static str, i64);

/// A request as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub id: ActionId,
    pub who: Who,
    /// In which of the customer's two conversations.
    pub talk: usize,
    pub lines: Vec<Line>,
    pub state: State,
    pub version: i32,
    pub expires: i64,
    /// Something was said later in its conversation that may be read as taking it back.
    pub doubted: bool,
    /// Which record was confirmed: the version it had.
    pub confirmed: Option<i32>,
    pub held_until: i64,
    pub allowed: bool,
    pub undone: bool,
    /// When its payments can leave, and whether they have.
    pub leaves: i64,
    pub left: bool,
}

impl Action {
    fn total(&self) -> i64 {
        self.lines.iter().map(|line| line.2).sum()
    }
}

/// One customer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Customer {
    pub balance: i64,
    /// The day and what left on it.
    pub spent: (i64, i64),
    pub frozen: bool,
    /// Grows with every change, so that a picture can be known to be the latest.
    pub changes: u64,
}

/// The whole world.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub now: i64,
    pub customers: [Customer; 2],
    pub actions: Vec<Action>,
    /// Payments that a Confirm, a Cancel or a drop used up, in that order.
    pub used: Vec<Used>,
}

/// A payment that is used up: whose, in which conversation, to whom, how much.
pub type Used = (Who, usize, &'static str, i64);

/// A card as somebody saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub action: ActionId,
    pub version: i32,
    pub changes: u64,
}

/// An act and whose session makes it.
#[derive(Clone, Debug)]
pub enum Act {
    Request {
        who: Who,
        talk: usize,
        lines: Vec<Line>,
        id: ActionId,
        /// Another message of the conversation came before it was made.
        spoken_over: bool,
        /// How many payments were used up when its message was written.
        heard_after: usize,
    },
    Confirm {
        who: Who,
        seen: Seen,
    },
    Cancel {
        who: Who,
        action: ActionId,
    },
    Undo {
        who: Who,
        action: ActionId,
    },
    Drop {
        who: Who,
        action: ActionId,
        version: i32,
        line: i16,
    },
    Freeze {
        who: Who,
    },
    Unfreeze {
        who: Who,
    },
    Allow {
        action: ActionId,
    },
    Sweep,
    Post,
    Release,
}

/// What was answered, in words the model compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Waits {
        superseded: Option<ActionId>,
    },
    AlreadyWaits(ActionId),
    No(String),
    Confirmed,
    Held,
    NotFound,
    NotOpen,
    Stale,
    Expired,
    TooLate,
    Done,
    /// Somebody else held the lock too long: nothing happened.
    Busy,
}

impl World {
    pub fn new() -> Self {
        let customer = Customer {
            balance: 120_000,
            ..Customer::default()
        };
        Self {
            now: 0,
            customers: [customer.clone(), customer],
            actions: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Another customer's and an unknown action are alike.
    pub fn find(&self, who: Who, id: ActionId) -> Option<usize> {
        self.actions
            .iter()
            .position(|action| action.id == id && action.who == who)
    }

    fn spent(&self, who: Who) -> i64 {
        let (day, cents) = self.customers[who].spent;
        if day == self.day() { cents } else { 0 }
    }

    /// Sequences begin at ten in the morning and never come near a midnight.
    pub fn day(&self) -> i64 {
        (self.now + 36_000).div_euclid(86_400)
    }

    fn is_live(&self, action: &Action) -> bool {
        action.state == State::Pending && action.expires > self.now
    }

    /// The worlds in which `act` was answered so.
    pub fn after(&self, act: &Act, answer: &Answer) -> Vec<Self> {
        if *answer == Answer::Busy {
            return vec![self.clone()];
        }
        let mut next = self.clone();
        match act {
            Act::Request { spoken_over: true, .. }
                if matches!(answer, Answer::No(code) if code == "not_grounded" || code == "no_newer_message") => true,
            Act::Request { who, talk, lines, heard_after, .. }
                if self.used[*heard_after..].iter().any(|used| lines.iter().any(|line| *used == (*who, *talk, line.1, line.2))) =>
            {
                // Used up between the message and the request: whatever else, nothing new comes of it.
                matches!(answer, Answer::AlreadyWaits(_) | Answer::No(_))
            }
            Act::Request { who, talk, lines, id, .. } => next.requests(*who, *talk, lines, *id, answer),
            Act::Confirm { who, seen } => return self.confirms(*who, seen, answer),
            Act::Cancel { who, action } => next.cancels(*who, *action, answer),
            Act::Undo { who, action } => next.undoes(*who, *action, answer),
            Act::Drop {
                who,
                action,
                version,
                line,
            } => next.drops(*who, *action, *version, *line, answer),
            Act::Freeze { who } => next.freezes(*who, answer),
            Act::Unfreeze { who } => {
                next.customers[*who].frozen = false;
                next.customers[*who].changes += 1;
                *answer == Answer::Done
            }
            Act::Allow { action } => {
                for held in next
                    .actions
                    .iter_mut()
                    .filter(|held| held.id == *action && held.state == State::Held)
                {
                    held.allowed = true;
                }
                true
            }
            Act::Sweep => {
                next.sweeps();
                true
            }
            Act::Post => {
                next.posts();
                true
            }
            Act::Release => return next.releases(),
        }
        .then_some(next)
        .into_iter()
        .collect()
    }

    fn requests(
        &mut self,
        who: Who,
        talk: usize,
        lines: &[Line],
        id: ActionId,
        answer: &Answer,
    ) -> bool {
        let open = self.actions.iter().position(|action| {
            action.who == who && action.talk == talk && action.state == State::Pending
        });
        let same = |action: &Action| {
            action
                .lines
                .iter()
                .map(|line| (line.1, line.2))
                .eq(lines.iter().map(|line| (line.1, line.2)))
        };
        if let Some(open) = open
            && self.is_live(&self.actions[open])
            && same(&self.actions[open])
        {
            return *answer == Answer::AlreadyWaits(self.actions[open].id);
        }
        let total: i64 = lines.iter().map(|line| line.2).sum();
        let waiting: i64 = self
            .actions
            .iter()
            .enumerate()
            .filter(|(place, action)| {
                Some(*place) != open
                    && action.who == who
                    && (action.state == State::Held || self.is_live(action))
            })
            .map(|(_, action)| action.total())
            .sum();
        let no = if lines.iter().any(|line| line.2 > ONE) {
            Some("limit_per_transfer")
        } else if self.spent(who) + total > DAY {
            Some("limit_per_day")
        } else if waiting + total > WAITING {
            Some("limit_pending_total")
        } else if total > self.customers[who].balance {
            Some("insufficient_funds")
        } else {
            None
        };
        if let Some(no) = no {
            return *answer == Answer::No(no.to_owned());
        }
        let superseded = open.map(|open| {
            self.actions[open].state = State::Superseded;
            self.actions[open].id
        });
        self.customers[who].changes += 1;
        self.actions.push(Action {
            id,
            who,
            talk,
            lines: lines.to_vec(),
            state: State::Pending,
            version: 1,
            expires: self.now + WAITS,
            doubted: false,
            confirmed: None,
            held_until: 0,
            allowed: false,
            undone: false,
            leaves: 0,
            left: false,
        });
        *answer == Answer::Waits { superseded }
    }

    fn confirms(&self, who: Who, seen: &Seen, answer: &Answer) -> Vec<Self> {
        let Some(place) = self.find(who, seen.action) else {
            return self.stays(*answer == Answer::NotFound);
        };
        let action = &self.actions[place];
        match action.state {
            State::Confirmed => {
                return self.stays(if action.confirmed == Some(seen.version) {
                    *answer == Answer::Confirmed
                } else {
                    *answer == Answer::NotOpen
                });
            }
            State::Held => {
                return self.stays(if action.confirmed == Some(seen.version) {
                    *answer == Answer::Held
                } else {
                    *answer == Answer::NotOpen
                });
            }
            State::Expired => return self.stays(*answer == Answer::Expired),
            State::Pending => {}
            _ => return self.stays(*answer == Answer::NotOpen),
        }
        let mut next = self.clone();
        next.customers[who].changes += 1;
        if action.expires <= self.now {
            next.actions[place].state = State::Expired;
            return (*answer == Answer::Expired)
                .then_some(next)
                .into_iter()
                .collect();
        }
        let total = action.total();
        let may = action.version == seen.version
            && !self.customers[who].frozen
            && self.spent(who) + total <= DAY
            && total <= self.customers[who].balance;
        match answer {
            Answer::Confirmed | Answer::Held if !may => Vec::new(),
            Answer::Confirmed if total <= LOOKED_AT => {
                next.uses_up(place, &action.lines);
                next.runs(place);
                next.actions[place].confirmed = Some(seen.version);
                vec![next]
            }
            Answer::Held if total > LOOKED_AT => {
                next.uses_up(place, &action.lines);
                let held = &mut next.actions[place];
                held.state = State::Held;
                held.confirmed = Some(seen.version);
                held.held_until = self.now + HELD;
                vec![next]
            }
            // The card of this very moment, and nothing against it: it must go.
            Answer::Stale => {
                self.stays(!may || action.doubted || seen.changes != self.customers[who].changes)
            }
            _ => Vec::new(),
        }
    }

    fn stays(&self, right: bool) -> Vec<Self> {
        right.then(|| self.clone()).into_iter().collect()
    }

    /// Uses up payments of an action; another request for the same ones is in doubt from now on.
    fn uses_up(&mut self, place: usize, lines: &[Line]) {
        let (id, who, talk) = (
            self.actions[place].id,
            self.actions[place].who,
            self.actions[place].talk,
        );
        for line in lines {
            self.used.push((who, talk, line.1, line.2));
            for other in self
                .actions
                .iter_mut()
                .filter(|other| other.id != id && (other.who, other.talk) == (who, talk))
            {
                other.doubted |= other
                    .lines
                    .iter()
                    .any(|each| (each.1, each.2) == (line.1, line.2));
            }
        }
    }

    /// Takes the money of a request: reserved until its time to undo is over.
    fn runs(&mut self, place: usize) {
        let (now, day) = (self.now, self.day());
        let action = &mut self.actions[place];
        let (who, total) = (action.who, action.total());
        action.state = State::Confirmed;
        action.leaves = now + UNDO;
        let spent = self.spent(who) + total;
        let customer = &mut self.customers[who];
        customer.balance -= total;
        customer.spent = (day, spent);
        customer.changes += 1;
    }

    fn cancels(&mut self, who: Who, id: ActionId, answer: &Answer) -> bool {
        let Some(place) = self.find(who, id) else {
            return *answer == Answer::NotFound;
        };
        match self.actions[place].state {
            State::Pending | State::Held => {
                self.actions[place].state = State::Cancelled;
                let lines = self.actions[place].lines.clone();
                self.uses_up(place, &lines);
                self.customers[who].changes += 1;
                *answer == Answer::Done
            }
            State::Cancelled => *answer == Answer::Done,
            _ => *answer == Answer::NotOpen,
        }
    }

    fn can_be_undone(&self, action: &Action) -> bool {
        action.state == State::Confirmed
            && !action.undone
            && !action.left
            && action.leaves > self.now
    }

    fn undoes(&mut self, who: Who, id: ActionId, answer: &Answer) -> bool {
        let Some(place) = self.find(who, id) else {
            return *answer == Answer::NotFound;
        };
        if self.actions[place].undone {
            return *answer == Answer::Done;
        }
        if !self.can_be_undone(&self.actions[place]) {
            return *answer == Answer::TooLate;
        }
        self.voids(place);
        *answer == Answer::Done
    }

    fn voids(&mut self, place: usize) {
        let (who, total) = (self.actions[place].who, self.actions[place].total());
        self.actions[place].undone = true;
        let spent = self.spent(who) - total;
        let day = self.day();
        let customer = &mut self.customers[who];
        customer.balance += total;
        customer.spent = (day, spent);
        customer.changes += 1;
    }

    fn drops(&mut self, who: Who, id: ActionId, version: i32, line: i16, answer: &Answer) -> bool {
        let Some(place) = self.find(who, id) else {
            return *answer == Answer::NotFound;
        };
        if !self.is_live(&self.actions[place]) {
            return *answer == Answer::NotOpen;
        }
        let action = &mut self.actions[place];
        if action.doubted && *answer == Answer::Stale {
            return true;
        }
        if action.version != version || !action.lines.iter().any(|each| each.0 == line) {
            return *answer == Answer::Stale;
        }
        if action.lines.len() == 1 {
            return *answer == Answer::No("invalid".to_owned());
        }
        let dropped: Vec<Line> = action.lines.extract_if(.., |each| each.0 == line).collect();
        action.version += 1;
        self.uses_up(place, &dropped);
        self.customers[who].changes += 1;
        *answer == Answer::Done
    }

    fn freezes(&mut self, who: Who, answer: &Answer) -> bool {
        if !self.customers[who].frozen {
            self.customers[who].frozen = true;
            self.customers[who].changes += 1;
            for place in 0..self.actions.len() {
                if self.actions[place].who != who {
                    continue;
                }
                if self.can_be_undone(&self.actions[place]) {
                    self.voids(place);
                } else if self.actions[place].state == State::Held {
                    self.actions[place].state = State::Cancelled;
                }
            }
        }
        *answer == Answer::Done
    }

    fn sweeps(&mut self) {
        for action in &mut self.actions {
            let over = match action.state {
                State::Pending => action.expires <= self.now,
                State::Held => action.held_until <= self.now,
                _ => false,
            };
            if over {
                action.state = State::Expired;
                self.customers[action.who].changes += 1;
            }
        }
    }

    fn posts(&mut self) {
        for action in &mut self.actions {
            if action.state == State::Confirmed
                && !action.undone
                && !action.left
                && action.leaves <= self.now
            {
                action.left = true;
                let inside: i64 = action
                    .lines
                    .iter()
                    .filter(|line| line.1 == "Ada" || line.1 == "Kabir")
                    .map(|line| line.2)
                    .sum();
                if inside > 0 {
                    self.customers[1 - action.who].balance += inside;
                    self.customers[1 - action.who].changes += 1;
                }
                self.customers[action.who].changes += 1;
            }
        }
    }

    /// What an operator allowed runs if it still can; in doubt it may be ended instead.
    fn releases(self) -> Vec<Self> {
        let due: Vec<usize> = (0..self.actions.len())
            .filter(|place| {
                self.actions[*place].state == State::Held
                    && self.actions[*place].allowed
                    && self.actions[*place].held_until > self.now
            })
            .collect();
        let mut worlds = vec![self];
        for place in due {
            let mut after = Vec::new();
            for mut world in worlds {
                let action = &world.actions[place];
                let (who, total, doubted) = (action.who, action.total(), action.doubted);
                let can = world.spent(who) + total <= DAY
                    && total <= world.customers[who].balance
                    && !world.customers[who].frozen;
                if doubted || !can {
                    let mut ended = world.clone();
                    ended.actions[place].state = State::Cancelled;
                    ended.customers[who].changes += 1;
                    after.push(ended);
                }
                if can {
                    world.runs(place);
                    after.push(world);
                }
            }
            worlds = after;
        }
        worlds
    }
}
