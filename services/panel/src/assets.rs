//! Scripts and styles of the page, built beforehand, committed, and part of this binary.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};
use countersign_serve::{
    Problem,
    assets::{Assets, JAVASCRIPT, STYLE},
};

macro_rules! assets {
    ($($path:literal: $kind:expr,)*) => {
        Assets(&[$(($path, $kind, include_bytes!(concat!("../../../web/dist/", $path))),)*])
    };
}

const ASSETS: Assets = assets! {
    "tokens.css": STYLE,
    "panel/panel.css": STYLE,
    "panel/after.js": JAVASCRIPT,
    "panel/announce.js": JAVASCRIPT,
    "panel/api.js": JAVASCRIPT,
    "panel/card.js": JAVASCRIPT,
    "panel/cards.js": JAVASCRIPT,
    "panel/clock.js": JAVASCRIPT,
    "panel/confirm.js": JAVASCRIPT,
    "panel/demo.js": JAVASCRIPT,
    "panel/dom.js": JAVASCRIPT,
    "panel/frame.js": JAVASCRIPT,
    "panel/gesture.js": JAVASCRIPT,
    "panel/live.js": JAVASCRIPT,
    "panel/login.js": JAVASCRIPT,
    "panel/main.js": JAVASCRIPT,
    "panel/note.js": JAVASCRIPT,
    "panel/notme.js": JAVASCRIPT,
    "panel/passkey.js": JAVASCRIPT,
    "panel/passkeys.js": JAVASCRIPT,
    "panel/payments.js": JAVASCRIPT,
    "panel/slots.js": JAVASCRIPT,
    "panel/texts.js": JAVASCRIPT,
    "panel/times.js": JAVASCRIPT,
    "panel/words.js": JAVASCRIPT,
};

/// Which build of them this is.
pub static BUILD: LazyLock<String> = LazyLock::new(|| ASSETS.build());

/// `GET /assets/{build}/{*path}`: one asset of exactly this build.
pub async fn serve_asset(Path((build, path)): Path<(String, String)>) -> Response {
    if build != *BUILD {
        return Problem::not_found().into_response();
    }
    ASSETS.answer(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_file_is_served_and_every_import_is_there() {
        let dist = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/panel");
        let mut files: Vec<String> = std::fs::read_dir(dist)
            .unwrap()
            .map(|entry| format!("panel/{}", entry.unwrap().file_name().to_str().unwrap()))
            .collect();
        files.sort();
        assert_eq!(files, ASSETS.below("panel/"));
    }

    #[test]
    fn no_script_has_a_sink_for_markup_or_listens_to_messages() {
        let scripts = ASSETS.inert_scripts().unwrap();
        assert!(scripts > 10);
    }
}
