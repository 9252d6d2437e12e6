//! A ledger's export that holds, and everything that can be done to one.

use countersign_receipts::{Checkpoint, Hash, LogSigner, MemoryTree, leaf_hash};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::run::{Folder, signer_named};

const ADA: &str = "cus_ada";
const KABIR: &str = "cus_kabir";

/// An export in the making: its events, and the lines of its ledger.
#[derive(Clone)]
struct Export {
    events: Vec<(&'static str, Value)>,
    ledger: Vec<Value>,
}

fn confirmed(action: &str, lines: Value) -> Value {
    json!({"event": "confirmed", "customer": ADA, "action": action, "action_version": 1, "kind": "transfer", "at": "2026-11-30T10:00:00.000Z",
        "confirm_hash": "00", "executed_hash": "00", "currency": "EUR", "from": "acc_ada", "lines": lines})
}

fn asked(action: &str) -> (&'static str, Value) {
    let at = "2026-11-30T09:59:00.000Z";
    (
        ADA,
        json!({"event": "request_created", "action": action, "at": at}),
    )
}

fn line(transfer: &str, amount: &str, account: &str) -> Value {
    json!({"transfer": transfer, "payee_account": account, "payee_name": "Bob", "amount": amount})
}

fn transfer(
    id: &str,
    kind: &str,
    state: &str,
    amount: &str,
    counterparty: &str,
    action: Option<&str>,
) -> Value {
    json!({"is": "transfer", "customer": ADA, "transfer": id, "account": "acc_ada", "kind": kind, "state": state, "amount": amount, "currency": "EUR",
        "counterparty": counterparty, "action": action, "line": action.map(|_| 1), "origin": null, "made": "2026-11-30T10:00:00.000Z"})
}

fn entry(transfer: &str, leg: i64, book: &str, amount: &str) -> Value {
    let account = (book == "account").then_some("acc_ada");
    json!({"is": "entry", "customer": ADA, "transfer": transfer, "leg": leg, "book": book, "account": account, "amount": amount, "currency": "EUR"})
}

impl Export {
    /// One posted outside, one undone, one credited inside the bank, one that waits, an opening and an old payment.
    fn good() -> Self {
        let events = vec![
            (
                ADA,
                json!({"event": "logged_in", "customer": ADA, "at": "2026-11-30T09:00:00.000Z", "by": "login"}),
            ),
            (
                ADA,
                confirmed(
                    "act_one",
                    json!([
                        line("trf_01", "20.00", "GB20BOB"),
                        line("trf_02", "5.50", "DE10KABIR")
                    ]),
                ),
            ),
            (
                ADA,
                confirmed("act_two", json!([line("trf_03", "30.00", "GB20BOB")])),
            ),
            (
                ADA,
                json!({"event": "undone", "action": "act_two", "at": "2026-11-30T10:00:05.000Z", "by": "undo", "customer": ADA, "transfers": ["trf_03"]}),
            ),
            (
                ADA,
                json!({"event": "posted", "about": "01", "action": "act_one", "at": "2026-11-30T10:00:12.000Z"}),
            ),
            (
                ADA,
                json!({"event": "posted", "about": "02", "action": "act_one", "at": "2026-11-30T10:00:12.000Z"}),
            ),
            (
                ADA,
                confirmed("act_four", json!([line("trf_04", "7.00", "GB20BOB")])),
            ),
            (
                KABIR,
                json!({"event": "logged_in", "customer": KABIR, "at": "2026-11-30T10:05:00.000Z", "by": "login"}),
            ),
            // Of an action that moves nothing, whatever its lines say.
            (ADA, {
                let mut frozen = confirmed("act_five", json!([]));
                frozen["kind"] = json!("card_freeze");
                frozen
            }),
            asked("act_one"),
            asked("act_two"),
            asked("act_four"),
            asked("act_five"),
            (
                KABIR,
                json!({"event": "logged_in", "customer": KABIR, "at": "2026-11-30T10:06:00.000Z", "by": "login"}),
            ),
        ];
        let mut opening = transfer("trf_00", "opening", "posted", "100.00", "", None);
        opening["made"] = json!("2026-01-01T00:00:00.000Z");
        let mut old = transfer("trf_90", "payment_out", "posted", "9.00", "GB20BOB", None);
        old["made"] = json!("2026-10-01T00:00:00.000Z");
        let mut credit = transfer("trf_22", "payment_in", "posted", "5.50", "DE10ADA", None);
        credit["customer"] = json!(KABIR);
        credit["account"] = json!("acc_kabir");
        credit["origin"] = json!("trf_02");
        let legs_of_kabir =
            [(1, "transit", "-5.50"), (2, "account", "5.50")].map(|(leg, book, amount)| {
                let mut leg = entry("trf_22", leg, book, amount);
                leg["customer"] = json!(KABIR);
                leg["account"] = if book == "account" {
                    json!("acc_kabir")
                } else {
                    Value::Null
                };
                leg
            });
        let mut ledger = vec![
            opening,
            entry("trf_00", 1, "account", "100.00"),
            entry("trf_00", 2, "opening", "-100.00"),
            old,
            entry("trf_90", 1, "account", "-9.00"),
            entry("trf_90", 2, "settlement", "9.00"),
            transfer(
                "trf_01",
                "payment_out",
                "posted",
                "20.00",
                "GB20BOB",
                Some("act_one"),
            ),
            entry("trf_01", 1, "account", "-20.00"),
            entry("trf_01", 2, "transit", "20.00"),
            entry("trf_01", 3, "transit", "-20.00"),
            entry("trf_01", 4, "settlement", "20.00"),
            transfer(
                "trf_02",
                "payment_out",
                "posted",
                "5.50",
                "DE10KABIR",
                Some("act_one"),
            ),
            entry("trf_02", 1, "account", "-5.50"),
            entry("trf_02", 2, "transit", "5.50"),
            credit,
            transfer(
                "trf_03",
                "payment_out",
                "voided",
                "30.00",
                "GB20BOB",
                Some("act_two"),
            ),
            entry("trf_03", 1, "account", "-30.00"),
            entry("trf_03", 2, "transit", "30.00"),
            entry("trf_03", 3, "transit", "-30.00"),
            entry("trf_03", 4, "account", "30.00"),
            transfer(
                "trf_04",
                "payment_out",
                "reserved",
                "7.00",
                "GB20BOB",
                Some("act_four"),
            ),
            entry("trf_04", 1, "account", "-7.00"),
            entry("trf_04", 2, "transit", "7.00"),
        ];
        ledger.extend(legs_of_kabir);
        Self { events, ledger }
    }

    /// The lines, signed for by a key that was honest when it signed.
    fn lines(&self, signer: &LogSigner) -> Vec<Value> {
        let mut tree = MemoryTree::new();
        let mut lines = vec![Value::Null];
        let mut chains: std::collections::BTreeMap<&str, (u64, [u8; 32])> =
            std::collections::BTreeMap::new();
        for (leaf, (customer, payload)) in self.events.iter().enumerate() {
            let payload = payload.to_string();
            let hash = leaf_hash(payload.as_bytes());
            tree.append_leaf(hash);
            let (sequence, chain) = chains.entry(customer).or_default();
            *sequence += 1;
            *chain = Sha256::digest([&chain[..], hash.as_bytes()].concat()).into();
            lines.push(json!({"is": "event", "leaf": leaf, "customer": customer, "sequence": *sequence, "payload": payload}));
        }
        let size = self.events.len() as u64;
        let head = Checkpoint {
            origin: signer.origin().to_owned(),
            size,
            root: tree.root_at(size).unwrap(),
        };
        lines[0] = json!({"is": "head", "note": head.sign(signer).unwrap().note});
        for (customer, (sequence, hash)) in chains {
            lines.push(json!({"is": "chain", "customer": customer, "sequence": sequence, "hash": Hash::from(hash).to_string()}));
        }
        lines.extend(self.ledger.iter().cloned());
        lines
    }

    fn find(&mut self, id: &str) -> &mut Value {
        self.ledger
            .iter_mut()
            .find(|line| line["is"] == "transfer" && line["transfer"] == id)
            .unwrap()
    }

    fn without(&mut self, id: &str) {
        self.ledger.retain(|line| line["transfer"] != id);
    }

    fn leg(&mut self, id: &str, leg: i64) -> &mut Value {
        self.ledger
            .iter_mut()
            .find(|line| line["is"] == "entry" && line["transfer"] == id && line["leg"] == leg)
            .unwrap()
    }
}

fn written(folder: &Folder, lines: &[Value]) -> (i32, String) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    folder.write("ledger.jsonl", &text);
    folder.run("ledger ledger.jsonl --key key")
}

/// What somebody who holds the ledger, but not the log's key, did.
type Change = fn(&mut Export);

/// What was done to the ledger, and the code that says so.
const CHANGES: [(&str, i32, Change); 25] = [
    ("nothing", 0, |_| ()),
    ("an orphan payment with balanced entries", 14, |export| {
        export.ledger.push(transfer(
            "trf_66",
            "payment_out",
            "posted",
            "20.00",
            "GB20EVE",
            None,
        ));
        export.ledger.extend([
            entry("trf_66", 1, "account", "-20.00"),
            entry("trf_66", 2, "settlement", "20.00"),
        ]);
    }),
    (
        "an orphan payment that names a confirmed action",
        14,
        |export| {
            export.ledger.push(transfer(
                "trf_66",
                "payment_out",
                "reserved",
                "20.00",
                "GB20BOB",
                Some("act_one"),
            ));
            export.ledger.extend([
                entry("trf_66", 1, "account", "-20.00"),
                entry("trf_66", 2, "transit", "20.00"),
            ]);
        },
    ),
    ("an orphan move between own accounts", 14, |export| {
        export.ledger.push(transfer(
            "trf_66", "own_out", "posted", "20.00", "DE10ADA", None,
        ));
        export.ledger.extend([
            entry("trf_66", 1, "account", "-20.00"),
            entry("trf_66", 2, "transit", "20.00"),
        ]);
    }),
    ("a receipt that nobody asked for", 14, |export| {
        export
            .events
            .retain(|(_, said)| said["event"] != "request_created" || said["action"] != "act_five")
    }),
    ("a leg without a transfer", 14, |export| {
        export.ledger.push(entry("trf_66", 1, "account", "-20.00"))
    }),
    ("a credit that nobody sent", 14, |export| {
        export.find("trf_22")["origin"] = json!("trf_77")
    }),
    ("a second receipt of one action", 15, |export| {
        let again = confirmed("act_one", json!([line("trf_01", "20.00", "GB20BOB")]));
        export.events.push((ADA, again));
    }),
    ("one transfer in two receipts", 15, |export| {
        export.events.push((
            ADA,
            confirmed("act_nine", json!([line("trf_01", "20.00", "GB20BOB")])),
        ))
    }),
    ("a leg twice", 15, |export| {
        export.ledger.push(entry("trf_01", 1, "account", "-20.00"))
    }),
    ("a transfer twice", 15, |export| {
        let again = export.find("trf_01").clone();
        export.ledger.push(again);
    }),
    ("credited twice", 15, |export| {
        let mut again = export.find("trf_22").clone();
        again["transfer"] = json!("trf_23");
        export.ledger.push(again);
        export.ledger.extend(
            [
                entry("trf_23", 1, "transit", "-5.50"),
                entry("trf_23", 2, "account", "5.50"),
            ]
            .map(|mut leg| {
                leg["customer"] = json!(KABIR);
                leg
            }),
        );
    }),
    ("a receipt whose transfer is gone", 16, |export| {
        export.without("trf_04")
    }),
    ("a receipt whose entries are gone", 16, |export| {
        export
            .ledger
            .retain(|line| line["is"] != "entry" || line["transfer"] != "trf_04")
    }),
    ("a receipt that was never run", 16, |export| {
        export.events.push((
            ADA,
            confirmed("act_nine", json!([line("trf_70", "1.00", "GB20BOB")])),
        ))
    }),
    (
        "a changed amount, in transfer and entries alike",
        17,
        |export| {
            export.find("trf_04")["amount"] = json!("70.00");
            export.leg("trf_04", 1)["amount"] = json!("-70.00");
            export.leg("trf_04", 2)["amount"] = json!("70.00");
        },
    ),
    ("a changed amount in the entries alone", 17, |export| {
        export.leg("trf_04", 1)["amount"] = json!("-70.00");
        export.leg("trf_04", 2)["amount"] = json!("70.00");
    }),
    ("a changed amount in one entry", 17, |export| {
        export.leg("trf_04", 1)["amount"] = json!("-7.01")
    }),
    ("another payee", 17, |export| {
        export.find("trf_04")["counterparty"] = json!("GB20EVE")
    }),
    ("another currency", 17, |export| {
        export.find("trf_04")["currency"] = json!("USD")
    }),
    ("the entries twice, with legs of their own", 17, |export| {
        export.ledger.extend([
            entry("trf_04", 5, "account", "-7.00"),
            entry("trf_04", 6, "transit", "7.00"),
        ]);
    }),
    ("undone money that did not come back", 17, |export| {
        export.ledger.retain(|line| {
            line["transfer"] != "trf_03" || line["is"] != "entry" || line["leg"].as_i64() < Some(3)
        })
    }),
    ("undone in the ledger and not in the log", 17, |export| {
        export.find("trf_04")["state"] = json!("voided")
    }),
    ("posted in the ledger and not in the log", 17, |export| {
        export.find("trf_04")["state"] = json!("posted")
    }),
    ("a credit of more than was sent", 17, |export| {
        export.find("trf_22")["amount"] = json!("55.00");
        export.leg("trf_22", 1)["amount"] = json!("-55.00");
        export.leg("trf_22", 2)["amount"] = json!("55.00");
    }),
];

#[test]
fn each_entry_has_one_receipt_and_each_receipt_its_entries() {
    let folder = Folder::new("ledger");
    let signer = signer_named("bank.example/log", "log-1", 7);
    folder.write("key", &signer.verifier().line());
    for (what, code, change) in CHANGES {
        let mut export = Export::good();
        change(&mut export);
        let (found, printed) = written(&folder, &export.lines(&signer));
        assert_eq!(found, code, "{what}: {printed}");
    }
    let (_, printed) = written(&folder, &Export::good().lines(&signer));
    says_what_it_holds(&printed);
}

fn says_what_it_holds(printed: &str) {
    assert_eq!(
        printed.trim(),
        "holds: 18 entries of 7 transfers; 4 of them ordered, under 4 receipts in 14 signed events; 2 from elsewhere, 1 from before the log"
    );
}

/// What somebody did to the lines after the head was signed.
type Tamper<'t> = &'t dyn Fn(&mut Vec<Value>);

#[test]
fn the_log_of_an_export_is_whole_and_signed() {
    let folder = Folder::new("ledger-log");
    let signer = signer_named("bank.example/log", "log-1", 7);
    folder.write("key", &signer.verifier().line());
    let good = Export::good().lines(&signer);
    let event = |number: usize| 1 + number;
    // Each is done to the lines after the head was signed.
    let changes: [(&str, i32, Tamper); 10] = [
        ("an amount in a receipt", 13, &|lines| {
            let changed = lines[event(1)]["payload"]
                .as_str()
                .unwrap()
                .replace("20.00", "20.01");
            lines[event(1)]["payload"] = json!(changed);
        }),
        ("a receipt dropped", 11, &|lines| {
            drop(lines.remove(event(2)))
        }),
        ("a receipt dropped, the others moved up", 12, &|lines| {
            lines.remove(event(2));
            for (leaf, line) in lines[1..14].iter_mut().enumerate() {
                line["leaf"] = json!(leaf);
            }
        }),
        ("the tail cut off", 12, &|lines| {
            drop(lines.drain(event(7)..event(14)))
        }),
        ("two events in each other's place", 13, &|lines| {
            lines.swap(event(4), event(5));
            lines[event(4)]["leaf"] = json!(4);
            lines[event(5)]["leaf"] = json!(5);
        }),
        ("an event given to somebody else", 11, &|lines| {
            lines[event(4)]["customer"] = json!(KABIR)
        }),
        ("a chain's head", 11, &|lines| {
            let chain = lines.iter_mut().find(|line| line["is"] == "chain").unwrap();
            chain["hash"] = json!("00".repeat(32));
        }),
        ("an event that nobody signed for", 1, &|lines| {
            let mut more = lines[event(8)].clone();
            more["leaf"] = json!(14);
            lines.insert(event(14), more);
        }),
        ("an event outside the log", 5, &|lines| {
            lines[event(13)]["leaf"] = Value::Null
        }),
        ("no head", 3, &|lines| drop(lines.remove(0))),
    ];
    for (what, code, change) in changes {
        let mut lines = good.clone();
        change(&mut lines);
        let (found, printed) = written(&folder, &lines);
        assert_eq!(found, code, "{what}: {printed}");
    }
    // Another key's signature, and a head that was saved elsewhere.
    let other = signer_named("bank.example/log", "log-1", 8);
    assert_eq!(written(&folder, &Export::good().lines(&other)).0, 2);
    let (code, _) = written(&folder, &good);
    assert_eq!(code, 0);
    folder.write(
        "saved",
        Export::good().lines(&other)[0]["note"].as_str().unwrap(),
    );
    assert_eq!(
        folder.code("ledger ledger.jsonl --key key --checkpoint saved"),
        2
    );
    folder.write("saved", good[0]["note"].as_str().unwrap());
    assert_eq!(
        folder.code("ledger ledger.jsonl --key key --checkpoint saved"),
        0
    );
    // The holder of the key signs another past: the head that was saved before tells.
    let mut rewritten = Export::good();
    rewritten.events.pop();
    written(&folder, &rewritten.lines(&signer));
    assert_eq!(folder.code("ledger ledger.jsonl --key key"), 0);
    assert_eq!(
        folder.code("ledger ledger.jsonl --key key --checkpoint saved"),
        12
    );
}
