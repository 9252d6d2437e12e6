//! Streams of answers that a client lost: what it has not read is kept for when it comes back (revision
//! 2025-11-25, "Resumability and Redelivery").
//!
//! Only where a session has a server of its own: without sessions hanging up takes the question back.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use tokio::sync::mpsc::UnboundedReceiver;

use super::clients::Sent;
use super::events::Event;
use crate::judge::asked::Key;

/// Where a client says what it read last.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Most lost streams of one session; the oldest is given up beyond.
const LOST_MAX: usize = 8;
/// Most events of one stream that are kept to be sent again, and most bytes of them.
const KEPT_MAX: usize = 64;
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The events of one stream, by number, as far as they are kept.
#[derive(Debug, Default)]
pub struct Track {
    /// The stream's number in its session.
    stream: u64,
    /// The number of the last event.
    last: u64,
    kept: VecDeque<(u64, Bytes)>,
    bytes: usize,
    /// How many of the kept ones are to be sent again.
    again: usize,
}

impl Track {
    /// The next event of the stream with this message. It bears a number that a client can name.
    pub fn event(&mut self, message: &[u8]) -> Bytes {
        self.last += 1;
        let mut event = format!("id: {}-{}\n", self.stream, self.last).into_bytes();
        event.extend_from_slice(&Event::of(message).into_raw());
        let event = Bytes::from(event);
        self.bytes += event.len();
        self.kept.push_back((self.last, event.clone()));
        while self.kept.len() > KEPT_MAX || self.bytes > KEPT_BYTES_MAX {
            let Some((_, old)) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= old.len();
        }
        event
    }

    /// An event that is sent again, as long as there are any.
    pub fn again(&mut self) -> Option<Bytes> {
        let at = self.kept.len().checked_sub(self.again)?;
        let (_, event) = self.kept.get(at)?;
        self.again -= 1;
        Some(event.clone())
    }

    /// Whether the client knows a number to come back with.
    pub const fn is_known(&self) -> bool {
        self.last > 0
    }

    /// Whether everything after this number is kept.
    fn reaches_back_to(&self, number: u64) -> bool {
        let first = self.kept.front().map_or(self.last + 1, |(first, _)| *first);
        number <= self.last && number + 1 >= first
    }
}

/// A stream that was lost.
#[derive(Debug)]
pub struct LostStream {
    /// Its events.
    pub track: Track,
    /// What comes for it.
    pub sent: UnboundedReceiver<Sent>,
    /// The question it is about; none once it is answered.
    pub asked: Option<Key>,
}

/// The lost streams of a session.
#[derive(Default)]
pub struct Lost(Mutex<State>);

#[derive(Default)]
struct State {
    streams: u64,
    lost: VecDeque<LostStream>,
}

impl Lost {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new stream.
    pub fn begin(&self) -> Track {
        let mut state = self.state();
        state.streams += 1;
        Track {
            stream: state.streams,
            ..Track::default()
        }
    }

    /// Keeps a stream that was lost. The question of one that is given up for it, if there was one.
    pub fn keep(&self, stream: LostStream) -> Option<Key> {
        let mut state = self.state();
        let given_up = match state.lost.len() < LOST_MAX {
            true => None,
            false => state.lost.pop_front(),
        };
        state.lost.push_back(stream);
        given_up.and_then(|given_up| given_up.asked)
    }

    /// The stream that a client comes back to, ready to send what the client has not read.
    pub fn take_up(&self, headers: &HeaderMap) -> Option<LostStream> {
        let mut names = headers.get_all(LAST_EVENT_ID).iter();
        let (Some(name), None) = (names.next(), names.next()) else {
            return None;
        };
        let (stream, number) = name.to_str().ok()?.split_once('-')?;
        let (stream, number): (u64, u64) = (stream.parse().ok()?, number.parse().ok()?);
        let mut state = self.state();
        let at = state
            .lost
            .iter()
            .position(|lost| lost.track.stream == stream && lost.track.reaches_back_to(number))?;
        let mut lost = state.lost.remove(at)?;
        lost.track.again = usize::try_from(lost.track.last - number).ok()?;
        Some(lost)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    fn back(name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(LAST_EVENT_ID, HeaderValue::from_str(name).unwrap());
        headers
    }

    fn lose(lost: &Lost, track: Track) -> Option<Key> {
        lost.keep(LostStream {
            track,
            sent: unbounded_channel().1,
            asked: Some(Key::Integer(1)),
        })
    }

    #[test]
    fn what_was_not_read_is_sent_again_and_nothing_else() {
        let lost = Lost::default();
        let mut track = lost.begin();
        assert!(!track.is_known());
        let events: Vec<_> = [b"1", b"2", b"3"]
            .map(|message| track.event(message))
            .into();
        assert_eq!(events[0], "id: 1-1\ndata: 1\n\n");
        assert_eq!(track.again(), None);
        lose(&lost, track);
        for wrong in ["2-1", "1-4", "1", "-", "1-", "1--1", "one-1", "1-1x", ""] {
            assert!(lost.take_up(&back(wrong)).is_none(), "{wrong}");
        }
        let mut taken = lost.take_up(&back("1-1")).unwrap().track;
        assert!(lost.take_up(&back("1-1")).is_none());
        assert_eq!(taken.again(), Some(events[1].clone()));
        assert_eq!(taken.again(), Some(events[2].clone()));
        assert_eq!(taken.again(), None);
        assert_eq!(taken.event(b"4"), "id: 1-4\ndata: 4\n\n");
        assert_eq!(taken.again(), None);
    }

    #[test]
    fn no_more_is_kept_than_has_a_limit() {
        let lost = Lost::default();
        let mut track = lost.begin();
        for _ in 0..=KEPT_MAX {
            track.event(b"x");
        }
        lose(&lost, track);
        assert!(lost.take_up(&back("1-0")).is_none());
        assert!(lost.take_up(&back("1-1")).is_some());
        for _ in 0..LOST_MAX {
            let mut track = lost.begin();
            track.event(b"x");
            assert_eq!(lose(&lost, track), None);
        }
        assert_eq!(lose(&lost, lost.begin()), Some(Key::Integer(1)));
    }
}
