//! An attacker owns the agent's process: not a test that plays one, but another program in its place, with
//! the agent's user, cage, descriptors and config, and nothing more.

mod place;
mod seen;
mod siege;
mod tokens;
mod tries;
mod walls;

use anyhow::{Context, ensure};
use countersign_testkit::server::DATABASE_GROUP;
use countersign_testkit::spawn::{self, RunAs};
use countersign_testkit::stack::Listeners;
use countersign_testkit::{Bank, Service, checkout};
use serde_json::{Value, json};

use place::{Answer, Outcome, Place};
use siege::{Siege, ran};
use tokens::{claims, forged_tokens_name_nobody_else, the_door_speaks_of_one_customer};
use walls::{Walls, breaches};

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

#[tokio::test]
async fn the_agent_s_process_holds_its_turn_and_nothing_else() -> anyhow::Result<()> {
    let siege = Siege::begin().await?;
    let (process, turn) = (&siege.held["process"], &siege.held["turn"]);
    let keys = |value: &Value| -> Vec<String> {
        value
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys().cloned())
            .collect()
    };
    assert_eq!(
        keys(turn),
        [
            "history",
            "locale",
            "message",
            "remaining",
            "session_token",
            "turn_id"
        ]
    );
    assert_eq!(keys(&process["config"]), ["door_url", "listen", "model"]);
    assert_eq!(process["config"]["model"], json!({"kind": "offline"}));
    assert_eq!(
        process["arguments"],
        json!(["countersign-agent", "--config-stdin"])
    );
    assert_eq!(process["environment"], json!({}));
    assert_eq!(process["working_folder"], "/");
    let held = claims(siege.token())?;
    assert_eq!(
        keys(&held),
        [
            "aud", "exp", "gsec", "iat", "iss", "jti", "sid", "sub", "turn"
        ]
    );

    // Its input, its log, its own program, and its own port on both addresses.
    let port = siege.bank.stack().port(Service::Agent);
    let mut wanted = vec![
        "pipe".to_owned(),
        "file, to write".to_owned(),
        "file, to write".to_owned(),
    ];
    if spawn::effective_uid() == 0 {
        wanted.push("file, to read".to_owned());
    }
    wanted.extend([
        format!("socket at 127.0.0.1:{port}"),
        format!("socket at [::1]:{port}"),
    ]);
    let mut found: Vec<&str> = process["descriptors"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.values())
        .filter_map(Value::as_str)
        .collect();
    wanted.sort();
    found.sort_unstable();
    assert_eq!(found, wanted);

    if spawn::effective_uid() == 0 {
        let uid = Service::Agent.uid();
        assert_eq!(process["users"], json!([uid, uid]));
        assert_eq!(
            process["groups"],
            json!([uid]),
            "it is in no group of the database's"
        );
    }

    // What was attacked from is what the real agent runs in.
    let real = Bank::start().await?;
    assert_eq!(
        walls_as_the_kernel_sees_them(&siege.bank)?,
        walls_as_the_kernel_sees_them(&real)?
    );
    let newcomer = real.sign_in("Ada").await?;
    let opening = real.balance("Ada", "Current").await?;
    newcomer.asks("Send 20 to Bob").await?;
    let card = newcomer.open_card().await?;
    let confirmed = newcomer.confirms(&card).await?;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    assert_eq!(real.balance("Ada", "Current").await?, opening - 2_000);
    Ok(())
}

/// The kernel's own words on a bank's agent: its users, groups, rights and filters.
fn walls_as_the_kernel_sees_them(bank: &Bank) -> anyhow::Result<Vec<String>> {
    let pid = bank.stack().process_id(Service::Agent).context("it runs")?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let lines: Vec<String> = status
        .lines()
        .filter(|line| {
            ["Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp"]
                .iter()
                .any(|name| line.starts_with(name))
        })
        .map(ToOwned::to_owned)
        .collect();
    ensure!(lines.len() >= 10, "{status}");
    ensure!(
        lines.iter().any(|line| line == "NoNewPrivs:\t1"),
        "{lines:?}"
    );
    Ok(lines)
}

/// The orders for one attacker: everything but what it sends over HTTP.
async fn orders(siege: &Siege, listening_for_ms: u64) -> anyhow::Result<Vec<Value>> {
    let services = [
        Service::Panel,
        Service::Intake,
        Service::Door,
        Service::BankMcp,
    ];
    let mut addresses: Vec<String> = services
        .into_iter()
        .flat_map(|service| siege.addresses(service))
        .collect();
    let everywhere: Vec<String> = services
        .into_iter()
        .flat_map(|service| {
            let port = siege.bank.stack().port(service);
            [format!("0.0.0.0:{port}"), format!("[::]:{port}")]
        })
        .chain(addresses.clone())
        .collect();
    // Somebody else's server on this machine.
    static STRANGER: std::sync::OnceLock<Listeners> = std::sync::OnceLock::new();
    if STRANGER.get().is_none() {
        let _ = STRANGER.set(Listeners::open_any()?);
    }
    let stranger = STRANGER.get().context("a stranger")?.port();
    addresses.push(format!("127.0.0.1:{stranger}"));
    addresses.extend(
        siege
            .bank
            .database()
            .server()
            .location()
            .tcp_port()
            .map(|port| format!("127.0.0.1:{port}")),
    );

    let mut private = siege.private_paths().await?;
    let mut read = strings(&[
        "/etc/shadow",
        "/etc/passwd",
        "/root",
        "/home",
        "/tmp",
        "/proc",
    ]);
    read.extend(
        ["README.md", "Cargo.toml"].map(|name| checkout::root().join(name).display().to_string()),
    );
    read.extend(std::env::var("HOME"));
    for pid in siege.pids()? {
        read.extend(
            [
                "environ", "mem", "maps", "fd", "cwd", "root", "auxv", "cmdline", "status",
            ]
            .map(|name| format!("/proc/{pid}/{name}")),
        );
    }
    read.extend(private.clone());
    private.extend(["/tmp", "/etc/hosts", "/etc/passwd"].map(ToOwned::to_owned));
    private.push(checkout::root().display().to_string());
    private.push(checkout::root().join("README.md").display().to_string());
    let secret = siege.bank.folder().join("keys/session.json");
    Ok(vec![
        json!({"attack": "bind", "addresses": everywhere, "milliseconds": listening_for_ms}),
        json!({"attack": "connect", "addresses": addresses}),
        json!({"attack": "unix_sockets", "paths": siege.database_socket().into_iter().collect::<Vec<_>>(),
            "database": siege.bank.database().name(),
            "users": ["panel", "bank_mcp", "notary", "countersign_admin", "postgres"]}),
        json!({"attack": "files", "read": read, "write": private}),
        json!({"attack": "processes", "pids": siege.pids()?}),
        json!({"attack": "escapes", "secret": secret.display().to_string(), "group": DATABASE_GROUP}),
    ])
}

async fn tries_all(siege: &Siege, place: &Place) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for order in orders(siege, 0).await? {
        outcomes.extend(place.tries(order).await?);
    }
    Ok(outcomes)
}

#[tokio::test]
async fn the_agent_s_process_reaches_nothing_but_the_door() -> anyhow::Result<()> {
    let siege = Siege::begin().await?;
    siege.asks_for_what_ada_asked().await?;
    let before = siege.what_counts().await?;
    let door = siege.bank.stack().port(Service::Door);

    let outcomes = tries_all(&siege, &siege.place).await?;
    let walls = Walls::of_this_system();
    assert_eq!(breaches(&outcomes, walls, door), Vec::<String>::new());

    // And were there no cage and no filter: what its own user and nothing else keeps from it.
    let run_as = match spawn::effective_uid() {
        0 => RunAs::User {
            uid: Service::Agent.uid(),
            gid: Service::Agent.uid(),
            shared_gid: None,
        },
        _ => RunAs::Same,
    };
    let bare = Place::without_walls(siege.bank.http()?, &siege.program, run_as)?;
    let outcomes = tries_all(&siege, &bare).await?;
    assert_eq!(
        breaches(&outcomes, Walls::user_alone(), door),
        Vec::<String>::new()
    );
    for service in [
        Service::Panel,
        Service::Intake,
        Service::Door,
        Service::BankMcp,
    ] {
        let pid = siege.bank.stack().process_id(service).context("it runs")?;
        let seen = outcomes
            .iter()
            .find(|outcome| outcome.attempt == format!("read /proc/{pid}/cmdline"));
        let seen = seen.context("tried")?;
        assert_eq!(
            seen.detail.trim(),
            format!("countersign-{} --config-stdin", service.name()),
            "all that another user reads of a service's start"
        );
    }
    assert_eq!(siege.what_counts().await?, before);
    Ok(())
}

#[tokio::test]
async fn nobody_answers_in_the_panel_s_or_the_bank_server_s_place_while_they_restart()
-> anyhow::Result<()> {
    const STORM_MS: u64 = 2_500;
    let siege = Siege::begin().await?;
    let before = siege.what_counts().await?;
    let orders = orders(&siege, STORM_MS).await?;
    // Without walls it may ask the kernel for ports at all, so the listeners alone must hold.
    let bare = Place::without_walls(siege.bank.http()?, &siege.program, RunAs::Same)?;
    let stack = siege.bank.stack();
    let restarts = async {
        for service in [Service::Panel, Service::BankMcp, Service::Panel] {
            stack.crash_and_wait(service).await?;
        }
        anyhow::Ok(())
    };
    let (in_place, without_walls, restarted) = tokio::join!(
        siege.place.tries(orders[0].clone()),
        bare.tries(orders[0].clone()),
        restarts
    );
    restarted?;
    let door = stack.port(Service::Door);
    assert_eq!(
        breaches(&in_place?, Walls::of_this_system(), door),
        Vec::<String>::new()
    );
    assert_eq!(
        breaches(&without_walls?, Walls::user_alone(), door),
        Vec::<String>::new()
    );
    assert_eq!(
        siege.ada.get("/api/cards").await?.status,
        200,
        "the session outlives a restart"
    );
    assert_eq!(siege.what_counts().await?, before);
    Ok(())
}

#[tokio::test]
async fn the_attacks_are_real() -> anyhow::Result<()> {
    let siege = Siege::begin().await?;
    // As the user who started everything, in no cage, the same attempts succeed.
    let owner = Place::without_walls(siege.bank.http()?, &siege.program, RunAs::Same)?;
    let mut outcomes = tries_all(&siege, &owner).await?;
    let free = {
        let open = Listeners::open_any()?;
        open.port()
    };
    let free =
        json!({"attack": "bind", "addresses": [format!("127.0.0.1:{free}")], "milliseconds": 0});
    outcomes.extend(owner.tries(free).await?);
    let root = spawn::effective_uid() == 0;
    // An ordinary user does not see into services either: they are closed to tracing.
    let needs_root = [
        "become root",
        "join the database's group",
        "change the root",
        "make a raw",
        "make a packet",
        "read /etc/shadow",
        "read /root",
        "read /proc/",
        "trace process",
        "read the memory of process",
        "write the memory of process",
        "take a descriptor of process",
        "write /etc/",
    ];
    // What no user may do here, or what this system may not have.
    let refused_anyway = [
        "listen on",
        "log in as",
        "send a datagram to",
        "make a shared-memory",
        "make a ping",
        "make a socket of the kernel",
        "put another protocol",
        "mount a file system",
        "make a socket to the machine",
        "make a queue",
        "read as root of a namespace",
    ];
    let lost: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.won)
        .map(|outcome| format!("{}: {}", outcome.attempt, outcome.detail))
        .filter(|words| !refused_anyway.iter().any(|known| words.starts_with(known)))
        .filter(|words| {
            // The checkout may be another user's.
            root || !words.contains(&checkout::root().display().to_string())
        })
        .filter(|words| root || !needs_root.iter().any(|known| words.starts_with(known)))
        .collect();
    assert_eq!(
        lost,
        Vec::<String>::new(),
        "these would fail without any wall"
    );
    assert!(
        outcomes
            .iter()
            .any(|outcome| outcome.won && outcome.attempt.starts_with("listen on"))
    );

    // And what it sends is what a page sends: with Ada's own cookie and bearer it is answered.
    let card = siege.asks_for_what_ada_asked().await?;
    let prepare = format!(
        "/api/actions/{}/prepare",
        card["action"].as_str().unwrap_or_default()
    );
    let cookie = ("cookie", siege.ada.cookie().to_owned());
    let bearer = ("authorization", format!("Bearer {}", siege.ada.bearer()));
    let kabir = siege.bank.customer("Kabir")?.id.to_string();
    let requests = [
        (Service::Panel, "GET", "/api/cards", &cookie),
        (Service::Panel, "GET", "/accounts", &cookie),
        (Service::Panel, "POST", prepare.as_str(), &cookie),
        (Service::Panel, "POST", "/chat-code", &cookie),
        (Service::Intake, "GET", "/history", &bearer),
        (Service::Intake, "POST", "/conversations", &bearer),
        (Service::Panel, "POST", "/demo/switch", &cookie),
    ]
    .map(|(service, method, path, header)| {
        let body = tries::body(path, "", &card, &kabir);
        tries::request(
            &siege.bank,
            service,
            method,
            path,
            Some(header.clone()),
            &body,
        )
    });
    for answer in owner.sends(&requests).await? {
        assert!((200..300).contains(&answer.status), "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn nothing_the_agent_holds_opens_anything() -> anyhow::Result<()> {
    let siege = Siege::begin().await?;
    let card = siege.asks_for_what_ada_asked().await?;
    let before = siege.what_counts().await?;
    let claims = claims(siege.token())?;
    let claim = |name: &str| claims[name].as_str().unwrap_or_default().to_owned();
    let held = [
        ("token", siege.token().to_owned()),
        ("grant secret", claim("gsec")),
        ("token's id", claim("jti")),
        ("turn's id", claim("turn")),
        (
            "card's nonce",
            card["nonce"].as_str().unwrap_or_default().to_owned(),
        ),
        ("guess", "0".repeat(64)),
        ("nothing", String::new()),
    ];
    let kabir = siege.bank.customer("Kabir")?.id.to_string();
    let tries = tries::all(&siege.bank, &held, &card, &kabir)?;
    println!("{} requests", tries.len());
    let requests: Vec<Value> = tries.iter().map(|one| one.request.clone()).collect();

    // From a place without walls every one arrives, and every one is turned away.
    let bare = Place::without_walls(siege.bank.http()?, &siege.program, RunAs::Same)?;
    let mut opened = Vec::new();
    for (chunk, answers) in requests.chunks(100).zip(tries.chunks(100)) {
        for (answer, one) in bare.sends(chunk).await?.iter().zip(answers) {
            ensure!(answer.status != 0, "not answered: {}", one.words);
            if !turned_away(answer) {
                opened.push(format!("{}: {}", one.words, answer.text));
            }
        }
    }
    assert_eq!(opened, Vec::<String>::new());
    // From the agent's own place none arrives.
    if Walls::of_this_system().cage {
        let sample: Vec<Value> = requests.iter().step_by(50).cloned().collect();
        for answer in siege.place.sends(&sample).await? {
            assert_eq!((answer.way.as_str(), answer.status), ("", 0));
        }
    }
    assert_eq!(siege.what_counts().await?, before);

    forged_tokens_name_nobody_else(&siege, &kabir).await?;
    the_door_speaks_of_one_customer(&siege).await?;
    assert_eq!(siege.what_counts().await?, before);

    // The turn ends with a lie. What it held is then worth nothing, and the card is still Ada's to decide.
    siege.place.ends("I have sent 20.00 EUR to Bob.").await?;
    let token = siege.token().to_owned();
    siege.reply.await??;
    let header = Some(("countersign-session", token));
    for (tool, arguments) in [
        ("list_accounts", json!({})),
        (
            "request_transfer",
            json!({"payments": [{"amount": "20.00"}]}),
        ),
        ("request_payee", json!({})),
    ] {
        let body = tries::tool_call(tool, arguments);
        let late = tries::request(
            &siege.bank,
            Service::Door,
            "POST",
            "/mcp",
            header.clone(),
            &body,
        );
        let answers = siege.place.sends(&[late]).await?;
        assert!(
            !ran(&answers[0]),
            "{tool} after the turn: {}",
            answers[0].text
        );
    }
    let opening = siege.bank.balance("Ada", "Current").await?;
    let confirmed = siege.ada.confirms(&siege.ada.open_card().await?).await?;
    assert_eq!(confirmed.status, 200, "{}", confirmed.body);
    assert_eq!(siege.bank.balance("Ada", "Current").await?, opening - 2_000);
    Ok(())
}

/// Not a success; or a page that says to sign in, which is the same for everybody.
fn turned_away(answer: &Answer) -> bool {
    let sets_cookie = answer
        .text
        .lines()
        .any(|line| line.to_lowercase().starts_with("set-cookie:") && !line.contains("Max-Age=0"));
    let refused = (400..500).contains(&answer.status);
    let same_for_all = answer.status == 200
        && !["Ada", "Kabir", "EUR", "acc_", "act_", "bearer\""]
            .iter()
            .any(|word| answer.text.contains(word));
    !sets_cookie && (refused || same_for_all)
}
