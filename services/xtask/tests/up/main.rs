//! The README's first command, run as a newcomer runs it: the real program, its real children.

mod started;

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use started::{Scratch, Started, run};

#[test]
fn one_command_starts_the_bank_and_a_second_start_keeps_it() {
    let scratch = Scratch::new("story");
    let bank = Started::up(&scratch, &[]);

    // One address, good for one sign-in.
    let token = bank.token_of(&bank.address);
    assert_eq!(bank.get_status("/"), 200);
    assert_eq!(bank.log_in(&token), 204);
    assert_eq!(bank.log_in(&token), 401, "the address works once");

    // Fresh ones over the starter's own socket.
    let kabirs = run(&scratch, &["open", "--as", "kabir"]).expect("an address");
    assert_eq!(bank.log_in(&bank.token_of(&kabirs)), 204);
    let refused = run(&scratch, &["open", "--as", "mallory"]).expect_err("nobody of that name");
    assert!(refused.contains("there are Ada, Kabir"), "{refused}");
    let session = run(&scratch, &["token", "ada"]).expect("a token");
    assert_eq!(
        session.trim().split('.').count(),
        3,
        "three parts: {session}"
    );
    let unused = bank.token_of(&run(&scratch, &["open"]).expect("an address"));

    // A second start beside it says so.
    let refused = run(&scratch, &["up", "--port-base", &bank.other_ports()]).expect_err("runs");
    assert!(refused.contains("runs already"), "{refused}");

    let children = bank.children();
    assert!(
        children.len() >= 6,
        "five services and PostgreSQL: {children:?}"
    );
    let took = bank.interrupt();
    assert!(took < Duration::from_secs(8), "Ctrl-C took {took:?}");
    assert!(
        children.iter().all(|child| !child.runs()),
        "somebody stayed behind"
    );
    let refused = run(&scratch, &["open"]).expect_err("nothing runs");
    assert!(refused.contains("cargo xtask up"), "{refused}");

    // What was kept: an address that nobody used. It still signs in.
    let again = Started::up(&scratch, &[]);
    assert_eq!(
        again.log_in(&unused),
        204,
        "the data of the first start is gone"
    );
    again.interrupt();
}

#[test]
fn a_killed_start_leaves_nobody_behind_and_fresh_begins_anew() {
    let scratch = Scratch::new("killed");
    let bank = Started::up(&scratch, &[]);
    let unused = bank.token_of(&run(&scratch, &["open"]).expect("an address"));
    let children = bank.children();
    bank.kill();
    let deadline = Instant::now() + Duration::from_secs(10);
    while children.iter().any(started::Process::runs) {
        assert!(
            Instant::now() < deadline,
            "a child outlived its killed parent"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let again = Started::up(&scratch, &["--fresh"]);
    assert_eq!(again.log_in(&unused), 401, "--fresh kept something");
    again.interrupt();
}

#[test]
fn no_child_holds_a_secret_in_its_arguments_or_environment() {
    let scratch = Scratch::new("secrets");
    let bank = Started::up(&scratch, &[]);
    let mut services = 0;
    for child in bank.children() {
        let (arguments, environment) = (child.arguments(), child.environment());
        if arguments.contains("countersign-") && arguments.contains("--config-stdin") {
            services += 1;
            assert_eq!(
                arguments
                    .split('\0')
                    .filter(|part| !part.is_empty())
                    .count(),
                2
            );
            assert_eq!(environment, "", "{arguments}");
        }
        for text in [&arguments, &environment] {
            assert!(
                !text.contains("PRIVATE KEY") && !text.contains("postgres://"),
                "{text}"
            );
        }
    }
    assert_eq!(services, 6);
    // Nor does a log, and only its owner reads what is kept.
    for entry in scratch.files() {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&entry).expect("there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is open to others", entry.display());
        if entry
            .extension()
            .is_some_and(|extension| extension == "log")
        {
            let text = fs::read_to_string(&entry).unwrap_or_default();
            let secret = ["PRIVATE KEY", "postgres://"]
                .iter()
                .any(|word| text.contains(word));
            assert!(!secret, "{} holds a secret", entry.display());
        }
    }
    bank.interrupt();
}

/// Takes a port whose five neighbours, two before it and three behind, nobody has.
fn alone_among_free(address: &str) -> TcpListener {
    for _ in 0..50 {
        let other = TcpListener::bind((address, 0)).expect("bind");
        let port = other.local_addr().expect("address").port();
        let is_free = |port: u16| {
            ["127.0.0.1", "::1"]
                .iter()
                .all(|address| TcpListener::bind((*address, port)).is_ok())
        };
        if (port - 2..=port + 3)
            .filter(|one| *one != port)
            .all(is_free)
        {
            return other;
        }
    }
    panic!("no port has five free neighbours");
}

#[test]
fn a_taken_port_and_a_missing_postgresql_are_one_clear_sentence() {
    let scratch = Scratch::new("refused");
    for address in ["127.0.0.1", "::1"] {
        // The taken one is the third, and the only one.
        let other = alone_among_free(address);
        let port = other.local_addr().expect("address").port();
        let base = (port - 2).to_string();
        let refused = run(&scratch, &["up", "--port-base", &base]).expect_err("taken");
        let wanted = format!("port {port} is taken by another program; choose other ports");
        assert!(
            refused.contains(&wanted) && refused.contains("--port-base"),
            "{refused}"
        );
    }
    let refused = started::run_with(&scratch, &["up", "--port-base", "28480"], |command| {
        command.env("COUNTERSIGN_PG_BIN", "/nowhere");
    })
    .expect_err("no PostgreSQL there");
    assert!(
        refused.contains("COUNTERSIGN_PG_BIN names /nowhere"),
        "{refused}"
    );
}
