//! What a bank of this checkout keeps between two starts, and what only lives while it runs.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_testkit::postgres::Owner;
use countersign_testkit::{checkout, files, secrets, spawn};

/// The bank's own folder, `.countersign` in the checkout, locked while this value lives.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    _lock: fs::File,
}

impl State {
    /// Opens the folder, making it when missing; with `fresh` everything that was kept is deleted first.
    ///
    /// # Errors
    /// When another start of this checkout runs, or the folder cannot be made.
    pub fn open(fresh: bool) -> anyhow::Result<Self> {
        let folder = folder();
        files::make_folder(&folder, 0o700)?;
        let lock = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(folder.join("lock"))?;
        if lock.try_lock().is_err() {
            bail!(
                "this bank runs already; `cargo xtask open` prints an address of it, and Ctrl-C in its \
                 own terminal stops it"
            );
        }
        let state = Self {
            folder,
            _lock: lock,
        };
        // A start that was killed could not clear these away itself.
        if let Some(left) = last_runtime_folder() {
            let _ = fs::remove_dir_all(left);
        }
        if fresh {
            state.forget_everything()?;
        }
        Ok(state)
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the cluster's data lies: here, unless it belongs to a user who cannot walk to here.
    #[must_use]
    pub fn cluster_folder(owner: Owner) -> PathBuf {
        match owner {
            Owner::Same | Owner::Namespace => folder().join("postgres"),
            Owner::User { .. } => {
                let mut hash = DefaultHasher::new();
                checkout::root().hash(&mut hash);
                PathBuf::from(format!("/var/lib/countersign-{:016x}", hash.finish()))
            }
        }
    }

    /// Makes the folder of sockets, which lasts as long as the run: short enough a path for a socket, and
    /// open for passing through where services are users of their own.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_runtime_folder(&self) -> anyhow::Result<RuntimeFolder> {
        let root = spawn::effective_uid() == 0;
        let parent = if root {
            PathBuf::from("/run")
        } else {
            std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from)
        };
        let parent = if parent.is_dir() {
            parent
        } else {
            std::env::temp_dir()
        };
        // A name nobody can guess and take first; making it fails if somebody did.
        let path = parent.join(format!(
            "countersign-{}",
            hex(&secrets::random_bytes::<8>()?)
        ));
        fs::create_dir(&path).with_context(|| format!("make the folder {}", path.display()))?;
        files::set_mode(&path, if root { 0o711 } else { 0o700 })?;
        files::write_private(&self.folder.join("runtime"), &path.to_string_lossy())?;
        Ok(RuntimeFolder(path))
    }

    fn forget_everything(&self) -> anyhow::Result<()> {
        let kept = ["postgres", "keys", "logs", "door-log"].map(|name| self.folder.join(name));
        let elsewhere = State::cluster_folder(Owner::User { uid: 0, gid: 0 });
        for path in kept.iter().chain([&elsewhere]) {
            if path.exists() {
                fs::remove_dir_all(path).with_context(|| format!("delete {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// The folder of the run's sockets; removed when dropped.
#[derive(Debug)]
pub struct RuntimeFolder(PathBuf);

impl RuntimeFolder {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for RuntimeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(folder().join("runtime"));
    }
}

/// The folder of the running bank's sockets, or of the last one's that was killed.
#[must_use]
pub fn last_runtime_folder() -> Option<PathBuf> {
    let path = PathBuf::from(fs::read_to_string(folder().join("runtime")).ok()?.trim());
    let ours = path.file_name()?.to_str()?.starts_with("countersign-");
    (ours && path.is_absolute()).then_some(path)
}

fn folder() -> PathBuf {
    checkout::root().join(".countersign")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
