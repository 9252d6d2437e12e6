//! Logs: one JSON object a line on standard error. Secrets and customer text never go there.

use std::io::Write;
use std::sync::OnceLock;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

static SERVICE: OnceLock<&str> = OnceLock::new();

/// What is logged when `RUST_LOG` says nothing. The protocol library quotes its peers, so only its errors stay.
const DEFAULT_FILTER: &str = "info,rmcp=error";

/// Sends this process's logs to standard error as JSON lines, each naming `service`.
///
/// `RUST_LOG` filters them; when it is unset, "info" of our own and errors of the protocol library. A panic is logged by its place in the source alone, since
/// its message may quote what a customer typed. The second call in one process changes nothing.
pub fn init_logging(service: &'static str) {
    if SERVICE.set(service).is_err() {
        return;
    }
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    // Fails only when a subscriber stands already, whose lines then serve as well.
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_env_filter(filter)
        .with_writer(ServiceLines(service))
        .try_init();
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or_else(String::new, ToString::to_string);
        tracing::error!(place, "Panicked at {place}");
    }));
}

/// Writes each event with the service's name as its first member.
#[derive(Clone, Copy)]
struct ServiceLines(&'static str);

impl<'a> MakeWriter<'a> for ServiceLines {
    type Writer = ServiceLine;

    fn make_writer(&'a self) -> ServiceLine {
        ServiceLine(self.0)
    }
}

struct ServiceLine(&'static str);

impl ServiceLine {
    fn named(&self, event: &[u8]) -> Vec<u8> {
        match event.strip_prefix(b"{") {
            Some(members) => [b"{\"service\":\"", self.0.as_bytes(), b"\",", members].concat(),
            None => event.to_vec(),
        }
    }
}

impl Write for ServiceLine {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        // The formatter hands over one whole line; one write keeps lines of several threads apart.
        std::io::stderr().lock().write_all(&self.named(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_its_service() {
        let line = ServiceLine("panel").named(b"{\"message\":\"Listening\"}\n");
        let parsed: serde_json::Value = serde_json::from_slice(&line).expect("still JSON");
        assert_eq!(
            parsed,
            serde_json::json!({"service": "panel", "message": "Listening"})
        );
    }
}
