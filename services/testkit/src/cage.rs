//! Shuts a child in with Landlock: the files it may read, the one folder it may write, the ports it may
//! call. It can bind no port, signal no process outside, and start nothing that is freer than itself.
//!
//! Sockets in the file system are not held back by this; the database asks for a password there.

use std::fs::File;
use std::io;

/// What a child needs of the system: its libraries, name lookup, certificates, randomness.
const SYSTEM: [&str; 17] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/dev/random",
    "/dev/urandom",
];

/// What one child may do beyond reading the system's own files.
#[derive(Debug, Default)]
pub struct Allowed<'a> {
    /// Programs it may run: its own.
    pub programs: Vec<&'a File>,
    /// Folders it may read and write.
    pub folders: Vec<&'a File>,
    /// TCP ports it may connect to.
    pub connect_ports: Vec<u16>,
}

/// A prepared cage: an open ruleset that a child enters between fork and exec.
#[derive(Debug)]
pub struct Cage(File);

impl Cage {
    /// Prepares a cage; none where this system has no Landlock or one too old to hold ports (before 6.7).
    ///
    /// # Errors
    /// When a ruleset cannot be made although the system knows them.
    pub fn prepare(allowed: &Allowed<'_>) -> io::Result<Option<Self>> {
        let Some(version) = kernel::version() else {
            return Ok(None);
        };
        let ruleset = kernel::create_ruleset(version)?;
        for path in SYSTEM {
            // What is not there needs no permission.
            if let Ok(file) = File::open(path) {
                kernel::allow_path(&ruleset, &file, kernel::READ | kernel::EXECUTE)?;
            }
        }
        if let Ok(sink) = File::open("/dev/null") {
            kernel::allow_path(&ruleset, &sink, kernel::READ | kernel::WRITE)?;
        }
        for program in &allowed.programs {
            kernel::allow_path(&ruleset, program, kernel::READ | kernel::EXECUTE)?;
        }
        for folder in &allowed.folders {
            kernel::allow_path(&ruleset, folder, kernel::READ | kernel::WRITE)?;
        }
        for port in &allowed.connect_ports {
            kernel::allow_connect(&ruleset, *port)?;
        }
        Ok(Some(Self(ruleset)))
    }

    /// Whether this system can shut a child in.
    #[must_use]
    pub fn works() -> bool {
        kernel::version().is_some()
    }

    /// The number by which a child enters.
    pub(crate) fn descriptor(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.0)
    }
}

/// Enters a cage for good. To be called between fork and exec, after the child gave up new privileges.
///
/// # Errors
/// When the system refuses.
pub(crate) fn enter(ruleset: std::os::fd::RawFd) -> io::Result<()> {
    kernel::restrict_self(ruleset)
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsRawFd, FromRawFd, RawFd};

    pub(super) const EXECUTE: u64 = 1;
    /// Read files and list folders.
    pub(super) const READ: u64 = 1 << 2 | 1 << 3;
    /// Write, truncate, make and remove files and folders, rename between folders.
    pub(super) const WRITE: u64 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14;
    /// What stands on a file and not only on a folder.
    const ON_FILES: u64 = EXECUTE | 1 << 1 | 1 << 2 | 1 << 14;

    /// Ports are held from this version of the interface on.
    const VERSION_MIN: i32 = 4;
    /// Signals and abstract sockets are held from this one on.
    const VERSION_OF_SCOPES: i32 = 6;

    #[repr(C)]
    struct RulesetAttributes {
        files: u64,
        ports: u64,
        scopes: u64,
    }

    #[repr(C, packed)]
    struct PathRule {
        allowed: u64,
        parent: i32,
    }

    #[repr(C)]
    struct PortRule {
        allowed: u64,
        port: u64,
    }

    const RULE_OF_PATH: libc::c_int = 1;
    const RULE_OF_PORT: libc::c_int = 2;
    const CONNECT_TCP: u64 = 1 << 1;

    /// The version of the kernel's Landlock, when it is new enough.
    #[expect(unsafe_code, reason = "a system call that reads no memory")]
    pub(super) fn version() -> Option<i32> {
        const ASK_VERSION: libc::c_uint = 1;
        // SAFETY: with this flag the pointer must be null and the size zero.
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<RulesetAttributes>(),
                0_usize,
                ASK_VERSION,
            )
        };
        i32::try_from(version)
            .ok()
            .filter(|version| *version >= VERSION_MIN)
    }

    #[expect(
        unsafe_code,
        reason = "a system call with a struct of our own, whose result is a descriptor"
    )]
    pub(super) fn create_ruleset(version: i32) -> io::Result<File> {
        // Every right on files that version 4 knows, so that whatever is not allowed is refused.
        let files = (1 << 15) - 1;
        let scoped = version >= VERSION_OF_SCOPES;
        let attributes = RulesetAttributes {
            files,
            ports: 0b11,
            scopes: if scoped { 0b11 } else { 0 },
        };
        // An older kernel refuses a struct with members it does not know.
        let size = size_of::<RulesetAttributes>() - if scoped { 0 } else { size_of::<u64>() };
        // SAFETY: the pointer is to a live local, the size no larger than it.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size,
                0_u32,
            )
        };
        match RawFd::try_from(descriptor) {
            // SAFETY: the kernel has just given us this descriptor; it is closed at exec by default.
            Ok(descriptor) if descriptor >= 0 => Ok(unsafe { File::from_raw_fd(descriptor) }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn allow_path(ruleset: &File, path: &File, wanted: u64) -> io::Result<()> {
        let folder = path.metadata()?.is_dir();
        let allowed = if folder { wanted } else { wanted & ON_FILES };
        let rule = PathRule {
            allowed,
            parent: path.as_raw_fd(),
        };
        add_rule(ruleset, RULE_OF_PATH, (&raw const rule).cast())
    }

    pub(super) fn allow_connect(ruleset: &File, port: u16) -> io::Result<()> {
        let rule = PortRule {
            allowed: CONNECT_TCP,
            port: port.into(),
        };
        add_rule(ruleset, RULE_OF_PORT, (&raw const rule).cast())
    }

    #[expect(unsafe_code, reason = "a system call with a struct of our own")]
    fn add_rule(ruleset: &File, kind: libc::c_int, rule: *const libc::c_void) -> io::Result<()> {
        // SAFETY: both callers pass a live struct of the kind that the number names.
        let code = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                ruleset.as_raw_fd(),
                kind,
                rule,
                0_u32,
            )
        };
        if code == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    #[expect(unsafe_code, reason = "a system call with plain integers")]
    pub(super) fn restrict_self(ruleset: RawFd) -> io::Result<()> {
        // SAFETY: no pointer is passed.
        let code = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0_u32) };
        if code == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::fs::File;
    use std::io;

    pub(super) const EXECUTE: u64 = 0;
    pub(super) const READ: u64 = 0;
    pub(super) const WRITE: u64 = 0;

    pub(super) fn version() -> Option<i32> {
        None
    }

    pub(super) fn create_ruleset(_version: i32) -> io::Result<File> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn allow_path(_ruleset: &File, _path: &File, _wanted: u64) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn allow_connect(_ruleset: &File, _port: u16) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn restrict_self(_ruleset: std::os::fd::RawFd) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::Stdio;

    use super::*;
    use crate::spawn::Spawn;

    #[test]
    fn a_caged_child_reaches_what_it_was_given_and_nothing_else() {
        if !Cage::works() {
            return;
        }
        let folder = std::env::temp_dir().join(format!("countersign-cage-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("own")).expect("folder");
        std::fs::write(folder.join("secret"), "hunter2").expect("write");
        let (friend, stranger) = (listener(), listener());
        let own = File::open(folder.join("own")).expect("open");
        let cage = Cage::prepare(&Allowed {
            programs: Vec::new(),
            folders: vec![&own],
            connect_ports: vec![port(&friend)],
        })
        .expect("prepared")
        .expect("it works here");
        let script = format!(
            "try() {{ if eval \"$2\" 2>/dev/null; then echo \"$1 yes\"; else echo \"$1 no\"; fi; }}\n\
             try own 'echo x > {0}/own/file'\n\
             try secret 'read -r line < {0}/secret'\n\
             try beside 'echo x > {0}/file'\n\
             try friend 'exec 3<>/dev/tcp/127.0.0.1/{1}'\n\
             try stranger 'exec 3<>/dev/tcp/127.0.0.1/{2}'\n\
             try signal 'kill -0 {3}'\n\
             try environ 'read -r line < /proc/{3}/environ'\n",
            folder.display(),
            port(&friend),
            port(&stranger),
            std::process::id(),
        );
        let mut spawn = Spawn::new(Path::new("/bin/bash")).cage(Some(&cage));
        spawn.command().arg("-c").arg(script).stdout(Stdio::piped());
        let mut child = spawn.start().expect("starts");
        let mut said = String::new();
        child
            .stdout
            .take()
            .expect("piped")
            .read_to_string(&mut said)
            .expect("read");
        child.wait().expect("ends");
        let wanted = [
            "own yes",
            "secret no",
            "beside no",
            "friend yes",
            "stranger no",
            "signal no",
            "environ no",
        ];
        assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
        std::fs::remove_dir_all(folder).expect("clean up");
    }

    fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").expect("bind")
    }

    fn port(listener: &TcpListener) -> u16 {
        listener.local_addr().expect("address").port()
    }
}
