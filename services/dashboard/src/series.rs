//! What happened over time, in equal parts of a day, a week or a month.

use serde::Deserialize;
use sqlx::{Postgres, Transaction};
use time::OffsetDateTime;

use crate::routes::shown;

/// How far back, and in which parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// 24 hours by the hour.
    #[default]
    Day,
    /// Seven days by the day.
    Week,
    /// Thirty days by the day.
    Month,
}

impl Span {
    /// All of them, with their names in addresses and on the page.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Day, "day", "24 hours"),
        (Self::Week, "week", "7 days"),
        (Self::Month, "month", "30 days"),
    ];

    /// The name in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    const fn parts(self) -> i32 {
        match self {
            Self::Day => 24,
            Self::Week => 7,
            Self::Month => 30,
        }
    }

    const fn part_seconds(self) -> i32 {
        match self {
            Self::Day => 3600,
            Self::Week | Self::Month => 86_400,
        }
    }

    /// Hours back to the beginning.
    pub const fn hours(self) -> i32 {
        self.parts() * self.part_seconds() / 3600
    }
}

/// A series the page has, by the name of its rows: what it is, and where the rows behind it are.
pub const SERIES: [(&str, &str, &str); 15] = [
    (
        "request_created",
        "Requests made",
        "/?event=request_created",
    ),
    ("confirmed", "Confirmed", "/?event=confirmed"),
    ("superseded", "Superseded", "/?event=superseded"),
    ("refused", "Refused at Confirm", "/?event=refused"),
    ("held", "Held", "/?event=held"),
    ("cancelled", "Cancelled", "/?event=cancelled"),
    (
        "injection_flagged",
        "Instructions found in texts",
        "/alarms?kind=injection_flagged",
    ),
    (
        "guardrail_hit",
        "Guardrail hits",
        "/alarms?kind=guardrail_hit",
    ),
    (
        "claim_corrected",
        "Claims corrected from the record",
        "/alarms?kind=claim_corrected",
    ),
    (
        "canary_alarm",
        "Canary alarms in replies",
        "/alarms?kind=canary_alarm",
    ),
    (
        "call_canary",
        "Canary alarms in tool calls",
        "/alarms?kind=call_canary",
    ),
    (
        "turned_away",
        "Calls turned away",
        "/alarms?kind=turned_away",
    ),
    (
        "agent_misreport",
        "Untrue reports of the assistant",
        "/alarms?kind=agent_misreport",
    ),
    (
        "scam_advice",
        "Advice that only a swindler gives",
        "/alarms?kind=scam_advice",
    ),
    ("tool_call", "Calls of the bank's tools", "/calls?"),
];

/// One part of a series.
#[derive(Clone, Debug)]
pub struct Part {
    /// When it began.
    pub began: String,
    /// How many, or how much.
    pub value: i64,
    /// Where its bar stands in the picture.
    pub x: i32,
    /// The bar's upper edge.
    pub y: i64,
    /// The bar's height.
    pub height: i64,
}

/// A series with its picture.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the export.
    pub name: &'static str,
    /// What it counts.
    pub what: &'static str,
    /// Where the rows behind it are; nothing where there are none.
    pub href: String,
    /// All of it.
    pub total: i64,
    /// The highest part.
    pub most: i64,
    /// Width of the picture.
    pub width: i32,
    /// Oldest first.
    pub parts: Vec<Part>,
}

/// Width of a bar with its gap.
const BAR: i32 = 12;
/// Height of the picture.
pub const HEIGHT: i64 = 60;

fn series(
    name: &'static str,
    what: &'static str,
    href: String,
    span: Span,
    now: OffsetDateTime,
    found: &[(i32, i64)],
    total: Option<i64>,
) -> Series {
    let value = |age: i32| -> i64 {
        found
            .iter()
            .filter(|(at, _)| *at == age)
            .map(|(_, count)| count)
            .sum()
    };
    let ages = || (0..span.parts()).rev();
    let most = ages().map(value).max().unwrap_or(0);
    let parts = ages()
        .zip(0_i32..)
        .map(|(age, place)| {
            let value = value(age);
            // A part that is not nothing is never drawn as nothing.
            let height = if value == 0 {
                0
            } else {
                (value.saturating_mul(HEIGHT) / most.max(1)).max(2)
            };
            let back = i64::from(age + 1) * i64::from(span.part_seconds());
            Part {
                began: shown(now - time::Duration::seconds(back)),
                value,
                x: place * BAR,
                y: HEIGHT - height,
                height,
            }
        })
        .collect();
    Series {
        name,
        what,
        href,
        total: total.unwrap_or_else(|| ages().map(value).sum()),
        most,
        width: span.parts() * BAR,
        parts,
    }
}

/// Every series, and after them the time of replies and what the model's use cost.
///
/// # Errors
/// When the database does not answer.
pub async fn read(
    transaction: &mut Transaction<'static, Postgres>,
    span: Span,
) -> Result<Vec<Series>, sqlx::Error> {
    let (part, whole) = (
        f64::from(span.part_seconds()),
        f64::from(span.parts() * span.part_seconds()),
    );
    let now = sqlx::query_scalar!(r#"SELECT bank.bank_clock() AS "now!""#)
        .fetch_one(&mut **transaction)
        .await?;
    let rows = sqlx::query!(
        r#"SELECT name AS "name!", floor(extract(epoch FROM bank.bank_clock() - at) / $1::float8)::int AS "age!", sum(number)::bigint AS "count!"
             FROM (SELECT kind AS name, recorded_at AS at, 1 AS number FROM bank.bank_event
                    WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2)
                   UNION ALL
                   SELECT kind, recorded_at, number FROM bank.chat_event
                    WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2)
                   UNION ALL
                   SELECT 'call_canary', recorded_at, 1 FROM bank.call_alarm
                    WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2)
                   UNION ALL
                   SELECT 'turned_away', recorded_at, 1 FROM bank.turned_away
                    WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2)
                   UNION ALL
                   SELECT 'tool_call', recorded_at, 1 FROM bank.tool_call
                    WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2)) AS happened
            GROUP BY 1, 2"#,
        part,
        whole
    )
    .fetch_all(&mut **transaction)
    .await?;
    let mut all: Vec<Series> = SERIES
        .iter()
        .map(|(name, what, href)| {
            let found: Vec<(i32, i64)> = rows
                .iter()
                .filter(|row| row.name == *name)
                .map(|row| (row.age, row.count))
                .collect();
            let href = format!("{href}&hours={}", span.hours());
            series(name, what, href, span, now, &found, None)
        })
        .collect();
    let replies = sqlx::query!(
        r#"SELECT floor(extract(epoch FROM bank.bank_clock() - started_at) / $1::float8)::int AS "age!",
                  (1000 * percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - started_at)::float8))::bigint AS "p99!"
             FROM bank.reply WHERE ended_at IS NOT NULL AND started_at > bank.bank_clock() - make_interval(secs => $2) GROUP BY 1"#,
        part,
        whole
    )
    .fetch_all(&mut **transaction)
    .await?;
    let found: Vec<(i32, i64)> = replies.iter().map(|row| (row.age, row.p99)).collect();
    let slowest = found.iter().map(|(_, p99)| *p99).max().unwrap_or(0);
    let what = "Time of a reply, 99th percentile, milliseconds (the number is the slowest part)";
    all.push(series(
        "reply_p99_ms",
        what,
        String::new(),
        span,
        now,
        &found,
        Some(slowest),
    ));
    let costs = sqlx::query!(
        r#"SELECT floor(extract(epoch FROM bank.bank_clock() - recorded_at) / $1::float8)::int AS "age!", sum(cost_micros)::bigint AS "cost!"
             FROM bank.model_use WHERE recorded_at > bank.bank_clock() - make_interval(secs => $2) GROUP BY 1"#,
        part,
        whole
    )
    .fetch_all(&mut **transaction)
    .await?;
    let found: Vec<(i32, i64)> = costs.iter().map(|row| (row.age, row.cost)).collect();
    all.push(series(
        "model_cost_micros",
        "Cost of the model, in millionths, as the assistant says",
        String::new(),
        span,
        now,
        &found,
        None,
    ));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_nothing_is_drawn_and_ages_run_to_the_right() {
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::days(40);
        let drawn = series(
            "confirmed",
            "",
            String::new(),
            Span::Week,
            now,
            &[(0, 1000), (6, 1), (7, 5)],
            None,
        );
        assert_eq!(drawn.parts.len(), 7);
        assert_eq!((drawn.total, drawn.most), (1001, 1000));
        assert_eq!((drawn.parts[0].value, drawn.parts[0].height), (1, 2));
        assert_eq!((drawn.parts[6].y, drawn.parts[6].height), (0, HEIGHT));
        assert_eq!(drawn.parts[5].height, 0);
        assert!(
            drawn.parts[6].began.starts_with("1970-02-09"),
            "{}",
            drawn.parts[6].began
        );
    }
}
