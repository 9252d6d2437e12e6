//! As whom PostgreSQL runs, since it refuses to run as root.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::bail;

use crate::files::change_owner;
use crate::spawn::{self, RunAs};

/// The user of a PostgreSQL and of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This process's own user, who is not root.
    Same,
    /// Root, shut into a user namespace in which it is `nobody`. Its files stay root's.
    Namespace,
    /// Another user of this system; files are given to them.
    User {
        /// The user id.
        uid: u32,
        /// The group id.
        gid: u32,
    },
}

impl Owner {
    /// Chooses: this user; for root a user namespace, and where the system forbids those the user `postgres`
    /// or `nobody`.
    ///
    /// # Errors
    /// When this is root, namespaces are forbidden and neither user exists.
    pub fn choose() -> anyhow::Result<Self> {
        if spawn::effective_uid() != 0 {
            return Ok(Self::Same);
        }
        if spawn::namespaces_work() {
            return Ok(Self::Namespace);
        }
        if let Some(other) = Self::other_user() {
            return Ok(other);
        }
        bail!(
            "PostgreSQL does not run as root, user namespaces are forbidden here, and there is no user \
             postgres or nobody. Run this as an ordinary user"
        )
    }

    /// The user that root runs it as where namespaces are forbidden.
    pub(super) fn other_user() -> Option<Self> {
        let (uid, gid) = user("postgres").or_else(|| user("nobody"))?;
        Some(Self::User { uid, gid })
    }

    pub(super) fn run_as(self) -> RunAs {
        match self {
            Self::Same => RunAs::Same,
            Self::Namespace => RunAs::Namespace,
            Self::User { uid, gid } => RunAs::User {
                uid,
                gid,
                shared_gid: None,
            },
        }
    }

    /// Gives a file or folder to this owner.
    pub(super) fn give(self, path: &Path) -> anyhow::Result<()> {
        match self {
            Self::Same | Self::Namespace => Ok(()),
            Self::User { uid, gid } => change_owner(path, uid, gid),
        }
    }
}

/// Looks a user up in the system's list.
#[expect(
    unsafe_code,
    reason = "getpwnam_r fills a struct that we own, from a buffer that we own"
)]
fn user(name: &str) -> Option<(u32, u32)> {
    let name = CString::new(Path::new(name).as_os_str().as_bytes()).ok()?;
    let mut buffer = [0 as libc::c_char; 4096];
    // SAFETY: `passwd` is plain data that zero bytes are valid for; every pointer is to a live local; the
    // pointers inside the result are not read.
    unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let code = libc::getpwnam_r(
            name.as_ptr(),
            &raw mut entry,
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut found,
        );
        (code == 0 && !found.is_null()).then_some((entry.pw_uid, entry.pw_gid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_looked_up() {
        assert_eq!(user("root").map(|(uid, _)| uid), Some(0));
        assert_eq!(user("no such user"), None);
    }

    #[test]
    fn root_never_runs_it_as_root() {
        let owner = Owner::choose().expect("somebody");
        assert_eq!(owner == Owner::Same, spawn::effective_uid() != 0);
    }
}
