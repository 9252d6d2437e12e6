//! Which language an answer speaks: the customer's choice, and before there is a customer what the browser asks for.

use std::cell::Cell;

use axum::{
    extract::Request,
    http::{HeaderMap, header},
    middleware::Next,
    response::Response,
};
use countersign_texts::Texts;

/// Languages of one header that are looked at.
const WISHES_MAX: usize = 16;

tokio::task_local! {
    static SPOKEN: Cell<&'static Texts>;
}

/// The language of the answer that is being made.
pub fn spoken() -> &'static Texts {
    SPOKEN
        .try_with(Cell::get)
        .unwrap_or_else(|_| countersign_texts::of("en"))
}

/// From here on the answer speaks a customer's own language.
pub fn speak(texts: &'static Texts) {
    // Outside a request nobody listens.
    SPOKEN.try_with(|spoken| spoken.set(texts)).ok();
}

/// Begins every request in the language that its browser asks for.
pub async fn listen(request: Request, next: Next) -> Response {
    let wished = wished(request.headers());
    SPOKEN.scope(Cell::new(wished), next.run(request)).await
}

/// The best of what the browser asks for (`Accept-Language`, RFC 9110, section 12.5.4); English where it asks for none of ours.
fn wished(headers: &HeaderMap) -> &'static Texts {
    let line = headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|line| line.to_str().ok())
        .unwrap_or_default();
    let mut wishes: Vec<(u16, &str)> = line
        .split(',')
        .take(WISHES_MAX)
        .filter_map(|wish| {
            let (tag, weight) = wish.split_once(';').unwrap_or((wish, "q=1"));
            Some((thousandths(weight.trim().strip_prefix("q=")?)?, tag.trim()))
        })
        .filter(|(weight, _)| *weight > 0)
        .collect();
    wishes.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    wishes
        .into_iter()
        .find_map(|(_, tag)| countersign_texts::exactly(tag))
        .unwrap_or_else(|| countersign_texts::of("en"))
}

/// A weight from 0 to 1 with three decimals at most, in thousandths.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let value = format!("{whole}{decimals:0<3}").parse().ok()?;
    (value <= 1_000).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_answered_in_the_best_language_there_is() {
        for (line, lang) in [
            ("de-AT,de;q=0.9,en;q=0.8", "de"),
            ("fr, ar;q=0.5, en;q=0.4", "ar"),
            ("en;q=0.1, de;q=0.25", "de"),
            ("de;q=0, ar;q=0.001", "ar"),
            ("de;q=2, en", "en"),
            ("fr", "en"),
            ("*", "en"),
            ("", "en"),
            ("de;x=1", "en"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, line.parse().unwrap());
            assert_eq!(wished(&headers).lang, lang, "{line}");
        }
        assert_eq!(wished(&HeaderMap::new()).lang, "en");
    }
}
