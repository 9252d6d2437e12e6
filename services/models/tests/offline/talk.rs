//! Small talk, help, and messages it does not understand.

use crate::bank::Chat;

#[test]
fn what_it_does_not_understand_is_answered_with_what_it_can() {
    for text in [
        "flurb the wibble",
        "¿cuánto me queda?",
        "",
        "🙂",
        "what's the weather",
        "help",
        "what can you do?",
    ] {
        let played = Chat::new().says(text);
        assert_eq!(played.requests(), Vec::<&str>::new(), "{text}");
        assert!(
            played.reply.contains("Send 20 to Bob"),
            "{text}: {}",
            played.reply
        );
    }
}

#[test]
fn small_talk_is_answered_shortly_and_asks_for_nothing() {
    for text in [
        "hi",
        "good morning",
        "thanks!",
        "cheers",
        "great, thank you",
    ] {
        let played = Chat::new().says(text);
        assert!(played.calls.is_empty(), "{text}");
        assert!(
            played.reply.lines().count() <= 4,
            "{text}: {}",
            played.reply
        );
    }
}

#[test]
fn a_lost_card_is_not_frozen_before_the_customer_asks() {
    let mut chat = Chat::new();
    let played = chat.says("I lost my card");
    assert_eq!(played.requests(), Vec::<&str>::new());
    assert!(played.reply.contains("Freeze my card"));
}

#[test]
fn the_same_message_gets_the_same_reply() {
    let reply = || Chat::new().says("Send 20 to Bob").reply;
    assert_eq!(reply(), reply());
}

#[test]
fn very_long_and_odd_messages_end() {
    let long = "send 20 to Bob and ".repeat(500);
    for text in [
        long.as_str(),
        &"a".repeat(20_000),
        &"1 ".repeat(5_000),
        "\u{202e}\u{0}\n\n;;;...",
        &"send ".repeat(3000),
    ] {
        let played = Chat::new().says(text);
        assert!(!played.reply.is_empty());
    }
}
