//! The signer's side: a private key from the configuration, or from a folder that changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_identity::{SigningKey, SigningKeyFile};
use serde::{Deserialize, Serialize};

use crate::read::{private_file, public_file, read_private, read_set};
use crate::watch::Watched;
use crate::{Jwk, JwkSet, KeysError};

/// Where a signer's key is, as its configuration says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SigningKeySource {
    /// In the configuration itself; it stays until a restart.
    Inline(SigningKeyFile),
    /// In a folder, whose `jwks.json` is looked at once a second.
    Folder(FolderOfKeys),
}

/// A folder of keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderOfKeys {
    /// The folder's path.
    pub folder: PathBuf,
}

/// The key that signs, as it stands at a second.
#[derive(Debug)]
pub enum Signer {
    /// The same one until a restart, and its public half.
    Fixed(Arc<SigningKey>, JwkSet),
    /// Of a folder, the one whose time it is.
    Folder(FolderKeys),
}

/// See [`Signer::Folder`].
#[derive(Debug)]
pub struct FolderKeys(Watched<Pairs>);

/// The keys of a folder whose private half is there.
struct Pairs {
    public: JwkSet,
    keys: Vec<(Jwk, Arc<SigningKey>)>,
}

impl Signer {
    /// Reads the key for the first time, at this Unix second.
    ///
    /// # Errors
    /// [`KeysError`] when none may sign; whoever asked does not start then.
    pub fn open(source: &SigningKeySource, now: u64) -> Result<Self, KeysError> {
        match source {
            SigningKeySource::Inline(file) => {
                let public = Jwk::new(&file.verifying_key_file()?, now, now)?;
                let key = Arc::new(SigningKey::from_file(file)?);
                Ok(Self::Fixed(key, JwkSet { keys: vec![public] }))
            }
            SigningKeySource::Folder(FolderOfKeys { folder }) => {
                let public = public_file(folder);
                let signer = Self::Folder(FolderKeys(Watched::open(public, read, now)?));
                match signer.key(now) {
                    Some(_) => Ok(signer),
                    None => Err(KeysError::NoneSigns(folder.clone())),
                }
            }
        }
    }

    /// The key that signs at this Unix second; none when each ended or was revoked, or nobody can say.
    #[must_use]
    pub fn key(&self, now: u64) -> Option<Arc<SigningKey>> {
        match self {
            Self::Fixed(key, _) => Some(Arc::clone(key)),
            Self::Folder(FolderKeys(folder)) => {
                let pairs = folder.current(now)?;
                let may_sign = pairs.keys.iter().filter(|(public, _)| public.may_sign(now));
                let latest = may_sign.max_by_key(|(public, _)| public.nbf)?;
                Some(Arc::clone(&latest.1))
            }
        }
    }

    /// The public keys at this Unix second, for whoever asks; no key that ended or was revoked is among them.
    #[must_use]
    pub fn public(&self, now: u64) -> JwkSet {
        let set = match self {
            Self::Fixed(_, public) => public.clone(),
            Self::Folder(FolderKeys(folder)) => folder
                .current(now)
                .map(|pairs| pairs.public.clone())
                .unwrap_or_default(),
        };
        let good = set.keys.into_iter().filter(|key| key.verifies(now));
        JwkSet {
            keys: good.collect(),
        }
    }
}

fn read(path: &Path) -> Result<Pairs, KeysError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let public = read_set(path)?;
    let mut keys = Vec::new();
    for entry in public.keys.iter().filter(|key| key.revoked.is_none()) {
        // A replica that was not handed the new key yet goes on with the old one until that ends.
        let Some(file) = read_private(folder, &entry.kid)? else {
            continue;
        };
        if file.verifying_key_file()?.bytes()? != entry.verifying_key_file()?.bytes()? {
            return Err(KeysError::Mismatched(private_file(folder, &entry.kid)));
        }
        keys.push((entry.clone(), Arc::new(SigningKey::from_file(&file)?)));
    }
    Ok(Pairs { public, keys })
}
