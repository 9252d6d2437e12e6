//! No page, card, notice or script says a word that the language files do not hold: a new one fails here until it stands in
//! every language.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use regex::Regex;

/// What stands in pages as it is: the bank's own name, and a command.
const NO_WORDS_OF_A_LANGUAGE: [&str; 2] = ["Countersign Bank", "cargo xtask open"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                let text = fs::read_to_string(&path).expect("source");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{folder}");
    found
}

fn english() -> BTreeSet<&'static str> {
    let texts = countersign_texts::of("en").sentences();
    texts.keys().map(String::as_str).collect()
}

/// A literal as the compiler reads it: its line breaks joined, its quotes plain.
fn plain(literal: &str) -> String {
    static GAP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").unwrap());
    GAP.replace_all(literal, "").replace("\\\"", "\"")
}

fn without<'a>(pattern: &str, text: &'a str) -> std::borrow::Cow<'a, str> {
    Regex::new(pattern).unwrap().replace_all(text, " ")
}

#[test]
fn templates_hold_no_words_and_ask_for_known_ones() {
    let known = english();
    let asked = Regex::new(r#"shell\.(?:t|amount|count|with)\("([^"]*)""#).unwrap();
    let heard = Regex::new(
        r#"(?:aria-label|title|alt|placeholder|value)="([^"{]*[A-Za-z]{2}[^"{]* [^"{]*)""#,
    )
    .unwrap();
    let mut said = 0;
    for (path, text) in sources("services/panel/templates", "html") {
        for sentence in asked.captures_iter(&text) {
            assert!(known.contains(&sentence[1]), "{path:?}: {}", &sentence[1]);
            said += 1;
        }
        let calls = without(r"(?s)\{\{.*?\}\}", &text);
        let bare = without(r"(?s)\{%.*?%\}", &calls);
        if let Some(attribute) = heard.captures(&bare) {
            panic!("{path:?} says {:?}", &attribute[1]);
        }
        let mut words = without(r"(?s)<[^>]*>", &bare).into_owned();
        for exempt in NO_WORDS_OF_A_LANGUAGE {
            words = words.replace(exempt, " ");
        }
        let words = without(r"&\w+;", &words).into_owned();
        let word = words
            .split_whitespace()
            .find(|it| it.chars().any(char::is_alphabetic));
        assert_eq!(word, None, "{path:?} says a word of its own");
    }
    assert!(said > 100, "{said}");
}

#[test]
fn the_chat_page_holds_no_words_and_asks_for_known_ones() {
    let known = english();
    let page = fs::read_to_string(root().join("web/chat/index.html")).expect("page");
    let asked = Regex::new(r"\{\{t:(.*?)\}\}").unwrap();
    let mut said = 0;
    for sentence in asked.captures_iter(&page) {
        assert!(known.contains(&sentence[1]), "{}", &sentence[1]);
        said += 1;
    }
    assert!(said > 15, "{said}");
    let bare = without(r"\{\{.*?\}\}", &page);
    let words = without(r"(?s)<[^>]*>", &bare);
    let word = words
        .split_whitespace()
        .find(|it| it.chars().any(char::is_alphabetic));
    assert_eq!(word, None, "the page says a word of its own");
}

/// Whether a literal is meant for people: it begins like a sentence, a label or a placeholder's sentence.
fn is_for_people(literal: &str) -> bool {
    let mut characters = literal.chars();
    let (first, second) = (characters.next(), characters.next());
    let begins = first.is_some_and(char::is_uppercase)
        && second.is_some_and(|it| it.is_lowercase() || it == ' ')
        && !literal.contains("::");
    let is_sentence = literal.contains(' ')
        && literal.ends_with(['.', '?', '!', '…'])
        && literal.chars().any(char::is_alphabetic);
    let outside = without(r"\{\w*\}|\\n", literal);
    let opens_with_a_value = literal.starts_with('{')
        && outside.split_whitespace().filter(|it| it.len() > 2).count() > 1;
    begins || is_sentence || opens_with_a_value
}

#[test]
fn the_rooms_say_nothing_that_is_not_in_the_files() {
    let known = english();
    // What goes to logs, operators and programs, and statements of the database.
    let for_others = Regex::new(
        r#"(?s)(?:tracing::\w+!|#\[error|#\[expect|#\[derive|\.expect|\.context|with_context|bail!|ensure!|panic!|unreachable!|Problem::\w+|HeaderValue::\w+|anyhow!|header::\w+|query!|query_scalar!|query_as!|write!|Chain)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"#,
    )
    .unwrap();
    let raw = Regex::new(r##"(?s)r#".*?"#"##).unwrap();
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    let literal = Regex::new(r#"(?s)"((?:[^"\\]|\\.)*)""#).unwrap();
    let mut seen = 0;
    let mut missing = Vec::new();
    for folder in ["services/execution/src", "services/panel/src"] {
        for (path, text) in sources(folder, "rs") {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code = comment.replace_all(code, "");
            let code = raw.replace_all(&code, "");
            let code = for_others.replace_all(&code, "");
            for found in literal.captures_iter(&code) {
                let said = plain(&found[1]);
                if is_for_people(&said) {
                    seen += 1;
                    if !known.contains(said.as_str()) {
                        missing.push(format!("{}: {said}", path.file_name().unwrap().display()));
                    }
                }
            }
        }
    }
    assert!(seen > 150, "{seen}");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_script_says_nothing_that_is_not_in_the_files() {
    let known = english();
    let comment = Regex::new(r"(?ms)^\s*//.*?$|/\*.*?\*/").unwrap();
    let literal =
        Regex::new(r#"(\bt\(\s*|\b(?:text|textContent|title)\s*[:=]\s*)?"((?:[^"\\]|\\.)*)""#)
            .unwrap();
    let template = Regex::new(r"(?s)`[^`]*`").unwrap();
    let words = Regex::new(r"[A-Za-z]{2,} [A-Za-z]{2,}").unwrap();
    let mut seen = 0;
    // The record's own words stand there in more languages than the panel speaks; the other names members on the wire.
    let mut chat = sources("web/chat", "ts");
    chat.retain(|(path, _)| !path.ends_with("record.ts") && !path.ends_with("lines.ts"));
    for (path, text) in sources("web/panel", "ts").into_iter().chain(chat) {
        let code = comment.replace_all(&text, "");
        for found in literal.captures_iter(&code) {
            let before = found.get(1).map_or("", |it| it.as_str());
            let said = plain(&found[2]);
            if before.starts_with("t(") {
                seen += 1;
                assert!(known.contains(said.as_str()), "{path:?}: {said}");
            } else {
                let is_label = !before.is_empty() && said.chars().any(char::is_alphabetic);
                let is_sentence = said.contains(' ') && (is_for_people(&said));
                assert!(
                    !is_label && !is_sentence,
                    "{path:?} says {said:?} without t()"
                );
            }
        }
        for found in template.find_iter(&code) {
            let said = without(r"\$\{[^}]*\}", found.as_str()).into_owned();
            assert!(
                !words.is_match(&said) || said.contains(['[', '#', '=']),
                "{path:?} says {said:?} without t()"
            );
        }
    }
    assert!(seen > 80, "{seen}");
}
