//! A client on the door's own pipes, from its first word to its last: what is the same whatever stands behind it.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::front::StandardOutput;
use super::lines::{Line, Lines};
use crate::approval;
use crate::caller::Caller;
use crate::clock;
use crate::door::Door;
use crate::judge::message::MESSAGE_BYTES_MAX;
use crate::reload::Watch;
use crate::session::{LAST_ANSWERS_TIME, Session};
use crate::several::Several;

/// How often it is looked at whether calls are still open after the client's last word.
pub const LOOK_TIME: Duration = Duration::from_millis(5);
/// How often heads are signed and late questions given up.
pub const TICK: Duration = Duration::from_millis(500);

/// What takes a client's messages.
pub trait Takes {
    /// Takes a message.
    fn take_from_client(&self, message: &[u8]);
    /// A message was longer than one may be.
    fn refuse_long_message(&self);
    /// Sends what comes of it.
    fn flush(&self);
    /// Ends what nobody will ever ask about again.
    fn client_is_gone(&self);
    /// Whether nothing is open any more.
    fn is_quiet(&self) -> bool;
}

/// Both kinds have these as methods of their own.
macro_rules! takes {
    ($($kind:ty),*) => {$(
        impl Takes for $kind {
            fn take_from_client(&self, message: &[u8]) {
                <$kind>::take_from_client(self, message);
            }

            fn refuse_long_message(&self) {
                <$kind>::refuse_long_message(self);
            }

            fn flush(&self) {
                <$kind>::flush(self);
            }

            fn client_is_gone(&self) {
                <$kind>::client_is_gone(self);
            }

            fn is_quiet(&self) -> bool {
                <$kind>::is_quiet(self)
            }
        }
    )*};
}
takes!(Session, Several);

/// The caller of a client on pipes, which nobody verifies, in a session of its own.
///
/// # Errors
/// When there are no random bytes.
pub fn local_caller() -> anyhow::Result<Caller> {
    let name = clock::random_id()
        .map(hex::encode)
        .map_err(|error| anyhow::anyhow!("no random bytes: {error}"))?;
    Ok(Caller::local(&name))
}

/// Reads the client to its end.
pub fn read_client(session: &impl Takes, front: &StandardOutput, input: std::fs::File) {
    let mut lines = Lines::new(input, MESSAGE_BYTES_MAX);
    while lines.fill().unwrap_or(false) {
        while let Some(line) = lines.next() {
            match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => {}
                Line::Whole(line) => session.take_from_client(line),
                Line::TooLong => session.refuse_long_message(),
            }
        }
        session.flush();
        if front.is_gone() {
            return;
        }
    }
}

/// The signals that ask a process to end.
///
/// # Errors
/// When they cannot be listened for.
pub fn end_signals() -> std::io::Result<signal_hook::iterator::Signals> {
    signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ])
}

/// Passes messages on until the client is gone or the door is told to end, and waits for the last answers where the
/// client left in peace. `tick` is called now and then.
///
/// # Errors
/// When a thread or a stream cannot be had.
pub fn attend<T: Takes + Send + Sync + 'static>(
    door: &Arc<Door>,
    session: &Arc<T>,
    front: &Arc<StandardOutput>,
    mut watch: Watch,
    approvals: Option<&approval::Open>,
    tick: impl Fn(),
) -> anyhow::Result<()> {
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let (ended, end) = std::sync::mpsc::sync_channel(2);
    let (client, signalled) = (ended.clone(), ended);
    let (reading, writing) = (Arc::clone(session), Arc::clone(front));
    std::thread::Builder::new()
        .name("client".into())
        .spawn(move || {
            read_client(&*reading, &writing, input.into());
            let _ = client.send(true);
        })
        .context("start a thread")?;
    let mut signals = end_signals()?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                let _ = signalled.send(false);
            }
        })
        .context("start a thread")?;
    let in_peace = loop {
        if let Ok(in_peace) = end.recv_timeout(TICK) {
            break in_peace;
        }
        if let Err(error) = door.log.sign_head() {
            tracing::error!(%error, "Could not sign the head of the record");
        }
        tick();
        watch.look(door);
    };
    session.client_is_gone();
    if let Some(approvals) = approvals {
        approvals.close();
    }
    let since = Instant::now();
    while in_peace && !session.is_quiet() && since.elapsed() < LAST_ANSWERS_TIME {
        std::thread::sleep(LOOK_TIME);
    }
    Ok(())
}
