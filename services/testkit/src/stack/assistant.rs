//! What the agent reaches beyond the door: the endpoints of its model and its guardrails, and no other.
//!
//! The agent's cage holds ports, not hosts, and its socket filter leaves it no way to look a name up. So an endpoint
//! elsewhere is reached through a relay that the supervisor keeps on this machine: bytes go to that one host and port,
//! encrypted from the agent to the endpoint as before, and the relay reads none of them.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Most connections of one relay at one time.
const CONNECTIONS_MAX: usize = 128;

/// The agent's part of a stack's configuration, with its ways out.
#[derive(Debug)]
pub(super) struct Assistant {
    /// Members of the agent's configuration: `model`, and `guardrails` and limits where there are any.
    pub(super) settings: Value,
    /// The ports that the agent needs.
    pub(super) ports: Vec<u16>,
    relays: Vec<JoinHandle<()>>,
}

impl Drop for Assistant {
    fn drop(&mut self) {
        for relay in &self.relays {
            relay.abort();
        }
    }
}

impl Assistant {
    /// Prepares the ways to every endpoint that the settings name. Without settings, the model is the built-in one.
    ///
    /// # Errors
    /// When the settings are no object, an endpoint is no address, or a relay cannot listen.
    pub(super) async fn prepare(settings: Option<&Value>) -> anyhow::Result<Self> {
        let mut settings = settings
            .cloned()
            .unwrap_or_else(|| json!({"model": {"kind": "offline"}}));
        ensure!(
            settings.get("model").is_some_and(Value::is_object),
            "the assistant's settings need a `model`, such as {{\"model\": {{\"kind\": \"offline\"}}}}"
        );
        for ours in ["listen", "door_url"] {
            ensure!(
                settings.get(ours).is_none(),
                "`{ours}` of the agent is not yours to set"
            );
        }
        let mut assistant = Self {
            settings: Value::Null,
            ports: Vec::new(),
            relays: Vec::new(),
        };
        assistant.lead(&mut settings["model"]).await?;
        if let Some(guardrails) = settings.get_mut("guardrails").and_then(Value::as_array_mut) {
            for guardrail in guardrails {
                assistant.lead(guardrail).await?;
            }
        }
        assistant.settings = settings;
        Ok(assistant)
    }

    /// Opens the way to what one part of the settings names.
    async fn lead(&mut self, part: &mut Value) -> anyhow::Result<()> {
        let Some(url) = endpoint(part)? else {
            return Ok(());
        };
        let host = url.host_str().context("an endpoint has a host")?.to_owned();
        let port = url
            .port_or_known_default()
            .context("an endpoint has a port")?;
        if host == "localhost" || is_loopback(&host) {
            self.ports.push(port);
            return Ok(());
        }
        // A port that the address names is also the one that the agent calls.
        let wanted = url.port().unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted))
            .await
            .with_context(|| {
                format!("listen on port {wanted} of this machine, to lead to {host}")
            })?;
        let address = listener.local_addr()?;
        part["reach_at"] = address.to_string().into();
        self.ports.push(address.port());
        self.relays.push(tokio::spawn(relay(listener, host, port)));
        Ok(())
    }
}

/// The address that a model or a guardrail is asked at.
fn endpoint(part: &Value) -> anyhow::Result<Option<Url>> {
    let text = match (part["endpoint"].as_str(), part["region"].as_str()) {
        (Some(endpoint), _) => endpoint.to_owned(),
        (None, Some(region)) => format!("https://bedrock-runtime.{region}.amazonaws.com"),
        (None, None) => return Ok(None),
    };
    match text.parse::<Url>() {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(Some(url)),
        // The address is not repeated: it may hold a key.
        _ => bail!("an endpoint of the assistant's settings is no http or https address"),
    }
}

fn is_loopback(host: &str) -> bool {
    host.trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_loopback())
}

/// Passes bytes between whoever connects here and one host.
async fn relay(listener: TcpListener, host: String, port: u16) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok((mut near, _)) = listener.accept().await {
        // Beyond the limit the connection is dropped, and the caller tries again.
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let host = host.clone();
        tokio::spawn(async move {
            if let Ok(mut far) = TcpStream::connect((host.as_str(), port)).await {
                // Either side's end is the other's.
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            }
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_local_endpoint_is_reached_directly_and_another_by_a_relay() {
        let settings = json!({
            "model": {"kind": "openai_chat", "endpoint": "http://127.0.0.1:11434/v1"},
            "guardrails": [{"kind": "bedrock", "region": "eu-central-1"}, {"kind": "built_in"}],
        });
        let assistant = Assistant::prepare(Some(&settings)).await.expect("prepared");
        assert_eq!(assistant.ports[0], 11434);
        assert_eq!(assistant.settings["model"], settings["model"]);
        let reach_at = format!("127.0.0.1:{}", assistant.ports[1]);
        assert_eq!(assistant.settings["guardrails"][0]["reach_at"], reach_at);
        assert_eq!(assistant.ports.len(), 2);
        let offline = Assistant::prepare(None).await.expect("prepared");
        assert_eq!(
            (offline.ports.len(), &offline.settings["model"]["kind"]),
            (0, &json!("offline"))
        );
        for bad in [
            json!({}),
            json!({"model": {"kind": "offline"}, "listen": {}}),
            json!({"model": {"endpoint": "file:///etc"}}),
        ] {
            assert!(Assistant::prepare(Some(&bad)).await.is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_relay_leads_to_one_place() {
        let far = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let near = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let (to, at) = (
            far.local_addr().expect("address"),
            near.local_addr().expect("address"),
        );
        let task = tokio::spawn(relay(near, to.ip().to_string(), to.port()));
        let mut caller = TcpStream::connect(at).await.expect("connect");
        let (mut called, _) = far.accept().await.expect("accept");
        caller.write_all(b"hello").await.expect("write");
        let mut read = [0; 5];
        called.read_exact(&mut read).await.expect("read");
        assert_eq!(&read, b"hello");
        drop(caller);
        assert_eq!(called.read(&mut read).await.expect("the end"), 0);
        task.abort();
    }
}
