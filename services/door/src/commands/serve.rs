//! `countersign-door serve`: clients over HTTP, the policy's servers behind one endpoint.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use countersign_policy::{Connection, Policy, Server};
use countersign_serve::guard::Allowed;
use countersign_serve::{Direct, Listen, Tls, Workers};

use super::place::{self, Place};
use crate::approval::{self, ApprovalArgs};
use crate::bearer::{Bearers, Terms};
use crate::caller::Caller;
use crate::config::UpstreamConfig;
use crate::door::{Door, Rules};
use crate::fleet::{Plan, Way};
use crate::http::gate::Gate;
use crate::http::house::{self, House};
use crate::http::hub::{self, Hub};
use crate::http::metadata::Resource;
use crate::http::router::{direct, router};
use crate::http::sessions::Sessions;
use crate::http::streams;
use crate::http::tokens::Identity;
use crate::http::upstream::Upstream;
use crate::pipes::child::Program;
use crate::pipes::drain::Drain;
use crate::reload::Watch;
use crate::telemetry::{self, TelemetryArgs};

/// How often heads are signed and the policy file is looked at.
const TICK: Duration = Duration::from_millis(500);

/// Serves the policy's servers to clients over HTTP, at `http://ADDRESS/mcp`.
///
/// Where the policy names several, programs and addresses mixed, their tools are called `server__tool`.
///
/// Without `--jwks` nobody is verified: whoever reaches the address is one and the same caller. Listen where
/// only they can. With it every request needs a bearer token of the issuer.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The policy file.
    #[arg(long)]
    policy: PathBuf,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8484", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// A certificate in PEM, its chain after it: clients speak TLS then. Read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Serve plain HTTP where others than this machine can reach it. Whoever is on the way can read and change
    /// every call and every answer.
    #[arg(long)]
    plain_http_lets_anyone_on_the_network_read_and_change_everything: bool,
    /// A further exact value of `Host` to answer to, port included; can be given again.
    #[arg(long = "host", value_name = "HOST:PORT")]
    hosts: Vec<String>,
    /// An exact value of `Origin` to answer to; can be given again. Requests without one are answered.
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// A file of public keys (a JWKS) that verify bearer tokens; read again when it changes.
    #[arg(long, value_name = "FILE", requires_all = ["issuer", "audience"])]
    jwks: Option<PathBuf>,
    /// The exact issuer (`iss`) of bearer tokens.
    #[arg(long, value_name = "ISSUER", requires = "jwks")]
    issuer: Option<String>,
    /// The audience (`aud`) that bearer tokens must be for.
    #[arg(long, value_name = "AUDIENCE", requires = "jwks")]
    audience: Option<String>,
    /// The address by which clients know this door, as its metadata (RFC 9728) say; the audience where that is
    /// an address, else where it listens.
    #[arg(long, value_name = "URL", requires = "jwks")]
    resource: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    approvals: ApprovalArgs,
    #[command(flatten)]
    telemetry: TelemetryArgs,
}

impl Args {
    /// Where it listens, and how.
    fn listening(&self) -> Listen {
        let tls = self.tls_certificate.clone().zip(self.tls_key.clone());
        Listen {
            tls: tls.map(|(certificate, key)| Tls {
                certificate,
                key,
                client_authority: None,
                client_names: Vec::new(),
            }),
            plain_http_lets_anyone_on_the_network_read_and_change_everything: self
                .plain_http_lets_anyone_on_the_network_read_and_change_everything,
            ..Listen::on(vec![self.listen])
        }
    }

    /// How its own addresses begin.
    fn scheme(&self) -> &'static str {
        if self.tls_certificate.is_some() {
            "https"
        } else {
            "http"
        }
    }
}

/// Runs the command.
#[tokio::main]
pub async fn run(arguments: Args) -> anyhow::Result<ExitCode> {
    countersign_serve::init_logging("door");
    arguments.place.set_look();
    let mut watch = Watch::new(arguments.policy.clone());
    let policy = place::read_policy(&arguments.policy)?;
    let (names, behind) = all_behind(&policy)?;
    let listeners = countersign_serve::open(&arguments.listening()).await?;
    let allowed = allowed(&arguments, listeners[0].local_addr()?);
    let address = listeners[0].local_addr()?;
    let scheme = arguments.scheme();
    let record = arguments.place.record(policy.id())?;
    let directory = record.directory.clone();
    let servers: Vec<_> = names.iter().map(|name| &**name).collect();
    let door = Arc::new(Door::open(Rules::new(policy)?, &servers, record)?);
    telemetry::open(&door, &arguments.telemetry)?;
    if let Some(desk) = approval::open(&door, &arguments.approvals, &directory)? {
        tokio::spawn(desk.close_when_stopping());
    }
    let identity = identity(&arguments, listeners[0].local_addr()?)?;
    let bearers = match &identity {
        Identity::Bearers { bearers, .. } => Some(Arc::clone(bearers)),
        Identity::Local(_) | Identity::Sessions(_) => None,
    };
    let (router, serving) = match behind {
        AllBehind::One(Behind::Http(upstream)) => {
            let gate = Arc::new(Gate {
                door: Arc::clone(&door),
                identity,
                upstream: *upstream,
                request_key: None,
                sessions: Sessions::default(),
                reading: tokio::sync::Mutex::default(),
            });
            tokio::spawn(streams::reap(Arc::clone(&gate)));
            let direct = direct(Arc::clone(&gate), allowed.clone());
            (router(gate, allowed), Serving::Directly(direct))
        }
        AllBehind::One(Behind::Program(program)) => {
            let behind = house::Behind::Program(program, Drain::start()?);
            let house = House::new(Arc::clone(&door), behind);
            let hub = Arc::new(Hub { identity, house });
            (hub::router(Arc::clone(&hub), allowed), Serving::Hub(hub))
        }
        AllBehind::Several(ways) => {
            let plan = Plan::new(ways, Some(tokio::runtime::Handle::current()))?;
            let house = House::new(Arc::clone(&door), house::Behind::Several(plan));
            let hub = Arc::new(Hub { identity, house });
            (hub::router(Arc::clone(&hub), allowed), Serving::Hub(hub))
        }
    };
    tracing::info!("Clients are served at {scheme}://{address}/mcp");
    let ticked = match &serving {
        Serving::Hub(hub) => Some(Arc::clone(hub)),
        Serving::Directly(_) => None,
    };
    let ticking = Arc::clone(&door);
    std::thread::Builder::new()
        .name("ticks".into())
        .spawn(move || {
            loop {
                std::thread::sleep(TICK);
                if let Err(error) = ticking.log.sign_head() {
                    tracing::error!(%error, "Could not sign the head of the record");
                }
                watch.look(&ticking);
                if let Some(bearers) = &bearers {
                    bearers.look();
                }
                if let Some(hub) = &ticked {
                    hub.house.tick();
                }
            }
        })
        .context("start a thread")?;
    match serving {
        Serving::Directly(direct) => {
            let workers = Workers::start().context("start a thread")?;
            countersign_serve::run_directly("door", listeners, router, direct, workers).await?;
        }
        Serving::Hub(hub) => {
            countersign_serve::run("door", listeners, router).await?;
            tokio::task::block_in_place(|| hub.house.end());
        }
    }
    door.close().context("close the record")?;
    Ok(ExitCode::SUCCESS)
}

/// Who may call: the bearers of an issuer's tokens, or whoever can reach the door.
fn identity(arguments: &Args, address: SocketAddr) -> anyhow::Result<Identity> {
    let (Some(file), Some(issuer), Some(audience)) =
        (&arguments.jwks, &arguments.issuer, &arguments.audience)
    else {
        return Ok(Identity::Local(Caller::local("http")));
    };
    let is_address = audience.starts_with("http://") || audience.starts_with("https://");
    let resource = match &arguments.resource {
        Some(resource) => resource.clone(),
        None if is_address => audience.clone(),
        None => format!("{}://{address}/mcp", arguments.scheme()),
    };
    let terms = Terms {
        issuer: issuer.clone(),
        audience: audience.clone(),
    };
    Ok(Identity::Bearers {
        bearers: Arc::new(Bearers::open(file.clone(), terms)?),
        resource: Resource::new(&resource, issuer)?,
    })
}

/// How clients are served.
enum Serving {
    /// What they say goes to a server over HTTP, on the thread that their connection is on.
    Directly(Direct),
    /// Threads of the servers' processes have a part in it.
    Hub(Arc<Hub>),
}

/// All that stands behind the door.
enum AllBehind {
    One(Behind),
    Several(Vec<Way>),
}

fn all_behind(policy: &Policy) -> anyhow::Result<(Vec<Box<str>>, AllBehind)> {
    let servers: Vec<_> = policy.servers().collect();
    match servers[..] {
        [(name, server)] => {
            let behind = AllBehind::One(Behind::of(name, server)?);
            Ok((vec![name.into()], behind))
        }
        [] => bail!("the policy names no server: add one under `servers`"),
        _ => {
            let (names, ways) = ways(policy)?;
            Ok((names, AllBehind::Several(ways)))
        }
    }
}

/// The servers of a policy that names several, by name, and how each is reached.
///
/// # Errors
/// When one of them cannot be reached as the policy says.
pub fn ways(policy: &Policy) -> anyhow::Result<(Vec<Box<str>>, Vec<Way>)> {
    let mut servers: Vec<_> = policy.servers().collect();
    servers.sort_unstable_by_key(|(name, _)| *name);
    let ways = servers.iter().map(|(name, server)| {
        Ok(match Behind::of(name, server)? {
            Behind::Http(upstream) => Way::Http(Arc::from(upstream)),
            Behind::Program(program) => Way::Program(program),
        })
    });
    let ways = ways.collect::<anyhow::Result<_>>()?;
    let names = servers.iter().map(|(name, _)| (*name).into());
    Ok((names.collect(), ways))
}

/// What stands behind the door.
pub enum Behind {
    /// A server with an address.
    Http(Box<Upstream>),
    /// A server that the door starts.
    Program(Program),
}

impl Behind {
    /// What the policy says of a server.
    ///
    /// # Errors
    /// When it says nothing usable.
    pub fn of(name: &str, server: &Server) -> anyhow::Result<Self> {
        ensure!(
            !server.needs_request_tokens(),
            "the server {name} wants request tokens, for which the door must verify its callers"
        );
        match server.connection() {
            Some(Connection::Url { url }) => {
                let upstream = Upstream::new(&UpstreamConfig {
                    name: name.to_owned(),
                    url: url.expose().to_owned(),
                })?;
                let headers = server.headers().iter();
                let headers = headers.map(|(name, value)| (&**name, value.expose()));
                Ok(Self::Http(Box::new(upstream.with_headers(headers)?)))
            }
            Some(Connection::Command { .. }) => {
                Ok(Self::Program(Program::of(name, server, Vec::new())?))
            }
            None => bail!("the policy says neither `command` nor `url` of {name}"),
        }
    }
}

/// The names this listener goes by. Another name is a page that made one lead here.
fn allowed(arguments: &Args, address: SocketAddr) -> Allowed {
    let mut hosts = arguments.hosts.clone();
    hosts.push(address.to_string());
    if address.ip().is_loopback() {
        hosts.push(format!("localhost:{}", address.port()));
    }
    Allowed {
        hosts,
        origins: arguments.origins.clone(),
    }
}
