//! From the file's form to what decides.

mod rules;
mod screen;
mod servers;
mod tools;

use crate::file::{Mode, PolicyFile};
use crate::load::Policy;
use crate::name::check_name;
use crate::places::Places;
use crate::read::{PolicyError, meaning};
use crate::template::Environment;
use crate::words::WriteWords;

/// Most calls in a minute that a limit may allow.
const RATE_MAX: u32 = 60_000_000;
/// Most messages of one identity in a minute where the file says nothing.
const MESSAGE_RATE_DEFAULT: u32 = 1_200;

/// Compiles a file. Without an environment, variables stay unfilled and servers unreachable.
pub(crate) fn policy(
    file: PolicyFile,
    hash: [u8; 32],
    environment: Option<Environment<'_>>,
    places: &Places,
) -> Result<Policy, PolicyError> {
    if file.version != 1 {
        return Err(meaning("version", "this door reads version 1"));
    }
    check_plain("id", &file.id)?;
    check_rate("rate_per_minute", file.rate_per_minute)?;
    check_rate("message_rate_per_minute", file.message_rate_per_minute)?;
    for word in &file.never_allow {
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(meaning(
                "never_allow",
                format!("`{word}` is no word of letters"),
            ));
        }
    }
    let words = WriteWords::with(&file.never_allow);
    servers::check_names(&file, places)?;
    let approval = servers::approval(&file.approval, environment)?;
    let screening = screen::compile(&file)?;
    let mut tools = tools::tools(&file, &words)?;
    let mut methods = tools::methods(&file)?;
    let rules = rules::compile(&file, &tools, &methods)?;
    tools::bind_rules(&mut tools, &mut methods, &rules);
    let servers = servers::compile(file.servers, environment)?;
    if file.mode == Mode::Observe
        && let Some(name) = servers
            .iter()
            .find_map(|(name, server)| server.needs_request_tokens().then_some(name))
    {
        return Err(meaning(
            "mode",
            format!(
                "`observe` lets refused calls pass, and `servers.{name}` needs request tokens: use `enforce`"
            ),
        ));
    }
    Ok(Policy {
        id: file.id.into_boxed_str(),
        hash,
        mode: file.mode,
        require_pins: file.require_pins,
        on_changed_tool: file.on_changed_tool,
        allow_dots: file.allow_dots,
        rate_per_minute: file.rate_per_minute,
        message_rate_is_given: file.message_rate_per_minute.is_some(),
        message_rate_per_minute: file.message_rate_per_minute.unwrap_or(MESSAGE_RATE_DEFAULT),
        words,
        servers,
        tools,
        methods,
        rules,
        approval,
        screening,
    })
}

fn check_plain(path: &str, name: &str) -> Result<(), PolicyError> {
    if check_name(name, true) {
        Ok(())
    } else {
        Err(meaning(
            path,
            "letters, digits, '_', '-' and '.' are allowed",
        ))
    }
}

fn check_rate(path: &str, rate: Option<u32>) -> Result<(), PolicyError> {
    if rate.is_none_or(|rate| (1..=RATE_MAX).contains(&rate)) {
        Ok(())
    } else {
        Err(meaning(
            path,
            format!("a rate is 1 to {RATE_MAX} in a minute"),
        ))
    }
}
