//! The loop's manners, with models that have none.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use countersign_agent::{
    door::Door,
    guard::{self, Guards},
    limits,
    line::Lines,
    turn::{Agent, Remaining, TurnInput, run},
};
use countersign_domain::Secret;
use countersign_models::{Event, EventStream, Message, Model, ModelError, Prompt, ToolCall, Usage};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use time::macros::date;
use tokio::sync::mpsc;

use crate::{
    fixture::{FixtureDoor, Mood, TOKEN},
    process::{lines, reply},
};

pub type Step = Vec<Result<Event, ModelError>>;

/// A model that says what the test wrote down, the last step again and again, and keeps what it was told.
struct Wayward {
    steps: Vec<Step>,
    told: Arc<Mutex<Vec<Prompt>>>,
}

#[async_trait]
impl Model for Wayward {
    fn name(&self) -> &'static str {
        "wayward"
    }

    fn cost_micros(&self, usage: Usage) -> u64 {
        usage.input_tokens + usage.output_tokens
    }

    async fn reply<'a>(&'a self, prompt: &'a Prompt) -> Result<EventStream<'a>, ModelError> {
        let mut told = self.told.lock().unwrap();
        let step = self.steps[told.len().min(self.steps.len() - 1)].clone();
        told.push(prompt.clone());
        Ok(stream::iter(step).boxed())
    }
}

/// Plays a turn; what came out, and what the model was told.
pub async fn play(mood: Mood, steps: Vec<Step>) -> (FixtureDoor, Vec<Value>, Vec<Prompt>) {
    play_within(mood, steps, Remaining::default()).await
}

/// Plays a turn behind guardrails of the test's own.
pub async fn play_guarded(
    guards: Guards,
    message: &str,
    steps: Vec<Step>,
) -> (FixtureDoor, Vec<Value>, Vec<Prompt>) {
    play_all(Mood::Well, steps, Remaining::default(), guards, message).await
}

/// Plays a turn with little left of the budget.
pub async fn play_within(
    mood: Mood,
    steps: Vec<Step>,
    remaining: Remaining,
) -> (FixtureDoor, Vec<Value>, Vec<Prompt>) {
    let guards = guard::open(None).unwrap();
    play_all(mood, steps, remaining, guards, "Send 20 to Bob").await
}

async fn play_all(
    mood: Mood,
    steps: Vec<Step>,
    remaining: Remaining,
    guards: Guards,
    message: &str,
) -> (FixtureDoor, Vec<Value>, Vec<Prompt>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (door, address) = FixtureDoor::start(mood).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let agent = Agent {
        model: Box::new(Wayward {
            steps,
            told: Arc::clone(&told),
        }),
        door: Door::new(&format!("http://{address}/mcp")).unwrap(),
        guards,
        tokens_per_turn_max: limits::TOKENS_MAX,
        today: || date!(2026 - 11 - 30),
    };
    let input = TurnInput {
        turn: "0".repeat(32),
        session_token: Secret::new(TOKEN),
        locale: "en".into(),
        history: Vec::new(),
        message: message.into(),
        remaining,
    };
    let (sender, mut receiver) = mpsc::channel(1000);
    run(&agent, input, Lines::new(sender)).await;
    let mut text = String::new();
    while let Some(Ok(line)) = receiver.recv().await {
        text.push_str(std::str::from_utf8(&line).unwrap());
    }
    let told = told.lock().unwrap().clone();
    (door, lines(&text), told)
}

pub fn call(id: &str, tool: &str, arguments: Value) -> Result<Event, ModelError> {
    let arguments = arguments.as_object().unwrap().clone();
    Ok(Event::Call(ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments,
    }))
}

pub fn says(text: &str) -> Result<Event, ModelError> {
    Ok(Event::Text(text.into()))
}

pub const DONE: Result<Event, ModelError> = Ok(Event::Done);

/// The answers that a prompt carries, oldest first.
pub fn answers(prompt: &Prompt) -> Vec<String> {
    prompt
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => Some(format!("{:?}", result.answer)),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_same_request_is_made_once_a_turn() {
    let ask = |id| {
        call(
            id,
            "request_transfer",
            json!({"payments": [{"amount": "20"}]}),
        )
    };
    let (door, lines, told) = play(
        Mood::Well,
        vec![
            vec![ask("1"), ask("2"), DONE],
            vec![ask("3"), DONE],
            vec![says("There."), DONE],
        ],
    )
    .await;
    assert_eq!(door.count("request_transfer"), 1);
    assert_eq!(
        lines
            .iter()
            .filter(|line| line["type"] == "prepared")
            .count(),
        1
    );
    assert_eq!(lines.last().unwrap()["type"], "done");
    let answers = answers(told.last().unwrap());
    assert!(
        answers[1].contains("repeated_call") && answers[2].contains("repeated_call"),
        "{answers:?}"
    );
}

#[tokio::test]
async fn calls_of_one_breath_run_one_after_the_other() {
    let (door, _, _) = play(
        Mood::Well,
        vec![
            vec![
                call("1", "list_payees", json!({})),
                call(
                    "2",
                    "request_transfer",
                    json!({"payments": [{"amount": "20"}]}),
                ),
                call(
                    "3",
                    "request_transfer",
                    json!({"payments": [{"amount": "30"}]}),
                ),
                DONE,
            ],
            vec![says("There."), DONE],
        ],
    )
    .await;
    assert_eq!(door.calls().len(), 3);
    assert_eq!(door.seen.lock().unwrap().running_most, 1);
}

#[tokio::test]
async fn a_tool_that_is_not_listed_is_not_called_and_ends_in_a_sentence() {
    let (door, lines, told) = play(
        Mood::Well,
        vec![vec![call("1", "confirm_transfer", json!({})), DONE]],
    )
    .await;
    assert_eq!(door.calls(), []);
    assert_eq!(told.len(), limits::BAD_CALLS_MAX);
    assert!(
        reply(&lines).contains("I could not finish that"),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap()["type"], "done");
}

#[tokio::test]
async fn a_model_that_never_ends_is_stopped() {
    let (door, lines, told) = play(
        Mood::Well,
        vec![vec![call("1", "list_payees", json!({})), DONE]],
    )
    .await;
    assert_eq!(told.len(), limits::ROUNDS_MAX);
    assert_eq!(door.count("list_payees"), limits::ROUNDS_MAX);
    assert!(reply(&lines).contains("I could not finish that"));
    let many: Step = (0..100)
        .map(|n| call(&n.to_string(), "list_payees", json!({})))
        .chain([DONE])
        .collect();
    let (door, _, _) = play(Mood::Well, vec![many]).await;
    assert_eq!(door.count("list_payees"), limits::CALLS_MAX);
}

#[tokio::test]
async fn a_reply_that_breaks_off_makes_no_call() {
    let request = || {
        call(
            "1",
            "request_transfer",
            json!({"payments": [{"amount": "20"}]}),
        )
    };
    for step in [
        vec![request()],
        vec![request(), Err(ModelError::Unavailable)],
        vec![request(), Err(ModelError::Malformed)],
    ] {
        let (door, lines, _) = play(Mood::Well, vec![step]).await;
        assert_eq!(door.calls(), []);
        assert_eq!(
            lines.last().unwrap(),
            &json!({"type": "failed", "code": "model_unavailable"})
        );
        assert!(
            lines
                .iter()
                .all(|line| line["type"] != "looked_at" && line["type"] != "prepared")
        );
    }
}

#[tokio::test]
async fn an_endless_reply_is_cut() {
    let (_, lines, _) = play(
        Mood::Well,
        vec![vec![
            says(&"x".repeat(9_000)),
            says(&"x".repeat(9_000)),
            DONE,
        ]],
    )
    .await;
    assert_eq!(
        lines.last().unwrap(),
        &json!({"type": "failed", "code": "budget"})
    );
    assert!(reply(&lines).len() <= limits::REPLY_BYTES_MAX);
}

#[tokio::test]
async fn huge_arguments_are_not_sent() {
    let (door, _, _) = play(
        Mood::Well,
        vec![
            vec![
                call("1", "list_payees", json!({"x": "y".repeat(10_000)})),
                DONE,
            ],
            vec![says("No."), DONE],
        ],
    )
    .await;
    assert_eq!(door.calls(), []);
}

#[tokio::test]
async fn a_request_without_an_answer_is_not_sent_again_and_its_outcome_is_called_unknown() {
    let (door, _, told) = play(
        Mood::Broken,
        vec![
            vec![
                call(
                    "1",
                    "request_transfer",
                    json!({"payments": [{"amount": "20"}]}),
                ),
                DONE,
            ],
            vec![says("Please look on the right."), DONE],
        ],
    )
    .await;
    assert_eq!(door.count("request_transfer"), 1);
    let answers = answers(told.last().unwrap());
    assert!(
        answers[0].contains("door_refused") || answers[0].contains("unknown_outcome"),
        "{answers:?}"
    );
}

#[tokio::test]
async fn a_call_the_door_denies_is_told_to_the_model_and_not_repeated() {
    let (door, lines, told) = play(
        Mood::Denying,
        vec![
            vec![
                call(
                    "1",
                    "request_transfer",
                    json!({"payments": [{"amount": "20"}]}),
                ),
                DONE,
            ],
            vec![says("That is not possible here."), DONE],
        ],
    )
    .await;
    assert_eq!(door.count("request_transfer"), 1);
    assert!(answers(told.last().unwrap())[0].contains("door_refused"));
    assert!(lines.iter().all(|line| line["type"] != "prepared"));
}

#[tokio::test]
async fn the_model_is_told_the_rules_the_day_and_the_tools() {
    let (_, _, told) = play(Mood::Well, vec![vec![says("Hello."), DONE]]).await;
    assert!(told[0].system.contains("You cannot confirm"));
    assert!(told[0].system.contains("Today is 2026-11-30."));
    assert!(!told[0].system.contains(TOKEN));
    let tools: Vec<(&str, bool)> = told[0]
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.reads_only))
        .collect();
    assert_eq!(
        tools,
        [
            ("list_payees", true),
            ("list_accounts", true),
            ("list_open_requests", true),
            ("request_transfer", false)
        ]
    );
}
