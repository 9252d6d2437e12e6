//! The programs under measurement: the door as it is released, the relay, nginx, and a folder for their files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// Where everything of one run lies.
pub struct Workshop {
    folder: PathBuf,
    /// The released door.
    pub door: PathBuf,
    /// The screens' own measurement.
    pub throughput: PathBuf,
    /// The relay of bytes.
    pub relay: PathBuf,
    /// nginx, where the system has one or its package can be unpacked.
    pub nginx: Option<PathBuf>,
}

impl Workshop {
    /// Builds and finds the programs.
    ///
    /// # Errors
    /// When a program cannot be built.
    pub fn set_up() -> anyhow::Result<Self> {
        let own = std::env::current_exe()?;
        let target = own
            .parent()
            .and_then(Path::parent)
            .context("find the target folder")?;
        println!("Building the door as it is released");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args([
            "build",
            "--release",
            "--package",
            "countersign-door",
            "--target-dir",
        ]);
        must(build.arg(target).current_dir(Self::sources()))?;
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--release", "--package", "countersign-screening"]);
        build.args(["--example", "throughput", "--target-dir"]);
        must(build.arg(target).current_dir(Self::sources()))?;
        let folder = target.join("bench");
        std::fs::create_dir_all(&folder)?;
        let relay = folder.join("relay");
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-pthread", "-w", "-o"]).arg(&relay);
        must(compile.arg(Self::sources().join("load/relay.c")))?;
        let nginx = nginx(&folder);
        if nginx.is_none() {
            println!(
                "No nginx here: the bars beside it are not measured. Install the package nginx."
            );
        }
        Ok(Self {
            door: target.join("release/countersign-door"),
            throughput: target.join("release/examples/throughput"),
            relay,
            nginx,
            folder,
        })
    }

    /// The crate's own folder, where the load client lies.
    pub fn sources() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    /// The folder of this run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file that only its user may read, and returns its place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = self.folder.join(name);
        let _ = std::fs::remove_file(&path);
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// The folder with the key that signs the records' heads, the same all through a run.
    ///
    /// # Errors
    /// When the key cannot be made.
    pub fn keys(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join("keys");
        if !folder.exists() {
            let mut make = Command::new(&self.door);
            make.args([
                "keys",
                "init",
                "--origin",
                "countersign.example/bench",
                "--keys",
            ]);
            must(make.arg(&folder))?;
        }
        Ok(folder)
    }

    /// An empty folder for one target's record.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn record(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Runs a command that has to succeed.
///
/// # Errors
/// When it cannot be started or fails.
pub fn must(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("start {program}"))?;
    ensure!(status.success(), "{program} failed");
    Ok(())
}

/// nginx on the path, or unpacked from Debian's package without being installed.
fn nginx(folder: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    let unpacked = folder.join("nginx");
    places.push(unpacked.join("usr/sbin"));
    let find = || {
        places
            .iter()
            .map(|place| place.join("nginx"))
            .find(|file| file.is_file())
    };
    find().or_else(|| {
        std::fs::create_dir_all(&unpacked).ok()?;
        must(
            Command::new("apt-get")
                .args(["download", "-qq", "nginx"])
                .current_dir(&unpacked),
        )
        .ok()?;
        let package = std::fs::read_dir(&unpacked)
            .ok()?
            .flatten()
            .map(|entry| entry.path());
        let package = package
            .into_iter()
            .find(|path| path.extension().is_some_and(|kind| kind == "deb"))?;
        must(Command::new("dpkg").arg("-x").arg(package).arg(&unpacked)).ok()?;
        find()
    })
}
