//! The four wire formats, with what a test needs of each.

use std::net::SocketAddr;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message as AwsMessage};
use countersign_models::{
    Answer, Event, Message, Model, ModelConfig, ModelError, Prompt, ToolCall, ToolDefinition,
    ToolResult,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use time::macros::date;

use crate::server::{Script, Server};

/// The key that every test uses. It must turn up where it is sent and nowhere else.
pub const KEY: &str = "sk-test-0123456789";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Bedrock,
}

pub const ALL: [Provider; 4] = [
    Provider::Anthropic,
    Provider::OpenaiChat,
    Provider::OpenaiResponses,
    Provider::Bedrock,
];

impl Provider {
    /// A model of this kind behind an address.
    pub fn model(self, address: SocketAddr, limits: Value) -> Box<dyn Model> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let endpoint = format!("http://{address}");
        let mut config = match self {
            Self::Anthropic => {
                json!({"kind": "anthropic", "model": "m", "api_key": KEY, "endpoint": endpoint})
            }
            Self::OpenaiChat => {
                json!({"kind": "openai_chat", "model": "m", "api_key": KEY, "endpoint": format!("{endpoint}/v1")})
            }
            Self::OpenaiResponses => {
                json!({"kind": "openai_responses", "model": "m", "api_key": KEY, "endpoint": format!("{endpoint}/v1")})
            }
            Self::Bedrock => {
                json!({"kind": "bedrock", "model": "a.m-v1:0", "region": "eu-central-1", "endpoint": endpoint,
                "credentials": {"kind": "access_key", "access_key_id": "AKID", "secret_access_key": KEY}})
            }
        };
        config["limits"] = limits;
        config["prices"] =
            json!({"input_micros_per_million": 1_000_000, "output_micros_per_million": 2_000_000});
        serde_json::from_value::<ModelConfig>(config)
            .unwrap()
            .open()
            .unwrap()
    }

    /// The parts of the recorded answer: events or frames, each with its end.
    pub fn parts(self) -> Vec<Vec<u8>> {
        let events = |text: &str| {
            text.split_inclusive("\n\n")
                .map(|event| event.as_bytes().to_vec())
                .collect()
        };
        match self {
            Self::Anthropic => events(include_str!("../../../../fixtures/models/anthropic.sse")),
            Self::OpenaiChat => events(include_str!("../../../../fixtures/models/openai_chat.sse")),
            Self::OpenaiResponses => events(include_str!(
                "../../../../fixtures/models/openai_responses.sse"
            )),
            Self::Bedrock => include_str!("../../../../fixtures/models/bedrock.frames")
                .lines()
                .map(|line| {
                    let (kind, data) = line.split_once(' ').unwrap();
                    frame("event", kind, data)
                })
                .collect(),
        }
    }

    /// The recorded answer.
    pub fn good(self) -> Script {
        self.answer(&self.parts().concat())
    }

    /// An answer with these bytes.
    pub fn answer(self, body: &[u8]) -> Script {
        Script::ok(self.content_type(), body)
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Bedrock => "application/vnd.amazon.eventstream",
            _ => "text/event-stream; charset=utf-8",
        }
    }

    /// The recorded answer with one text in the place of another.
    pub fn with(self, old: &str, new: &str) -> Script {
        let parts: Vec<Vec<u8>> = match self {
            Self::Bedrock => {
                let text = include_str!("../../../../fixtures/models/bedrock.frames");
                assert!(text.contains(old), "{old}");
                text.replace(old, new)
                    .lines()
                    .map(|line| {
                        let (kind, data) = line.split_once(' ').unwrap();
                        frame("event", kind, data)
                    })
                    .collect()
            }
            _ => {
                let text = String::from_utf8(self.parts().concat()).unwrap();
                assert!(text.contains(old), "{old}");
                vec![text.replace(old, new).into_bytes()]
            }
        };
        self.answer(&parts.concat())
    }

    /// A piece of text as one event or frame.
    pub fn text(self, text: &str) -> Vec<u8> {
        let sse = |value: Value| format!("data: {value}\n\n").into_bytes();
        match self {
            Self::Anthropic => sse(
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ),
            Self::OpenaiChat => sse(json!({"choices": [{"index": 0, "delta": {"content": text}}]})),
            Self::OpenaiResponses => {
                sse(json!({"type": "response.output_text.delta", "delta": text}))
            }
            Self::Bedrock => frame(
                "event",
                "contentBlockDelta",
                &json!({"contentBlockIndex": 0, "delta": {"text": text}}).to_string(),
            ),
        }
    }

    /// Word that there is too much to do, in the middle of a stream.
    pub fn overloaded(self) -> Vec<u8> {
        match self {
            Self::Anthropic => b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n".to_vec(),
            Self::OpenaiChat => b"data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Slow down\"}}\n\n".to_vec(),
            Self::OpenaiResponses => b"data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\"}}}\n\n".to_vec(),
            Self::Bedrock => frame("exception", "throttlingException", "{\"message\":\"Slow down\"}"),
        }
    }

    /// Something that says nothing and keeps the connection busy.
    pub fn ping(self) -> Vec<u8> {
        match self {
            Self::Bedrock => frame("event", "messageStart", "{\"role\":\"assistant\"}"),
            _ => b": still here\n\n".to_vec(),
        }
    }

    /// How the recorded answer says that it is whole, and how it would say that it reached its length.
    pub const fn endings(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => (
                "\"stop_reason\":\"tool_use\"",
                "\"stop_reason\":\"max_tokens\"",
            ),
            Self::OpenaiChat => (
                "\"finish_reason\":\"tool_calls\"",
                "\"finish_reason\":\"length\"",
            ),
            Self::OpenaiResponses => (
                "\"type\":\"response.completed\",\"response\":{",
                "\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"},",
            ),
            Self::Bedrock => (
                "\"stopReason\":\"tool_use\"",
                "\"stopReason\":\"max_tokens\"",
            ),
        }
    }
}

/// A frame of AWS's event stream.
pub fn frame(message: &str, kind: &str, data: &str) -> Vec<u8> {
    let header = |name: &'static str, value: &str| {
        Header::new(name, HeaderValue::String(value.to_owned().into()))
    };
    let message = AwsMessage::new(data.as_bytes().to_vec())
        .add_header(header(":message-type", message))
        .add_header(header(
            if message == "event" {
                ":event-type"
            } else {
                ":exception-type"
            },
            kind,
        ))
        .add_header(header(":content-type", "application/json"));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

/// A conversation with everything in it.
pub fn prompt() -> Prompt {
    let call = |id: &str, tool: &str| ToolCall {
        id: id.into(),
        tool: tool.into(),
        arguments: serde_json::Map::new(),
    };
    let result = |id: &str, answer| {
        Message::Result(ToolResult {
            call_id: id.into(),
            tool: "list_cards".into(),
            answer,
            flagged: vec!["tool_order".into()],
        })
    };
    Prompt {
        system: "Reviewed.".into(),
        messages: vec![
            Message::Customer("Hi".into()),
            Message::Assistant {
                text: String::new(),
                calls: vec![call("c1", "list_cards"), call("c2", "list_cards")],
            },
            result("c1", Answer::Done(json!({"cards": []}))),
            result("c2", Answer::Refused(json!({"code": "busy"}))),
            Message::Notice("Go on.".into()),
        ],
        tools: vec![ToolDefinition {
            name: "list_cards".into(),
            description: String::new(),
            input_schema: json!({"type": "object", "properties": {}}),
            reads_only: true,
        }],
        today: date!(2026 - 11 - 30),
    }
}

/// Asks a model behind a server; its events, and how it ended.
pub async fn ask(model: &dyn Model) -> (Vec<Event>, Option<ModelError>) {
    let prompt = prompt();
    let mut stream = match model.reply(&prompt).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    while let Some(next) = stream.next().await {
        match next {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Asks, with limits that suit a test.
pub async fn play(
    provider: Provider,
    scripts: Vec<Script>,
) -> (Server, Vec<Event>, Option<ModelError>) {
    play_with(provider, scripts, 2).await
}

/// Asks once, whatever comes of it.
pub async fn play_once(provider: Provider, script: Script) -> (Vec<Event>, Option<ModelError>) {
    let (_, events, error) = play_with(provider, vec![script], 0).await;
    (events, error)
}

async fn play_with(
    provider: Provider,
    scripts: Vec<Script>,
    retries: u32,
) -> (Server, Vec<Event>, Option<ModelError>) {
    let server = Server::start(scripts).await;
    let limits = json!({
        "retries_max": retries, "first_byte_seconds_max": 2, "silence_seconds_max": 1, "reply_seconds_max": 4,
    });
    let model = provider.model(server.address, limits);
    let (events, error) = ask(model.as_ref()).await;
    (server, events, error)
}

/// The words of a reply.
pub fn words(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}
