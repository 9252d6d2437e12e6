//! A question that several servers are asked, and when its answers are one.

use std::time::{Duration, Instant};

use super::merge::Part;
use crate::judge::asked::Key;
use crate::judge::methods::List;

/// How long servers may take for their parts. Whoever takes longer is not in the answer.
const GATHER_TIME: Duration = Duration::from_secs(5);

/// What the question is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `initialize`, and the revision that the client wants.
    Handshake(Option<Box<str>>),
    /// `server/discover`, and the revision that the client speaks.
    Discovery(Option<Box<str>>),
    /// A list.
    List(List, Box<str>),
    /// Something that all do, each with an answer that says no more than that.
    Told,
    /// News for as long as the client wants them.
    News,
}

/// The question and its answers so far.
pub struct Gather {
    /// What it is.
    pub kind: Kind,
    /// The client's id exactly as it wrote it.
    pub id: Box<str>,
    /// Who was asked, under which ids, and what they answered.
    pub parts: Vec<(Key, Part)>,
    /// The servers that were not even asked.
    pub unasked: Vec<usize>,
    since: Instant,
}

impl Gather {
    /// A question before anybody answered.
    pub fn new(kind: Kind, id: &str, asked: &[(Key, usize)], unasked: Vec<usize>) -> Self {
        let part = |(key, server): &(Key, usize)| {
            let part = Part {
                server: *server,
                answer: None,
            };
            (key.clone(), part)
        };
        Self {
            kind,
            id: id.into(),
            parts: asked.iter().map(part).collect(),
            unasked,
            since: Instant::now(),
        }
    }

    /// Takes in a server's part.
    pub fn take(&mut self, key: &Key, answer: &[u8]) {
        let asked = self.parts.iter_mut().find(|(asked, _)| asked == key);
        if let Some((_, part)) = asked {
            part.answer = Some(answer.to_vec());
        }
    }

    /// Whether all have answered.
    pub fn is_complete(&self) -> bool {
        self.parts.iter().all(|(_, part)| part.answer.is_some())
    }

    /// Whether it is answered without those who have not.
    pub fn is_late(&self) -> bool {
        self.kind != Kind::News && self.since.elapsed() > GATHER_TIME
    }
}
