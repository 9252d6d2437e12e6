//! What is live: the requests of a conversation, changed by one move after the other.

use countersign_domain::{Currency, MinorUnits};

use crate::{
    ActAsk, Grounded, MessageSpan, PaymentAsk, Reason, Refusal, Target,
    moves::{Fragment, Move, Pair, Said, Strength, Terms, Who},
    reference::is_bare,
    slots::{set_amount, set_payee},
};

/// A payment that was asked for, live or not.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub ask: PaymentAsk,
    /// Requests of one clause belong together: a correction without a name is about them.
    pub group: usize,
    /// Why it is live no more.
    pub ended: Option<Reason>,
}

/// Another act that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct OtherAct {
    pub ask: ActAsk,
    pub ended: Option<Reason>,
}

/// The state of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Dialogue {
    pub payments: Vec<Payment>,
    pub acts: Vec<OtherAct>,
    pub refusals: Vec<Refusal>,
    pub taken_back_at: Option<MessageSpan>,
    pub(crate) groups: usize,
    /// The message before only asked something.
    asked: bool,
    /// The message before corrected something: "sorry" behind it is about the slip.
    corrected: bool,
    account_currency: Option<Currency>,
}

impl Dialogue {
    pub(crate) fn new(account_currency: Currency) -> Self {
        Self {
            account_currency: Some(account_currency),
            ..Self::default()
        }
    }

    /// Applies what one message said.
    pub(crate) fn message(&mut self, said: Vec<Said>) {
        // A bare "no" before values in the same message begins a correction instead of taking everything back.
        let mut cue: Option<Said> = None;
        let first_group = self.groups;
        let says_more = said.iter().any(|said| self.is_clear(&said.act));
        // "How much is in there?" – "oh, nice": that is about the answer.
        let asks = !says_more
            && said
                .iter()
                .any(|said| said.act == Move::Refuse(Reason::Question));
        let after_question = std::mem::replace(&mut self.asked, asks);
        // "rsoa" – "*rosa": in the place of somebody who is not known.
        let mistyped = self.focus().iter().any(|payment| {
            matches!(
                payment.ask.open_because,
                Some(Reason::UnknownPayee | Reason::LookAlike)
            )
        });
        let corrects = said.iter().any(|said| {
            mistyped && matches!(&said.act, Move::Fragment(_))
                || matches!(
                    &said.act,
                    Move::Fragment(Fragment { repair: true, .. })
                        | Move::Amend { .. }
                        | Move::Ask { repair: true, .. }
                )
        });
        let after_correction = std::mem::replace(&mut self.corrected, corrects);
        let mut doubts: Vec<(Vec<Target>, MessageSpan)> = Vec::new();
        let mut oops = false;
        let mut said: std::collections::VecDeque<Said> = said.into();
        while let Some(Said { act, at }) = said.pop_front() {
            match act {
                Move::Amend { amends, otherwise } => {
                    if self.is_amended_by(&amends) {
                        said.push_front(Said { act: *amends, at });
                    } else {
                        for one in otherwise.into_iter().rev() {
                            said.push_front(one);
                        }
                    }
                }
                Move::Doubt { payees, strength } if strength < Strength::Certain => {
                    let excuses = after_correction && strength == Strength::Faint;
                    if strength == Strength::Likely || !(after_question || asks || excuses) {
                        doubts.push((payees, at));
                    }
                }
                Move::Tells(named) => {
                    let mut payees = self.live().filter_map(|payment| payment.ask.payee);
                    if !payees.any(|payee| named.contains(&payee.value)) {
                        doubts.push((Vec::new(), at));
                    }
                }
                Move::Oops => {
                    oops = true;
                    // "Oh no, Lukas had paid": a slip whose correction cannot be read.
                    let unread = said.iter().any(|said| {
                        matches!(said.act, Move::Refuse(Reason::NoRequest | Reason::Report))
                    });
                    if unread || !(after_question || asks || after_correction) {
                        doubts.push((Vec::new(), at));
                    }
                }
                Move::TakeBack { .. } => {
                    if let Some(before) = cue.take() {
                        self.take_back(&before);
                    }
                    cue = Some(Said { act, at });
                }
                Move::Fragment(fragment)
                    if !fragment.is_empty()
                        && matches!(
                            cue,
                            Some(Said {
                                act: Move::TakeBack { of_what: true, .. },
                                ..
                            })
                        ) =>
                {
                    if let Some(before) = cue.take() {
                        self.take_back(&before);
                    }
                    self.refuse(at, Reason::TakenBack);
                }
                // "Wrong Bob", "no, not 20": nothing else is put in its place.
                Move::Fragment(fragment)
                    if cue.is_some() && !fragment.is_empty() && self.is_said_again(&fragment) =>
                {
                    if let Some(before) = cue.take() {
                        self.take_back(&before);
                    }
                }
                Move::Fragment(mut fragment) if cue.is_some() && !fragment.is_empty() => {
                    cue = None;
                    fragment.repair = true;
                    self.fragment(fragment, at, first_group);
                }
                Move::Compute if cue.is_some() => {
                    cue = None;
                    self.compute(at);
                }
                Move::AskIt if self.live().next().is_some() => {
                    // "Do it": what is live already.
                    if let Some(before) = cue.take() {
                        self.take_back(&before);
                    }
                }
                Move::AskIt => {
                    cue = None;
                    let bare = vec![Pair::default()];
                    self.ask(bare, Terms::default(), false, false, at, first_group);
                }
                // "200 to her, go ahead and send": what its message has asked for already.
                Move::Ask {
                    ref pairs,
                    ref terms,
                    repair: false,
                    also: false,
                } if cue.is_none()
                    && is_bare(pairs)
                    && *terms == Terms::default()
                    && self.groups > first_group
                    && !self.focus().is_empty()
                    && !self.focus_is_open() => {}
                Move::Ask {
                    pairs,
                    terms,
                    repair,
                    also,
                } => {
                    let cued = cue.take();
                    let kills = cued.is_some();
                    let corrects = repair || kills || std::mem::take(&mut oops) && !also;
                    self.ask(pairs, terms, corrects, also, at, first_group);
                }
                other => {
                    // "No, leave Bob out": the no is about Bob. "I was wrong, it's not 140": about the amount.
                    let denies_amount = matches!(
                        (&other, &cue),
                        (
                            Move::Forbid { payees, amounts, reason: Reason::Negated },
                            Some(Said { act: Move::TakeBack { of_what: false, .. }, .. })
                        ) if payees.is_empty() && !amounts.is_empty()
                    );
                    let names_it = denies_amount
                        || matches!(
                            (&other, &cue),
                            (
                                Move::Forbid { payees, .. } | Move::Doubt { payees, .. },
                                Some(Said { act: Move::TakeBack { bare_no: true, .. }, .. })
                            ) if !payees.is_empty()
                        );
                    let other = match other {
                        Move::Fragment(mut fragment) if oops && !fragment.is_empty() => {
                            oops = false;
                            fragment.repair |= !fragment.also;
                            Move::Fragment(fragment)
                        }
                        other => other,
                    };
                    if !matches!(other, Move::Nothing)
                        && let Some(before) = cue.take()
                        && !names_it
                    {
                        self.take_back(&before);
                    }
                    self.apply(other, at, first_group);
                }
            }
        }
        if let Some(before) = cue {
            self.take_back(&before);
        }
        if !says_more {
            for (payees, at) in doubts {
                self.doubt(&payees, at, false);
            }
        }
    }

    fn apply(&mut self, act: Move, at: MessageSpan, first_group: usize) {
        match act {
            Move::Fragment(fragment) => self.fragment(fragment, at, first_group),
            Move::Forbid {
                payees,
                amounts,
                reason,
            } => self.forbid(&payees, &amounts, reason, at),
            Move::Condition => {
                self.end_group(Reason::Conditional);
                self.refuse(at, Reason::Conditional);
            }
            Move::Reopen { payee, amount } => self.reopen(payee, amount, at),
            Move::Doubt { payees, .. } => self.doubt(&payees, at, true),
            Move::Compute => self.compute(at),
            Move::Recurrency(currency) => self.recurrency(currency),
            Move::Swap => self.swap(at),
            Move::Act(ask) => self.act(*ask),
            Move::CardAgain(ask) => self.card_again(*ask, at),
            Move::FillCard(fill) => self.fill_card(&fill),
            Move::ForbidAct(act) => {
                for known in self
                    .acts
                    .iter_mut()
                    .filter(|known| known.ask.act == act && known.ended.is_none())
                {
                    known.ended = Some(Reason::TakenBack);
                    self.taken_back_at = Some(at);
                }
                self.refuse(at, Reason::Negated);
            }
            Move::Refuse(reason) => self.refuse(at, reason),
            Move::Nothing
            | Move::Oops
            | Move::Tells(_)
            | Move::AskIt
            | Move::Ask { .. }
            | Move::Amend { .. }
            | Move::TakeBack { .. } => {}
        }
    }

    /// Whether a move does something of its own, so that what else its message says is not about earlier requests.
    fn is_clear(&mut self, act: &Move) -> bool {
        match act {
            // A name alone only takes it up again ("Bob gave it away, so let's drop it").
            Move::Fragment(fragment) => {
                fragment.repair
                    || fragment.pairs.iter().any(|pair| pair.amount.is_some())
                    || fragment.terms != Terms::default()
            }
            Move::Amend { amends, otherwise } => {
                self.is_amended_by(amends) || otherwise.iter().any(|said| self.is_clear(&said.act))
            }
            Move::Doubt { strength, .. } => *strength == Strength::Certain,
            Move::Nothing | Move::Refuse(_) | Move::Oops | Move::Tells(_) | Move::AskIt => false,
            _ => true,
        }
    }

    pub(crate) fn refuse(&mut self, at: MessageSpan, reason: Reason) {
        self.refusals.push(Refusal { at, reason });
    }

    pub(crate) fn live(&mut self) -> impl Iterator<Item = &mut Payment> {
        self.payments
            .iter_mut()
            .filter(|payment| payment.ended.is_none())
    }

    /// The live requests of the newest group.
    pub(crate) fn focus(&mut self) -> Vec<&mut Payment> {
        let group = self.groups;
        self.live()
            .filter(|payment| payment.group == group)
            .collect()
    }

    pub(crate) fn end_group(&mut self, reason: Reason) {
        for payment in self.focus() {
            payment.ended = Some(reason);
        }
    }

    /// The amount a "same amount" means: the newest live request's, if it has one.
    pub(crate) fn same_amount(&self) -> Option<(Grounded<MinorUnits>, Currency)> {
        let newest = self
            .payments
            .iter()
            .rev()
            .find(|payment| payment.ended.is_none())?;
        Some((newest.ask.amount?, newest.ask.currency))
    }

    pub(crate) fn build(&self, pair: &Pair, terms: &Terms, clause: MessageSpan) -> PaymentAsk {
        let mut ask = PaymentAsk {
            payee: None,
            typed_iban: None,
            amount: None,
            currency: self.account_currency.unwrap_or(Currency::Eur),
            from: terms.from,
            recurring: terms.recurring,
            frequency: terms.frequency,
            start: terms.start,
            open_because: None,
            clause,
        };
        set_amount(&mut ask, pair.amount, self.same_amount());
        set_payee(&mut ask, pair.payee.as_ref());
        ask
    }

    pub(crate) fn ask(
        &mut self,
        pairs: Vec<Pair>,
        terms: Terms,
        repair: bool,
        also: bool,
        at: MessageSpan,
        first_group: usize,
    ) {
        let asks: Vec<PaymentAsk> = pairs
            .iter()
            .map(|pair| self.build(pair, &terms, at))
            .collect();
        if repair {
            self.replace(asks);
            return;
        }
        self.groups += 1;
        let group = self.groups;
        for ask in &asks {
            for known in self
                .payments
                .iter_mut()
                .filter(|known| known.ended.is_none() && known.group != group)
            {
                let same_payee = ask.payee.is_some()
                    && known.ask.payee.map(|p| p.value) == ask.payee.map(|p| p.value);
                let same_amount = known.ask.amount.map(|a| a.value) == ask.amount.map(|a| a.value);
                // A later message about the same payee is the one that counts; so is saying the same twice.
                let unfinished = known.ask.payee.is_none() || known.ask.amount.is_none();
                if (same_payee && (same_amount || (!also && known.group <= first_group)))
                    || unfinished
                {
                    known.ended = Some(Reason::TakenBack);
                }
            }
        }
        // "Send 20 to Bob" – "Send 30": more, or instead?
        let for_nobody = pairs.iter().any(|pair| {
            // "Make it 54, transposed digits": a word that only stands there names nobody either.
            let nobody = pair.payee.as_ref().is_none_or(|payee| {
                !payee.marked && matches!(payee.who, Who::Open(Reason::UnknownPayee))
            });
            nobody && pair.amount.is_some()
        });
        if for_nobody && !also {
            for known in self.payments.iter_mut().filter(|known| {
                known.ended.is_none() && known.group + 1 == group && known.group <= first_group
            }) {
                known.ask.amount = None;
                known.ask.open_because = Some(Reason::AmbiguousAmount);
            }
        }
        self.payments.extend(asks.into_iter().map(|ask| Payment {
            ask,
            group,
            ended: None,
        }));
        self.taken_back_at = None;
    }
}

impl Fragment {
    /// Whether it names neither payee nor amount.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}
