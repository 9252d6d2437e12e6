//! A history that holds, and what somebody planted in it or in the ledger.

use super::*;
use crate::{Answer, Seen, export::Leg, export::Receipt};

const ADA: &str = "cus_ada";
const KABIR: &str = "cus_kabir";

fn call(
    client: usize,
    customer: &str,
    (start, end): (i64, i64),
    what: What,
    answer: Option<Answer>,
) -> Call {
    Call {
        client,
        customer: customer.to_owned(),
        start,
        end,
        what,
        answer,
    }
}

fn confirm(action: &str) -> What {
    What::Confirm {
        action: action.to_owned(),
        confirm_hash: "aa".to_owned(),
    }
}

fn ok(balance: i64) -> Option<Answer> {
    Some(Answer {
        status: 200,
        outcome: Some("confirmed".to_owned()),
        short_code: Some("1234-5678".to_owned()),
        balance: Some(balance),
        cards: Vec::new(),
    })
}

fn status(status: u16) -> Option<Answer> {
    Some(Answer {
        status,
        outcome: None,
        short_code: None,
        balance: None,
        cards: Vec::new(),
    })
}

fn cards(state: &str) -> Option<Answer> {
    let seen = Seen {
        action: "act_one".to_owned(),
        state: state.to_owned(),
        undone: false,
    };
    Some(Answer {
        cards: vec![seen],
        ..status(200)?
    })
}

fn leg(transfer: &str, account: Option<&str>, amount: i64, at: i64) -> Leg {
    Leg {
        customer: ADA.to_owned(),
        transfer: transfer.to_owned(),
        account: account.map(str::to_owned),
        amount,
        at,
    }
}

fn receipt(action: &str, transfer: &str, amount: i64, at: i64) -> Receipt {
    Receipt {
        customer: ADA.to_owned(),
        action: action.to_owned(),
        confirm_hash: "aa".to_owned(),
        at,
        lines: vec![(transfer.to_owned(), amount)],
    }
}

/// Ada pays 20 once with two presses, 30 whose answer is lost, and undoes it.
fn good() -> (Vec<Call>, Ledger) {
    let history = vec![
        call(0, ADA, (1_000, 1_020), What::Look, cards("pending")),
        call(0, ADA, (1_100, 1_150), confirm("act_one"), ok(8_000)),
        call(1, ADA, (1_110, 1_180), confirm("act_one"), ok(8_000)),
        call(1, ADA, (1_300, 1_320), What::Look, cards("confirmed")),
        call(0, ADA, (2_000, 2_050), confirm("act_two"), None),
        call(
            0,
            ADA,
            (3_000, 3_050),
            What::Undo {
                action: "act_two".to_owned(),
            },
            status(200),
        ),
        call(2, KABIR, (3_100, 3_150), confirm("act_one"), status(404)),
    ];
    let mut ledger = Ledger {
        receipts: vec![
            receipt("act_one", "trf_1", 2_000, 1_130),
            receipt("act_two", "trf_2", 3_000, 2_030),
        ],
        undone: vec![("act_two".to_owned(), 3_020)],
        legs: vec![
            leg("trf_0", Some("acc_ada"), 10_000, 0),
            leg("trf_0", None, -10_000, 0),
            leg("trf_1", Some("acc_ada"), -2_000, 1_130),
            leg("trf_1", None, 2_000, 1_130),
            leg("trf_2", Some("acc_ada"), -3_000, 2_030),
            leg("trf_2", None, 3_000, 2_030),
            leg("trf_2", None, -3_000, 3_020),
            leg("trf_2", Some("acc_ada"), 3_000, 3_020),
        ],
        ..Ledger::default()
    };
    for action in ["act_one", "act_two"] {
        ledger.owners.insert(action.to_owned(), ADA.to_owned());
        ledger
            .accounts
            .insert(action.to_owned(), "acc_ada".to_owned());
    }
    ledger.transfers.insert(
        "trf_1".to_owned(),
        ("posted".to_owned(), Some("act_one".to_owned())),
    );
    ledger.transfers.insert(
        "trf_2".to_owned(),
        ("voided".to_owned(), Some("act_two".to_owned())),
    );
    (history, ledger)
}

#[test]
fn an_honest_history_is_accepted() {
    let (history, ledger) = good();
    assert_eq!(judge(&history, &ledger), Vec::<String>::new());
}

type Change = fn(&mut Vec<Call>, &mut Ledger);

#[test]
fn each_planted_lie_is_found() {
    let changes: [(&str, Change); 16] = [
        ("an acknowledged Confirm that is lost", |_, ledger| {
            ledger.receipts.remove(0);
            ledger.transfers.remove("trf_1");
            ledger.legs.retain(|leg| leg.transfer != "trf_1");
        }),
        ("run twice", |_, ledger| {
            ledger
                .receipts
                .push(receipt("act_one", "trf_3", 2_000, 1_140))
        }),
        ("double entries", |_, ledger| {
            ledger.legs.extend([
                leg("trf_1", Some("acc_ada"), -2_000, 1_130),
                leg("trf_1", None, 2_000, 1_130),
            ])
        }),
        ("another amount", |_, ledger| {
            ledger.receipts[0].lines[0].1 = 2_001
        }),
        ("one leg", |_, ledger| drop(ledger.legs.pop())),
        ("run without a press", |history, _| {
            history.retain(|call| call.what != confirm("act_two"))
        }),
        ("run by a press that was refused", |history, _| {
            history[4].answer = status(409)
        }),
        ("run after the answer", |_, ledger| {
            ledger.receipts[0].at = 1_400
        }),
        ("another H", |history, _| {
            history[1].what = What::Confirm {
                action: "act_one".to_owned(),
                confirm_hash: "bb".to_owned(),
            }
        }),
        ("two receipts in two answers", |history, _| {
            if let Some(answer) = &mut history[2].answer {
                answer.short_code = Some("9999-9999".to_owned());
            }
        }),
        ("a balance that never was", |history, _| {
            history[1].answer = ok(7_999)
        }),
        ("undone without being asked", |history, _| {
            drop(history.remove(5))
        }),
        ("an undo that never happened", |_, ledger| {
            ledger.undone.clear();
            ledger.legs.truncate(6);
            ledger.transfers.insert(
                "trf_2".to_owned(),
                ("posted".to_owned(), Some("act_two".to_owned())),
            );
        }),
        ("open again after it was told to be done", |history, _| {
            history[3].answer = cards("pending")
        }),
        ("shown to somebody else", |history, _| {
            history[3].customer = KABIR.to_owned()
        }),
        ("an order nobody has a receipt of", |_, ledger| {
            ledger.transfers.insert(
                "trf_9".to_owned(),
                ("posted".to_owned(), Some("act_one".to_owned())),
            );
        }),
    ];
    for (what, change) in changes {
        let (mut history, mut ledger) = good();
        change(&mut history, &mut ledger);
        assert!(
            !judge(&history, &ledger).is_empty(),
            "{what} is not noticed"
        );
    }
}

#[test]
fn the_times_of_an_export_are_read_as_the_calendar_says() {
    for (text, wanted) in [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2000-02-29T12:34:56.789Z", 951_827_696_789),
        ("2026-11-30T10:00:00.000Z", 1_796_032_800_000),
    ] {
        assert_eq!(
            crate::export::milliseconds(text).ok(),
            Some(wanted),
            "{text}"
        );
    }
}
