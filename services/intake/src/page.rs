//! The chat page and its files, built into the binary.

use axum::{Router, http::header, response::IntoResponse, routing::get};

use crate::config::Origin;

const HTML: &str = include_str!("../../../web/dist/chat/index.html");
const PANEL_ORIGIN_PLACE: &str = "{{panel_origin}}";

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
    "/chat/chat.js", JAVASCRIPT, "chat/chat.js";
    "/chat/compose.js", JAVASCRIPT, "chat/compose.js";
    "/chat/dom.js", JAVASCRIPT, "chat/dom.js";
    "/chat/foreign.js", JAVASCRIPT, "chat/foreign.js";
    "/chat/lines.js", JAVASCRIPT, "chat/lines.js";
    "/chat/record.js", JAVASCRIPT, "chat/record.js";
    "/chat/session.js", JAVASCRIPT, "chat/session.js";
    "/chat/spans.js", JAVASCRIPT, "chat/spans.js";
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

/// The page at `/` and its files.
pub fn router(panel: &Origin) -> Router {
    let html = HTML.replace(PANEL_ORIGIN_PLACE, panel.text());
    let mut router = Router::new().route(
        "/",
        get(|| async move {
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

#[cfg(test)]
mod tests {
    use super::*;

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
