//! The name-check adapter over HTTP: asks a service in whose name an account at another bank is.
//!
//! `POST {"name": …, "iban": …}` with a bearer key; the answer is `{"result": "match" | "close" | "no_match" | "unavailable"}`, with the
//! holder's `name` beside `close` alone. Anything else (a time-out, a redirect, a long body, a member too many) is "unavailable", and
//! never a match.

use std::time::Duration;

use anyhow::Context;
use countersign_domain::{NameCheck, Secret, text::is_hidden};
use countersign_execution::loops::{
    LoopError,
    checker::{Answer, Question, due, keep},
};
use reqwest::{Client, StatusCode, Url, header};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

use crate::outward::is_protected;

/// How long the service may take to be reached, and for the whole answer.
const CONNECT_TIME_OUT: Duration = Duration::from_secs(2);
const TIME_OUT: Duration = Duration::from_secs(5);
/// Longest answer that is read.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// Longest holder's name, in characters.
const NAME_LENGTH_MAX: usize = 140;

/// Where names are checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameCheckConfig {
    /// The service's address; `https`, or `http` on this very machine.
    pub url: String,
    /// The bearer key it knows the bank by.
    pub key: Secret,
}

/// Asks the service.
pub struct Checker {
    http: Client,
    url: Url,
    key: Secret,
}

#[derive(Serialize)]
struct Asked<'a> {
    name: &'a str,
    iban: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    result: String,
    name: Option<String>,
}

impl Checker {
    /// Prepares the way to the service.
    ///
    /// # Errors
    /// When names and accounts would go unprotected over a network.
    pub fn new(config: NameCheckConfig) -> anyhow::Result<Self> {
        let url: Url = config
            .url
            .parse()
            .context("the address of the name check")?;
        anyhow::ensure!(
            is_protected(&url),
            "a name check without TLS goes to this machine only"
        );
        let http = Client::builder()
            .connect_timeout(CONNECT_TIME_OUT)
            .timeout(TIME_OUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("a client for name checks")?;
        Ok(Self {
            http,
            url,
            key: config.key,
        })
    }

    /// One turn with the pool of role `checker`: asks what is due and keeps each answer with its time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn turn(&self, pool: &PgPool) -> Result<(), LoopError> {
        for question in due(pool).await? {
            let answer = self.ask(&question).await.unwrap_or(Answer::UNAVAILABLE);
            keep(pool, &question, &answer).await?;
        }
        Ok(())
    }

    /// The service's answer; nothing where there is none that can be taken.
    async fn ask(&self, question: &Question) -> Option<Answer> {
        let asked = serde_json::to_vec(&Asked {
            name: &question.name,
            iban: &question.iban,
        })
        .ok()?;
        let mut answer = self
            .http
            .post(self.url.clone())
            .bearer_auth(self.key.expose())
            .header(header::CONTENT_TYPE, "application/json")
            .body(asked)
            .send()
            .await
            .ok()?;
        let is_json = answer
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| {
                kind.split(';')
                    .next()
                    .is_some_and(|kind| kind.trim() == "application/json")
            });
        if answer.status() != StatusCode::OK || !is_json {
            return None;
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.ok()? {
            if body.len() + part.len() > BODY_BYTES_MAX {
                return None;
            }
            body.extend_from_slice(&part);
        }
        read(&body)
    }
}

/// Reads an answer strictly.
fn read(body: &[u8]) -> Option<Answer> {
    let told: Told = serde_json::from_slice(body).ok()?;
    let result = NameCheck::answered(&told.result)?;
    let holder = match (result, told.name) {
        (NameCheck::Close, Some(name))
            if !name.trim().is_empty()
                && name.chars().count() <= NAME_LENGTH_MAX
                && !name.chars().any(is_hidden) =>
        {
            Some(name)
        }
        (NameCheck::Close, _) | (_, Some(_)) => return None,
        (_, None) => None,
    };
    Some(Answer { result, holder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_whole_or_not_at_all() {
        let result = |body: &str| read(body.as_bytes()).map(|answer| answer.result.text());
        assert_eq!(result(r#"{"result":"match"}"#), Some("match"));
        assert_eq!(result(r#"{"result":"no_match"}"#), Some("no_match"));
        assert_eq!(result(r#"{"result":"unavailable"}"#), Some("unavailable"));
        assert_eq!(
            result(r#"{"result":"close","name":"Bright Solar Ltd"}"#),
            Some("close")
        );
        for bad in [
            "",
            "null",
            "[]",
            r#"{"result":"MATCH"}"#,
            r#"{"result":"matched"}"#,
            r#"{"result":"not_checked"}"#,
            r#"{"result":true}"#,
            r#"{"result":"match","result":"no_match"}"#,
            r#"{"result":"match","name":"Bob"}"#,
            r#"{"result":"match","score":1}"#,
            r#"{"result":"close"}"#,
            r#"{"result":"close","name":""}"#,
            "{\"result\":\"close\",\"name\":\"Bob\u{202e}\"}",
            r#"{"result":"match"} trailing"#,
        ] {
            assert_eq!(result(bad), None, "{bad}");
        }
        let long = format!(r#"{{"result":"close","name":"{}"}}"#, "x".repeat(141));
        assert_eq!(result(&long), None);
    }
}
