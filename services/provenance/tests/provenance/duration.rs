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

/// The shortest of several runs, so that a busy machine does not count.
fn shortest(input: &Input) -> Duration {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(ground(std::hint::black_box(input)));
            start.elapsed()
        })
        .min()
        .unwrap()
}

#[test]
fn the_time_grows_with_the_history_and_no_faster() {
    ground(&history(1)); // Reads the language files.
    // A busy machine can slow one side down: one quiet moment of several is enough.
    let quiet = (0..5).any(|_| {
        let (short, long) = (shortest(&history(50)), shortest(&history(400)));
        println!("50 messages {short:?}, 400 messages {long:?}");
        // Eight times the messages; a square would be 64 times.
        long < short * 16 && short < Duration::from_millis(250)
    });
    assert!(quiet);
}
