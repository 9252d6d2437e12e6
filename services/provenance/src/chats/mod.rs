//! Generated chats, and what must hold in every one of them: more doubt never grounds more.
//!
//! A chat is made of requests, corrections, answers and talk of one language. Each is then changed in a way whose
//! effect is known: a request is denied, quoted or made to depend on something; a correction or a "no" is said at
//! the end; talk is put between; the payees change names; bytes are thrown in. A seed gives the same chats again.

mod germanic;
mod phrases;
mod romance;
mod slavic;

use std::collections::BTreeSet;

use countersign_domain::{AccountId, Currency, PayeeId};
use uuid::Uuid;

use crate::{Input, Locale, Message, OwnAccount, Payee, Span, ground};
use phrases::{NAMES, Phrases};

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// So many chats were made.
    pub chats: u64,
    /// So many conversations were grounded for them.
    pub groundings: u64,
    /// What did not hold, in words; the first hundred.
    pub violations: Vec<String>,
}

/// Makes chats and checks them. `progress` hears of each thousandth.
pub fn check(chats: u64, seed: u64, mut progress: impl FnMut(u64)) -> Report {
    const VIOLATIONS_MAX: usize = 100;
    let mut report = Report::default();
    let mut random = Random(seed);
    let languages: Vec<&Phrases> = [germanic::ALL, romance::ALL, slavic::ALL]
        .into_iter()
        .flatten()
        .collect();
    for number in 0..chats {
        let language = languages[(number % languages.len() as u64) as usize];
        let mut chat = Chat::new(&mut random, language);
        chat.check(&mut random);
        report.groundings += chat.groundings;
        let room = VIOLATIONS_MAX.saturating_sub(report.violations.len());
        report
            .violations
            .extend(chat.violations.into_iter().take(room));
        report.chats += 1;
        if report.chats % 1_000 == 0 {
            progress(report.chats);
        }
    }
    report
}

/// SplitMix64: the same numbers for the same seed on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A pair that is live: amount, currency, payee's name.
type Live = BTreeSet<String>;

struct Chat<'p> {
    phrases: &'p Phrases,
    turns: Vec<String>,
    /// The turns that are one whole request.
    requests: Vec<usize>,
    groundings: u64,
    violations: Vec<String>,
}

impl<'p> Chat<'p> {
    fn new(random: &mut Random, phrases: &'p Phrases) -> Self {
        let mut chat = Self {
            phrases,
            turns: Vec::new(),
            requests: Vec::new(),
            groundings: 0,
            violations: Vec::new(),
        };
        for turn in 0..=random.below(4) {
            let (list, request) = match random.below(8) {
                _ if turn == 0 => (phrases.asks, true),
                0..=3 => (phrases.asks, true),
                4 | 5 => (phrases.fragments, false),
                6 => (phrases.repairs, false),
                _ => (phrases.talk, false),
            };
            if request {
                chat.requests.push(turn);
            }
            let text = chat.filled(random, list);
            chat.turns.push(text);
        }
        chat
    }

    fn filled(&self, random: &mut Random, list: &[&str]) -> String {
        let pattern = *random.pick(list);
        let amount = *random.pick(self.phrases.amounts);
        let payee = *random.pick(NAMES);
        pattern.replace("{a}", amount).replace("{p}", payee)
    }

    fn live(&mut self, turns: &[String], names: &[&str]) -> Live {
        self.groundings += 1;
        let input = input(self.phrases.locale, turns, names);
        let grounding = ground(&input);
        grounding
            .payments
            .iter()
            .filter_map(|ask| {
                let payee = ask.payee?.value.id_text();
                Some(format!(
                    "{} {} {payee}",
                    ask.amount?.value.count(),
                    ask.currency
                ))
            })
            .collect()
    }

    fn fails(&mut self, what: &str, turns: &[String], live: &Live, allowed: &Live) {
        self.violations.push(format!(
            "{} {what}: {turns:?} grounds {live:?}, allowed {allowed:?}",
            self.phrases.locale
        ));
    }

    fn check(&mut self, random: &mut Random) {
        let turns = self.turns.clone();
        let plain = self.live(&turns, NAMES);

        // Doubt about one request adds nothing. A message that asks no more takes nobody's place either, so the
        // pairs of the chat without it may come back.
        let at = *random.pick(&self.requests);
        let (before, after) = *random.pick(self.phrases.doubts);
        let mut doubted = turns.clone();
        doubted[at] = format!("{before}{}{after}", turns[at].trim_end_matches('?'));
        let mut without = turns.clone();
        without[at] = self.phrases.talk[0].to_owned();
        let live = self.live(&doubted, NAMES);
        let mut allowed: Live = plain.union(&self.live(&without, NAMES)).cloned().collect();
        // Nor is it there to be completed or corrected by what follows, which then asks for itself.
        for from in at + 1..turns.len() {
            allowed.extend(self.live(&turns[from..], NAMES));
        }
        if !live.is_subset(&allowed) {
            self.fails("doubt", &doubted, &live, &allowed);
        }

        // A doubted request alone grounds nothing.
        let alone = vec![doubted[at].clone()];
        let live = self.live(&alone, NAMES);
        if !live.is_empty() {
            self.fails("doubt alone", &alone, &live, &Live::new());
        }

        // A correction grounds its own pair and no other new one.
        let repair = self.filled(random, self.phrases.repairs);
        let mut repaired = turns.clone();
        repaired.push(repair.clone());
        let live = self.live(&repaired, NAMES);
        let own = self.live(
            &[
                self.phrases.asks[0]
                    .replace("{a}", "1")
                    .replace("{p}", NAMES[0]),
                repair,
            ],
            NAMES,
        );
        let allowed: Live = plain.union(&own).cloned().collect();
        if !live.is_subset(&allowed) {
            self.fails("repair", &repaired, &live, &allowed);
        }

        // A last "no" leaves nothing.
        let mut ended = turns.clone();
        ended.push((*random.pick(self.phrases.noes)).to_owned());
        let live = self.live(&ended, NAMES);
        if !live.is_empty() {
            self.fails("last no", &ended, &live, &Live::new());
        }

        // Talk changes nothing, wherever it stands.
        let talk = (*random.pick(self.phrases.talk)).to_owned();
        let mut talked = turns.clone();
        talked.insert(random.below(turns.len() + 1), talk);
        let live = self.live(&talked, NAMES);
        if live != plain {
            self.fails("talk", &talked, &live, &plain);
        }

        // Nor do names: the payees swap theirs, and so do the messages.
        let mut names: Vec<&str> = NAMES.to_vec();
        names.rotate_left(1 + random.below(NAMES.len() - 1));
        let renamed: Vec<String> = turns.iter().map(|turn| rename(turn, &names)).collect();
        let live = self.live(&renamed, &names);
        if live != plain {
            self.fails("renaming", &renamed, &live, &plain);
        }

        // Any bytes are read without a panic, and every span lies inside its message.
        let mut wild = turns;
        wild.push(noise(random, self.phrases));
        self.groundings += 1;
        let input = input(self.phrases.locale, &wild, NAMES);
        if let Some(wrong) = span_outside(&input) {
            self.violations
                .push(format!("{} span: {wild:?}: {wrong:?}", self.phrases.locale));
        }
    }
}

/// The same words about the payees in another order.
fn rename(turn: &str, names: &[&str]) -> String {
    let mut text = turn.to_owned();
    for (number, name) in NAMES.iter().enumerate() {
        text = text.replace(name, &format!("\u{1}{number}\u{1}"));
    }
    for (number, name) in names.iter().enumerate() {
        text = text.replace(&format!("\u{1}{number}\u{1}"), name);
    }
    text
}

/// Bytes, and words of the grammar among them.
fn noise(random: &mut Random, phrases: &Phrases) -> String {
    let mut bytes = Vec::new();
    for _ in 0..random.below(12) {
        match random.below(4) {
            0 => bytes.extend(random.next().to_le_bytes()),
            1 => bytes.extend(random.pick(phrases.asks).bytes()),
            2 => bytes.extend(random.pick(phrases.doubts).0.bytes()),
            _ => bytes.extend(
                random
                    .pick(&[
                        " ", ",", "%", "\u{200b}", "e\u{301}", "GB29", "12-34-56", "\n", "1.2.3",
                        "\u{ff15}",
                    ])
                    .bytes(),
            ),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn span_outside(input: &Input) -> Option<crate::MessageSpan> {
    let grounding = ground(input);
    let spans = grounding
        .payments
        .iter()
        .flat_map(|ask| {
            [
                Some(ask.clause),
                ask.amount.map(|amount| amount.at),
                ask.payee.map(|payee| payee.at),
            ]
        })
        .flatten()
        .chain(grounding.refusals.iter().map(|refusal| refusal.at))
        .chain(grounding.acts.iter().map(|act| act.clause));
    spans.into_iter().find(|at| {
        let message = input
            .messages
            .iter()
            .find(|message| message.sequence == at.sequence);
        message.is_none_or(|message| message.text.get(at.span.start..at.span.end).is_none())
    })
}

/// A conversation whose payees bear the names in their order.
fn input(locale: &str, turns: &[String], names: &[&str]) -> Input {
    const SENT_AT: i64 = 1_796_000_000;
    let message = |(index, text): (usize, &String)| {
        let sequence = i64::try_from(index).unwrap_or(i64::MAX);
        Message {
            sequence,
            text: text.clone(),
            pasted: Vec::<Span>::new(),
            sent_at_unix_seconds: SENT_AT + sequence * 60,
        }
    };
    let payee = |(number, name): (usize, &&str)| Payee {
        id: PayeeId::from_uuid(Uuid::from_u128(number as u128 + 1)),
        name: (*name).to_owned(),
        aliases: Vec::new(),
        iban: String::new(),
    };
    Input {
        messages: turns.iter().enumerate().map(message).collect(),
        payees: names.iter().enumerate().map(payee).collect(),
        accounts: vec![OwnAccount {
            id: AccountId::from_uuid(Uuid::from_u128(1)),
            names: vec!["current".to_owned()],
            iban: String::new(),
            currency: Currency::Eur,
        }],
        cards: Vec::new(),
        orders: Vec::new(),
        transactions: Vec::new(),
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: Currency::Eur,
        locale: Locale(locale.to_owned()),
        now_unix_seconds: SENT_AT + 3_600,
        stale_after_seconds: 86_400,
        stale_after_messages: 100,
    }
}
