//! Where a model is: one address, written down by the operator.

use std::net::IpAddr;

use reqwest::Url;

/// Why an address is none for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It is no address at all.
    #[error(
        "endpoint {0:?} is no address; write https://HOST or, for a model on this machine, http://127.0.0.1:PORT"
    )]
    NoUrl(String),
    /// It would carry keys and conversations in the clear.
    #[error(
        "endpoint {0:?} is not https; plain http is for this machine alone (127.0.0.1, [::1], localhost)"
    )]
    InTheClear(String),
    /// It holds a user, a query or a fragment.
    #[error("endpoint {0:?} has a user, a query or a fragment; give the key as `api_key`")]
    TooMuch(String),
}

/// A checked address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    /// [`EndpointError`], which says what to write instead. A user or query is not repeated in it: it may be a key.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let url = Url::parse(text).map_err(|_| EndpointError::NoUrl(shown(text)))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(EndpointError::NoUrl(shown(text)));
        }
        if !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some()
        {
            return Err(EndpointError::TooMuch(shown(text)));
        }
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_loopback(&url) => Ok(Self(url)),
            _ => Err(EndpointError::InTheClear(shown(text))),
        }
    }

    /// The address of a path below it. The path's segments are percent-encoded.
    pub fn below(&self, segments: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Cannot fail: both schemes have a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The host's name.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, named or the scheme's own.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether it is this machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.0)
    }
}

/// Whether an address names this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

/// What of an address an error may repeat: the part before a user, a query or a fragment.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.split_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => text.chars().take(100).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_would_leak_is_refused_with_the_reason() {
        for good in [
            "https://api.example",
            "https://api.example:8443/v1",
            "http://127.0.0.1:11434/v1",
            "http://[::1]:80",
            "http://localhost:8000",
        ] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.example",
            "http://127.0.0.1.example",
            "http://10.0.0.1",
            "ftp://api.example",
        ] {
            assert!(
                matches!(Endpoint::parse(bad), Err(EndpointError::InTheClear(_))),
                "{bad}"
            );
        }
        for bad in ["", "api.example", "https://"] {
            assert!(
                matches!(Endpoint::parse(bad), Err(EndpointError::NoUrl(_))),
                "{bad}"
            );
        }
        for bad in [
            "https://me:sk-123@api.example",
            "https://api.example?key=sk-123",
            "https://api.example#sk-123",
        ] {
            let error = Endpoint::parse(bad).unwrap_err();
            assert!(matches!(error, EndpointError::TooMuch(_)), "{bad}");
            assert!(!error.to_string().contains("sk-123"), "{error}");
        }
    }

    #[test]
    fn a_path_is_put_behind_the_address_and_encoded() {
        let endpoint = Endpoint::parse("https://api.example/v1/").unwrap();
        assert_eq!(
            endpoint.below(&["model", "a.b:0", "converse"]).as_str(),
            "https://api.example/v1/model/a.b:0/converse"
        );
        assert_eq!(
            endpoint.below(&["a/b?c"]).as_str(),
            "https://api.example/v1/a%2Fb%3Fc"
        );
        assert_eq!((endpoint.host(), endpoint.port()), ("api.example", 443));
    }
}
