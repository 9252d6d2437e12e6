//! All processes of one bank, as real programs: for `up`, and for tests on ports of their own.

mod assistant;
mod configs;
mod health;
mod keys;
mod listeners;
mod logins;
pub mod programs;
mod service;
mod supervisor;
pub mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

pub use configs::DemoCustomer;
pub use keys::Keys;
pub use listeners::{ListenError, Listeners};
pub use logins::Logins;
pub use service::Service;

use crate::cage::{Allowed, Cage};
use crate::files;
use crate::server::DATABASE_GROUP;
use crate::sockets::{SocketFilter, Sockets};
use crate::spawn::{self, RunAs};
use assistant::Assistant;
use configs::Facts;
use supervisor::{Plan, Supervised};

/// Where the processes listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// On this port and the five after it.
    From(u16),
    /// On any six free ports.
    Any,
}

/// What a stack is started with.
#[derive(Debug)]
pub struct StackOptions<'a> {
    /// Where the processes listen.
    pub listeners: BTreeMap<Service, Listeners>,
    /// The bank's own folder: keys, logs, the door's record. Made when missing.
    pub folder: &'a Path,
    /// The database's logins.
    pub logins: &'a Logins,
    /// Who can be picked in the page's header.
    pub customers: &'a [DemoCustomer],
    /// The folder with the services' programs.
    pub programs: &'a Path,
    /// Another agent than the stack's own, for `intake` to call: a test that plays one.
    pub agent_url: Option<&'a str>,
    /// Another program to start exactly as the agent is started, in its place: a test that owns the process.
    pub agent_program: Option<&'a Path>,
    /// The agent's model and guardrails, as members of its configuration; the built-in model where there are none.
    pub assistant: Option<&'a serde_json::Value>,
    /// The identity provider where people sign in; the demo's picker and its printed addresses where there is none.
    pub provider: Option<&'a str>,
    /// Moves the caps on messages and calls far away, for tests that do in seconds what people do in hours.
    pub caps_are_far: bool,
}

/// All processes of one bank. Dropping it stops them.
#[derive(Debug)]
pub struct Stack {
    services: BTreeMap<Service, Supervised>,
    number_ports: BTreeMap<Service, u16>,
    keys: Keys,
    /// Its relays end with the stack.
    _assistant: Assistant,
}

impl Stack {
    /// Starts every process and waits until each answers.
    ///
    /// # Errors
    /// When a service has no listeners, a process does not start, or one does not answer; the end of
    /// its log is then in the message.
    pub async fn start(mut options: StackOptions<'_>) -> anyhow::Result<Self> {
        let mut listeners = std::mem::take(&mut options.listeners);
        let ports: BTreeMap<Service, u16> = listeners
            .iter()
            .map(|(service, open)| (*service, open.port()))
            .collect();
        let mut numbers = BTreeMap::new();
        for service in Service::ALL {
            if service.tells_numbers() {
                numbers.insert(service, Listeners::open_any()?);
            }
        }
        let number_ports: BTreeMap<Service, u16> = numbers
            .iter()
            .map(|(service, open)| (*service, open.port()))
            .collect();
        files::make_folder(options.folder, 0o700)?;
        let keys = Keys::load_or_make(&options.folder.join("keys"))?;
        let logs = options.folder.join("logs");
        files::make_folder(&logs, 0o700)?;
        let assistant = Assistant::prepare(options.assistant).await?;
        let facts = Facts {
            assistant: &assistant,
            keys: &keys,
            logins: options.logins,
            customers: options.customers,
            ports: &ports,
            numbers: &number_ports,
            agent_url: options.agent_url,
            provider: options.provider,
            caps_are_far: options.caps_are_far,
        };
        let mut services = BTreeMap::new();
        for service in Service::ALL {
            let listeners = listeners
                .remove(&service)
                .context("every service has listeners")?;
            let own = Opened {
                listeners,
                numbers: numbers.remove(&service),
            };
            let plan = plan(&options, &facts, service, own, &logs)?;
            services.insert(service, Supervised::start(plan)?);
        }
        let stack = Self {
            services,
            number_ports,
            keys,
            _assistant: assistant,
        };
        for service in Service::ALL {
            stack.wait_until_healthy(service).await?;
        }
        Ok(stack)
    }

    /// The port of a service.
    #[must_use]
    pub fn port(&self, service: Service) -> u16 {
        self.services
            .get(&service)
            .map(Supervised::port)
            .unwrap_or_default()
    }

    /// Where a service tells its numbers; none for one that does not.
    #[must_use]
    pub fn numbers_port(&self, service: Service) -> Option<u16> {
        self.number_ports.get(&service).copied()
    }

    /// The origin of a service, such as `http://localhost:8480`.
    #[must_use]
    pub fn origin(&self, service: Service) -> String {
        format!("http://{}:{}", service.host(), self.port(service))
    }

    /// The bank's keys, for tokens that the set-up itself signs.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Everything a service has written to its outputs.
    #[must_use]
    pub fn log(&self, service: Service) -> String {
        self.services
            .get(&service)
            .and_then(|supervised| fs::read(supervised.log()).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// How often a service was started.
    #[must_use]
    pub fn starts(&self, service: Service) -> u32 {
        self.services
            .get(&service)
            .map(Supervised::starts)
            .unwrap_or_default()
    }

    /// The process id of a service; none between its end and its next start.
    #[must_use]
    pub fn process_id(&self, service: Service) -> Option<u32> {
        self.services.get(&service).and_then(Supervised::process_id)
    }

    /// Ends a service as a crash would; it is started again.
    pub fn kill(&self, service: Service) {
        if let Some(supervised) = self.services.get(&service) {
            supervised.kill();
        }
    }

    /// Ends a service as a crash would, and waits until its next process answers.
    ///
    /// # Errors
    /// When it does not come back in time.
    pub async fn crash_and_wait(&self, service: Service) -> anyhow::Result<()> {
        let before = self.starts(service);
        self.kill(service);
        while self.starts(service) == before {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        self.wait_until_healthy(service).await
    }

    /// Waits until a service answers its health route.
    ///
    /// # Errors
    /// When it does not in time; the end of its log is in the message.
    pub async fn wait_until_healthy(&self, service: Service) -> anyhow::Result<()> {
        let authority = format!("{}:{}", service.host(), self.port(service));
        health::wait(self.port(service), &authority)
            .await
            .with_context(|| {
                let log = self.log(service);
                let lines: Vec<&str> = log.lines().collect();
                let end = lines[lines.len().saturating_sub(8)..].join("\n");
                format!("{} does not answer. Its log ends:\n{end}", service.name())
            })
    }

    /// Stops every process: all are asked at once, then each is waited for.
    pub fn stop(&mut self) {
        for supervised in self.services.values() {
            supervised.begin_stop();
        }
        for supervised in self.services.values_mut() {
            supervised.finish_stop();
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Opens the listeners of every process.
///
/// # Errors
/// When a port is taken or the system refuses.
pub fn open_listeners(ports: Ports) -> Result<BTreeMap<Service, Listeners>, ListenError> {
    Service::ALL
        .into_iter()
        .map(|service| {
            let open = match ports {
                Ports::From(base) => Listeners::open(base.saturating_add(service.port_offset()))?,
                Ports::Any => Listeners::open_any()?,
            };
            Ok((service, open))
        })
        .collect()
}

/// The listeners of one service.
struct Opened {
    listeners: Listeners,
    numbers: Option<Listeners>,
}

fn plan(
    options: &StackOptions<'_>,
    facts: &Facts<'_>,
    service: Service,
    opened: Opened,
    logs: &Path,
) -> anyhow::Result<Plan> {
    let Opened { listeners, numbers } = opened;
    let run_as = run_as(service);
    let name = service.name();
    let program_path = match options.agent_program {
        Some(other) if service == Service::Agent => other.to_path_buf(),
        _ => options.programs.join(format!("countersign-{name}")),
    };
    let program = fs::File::open(&program_path)
        .with_context(|| format!("open the program {}", program_path.display()))?;
    let folder = match service {
        Service::Door => Some("door-log"),
        Service::Panel => Some("panel-state"),
        _ => None,
    }
    .map(|name| own_folder(&options.folder.join(name), run_as))
    .transpose()?;
    let folder_path = folder
        .as_ref()
        .map(|(_, path)| path.clone())
        .unwrap_or_default();
    let cage = Cage::prepare(&Allowed {
        programs: vec![&program],
        folders: folder.iter().map(|(open, _)| open).collect(),
        connect_ports: connect_ports(options, facts, service),
    })
    .with_context(|| format!("shut {name} in"))?;
    let mut config = facts.config(service, &folder_path)?;
    config["listen"] = serde_json::json!({"inherited_fds": listeners.descriptors()});
    if let Some(numbers) = &numbers {
        let listen = serde_json::json!({"inherited_fds": numbers.descriptors()});
        if service == Service::Door {
            config["metrics_listen"] = listen;
        } else {
            config["metrics"] = serde_json::json!({ "listen": listen });
        }
    }
    let log = logs.join(format!("{name}.log"));
    if log.exists() {
        fs::rename(&log, logs.join(format!("{name}.previous.log")))?;
    }
    Ok(Plan {
        service,
        program,
        program_path,
        run_as,
        listeners,
        numbers,
        folder: folder.map(|(open, _)| open),
        cage,
        sockets: SocketFilter::prepare(Sockets {
            database: service.uses_database(),
        }),
        config: serde_json::to_vec(&config)?,
        log,
    })
}

/// The ports that a service has any business with.
fn connect_ports(options: &StackOptions<'_>, facts: &Facts<'_>, service: Service) -> Vec<u16> {
    let mut ports: Vec<u16> = service
        .calls()
        .iter()
        .map(|called| facts.ports[called])
        .collect();
    ports.extend(
        service
            .reads_numbers_of()
            .iter()
            .map(|told| facts.numbers[told]),
    );
    if service.uses_database() {
        ports.extend(options.logins.tcp_port());
    }
    if service == Service::Agent {
        ports.extend(&facts.assistant.ports);
    }
    if service == Service::Intake {
        ports.extend(options.agent_url.and_then(port_of_url));
    }
    // The two that sign people in reach the provider, and nobody else does.
    if matches!(service, Service::Panel | Service::Dashboard) {
        ports.extend(options.provider.and_then(port_of_url));
    }
    ports
}

/// The port in `http://host:port/…`.
fn port_of_url(url: &str) -> Option<u16> {
    let authority = url.split_once("://")?.1.split('/').next()?;
    authority.rsplit_once(':')?.1.parse().ok()
}

/// As whom a service runs: under root as a user of its own.
fn run_as(service: Service) -> RunAs {
    if spawn::effective_uid() != 0 {
        return RunAs::Same;
    }
    RunAs::User {
        uid: service.uid(),
        gid: service.uid(),
        shared_gid: service.uses_database().then_some(DATABASE_GROUP),
    }
}

/// Makes a folder that one service owns. Another user is given it open, under a path that needs no walk.
fn own_folder(path: &Path, run_as: RunAs) -> anyhow::Result<(fs::File, PathBuf)> {
    files::make_folder(path, 0o700)?;
    let open = fs::File::open(path).with_context(|| format!("open {}", path.display()))?;
    let RunAs::User { uid, gid, .. } = run_as else {
        return Ok((open, path.to_path_buf()));
    };
    files::change_owner(path, uid, gid)?;
    let shown = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    Ok((open, PathBuf::from(shown)))
}
