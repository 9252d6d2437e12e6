//! Acts beside payments: which of them still stand.

use crate::{
    ActAsk, MessageSpan, Reason,
    dialogue::{Dialogue, OtherAct},
};

impl Dialogue {
    pub(crate) fn act(&mut self, ask: ActAsk) {
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
    pub(crate) fn card_again(&mut self, mut ask: ActAsk, at: MessageSpan) {
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

    pub(crate) fn fill_card(&mut self, fill: &ActAsk) {
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
