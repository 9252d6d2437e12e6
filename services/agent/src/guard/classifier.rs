//! A classifier on this machine, asked over HTTP: `{"text": …}` is answered with scores by label.
//!
//! Both usual forms are read: `{"labels": {"injection": 0.93}}`, and a list of `{"label": …, "score": …}`, nested or not.

use std::collections::BTreeMap;

use async_trait::async_trait;
use countersign_models::remote::{Endpoint, http_client};
use reqwest::{StatusCode, Url};
use serde_json::{Value, json};

use super::{
    Action, GuardConfigError, GuardError, Guardrail, Side, Verdict, bedrock::ask,
    config::ClassifierGuard,
};

/// A classifier.
pub(super) struct Classifier {
    http: reqwest::Client,
    url: Url,
    settings: ClassifierGuard,
}

impl Classifier {
    pub(super) fn open(settings: ClassifierGuard) -> Result<Self, GuardConfigError> {
        let endpoint = Endpoint::parse(&settings.endpoint)?;
        if !endpoint.is_local() {
            return Err(GuardConfigError::NotLocal);
        }
        Ok(Self {
            http: http_client(&endpoint, None)?,
            url: endpoint.below(&[]),
            settings,
        })
    }

    const fn action(&self, side: Side) -> Action {
        match side {
            Side::Message => self.settings.message,
            Side::Reply => self.settings.reply,
        }
    }
}

#[async_trait]
impl Guardrail for Classifier {
    fn name(&self) -> &'static str {
        "classifier"
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
        let request = self
            .http
            .post(self.url.clone())
            .json(&json!({"text": text}))
            .build();
        let request = request.map_err(|_| GuardError::Malformed)?;
        let (status, body) = ask(&self.http, request, self.settings.seconds_max).await?;
        match status {
            StatusCode::OK => verdict(&body, &self.settings.labels, self.action(side)),
            status if status.is_server_error() => Err(GuardError::Unavailable),
            status => Err(GuardError::Refused(status.as_u16())),
        }
    }
}

/// The scores of an answer.
fn scores(body: &Value) -> Option<BTreeMap<&str, f64>> {
    if let Some(labels) = body["labels"].as_object() {
        return labels
            .iter()
            .map(|(label, score)| Some((label.as_str(), score.as_f64()?)))
            .collect();
    }
    let list = body.as_array()?;
    let list = match list.first() {
        Some(Value::Array(inner)) if list.len() == 1 => inner,
        _ => list,
    };
    list.iter()
        .map(|entry| Some((entry["label"].as_str()?, entry["score"].as_f64()?)))
        .collect()
}

#[expect(
    clippy::float_arithmetic,
    reason = "a score of a classifier, not money"
)]
fn verdict(
    body: &Value,
    labels: &BTreeMap<String, u32>,
    action: Action,
) -> Result<Verdict, GuardError> {
    let scores = scores(body).ok_or(GuardError::Malformed)?;
    if scores.values().any(|score| !(0.0..=1.0).contains(score)) {
        return Err(GuardError::Malformed);
    }
    if !labels
        .keys()
        .any(|label| scores.contains_key(label.as_str()))
    {
        return Err(GuardError::ChecksNothing);
    }
    let holds = |(label, least): &(&String, &u32)| {
        scores
            .get(label.as_str())
            .is_some_and(|score| *score * 1000.0 >= f64::from(**least))
    };
    let rules: Vec<String> = labels
        .iter()
        .filter(holds)
        .map(|(label, _)| rule(label))
        .collect();
    Ok(Verdict {
        masked: None,
        blocked: action == Action::Block && !rules.is_empty(),
        rules,
    })
}

/// A label as a rule's name.
fn rule(label: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    label.chars().map(plain).take(48).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_in_both_forms_and_compared_with_their_label_s_threshold() {
        let labels = BTreeMap::from([("INJECTION".to_owned(), 800)]);
        let of = |body: Value| {
            verdict(&body, &labels, Action::Block).map(|verdict| (verdict.blocked, verdict.rules))
        };
        let hit = || Ok((true, vec!["injection".to_owned()]));
        assert_eq!(
            of(json!({"labels": {"INJECTION": 0.93, "SAFE": 0.07}})),
            hit()
        );
        assert_eq!(of(json!([{"label": "INJECTION", "score": 0.8}])), hit());
        assert_eq!(
            of(json!([[{"label": "SAFE", "score": 0.1}, {"label": "INJECTION", "score": 0.9}]])),
            hit()
        );
        assert_eq!(
            of(json!({"labels": {"INJECTION": 0.79}})),
            Ok((false, vec![]))
        );
        assert_eq!(
            of(json!({"labels": {"TOXIC": 0.99}})),
            Err(GuardError::ChecksNothing)
        );
        for bad in [
            json!({}),
            json!({"labels": {"INJECTION": "high"}}),
            json!({"labels": {"INJECTION": 93}}),
            json!("x"),
        ] {
            assert_eq!(of(bad.clone()), Err(GuardError::Malformed), "{bad}");
        }
    }
}
