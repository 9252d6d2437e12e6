//! Scripts and styles of the page, built beforehand, committed, and part of this binary.
//!
//! Their address holds a hash of all of them together, so that they may be kept for ever, and so that
//! the page can show which build it is.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};
use countersign_serve::Problem;
use sha2::{Digest, Sha256};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! assets {
    ($($path:literal: $kind:expr,)*) => {
        &[$(($path, $kind, include_bytes!(concat!("../../../web/dist/", $path))),)*]
    };
}

/// Path under `web/dist`, content type, bytes.
const ASSETS: &[(&str, &str, &[u8])] = assets! {
    "tokens.css": STYLE,
    "dashboard/dashboard.css": STYLE,
    "dashboard/login.js": JAVASCRIPT,
};

/// The first 16 hexadecimal digits of SHA-256 over every asset's path and bytes, in order.
pub static BUILD: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (path, _, bytes) in ASSETS {
        hash.update((path.len() as u64).to_be_bytes());
        hash.update(path);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(16);
    digits
});

/// `GET /assets/{build}/{*path}`: one asset of exactly this build.
pub async fn serve_asset(Path((build, path)): Path<(String, String)>) -> Response {
    if build != *BUILD {
        return Problem::not_found().into_response();
    }
    match ASSETS.iter().find(|(known, ..)| *known == path) {
        Some((_, kind, bytes)) => {
            let headers = [
                (header::CONTENT_TYPE, *kind),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (headers, *bytes).into_response()
        }
        None => Problem::not_found().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_file_is_served_and_every_import_is_there() {
        let dist = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/dashboard");
        let mut files: Vec<String> = std::fs::read_dir(dist)
            .unwrap()
            .map(|entry| format!("dashboard/{}", entry.unwrap().file_name().to_str().unwrap()))
            .collect();
        files.sort();
        let mut served: Vec<String> = ASSETS
            .iter()
            .map(|(path, ..)| (*path).to_owned())
            .filter(|path| path.starts_with("dashboard/"))
            .collect();
        served.sort();
        assert_eq!(files, served);
    }

    #[test]
    fn no_script_has_a_sink_for_markup_or_listens_to_messages() {
        let mut scripts = 0;
        for (path, kind, bytes) in ASSETS {
            if *kind != JAVASCRIPT {
                continue;
            }
            scripts += 1;
            let text = std::str::from_utf8(bytes).unwrap();
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "addEventListener(\"message\"",
                "onmessage",
                "MessageChannel",
                "import(",
                "http://",
                "https://",
            ] {
                assert!(!text.contains(forbidden), "{path} holds {forbidden}");
            }
        }
        assert!(scripts > 0);
    }
}
