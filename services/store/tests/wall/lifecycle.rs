//! The database's own guards against the table that the rooms and the model checker share.

use countersign_domain::{ActionState, lifecycle::TransferState};

use crate::actors::{Bank, refused};

/// A trigger said that this does not follow.
const NO_EDGE: &str = "CS013";

#[tokio::test]
async fn the_guards_allow_the_edges_of_the_table_and_no_others() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.with("Ada").await?;
    let mut admin = bank.database.admin().await?;
    let id = uuid::Uuid::now_v7();
    for from in ActionState::ALL {
        for to in ActionState::ALL {
            // The superuser writes whatever row there may be; only the guard stands between two states.
            let code = refused(
                &mut admin,
                &format!(
                    "INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through, state, superseded_by)
                       VALUES ('{}', '{}', '{}', 'transfer', 'transfer', 0, '{from}', CASE WHEN '{from}' = 'superseded' THEN gen_random_uuid() END);
                     UPDATE bank.pending_action SET state = '{to}', superseded_by = CASE WHEN '{to}' = 'superseded' THEN gen_random_uuid() END
                       WHERE action_id = '{}'",
                    ada.customer, id, ada.conversation, id
                ),
            )
            .await?;
            // Where nothing changes, a state that is not final may be written again.
            let wanted = from.may_become(*to) || (from == to && !from.is_final());
            assert_eq!(
                code.as_deref(),
                (!wanted).then_some(NO_EDGE),
                "{from} to {to}"
            );
        }
    }
    for from in TransferState::ALL {
        for to in TransferState::ALL {
            let at = |state: TransferState| {
                format!(
                    "{}, {}, {}",
                    if state == TransferState::Posted {
                        "bank.bank_clock()"
                    } else {
                        "NULL"
                    },
                    if state == TransferState::Posted {
                        "bank.bank_clock()"
                    } else {
                        "NULL"
                    },
                    if state == TransferState::Voided {
                        "bank.bank_clock()"
                    } else {
                        "NULL"
                    },
                )
            };
            let code = refused(
                &mut admin,
                &format!(
                    "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name,
                         posted_at, leaving_at, voided_at)
                       SELECT customer_id, '{id}', account_id, 'payment_out', '{from}', 1, 'EUR', 'Bob', {before} FROM bank.account
                        WHERE customer_id = '{ada}' AND is_default;
                     UPDATE bank.transfer SET state = '{to}', (posted_at, leaving_at, voided_at) = ROW ({after}) WHERE transfer_id = '{id}'",
                                        from = from.text(),
                    to = to.text(),
                    before = at(from),
                    after = at(to),
                    ada = ada.customer,
                ),
            )
            .await?;
            let wanted = from.may_become(to) || (from == to && from == TransferState::Reserved);
            assert_eq!(
                code.as_deref(),
                (!wanted).then_some(NO_EDGE),
                "{} to {}",
                from.text(),
                to.text()
            );
        }
    }
    Ok(())
}
