//! Amazon Bedrock's Converse API, as a stream.

use std::time::SystemTime;

use reqwest::{StatusCode, Url, header};
use serde_json::{Value, json};

use super::{
    Assembly, Ending, Frame, Protocol,
    anthropic::secret,
    exchange::{Reader, by_status},
    frames::Cut,
    grouped::{Part, turns},
    rendering,
    settings::{Bedrock, BedrockCredentials},
    sign::{AwsKeys, sign},
};
use crate::{Answer, ModelError, Prompt};

pub(crate) struct Converse {
    pub(crate) url: Url,
    pub(crate) settings: Bedrock,
}

impl Protocol for Converse {
    type Reader = Blocks;
    const NAME: &'static str = "bedrock";
    const CUT: Cut = Cut::Aws;

    fn request(
        &self,
        prompt: &Prompt,
        now: SystemTime,
    ) -> Result<http::Request<Vec<u8>>, ModelError> {
        let mut body = json!({
            "inferenceConfig": {"maxTokens": self.settings.limits.output_tokens_max},
            "system": [{"text": prompt.system}],
            "messages": turns(prompt).iter().map(|turn| json!({
                "role": if turn.from_model { "assistant" } else { "user" },
                "content": turn.parts.iter().map(block).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        });
        if !prompt.tools.is_empty() {
            body["toolConfig"]["tools"] = prompt.tools.iter().map(|tool| json!({"toolSpec": {
                "name": tool.name,
                // An empty one is refused there.
                "description": if tool.description.is_empty() { &tool.name } else { &tool.description },
                "inputSchema": {"json": tool.input_schema},
            }})).collect();
        }
        let request = http::Request::post(self.url.as_str())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, Self::CUT.content_type());
        let body = body.to_string().into_bytes();
        match &self.settings.credentials {
            BedrockCredentials::ApiKey { api_key } => request
                .header(
                    header::AUTHORIZATION,
                    secret(&format!("Bearer {}", api_key.expose()))?,
                )
                .body(body)
                .map_err(|_| ModelError::Malformed),
            BedrockCredentials::AccessKey {
                access_key_id,
                secret_access_key,
                session_token,
            } => {
                let mut request = request.body(body).map_err(|_| ModelError::Malformed)?;
                let keys = AwsKeys {
                    access_key_id: access_key_id.clone(),
                    secret_access_key: secret_access_key.clone(),
                    session_token: session_token.clone(),
                };
                sign(&mut request, &keys, &self.settings.region, "bedrock", now)
                    .map_err(|_| ModelError::KeyRefused)?;
                Ok(request)
            }
        }
    }

    fn reader(&self) -> Blocks {
        Blocks
    }

    fn error(&self, status: StatusCode, body: &Value) -> ModelError {
        let message = body["message"]
            .as_str()
            .or_else(|| body["Message"].as_str())
            .unwrap_or_default();
        if status == StatusCode::BAD_REQUEST && is_too_long(message) {
            return ModelError::TooLong;
        }
        match status.as_u16() {
            // A model that is not ready yet, and one whose own call failed.
            424 => ModelError::Unavailable,
            _ => by_status(status),
        }
    }
}

fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("too long") || message.contains("too many input tokens")
}

fn block(part: &Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Notice(text) => json!({"text": rendering::notice(text)}),
        Part::Call(call) => {
            json!({"toolUse": {"toolUseId": call.id, "name": call.tool, "input": call.arguments}})
        }
        Part::Result(result) => json!({"toolResult": {
            "toolUseId": result.call_id,
            "content": [{"text": rendering::result(result)}],
            "status": if matches!(result.answer, Answer::Refused(_)) { "error" } else { "success" },
        }}),
    }
}

/// Reads the blocks of one message.
pub(crate) struct Blocks;

impl Reader for Blocks {
    fn take(&mut self, frame: &Frame, reply: &mut Assembly) -> Result<(), ModelError> {
        let event: Value = serde_json::from_str(&frame.data).map_err(|_| ModelError::Malformed)?;
        let index = || {
            event["contentBlockIndex"]
                .as_u64()
                .ok_or(ModelError::Malformed)
        };
        match frame.name.as_str() {
            "contentBlockStart" => {
                let call = &event["start"]["toolUse"];
                if !call.is_null() {
                    let tool = call["name"].as_str().ok_or(ModelError::Malformed)?;
                    reply.call(index()?, call["toolUseId"].as_str(), tool)?;
                }
            }
            "contentBlockDelta" => {
                let delta = &event["delta"];
                if let Some(text) = delta["text"].as_str() {
                    reply.text(text)?;
                } else if !delta["toolUse"].is_null() {
                    let piece = delta["toolUse"]["input"]
                        .as_str()
                        .ok_or(ModelError::Malformed)?;
                    reply.arguments(index()?, piece)?;
                }
            }
            "messageStop" => reply.ends(match event["stopReason"].as_str() {
                Some("end_turn" | "tool_use" | "stop_sequence") => Ending::Complete,
                Some("guardrail_intervened" | "content_filtered") => Ending::Declined,
                Some(_) => Ending::CutShort,
                None => return Err(ModelError::Malformed),
            }),
            "metadata" => {
                reply.input_tokens(event["usage"]["inputTokens"].as_u64());
                reply.output_tokens(event["usage"]["outputTokens"].as_u64());
                return reply.close();
            }
            "throttlingException" | "serviceUnavailableException" => {
                return Err(ModelError::Overloaded);
            }
            "internalServerException" | "modelStreamErrorException" => {
                return Err(ModelError::Unavailable);
            }
            "modelTimeoutException" => return Err(ModelError::TimedOut),
            "validationException" => {
                let message = event["message"].as_str().unwrap_or_default();
                return Err(if is_too_long(message) {
                    ModelError::TooLong
                } else {
                    ModelError::RequestRefused(400)
                });
            }
            "accessDeniedException" => return Err(ModelError::KeyRefused),
            _ => {}
        }
        Ok(())
    }
}
