//! One thread between a client and a server on pipes: it waits for both, and what either says is judged, recorded and
//! passed on before it waits again. Nothing is handed from thread to thread on the way.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ChildStdout;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_serve::eager::{Expectation, Looking, give_way, look_time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bell::Bell;
use super::child::read_some;
use super::lines::{Line, Lines};
use super::outlet::Outlet;
use super::settler::Settler;
use crate::judge::message::MESSAGE_BYTES_MAX;
use crate::judge::reply::REPLY_BYTES_MAX;
use crate::session::Session;

/// Both sides of the door, as the thread that turns to them sees them.
pub struct Turns<'r> {
    /// What is between the two.
    pub session: &'r Session,
    /// The server's name.
    pub server: &'r str,
    /// The way to the client.
    pub front: &'r Outlet,
    /// The way to the server.
    pub back: &'r Outlet,
    /// Rings when a server was started, or a way out has room again or no more.
    pub bell: &'r Bell,
    /// What a server that was started says; taken from here when the bell rang.
    pub next: &'r Mutex<Option<ChildStdout>>,
    /// Waits for the disk in this thread's place, where the record is kept so.
    pub settler: Option<&'r Settler>,
}

/// What came first.
struct Came {
    client: bool,
    server: bool,
}

/// Whoever has ended.
pub enum Ended {
    /// The client says nothing any more.
    Client,
    /// The server says nothing any more, or nothing anybody could read.
    Server,
}

impl Turns<'_> {
    /// Turns to whoever says something, for as long as the process lives. `ended` is told, once each time, when one side
    /// has no more to say; it must not wait for anything.
    pub fn take(&self, client: File, server: ChildStdout, mut ended: impl FnMut(Ended)) -> ! {
        let mut client = Some(Lines::new(client, MESSAGE_BYTES_MAX));
        let mut server = Some(Lines::new(server, REPLY_BYTES_MAX));
        let mut expectation = Expectation::default();
        loop {
            let came = self.wait(client.as_ref(), server.as_ref(), &mut expectation);
            if came.server
                && let Some(lines) = &mut server
                && !read_some(self.session, self.server, lines)
            {
                server = None;
                ended(Ended::Server);
            }
            if came.client
                && let Some(lines) = &mut client
                && !self.read_client(lines)
            {
                client = None;
                ended(Ended::Client);
            }
            if server.is_none() {
                let next = self
                    .next
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                server = next.map(|output| Lines::new(output, REPLY_BYTES_MAX));
            }
        }
    }

    /// Waits until one side says something or the bell rings; meanwhile what waited goes out.
    fn wait(
        &self,
        client: Option<&Lines<File>>,
        server: Option<&Lines<ChildStdout>>,
        expectation: &mut Expectation,
    ) -> Came {
        // Whoever reads nothing is not asked for more that would have to wait for it.
        let is_front_full = self.front.is_full();
        let client = client.filter(|_| !is_front_full && !self.back.is_full());
        let server = server.filter(|_| !is_front_full);
        let ways: [Option<OwnedFd>; 2] = [self.front.waits_for(), self.back.waits_for()];
        let mut pipes = Vec::with_capacity(5);
        pipes.push(PollFd::new(self.bell, PollFlags::IN));
        let client = client.map(|lines| {
            pipes.push(PollFd::new(lines.source(), PollFlags::IN));
            pipes.len() - 1
        });
        let server = server.map(|lines| {
            pipes.push(PollFd::new(lines.source(), PollFlags::IN));
            pipes.len() - 1
        });
        for way in ways.iter().flatten() {
            pipes.push(PollFd::from_borrowed_fd(way.as_fd(), PollFlags::OUT));
        }
        wait_for_one(&mut pipes, expectation);
        let came = |place: Option<usize>| place.is_some_and(|at| !pipes[at].revents().is_empty());
        let came = Came {
            client: came(client),
            server: came(server),
        };
        if !pipes[0].revents().is_empty() {
            self.bell.hear();
        }
        drop(pipes);
        if ways[0].is_some() {
            self.front.write();
        }
        if ways[1].is_some() {
            self.back.write();
        }
        came
    }

    /// Takes what the client said; false at its end.
    fn read_client(&self, lines: &mut Lines<File>) -> bool {
        if !lines.fill().unwrap_or(false) {
            return false;
        }
        while let Some(line) = lines.next() {
            match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => {}
                Line::Whole(line) => self.session.take_from_client(line),
                Line::TooLong => self.session.refuse_long_message(),
            }
        }
        match self.settler {
            Some(settler) if !settler.is_idle() || self.session.has_several_open() => {
                self.session.flush_settled();
                settler.settle();
            }
            _ => self.session.flush(),
        }
        !self.front.is_gone()
    }
}

/// Waits until one of these has something. Where the last waits were short it is looked for again and again, for a while,
/// before this thread sleeps.
fn wait_for_one(pipes: &mut [PollFd<'_>], expectation: &mut Expectation) {
    let since = Instant::now();
    if expectation.is_short()
        && let Some(_looking) = Looking::take()
    {
        let mut given_away = Duration::ZERO;
        loop {
            let found = poll(pipes, Some(&Timespec::default())).is_ok_and(|came| came > 0);
            let goes_on = expectation.looked(found, given_away);
            if found {
                return expectation.waited(since.elapsed());
            }
            if !goes_on {
                break;
            }
            if since.elapsed() >= look_time() {
                expectation.missed();
                break;
            }
            given_away = give_way();
        }
    }
    while poll(pipes, None).is_err() {}
    expectation.waited(since.elapsed());
}
