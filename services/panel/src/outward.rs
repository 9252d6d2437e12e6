//! Services that the panel itself calls.

use reqwest::Url;

/// Whether what is sent to an address goes over TLS, or never leaves this machine.
pub fn is_protected(address: &Url) -> bool {
    let is_here = matches!(
        address.host_str(),
        Some("localhost" | "127.0.0.1" | "[::1]")
    );
    address.scheme() == "https" || (address.scheme() == "http" && is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_called_without_tls() {
        for (address, protected) in [
            ("https://names.example/check", true),
            ("http://localhost:9/check", true),
            ("http://127.0.0.1:9/check", true),
            ("http://[::1]:9/check", true),
            ("http://names.example/check", false),
            ("http://localhost.example/check", false),
            ("http://192.0.2.1/check", false),
            ("ftp://localhost/check", false),
        ] {
            assert_eq!(
                is_protected(&address.parse().unwrap()),
                protected,
                "{address}"
            );
        }
    }
}
