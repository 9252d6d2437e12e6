//! Opening the desk and the page beside it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::desk::Desk;
use super::notify::Notifier;
use super::own_tools::OwnTools;
use super::page::{self, Links, Page};
use super::terms::Ways;
use super::webhook::Webhook;
use crate::clock::Now;
use crate::door::Door;

/// Name of the file with the approvers' links, beside the record.
const LINKS: &str = "approval-links";

/// How held calls reach a person, as the command line says it.
#[derive(Clone, Debug, Default, clap::Args, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalArgs {
    /// The port of the approval page on 127.0.0.1; any free one when not given.
    #[arg(long, value_name = "PORT")]
    #[serde(default, rename = "port")]
    approval_port: Option<u16>,
    /// Who may decide on the approval page; can be given again. The user's name when not given.
    #[arg(long = "approver", value_name = "NAME")]
    #[serde(default)]
    approvers: Vec<String>,
    /// The file in which the approvers' one-use links stand, readable by its owner alone;
    /// `approval-links` beside the record when not given.
    #[arg(long, value_name = "FILE")]
    #[serde(default, rename = "links")]
    approval_links: Option<PathBuf>,
    /// Offer two tools of the door's own: door__status and door__recent_events.
    #[arg(long)]
    #[serde(default)]
    own_tools: bool,
}

/// An open desk. Close it before the record is closed.
pub struct Open {
    desk: Arc<Desk>,
    page: Arc<Page>,
}

impl Open {
    /// Closes it once the process is asked to stop, so that whoever waits is told before the
    /// connections end.
    pub async fn close_when_stopping(self) {
        countersign_serve::stopping().await;
        self.close();
    }

    /// Denies what is held, and takes the links away.
    pub fn close(&self) {
        self.desk.holds.shut_down(Now::read());
        self.page.links.close();
    }
}

/// Opens the desk of a door whose policy can hold a call, with its page and what else decides.
/// A policy that never holds opens nothing.
///
/// # Errors
/// When the page cannot be opened as asked, or the webhook's secret is none.
pub fn open(
    door: &Arc<Door>,
    arguments: &ApprovalArgs,
    log_directory: &Path,
) -> anyhow::Result<Option<Open>> {
    if arguments.own_tools {
        door.offer_own_tools(OwnTools::new(log_directory));
    }
    let rules = door.rules();
    if !rules.policy.can_hold() && arguments.approval_port.is_none() {
        return Ok(None);
    }
    let (webhook, notifier) = match rules.policy.approval().webhook() {
        None => (None, None),
        Some(webhook) => (
            Some(Webhook::new(webhook.secret.expose()).context("approval.webhook")?),
            Some(Notifier::new(webhook.url.expose()).context("approval.webhook")?),
        ),
    };
    let port = arguments.approval_port.unwrap_or(0);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .with_context(|| format!("open the approval page on 127.0.0.1:{port}"))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let file = match &arguments.approval_links {
        Some(file) => file.clone(),
        None => log_directory.join(LINKS),
    };
    let links = Links::new(format!("http://{address}"), Some(file.clone()));
    match &arguments.approvers[..] {
        [] => links.open(&user_name()).map(drop)?,
        names => {
            for name in names {
                let named = !name.trim().is_empty() && !name.contains(char::is_control);
                anyhow::ensure!(named, "an approver needs a name of one line");
                links.open(name)?;
            }
        }
    }
    let available = Ways {
        page: true,
        webhook: webhook.is_some(),
        // Of the clients that take questions; each says so itself.
        client: true,
    };
    let desk = Arc::new(Desk::new(door, available));
    let page = Arc::new(Page {
        holds: Arc::clone(&desk.holds),
        links,
        webhook,
    });
    serve(listener, Arc::clone(&page), address, notifier)?;
    door.set_holds(Arc::clone(&desk) as Arc<dyn crate::judge::hold::Holds>);
    // The links themselves go into no log: whoever reads it could approve.
    tracing::info!(
        page = %format_args!("http://{address}"),
        links = %file.display(),
        "Held calls wait on http://{address}; the approvers' links stand in {}",
        file.display()
    );
    Ok(Some(Open { desk, page }))
}

/// Serves the page on a thread of its own, whatever the door's fronts run on.
fn serve(
    listener: TcpListener,
    page: Arc<Page>,
    address: SocketAddr,
    notifier: Option<Notifier>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the approval page")?;
    let serve = async move {
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "The approval page cannot be served"),
        };
        let told = Arc::clone(&page);
        tokio::spawn(async move {
            if let (Some(notifier), Some(webhook)) = (notifier, &told.webhook) {
                notifier.run(Arc::clone(&told.holds), webhook).await;
            }
        });
        // It ends with the process: before that, what is held is denied.
        let never = std::future::pending();
        countersign_serve::serve_until(vec![listener], page::router(page, address), never).await;
    };
    std::thread::Builder::new()
        .name("approvals".into())
        .spawn(move || runtime.block_on(serve))
        .context("start the approval page")?;
    Ok(())
}

/// What the system calls the door's user; a name to be written down, not one that is proven.
fn user_name() -> String {
    let named = |name: &String| !name.trim().is_empty() && !name.contains(char::is_control);
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|variable| std::env::var(variable).ok().filter(named))
        .unwrap_or_else(|| "operator".to_owned())
}
