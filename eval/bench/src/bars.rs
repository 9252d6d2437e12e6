//! The bars, each a ratio or a difference inside this run.

use crate::figures::Table;
use crate::floors::Floors;
use crate::{http, stdio};

/// Prints every bar with what was measured, and says how many are missed. A bar whose target did not run is missed.
pub fn print(table: &Table, floors: &Floors, screened: f64) -> usize {
    println!("\n| bar | wanted | measured | |\n|---|---|---|---|");
    let nginx_added = table.added(http::NGINX, http::DIRECT);
    let tokens = 1.2 * (floors.signature + floors.verification);
    let plain = table.added(http::DOOR, http::DIRECT);
    let bars = [
        at_most(
            "stdio, written: added p50, µs",
            table.added(stdio::WRITTEN, stdio::DIRECT),
            Some(20.0),
        ),
        at_most(
            "stdio, durable: added p50, µs (one fdatasync + 30)",
            table.added(stdio::DURABLE, stdio::DIRECT),
            Some(floors.flush + 30.0),
        ),
        at_least(
            "stdio, durable: calls at 32 of direct",
            table.share(stdio::DURABLE, stdio::DIRECT),
            Some(0.4),
        ),
        at_most(
            "stdio, sign each: added p50, µs (written + 1.5 signatures)",
            table.added(stdio::SIGNED, stdio::DIRECT),
            table
                .added(stdio::WRITTEN, stdio::DIRECT)
                .map(|written| written + 1.5 * floors.signature),
        ),
        at_most(
            "stdio: CPU a call, µs",
            table.median(stdio::WRITTEN, |row| row.cpu_us),
            Some(15.0),
        ),
        at_least(
            "stdio: calls at 32 of direct",
            table.share(stdio::WRITTEN, stdio::DIRECT),
            Some(0.5),
        ),
        at_most(
            "stdio: cold start over the server's own, ms",
            table.compared(stdio::WRITTEN, stdio::DIRECT, |own, base| {
                own.cold_ms - base.cold_ms
            }),
            Some(15.0),
        ),
        at_most(
            "stdio: anonymous memory, MiB",
            table.median(stdio::WRITTEN, |row| row.anonymous_mib),
            Some(12.0),
        ),
        at_most(
            "stdio, all screening: anonymous memory, MiB",
            table.median(stdio::SCREENED, |row| row.anonymous_mib),
            Some(24.0),
        ),
        at_most(
            "HTTP: added p50, µs (1.5 nginx)",
            plain,
            nginx_added.map(|nginx| 1.5 * nginx),
        ),
        at_most(
            "HTTP with tokens: added p50, µs (that + 1.2 × (signature + verification))",
            table.added(http::TOKENS, http::DIRECT),
            nginx_added.map(|nginx| 1.5 * nginx + tokens),
        ),
        at_least(
            "HTTP: calls at 32 of direct (0.9 nginx's)",
            table.share(http::DOOR, http::DIRECT),
            table
                .share(http::NGINX, http::DIRECT)
                .map(|share| 0.9 * share),
        ),
        at_most(
            "screening: a clean result of 10 KB, µs",
            Some(screened),
            Some(100.0),
        ),
    ];
    bars.iter().filter(|reached| !**reached).count()
}

fn at_most(what: &str, measured: Option<f64>, bar: Option<f64>) -> bool {
    line(what, "≤", measured, bar, |measured, bar| measured <= bar)
}

fn at_least(what: &str, measured: Option<f64>, bar: Option<f64>) -> bool {
    line(what, "≥", measured, bar, |measured, bar| measured >= bar)
}

fn line(
    what: &str,
    sign: &str,
    measured: Option<f64>,
    bar: Option<f64>,
    holds: fn(f64, f64) -> bool,
) -> bool {
    let (Some(measured), Some(bar)) = (measured, bar) else {
        println!("| {what} | | not measured | missed |");
        return false;
    };
    let reached = holds(measured, bar);
    let verdict = if reached { "reached" } else { "missed" };
    println!("| {what} | {sign} {bar:.2} | {measured:.2} | {verdict} |");
    reached
}
