//! What ends a request, or opens one of its slots again.

use countersign_domain::MinorUnits;

use crate::{
    MessageSpan, Reason, Target,
    dialogue::Dialogue,
    moves::{Move, Said},
};

impl Dialogue {
    pub(crate) fn take_back(&mut self, said: &Said) {
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
    pub(crate) fn reopen(&mut self, payee: bool, amount: bool, at: MessageSpan) {
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
    pub(crate) fn doubt(&mut self, payees: &[Target], at: MessageSpan, certain: bool) {
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

    pub(crate) fn forbid(
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

    pub(crate) fn compute(&mut self, at: MessageSpan) {
        for payment in self.focus() {
            payment.ask.amount = None;
            payment.ask.open_because = Some(Reason::Computed);
        }
        self.refuse(at, Reason::Computed);
    }
}
