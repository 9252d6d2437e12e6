//! What a bank of this checkout keeps between two starts, and what only lives while it runs.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use countersign_testkit::postgres::Owner;
use countersign_testkit::{checkout, files, secrets, spawn};

/// Where a bank keeps what it keeps.
#[derive(Clone, Debug)]
pub struct Place(PathBuf);

impl Place {
    /// The given folder, or `.countersign` in the checkout.
    ///
    /// # Errors
    /// When the given folder's whole path cannot be worked out.
    pub fn new(folder: Option<PathBuf>) -> anyhow::Result<Self> {
        let folder = folder.unwrap_or_else(|| checkout::root().join(".countersign"));
        Ok(Self(
            std::path::absolute(folder).context("work out the bank's folder")?,
        ))
    }

    /// The folder of the running bank's sockets, or of the last one's that was killed.
    #[must_use]
    pub fn runtime_folder(&self) -> Option<PathBuf> {
        let path = PathBuf::from(fs::read_to_string(self.runtime_note()).ok()?.trim());
        let ours = path.file_name()?.to_str()?.starts_with("countersign-");
        (ours && path.is_absolute()).then_some(path)
    }

    fn runtime_note(&self) -> PathBuf {
        self.0.join("runtime")
    }

    /// Where the cluster's data lies: here, unless it belongs to a user who cannot walk to here.
    fn cluster_folder(&self, owner: Owner) -> PathBuf {
        match owner {
            Owner::Same | Owner::Namespace => self.0.join("postgres"),
            Owner::User { .. } => {
                let name = self.0.to_string_lossy().replace('/', "-");
                PathBuf::from(format!("/var/lib/countersign{name}"))
            }
        }
    }
}

/// The bank's own folder, locked while this value lives.
#[derive(Debug)]
pub struct State {
    place: Place,
    _lock: fs::File,
}

impl State {
    /// Opens the folder, making it when missing.
    ///
    /// # Errors
    /// When another start in this folder runs, or the folder cannot be made.
    pub fn open(place: Place) -> anyhow::Result<Self> {
        let folder = &place.0;
        files::make_folder(folder, 0o700)?;
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
        // A start that was killed could not clear these away itself.
        if let Some(left) = place.runtime_folder() {
            let _ = fs::remove_dir_all(left);
        }
        Ok(Self { place, _lock: lock })
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.place.0
    }

    /// The folder as a person reads it: from the checkout on, where it lies inside.
    #[must_use]
    pub fn shown(&self) -> String {
        let folder = self.folder();
        folder
            .strip_prefix(checkout::root())
            .unwrap_or(folder)
            .display()
            .to_string()
    }

    /// Where the cluster's data lies when it belongs to `owner`.
    #[must_use]
    pub fn cluster_folder(&self, owner: Owner) -> PathBuf {
        self.place.cluster_folder(owner)
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
        let note = self.place.runtime_note();
        files::write_private(&note, &path.to_string_lossy())?;
        Ok(RuntimeFolder { path, note })
    }

    /// Deletes everything an earlier start has kept.
    ///
    /// # Errors
    /// When something cannot be deleted.
    pub fn forget_everything(&self) -> anyhow::Result<()> {
        let kept = ["postgres", "keys", "logs", "door-log", "panel-state"]
            .map(|name| self.place.0.join(name));
        let elsewhere = self.cluster_folder(Owner::User { uid: 0, gid: 0 });
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
pub struct RuntimeFolder {
    path: PathBuf,
    note: PathBuf,
}

impl RuntimeFolder {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RuntimeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(&self.note);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
