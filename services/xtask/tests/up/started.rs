//! A started bank, seen from outside.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time for a start, the build of the services included.
const STARTS_IN: Duration = Duration::from_secs(900);

/// A bank's own folder for one test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("countersign-up-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        // Closed to others, as a home is: services of other users must manage all the same.
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .expect("a folder");
        Self(folder)
    }

    /// Every file that was kept, but PostgreSQL's own data.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("list") {
                let path = entry.expect("entry").path();
                if !path.is_dir() {
                    files.push(path);
                } else if path.file_name().is_some_and(|name| name != "data") {
                    folders.push(path);
                }
            }
        }
        files
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn xtask(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign-xtask"));
    command
        .arg("--folder")
        .arg(&scratch.0)
        .args(arguments)
        .env_remove("DATABASE_URL");
    command
}

/// Runs a command to its end: what it printed, or what it complained about.
pub fn run(scratch: &Scratch, arguments: &[&str]) -> Result<String, String> {
    run_with(scratch, arguments, |_| {})
}

/// The same, in an environment of the caller's.
pub fn run_with(
    scratch: &Scratch,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
) -> Result<String, String> {
    let mut command = xtask(scratch, arguments);
    change(&mut command);
    let output = command.output().expect("runs");
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A bank that `up` started. Dropped while it still runs, it is killed.
pub struct Started {
    supervisor: Child,
    base: u16,
    pub address: String,
}

impl Started {
    pub fn up(scratch: &Scratch, more: &[&str]) -> Self {
        let base = five_free_ports();
        let mut supervisor = xtask(scratch, &["up", "--port-base", &base.to_string()])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let output = supervisor.stdout.take().expect("piped");
        let (sender, lines) = mpsc::channel();
        // Read to the end, so that the supervisor never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let deadline = Instant::now() + STARTS_IN;
        let address = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = lines
                .recv_timeout(left)
                .expect("an address, before it ended");
            if let Some(address) = line.trim().strip_prefix("Open") {
                break address.trim().to_owned();
            }
        };
        Self {
            supervisor,
            base,
            address,
        }
    }

    /// The token in an address of this bank.
    pub fn token_of(&self, address: &str) -> String {
        let prefix = format!("http://localhost:{}/#", self.base);
        let token = address
            .strip_prefix(&prefix)
            .unwrap_or_else(|| panic!("{address}"));
        assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
        token.to_owned()
    }

    /// A first port that this bank does not use.
    pub fn other_ports(&self) -> String {
        five_free_ports().to_string()
    }

    pub fn get_status(&self, path: &str) -> u16 {
        self.status(
            &format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n", self.base),
            "",
        )
    }

    pub fn log_in(&self, token: &str) -> u16 {
        let origin = format!("localhost:{}", self.base);
        let head = format!(
            "POST /login HTTP/1.1\r\nHost: {origin}\r\nOrigin: http://{origin}\r\n\
             Content-Type: application/json\r\n"
        );
        self.status(&head, &format!(r#"{{"token":"{token}"}}"#))
    }

    fn status(&self, head: &str, body: &str) -> u16 {
        let mut stream = TcpStream::connect(("localhost", self.base)).expect("connect");
        let length = body.len();
        write!(
            stream,
            "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .expect("write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_default()
    }

    /// The supervisor's children that run now.
    pub fn children(&self) -> Vec<Process> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").expect("list").flatten() {
            let Some(process) = Process::at(&entry.path()) else {
                continue;
            };
            if process.parent == self.supervisor.id() {
                found.push(process);
            }
        }
        found
    }

    /// Presses Ctrl-C and waits for the end.
    pub fn interrupt(mut self) -> Duration {
        let began = Instant::now();
        let signalled = Command::new("kill")
            .args(["-INT", &self.supervisor.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(signalled.success());
        let status = self.supervisor.wait().expect("ends");
        assert!(status.success(), "it ended with {status}");
        began.elapsed()
    }

    /// Kills the supervisor, so that it can clear nothing up.
    pub fn kill(mut self) {
        self.supervisor.kill().expect("killed");
        self.supervisor.wait().expect("ends");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

/// A process, known by its id and its start, since ids come again.
#[derive(Debug)]
pub struct Process {
    folder: PathBuf,
    parent: u32,
    started: String,
}

impl Process {
    fn at(folder: &Path) -> Option<Self> {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        // The name stands in brackets and may hold anything.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.to_owned();
        (state != "Z").then(|| Self {
            folder: folder.to_path_buf(),
            parent,
            started,
        })
    }

    pub fn runs(&self) -> bool {
        Self::at(&self.folder).is_some_and(|now| now.started == self.started)
    }

    pub fn arguments(&self) -> String {
        fs::read_to_string(self.folder.join("cmdline")).unwrap_or_default()
    }

    pub fn environment(&self) -> String {
        // A process that is closed to others cannot be read without privileges; then there is no leak.
        fs::read_to_string(self.folder.join("environ")).unwrap_or_default()
    }
}

fn five_free_ports() -> u16 {
    // Each caller of this process looks at ports of its own.
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        // Above the default, below what the system gives to clients; spread, so that runs seldom meet.
        let spread = u16::try_from(std::process::id() % 1000).unwrap_or(0);
        let base = 18_480 + (spread * 12 + step * 6) % 12_000;
        let free = (base..base + 5).all(|port| {
            ["127.0.0.1", "::1"]
                .iter()
                .all(|host| TcpListener::bind((*host, port)).is_ok())
        });
        if free {
            return base;
        }
    }
}
