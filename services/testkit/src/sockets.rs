//! Which sockets a child may make: a filter on system calls, beside the cage.
//!
//! Landlock holds TCP ports and nothing else. Left to it alone, a child reaches any port by multipath TCP
//! or with the first bytes of TCP Fast Open, asks the kernel by netlink for the path of every socket in the
//! file system and connects to them, or sends datagrams anywhere. So what a child has no business with is
//! not there for it: families, protocols, and the calls that would go around this filter.

use std::io;

/// What a child makes sockets for, beyond plain TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sockets {
    /// For a database: sockets in the file system, and datagrams for looking up its host's name.
    pub database: bool,
}

/// A prepared filter, which a child enters between fork and exec and never leaves.
#[derive(Clone, Debug)]
pub struct SocketFilter(kernel::Program);

impl SocketFilter {
    /// Prepares the filter; none where this system knows no such filters.
    #[must_use]
    pub fn prepare(allowed: Sockets) -> Option<Self> {
        Self::works().then(|| Self(kernel::program(allowed)))
    }

    /// Whether this system has such filters.
    #[must_use]
    pub fn works() -> bool {
        kernel::works()
    }

    /// Enters for good. To be called between fork and exec, after the child gave up new privileges.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn enter(&self) -> io::Result<()> {
        kernel::enter(&self.0)
    }
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod kernel {
    use std::io;

    use libc::{c_int, c_long, sock_filter, sock_fprog};

    use super::Sockets;

    pub(super) type Program = Vec<sock_filter>;

    /// What the filter reads: `struct seccomp_data`, by offsets. Of an argument the lower half is read, as
    /// the kernel's own `int` parameters are.
    const NUMBER_AT: u32 = 0;
    const ARCHITECTURE_AT: u32 = 4;
    const fn argument_at(index: u32) -> u32 {
        16 + 8 * index
    }

    #[cfg(target_arch = "x86_64")]
    const ARCHITECTURE: u32 = 0xC000_003E;
    #[cfg(target_arch = "aarch64")]
    const ARCHITECTURE: u32 = 0xC000_00B7;
    /// Numbers from here on are the same calls under another name (x32).
    const FOREIGN_NUMBERS: u32 = 0x4000_0000;

    /// Sends and connects in one step, which Landlock does not look at.
    const MSG_FASTOPEN: u32 = 0x2000_0000;
    /// Puts another protocol in an open TCP socket's place.
    const TCP_ULP: u32 = 31;
    /// The kind of a socket without its flags.
    const KIND_MASK: u32 = 0xF;

    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    const ANSWER: u32 = libc::BPF_RET | libc::BPF_K;

    const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES.cast_unsigned();

    /// One instruction; a jump skips `yes` or `no` instructions.
    fn step(code: u32, value: u32, yes: usize, no: usize) -> sock_filter {
        let skip = |count| u8::try_from(count).unwrap_or(u8::MAX);
        sock_filter {
            code: u16::try_from(code).unwrap_or(u16::MAX),
            jt: skip(yes),
            jf: skip(no),
            k: value,
        }
    }

    fn answer(value: u32) -> sock_filter {
        step(ANSWER, value, 0, 0)
    }

    /// `body`, which ends with an answer, for the call of this number alone.
    fn on_call(number: c_long, body: &[sock_filter]) -> Program {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut program = vec![
            step(LOAD, NUMBER_AT, 0, 0),
            step(IF_EQUAL, number, 0, body.len()),
        ];
        program.extend_from_slice(body);
        program
    }

    /// Allows when family, kind and protocol are these; else goes on with the next instruction.
    fn allow_socket(family: c_int, kind: c_int, protocol: c_int) -> [sock_filter; 8] {
        let [family, kind, protocol] = [family, kind, protocol].map(c_int::cast_unsigned);
        [
            step(LOAD, argument_at(0), 0, 0),
            step(IF_EQUAL, family, 0, 6),
            step(LOAD, argument_at(1), 0, 0),
            step(AND, KIND_MASK, 0, 0),
            step(IF_EQUAL, kind, 0, 3),
            step(LOAD, argument_at(2), 0, 0),
            step(IF_EQUAL, protocol, 0, 1),
            answer(libc::SECCOMP_RET_ALLOW),
        ]
    }

    /// Refuses when any bit of `bits` stands in the argument.
    fn refuse_bits(argument: u32, bits: u32) -> [sock_filter; 4] {
        [
            step(LOAD, argument_at(argument), 0, 0),
            step(IF_ANY_BIT, bits, 0, 1),
            answer(REFUSED),
            answer(libc::SECCOMP_RET_ALLOW),
        ]
    }

    pub(super) fn program(allowed: Sockets) -> Program {
        let mut sockets = Program::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in [0, libc::IPPROTO_TCP] {
                sockets.extend(allow_socket(family, libc::SOCK_STREAM, protocol));
            }
            if allowed.database {
                for protocol in [0, libc::IPPROTO_UDP] {
                    sockets.extend(allow_socket(family, libc::SOCK_DGRAM, protocol));
                }
            }
        }
        if allowed.database {
            sockets.extend(allow_socket(libc::AF_UNIX, libc::SOCK_STREAM, 0));
        }
        sockets.push(answer(REFUSED));
        // A runtime wakes itself over a pair. A pair of streams cannot be connected to anything else.
        let mut pairs = allow_socket(libc::AF_UNIX, libc::SOCK_STREAM, 0).to_vec();
        pairs.push(answer(REFUSED));
        let switch_protocol = [
            step(LOAD, argument_at(1), 0, 0),
            step(IF_EQUAL, libc::IPPROTO_TCP.cast_unsigned(), 0, 3),
            step(LOAD, argument_at(2), 0, 0),
            step(IF_EQUAL, TCP_ULP, 0, 1),
            answer(REFUSED),
            answer(libc::SECCOMP_RET_ALLOW),
        ];
        let mut program = vec![
            step(LOAD, ARCHITECTURE_AT, 0, 0),
            step(IF_EQUAL, ARCHITECTURE, 1, 0),
            answer(REFUSED),
            step(LOAD, NUMBER_AT, 0, 0),
            step(IF_AT_LEAST, FOREIGN_NUMBERS, 0, 1),
            answer(REFUSED),
        ];
        program.extend(on_call(libc::SYS_socket, &sockets));
        program.extend(on_call(libc::SYS_socketpair, &pairs));
        program.extend(on_call(libc::SYS_sendto, &refuse_bits(3, MSG_FASTOPEN)));
        program.extend(on_call(libc::SYS_sendmsg, &refuse_bits(2, MSG_FASTOPEN)));
        program.extend(on_call(libc::SYS_sendmmsg, &refuse_bits(3, MSG_FASTOPEN)));
        program.extend(on_call(libc::SYS_setsockopt, &switch_protocol));
        // Its queue makes sockets and sends without any of the calls above.
        for number in [
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
        ] {
            program.extend(on_call(number, &[answer(REFUSED)]));
        }
        program.push(answer(libc::SECCOMP_RET_ALLOW));
        program
    }

    #[expect(unsafe_code, reason = "a system call that reads one integer of ours")]
    pub(super) fn works() -> bool {
        let action: u32 = libc::SECCOMP_RET_ERRNO;
        // SAFETY: the pointer is to a live local.
        unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_ACTION_AVAIL,
                0,
                &raw const action,
            ) == 0
        }
    }

    #[expect(unsafe_code, reason = "a system call that reads the program")]
    pub(super) fn enter(program: &Program) -> io::Result<()> {
        let described = sock_fprog {
            len: u16::try_from(program.len())
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?,
            filter: program.as_ptr().cast_mut(),
        };
        // SAFETY: the kernel copies `len` instructions from a live vector and writes none.
        let code = unsafe {
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const described,
            )
        };
        if code == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod kernel {
    use std::io;

    use super::Sockets;

    pub(super) type Program = ();

    pub(super) fn program(_allowed: Sockets) -> Program {}

    pub(super) fn works() -> bool {
        false
    }

    pub(super) fn enter(_program: &Program) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};
    use std::path::Path;
    use std::process::Stdio;

    use super::*;
    use crate::spawn::Spawn;

    /// What a shell behind a filter gets done: a call, and a datagram.
    fn said(filter: Option<SocketFilter>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("bind");
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{} && echo tcp; exec 4<>/dev/udp/127.0.0.1/{} && echo udp",
            listener.local_addr().expect("address").port(),
            receiver.local_addr().expect("address").port(),
        );
        let mut spawn = Spawn::new(Path::new("/bin/bash")).sockets(filter);
        spawn
            .command()
            .arg("-c")
            .arg(script)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let output = spawn.start().expect("starts").wait_with_output();
        String::from_utf8(output.expect("ends").stdout).expect("text")
    }

    #[test]
    fn a_child_makes_the_sockets_it_has_business_with() {
        assert_eq!(said(None), "tcp\nudp\n");
        if !SocketFilter::works() {
            return;
        }
        assert_eq!(said(SocketFilter::prepare(Sockets::default())), "tcp\n");
        let database = Sockets { database: true };
        assert_eq!(said(SocketFilter::prepare(database)), "tcp\nudp\n");
    }
}
