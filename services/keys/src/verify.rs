//! The verifier's side: public keys from the configuration, or from a file that changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_identity::{VerifyingKeyFile, VerifyingKeys};
use serde::{Deserialize, Serialize};

use crate::watch::Watched;
use crate::{KeysError, read_set};

/// Where a verifier's keys are, as its configuration says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum VerifyingKeySource {
    /// In the configuration itself; they stay until a restart.
    Inline(Vec<VerifyingKeyFile>),
    /// In a file, which is looked at once a second.
    File(JwksFile),
}

/// A file of public keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwksFile {
    /// The JWK set's path.
    pub jwks_file: PathBuf,
}

/// The keys that verify tokens, as they stand at a second.
#[derive(Debug)]
pub enum Verifier {
    /// The same ones until a restart.
    Fixed(Arc<VerifyingKeys>),
    /// Those of a file. None while every key of it has ended or was revoked.
    File(FileKeys),
}

/// See [`Verifier::File`].
#[derive(Debug)]
pub struct FileKeys(Watched<Option<Arc<VerifyingKeys>>>);

impl From<VerifyingKeys> for Verifier {
    fn from(keys: VerifyingKeys) -> Self {
        Self::Fixed(Arc::new(keys))
    }
}

impl Verifier {
    /// Reads the keys for the first time, at this Unix second.
    ///
    /// # Errors
    /// [`KeysError`] when they cannot be used; whoever asked does not start then.
    pub fn open(source: VerifyingKeySource, now: u64) -> Result<Self, KeysError> {
        match source {
            VerifyingKeySource::Inline(files) => Ok(VerifyingKeys::new(files)?.into()),
            VerifyingKeySource::File(JwksFile { jwks_file }) => {
                Ok(Self::File(FileKeys(Watched::open(jwks_file, read, now)?)))
            }
        }
    }

    /// The keys at this Unix second; none when no key is good, or nobody can say which are.
    #[must_use]
    pub fn keys(&self, now: u64) -> Option<Arc<VerifyingKeys>> {
        match self {
            Self::Fixed(keys) => Some(Arc::clone(keys)),
            Self::File(FileKeys(file)) => file.current(now).and_then(|keys| (*keys).clone()),
        }
    }

    /// How often a file was read; no token makes it more.
    #[must_use]
    pub fn readings(&self) -> u64 {
        match self {
            Self::Fixed(_) => 0,
            Self::File(FileKeys(file)) => file.readings(),
        }
    }
}

/// The keys that are not revoked. Each ends by itself at its own second.
fn read(path: &Path) -> Result<Option<Arc<VerifyingKeys>>, KeysError> {
    let set = read_set(path)?;
    let usable = set.keys.iter().filter(|key| key.revoked.is_none());
    let files = usable
        .map(crate::Jwk::verifying_key_file)
        .collect::<Result<Vec<_>, _>>()?;
    if files.is_empty() {
        tracing::error!(path = %path.display(), "Every key was revoked: no token is accepted");
        return Ok(None);
    }
    Ok(Some(Arc::new(VerifyingKeys::new(files)?)))
}
