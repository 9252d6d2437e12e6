//! A page's scripts and styles: built beforehand, committed, and part of the binary.
//!
//! Their address holds a hash of all of them together, so that they may be kept for ever, and so that the page can show
//! which build it is.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::Problem;

/// The content type of a script.
pub const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// The content type of a style sheet.
pub const STYLE: &str = "text/css; charset=utf-8";

/// What no script may hold: sinks that turn text into markup or code, ears for other windows' messages, code or
/// addresses from elsewhere.
const FORBIDDEN: &[&str] = &[
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
];

/// One file: its path below the built pages, its content type, its bytes.
pub type Asset = (&'static str, &'static str, &'static [u8]);

/// All files of a page.
#[derive(Clone, Copy, Debug)]
pub struct Assets(pub &'static [Asset]);

impl Assets {
    /// The first 16 hexadecimal digits of SHA-256 over every file's path and bytes, in order.
    pub fn build(self) -> String {
        let mut hash = Sha256::new();
        for (path, _, bytes) in self.0 {
            hash.update((path.len() as u64).to_be_bytes());
            hash.update(path);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        let mut digits = hex::encode(hash.finalize());
        digits.truncate(16);
        digits
    }

    /// Answers with one file.
    pub fn answer(self, path: &str) -> Response {
        match self.0.iter().find(|(known, ..)| *known == path) {
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

    /// The paths below one folder, in order: what a test compares with the files that were built.
    pub fn below(self, folder: &str) -> Vec<&'static str> {
        let mut paths: Vec<_> = self.0.iter().map(|(path, ..)| *path).collect();
        paths.retain(|path| path.starts_with(folder));
        paths.sort_unstable();
        paths
    }

    /// How many scripts there are, once none of them holds anything a page of ours must not.
    ///
    /// # Errors
    /// The script and what it holds.
    pub fn inert_scripts(self) -> Result<usize, String> {
        let mut scripts = 0;
        for (path, kind, bytes) in self.0 {
            if *kind != JAVASCRIPT {
                continue;
            }
            scripts += 1;
            let text = std::str::from_utf8(bytes).map_err(|_| format!("{path} is no text"))?;
            if let Some(forbidden) = FORBIDDEN
                .iter()
                .find(|forbidden| text.contains(**forbidden))
            {
                return Err(format!("{path} holds {forbidden}"));
            }
        }
        Ok(scripts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_forbidden_piece_is_found_in_a_script_and_only_there() {
        for forbidden in FORBIDDEN {
            let text: &'static [u8] = format!("x = {forbidden}").leak().as_bytes();
            let script: &'static [Asset] = vec![("a.js", JAVASCRIPT, text)].leak();
            assert!(Assets(script).inert_scripts().is_err(), "{forbidden}");
            let style: &'static [Asset] = vec![("a.css", STYLE, text)].leak();
            assert_eq!(Assets(style).inert_scripts(), Ok(0));
        }
    }
}
