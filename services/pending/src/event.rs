//! What the bank's log says of a request: ids, codes and amounts in text, in canonical form. No name, no word of a customer.

use countersign_domain::{ActionId, ActionKind, ConversationId, Money};
use countersign_provenance::MessageSpan;
use countersign_receipts::{PayloadError, canonical};
use countersign_store::StoredVersion;
use serde::Serialize;
use time::{
    OffsetDateTime, UtcOffset, format_description::BorrowedFormatItem, macros::format_description,
};

use crate::values::target;

/// Version of the payloads' form.
const EVENT_VERSION: u32 = 1;

const MILLISECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

#[derive(Serialize)]
struct Superseded {
    v: u32,
    event: &'static str,
    action: String,
    at: String,
    by: String,
}

#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    payee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<String>,
}

#[derive(Serialize)]
struct Clause {
    message: i64,
    start: usize,
    end: usize,
}

#[derive(Serialize)]
struct RequestCreated {
    v: u32,
    event: &'static str,
    action: String,
    at: String,
    conversation: String,
    kind: &'static str,
    version: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    lines: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<String>,
    /// Where in the customer's words, not the words.
    clause: Clause,
    grounded_through: i64,
    rules: String,
    provenance: String,
}

fn moment(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC)
        .format(MILLISECONDS)
        .expect("the format names only parts that every moment has")
}

/// The payload of the event that another request took the place of this one.
pub(crate) fn superseded(
    action: ActionId,
    by: ActionId,
    at: OffsetDateTime,
) -> Result<Vec<u8>, PayloadError> {
    canonical(&Superseded {
        v: EVENT_VERSION,
        event: "superseded",
        action: action.to_string(),
        at: moment(at),
        by: by.to_string(),
    })
}

/// What an event about a new request is made from.
pub(crate) struct Created<'a> {
    pub(crate) action: ActionId,
    pub(crate) conversation: ConversationId,
    pub(crate) kind: ActionKind,
    pub(crate) values: &'a StoredVersion,
    pub(crate) clause: MessageSpan,
    pub(crate) grounded_through: i64,
    pub(crate) supersedes: Option<ActionId>,
    pub(crate) at: OffsetDateTime,
}

/// The payload of the event that a request was made.
pub(crate) fn created(created: &Created<'_>) -> Result<Vec<u8>, PayloadError> {
    let values = created.values;
    let line = |line: &countersign_store::StoredLine| Line {
        payee: target(line).map(countersign_provenance::Target::id_text),
        amount: line
            .amount
            .zip(values.currency)
            .map(|(amount, currency)| Money { amount, currency }.to_wire()),
    };
    canonical(&RequestCreated {
        v: EVENT_VERSION,
        event: "request_created",
        action: created.action.to_string(),
        at: moment(created.at),
        conversation: created.conversation.to_string(),
        kind: created.kind.text(),
        version: values.version,
        currency: values.currency.map(|currency| currency.code()),
        from: values.from_account.map(|id| id.to_string()),
        lines: values.lines.iter().map(line).collect(),
        card: values.card.map(|id| id.to_string()),
        order: values.order.map(|id| id.to_string()),
        transaction: values.transaction.map(|id| id.to_string()),
        frequency: values.frequency.map(|frequency| frequency.text()),
        start_date: values.start_date.map(|day| day.to_string()),
        reason: values.dispute_reason.map(|reason| reason.text()),
        field: values.profile_field.map(|field| field.text()),
        supersedes: created.supersedes.map(|id| id.to_string()),
        clause: Clause {
            message: created.clause.sequence,
            start: created.clause.span.start,
            end: created.clause.span.end,
        },
        grounded_through: created.grounded_through,
        rules: values.rules_version.clone(),
        provenance: values.provenance_version.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{blank, line};
    use countersign_domain::{Currency, MinorUnits, PayeeId};
    use countersign_provenance::{Span, Target};
    use uuid::Uuid;

    #[test]
    fn the_log_names_ids_and_amounts_in_canonical_form() {
        let mut values = blank("rules/1");
        values.currency = Some(Currency::Kwd);
        values.lines = vec![line(
            1,
            Some(Target::Payee(PayeeId::from_uuid(Uuid::from_u128(2)))),
            MinorUnits::new(1250),
        )];
        let bytes = created(&Created {
            action: ActionId::from_uuid(Uuid::from_u128(1)),
            conversation: ConversationId::from_uuid(Uuid::from_u128(3)),
            kind: ActionKind::Transfer,
            values: &values,
            clause: MessageSpan {
                sequence: 7,
                span: Span { start: 0, end: 14 },
            },
            grounded_through: 8,
            supersedes: None,
            at: OffsetDateTime::UNIX_EPOCH,
        })
        .unwrap();
        countersign_receipts::check_canonical(&bytes).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            concat!(
                r#"{"action":"act_00000000000000000000000000000001","at":"1970-01-01T00:00:00.000Z","#,
                r#""clause":{"end":14,"message":7,"start":0},"conversation":"con_00000000000000000000000000000003","#,
                r#""currency":"KWD","event":"request_created","grounded_through":8,"kind":"transfer","#,
                r#""lines":[{"amount":"1.250","payee":"pye_00000000000000000000000000000002"}],"#,
                r#""provenance":"provenance/5","rules":"rules/1","v":1,"version":1}"#
            )
        );
    }
}
