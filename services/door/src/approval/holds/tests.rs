use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_receipts::ApprovalWay;
use proptest::prelude::*;

use super::*;
use crate::approval::testing::{ALL, Memory, Told, ask, at, by, decision, one};

#[test]
fn an_approved_call_goes_on_once_and_its_record_verifies() {
    let (memory, holds, told) = one(Terms::DEFAULT);
    let approve = decision(&holds, 1, Choice::Approve);
    let past = holds.decide(approve.clone(), at(5)).unwrap();
    assert_eq!(told.whys(), [Why::Released]);
    let approval = past
        .signed
        .unwrap()
        .verify(&memory.signer().verifier())
        .unwrap();
    assert!(approval.is_released_by_a_person());
    assert_eq!(approval.digest, approve.digest);
    assert_eq!(locked(&told.0)[0].leaf, past.leaf);
    // The record was written before anybody was told, and says the same.
    assert_eq!(memory.events(), ["released"]);
    let again = holds.decide(approve, at(6)).unwrap_err();
    assert!(matches!(again, DecideError::Final(Why::Released)));
    assert_eq!(told.whys().len(), 1);
}

#[test]
fn a_final_decision_is_final_whatever_comes_later() {
    for first in [Choice::Approve, Choice::Deny] {
        let (memory, holds, told) = one(Terms::DEFAULT);
        let decided = decision(&holds, 1, first);
        holds.decide(decided.clone(), at(1)).unwrap();
        for choice in [Choice::Approve, Choice::Deny] {
            let late = Decision {
                choice,
                ..decided.clone()
            };
            assert!(matches!(
                holds.decide(late, at(2)),
                Err(DecideError::Final(_))
            ));
        }
        holds.withdraw_call(&[1 ^ 0xff; 16], at(3));
        holds.sweep(at(5_000));
        holds.shut_down(at(5_001));
        assert_eq!(told.whys().len(), 1, "{first:?}");
        assert_eq!(memory.lines().len(), 1);
    }
}

#[test]
fn what_nobody_decided_in_time_is_recorded_as_a_denial() {
    let (memory, holds, told) = one(Terms::DEFAULT);
    assert_eq!(holds.sweep(at(899)), Some(900_000));
    assert_eq!(holds.sweep(at(900)), None);
    assert_eq!(told.whys(), [Why::Expired]);
    let line = &memory.lines()[0];
    assert_eq!(
        (&line["event"], &line["reason"]),
        (&"denied".into(), &"expired".into())
    );
    assert!(holds.open().is_empty());
    // A decision that comes at the deadline finds it ended, swept or not.
    let (_, holds, told) = one(Terms::DEFAULT);
    let late = holds.decide(decision(&holds, 1, Choice::Approve), at(900));
    assert!(matches!(late, Err(DecideError::Final(Why::Expired))));
    assert_eq!(told.whys(), [Why::Expired]);
}

#[test]
fn a_decision_about_another_call_or_by_nobody_leaves_it_held() {
    let (memory, holds, told) = one(Terms::DEFAULT);
    let good = decision(&holds, 1, Choice::Approve);
    let refused = |change: fn(&mut Decision)| {
        let mut changed = good.clone();
        change(&mut changed);
        holds.decide(changed, at(1)).unwrap_err().to_string()
    };
    let other = refused(|decision| decision.digest = [0; 32].into());
    assert_eq!(other, DecideError::OtherCall.to_string());
    let nobody = refused(|decision| decision.approver.name = "  ".into());
    assert_eq!(nobody, DecideError::from(ApprovalError::Nobody).to_string());
    let way = refused(|decision| decision.approver.way = ApprovalWay::Client);
    assert_eq!(way, DecideError::WrongWay.to_string());
    let countdown = refused(|decision| decision.approver.way = ApprovalWay::Countdown);
    assert_eq!(countdown, DecideError::WrongWay.to_string());
    let unknown = refused(|decision| decision.hold = [7; 16]);
    assert_eq!(unknown, DecideError::Unknown.to_string());
    let commit = refused(|decision| decision.commit = Some("abc".into()));
    assert_eq!(commit, DecideError::OtherCommit.to_string());
    assert!(told.whys().is_empty() && memory.lines().is_empty());
    assert_eq!(holds.open().len(), 1);
}

#[test]
fn a_webhook_has_to_have_looked_at_the_commit_the_hold_names() {
    let memory = Memory::new();
    let holds = Holds::new(memory as Arc<dyn Record>, ALL);
    let told = Told::new();
    let mut ask = ask(
        1,
        at(0),
        Terms {
            ways: ALL,
            ..Terms::DEFAULT
        },
        &told,
    );
    ask.held.commit = Some("c0ffee".into());
    holds.hold(ask, at(0)).unwrap();
    let mut review = decision(&holds, 1, Choice::Approve);
    review.approver.way = ApprovalWay::Webhook;
    for commit in [None, Some("c0ffe".to_owned())] {
        review.commit = commit;
        let refused = holds.decide(review.clone(), at(1));
        assert!(matches!(refused, Err(DecideError::OtherCommit)));
    }
    review.commit = Some("c0ffee".into());
    let past = holds.decide(review, at(1)).unwrap();
    assert!(
        past.signed
            .unwrap()
            .payload
            .contains(r#""commit":"c0ffee""#)
    );
}

#[test]
fn what_cannot_be_written_down_stays_held() {
    let (memory, holds, told) = one(Terms {
        countdown: Some(Duration::from_secs(10)),
        ..Terms::DEFAULT
    });
    *locked(&memory.failing) = true;
    for choice in [Choice::Approve, Choice::Deny] {
        let refused = holds.decide(decision(&holds, 1, choice), at(1));
        assert!(matches!(refused, Err(DecideError::NotRecorded(_))));
    }
    holds.sweep(at(10));
    assert!(told.whys().is_empty());
    *locked(&memory.failing) = false;
    // The countdown had its one try: now it waits for a person.
    holds.sweep(at(20));
    assert!(told.whys().is_empty());
    holds
        .decide(decision(&holds, 1, Choice::Approve), at(21))
        .unwrap();
    assert_eq!(told.whys(), [Why::Released]);
    // An expiry denies even where it cannot be written.
    let (memory, holds, told) = one(Terms::DEFAULT);
    *locked(&memory.failing) = true;
    holds.sweep(at(900));
    assert_eq!(told.whys(), [Why::Expired]);
    assert_eq!(locked(&told.0)[0].leaf, None);
}

#[test]
fn a_countdown_releases_unless_a_person_stops_it() {
    let terms = Terms {
        countdown: Some(Duration::from_secs(30)),
        ..Terms::DEFAULT
    };
    let (memory, holds, told) = one(terms.clone());
    assert_eq!(holds.sweep(at(29)), Some(30_000));
    holds.sweep(at(30));
    assert_eq!(told.whys(), [Why::Released]);
    let payload = memory.lines()[0]["approval"]["payload"].to_string();
    assert!(
        payload.contains("countdown") && !payload.contains("page"),
        "{payload}"
    );

    let (memory, holds, told) = one(terms.clone());
    let client = holds.stop_countdown(&[1; 16], &by(ApprovalWay::Client), at(1));
    assert!(matches!(client, Err(DecideError::WrongWay)));
    holds
        .stop_countdown(&[1; 16], &by(ApprovalWay::Page), at(1))
        .unwrap();
    assert_eq!(holds.sweep(at(31)), Some(900_000));
    assert!(told.whys().is_empty());
    assert_eq!(memory.events(), ["countdown_stopped"]);

    let (_, holds, told) = one(terms.clone());
    holds
        .decide(decision(&holds, 1, Choice::Deny), at(1))
        .unwrap();
    holds.sweep(at(30));
    assert_eq!(told.whys(), [Why::Denied]);

    // An agent that asks for a person gets one.
    let (_, holds, told) = one(terms.for_a_person());
    holds.sweep(at(30));
    assert!(told.whys().is_empty());
}

#[test]
fn what_changed_while_it_was_held_is_not_released() {
    let memory = Memory::new();
    let holds = Holds::new(Arc::clone(&memory) as Arc<dyn Record>, ALL);
    let told = Told::new();
    for (number, countdown) in [(1, None), (2, Some(Duration::from_secs(5)))] {
        let mut ask = ask(
            number,
            at(0),
            Terms {
                countdown,
                ..Terms::DEFAULT
            },
            &told,
        );
        ask.still = Box::new(|| false);
        holds.hold(ask, at(0)).unwrap();
    }
    let refused = holds.decide(decision(&holds, 1, Choice::Approve), at(1));
    assert!(matches!(refused, Err(DecideError::Final(Why::Changed))));
    holds.sweep(at(5));
    assert_eq!(told.whys(), [Why::Changed, Why::Changed]);
    assert_eq!(memory.events(), ["denied", "denied"]);
}

#[test]
fn nobody_to_ask_and_too_many_holds_are_refused() {
    let memory = Memory::new();
    let told = Told::new();
    let none = Holds::new(Arc::clone(&memory) as Arc<dyn Record>, Ways::NONE);
    let countdown = Terms {
        countdown: Some(Duration::from_secs(1)),
        ..Terms::DEFAULT
    };
    for terms in [Terms::DEFAULT, countdown] {
        let refused = none.hold(ask(1, at(0), terms, &told), at(0));
        assert_eq!(refused, Err(HoldError::NoApprover));
    }
    let holds = Holds::new(memory as Arc<dyn Record>, ALL);
    let most = u8::try_from(HOLDS_MAX).unwrap();
    let of_one = u8::try_from(HOLDS_OF_ONE_MAX).unwrap();
    let next = |number: u8| {
        let mut ask = ask(number, at(0), Terms::DEFAULT, &told);
        ask.held.opening.identity = format!("caller {}", number / of_one);
        holds.hold(ask, at(0))
    };
    for number in 0..of_one {
        next(number).unwrap();
    }
    let mut one_more = ask(of_one, at(0), Terms::DEFAULT, &told);
    one_more.held.opening.identity = "caller 0".into();
    assert_eq!(holds.hold(one_more, at(0)), Err(HoldError::Full));
    for number in of_one..most {
        next(number).unwrap();
    }
    assert_eq!(next(most), Err(HoldError::Full));
    holds
        .decide(decision(&holds, 0, Choice::Deny), at(0))
        .unwrap();
    assert!(next(most).is_ok());
    holds.shut_down(at(1));
    assert_eq!(told.whys().len(), HOLDS_MAX + 1);
    assert!(told.whys()[1..].iter().all(|why| *why == Why::ShutDown));
    assert_eq!(next(most + 1), Err(HoldError::Stopping));

    let holds = Holds::new(Memory::new() as Arc<dyn Record>, ALL);
    let mut large = ask(1, at(0), Terms::DEFAULT, &told);
    large.held.opening.message = " ".repeat(HELD_BYTES_MAX);
    assert!(holds.hold(large, at(0)).is_ok());
    let small = holds.hold(ask(2, at(0), Terms::DEFAULT, &told), at(0));
    assert_eq!(small, Err(HoldError::Full));
}

#[test]
fn of_all_who_end_a_hold_at_once_exactly_one_does() {
    for round in 0..60 {
        let terms = Terms {
            countdown: Some(Duration::from_secs(10)),
            ..Terms::DEFAULT
        };
        let (memory, holds, told) = one(terms);
        let accepted = AtomicUsize::new(0);
        let decided = |choice| {
            let decision = decision(&holds, 1, choice);
            let counted = &accepted;
            let holds = &holds;
            move || {
                let ok = holds.decide(decision, at(9)).is_ok();
                counted.fetch_add(usize::from(ok), Ordering::Relaxed);
            }
        };
        let start = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            let acts: [Box<dyn FnOnce() + Send>; 6] = [
                Box::new(decided(Choice::Approve)),
                Box::new(decided(Choice::Approve)),
                Box::new(decided(Choice::Deny)),
                Box::new(|| {
                    holds.sweep(at(10));
                }),
                Box::new(|| {
                    holds.sweep(at(900));
                }),
                Box::new(|| holds.withdraw_call(&[1 ^ 0xff; 16], at(9))),
            ];
            for act in acts {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    act();
                });
            }
        });
        assert_eq!(told.whys().len(), 1, "round {round}");
        assert_eq!(memory.lines().len(), 1, "round {round}");
        assert!(accepted.into_inner() <= 1, "round {round}");
        let event = if told.whys()[0] == Why::Released {
            "released"
        } else {
            "denied"
        };
        assert_eq!(memory.events(), [event]);
    }
}

#[test]
fn the_keeper_ends_what_is_due_by_itself() {
    let memory = Memory::new();
    let holds = Holds::kept(Arc::clone(&memory) as Arc<dyn Record>, ALL);
    let (told, when) = std::sync::mpsc::channel();
    let now = Now::read();
    let mut ask = ask(
        1,
        now,
        Terms {
            time_to_live: Duration::from_millis(30),
            ..Terms::DEFAULT
        },
        &Told::new(),
    );
    ask.tell = Box::new(move |ended| told.send(ended.why).unwrap());
    holds.hold(ask, now).unwrap();
    assert_eq!(when.recv_timeout(Duration::from_secs(5)), Ok(Why::Expired));
}

#[derive(Clone, Debug)]
enum Act {
    Hold(u8),
    Decide(u8, bool),
    Stop(u8),
    Withdraw(u8),
    Wait(u64),
    Break(bool),
    Change,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let number = 0..4_u8;
    let act = prop_oneof![
        4 => number.clone().prop_map(Act::Hold),
        4 => (number.clone(), any::<bool>()).prop_map(|(number, yes)| Act::Decide(number, yes)),
        1 => number.clone().prop_map(Act::Stop),
        1 => number.prop_map(Act::Withdraw),
        3 => (1..40_u64).prop_map(Act::Wait),
        1 => any::<bool>().prop_map(Act::Break),
        1 => Just(Act::Change),
    ];
    prop::collection::vec(act, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens in whatever order: every hold is told once at most, never twice; it is
    /// released only by an approval before its deadline or by a countdown that stood; and what is
    /// released stands in the record with a signature.
    #[test]
    fn a_hold_ends_once_and_only_as_it_may(acts in acts()) {
        let memory = Memory::new();
        let holds = Holds::new(Arc::clone(&memory) as Arc<dyn Record>, ALL);
        let good = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let mut now = 0;
        let mut names = 0_u8;
        // Name, when it was held, whether somebody approved or stopped it, and who was told.
        let mut all: Vec<(u8, u64, bool, bool, Told)> = Vec::new();
        for act in acts {
            match act {
                Act::Hold(kind) => {
                    let countdown = (kind % 2 == 0).then(|| Duration::from_secs(20));
                    let terms = Terms { time_to_live: Duration::from_secs(50), countdown, ..Terms::DEFAULT };
                    let told = Told::new();
                    let good = Arc::clone(&good);
                    let ask = Ask {
                        still: Box::new(move || good.load(Ordering::Relaxed)),
                        ..ask(names, at(now), terms, &told)
                    };
                    if holds.hold(ask, at(now)).is_ok() {
                        all.push((names, now, false, false, told));
                    }
                    names = names.wrapping_add(1);
                }
                Act::Decide(which, yes) => {
                    if let Some(one) = all.iter_mut().rev().nth(which.into()) {
                        let choice = if yes { Choice::Approve } else { Choice::Deny };
                        let decided = holds.decide(decision(&holds, one.0, choice), at(now));
                        one.2 |= yes && decided.is_ok();
                        prop_assert!(decided.is_err() || now - one.1 < 50);
                    }
                }
                Act::Stop(which) => {
                    if let Some(one) = all.iter_mut().rev().nth(which.into()) {
                        let hold = [one.0; 16];
                        one.3 |= holds.stop_countdown(&hold, &by(ApprovalWay::Page), at(now)).is_ok();
                    }
                }
                Act::Withdraw(which) => {
                    if let Some(one) = all.iter().rev().nth(which.into()) {
                        holds.withdraw_call(&[one.0 ^ 0xff; 16], at(now));
                    }
                }
                Act::Wait(seconds) => {
                    now += seconds;
                    holds.sweep(at(now));
                }
                Act::Break(failing) => *locked(&memory.failing) = failing,
                Act::Change => good.store(false, Ordering::Relaxed),
            }
        }
        *locked(&memory.failing) = false;
        let open: Vec<u8> = holds.open().iter().map(|seen| seen.held.approval[0]).collect();
        let lines = memory.lines();
        for (name, _, approved, stopped, told) in &all {
            let whys = told.whys();
            prop_assert_eq!(whys.len(), usize::from(!open.contains(name)));
            let hold = hex::encode([*name; 16]);
            let of = |event: &str| {
                lines.iter().filter(|line| line["hold"] == hold.as_str() && line["event"] == event).count()
            };
            prop_assert!(of("released") + of("denied") <= 1);
            if whys.first() == Some(&Why::Released) {
                prop_assert_eq!(of("released"), 1);
                let countdown = *approved || (!stopped && lines.iter().any(|line| {
                    line["hold"] == hold.as_str()
                        && line["approval"]["payload"].as_str().is_some_and(|text| text.contains(r#""reason":"countdown""#))
                }));
                prop_assert!(countdown);
            } else {
                prop_assert_eq!(of("released"), 0);
                prop_assert!(!approved);
            }
        }
    }
}
