//! What the test may order.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;

use crate::outcome::Outcome;
use crate::{binds, calls, escapes, files, processes, unix_sockets};

/// One group of attempts.
#[derive(Debug, Deserialize)]
#[serde(tag = "attack", rename_all = "snake_case", deny_unknown_fields)]
pub enum Attack {
    /// Listens on each address in every way there is, again and again for so long.
    Bind {
        /// Where others listen.
        addresses: Vec<SocketAddr>,
        /// Time to go on for; one round at least.
        milliseconds: u64,
    },
    /// Connects to each address in every way there is.
    Connect {
        /// Where somebody listens.
        addresses: Vec<SocketAddr>,
    },
    /// Connects to sockets in the file system, and logs in to the database where there is one.
    UnixSockets {
        /// Paths; one that begins with `@` is an abstract name.
        paths: Vec<String>,
        /// The database's name.
        database: String,
        /// Users of the database.
        users: Vec<String>,
    },
    /// Reads and writes files and folders.
    Files {
        /// Files to read, folders to list.
        read: Vec<String>,
        /// Files to open for writing, folders to make a file in.
        write: Vec<String>,
    },
    /// Signals, traces and reads other processes.
    Processes {
        /// Their ids.
        pids: Vec<i32>,
    },
    /// Makes sockets of every family, gains rights, and starts programs that do.
    Escapes {
        /// A file that is not for the agent.
        secret: String,
        /// A group that the agent is not in.
        group: u32,
    },
}

impl Attack {
    /// Tries everything of the group. It blocks.
    pub fn run(self) -> Vec<Outcome> {
        match self {
            Self::Bind {
                addresses,
                milliseconds,
            } => binds::run(&addresses, Duration::from_millis(milliseconds)),
            Self::Connect { addresses } => calls::run(&addresses),
            Self::UnixSockets {
                paths,
                database,
                users,
            } => unix_sockets::run(&paths, &database, &users),
            Self::Files { read, write } => files::run(&read, &write),
            Self::Processes { pids } => processes::run(&pids),
            Self::Escapes { secret, group } => escapes::run(&secret, group),
        }
    }
}
