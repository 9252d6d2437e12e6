//! What is live: the requests of a conversation, changed by one move after the other.

use countersign_domain::{Currency, MinorUnits};

use crate::{
    ActAsk, Grounded, MessageSpan, PaymentAsk, Reason, Refusal, Target,
    moves::{Fragment, HowMuch, Move, Pair, Said, Strength, Terms, Who},
    slots::{set_amount, set_payee},
};

/// A payment that was asked for, live or not.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub ask: PaymentAsk,
    /// Requests of one clause belong together: a correction without a name is about them.
    group: usize,
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
    groups: usize,
    /// The message before only asked something.
    asked: bool,
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
        let says_more = said.iter().any(|said| is_clear(&said.act));
        // "How much is in there?" – "oh, nice": that is about the answer.
        let asks = !says_more
            && said
                .iter()
                .any(|said| said.act == Move::Refuse(Reason::Question));
        let after_question = std::mem::replace(&mut self.asked, asks);
        let mut doubts: Vec<(Vec<Target>, MessageSpan)> = Vec::new();
        let mut oops = false;
        for Said { act, at } in said {
            match act {
                Move::Doubt { payees, strength } if strength < Strength::Certain => {
                    if strength == Strength::Likely || !(after_question || asks) {
                        doubts.push((payees, at));
                    }
                }
                Move::Oops => {
                    oops = true;
                    if !(after_question || asks) {
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
            Move::Nothing | Move::Oops | Move::AskIt | Move::Ask { .. } | Move::TakeBack { .. } => {
            }
        }
    }

    fn refuse(&mut self, at: MessageSpan, reason: Reason) {
        self.refusals.push(Refusal { at, reason });
    }

    fn live(&mut self) -> impl Iterator<Item = &mut Payment> {
        self.payments
            .iter_mut()
            .filter(|payment| payment.ended.is_none())
    }

    /// The live requests of the newest group.
    fn focus(&mut self) -> Vec<&mut Payment> {
        let group = self.groups;
        self.live()
            .filter(|payment| payment.group == group)
            .collect()
    }

    fn end_group(&mut self, reason: Reason) {
        for payment in self.focus() {
            payment.ended = Some(reason);
        }
    }

    fn take_back(&mut self, said: &Said) {
        if matches!(said.act, Move::TakeBack { all: true, .. }) {
            for payment in self.live() {
                payment.ended = Some(Reason::TakenBack);
            }
            for act in self.acts.iter_mut().filter(|act| act.ended.is_none()) {
                act.ended = Some(Reason::TakenBack);
            }
        } else {
            self.end_group(Reason::TakenBack);
        }
        self.taken_back_at = Some(said.at);
        self.refuse(said.at, Reason::TakenBack);
    }

    /// Opens a slot of the newest request again, so that a correction can fill it.
    fn reopen(&mut self, payee: bool, amount: bool, at: MessageSpan) {
        for payment in self.focus() {
            if payee {
                payment.ask.payee = None;
                payment.ask.typed_iban = None;
                payment.ask.open_because = Some(Reason::TakenBack);
            }
            if amount {
                payment.ask.amount = None;
                payment.ask.open_because = Some(Reason::TakenBack);
            }
        }
        self.taken_back_at = Some(at);
        self.refuse(at, Reason::TakenBack);
    }

    /// Ends the payments to some payees, or all of them where none of those is to be paid. Words that only may be
    /// a doubt leave other payees' payments and other acts alone.
    fn doubt(&mut self, payees: &[Target], at: MessageSpan, certain: bool) {
        let names_one = self.payments.iter().any(|payment| {
            payment
                .ask
                .payee
                .is_some_and(|payee| payees.contains(&payee.value))
        });
        if !payees.is_empty() && (names_one || !certain) {
            return self.forbid(payees, &[], Reason::TakenBack, at);
        }
        let mut hit = false;
        for payment in self.live() {
            payment.ended = Some(Reason::TakenBack);
            hit = true;
        }
        if certain {
            for act in self.acts.iter_mut().filter(|act| act.ended.is_none()) {
                act.ended = Some(Reason::TakenBack);
                hit = true;
            }
        }
        if hit {
            self.taken_back_at = Some(at);
            self.refuse(at, Reason::TakenBack);
        }
    }

    fn forbid(
        &mut self,
        payees: &[Target],
        amounts: &[MinorUnits],
        reason: Reason,
        at: MessageSpan,
    ) {
        let mut hit = false;
        for payment in self.live() {
            let payee = payment.ask.payee.map(|payee| payee.value);
            let amount = payment.ask.amount.map(|amount| amount.value);
            let same_payee = payee.is_some_and(|payee| payees.contains(&payee));
            let same_amount = amount.is_some_and(|amount| amounts.contains(&amount));
            if same_payee || (payees.is_empty() && same_amount && reason != Reason::Negated) {
                payment.ended = Some(Reason::TakenBack);
                hit = true;
            } else if payees.is_empty() && same_amount {
                // "It's not 140": another amount may follow.
                payment.ask.amount = None;
                payment.ask.open_because = Some(Reason::Negated);
                hit = true;
            }
        }
        if hit {
            self.taken_back_at = Some(at);
        }
        self.refuse(at, reason);
    }

    fn compute(&mut self, at: MessageSpan) {
        for payment in self.focus() {
            payment.ask.amount = None;
            payment.ask.open_because = Some(Reason::Computed);
        }
        self.refuse(at, Reason::Computed);
    }

    fn act(&mut self, ask: ActAsk) {
        // The newest word about one thing stands: freezing and unfreezing, changing and ending.
        for known in self.acts.iter_mut().filter(|known| known.ended.is_none()) {
            let card = |ask: &ActAsk| ask.card.map(|card| card.value);
            let order = |ask: &ActAsk| ask.order.map(|order| order.value);
            let transaction = |ask: &ActAsk| ask.transaction.map(|found| found.value);
            let same_act = known.ask.act == ask.act && transaction(&known.ask) == transaction(&ask)
                || undoes(known.ask.act, ask.act);
            let same_target = card(&known.ask) == card(&ask) && order(&known.ask) == order(&ask)
                || undoes(known.ask.act, ask.act)
                    && (card(&known.ask).is_none() || card(&ask).is_none())
                    && (order(&known.ask).is_none() || order(&ask).is_none());
            if same_act && same_target {
                known.ended = Some(Reason::TakenBack);
            }
        }
        self.acts.push(OtherAct { ask, ended: None });
        self.taken_back_at = None;
    }

    /// Asks for the card of the newest act about a card, where there was one.
    fn card_again(&mut self, mut ask: ActAsk, at: MessageSpan) {
        let before = self.acts.iter().rev().find(|known| {
            matches!(
                known.ask.act,
                crate::Act::CardFreeze | crate::Act::CardUnfreeze
            )
        });
        match before {
            Some(before) => {
                ask.card = before.ask.card;
                self.act(ask);
            }
            None => self.refuse(at, Reason::NoRequest),
        }
    }

    fn fill_card(&mut self, fill: &ActAsk) {
        let open = self.acts.iter_mut().rev().find(|known| {
            known.ended.is_none()
                && matches!(
                    known.ask.act,
                    crate::Act::CardFreeze | crate::Act::CardUnfreeze
                )
        });
        if let Some(known) = open {
            known.ask.card = fill.card;
        }
    }

    /// The amount a "same amount" means: the newest live request's, if it has one.
    fn same_amount(&self) -> Option<(Grounded<MinorUnits>, Currency)> {
        let newest = self
            .payments
            .iter()
            .rev()
            .find(|payment| payment.ended.is_none())?;
        Some((newest.ask.amount?, newest.ask.currency))
    }

    fn build(&self, pair: &Pair, terms: &Terms, clause: MessageSpan) -> PaymentAsk {
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

    fn ask(
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
        let for_nobody = asks
            .iter()
            .any(|ask| ask.open_because == Some(Reason::NoPayee) && ask.amount.is_some());
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

    /// Whether nothing is live and the newest request has been confirmed or cancelled. What corrects it then can
    /// mean more, or instead: the customer says on the panel how much.
    fn is_done(&mut self) -> bool {
        let done = |payment: &Payment| payment.ended == Some(Reason::Consumed);
        self.payments.last().is_some_and(done) && self.live().next().is_none()
    }

    /// A correction without a pair of its own of a request that is done: a new request with its amount open.
    fn correct_done(&mut self, fragment: &Fragment, at: MessageSpan) {
        let payee = fragment.pairs.first().and_then(|pair| pair.payee.clone());
        let pair = Pair {
            payee: payee.clone(),
            amount: None,
        };
        let mut ask = self.build(&pair, &fragment.terms, at);
        if payee.is_none() {
            ask.payee = self.payments.last().and_then(|done| done.ask.payee);
        }
        ask.open_because = Some(Reason::Consumed);
        self.groups += 1;
        self.payments.push(Payment {
            ask,
            group: self.groups,
            ended: None,
        });
    }

    /// Puts requests in the place of those they correct: those to the same payees, else the newest group.
    fn replace(&mut self, mut asks: Vec<PaymentAsk>) {
        if self.is_done() {
            for ask in &mut asks {
                ask.amount = None;
                ask.open_because = Some(Reason::Consumed);
            }
        }
        let named: Vec<Target> = asks
            .iter()
            .filter_map(|ask| Some(ask.payee?.value))
            .collect();
        let group = self.groups;
        let corrects_known = self.live().any(|payment| {
            payment
                .ask
                .payee
                .is_some_and(|payee| named.contains(&payee.value))
        });
        for payment in self
            .payments
            .iter_mut()
            .filter(|payment| payment.ended.is_none())
        {
            let same = payment
                .ask
                .payee
                .is_some_and(|payee| named.contains(&payee.value));
            let corrected = if corrects_known {
                same
            } else {
                payment.group == group
            };
            if corrected {
                payment.ended = Some(Reason::TakenBack);
            }
        }
        self.groups += 1;
        let group = self.groups;
        self.payments.extend(asks.into_iter().map(|ask| Payment {
            ask,
            group,
            ended: None,
        }));
        self.taken_back_at = None;
    }

    /// "Only Alice": whoever else was to be paid is not. Whether that is all the fragment says.
    fn restrict(&mut self, fragment: &Fragment, at: MessageSpan) -> bool {
        let named: Vec<Target> = fragment
            .pairs
            .iter()
            .filter_map(|pair| match &pair.payee.as_ref()?.who {
                Who::Target(target) => Some(*target),
                _ => None,
            })
            .collect();
        if named.is_empty() || named.len() != fragment.pairs.len() {
            return false;
        }
        let is_named = |payment: &Payment| {
            payment
                .ask
                .payee
                .is_some_and(|payee| named.contains(&payee.value))
        };
        let known = self.live().any(|payment| is_named(payment));
        let complete = fragment.pairs.iter().all(|pair| pair.amount.is_some());
        if !known && !complete {
            return false;
        }
        for payment in self.live().filter(|payment| !is_named(payment)) {
            payment.ended = Some(Reason::TakenBack);
        }
        if !complete {
            return known;
        }
        let asks: Vec<PaymentAsk> = fragment
            .pairs
            .iter()
            .map(|pair| self.build(pair, &fragment.terms, at))
            .collect();
        if known {
            self.replace(asks);
        }
        known
    }

    fn fragment(&mut self, fragment: Fragment, at: MessageSpan, first_group: usize) {
        if fragment.restrict && self.restrict(&fragment, at) {
            return;
        }
        // "Wrong Bob": a correction to what stands there already says only that it is wrong.
        if fragment.repair && !fragment.is_empty() && self.is_said_again(&fragment) {
            self.open_focus(Reason::TakenBack);
            self.taken_back_at = Some(at);
            return;
        }
        let complete = !fragment.pairs.is_empty()
            && fragment
                .pairs
                .iter()
                .all(|pair| pair.payee.is_some() && pair.amount.is_some());
        let several = fragment.pairs.len() > 1;
        let focus_is_open = self.focus_is_open();
        if complete {
            let same = fragment
                .pairs
                .iter()
                .any(|pair| pair.amount.is_some_and(|a| a.much == HowMuch::Same));
            if fragment.repair {
                let asks = fragment
                    .pairs
                    .iter()
                    .map(|pair| self.build(pair, &fragment.terms, at))
                    .collect();
                self.replace(asks);
            } else if focus_is_open && !several {
                self.correct(&fragment, false, at);
            } else if fragment.can_ask || same {
                let also = fragment.also || same;
                self.ask(fragment.pairs, fragment.terms, false, also, at, first_group);
            } else {
                self.refuse(at, Reason::NoRequest);
            }
            return;
        }
        if fragment.is_empty() && fragment.terms == Terms::default() {
            self.exclude(&fragment, at);
            return;
        }
        // "and to Alice": one more, whose amount is not said.
        let one_more = fragment.also
            && !fragment.repair
            && fragment.pairs.iter().all(|pair| pair.amount.is_none());
        if one_more && !fragment.is_empty() && !focus_is_open {
            self.ask(fragment.pairs, fragment.terms, false, true, at, first_group);
            return;
        }
        if several {
            self.open_focus(Reason::AmbiguousPayee);
            return;
        }
        if fragment.repair && !fragment.is_empty() && self.is_done() {
            self.correct_done(&fragment, at);
            return;
        }
        self.correct(&fragment, fragment.repair, at);
    }

    /// Whether a fragment without a correction names nothing but what the newest request has already.
    fn is_said_again(&mut self, fragment: &Fragment) -> bool {
        let focus: Vec<(Option<Target>, Option<MinorUnits>)> = self
            .focus()
            .iter()
            .map(|payment| {
                let ask = &payment.ask;
                (
                    ask.payee.map(|payee| payee.value),
                    ask.amount.map(|amount| amount.value),
                )
            })
            .collect();
        let known = |pair: &Pair| {
            let payee = match pair.payee.as_ref().map(|mention| &mention.who) {
                None => None,
                Some(Who::Target(target)) => Some(*target),
                Some(_) => return false,
            };
            let amount = match pair.amount.map(|mention| mention.much) {
                None => None,
                Some(HowMuch::Sum(units, _)) => Some(units),
                Some(_) => return false,
            };
            focus.iter().any(|(to, much)| {
                payee.is_none_or(|payee| *to == Some(payee))
                    && amount.is_none_or(|amount| *much == Some(amount))
            })
        };
        fragment.not_payees.is_empty()
            && fragment.not_amounts.is_empty()
            && fragment.terms == Terms::default()
            && fragment.pairs.iter().all(known)
    }

    fn focus_is_open(&mut self) -> bool {
        self.focus().iter().any(|payment| {
            payment.ask.payee.is_none() && payment.ask.typed_iban.is_none()
                || payment.ask.amount.is_none()
        })
    }

    fn open_focus(&mut self, reason: Reason) {
        for payment in self.focus() {
            payment.ask.payee = None;
            payment.ask.typed_iban = None;
            payment.ask.open_because = Some(reason);
        }
    }

    /// "not Carol": such a request is live no more.
    fn exclude(&mut self, fragment: &Fragment, at: MessageSpan) {
        if !fragment.not_payees.is_empty() || !fragment.not_amounts.is_empty() {
            self.forbid(
                &fragment.not_payees,
                &fragment.not_amounts,
                Reason::Negated,
                at,
            );
        }
    }

    /// Sets parts of the request in focus.
    fn correct(&mut self, fragment: &Fragment, repair: bool, at: MessageSpan) {
        let same = self.same_amount();
        let mut excluded = fragment.not_payees.clone();
        let group = self.groups;
        // "Pay Alice, not Bob, 44": nobody was going to pay Bob, so it completes what is open.
        let hits = self.live().any(|payment| {
            payment
                .ask
                .payee
                .is_some_and(|payee| excluded.contains(&payee.value))
        });
        if !hits && self.focus_is_open() {
            excluded.clear();
        }
        let aimed = |payment: &Payment| match excluded.as_slice() {
            [] => payment.group == group,
            some => payment
                .ask
                .payee
                .is_some_and(|payee| some.contains(&payee.value)),
        };
        let mut focus: Vec<&mut Payment> = self
            .payments
            .iter_mut()
            .filter(|payment| payment.ended.is_none() && aimed(payment))
            .collect();
        let amount = fragment.pairs.first().and_then(|pair| pair.amount);
        let payee = fragment.pairs.first().and_then(|pair| pair.payee.clone());
        if focus.len() != 1 {
            // It does not say which of several requests it is about.
            for payment in &mut focus {
                if amount.is_some() {
                    payment.ask.amount = None;
                    payment.ask.open_because = Some(Reason::AmbiguousAmount);
                }
                if payee.is_some() {
                    payment.ask.payee = None;
                    payment.ask.open_because = Some(Reason::AmbiguousPayee);
                }
            }
            if focus.is_empty() && (amount.is_some() || payee.is_some()) {
                self.refuse(at, Reason::NoRequest);
            }
            return;
        }
        let payment = &mut *focus[0];
        let wrong_amount = !fragment.not_amounts.is_empty()
            && !payment
                .ask
                .amount
                .is_some_and(|amount| fragment.not_amounts.contains(&amount.value));
        if let Some(mention) = amount {
            let known = payment.ask.amount;
            let free = known.is_none() || repair;
            set_amount(&mut payment.ask, Some(mention), same);
            if wrong_amount
                || !free
                    && known.map(|known| known.value) != payment.ask.amount.map(|new| new.value)
            {
                payment.ask.amount = None;
                payment.ask.open_because = Some(Reason::AmbiguousAmount);
            }
        }
        if let Some(mention) = payee {
            let known = payment.ask.payee;
            let free = (known.is_none() && payment.ask.typed_iban.is_none()) || repair;
            set_payee(&mut payment.ask, Some(&mention));
            if !free && known.map(|known| known.value) != payment.ask.payee.map(|new| new.value) {
                payment.ask.payee = None;
                payment.ask.typed_iban = None;
                payment.ask.open_because = Some(Reason::AmbiguousPayee);
            }
        }
        let terms = &fragment.terms;
        payment.ask.from = terms.from.or(payment.ask.from);
        if terms.recurring {
            payment.ask.recurring = true;
            payment.ask.frequency = terms.frequency;
        }
        payment.ask.start = terms.start.or(payment.ask.start);
        self.taken_back_at = None;
    }
}

impl Fragment {
    /// Whether it names neither payee nor amount.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// Whether one act makes another void: of two such the newest counts.
fn undoes(one: crate::Act, other: crate::Act) -> bool {
    use crate::Act::{CardFreeze, CardUnfreeze, OrderCancel, OrderChange};
    matches!(
        (one, other),
        (CardFreeze, CardUnfreeze)
            | (CardUnfreeze, CardFreeze)
            | (OrderCancel, OrderChange)
            | (OrderChange, OrderCancel)
    )
}

/// Whether a move does something of its own, so that what else its message says is not about earlier requests.
fn is_clear(act: &Move) -> bool {
    match act {
        Move::Fragment(fragment) => !fragment.is_empty() || fragment.terms != Terms::default(),
        Move::Doubt { strength, .. } => *strength == Strength::Certain,
        Move::Nothing | Move::Refuse(_) | Move::Oops | Move::AskIt => false,
        _ => true,
    }
}
