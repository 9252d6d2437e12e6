//! What becomes of calls that cannot be made, replies that are cut, budgets that are spent, texts that were flagged.

use countersign_agent::{limits, turn::Remaining};
use countersign_models::{BadCall, Event, Message, Usage};
use serde_json::json;

use crate::{
    conduct::{DONE, answers, call, play, play_within, says},
    fixture::Mood,
    process::reply,
};

fn transfer(id: &str, amount: &str) -> Result<Event, countersign_models::ModelError> {
    call(
        id,
        "request_transfer",
        json!({"payments": [{"amount": amount}]}),
    )
}

#[tokio::test]
async fn every_call_is_answered_under_its_own_id_also_those_that_cannot_be_made() {
    let bad = Ok(Event::BadCall(BadCall {
        id: "c".into(),
        tool: "request_transfer".into(),
    }));
    let (door, lines, told) = play(
        Mood::Well,
        vec![
            vec![
                call("a", "list_accounts", json!({})),
                call("b", "close_account", json!({})),
                bad,
                call("d", "list_payees", json!({})),
                DONE,
            ],
            vec![says("There."), DONE],
        ],
    )
    .await;
    let results: Vec<(&str, &str, bool)> = told[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => {
                let done = matches!(result.answer, countersign_models::Answer::Done(_));
                Some((result.call_id.as_str(), result.tool.as_str(), done))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        results,
        [
            ("a", "list_accounts", true),
            ("b", "close_account", false),
            ("c", "request_transfer", false),
            ("d", "list_payees", true)
        ]
    );
    let told = answers(&told[1]);
    assert!(
        told[1].contains("unknown_tool") && told[2].contains("malformed_arguments"),
        "{told:?}"
    );
    assert_eq!(door.calls().len(), 2);
    assert_eq!(reply(&lines), "There.");
}

#[tokio::test]
async fn nothing_of_a_cut_reply_is_done_and_the_model_is_told() {
    let (door, lines, told) = play(
        Mood::Well,
        vec![
            vec![says("I will "), transfer("1", "20"), Ok(Event::CutShort)],
            vec![says("now."), DONE],
        ],
    )
    .await;
    assert_eq!(door.calls(), []);
    assert!(
        matches!(told[1].messages.last(), Some(Message::Notice(text)) if text.contains("was cut"))
    );
    assert_eq!(reply(&lines), "I will now.");
    let (door, lines, told) = play(
        Mood::Well,
        vec![vec![transfer("1", "20"), Ok(Event::CutShort)]],
    )
    .await;
    assert_eq!((door.calls().len(), told.len()), (0, limits::CUTS_MAX + 1));
    assert!(reply(&lines).contains("I could not finish that"));
}

#[tokio::test]
async fn a_model_that_says_nothing_or_was_stopped_by_its_provider_ends_in_a_sentence() {
    let (_, lines, _) = play(Mood::Well, vec![vec![DONE]]).await;
    assert!(reply(&lines).contains("ask in other words"));
    let (door, lines, _) = play(
        Mood::Well,
        vec![vec![transfer("1", "20"), Ok(Event::Declined)]],
    )
    .await;
    assert!(reply(&lines).contains("can't help with that"));
    assert_eq!(
        (door.calls().len(), lines.last().unwrap()["type"].as_str()),
        (0, Some("done"))
    );
}

#[tokio::test]
async fn requests_that_are_always_refused_end_after_a_few() {
    let steps = (1..20).map(|n| vec![transfer(&n.to_string(), &n.to_string()), DONE]);
    let (door, lines, _) = play(Mood::Limiting, steps.collect()).await;
    assert_eq!(door.count("request_transfer"), limits::REFUSED_REQUESTS_MAX);
    assert!(reply(&lines).contains("I could not finish that"));
}

#[tokio::test]
async fn while_a_requests_outcome_is_unknown_no_other_is_sent() {
    let (door, _, told) = play(
        Mood::Vanishing,
        vec![
            vec![transfer("1", "20"), transfer("2", "20.00"), DONE],
            vec![transfer("3", "21"), DONE],
            vec![says("Please look on the right."), DONE],
        ],
    )
    .await;
    assert_eq!(door.count("request_transfer"), 1);
    let answers = answers(told.last().unwrap());
    assert!(
        answers
            .iter()
            .all(|answer| answer.contains("unknown_outcome")),
        "{answers:?}"
    );
}

#[tokio::test]
async fn what_screening_flagged_is_told_to_the_model_and_once_to_the_customer() {
    let look = |id| call(id, "list_payees", json!({}));
    let (_, lines, told) = play(
        Mood::Flagging,
        vec![
            vec![look("1"), call("2", "list_accounts", json!({})), DONE],
            vec![look("3"), DONE],
            vec![says("There."), DONE],
        ],
    )
    .await;
    let flagged: Vec<Vec<String>> = told[2]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => Some(result.flagged.clone()),
            _ => None,
        })
        .collect();
    let rule = || vec!["tool_order".to_owned()];
    assert_eq!(flagged, [rule(), vec![], rule()]);
    let told: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "flagged")
        .collect();
    assert_eq!(
        told,
        [&json!({"type": "flagged", "tool": "list_payees", "rules": ["tool_order"]})]
    );
}

#[tokio::test]
async fn a_spent_budget_ends_the_turn_before_the_model_is_asked() {
    let left = |tokens, cost_micros| Remaining {
        tokens,
        cost_micros,
    };
    for remaining in [left(10, u64::MAX), left(u64::MAX, 10)] {
        let (_, lines, told) =
            play_within(Mood::Well, vec![vec![says("Hello."), DONE]], remaining).await;
        assert_eq!(told.len(), 0);
        assert_eq!(
            lines.last().unwrap(),
            &json!({"type": "failed", "code": "budget"})
        );
    }
    // The model's own count stands in the place of the estimate, and what it leaves is what the next question may use.
    let used = Ok(Event::Usage(Usage {
        input_tokens: 9_000,
        output_tokens: 500,
    }));
    let (door, lines, told) = play_within(
        Mood::Well,
        vec![
            vec![call("1", "list_payees", json!({})), used, DONE],
            vec![says("There."), DONE],
        ],
        left(9_600, u64::MAX),
    )
    .await;
    assert_eq!((told.len(), door.calls().len()), (1, 1));
    let told: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["looked_at", "used", "failed"]);
    assert!(lines[1]["input_tokens"].as_u64().unwrap() >= 9_000);
    assert_eq!(
        lines[1]["cost_micros"].as_u64().unwrap(),
        lines[1]["input_tokens"].as_u64().unwrap() + lines[1]["output_tokens"].as_u64().unwrap()
    );
}
