//! Anthropic's Messages API.

use std::time::SystemTime;

use reqwest::{StatusCode, Url, header};
use serde_json::{Value, json};

use super::{
    Assembly, Ending, Frame, Protocol,
    exchange::{Reader, by_status},
    frames::Cut,
    grouped::{Part, turns},
    rendering,
    settings::Hosted,
};
use crate::{ModelError, Prompt};

/// The version of the interface that is spoken.
const VERSION: &str = "2023-06-01";

pub(crate) struct Anthropic {
    pub(crate) url: Url,
    pub(crate) settings: Hosted,
}

impl Protocol for Anthropic {
    type Reader = Blocks;
    const NAME: &'static str = "anthropic";
    const CUT: Cut = Cut::Events;

    fn request(
        &self,
        prompt: &Prompt,
        _: SystemTime,
    ) -> Result<http::Request<Vec<u8>>, ModelError> {
        let mut body = json!({
            "model": self.settings.model,
            "max_tokens": self.settings.limits.output_tokens_max,
            "stream": true,
            "system": prompt.system,
            "messages": turns(prompt).iter().map(|turn| json!({
                "role": if turn.from_model { "assistant" } else { "user" },
                "content": turn.parts.iter().map(block).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        });
        if !prompt.tools.is_empty() {
            body["tools"] = prompt.tools.iter().map(|tool| json!({
                "name": tool.name, "description": tool.description, "input_schema": tool.input_schema,
            })).collect();
        }
        let mut request = http::Request::post(self.url.as_str())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, Self::CUT.content_type())
            .header("anthropic-version", VERSION);
        if let Some(key) = &self.settings.api_key {
            request = request.header("x-api-key", secret(key.expose())?);
        }
        request
            .body(body.to_string().into_bytes())
            .map_err(|_| ModelError::Malformed)
    }

    fn reader(&self) -> Blocks {
        Blocks
    }

    fn error(&self, status: StatusCode, body: &Value) -> ModelError {
        let error = &body["error"];
        match error["type"].as_str() {
            Some(kind) => by_kind(kind, error["message"].as_str().unwrap_or_default())
                .unwrap_or_else(|| by_status(status)),
            None => by_status(status),
        }
    }
}

/// A key as a header that is not printed.
pub(super) fn secret(text: &str) -> Result<header::HeaderValue, ModelError> {
    let mut value = header::HeaderValue::from_str(text).map_err(|_| ModelError::KeyRefused)?;
    value.set_sensitive(true);
    Ok(value)
}

fn by_kind(kind: &str, message: &str) -> Option<ModelError> {
    Some(match kind {
        "overloaded_error" | "rate_limit_error" => ModelError::Overloaded,
        "api_error" => ModelError::Unavailable,
        "timeout_error" => ModelError::TimedOut,
        "authentication_error" | "permission_error" | "billing_error" => ModelError::KeyRefused,
        "request_too_large" => ModelError::TooLong,
        "invalid_request_error" if message.contains("prompt is too long") => ModelError::TooLong,
        _ => return None,
    })
}

fn block(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Notice(text) => json!({"type": "text", "text": rendering::notice(text)}),
        Part::Call(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments})
        }
        Part::Result(result) => json!({
            "type": "tool_result", "tool_use_id": result.call_id, "content": rendering::result(result),
            "is_error": matches!(result.answer, crate::Answer::Refused(_)),
        }),
    }
}

/// Reads the blocks of one message.
pub(crate) struct Blocks;

impl Reader for Blocks {
    fn take(&mut self, frame: &Frame, reply: &mut Assembly) -> Result<(), ModelError> {
        if frame.name == "ping" {
            return Ok(());
        }
        let event: Value = serde_json::from_str(&frame.data).map_err(|_| ModelError::Malformed)?;
        let index = || event["index"].as_u64().ok_or(ModelError::Malformed);
        let usage = |usage: &Value, reply: &mut Assembly| {
            let part = |name: &str| usage[name].as_u64();
            let cached = part("cache_read_input_tokens").unwrap_or(0)
                + part("cache_creation_input_tokens").unwrap_or(0);
            reply.input_tokens(part("input_tokens").map(|tokens| tokens + cached));
            reply.output_tokens(part("output_tokens"));
        };
        match event["type"].as_str() {
            Some("message_start") => usage(&event["message"]["usage"], reply),
            Some("content_block_start") => {
                let block = &event["content_block"];
                match block["type"].as_str() {
                    Some("text") => reply.text(block["text"].as_str().unwrap_or_default())?,
                    Some("tool_use") => {
                        let tool = block["name"].as_str().ok_or(ModelError::Malformed)?;
                        reply.call(index()?, block["id"].as_str(), tool)?;
                    }
                    // Thoughts are neither shown nor kept.
                    _ => {}
                }
            }
            Some("content_block_delta") => {
                let delta = &event["delta"];
                match delta["type"].as_str() {
                    Some("text_delta") => {
                        reply.text(delta["text"].as_str().ok_or(ModelError::Malformed)?)?
                    }
                    Some("input_json_delta") => {
                        let piece = delta["partial_json"]
                            .as_str()
                            .ok_or(ModelError::Malformed)?;
                        reply.arguments(index()?, piece)?;
                    }
                    _ => {}
                }
            }
            Some("message_delta") => {
                usage(&event["usage"], reply);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    reply.ends(match reason {
                        "end_turn" | "tool_use" | "stop_sequence" => Ending::Complete,
                        "refusal" => Ending::Declined,
                        // `max_tokens`, a full context, and whatever comes to be: nothing of it is done.
                        _ => Ending::CutShort,
                    });
                }
            }
            Some("message_stop") => reply.close()?,
            Some("error") => {
                let error = &event["error"];
                let kind = error["type"].as_str().unwrap_or_default();
                return Err(by_kind(kind, error["message"].as_str().unwrap_or_default())
                    .unwrap_or(ModelError::Unavailable));
            }
            Some(_) => {}
            None => return Err(ModelError::Malformed),
        }
        Ok(())
    }
}
