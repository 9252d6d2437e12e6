//! One sequence: acts drawn from a seed, each done on the bank and in the model, and both compared.

use std::fmt;

use anyhow::ensure;
use countersign_domain::{ActionId, ActionState, lifecycle::TransferState};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    model::{Act, Answer, Line, Who, World},
    world::{Bank, Pair, Ready, Shown, picture},
};

/// Steps of a sequence, at least and at most.
const STEPS: (u64, u64) = (6, 14);
/// Cards that are remembered, to be pressed when they are old.
const CARDS_KEPT: usize = 6;
/// Amounts in cents: some below every limit, some that together pass one, some that an operator looks at.
const AMOUNTS: [i64; 7] = [2_000, 3_050, 4_500, 25_000, 40_000, 52_000, 70_000];
/// How long time can pass at once: a moment, past the time to undo, past a card's, past a day, past a hold.
const WAITS: [i64; 5] = [3, 12, 650, 90_000, 350_000];

/// Numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn one_in(&mut self, most: u64) -> bool {
        self.below(most) == 0
    }

    fn of<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() {
            return None;
        }
        let place = usize::try_from(self.below(from.len() as u64)).unwrap_or_default();
        from.get(place)
    }

    /// An id of the form the bank's callers make; which one it is decides nothing.
    fn id(&mut self) -> ActionId {
        ActionId::from_uuid(Uuid::from_u64_pair(
            self.next() & !0xf000 | 0x7000,
            self.next() >> 2 | 1 << 63,
        ))
    }
}

/// What was done in all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally([u64; 12]);

const NAMES: [&str; 12] = [
    "waits",
    "superseding",
    "already waits",
    "request refused",
    "confirmed",
    "held",
    "not this one",
    "stale",
    "too late",
    "steps",
    "pairs",
    "busy",
];

impl Tally {
    fn count(&mut self, act: &Act, answer: &Answer) {
        let place = match (act, answer) {
            (_, Answer::Busy) => 11,
            (_, Answer::Waits { superseded: None }) => 0,
            (
                _,
                Answer::Waits {
                    superseded: Some(_),
                },
            ) => 1,
            (_, Answer::AlreadyWaits(_)) => 2,
            (Act::Request { .. }, Answer::No(_)) => 3,
            (_, Answer::Confirmed) => 4,
            (_, Answer::Held) => 5,
            (_, Answer::NotFound) => 6,
            (_, Answer::Stale | Answer::NotOpen) => 7,
            (_, Answer::TooLate | Answer::Expired) => 8,
            _ => return,
        };
        self.0[place] += 1;
    }

    pub fn steps(&self) -> u64 {
        self.0[9]
    }

    pub fn pairs(&self) -> u64 {
        self.0[10]
    }

    pub fn add(&mut self, other: Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = NAMES
            .iter()
            .zip(self.0)
            .filter(|(name, _)| !["steps", "pairs"].contains(name))
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        f.write_str(&shown.join(", "))
    }
}

/// One running sequence.
struct Play<'b> {
    bank: &'b Bank,
    pair: Pair,
    dice: Dice,
    world: World,
    cards: Vec<(Who, Shown)>,
    told: Vec<String>,
}

/// Plays the sequence of a seed and lets everything come to rest at its end.
pub async fn sequence(bank: &mut Bank, seed: u64, tally: &mut Tally) -> anyhow::Result<()> {
    let pair = bank.pair().await?;
    let mut dice = Dice(seed);
    let steps = STEPS.0 + dice.below(STEPS.1 - STEPS.0 + 1);
    let mut play = Play {
        bank,
        pair,
        dice,
        world: World::new(),
        cards: Vec::new(),
        told: Vec::new(),
    };
    for _ in 0..steps {
        play.step(tally)
            .await
            .map_err(|error| play.failed(seed, &error))?;
    }
    play.rests(tally)
        .await
        .map_err(|error| play.failed(seed, &error))
}

impl Play<'_> {
    fn failed(&self, seed: u64, error: &anyhow::Error) -> anyhow::Error {
        anyhow::anyhow!(
            "seed {seed}: {error:#}\nsteps:\n  {}",
            self.told.join("\n  ")
        )
    }

    async fn step(&mut self, tally: &mut Tally) -> anyhow::Result<()> {
        tally.0[9] += 1;
        let seconds = if self.dice.one_in(5) {
            *self.dice.of(&WAITS).unwrap_or(&1)
        } else {
            1
        };
        self.waits(seconds).await?;
        let first = self.draws().await?;
        if !self.dice.one_in(3) {
            let answer = self.bank.does(&self.pair, &first.0, &first.1).await?;
            self.told.push(format!("{:?} -> {answer:?}", first.0));
            tally.count(&first.0, &answer);
            let worlds = self.world.after(&first.0, &answer);
            return self.compares(worlds).await;
        }
        // Two at once, on connections of their own: the same as one after the other, in one of the two orders.
        tally.0[10] += 1;
        let mut first = first;
        let mut second = self.partner(&first.0).await?;
        speak_over(&mut first.0, &mut second.0);
        let (bank, pair) = (self.bank, &self.pair);
        let (one, other) = tokio::join!(
            bank.does(pair, &first.0, &first.1),
            bank.does(pair, &second.0, &second.1)
        );
        let (one, other) = (one?, other?);
        self.told.push(format!(
            "at once: {:?} -> {one:?}\n      and: {:?} -> {other:?}",
            first.0, second.0
        ));
        tally.count(&first.0, &one);
        tally.count(&second.0, &other);
        let in_order = |a: (&Act, &Answer), b: (&Act, &Answer)| -> Vec<World> {
            self.world
                .after(a.0, a.1)
                .iter()
                .flat_map(|world| world.after(b.0, b.1))
                .collect()
        };
        let mut worlds = in_order((&first.0, &one), (&second.0, &other));
        worlds.extend(in_order((&second.0, &other), (&first.0, &one)));
        self.compares(worlds).await
    }

    async fn waits(&mut self, seconds: i64) -> anyhow::Result<()> {
        self.bank.wait(seconds).await?;
        self.world.now += seconds;
        if seconds > 1 {
            self.told.push(format!("{seconds} seconds pass"));
        }
        Ok(())
    }

    /// The one of the model's worlds that the database shows, with every invariant holding.
    async fn compares(&mut self, worlds: Vec<World>) -> anyhow::Result<()> {
        let found = self.bank.look(&self.pair).await?;
        ensure!(
            found["wrong"].as_array().is_some_and(Vec::is_empty),
            "the database breaks: {}",
            found["wrong"]
        );
        for edge in found["edges"].as_array().into_iter().flatten() {
            ensure!(is_an_edge(edge), "I9 a state moved along no edge: {edge}");
        }
        ensure!(
            !worlds.is_empty(),
            "the model has no world in which that is answered; there is {found}"
        );
        let mut wanted = Value::Null;
        for world in worlds {
            wanted = picture(&world, &self.pair);
            if ["balances", "spent", "frozen", "actions"]
                .iter()
                .all(|part| wanted[part] == found[part])
            {
                self.world = world;
                return Ok(());
            }
        }
        anyhow::bail!("the database shows\n    {found}\n  and the model, for one,\n    {wanted}")
    }

    /// The next act, with what it needs.
    async fn draws(&mut self) -> anyhow::Result<(Act, Ready)> {
        let who = usize::from(self.dice.one_in(4));
        let own: Vec<ActionId> = self
            .world
            .actions
            .iter()
            .filter(|action| action.who == who)
            .map(|action| action.id)
            .collect();
        let kind = if own.is_empty() {
            0
        } else {
            self.dice.below(24)
        };
        let any = self.some_action();
        Ok(match (kind, any) {
            (0..=6, _) | (_, None) => return self.asks(who).await,
            (7..=12, _) => return self.presses(who).await,
            (13, _) => match self.dice.of(&self.cards).cloned() {
                // An old picture, perhaps of what is over since.
                Some((owner, shown)) => press(owner, shown),
                None => return self.presses(who).await,
            },
            (14 | 15, Some(action)) => (Act::Cancel { who, action }, Ready::Nothing),
            (16 | 17, Some(action)) => (Act::Undo { who, action }, Ready::Nothing),
            (18, Some(action)) => {
                let known = self.world.actions.iter().find(|each| each.id == action);
                let (version, line) = known.map_or((1, 1), |each| {
                    (each.version, each.lines.first().map_or(1, |line| line.0))
                });
                (
                    Act::Drop {
                        who,
                        action,
                        version,
                        line: line + i16::from(self.dice.one_in(3)),
                    },
                    Ready::Nothing,
                )
            }
            (19, _) if self.world.customers[who].frozen => {
                let session = self.bank.signs_in(&self.pair, who).await?;
                (Act::Unfreeze { who }, Ready::Session(session))
            }
            (19, _) if self.dice.one_in(2) => (Act::Freeze { who }, Ready::Nothing),
            (20, Some(action)) => (Act::Allow { action }, Ready::Nothing),
            (21, _) => (Act::Sweep, Ready::Nothing),
            (22, _) => (Act::Release, Ready::Nothing),
            _ => (Act::Post, Ready::Nothing),
        })
    }

    /// An action of the two, mostly one of the last.
    fn some_action(&mut self) -> Option<ActionId> {
        let ids: Vec<ActionId> = self.world.actions.iter().map(|action| action.id).collect();
        let recent = &ids[ids.len().saturating_sub(2)..];
        if self.dice.one_in(3) {
            self.dice.of(&ids).copied()
        } else {
            self.dice.of(recent).copied()
        }
    }

    /// What meets an act at the same moment: the same again, what would end it, or a loop.
    async fn partner(&mut self, act: &Act) -> anyhow::Result<(Act, Ready)> {
        let about = match act {
            Act::Confirm { who, seen } => Some((*who, seen.action)),
            Act::Cancel { who, action }
            | Act::Undo { who, action }
            | Act::Drop { who, action, .. } => Some((*who, *action)),
            Act::Allow { action } => Some((0, *action)),
            _ => self.some_action().map(|action| (0, action)),
        };
        let Some((who, action)) = about else {
            return self.draws().await;
        };
        Ok(match self.dice.below(9) {
            0 => (Act::Cancel { who, action }, Ready::Nothing),
            1 => (Act::Undo { who, action }, Ready::Nothing),
            2 => (Act::Freeze { who }, Ready::Nothing),
            3 => (Act::Sweep, Ready::Nothing),
            4 => (Act::Post, Ready::Nothing),
            5 => (Act::Release, Ready::Nothing),
            6 if matches!(act, Act::Confirm { .. }) => match self.cards.last().cloned() {
                Some((owner, shown)) => press(owner, shown),
                None => return self.draws().await,
            },
            7 => return self.presses(who).await,
            _ => return self.draws().await,
        })
    }

    /// Shows a card and presses it; where it has no button, the model must know why.
    async fn presses(&mut self, who: Who) -> anyhow::Result<(Act, Ready)> {
        let open: Vec<ActionId> = self
            .world
            .actions
            .iter()
            .filter(|action| action.who == who && matches!(action.state, ActionState::Pending))
            .map(|action| action.id)
            .collect();
        let Some(action) = self.dice.of(&open).copied().or_else(|| self.some_action()) else {
            return self.asks(who).await;
        };
        let owner = self.world.find(who, action).map_or(1 - who, |_| who);
        // Now and then somebody else tries the owner's card.
        let changes = self.world.customers[owner].changes;
        match self.bank.shows(&self.pair, owner, action, changes).await? {
            Some(shown) => {
                self.cards.push((owner, shown.clone()));
                if self.cards.len() > CARDS_KEPT {
                    self.cards.remove(0);
                }
                let presser = if self.dice.one_in(8) {
                    1 - owner
                } else {
                    owner
                };
                if presser != owner {
                    // Somebody else's passkey is not on this record.
                    let mut shown = shown;
                    shown.input.assertion = None;
                    return Ok(press(presser, shown));
                }
                Ok(press(owner, shown))
            }
            None => {
                let no_button = self.world.after(
                    &Act::Confirm {
                        who: owner,
                        seen: crate::model::Seen {
                            action,
                            version: self.version_of(action),
                            changes,
                        },
                    },
                    &Answer::Confirmed,
                );
                let doubted = self
                    .world
                    .actions
                    .iter()
                    .any(|each| each.id == action && each.doubted);
                let was_open = self
                    .world
                    .actions
                    .iter()
                    .any(|each| each.id == action && each.state == ActionState::Pending);
                ensure!(
                    no_button.is_empty() || doubted || !was_open,
                    "a card has no button, and nothing stands against it"
                );
                Ok((Act::Cancel { who: owner, action }, Ready::Nothing))
            }
        }
    }

    fn version_of(&self, action: ActionId) -> i32 {
        self.world
            .actions
            .iter()
            .find(|each| each.id == action)
            .map_or(1, |each| each.version)
    }

    /// A message and the request it grounds.
    async fn asks(&mut self, who: Who) -> anyhow::Result<(Act, Ready)> {
        let talk = usize::from(self.dice.one_in(3));
        let peer = if who == 0 { "Kabir" } else { "Ada" };
        let names = ["Bob", "Carol", peer];
        let count = if self.dice.one_in(4) { 2 } else { 1 };
        let first = usize::try_from(self.dice.below(3))?;
        let mut lines: Vec<Line> = Vec::new();
        for number in 0..count {
            let amount = *self.dice.of(&AMOUNTS).unwrap_or(&2_000);
            // Not above a payment's own limit all the time.
            let amount = if amount == 70_000 && !self.dice.one_in(3) {
                2_000
            } else {
                amount
            };
            lines.push((
                i16::try_from(number + 1)?,
                names[(first + number) % 3],
                amount,
            ));
        }
        let payments: Vec<String> = lines
            .iter()
            .map(|line| format!("{} to {}", amount(line.2), line.1))
            .collect();
        let stands: Vec<usize> = (0..self.world.actions.len())
            .filter(|place| {
                let action = &self.world.actions[*place];
                action.who == who
                    && action.talk == talk
                    && matches!(action.state, ActionState::Pending | ActionState::Held)
            })
            .collect();
        let begins = if stands.is_empty() || self.dice.one_in(2) {
            "Send"
        } else {
            "Also send"
        };
        let text = format!("{begins} {}", payments.join(" and "));
        for place in stands {
            self.world.actions[place].doubted = true;
        }
        let secret = self.bank.hears(&self.pair, who, talk, &text).await?;
        self.told.push(format!(
            "{} says in {talk}: {text}",
            if who == 0 { "Ada" } else { "Kabir" }
        ));
        let id = self.dice.id();
        Ok((
            Act::Request {
                who,
                talk,
                lines,
                id,
                spoken_over: false,
                heard_after: self.world.used.len(),
            },
            Ready::Turn(secret),
        ))
    }

    /// At the end nothing waits for ever: time passes, the loops take their turns, and nothing is left on its way.
    async fn rests(&mut self, tally: &mut Tally) -> anyhow::Result<()> {
        for (seconds, act) in [
            (20, Act::Release),
            (20, Act::Post),
            (400_000, Act::Sweep),
            (1, Act::Post),
        ] {
            self.waits(seconds).await?;
            let answer = self.bank.does(&self.pair, &act, &Ready::Nothing).await?;
            tally.count(&act, &answer);
            let worlds = self.world.after(&act, &answer);
            // Only a release can end in two ways.
            if matches!(act, Act::Release) || seconds == 1 {
                self.compares(worlds).await?;
            } else {
                self.world = worlds.into_iter().next().unwrap_or_else(World::new);
            }
        }
        let left = self.world.actions.iter().find(|action| {
            matches!(action.state, ActionState::Pending | ActionState::Held)
                || (action.state == ActionState::Confirmed && !action.undone && !action.left)
        });
        ensure!(left.is_none(), "something waits for ever: {left:?}");
        Ok(())
    }
}

/// Marks two requests of one conversation: both messages were there before either was made.
fn speak_over(one: &mut Act, other: &mut Act) {
    if let (
        Act::Request {
            who,
            talk,
            spoken_over,
            ..
        },
        Act::Request {
            who: other_who,
            talk: other_talk,
            spoken_over: other_spoken_over,
            ..
        },
    ) = (one, other)
        && (*who, *talk) == (*other_who, *other_talk)
    {
        (*spoken_over, *other_spoken_over) = (true, true);
    }
}

fn press(who: Who, shown: Shown) -> (Act, Ready) {
    (
        Act::Confirm {
            who,
            seen: shown.seen,
        },
        Ready::Card(Box::new(shown.input)),
    )
}

fn amount(cents: i64) -> String {
    if cents % 100 == 0 {
        format!("{}", cents / 100)
    } else {
        format!("{}.{:02}", cents / 100, cents % 100)
    }
}

/// Whether a state may follow another. A row begins where the table says that it begins.
fn is_an_edge(edge: &Value) -> bool {
    let (what, old, new) = (
        edge[0].as_str().unwrap_or_default(),
        edge[1].as_str(),
        edge[2].as_str().unwrap_or_default(),
    );
    match (what, old) {
        ("action", None) => new == "pending",
        ("action", Some(old)) => {
            old == new
                || matches!((old.parse::<ActionState>(), new.parse()), (Ok(old), Ok(new)) if old.may_become(new))
        }
        // The credit of a payee inside the bank is posted from the start.
        ("transfer", None) => new == "reserved" || new == "posted",
        ("transfer", Some(old)) => {
            let state = |text| {
                TransferState::ALL
                    .into_iter()
                    .find(|state| state.text() == text)
            };
            old == new
                || matches!((state(old), state(new)), (Some(old), Some(new)) if old.may_become(new))
        }
        _ => false,
    }
}
