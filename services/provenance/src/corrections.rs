//! Corrections: what values without a verb do to the requests before them.

use countersign_domain::{Currency, MinorUnits};

use crate::{
    MessageSpan, PaymentAsk, Reason, Target,
    dialogue::{Dialogue, Payment},
    moves::{Fragment, HowMuch, Move, Pair, PayeeMention, Said, Terms, Who},
    slots::{set_amount, set_payee},
};

impl Dialogue {
    /// Whether nothing is live and the newest request has been confirmed or cancelled. What corrects it then can
    /// mean more, or instead: the customer says on the panel how much.
    pub(crate) fn is_done(&mut self) -> bool {
        let done = |payment: &Payment| payment.ended == Some(Reason::Consumed);
        self.payments.last().is_some_and(done) && self.live().next().is_none()
    }

    /// A correction without a pair of its own of a request that is done: a new request with its amount open.
    pub(crate) fn correct_done(&mut self, fragment: &Fragment, at: MessageSpan) {
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
    pub(crate) fn replace(&mut self, mut asks: Vec<PaymentAsk>) {
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
    pub(crate) fn restrict(&mut self, fragment: &Fragment, at: MessageSpan) -> bool {
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

    pub(crate) fn fragment(&mut self, fragment: Fragment, at: MessageSpan, first_group: usize) {
        if fragment.only_fills && !self.focus_is_open() {
            return self.refuse(at, Reason::NoRequest);
        }
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
            } else if focus_is_open && !several && !fragment.also {
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

    /// Whether something is live that a correction can be about: to those it names, or the newest where it names
    /// nobody or says who was meant instead.
    pub(crate) fn is_amended_by(&mut self, amends: &Move) -> bool {
        let fragment = match amends {
            Move::Fragment(fragment) => fragment,
            _ => return self.live().next().is_some(),
        };
        let mut named = fragment.pairs.iter().filter_map(|pair| pair.payee.as_ref());
        let live: Vec<Target> = self
            .live()
            .filter_map(|payment| Some(payment.ask.payee?.value))
            .collect();
        let known = |mention: &PayeeMention| matches!(mention.who, Who::Target(target) if live.contains(&target));
        if fragment.pairs.iter().all(|pair| pair.payee.is_none()) {
            return self.live().next().is_some();
        }
        let one_payee_alone = fragment.pairs.iter().all(|pair| pair.amount.is_none());
        named.all(known) || one_payee_alone && self.live().next().is_some()
    }

    /// Whether a fragment without a correction names nothing but what the newest request has already.
    pub(crate) fn is_said_again(&mut self, fragment: &Fragment) -> bool {
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

    pub(crate) fn focus_is_open(&mut self) -> bool {
        self.focus().iter().any(|payment| {
            payment.ask.payee.is_none() && payment.ask.typed_iban.is_none()
                || payment.ask.amount.is_none()
        })
    }

    pub(crate) fn open_focus(&mut self, reason: Reason) {
        for payment in self.focus() {
            payment.ask.payee = None;
            payment.ask.typed_iban = None;
            payment.ask.open_because = Some(reason);
        }
    }

    /// "not Carol": such a request is live no more.
    pub(crate) fn exclude(&mut self, fragment: &Fragment, at: MessageSpan) {
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
    pub(crate) fn correct(&mut self, fragment: &Fragment, repair: bool, at: MessageSpan) {
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

    /// Puts the amounts of the newest requests in another currency.
    pub(crate) fn recurrency(&mut self, currency: Currency) {
        let scale = |exponent: u32| 10_i64.checked_pow(exponent);
        for payment in self.focus() {
            let Some(amount) = &mut payment.ask.amount else {
                continue;
            };
            let whole = scale(payment.ask.currency.exponent())
                .filter(|one| amount.value.count() % one == 0)
                .map(|one| amount.value.count() / one);
            let units = if payment.ask.currency.exponent() == currency.exponent() {
                Some(amount.value)
            } else {
                whole
                    .zip(scale(currency.exponent()))
                    .and_then(|(whole, one)| whole.checked_mul(one))
                    .and_then(MinorUnits::new)
            };
            match units {
                Some(units) => {
                    amount.value = units;
                    payment.ask.currency = currency;
                }
                None => {
                    payment.ask.amount = None;
                    payment.ask.open_because = Some(Reason::AmbiguousAmount);
                }
            }
        }
    }

    /// Exchanges the amounts of the two newest requests; where there are not two, nobody knows what is meant.
    pub(crate) fn swap(&mut self, at: MessageSpan) {
        let mut focus = self.focus();
        if let [one, other] = focus.as_mut_slice()
            && one.ask.amount.is_some()
            && other.ask.amount.is_some()
        {
            std::mem::swap(&mut one.ask.amount, &mut other.ask.amount);
            std::mem::swap(&mut one.ask.currency, &mut other.ask.currency);
            return;
        }
        let act = Move::TakeBack {
            all: true,
            of_what: false,
            bare_no: false,
        };
        self.take_back(&Said { act, at });
    }
}
