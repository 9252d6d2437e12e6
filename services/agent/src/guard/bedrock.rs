//! Amazon Bedrock Guardrails, by `ApplyGuardrail`. A reply is asked about whole.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use countersign_models::remote::{AwsKeys, BedrockCredentials, Endpoint, http_client, sign};
use reqwest::{StatusCode, Url, header};
use serde_json::{Value, json};

use super::{Action, GuardConfigError, GuardError, Guardrail, Side, Verdict, config::BedrockGuard};

/// Most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// A guardrail of Amazon Bedrock.
pub(super) struct Bedrock {
    http: reqwest::Client,
    url: Url,
    settings: BedrockGuard,
}

impl Bedrock {
    pub(super) fn open(settings: BedrockGuard) -> Result<Self, GuardConfigError> {
        let address = settings.endpoint.clone().unwrap_or_else(|| {
            format!("https://bedrock-runtime.{}.amazonaws.com", settings.region)
        });
        let endpoint = Endpoint::parse(&address)?;
        if !keys_are_plain(&settings.credentials) {
            return Err(GuardConfigError::Text("credentials"));
        }
        Ok(Self {
            http: http_client(&endpoint, settings.reach_at)?,
            url: endpoint.below(&[
                "guardrail",
                &settings.guardrail,
                "version",
                &settings.version,
                "apply",
            ]),
            settings,
        })
    }

    const fn action(&self, side: Side) -> Action {
        match side {
            Side::Message => self.settings.message,
            Side::Reply => self.settings.reply,
        }
    }

    fn request(&self, side: Side, text: &str) -> Result<reqwest::Request, GuardError> {
        let source = match side {
            Side::Message => "INPUT",
            Side::Reply => "OUTPUT",
        };
        let body = json!({"source": source, "content": [{"text": {"text": text}}]});
        let request = http::Request::post(self.url.as_str())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        let body = body.to_string().into_bytes();
        let impossible = |_| GuardError::Malformed;
        let request = match &self.settings.credentials {
            BedrockCredentials::ApiKey { api_key } => {
                let mut value =
                    header::HeaderValue::from_str(&format!("Bearer {}", api_key.expose()))
                        .map_err(|_| GuardError::Malformed)?;
                value.set_sensitive(true);
                request
                    .header(header::AUTHORIZATION, value)
                    .body(body)
                    .map_err(impossible)?
            }
            BedrockCredentials::AccessKey { .. } => {
                let mut request = request.body(body).map_err(impossible)?;
                let keys = keys(&self.settings.credentials).ok_or(GuardError::Malformed)?;
                sign(
                    &mut request,
                    &keys,
                    &self.settings.region,
                    "bedrock",
                    SystemTime::now(),
                )
                .map_err(|_| GuardError::Malformed)?;
                request
            }
        };
        request.try_into().map_err(|_| GuardError::Malformed)
    }
}

fn keys(credentials: &BedrockCredentials) -> Option<AwsKeys> {
    match credentials {
        BedrockCredentials::ApiKey { .. } => None,
        BedrockCredentials::AccessKey {
            access_key_id,
            secret_access_key,
            session_token,
        } => Some(AwsKeys {
            access_key_id: access_key_id.clone(),
            secret_access_key: secret_access_key.clone(),
            session_token: session_token.clone(),
        }),
    }
}

fn keys_are_plain(credentials: &BedrockCredentials) -> bool {
    match credentials {
        BedrockCredentials::ApiKey { api_key } => {
            let key = api_key.expose();
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic())
        }
        BedrockCredentials::AccessKey { .. } => {
            keys(credentials).is_some_and(|keys| keys.are_plain())
        }
    }
}

#[async_trait]
impl Guardrail for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn looks_at(&self, side: Side) -> bool {
        self.action(side) != Action::Off
    }

    fn wants_whole_replies(&self) -> bool {
        true
    }

    async fn check(&self, side: Side, text: &str) -> Result<Verdict, GuardError> {
        if text.trim().is_empty() {
            return Ok(Verdict::default());
        }
        let request = self.request(side, text)?;
        let (status, body) = ask(&self.http, request, self.settings.seconds_max).await?;
        match status {
            StatusCode::OK => verdict(&body, self.action(side)),
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(GuardError::Unavailable)
            }
            status => Err(GuardError::Refused(status.as_u16())),
        }
    }
}

/// Sends a request and reads its bounded answer as JSON, within so many seconds.
pub(super) async fn ask(
    http: &reqwest::Client,
    request: reqwest::Request,
    seconds_max: impl Into<u64>,
) -> Result<(StatusCode, Value), GuardError> {
    let wait = Duration::from_secs(seconds_max.into());
    tokio::time::timeout(wait, exchange(http, request))
        .await
        .map_err(|_| GuardError::Unavailable)?
}

async fn exchange(
    http: &reqwest::Client,
    request: reqwest::Request,
) -> Result<(StatusCode, Value), GuardError> {
    let mut response = http
        .execute(request)
        .await
        .map_err(|_| GuardError::Unavailable)?;
    let mut body = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|_| GuardError::Unavailable)?
    {
        body.extend_from_slice(&piece);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(GuardError::Malformed);
        }
    }
    Ok((
        response.status(),
        serde_json::from_slice(&body).unwrap_or_default(),
    ))
}

/// What an answer means under an action.
fn verdict(body: &Value, action: Action) -> Result<Verdict, GuardError> {
    let units = body["usage"].as_object().ok_or(GuardError::Malformed)?;
    // A guardrail without a policy intervenes never; its use says that nothing was looked at.
    if units
        .values()
        .filter_map(Value::as_u64)
        .all(|count| count == 0)
    {
        return Err(GuardError::ChecksNothing);
    }
    let intervened = match body["action"].as_str() {
        Some("NONE") => false,
        Some("GUARDRAIL_INTERVENED") => true,
        _ => return Err(GuardError::Malformed),
    };
    if !intervened {
        return Ok(Verdict::default());
    }
    let mut actions = Vec::new();
    let mut rules = Vec::new();
    for assessment in body["assessments"].as_array().into_iter().flatten() {
        for (policy, found) in assessment.as_object().into_iter().flatten() {
            let Some(rule) = policy.strip_suffix("Policy") else {
                continue;
            };
            let before = actions.len();
            collect(found, &mut actions);
            if actions.len() > before {
                rules.push(snake(rule));
            }
        }
    }
    let only_masked = !actions.is_empty() && actions.iter().all(|action| *action == "ANONYMIZED");
    let masked = body["outputs"][0]["text"].as_str().map(str::to_owned);
    Ok(match action {
        Action::Off => Verdict::default(),
        Action::Flag => Verdict {
            rules,
            ..Verdict::default()
        },
        // What it would not mask itself is stopped: there is nothing to put in its place.
        Action::Mask if only_masked && masked.is_some() => Verdict {
            masked,
            blocked: false,
            rules,
        },
        Action::Mask | Action::Block => Verdict {
            masked: None,
            blocked: true,
            rules,
        },
    })
}

/// Every action that a policy took, other than none.
fn collect<'v>(found: &'v Value, actions: &mut Vec<&'v str>) {
    match found {
        Value::Object(members) => {
            let detected = members
                .get("detected")
                .and_then(Value::as_bool)
                .unwrap_or(true);
            if let Some(action) = members.get("action").and_then(Value::as_str)
                && action != "NONE"
                && detected
            {
                actions.push(action);
            }
            members.values().for_each(|value| collect(value, actions));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, actions)),
        _ => {}
    }
}

/// `sensitiveInformation` as `sensitive_information`.
fn snake(text: &str) -> String {
    let mut snake = String::new();
    for character in text.chars().filter(char::is_ascii_alphabetic).take(48) {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(action: &str, assessments: Value) -> Value {
        json!({"usage": {"topicPolicyUnits": 1}, "action": action, "outputs": [{"text": "Hello {NAME}"}], "assessments": assessments})
    }

    #[test]
    fn an_intervention_is_masked_or_stopped_as_configured() {
        let none = answer("NONE", json!([{}]));
        let masked = answer(
            "GUARDRAIL_INTERVENED",
            json!([{"sensitiveInformationPolicy": {"piiEntities": [{"type": "NAME", "action": "ANONYMIZED", "detected": true}]}}]),
        );
        let stopped = answer(
            "GUARDRAIL_INTERVENED",
            json!([{"topicPolicy": {"topics": [{"name": "Investing", "action": "BLOCKED"}]}, "sensitiveInformationPolicy": {"piiEntities": [{"action": "ANONYMIZED"}]}}]),
        );
        let of = |body: &Value, action| {
            verdict(body, action).map(|verdict| (verdict.masked, verdict.blocked, verdict.rules))
        };
        assert_eq!(of(&none, Action::Block), Ok((None, false, vec![])));
        let information = || vec!["sensitive_information".to_owned()];
        assert_eq!(
            of(&masked, Action::Mask),
            Ok((Some("Hello {NAME}".to_owned()), false, information()))
        );
        assert_eq!(of(&masked, Action::Block), Ok((None, true, information())));
        assert_eq!(of(&masked, Action::Flag), Ok((None, false, information())));
        assert!(
            of(&stopped, Action::Mask).is_ok_and(|(masked, blocked, rules)| masked.is_none()
                && blocked
                && rules.len() == 2)
        );
    }

    #[test]
    fn a_guardrail_that_looked_at_nothing_and_an_answer_that_is_none_say_no() {
        let mut nothing = answer("NONE", json!([]));
        nothing["usage"]["topicPolicyUnits"] = 0.into();
        assert_eq!(
            verdict(&nothing, Action::Block),
            Err(GuardError::ChecksNothing)
        );
        for bad in [
            json!({}),
            json!({"action": "NONE"}),
            answer("MAYBE", json!([])),
        ] {
            assert_eq!(
                verdict(&bad, Action::Block),
                Err(GuardError::Malformed),
                "{bad}"
            );
        }
        // An intervention that names no reason still stops.
        assert!(
            verdict(&answer("GUARDRAIL_INTERVENED", json!([])), Action::Mask)
                .is_ok_and(|verdict| verdict.blocked)
        );
    }
}
