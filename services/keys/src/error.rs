//! Why keys cannot be read, used or changed.

use std::path::PathBuf;

/// Why keys cannot be read, used or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// A file cannot be read or written.
    #[error("{path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file has another form.
    #[error("{path}: {what}")]
    Malformed {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Everybody can read a private key, or a group can change it.
    #[error(
        "{0}: everybody can read it or a group change it; `chmod g-w,o= {0}`, and rotate the key if it was exposed"
    )]
    Exposed(PathBuf),
    /// A private key is not the one that the set names.
    #[error("{0}: this private key is not the one that jwks.json names")]
    Mismatched(PathBuf),
    /// No key may sign now.
    #[error(
        "{0}: no key may sign now, each ended or was revoked; make one with `countersign keys rotate`"
    )]
    NoneSigns(PathBuf),
    /// There are keys already.
    #[error("{0}: there are keys here already; replace one with `countersign keys rotate`")]
    Exists(PathBuf),
    /// No key of this name.
    #[error("{0}: no key of this name here; `countersign keys show` lists them")]
    Unknown(String),
    /// An overlap shorter than a token lives would refuse tokens that are good.
    #[error("an overlap of {asked} s is shorter than a token's life: give {least} s or more")]
    Overlap {
        /// What was asked for, in seconds.
        asked: u64,
        /// The least that refuses nobody, in seconds.
        least: u64,
    },
    /// A key cannot be used.
    #[error("use the key")]
    Key(#[from] countersign_identity::KeyError),
}

impl KeysError {
    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(crate) fn malformed(path: &std::path::Path, what: impl ToString) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }
}
