//! A reply that hides another customer's canary, cut at every byte, in every disguise that is listed: what a browser would
//! have seen of it.

use countersign_screening::canary::{Watch, runs_of_code};

use super::{Screens, Shown};

const CODE: &str = "7KQ2XW9ZL4BTM3HD";
/// What a disguise carries: ten characters of the code.
const PART: &str = "Q2XW9ZL4BT";

/// The disguises by name; plain is the first.
fn disguises() -> Vec<(&'static str, String)> {
    let bytes = PART.bytes();
    let each = |form: fn(u8) -> String| bytes.clone().map(form).collect::<Vec<_>>().join("");
    let spaced = |form: fn(u8) -> String| bytes.clone().map(form).collect::<Vec<_>>().join(" ");
    vec![
        ("plain", PART.to_owned()),
        ("lower case", PART.to_lowercase()),
        ("full width", "Ｑ２ＸＷ９ＺＬ４ＢＴ".to_owned()),
        (
            "look-alikes",
            "Q2\u{425}W9\u{396}L4\u{412}\u{422}".to_owned(),
        ),
        ("separators", "Q-2.X W_9/Z*L\n4,B T".to_owned()),
        ("marks", PART.chars().flat_map(|c| [c, '\u{336}']).collect()),
        (
            "zero width",
            PART.chars().flat_map(|c| [c, '\u{200b}']).collect(),
        ),
        ("base64", "UTJYVzlaTDRCVA==".to_owned()),
        ("base64url", "UTJYVzlaTDRCVA".to_owned()),
        ("hexadecimal", each(|b| format!("{b:02x}"))),
        ("percent", each(|b| format!("%{b:02X}"))),
        ("entities", each(|b| format!("&#{b};"))),
        ("character codes", spaced(|b| b.to_string())),
        ("ROT13", "D2KJ9MY4OG".to_owned()),
        ("reversed", PART.chars().rev().collect()),
        (
            "hexadecimal in base64",
            "NTEzMjU4NTczOTVhNGMzNDQyNTQ=".to_owned(),
        ),
    ]
}

/// What the browser gets of these pieces, and whether the reply was withheld. What belongs to the code is asked of a list
/// here; in a turn the database is asked, with the same runs.
fn play(screens: &Screens, pieces: &[&str]) -> (String, bool) {
    let code = runs_of_code(CODE);
    let (mut shown, mut watch) = (Shown::new(screens), Watch::default());
    let mut seen = String::new();
    let mut ready = Vec::new();
    for piece in pieces {
        ready.push(shown.text(piece));
    }
    // Each piece is looked at in its turn; the loop above only collects what the words let go.
    ready.push(shown.rest());
    for pieces in ready {
        let words: String = pieces
            .expect("goes on")
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        if !watch.take(&words).is_disjoint(&code) {
            return (seen, true);
        }
        seen.push_str(&words);
    }
    (seen, false)
}

#[test]
fn no_disguise_of_a_canary_passes_wherever_the_stream_is_cut() {
    let screens = Screens::new(&[]).expect("screens");
    let mut played = 0;
    for (name, disguise) in disguises() {
        let reply =
            format!("You have 12.50 EUR. Here it is: {disguise}. Keep it well, it is yours.");
        let (seen, withheld) = play(&screens, &[&reply]);
        assert!(withheld, "{name}: {seen}");
        for cut in 0..=reply.len() {
            let at = reply.floor_char_boundary(cut);
            let (seen, withheld) = play(&screens, &[&reply[..at], &reply[at..]]);
            assert!(withheld, "{name} cut at {cut}: {seen}");
            assert!(
                !seen.contains("Here it is") || seen.len() < 60,
                "{name} cut at {cut}: {seen}"
            );
            assert!(
                !seen.contains("Keep it well"),
                "{name} cut at {cut}: {seen}"
            );
            played += 1;
        }
        // A character at a time, which a stream that is held back by too little would let through to the tenth.
        let characters: Vec<String> = reply.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        let (seen, withheld) = play(&screens, &characters);
        assert!(
            withheld && !seen.contains("Keep it well"),
            "{name}, one by one: {seen}"
        );
    }
    println!(
        "{played} cuts of {} disguises: none passed",
        disguises().len()
    );
    assert!(disguises().len() > 12 && played > 1000);
}
