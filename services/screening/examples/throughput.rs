//! How long a clean result of 10 KB takes: reading, redaction, injection screening, and all of it, beside a
//! pass of memchr over the same bytes.
//!
//! `cargo run --release -p countersign-screening --example throughput [-- --check]`; with `--check` it fails
//! when all of it takes more than the 100 microseconds that were promised.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_screening::{Injection, Redactor, Rules, screen};
use countersign_wire::{Caps, Document};

/// Size of the result, in bytes.
const RESULT_BYTES: usize = 10 * 1024;
/// What reading, redacting and screening it may take, at the median.
const PROMISED: Duration = Duration::from_micros(100);
/// Rounds of one measurement.
const ROUNDS: usize = 4_000;

fn main() -> ExitCode {
    let began = Instant::now();
    let redactor = Redactor::new(&Rules::standard());
    let redactor_time = began.elapsed();
    let began = Instant::now();
    let injection = Injection::new();
    let injection_time = began.elapsed();

    let result = clean_result();
    let bytes = result.as_bytes();
    let read = || Document::read(bytes, &Caps::ANSWER).expect("well-formed");
    let document = read();
    let scope = 0..bytes.len();
    let clean = screen(&document, &scope, Some(&redactor), Some(&injection));
    assert_eq!(
        clean,
        countersign_screening::Screened::default(),
        "the result is clean"
    );

    println!("{} bytes, median of {ROUNDS} rounds", bytes.len());
    row("memchr pass", bytes.len(), || {
        black_box(memchr::memchr_iter(b'\x7f', black_box(bytes)).count());
    });
    row("strict read", bytes.len(), || {
        black_box(read());
    });
    row("redaction", bytes.len(), || {
        black_box(screen(black_box(&document), &scope, Some(&redactor), None));
    });
    row("injection screening", bytes.len(), || {
        black_box(screen(black_box(&document), &scope, None, Some(&injection)));
    });
    let all = row("read, redact, screen", bytes.len(), || {
        let document = read();
        black_box(screen(&document, &scope, Some(&redactor), Some(&injection)));
    });
    println!("start: redactor {redactor_time:?}, injection {injection_time:?}");
    if std::env::args().any(|argument| argument == "--check") && all > PROMISED {
        eprintln!("{all:?} is more than the promised {PROMISED:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Measures and prints one row; the median.
fn row(name: &str, bytes: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    times.sort();
    let median = times[ROUNDS / 2];
    let nanoseconds = median.as_nanos().max(1);
    // Bytes in a microsecond are megabytes in a second.
    let rate = bytes as u128 * 1_000 / nanoseconds;
    println!(
        "{name:<22} {:>4}.{} µs {rate:>6} MB/s",
        nanoseconds / 1_000,
        nanoseconds % 1_000 / 100
    );
    median
}

/// A list of transactions as a bank server answers it: text and structured content, names with accents.
fn clean_result() -> String {
    const NAMES: [&str; 6] = [
        "Corner Bakery",
        "Café Luna",
        "City Transport",
        "Ana García",
        "Müller & Söhne",
        "Book Shop",
    ];
    let mut items = Vec::new();
    let mut lines = Vec::new();
    for number in 0.. {
        let name = NAMES[number % NAMES.len()];
        items.push(format!(
            r#"{{"id":"txn_{:032x}","booked":"2026-11-{:02}T12:05:00Z","amount":"-{}.{:02}","currency":"EUR","counterparty":"{name}","reference":"Invoice {} of the month, thank you"}}"#,
            number * 7_919, number % 28 + 1, number + 3, number % 100, 1_000 + number
        ));
        lines.push(format!(
            "2026-11-{:02} {name}: {}.{:02} EUR paid by card, booked at the end of the day",
            number % 28 + 1,
            number + 3,
            number % 100
        ));
        let size: usize = items.iter().chain(&lines).map(String::len).sum();
        if size + 200 > RESULT_BYTES {
            break;
        }
    }
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{}"}}],"structuredContent":{{"transactions":[{}]}},"isError":false}}}}"#,
        lines.join("\\n"),
        items.join(",")
    )
}
