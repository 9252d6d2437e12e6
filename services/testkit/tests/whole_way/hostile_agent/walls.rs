//! Which attempt meets which wall, and what is harmless, in words.

use std::collections::BTreeMap;

use countersign_testkit::cage::Cage;
use countersign_testkit::sockets::SocketFilter;
use countersign_testkit::spawn;

use super::place::Outcome;

/// The walls around a process.
#[derive(Clone, Copy, Debug)]
pub struct Walls {
    /// It runs as a user of its own.
    pub user: bool,
    /// Landlock holds it.
    pub cage: bool,
    /// It can make plain TCP sockets alone.
    pub filter: bool,
}

impl Walls {
    /// What this system can build around the agent.
    pub fn of_this_system() -> Self {
        Self {
            user: spawn::effective_uid() == 0,
            cage: Cage::works(),
            filter: SocketFilter::works(),
        }
    }

    /// A user of its own and nothing else.
    pub fn user_alone() -> Self {
        Self {
            user: spawn::effective_uid() == 0,
            cage: false,
            filter: false,
        }
    }
}

/// What must come of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Must {
    Fail,
    /// It may succeed, and gives nothing, because of this.
    BeHarmless(&'static str),
    /// No wall that this system has stands before it; `up` says on its first lines which ones stand.
    BeStated,
}

fn fail_if(wall: bool) -> Must {
    if wall { Must::Fail } else { Must::BeStated }
}

fn fail_or(wall: bool, harmless: &'static str) -> Must {
    if wall {
        Must::Fail
    } else {
        Must::BeHarmless(harmless)
    }
}

/// What must come of `attempt` inside of `walls`. An attempt without a rule here must fail.
fn rule(attempt: &str, walls: Walls, door_port: u16) -> Must {
    let Walls { user, cage, filter } = walls;
    let private = fail_if(user || cage);
    let has = |text: &str| attempt.contains(text);
    if attempt.starts_with("listen on ") {
        return if has(" by udp") {
            fail_or(
                filter,
                "no page of the bank speaks HTTP/3, so a datagram socket answers no browser",
            )
        } else {
            // The port is another's, in every way of asking.
            Must::Fail
        };
    }
    if attempt.starts_with("connect to ") && has(" by ") {
        let allowed = has(&format!(":{door_port} "));
        return match attempt.rsplit(" by ").next() {
            Some("tcp") if allowed => Must::BeHarmless("the door is what the agent calls"),
            Some("tcp") => fail_or(cage, "whoever connects there needs a cookie or a token"),
            _ => fail_or(
                filter,
                "whoever connects there needs a cookie or a token, and a datagram is read by nobody",
            ),
        };
    }
    match attempt {
        "start a shell" => {
            return Must::BeHarmless("what the agent starts stands inside of the same walls");
        }
        "become root"
        | "join the database's group"
        | "change the root folder"
        | "mount a file system"
        | "make a raw socket"
        | "make a raw TCP socket"
        | "make a packet socket" => return Must::Fail,
        _ => {}
    }
    if attempt.starts_with("make ") || attempt.starts_with("put another protocol") {
        return fail_or(filter, "it reaches nothing by itself");
    }
    if attempt.starts_with("log in as ") {
        return Must::Fail;
    }
    if attempt.starts_with("connect to @") || attempt.starts_with("send a datagram to @") {
        return fail_if(filter || cage);
    }
    if attempt.starts_with("connect to /") || attempt.starts_with("send a datagram to /") {
        return fail_if(filter || user);
    }
    if has("/cmdline") || has("/status") {
        return fail_or(cage, "arguments hold no secret; the config came by a pipe");
    }
    if attempt.starts_with("read ") && (has("/README.md") || has("/Cargo.toml")) {
        return fail_or(cage, "the source is public");
    }
    if ["read /tmp", "read /home", "read /proc", "read /etc/passwd"].contains(&attempt) {
        return fail_or(cage, "names that every user of the system may see");
    }
    if attempt == "write /tmp" {
        return fail_or(
            cage,
            "everybody's folder; nothing of the bank is read from it",
        );
    }
    private
}

/// Every outcome that the walls should have refused, in words. What was let happen is printed with the reason
/// why it may.
pub fn breaches(outcomes: &[Outcome], walls: Walls, door_port: u16) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut let_happen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.won) {
        let reason = match rule(&outcome.attempt, walls, door_port) {
            Must::Fail => {
                breaches.push(format!("{}: {}", outcome.attempt, outcome.detail));
                continue;
            }
            Must::BeHarmless(reason) => reason,
            Must::BeStated => "this system has no wall there",
        };
        let_happen.entry(reason).or_default().push(&outcome.attempt);
    }
    let refused = outcomes.iter().filter(|outcome| !outcome.won).count();
    println!(
        "{refused} of {} attempts refused, {walls:?}",
        outcomes.len()
    );
    for (reason, attempts) in let_happen {
        println!(
            "  {} let happen: {reason} ({})",
            attempts.len(),
            attempts.join(", ")
        );
    }
    breaches
}
