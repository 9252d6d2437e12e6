//! The page and its files, built into the binary.

use axum::Router;
use axum::http::header;
use axum::routing::get;

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! assets {
    ($($path:literal, $kind:expr, $file:literal;)*) => {
        &[$(($path, $kind, include_str!(concat!("../../../../../web/dist/", $file)))),*]
    };
}

/// Path, content type and text of every file of the page.
const ASSETS: &[(&str, &str, &str)] = assets! {
    "/", HTML, "approvals/index.html";
    "/tokens.css", CSS, "tokens.css";
    "/approvals/approvals.css", CSS, "approvals/approvals.css";
    "/approvals/api.js", JAVASCRIPT, "approvals/api.js";
    "/approvals/card.js", JAVASCRIPT, "approvals/card.js";
    "/approvals/dom.js", JAVASCRIPT, "approvals/dom.js";
    "/approvals/gesture.js", JAVASCRIPT, "approvals/gesture.js";
    "/approvals/main.js", JAVASCRIPT, "approvals/main.js";
    "/approvals/save.js", JAVASCRIPT, "approvals/save.js";
    "/approvals/time.js", JAVASCRIPT, "approvals/time.js";
    "/approvals/visible.js", JAVASCRIPT, "approvals/visible.js";
};

/// The page at `/` and its files. They hold nobody's data and need no session.
pub fn router() -> Router {
    ASSETS
        .iter()
        .fold(Router::new(), |router, (path, kind, text)| {
            router.route(
                path,
                get(|| async { ([(header::CONTENT_TYPE, *kind)], *text) }),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_no_inline_code_and_asks_for_nothing_that_is_not_served() {
        let mut wanted = 0;
        for (path, _, text) in ASSETS {
            for forbidden in [
                "<style",
                " style=",
                " onclick=",
                "javascript:",
                "<script>",
                "innerHTML",
                "document.cookie",
                "localStorage",
            ] {
                assert!(!text.contains(forbidden), "{path}: {forbidden}");
            }
            for line in text.lines() {
                let module = line
                    .split_once(" from \"./")
                    .or_else(|| line.split_once("src=\"/approvals/"))
                    .or_else(|| line.split_once("href=\"/approvals/"))
                    .and_then(|(_, rest)| rest.split_once('"'));
                if let Some((name, _)) = module {
                    wanted += 1;
                    let file = format!("/approvals/{name}");
                    assert!(ASSETS.iter().any(|(served, ..)| *served == file), "{file}");
                }
            }
        }
        assert!(wanted >= ASSETS.len() - 2, "found only {wanted}");
    }
}
