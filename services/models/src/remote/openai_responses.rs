//! The responses API of OpenAI. Nothing is stored there: every request carries the whole conversation.

use std::{collections::BTreeMap, time::SystemTime};

use reqwest::{StatusCode, Url};
use serde_json::{Value, json};

use super::{
    Assembly, Ending, Frame, Protocol,
    exchange::Reader,
    frames::Cut,
    openai_chat::{arguments, by_code, openai_error, post},
    rendering,
    settings::Hosted,
};
use crate::{Message, ModelError, Prompt};

pub(crate) struct OpenaiResponses {
    pub(crate) url: Url,
    pub(crate) settings: Hosted,
}

impl Protocol for OpenaiResponses {
    type Reader = Items;
    const NAME: &'static str = "openai_responses";
    const CUT: Cut = Cut::Events;

    fn request(
        &self,
        prompt: &Prompt,
        _: SystemTime,
    ) -> Result<http::Request<Vec<u8>>, ModelError> {
        let mut body = json!({
            "model": self.settings.model,
            "stream": true,
            "store": false,
            "max_output_tokens": self.settings.limits.output_tokens_max,
            "instructions": prompt.system,
            "input": prompt.messages.iter().flat_map(items).collect::<Vec<_>>(),
        });
        if !prompt.tools.is_empty() {
            body["tools"] = prompt
                .tools
                .iter()
                .map(|tool| {
                    json!({
                        "type": "function", "name": tool.name, "description": tool.description,
                        "parameters": tool.input_schema, "strict": false,
                    })
                })
                .collect();
        }
        post(&self.url, &self.settings, &body)
    }

    fn reader(&self) -> Items {
        Items::default()
    }

    fn error(&self, status: StatusCode, body: &Value) -> ModelError {
        openai_error(status, body)
    }
}

fn items(message: &Message) -> Vec<Value> {
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    match message {
        Message::Customer(text) => vec![said("user", "input_text", text)],
        Message::Notice(text) => vec![said("user", "input_text", &rendering::notice(text))],
        Message::Assistant { text, calls } => {
            let words = (!text.trim().is_empty()).then(|| said("assistant", "output_text", text));
            let calls = calls.iter().map(|call| json!({
                "type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments(call),
            }));
            words.into_iter().chain(calls).collect()
        }
        Message::Result(result) => vec![json!({
            "type": "function_call_output", "call_id": result.call_id, "output": rendering::result(result),
        })],
    }
}

/// Reads the items of one response.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// Whether pieces of a call's arguments came; the whole is sent again at its end.
    in_pieces: BTreeMap<u64, bool>,
    refused: bool,
}

impl Reader for Items {
    fn take(&mut self, frame: &Frame, reply: &mut Assembly) -> Result<(), ModelError> {
        if frame.data.trim() == "[DONE]" {
            return reply.close();
        }
        let event: Value = serde_json::from_str(&frame.data).map_err(|_| ModelError::Malformed)?;
        let index = || event["output_index"].as_u64().ok_or(ModelError::Malformed);
        let text = |name: &str| event[name].as_str().ok_or(ModelError::Malformed);
        match event["type"].as_str() {
            Some("response.output_text.delta") => reply.text(text("delta")?)?,
            Some("response.refusal.delta") => self.refused = true,
            Some("response.output_item.added") if event["item"]["type"] == "function_call" => {
                let item = &event["item"];
                let tool = item["name"].as_str().ok_or(ModelError::Malformed)?;
                reply.call(index()?, item["call_id"].as_str(), tool)?;
                self.in_pieces.insert(index()?, false);
            }
            Some("response.function_call_arguments.delta") => {
                reply.arguments(index()?, text("delta")?)?;
                self.in_pieces.insert(index()?, true);
            }
            Some("response.function_call_arguments.done") => {
                if self.in_pieces.get(&index()?) == Some(&false) {
                    reply.arguments(index()?, text("arguments")?)?;
                }
            }
            Some(kind @ ("response.completed" | "response.incomplete")) => {
                let response = &event["response"];
                reply.input_tokens(response["usage"]["input_tokens"].as_u64());
                reply.output_tokens(response["usage"]["output_tokens"].as_u64());
                let filtered = response["incomplete_details"]["reason"] == "content_filter";
                reply.ends(if self.refused || filtered {
                    Ending::Declined
                } else if kind == "response.completed" {
                    Ending::Complete
                } else {
                    Ending::CutShort
                });
                reply.close()?;
            }
            Some("response.failed") => {
                let code = event["response"]["error"]["code"].as_str();
                return Err(code.and_then(by_code).unwrap_or(ModelError::Unavailable));
            }
            Some("error") => {
                let code = event["code"]
                    .as_str()
                    .or_else(|| event["error"]["code"].as_str());
                return Err(code.and_then(by_code).unwrap_or(ModelError::Unavailable));
            }
            Some(_) => {}
            None => return Err(ModelError::Malformed),
        }
        Ok(())
    }
}
