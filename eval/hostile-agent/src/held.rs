//! What this process was given.
#![expect(
    unsafe_code,
    reason = "system calls with plain integers and structs of our own"
)]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use serde::Serialize;
use serde_json::Value;

/// Numbers that are looked at.
const DESCRIPTORS_MAX: RawFd = 1024;

/// Everything there is to find in this process.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The config from standard input.
    pub config: Value,
    /// Arguments, the program's name included.
    pub arguments: Vec<String>,
    /// The environment.
    pub environment: BTreeMap<String, String>,
    /// The descriptors that stood open at start, and what each is.
    pub descriptors: BTreeMap<RawFd, String>,
    /// Real and effective user.
    pub users: [u32; 2],
    /// Group and further groups.
    pub groups: Vec<u32>,
    /// The folder it runs in.
    pub working_folder: String,
}

impl Held {
    /// Looks at this process.
    pub fn of_this_process(config: Value, descriptors: BTreeMap<RawFd, String>) -> Self {
        Self {
            config,
            arguments: std::env::args().collect(),
            environment: std::env::vars_os()
                .map(|(name, value)| {
                    (
                        name.to_string_lossy().into_owned(),
                        value.to_string_lossy().into_owned(),
                    )
                })
                .collect(),
            descriptors,
            users: users(),
            groups: groups(),
            working_folder: std::env::current_dir()
                .map(|folder| folder.display().to_string())
                .unwrap_or_default(),
        }
    }
}

fn users() -> [u32; 2] {
    // SAFETY: neither has an argument or can fail.
    unsafe { [libc::getuid(), libc::geteuid()] }
}

fn groups() -> Vec<u32> {
    let mut further = [0; 64];
    // SAFETY: the pointer is to an array of the length that is passed; the other call has no argument.
    let (own, count) = unsafe { (libc::getegid(), libc::getgroups(64, further.as_mut_ptr())) };
    let count = usize::try_from(count).unwrap_or_default();
    let mut all: Vec<u32> = std::iter::once(own)
        .chain(further.into_iter().take(count))
        .collect();
    all.dedup();
    all
}

/// The open descriptors of this process and what each is.
pub fn descriptors() -> BTreeMap<RawFd, String> {
    (0..DESCRIPTORS_MAX)
        .filter_map(|descriptor| Some((descriptor, kind(descriptor)?)))
        .collect()
}

fn kind(descriptor: RawFd) -> Option<String> {
    // SAFETY: zero bytes are valid for this plain struct, which the kernel fills.
    let mode = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        if libc::fstat(descriptor, &raw mut found) == -1 {
            return None;
        }
        found.st_mode & libc::S_IFMT
    };
    Some(match mode {
        libc::S_IFIFO => "pipe".to_owned(),
        libc::S_IFREG => format!("file, {}", access(descriptor)),
        libc::S_IFDIR => "folder".to_owned(),
        libc::S_IFCHR => "device".to_owned(),
        libc::S_IFSOCK => format!("socket at {}", address(descriptor)),
        _ => "something else".to_owned(),
    })
}

fn access(descriptor: RawFd) -> &'static str {
    // SAFETY: no pointer is passed.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    match flags & libc::O_ACCMODE {
        libc::O_RDONLY => "to read",
        libc::O_WRONLY => "to write",
        _ => "to read and write",
    }
}

fn address(descriptor: RawFd) -> String {
    // SAFETY: the descriptor is open; it is given back below and not closed.
    let socket = unsafe { TcpListener::from_raw_fd(descriptor) };
    let address = socket.local_addr();
    let same = socket.as_raw_fd() == descriptor;
    std::mem::forget(socket);
    match address {
        Ok(address) if same => address.to_string(),
        _ => "an address without a port".to_owned(),
    }
}
