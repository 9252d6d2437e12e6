//! The door's own numbers, asked of its metrics port when a page is drawn. The dashboard's login cannot read the door's
//! record, and does not have to: counts by outcome and reason are all an overview needs.

use std::{net::SocketAddr, time::Duration};

use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::routes::shown;

/// How long the door may take.
const TIME_OUT: Duration = Duration::from_millis(800);
/// Most bytes of its answer that are read.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Decisions, as the door counts them.
const DECISIONS: &str = "countersign_door_decisions_total{";
/// Tokens that are none.
const TOKENS: &str = "countersign_door_tokens_refused_total{";
/// Calls that wait for a person.
const HOLDS: &str = "countersign_door_holds_open ";

/// Where the door is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoorPlaces {
    /// Its metrics port, on loopback.
    pub metrics: Option<SocketAddr>,
    /// The address of its approvals page.
    pub approvals_page: Option<String>,
}

/// How often the door decided one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// `allowed`, `denied` or `held`.
    pub outcome: String,
    /// The published reason.
    pub reason: String,
    /// The server it was for.
    pub server: String,
    /// Since the door started.
    pub count: u64,
}

/// A message that the door did not let through.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Denial {
    /// Unix seconds.
    pub at: i64,
    /// `denied` or `held`.
    pub outcome: String,
    /// The published reason.
    pub reason: String,
    /// The line of the policy.
    pub rule: String,
    /// The server it was for.
    pub server: String,
    /// The tool of a call, where it has a plain name.
    pub tool: Option<String>,
    /// The leaf of its line in the door's record.
    pub receipt: String,
}

impl Denial {
    /// When, as an operator reads it.
    pub fn when(&self) -> String {
        time::OffsetDateTime::from_unix_timestamp(self.at).map_or_else(|_| String::new(), shown)
    }
}

/// Tokens that the door refused, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: String,
    /// Since the door started.
    pub count: u64,
}

/// What the door says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoorNumbers {
    /// Decisions, denials first.
    pub decided: Vec<Decided>,
    /// Calls that wait for a person now.
    pub waiting: Option<u64>,
    /// Tokens that are none: nobody to record, so only counted.
    pub tokens: Vec<Refused>,
}

impl DoorNumbers {
    /// All refused tokens.
    pub fn tokens_refused(&self) -> u64 {
        self.tokens.iter().map(|one| one.count).sum()
    }

    /// All denials.
    pub fn denied(&self) -> u64 {
        let denied = self.decided.iter().filter(|one| one.outcome == "denied");
        denied.map(|one| one.count).sum()
    }
}

/// Asks the door. None when it has no metrics port, or does not answer as one.
pub async fn ask(places: Option<&DoorPlaces>) -> Option<DoorNumbers> {
    fetched(places, "/metrics").await.map(|text| read(&text))
}

/// Asks the door for the newest messages that it did not let through, the newest first. None as in [`ask`].
pub async fn ask_denials(places: Option<&DoorPlaces>) -> Option<Vec<Denial>> {
    let text = fetched(places, "/denials").await?;
    let (_, body) = text.split_once("\r\n\r\n")?;
    match serde_json::from_str(body) {
        Ok(denials) => Some(denials),
        Err(error) => {
            tracing::warn!(%error, "The door's denials are of another form");
            None
        }
    }
}

async fn fetched(places: Option<&DoorPlaces>, path: &str) -> Option<String> {
    let address = places?
        .metrics
        .filter(|address| address.ip().is_loopback())?;
    match tokio::time::timeout(TIME_OUT, fetch(address, path)).await {
        Ok(Ok(text)) => Some(text),
        Ok(Err(error)) => {
            tracing::warn!(%error, "The door's numbers could not be read");
            None
        }
        Err(_) => {
            tracing::warn!("The door's numbers did not come in time");
            None
        }
    }
}

/// One answer whole. HTTP/1.0, so that it comes in one piece and ends with the connection.
async fn fetch(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection
        .take(ANSWER_BYTES_MAX)
        .read_to_end(&mut answer)
        .await?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1);
    if answer.starts_with("HTTP/1.") && status == Some("200") {
        Ok(answer)
    } else {
        Err(std::io::Error::other(
            "the door answered with something else",
        ))
    }
}

/// Reads what is needed of the exposition format. A line that is cut by a chunk of the transfer is passed over.
fn read(text: &str) -> DoorNumbers {
    let mut numbers = DoorNumbers::default();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(HOLDS) {
            numbers.waiting = rest.trim().parse().ok();
        }
        if let Some((labels, count)) = line
            .strip_prefix(TOKENS)
            .and_then(|rest| rest.rsplit_once("\"} "))
            && let Ok(count) = count.trim().parse()
        {
            let reason = labels.trim_start_matches("reason=\"").to_owned();
            numbers.tokens.push(Refused { reason, count });
        }
        let Some((labels, count)) = line
            .strip_prefix(DECISIONS)
            .and_then(|rest| rest.rsplit_once("} "))
        else {
            continue;
        };
        let label = |name: &str| {
            let from = labels.find(&format!("{name}=\""))? + name.len() + 2;
            let length = labels[from..].find('"')?;
            Some(labels[from..from + length].to_owned())
        };
        if let (Some(outcome), Some(reason), Some(server), Ok(count)) = (
            label("outcome"),
            label("reason"),
            label("server"),
            count.trim().parse(),
        ) {
            numbers.decided.push(Decided {
                outcome,
                reason,
                server,
                count,
            });
        }
    }
    numbers.decided.sort_by(|one, other| {
        (one.outcome != "denied", std::cmp::Reverse(one.count))
            .cmp(&(other.outcome != "denied", std::cmp::Reverse(other.count)))
    });
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_doors_denials_and_waiting_calls_are_read_over_a_socket() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let text = "# TYPE countersign_door_decisions counter\n\
             countersign_door_decisions_total{outcome=\"allowed\",reason=\"allowed\",server=\"bank\"} 7\n\
             countersign_door_decisions_total{outcome=\"denied\",reason=\"argument\",server=\"bank\"} 2\n\
             countersign_door_decisions_total{outcome=\"denied\",reason=\"rate\",server=\"bank\"} 3\n\
             countersign_door_tokens_refused_total{reason=\"signature\"} 4\n\
             countersign_door_holds_open 1\n# EOF\n";
        let answering = tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let read = connection.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"GET /metrics HTTP/1.0\r\n"));
            let answer = format!("HTTP/1.1 200 OK\r\n\r\n{text}");
            connection.write_all(answer.as_bytes()).await.unwrap();
        });
        let places = DoorPlaces {
            metrics: Some(address),
            approvals_page: None,
        };
        let numbers = ask(Some(&places)).await.expect("numbers");
        answering.await.unwrap();
        assert_eq!((numbers.denied(), numbers.waiting), (5, Some(1)));
        assert_eq!(numbers.tokens_refused(), 4);
        assert_eq!(numbers.tokens[0].reason, "signature");
        assert_eq!(numbers.decided[0].reason, "rate");
        assert_eq!(numbers.decided[2].outcome, "allowed");
        assert_eq!(ask(Some(&places)).await, None, "nobody listens any more");
        assert_eq!(ask(None).await, None);
    }
}
