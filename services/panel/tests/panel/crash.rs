//! Ends of a process at every step of a Confirm: what was acknowledged was executed, and what nobody knows resolves to one truth.
//!
//! A step is reached without any help of the panel: another session holds what its next statement needs, so that its database
//! session waits exactly there, and the process, the server or the connection is ended then. After COMMIT it waits for a standby that does
//! not exist. The server is the test's own and keeps what it said it kept.

mod chaos;
mod place;
mod stop;

use place::{Place, Victim};
use stop::Stop;

/// The steps, in the order in which a Confirm meets them. `table` waits at the first write to a table.
const STEPS: [Stop; 15] = [
    Stop::BeforeLock,
    Stop::Table("card_shown"),
    Stop::Table("account_balance"),
    Stop::Table("transfer"),
    Stop::Table("entry"),
    Stop::Table("payee_paid"),
    Stop::Table("spent_day"),
    Stop::Table("pending_action"),
    Stop::Table("event_head"),
    Stop::Table("bank_event"),
    Stop::Table("execution"),
    Stop::Table("notice"),
    Stop::Table("outbox"),
    Stop::AtCommit,
    Stop::AfterCommit,
];

/// How many seeds every step is tried with for every victim; without it, each step meets one victim.
const SEEDS_VARIABLE: &str = "COUNTERSIGN_CRASH_SEEDS";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_it_ends_a_press_counts_once_or_not_at_all() {
    let place = Place::open().await;
    let seeds: Option<u64> = std::env::var(SEEDS_VARIABLE)
        .ok()
        .map(|text| text.parse().expect("a number"));
    let mut known = [0_u32; 2];
    for seed in 0..seeds.unwrap_or(1) {
        for (number, stop) in STEPS.into_iter().enumerate() {
            for (turn, victim) in Victim::ALL.into_iter().enumerate() {
                if seeds.is_some() || number % Victim::ALL.len() == turn {
                    let acknowledged = place.round(stop, victim, seed).await;
                    known[usize::from(acknowledged)] += 1;
                }
            }
        }
    }
    println!(
        "{} ends before an answer, {} after one: 0 lost, 0 doubled",
        known[0], known[1]
    );
    place.closes().await;
}
