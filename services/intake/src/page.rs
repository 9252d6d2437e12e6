//! The chat page and its files, built into the binary.

use std::collections::HashMap;

use axum::{
    Router,
    extract::{Query, rejection::QueryRejection},
    http::header,
    response::IntoResponse,
    routing::get,
};
use countersign_texts::Texts;
use serde::Deserialize;

use crate::config::Origin;

const HTML: &str = include_str!("../../../web/dist/chat/index.html");
const PANEL_ORIGIN_PLACE: &str = "{{panel_origin}}";
/// Begins a sentence of the page: `{{t:Messages}}`.
const SENTENCE_PLACE: &str = "{{t:";

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! assets {
    ($($path:literal, $kind:expr, $file:literal;)*) => {
        &[$(($path, $kind, include_str!(concat!("../../../web/dist/", $file)))),*]
    };
}

/// Path, content type and text of every file of the page.
const ASSETS: &[(&str, &str, &str)] = assets! {
    "/tokens.css", CSS, "tokens.css";
    "/chat/chat.css", CSS, "chat/chat.css";
    "/chat/chart.js", JAVASCRIPT, "chat/chart.js";
    "/chat/chat.js", JAVASCRIPT, "chat/chat.js";
    "/chat/compose.js", JAVASCRIPT, "chat/compose.js";
    "/chat/conversations.js", JAVASCRIPT, "chat/conversations.js";
    "/chat/dom.js", JAVASCRIPT, "chat/dom.js";
    "/chat/foreign.js", JAVASCRIPT, "chat/foreign.js";
    "/chat/lines.js", JAVASCRIPT, "chat/lines.js";
    "/chat/record.js", JAVASCRIPT, "chat/record.js";
    "/chat/session.js", JAVASCRIPT, "chat/session.js";
    "/chat/spans.js", JAVASCRIPT, "chat/spans.js";
    "/chat/texts.js", JAVASCRIPT, "chat/texts.js";
    "/chat/transcript.js", JAVASCRIPT, "chat/transcript.js";
    "/chat/words.js", JAVASCRIPT, "chat/words.js";
};

/// What the page may load and do, and who may frame it. It may talk to its own origin and to nobody else.
pub fn content_security_policy(panel: &Origin) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors {}; require-trusted-types-for 'script'; trusted-types 'none'",
        panel.text()
    )
}

/// In which language the page speaks: the panel says it in the frame's address.
#[derive(Default, Deserialize)]
struct Wanted {
    lang: Option<String>,
}

/// The page at `/`, in every language, and its files.
pub fn router(panel: &Origin) -> Router {
    let pages: HashMap<&'static str, String> = countersign_texts::all()
        .iter()
        .map(|texts| (texts.lang.as_str(), in_language(texts, panel)))
        .collect();
    let mut router = Router::new().route(
        "/",
        get(|wanted: Result<Query<Wanted>, QueryRejection>| async move {
            let wanted = wanted.map(|Query(wanted)| wanted).unwrap_or_default();
            let texts = countersign_texts::of(wanted.lang.as_deref().unwrap_or_default());
            let html = pages.get(texts.lang.as_str()).cloned().unwrap_or_default();
            ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
        }),
    );
    for (path, kind, text) in ASSETS {
        router = router.route(
            path,
            get(|| async { ([(header::CONTENT_TYPE, *kind)], *text) }),
        );
    }
    router
}

/// The page in one language: what stands in it, and the sentences that its script says.
fn in_language(texts: &Texts, panel: &Origin) -> String {
    let mut page = String::with_capacity(HTML.len() * 2);
    let mut rest = HTML;
    while let Some((before, after)) = rest.split_once(SENTENCE_PLACE) {
        let (english, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.push_str(&escaped(texts.say(english)));
        rest = after;
    }
    page.push_str(rest);
    page.replace("{{lang}}", &texts.lang)
        .replace("{{dir}}", &texts.dir)
        .replace("{{sentences}}", &sentences(texts))
        .replace(PANEL_ORIGIN_PLACE, panel.text())
}

/// What the page's script says in another language than its own, in an element of the page.
fn sentences(texts: &Texts) -> String {
    texts.for_script().map_or_else(String::new, |json| {
        format!("<script type=\"application/json\" id=\"sentences\">{json}</script>")
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_speaks_every_language_and_leaves_no_place_open() {
        let panel: Origin = serde_json::from_str("\"http://localhost:1\"").expect("an origin");
        for (lang, dir, word) in [
            ("en", "ltr", "Conversations"),
            ("de", "ltr", "Gespräche"),
            ("ar", "rtl", "المحادثات"),
        ] {
            let page = in_language(countersign_texts::of(lang), &panel);
            assert!(page.contains(&format!("<html lang=\"{lang}\" dir=\"{dir}\">")));
            assert!(page.contains(word) && !page.contains("{{"), "{lang}");
            assert_eq!(page.contains("id=\"sentences\""), lang != "en");
            assert_eq!(
                page.matches("<script").count(),
                if lang == "en" { 1 } else { 2 }
            );
        }
    }

    #[test]
    fn the_page_names_its_panel_once_and_holds_no_inline_code() {
        assert_eq!(HTML.matches(PANEL_ORIGIN_PLACE).count(), 1);
        for forbidden in ["<style", " style=", " onclick=", "javascript:", "<script>"] {
            assert!(!HTML.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn every_file_the_page_asks_for_is_served() {
        let mut wanted = 0;
        for (_, _, text) in ASSETS.iter().copied().chain([("/", "", HTML)]) {
            for line in text.lines() {
                let module = line
                    .split_once(" from \"./")
                    .or_else(|| line.split_once("src=\"/chat/"))
                    .or_else(|| line.split_once("href=\"/chat/"))
                    .and_then(|(_, rest)| rest.split_once('"'));
                if let Some((name, _)) = module {
                    wanted += 1;
                    let path = format!("/chat/{name}");
                    assert!(ASSETS.iter().any(|(served, ..)| *served == path), "{path}");
                }
            }
        }
        assert!(wanted >= ASSETS.len() - 1, "found only {wanted}");
    }
}
