//! Clients over HTTP of servers that are not: who waits for which message, and on which stream.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::judge::asked::Key;
use crate::session::{Front, To};

/// Most messages that wait for a stream to be opened.
const WAITING_MAX: usize = 64;
/// Most messages on their way to one client that does not read them; its stream ends beyond.
const UNREAD_MAX: usize = 4_096;

/// A message for a client, and whether it is the last one of its stream.
#[derive(Debug)]
pub struct Sent {
    /// Its bytes.
    pub message: Bytes,
    /// Whether it is the answer that the stream was opened for.
    pub is_answer: bool,
}

/// The streams of one client, or of all clients that share a server.
#[derive(Default)]
pub struct Streams(Mutex<State>);

#[derive(Default)]
struct State {
    waiters: HashMap<Key, Waiter>,
    /// The order in which they came.
    next: u64,
    /// The stream that a client opened for whatever is about no question of its own.
    general: Option<UnboundedSender<Sent>>,
    waiting: VecDeque<Bytes>,
    /// Whether several clients share this: then nothing goes to somebody it is not about.
    is_shared: bool,
}

struct Waiter {
    order: u64,
    progress: Option<Key>,
    to: UnboundedSender<Sent>,
    sent: usize,
}

impl Streams {
    /// The streams of clients that share a server.
    pub fn shared() -> Self {
        let streams = Self::default();
        streams.state().is_shared = true;
        streams
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer to a question, and for what is about it. None while another question under
    /// this id waits.
    pub fn wait_for(&self, key: Key, progress: Option<Key>) -> Option<UnboundedReceiver<Sent>> {
        let mut state = self.state();
        if state.waiters.contains_key(&key) {
            return None;
        }
        let (to, from) = unbounded_channel();
        state.next += 1;
        let order = state.next;
        state.waiters.insert(
            key,
            Waiter {
                order,
                progress,
                to,
                sent: 0,
            },
        );
        Some(from)
    }

    /// Nobody waits for this any more.
    pub fn forget(&self, key: &Key) {
        self.state().waiters.remove(key);
    }

    /// Opens the stream for whatever is about no question; an earlier one ends.
    pub fn open(&self) -> UnboundedReceiver<Sent> {
        let (to, from) = unbounded_channel();
        let mut state = self.state();
        for message in std::mem::take(&mut state.waiting) {
            let _ = to.send(Sent {
                message,
                is_answer: false,
            });
        }
        state.general = Some(to);
        from
    }

    /// Ends every stream.
    pub fn close(&self) {
        let mut state = self.state();
        state.waiters.clear();
        state.general = None;
    }
}

impl State {
    /// To the question under this id.
    fn put_to(&mut self, key: &Key, message: Bytes) {
        let Some(waiter) = self.waiters.get_mut(key) else {
            return;
        };
        waiter.sent += 1;
        let sent = Sent {
            message,
            is_answer: false,
        };
        // Whoever is sent so much without an answer is not read to by this server's mistake.
        if waiter.sent > UNREAD_MAX || waiter.to.send(sent).is_err() {
            self.waiters.remove(key);
        }
    }

    /// To the question it is about; where that is not known, to the last one that was asked, as long
    /// as one client alone asks; else to the stream that is for everything.
    fn put(&mut self, about: Option<&Key>, message: Bytes) {
        let named = about.and_then(|about| {
            let by_progress = |(key, waiter): (&Key, &Waiter)| {
                (waiter.progress.as_ref() == Some(about)).then(|| key.clone())
            };
            match self.waiters.contains_key(about) {
                true if self.is_shared => Some(about.clone()),
                _ => self
                    .waiters
                    .iter()
                    .find_map(by_progress)
                    .or_else(|| self.waiters.contains_key(about).then(|| about.clone())),
            }
        });
        let last = || {
            let last = self.waiters.iter().max_by_key(|(_, waiter)| waiter.order);
            last.filter(|_| !self.is_shared).map(|(key, _)| key.clone())
        };
        if let Some(key) = named.or_else(last)
            && self.waiters.contains_key(&key)
        {
            return self.put_to(&key, message);
        }
        let message = match &self.general {
            Some(general) => {
                let sent = Sent {
                    message,
                    is_answer: false,
                };
                match general.send(sent) {
                    Ok(()) => return,
                    Err(unsent) => unsent.0.message,
                }
            }
            None => message,
        };
        if !self.is_shared && self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(message);
        }
    }
}

impl Front for Streams {
    fn put(&self, to: To<'_>, message: &[u8]) {
        let message = Bytes::copy_from_slice(message);
        let mut state = self.state();
        match to {
            To::Answer(key) => {
                if let Some(waiter) = state.waiters.remove(key) {
                    // A client that is gone needs no answer.
                    let _ = waiter.to.send(Sent {
                        message,
                        is_answer: true,
                    });
                }
            }
            To::About(key) => state.put(Some(key), message),
            To::Question(key) => state.put_to(key, message),
            To::Client => state.put(None, message),
        }
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(from: &mut UnboundedReceiver<Sent>) -> Option<(String, bool)> {
        let sent = from.try_recv().ok()?;
        Some((
            String::from_utf8(sent.message.to_vec()).unwrap(),
            sent.is_answer,
        ))
    }

    #[test]
    fn every_message_finds_whoever_it_is_about() {
        let streams = Streams::default();
        let (one, two, token) = (Key::Integer(1), Key::Integer(2), Key::Text("t".into()));
        let mut first = streams.wait_for(one.clone(), Some(token.clone())).unwrap();
        let mut second = streams.wait_for(two.clone(), None).unwrap();
        assert!(streams.wait_for(one.clone(), None).is_none());
        streams.put(To::About(&token), b"progress");
        streams.put(To::Client, b"a message");
        streams.put(To::Answer(&one), b"first");
        streams.put(To::Answer(&two), b"second");
        assert_eq!(text(&mut first), Some(("progress".into(), false)));
        assert_eq!(text(&mut first), Some(("first".into(), true)));
        assert_eq!(text(&mut second), Some(("a message".into(), false)));
        assert_eq!(text(&mut second), Some(("second".into(), true)));
        // With nobody waiting it keeps until a stream is opened.
        streams.put(To::Client, b"kept");
        let mut general = streams.open();
        assert_eq!(text(&mut general), Some(("kept".into(), false)));
        streams.put(To::Client, b"general");
        assert_eq!(text(&mut general), Some(("general".into(), false)));
    }

    #[test]
    fn nobody_is_told_what_is_about_another() {
        let streams = Streams::shared();
        let mut first = streams.wait_for(Key::Integer(1), None).unwrap();
        streams.put(To::Client, b"about nobody");
        streams.put(To::About(&Key::Integer(7)), b"about another");
        streams.put(To::Answer(&Key::Integer(7)), b"another's");
        assert_eq!(text(&mut first), None);
        streams.put(To::About(&Key::Integer(1)), b"about it");
        assert_eq!(text(&mut first), Some(("about it".into(), false)));
    }
}
