//! The chat completions API of OpenAI, which most local servers speak as well.

use std::time::SystemTime;

use reqwest::{StatusCode, Url, header};
use serde_json::{Value, json};

use super::{
    Assembly, Ending, Frame, Protocol,
    anthropic::secret,
    exchange::{Reader, by_status},
    frames::Cut,
    rendering,
    settings::Hosted,
};
use crate::{Message, ModelError, Prompt, ToolCall};

pub(crate) struct OpenaiChat {
    pub(crate) url: Url,
    pub(crate) settings: Hosted,
}

impl Protocol for OpenaiChat {
    type Reader = Chunks;
    const NAME: &'static str = "openai_chat";
    const CUT: Cut = Cut::Events;

    fn request(
        &self,
        prompt: &Prompt,
        _: SystemTime,
    ) -> Result<http::Request<Vec<u8>>, ModelError> {
        let length = if self.settings.old_length_name {
            "max_tokens"
        } else {
            "max_completion_tokens"
        };
        let system = json!({"role": "system", "content": prompt.system});
        let mut body = json!({
            "model": self.settings.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            length: self.settings.limits.output_tokens_max,
            "messages": std::iter::once(system).chain(prompt.messages.iter().filter_map(message)).collect::<Vec<_>>(),
        });
        if !prompt.tools.is_empty() {
            body["tools"] = prompt.tools.iter().map(|tool| json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            }})).collect();
        }
        post(&self.url, &self.settings, &body)
    }

    fn reader(&self) -> Chunks {
        Chunks::default()
    }

    fn error(&self, status: StatusCode, body: &Value) -> ModelError {
        openai_error(status, body)
    }
}

/// A request with the key as a bearer token.
pub(super) fn post(
    url: &Url,
    settings: &Hosted,
    body: &Value,
) -> Result<http::Request<Vec<u8>>, ModelError> {
    let mut request = http::Request::post(url.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, Cut::Events.content_type());
    if let Some(key) = &settings.api_key {
        request = request.header(
            header::AUTHORIZATION,
            secret(&format!("Bearer {}", key.expose()))?,
        );
    }
    request
        .body(body.to_string().into_bytes())
        .map_err(|_| ModelError::Malformed)
}

/// What an error's body means.
pub(super) fn openai_error(status: StatusCode, body: &Value) -> ModelError {
    let error = &body["error"];
    let code = error["code"]
        .as_str()
        .or_else(|| error["type"].as_str())
        .unwrap_or_default();
    by_code(code).unwrap_or_else(|| by_status(status))
}

/// What a code of an error means, in a body or in the middle of a stream.
pub(super) fn by_code(code: &str) -> Option<ModelError> {
    Some(match code {
        "context_length_exceeded" => ModelError::TooLong,
        "rate_limit_exceeded" | "server_is_overloaded" | "slow_down" => ModelError::Overloaded,
        // An empty purse: asking again does not fill it.
        "insufficient_quota" | "invalid_api_key" | "billing_hard_limit_reached" => {
            ModelError::KeyRefused
        }
        "server_error" => ModelError::Unavailable,
        _ => return None,
    })
}

fn message(message: &Message) -> Option<Value> {
    Some(match message {
        Message::Customer(text) => json!({"role": "user", "content": text}),
        Message::Notice(text) => json!({"role": "user", "content": rendering::notice(text)}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            if text.trim().is_empty() {
                return None;
            }
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => json!({
            "role": "assistant",
            "content": if text.is_empty() { Value::Null } else { text.as_str().into() },
            "tool_calls": calls.iter().map(|call| json!({
                "id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments(call)},
            })).collect::<Vec<_>>(),
        }),
        Message::Result(result) => json!({
            "role": "tool", "tool_call_id": result.call_id, "content": rendering::result(result),
        }),
    })
}

/// The arguments as the text this format wants.
pub(super) fn arguments(call: &ToolCall) -> String {
    Value::Object(call.arguments.clone()).to_string()
}

/// Reads the chunks of one completion.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// Keys of calls: some servers give every call the same index and tell them apart by their ids.
    next_key: u64,
    keys: std::collections::BTreeMap<u64, u64>,
}

impl Reader for Chunks {
    fn take(&mut self, frame: &Frame, reply: &mut Assembly) -> Result<(), ModelError> {
        if frame.data.trim() == "[DONE]" {
            return reply.close();
        }
        let chunk: Value = serde_json::from_str(&frame.data).map_err(|_| ModelError::Malformed)?;
        if !chunk["error"].is_null() {
            let code = chunk["error"]["code"]
                .as_str()
                .or_else(|| chunk["error"]["type"].as_str());
            return Err(code.and_then(by_code).unwrap_or(ModelError::Unavailable));
        }
        let usage = &chunk["usage"];
        reply.input_tokens(usage["prompt_tokens"].as_u64());
        reply.output_tokens(usage["completion_tokens"].as_u64());
        let Some(choices) = chunk["choices"].as_array() else {
            return if chunk.is_object() {
                Ok(())
            } else {
                Err(ModelError::Malformed)
            };
        };
        // One choice was asked for.
        let Some(choice) = choices.first() else {
            return Ok(());
        };
        let delta = &choice["delta"];
        if let Some(text) = delta["content"].as_str().filter(|text| !text.is_empty()) {
            reply.text(text)?;
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.piece(call, reply)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            reply.ends(match reason {
                "stop" | "tool_calls" => Ending::Complete,
                "content_filter" => Ending::Declined,
                _ => Ending::CutShort,
            });
        }
        Ok(())
    }
}

impl Chunks {
    fn piece(&mut self, call: &Value, reply: &mut Assembly) -> Result<(), ModelError> {
        let index = call["index"].as_u64().unwrap_or(0);
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let name = call["function"]["name"]
            .as_str()
            .filter(|name| !name.is_empty());
        let current = self.keys.get(&index).copied();
        let is_the_same = id.is_some() && current.and_then(|key| reply.id_of(key)) == id;
        if let Some(name) = name
            && !is_the_same
        {
            reply.call(self.next_key, id, name)?;
            self.keys.insert(index, self.next_key);
            self.next_key += 1;
        } else if current.is_none() || (id.is_some() && !is_the_same) {
            return Err(ModelError::Malformed);
        }
        match &call["function"]["arguments"] {
            Value::String(piece) => reply.arguments(self.keys[&index], piece),
            Value::Null => Ok(()),
            // Some local servers send the object itself.
            object @ Value::Object(_) => reply.arguments(self.keys[&index], &object.to_string()),
            _ => Err(ModelError::Malformed),
        }
    }
}
