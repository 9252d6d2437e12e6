//! An attacker owns the agent's process: not a test that plays one, but another program in its place, with
//! the agent's user, cage, descriptors and config, and nothing more.

mod place;
mod tries;
mod walls;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use countersign_testkit::people::Customer;
use countersign_testkit::server::DATABASE_GROUP;
use countersign_testkit::spawn::{self, RunAs};
use countersign_testkit::stack::{Listeners, programs};
use countersign_testkit::{Bank, Service, checkout};
use serde_json::{Value, json};
use sqlx::PgConnection;

use place::{Answer, Outcome, Place};
use walls::{Walls, breaches};

/// What must be the same afterwards: money, requests, words and everything a customer has.
const WHAT_COUNTS: [&str; 17] = [
    "customer",
    "account",
    "account_balance",
    "transfer",
    "entry",
    "payee",
    "customer_limit",
    "card",
    "standing_order",
    "dispute",
    "profile",
    "conversation",
    "utterance",
    "pending_action",
    "pending_version",
    "panel_entry",
    "execution",
];

/// A bank whose agent is the attacker's, in the middle of Ada's turn.
struct Siege {
    bank: Bank,
    program: PathBuf,
    ada: Customer,
    place: Place,
    held: Value,
    /// A session of the database, whose process an attacker may want.
    _session: PgConnection,
    session_pid: i32,
    reply: tokio::task::JoinHandle<anyhow::Result<String>>,
}

impl Siege {
    async fn begin() -> anyhow::Result<Self> {
        let program = programs::build_attacker(false)?;
        let bank = Bank::start_with_agent_program(&program).await?;
        let ada = bank.sign_in("Ada").await?;
        let place = Place::of_the_agent(bank.http()?, bank.origin(Service::Agent));
        let reply = ada.sends("Send 20 to Bob");
        let held = place.held().await?;
        let mut session = bank.database().admin().await?;
        let session_pid = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&mut session)
            .await?;
        Ok(Self {
            bank,
            program,
            ada,
            place,
            held,
            _session: session,
            session_pid,
            reply,
        })
    }

    fn token(&self) -> &str {
        self.held["turn"]["session_token"]
            .as_str()
            .unwrap_or_default()
    }

    /// A tool called through the door, from the agent's place.
    async fn calls(&self, tool: &str, arguments: Value) -> anyhow::Result<Answer> {
        let token = self.token().to_owned();
        self.calls_with(tool, arguments, Some(("countersign-session", token)))
            .await
    }

    async fn calls_with(
        &self,
        tool: &str,
        arguments: Value,
        header: Option<(&'static str, String)>,
    ) -> anyhow::Result<Answer> {
        let body = tries::tool_call(tool, arguments);
        let request = tries::request(&self.bank, Service::Door, "POST", "/mcp", header, &body);
        let mut answers = self.place.sends(&[request]).await?;
        answers.pop().context("an answer")
    }

    /// The request Ada asked for, made as an honest agent makes it.
    async fn asks_for_what_ada_asked(&self) -> anyhow::Result<Value> {
        let payees = content(&self.calls("list_payees", json!({})).await?)?;
        let bob = payees["payees"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|payee| payee.to_string().contains("Bob"))
            .context("Bob")?["payee"]
            .clone();
        let asked = self
            .calls(
                "request_transfer",
                json!({"payments": [{"payee": bob, "amount": "20.00"}]}),
            )
            .await?;
        ensure!(
            content(&asked)?["status"] == "waiting_for_customer",
            "{}",
            asked.text
        );
        self.ada.open_card().await
    }

    /// A digest of every row that an attack must leave alone.
    async fn what_counts(&self) -> anyhow::Result<BTreeMap<&'static str, String>> {
        let mut found = BTreeMap::new();
        for table in WHAT_COUNTS {
            let sql = format!(
                "SELECT count(*) AS rows, md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest FROM bank.{table} t"
            );
            found.insert(
                table,
                self.bank.database().query_json(&sql).await?.to_string(),
            );
        }
        Ok(found)
    }

    fn addresses(&self, service: Service) -> Vec<String> {
        let port = self.bank.stack().port(service);
        vec![format!("127.0.0.1:{port}"), format!("[::1]:{port}")]
    }

    /// Files and folders that are not the agent's.
    async fn private_paths(&self) -> anyhow::Result<Vec<String>> {
        let folder = self.bank.folder();
        let mut paths: Vec<String> = ["keys", "logs", "door-log"]
            .iter()
            .map(|name| folder.join(name))
            .chain(
                ["session", "request", "receipt", "notary"]
                    .map(|name| folder.join(format!("keys/{name}.json"))),
            )
            .chain(["panel", "agent", "door"].map(|name| folder.join(format!("logs/{name}.log"))))
            .chain([folder.to_path_buf()])
            .map(|path| path.display().to_string())
            .collect();
        for path in &paths {
            ensure!(std::path::Path::new(path).exists(), "{path} is not there");
        }
        let state = checkout::root().join(".countersign");
        if state.exists() {
            paths.push(state.display().to_string());
        }
        paths.push(self.data_folder().await?);
        Ok(paths)
    }

    async fn data_folder(&self) -> anyhow::Result<String> {
        let mut admin = self.bank.database().admin().await?;
        Ok(sqlx::query_scalar("SHOW data_directory")
            .fetch_one(&mut admin)
            .await?)
    }

    /// The processes of the bank, the database's among them, and the one that started them all.
    fn pids(&self) -> anyhow::Result<Vec<i32>> {
        let mut pids = vec![i32::try_from(std::process::id())?, self.session_pid];
        for service in [
            Service::Panel,
            Service::Intake,
            Service::Door,
            Service::BankMcp,
        ] {
            let pid = self.bank.stack().process_id(service).context("it runs")?;
            pids.push(i32::try_from(pid)?);
        }
        Ok(pids)
    }

    /// The folder of the database's socket, from a login's address; none for a server with a port.
    fn database_socket(&self) -> Option<String> {
        let url = self.bank.database().url("panel");
        let (_, folder) = url.split_once("?host=")?;
        Some(format!("{folder}/.s.PGSQL.5432"))
    }
}

/// A tool's structured content.
fn content(answer: &Answer) -> anyhow::Result<Value> {
    let (_, body) = answer.text.split_once("\r\n\r\n").context("a body")?;
    let body: Value = serde_json::from_str(body)
        .or_else(|_| serde_json::from_str(body.trim_start_matches(|c| c != '{')))
        .with_context(|| answer.text.clone())?;
    Ok(body["result"]["structuredContent"].clone())
}

/// Whether a tool ran and did as it was asked.
fn ran(answer: &Answer) -> bool {
    answer.status == 200
        && answer.text.contains("structuredContent")
        && !answer.text.contains("\"isError\":true")
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// What the token says to whoever reads it.
fn claims(token: &str) -> anyhow::Result<Value> {
    let middle = token.split('.').nth(1).context("three parts")?;
    Ok(serde_json::from_slice(&base64url(middle)?)?)
}

const BASE64URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64url(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes() {
        let value = BASE64URL
            .iter()
            .position(|known| *known == digit)
            .context("a digit")?;
        bits = bits << 6 | u32::try_from(value)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF)?);
        }
    }
    Ok(bytes)
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

/// Another name in the token, other keys, no key, twice, in other places: 401 each.
async fn forged_tokens_name_nobody_else(siege: &Siege, kabir: &str) -> anyhow::Result<()> {
    let token = siege.token();
    let parts: Vec<&str> = token.split('.').collect();
    let [head, body, signature] = parts[..] else {
        anyhow::bail!("three parts")
    };
    let mut claims = claims(token)?;
    claims["sub"] = json!(kabir);
    let other = to_base64url(claims.to_string().as_bytes());
    let longer = {
        let mut claims = claims.clone();
        claims["exp"] = json!(claims["exp"].as_u64().unwrap_or_default() + 60);
        to_base64url(claims.to_string().as_bytes())
    };
    let none = to_base64url(br#"{"alg":"none","typ":"cs-session+jwt"}"#);
    let shared = to_base64url(br#"{"alg":"HS256","typ":"cs-session+jwt"}"#);
    for (words, header, value) in [
        (
            "another customer",
            "countersign-session",
            format!("{head}.{other}.{signature}"),
        ),
        (
            "a longer life",
            "countersign-session",
            format!("{head}.{longer}.{signature}"),
        ),
        (
            "no signature",
            "countersign-session",
            format!("{none}.{other}."),
        ),
        (
            "a shared key",
            "countersign-session",
            format!("{shared}.{other}.{signature}"),
        ),
        (
            "no header",
            "countersign-session",
            format!("{body}.{signature}"),
        ),
        (
            "twice in one",
            "countersign-session",
            format!("{token}, {token}"),
        ),
        ("as a bearer", "authorization", format!("Bearer {token}")),
        (
            "as a request token",
            "countersign-request",
            token.to_owned(),
        ),
    ] {
        let answer = siege
            .calls_with("list_accounts", json!({}), Some((header, value)))
            .await?;
        assert_eq!(answer.status, 401, "{words}: {}", answer.text);
    }
    Ok(())
}

/// Whatever the agent adds to its calls, the answers are Ada's, and the door's own token is in none of them.
async fn the_door_speaks_of_one_customer(siege: &Siege) -> anyhow::Result<()> {
    let kabir = siege.bank.customer("Kabir")?.id;
    let foreign: Vec<String> = {
        let mut admin = siege.bank.database().admin().await?;
        sqlx::query_scalar(
            "SELECT 'acc_' || replace(account_id::text, '-', '') FROM bank.account WHERE customer_id = $1 \
             UNION ALL SELECT 'pye_' || replace(payee_id::text, '-', '') FROM bank.payee WHERE customer_id = $1 \
             UNION ALL SELECT canary_code FROM bank.customer WHERE customer_id = $1",
        )
        .bind(kabir.uuid())
        .fetch_all(&mut admin)
        .await?
    };
    ensure!(foreign.len() > 3, "Kabir has things of his own");
    let account = foreign[0].as_str();
    let tools = [
        ("list_accounts", json!({})),
        ("list_payees", json!({})),
        ("list_transactions", json!({})),
        ("list_cards", json!({})),
        ("list_open_requests", json!({})),
        ("list_standing_orders", json!({})),
        ("list_documents", json!({})),
        ("get_limits", json!({})),
        ("get_balance", json!({"account": account})),
        ("list_transactions", json!({"account": account})),
        ("list_accounts", json!({"customer": kabir})),
        ("list_accounts", json!({"customer_id": kabir.to_string()})),
    ];
    let token = siege.token().to_owned();
    let mut heard = String::new();
    for (tool, arguments) in tools {
        let refused = arguments.as_object().is_some_and(|map| !map.is_empty());
        let body = tries::tool_call(tool, arguments);
        let header = Some(("countersign-session", token.clone()));
        let mut request = tries::request(&siege.bank, Service::Door, "POST", "/mcp", header, &body);
        if let Some(headers) = request["headers"].as_array_mut() {
            headers.push(json!(["countersign-customer", kabir]));
            headers.push(json!(["cookie", format!("customer={kabir}")]));
            headers.push(json!(["countersign-request", token]));
        }
        let answers = siege.place.sends(&[request]).await?;
        assert_eq!(ran(&answers[0]), !refused, "{tool}: {}", answers[0].text);
        heard.push_str(&answers[0].text);
    }
    for word in &foreign {
        assert!(!heard.contains(word.as_str()), "{word} was told");
    }
    // Every token begins so; the request token's header has its own name.
    for word in ["eyJ", "countersign-request", "cs-request"] {
        assert!(
            !heard.to_lowercase().contains(&word.to_lowercase()),
            "{word} was told"
        );
    }
    Ok(())
}

fn to_base64url(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(chunk.get(at).copied().unwrap_or_default());
        }
        for at in 0..=chunk.len() {
            let digit = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or_default();
            text.push(char::from(BASE64URL[digit]));
        }
    }
    text
}
