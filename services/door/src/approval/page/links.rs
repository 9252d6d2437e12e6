//! Who may decide: one-use links, and the sessions they open.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// How long a session lasts, in milliseconds of the forward clock.
const SESSION_MILLISECONDS: u64 = 12 * 3_600 * 1_000;
/// Most sessions at once. One more ends the oldest.
const SESSIONS_MAX: usize = 32;
/// Hexadecimal digits of a token or a session.
const SECRET_DIGITS: usize = 64;

/// The links and sessions of a door's approvers. Only hashes of secrets are kept.
pub struct Links {
    /// `http://127.0.0.1:PORT`.
    origin: String,
    /// Where the links that were not used yet are written, for their owner alone.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one unused link of each approver, and the text that is written.
    links: HashMap<[u8; 32], Arc<str>>,
    texts: HashMap<Arc<str>, String>,
    sessions: Vec<Session>,
}

struct Session {
    hash: [u8; 32],
    approver: Arc<str>,
    until: u64,
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The kernel gives no random bytes.
    #[error("make a link: no random bytes")]
    Random,
    /// The file cannot be written.
    #[error("write the links to {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn random_secret() -> Result<String, LinkError> {
    let mut bytes = [0; SECRET_DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|_| LinkError::Random)?;
    Ok(hex::encode(bytes))
}

/// Whether a text has the form of a token or session, before it is looked up.
fn is_secret(text: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == SECRET_DIGITS && text.bytes().all(digit)
}

impl Links {
    /// No links yet, of the page at this origin.
    pub fn new(origin: String, file: Option<PathBuf>) -> Self {
        Self {
            origin,
            file,
            state: Mutex::default(),
        }
    }

    /// Makes a fresh link for an approver; an older one that was not used ends.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn open(&self, approver: &str) -> Result<String, LinkError> {
        let token = random_secret()?;
        let link = format!("{}/#{token}", self.origin);
        let approver: Arc<str> = approver.into();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.links.retain(|_, of| *of != approver);
        state.links.insert(hash(&token), Arc::clone(&approver));
        state.texts.insert(approver, link.clone());
        self.write(&state)?;
        Ok(link)
    }

    /// Exchanges a token for a session, once. The approver gets a fresh link for the next time.
    ///
    /// # Errors
    /// [`LinkError`] when there is no randomness; the token is used up then, too.
    pub fn redeem(&self, token: &str, now: u64) -> Result<Option<(String, Arc<str>)>, LinkError> {
        if !is_secret(token) {
            return Ok(None);
        }
        let approver = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.links.remove(&hash(token))
        };
        let Some(approver) = approver else {
            return Ok(None);
        };
        let session = random_secret()?;
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.sessions.retain(|session| now < session.until);
            if state.sessions.len() >= SESSIONS_MAX {
                state.sessions.remove(0);
            }
            state.sessions.push(Session {
                hash: hash(&session),
                approver: Arc::clone(&approver),
                until: now.saturating_add(SESSION_MILLISECONDS),
            });
        }
        if let Err(error) = self.open(&approver) {
            tracing::error!(%error, "An approver has no link for the next time");
        }
        Ok(Some((session, approver)))
    }

    /// Whose session this is. Hashes are compared, so that time tells nothing about the secret.
    pub fn approver(&self, session: &str, now: u64) -> Option<Arc<str>> {
        if !is_secret(session) {
            return None;
        }
        let hash = hash(session);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = state.sessions.iter().find(|session| session.hash == hash)?;
        (now < found.until).then(|| Arc::clone(&found.approver))
    }

    /// Ends every link and session, and takes the file away: what it names is gone with the door.
    pub fn close(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
        if let Some(path) = &self.file {
            let _ = std::fs::remove_file(path);
        }
    }

    fn write(&self, state: &State) -> Result<(), LinkError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let mut lines: Vec<_> = state
            .texts
            .iter()
            .map(|(approver, link)| format!("{approver}\t{link}\n"))
            .collect();
        lines.sort_unstable();
        // A new file each time: one that somebody else made first, with rights of its own, is never
        // written into.
        let beside = path.with_extension("new");
        let written = std::fs::remove_file(&beside).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        let written = written.and_then(|()| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(lines.concat().as_bytes())?;
            std::fs::rename(&beside, path)
        });
        written.map_err(|source| LinkError::File {
            path: path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(link: &str) -> &str {
        link.split_once("/#").unwrap().1
    }

    #[test]
    fn a_link_opens_one_session() {
        let links = Links::new("http://127.0.0.1:1".into(), None);
        let link = links.open("Grace").unwrap();
        let (session, name) = links.redeem(token(&link), 0).unwrap().unwrap();
        assert_eq!(&*name, "Grace");
        assert!(links.redeem(token(&link), 0).unwrap().is_none());
        assert_eq!(links.approver(&session, 1).as_deref(), Some("Grace"));
        assert!(links.approver(&session, SESSION_MILLISECONDS).is_none());
        for wrong in ["", token(&link), &session.to_uppercase(), &"0".repeat(64)] {
            assert!(links.approver(wrong, 1).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_newer_link_ends_the_older_one() {
        let links = Links::new("http://127.0.0.1:1".into(), None);
        let older = links.open("Grace").unwrap();
        let other = links.open("Ada").unwrap();
        let newer = links.open("Grace").unwrap();
        assert!(links.redeem(token(&older), 0).unwrap().is_none());
        assert!(links.redeem(token(&newer), 0).unwrap().is_some());
        assert!(links.redeem(token(&other), 0).unwrap().is_some());
    }

    #[test]
    fn the_file_holds_the_next_link_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("door-links-{}", std::process::id()));
        std::fs::write(&path, "somebody else's").unwrap();
        let links = Links::new("http://127.0.0.1:1".into(), Some(path.clone()));
        let first = links.open("Grace").unwrap();
        let read = || std::fs::read_to_string(&path).unwrap();
        assert_eq!(read(), format!("Grace\t{first}\n"));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        links.redeem(token(&first), 0).unwrap().unwrap();
        let next = read();
        assert_ne!(next, format!("Grace\t{first}\n"));
        assert!(links.redeem(token(next.trim()), 0).unwrap().is_some());
        links.close();
        assert!(!path.exists());
    }
}
