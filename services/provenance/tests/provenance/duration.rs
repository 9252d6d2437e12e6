//! The grounding runs on every request under the customer's lock: it must be quick and linear in the history.

use std::time::{Duration, Instant};

use countersign_provenance::{Input, ground, score};

/// So many messages of about two hundred characters each.
fn history(messages: usize) -> Input {
    let turns: Vec<String> = (0..messages)
        .map(|number| {
            format!(
                "Hello again, please send {number}.50 euros to Bob for the tickets of last night, and also tell me what I spent \
                 on groceries in March; my sister Alice said that 1,250.00 is still open with Acme Ltd. Thanks!"
            )
        })
        .collect();
    let turns = serde_json::to_string(&turns).unwrap();
    let table = format!("id\tturns\tgrounded_pairs\trefused_pairs\tkind\nx\t{turns}\t[]\t[]\t");
    score::input_of(&score::read_table(&table).unwrap().cases[0])
}

/// Time this thread has spent on a processor, so that a busy machine does not count; the clock's time where the
/// kernel does not say.
fn spent(start: Instant) -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|stat| stat.split(' ').next()?.parse().ok())
        .map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// What so many runs take together: the kernel counts in steps that one run does not fill.
fn taken(input: &Input) -> Duration {
    const RUNS: u32 = 40;
    let start = Instant::now();
    let before = spent(start);
    for _ in 0..RUNS {
        std::hint::black_box(ground(std::hint::black_box(input)));
    }
    spent(start).saturating_sub(before) / RUNS
}

#[test]
fn the_time_grows_with_the_history_and_no_faster() {
    ground(&history(1)); // Reads the language files.
    // A busy machine can slow one side down: one quiet moment of several is enough.
    let quiet = (0..5).any(|_| {
        let (short, long) = (taken(&history(50)), taken(&history(400)));
        println!("50 messages {short:?}, 400 messages {long:?}");
        // Eight times the messages; a square would be 64 times.
        long < short * 16 && short < Duration::from_millis(250)
    });
    assert!(quiet);
}
