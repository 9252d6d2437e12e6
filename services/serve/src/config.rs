//! Config and secrets of a service: one JSON object, by pipe or from a file, never argv or environment.

use std::io::Read;

use anyhow::{Context, bail};
use serde::de::DeserializeOwned;

use crate::process;

/// Longest config a service reads.
const CONFIG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads this service's config: `--config-stdin` (to the end of standard input) or `--config FILE`.
///
/// Before a byte is read the process is shut to its neighbours (no ptrace, no core dump). A service
/// started with `--config-stdin` has a supervisor, so it also asks to die with it.
///
/// # Errors
/// When the arguments are anything else, the input is longer than 4 MiB, or it is not exactly one JSON
/// value of the wanted shape. The message never holds a piece of the input.
pub fn read_config<T: DeserializeOwned>() -> anyhow::Result<T> {
    process::shut_to_neighbours();
    let mut arguments = std::env::args().skip(1);
    let (flag, file, rest) = (arguments.next(), arguments.next(), arguments.next());
    let text = match (flag.as_deref(), file, rest) {
        (Some("--config-stdin"), None, None) => {
            process::die_with_parent();
            read_bounded(std::io::stdin().lock()).context("read the config from standard input")?
        }
        (Some("--config"), Some(path), None) => {
            let file = std::fs::File::open(&path).with_context(|| format!("open {path}"))?;
            read_bounded(file).with_context(|| format!("read {path}"))?
        }
        _ => bail!("usage: --config-stdin (one JSON object on standard input) or --config FILE"),
    };
    parse(&text)
}

fn read_bounded(from: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > CONFIG_BYTES_MAX {
        bail!("the config is longer than {CONFIG_BYTES_MAX} bytes");
    }
    Ok(text)
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(text).map_err(|error| {
        // serde_json quotes values of the wrong type, and a config's values are secrets.
        let kind = match error.classify() {
            serde_json::error::Category::Data => {
                "has a field missing, unknown or of the wrong type"
            }
            serde_json::error::Category::Eof => "ends too early",
            _ => "is not JSON",
        };
        anyhow::anyhow!(
            "the config {kind} (line {}, column {})",
            error.line(),
            error.column()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is tested")]
    struct Shape {
        port: u16,
    }

    #[test]
    fn a_refused_config_does_not_show_its_values() {
        let error = parse::<Shape>(br#"{"port":"hunter2"}"#).expect_err("a string is no port");
        assert!(!format!("{error:#}").contains("hunter2"), "{error:#}");
        assert!(format!("{error:#}").contains("wrong type"));
    }

    #[test]
    fn an_unknown_or_repeated_field_is_refused() {
        assert!(parse::<Shape>(br#"{"port":1,"prot":2}"#).is_err());
        assert!(parse::<Shape>(br#"{"port":1,"port":2}"#).is_err());
        assert!(parse::<Shape>(br#"{"port":1}{}"#).is_err());
        assert!(parse::<Shape>(br#"{"port":1}"#).is_ok());
    }

    #[test]
    fn an_endless_config_is_refused() {
        assert!(read_bounded(std::io::repeat(b' ')).is_err());
    }
}
