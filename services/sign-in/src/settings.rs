//! Which provider, and as which client.

use countersign_domain::Secret;
use serde::Deserialize;
use url::{Host, Url};

/// A provider and this service's registration with it, as they stand in the service's config.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The provider's name for itself, exactly as its discovery document says it, such as `https://login.bank.example`.
    pub issuer: String,
    /// The name it knows this service by.
    pub client_id: String,
    /// What this service shows at the token endpoint.
    pub client_secret: Secret,
}

/// Why a provider cannot be used as it is configured.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    /// Not an address, or one with a query or fragment.
    #[error("sign_in.issuer is not an address without query and fragment")]
    Issuer,
    /// Plain HTTP to somewhere else than this machine.
    #[error("sign_in.issuer must begin with https:// (http:// is taken for the loopback alone)")]
    Insecure,
    /// A client without a name or secret.
    #[error("sign_in.client_id and sign_in.client_secret must not be empty")]
    Client,
    /// The service's own origin is none.
    #[error("the service's own origin is not an address")]
    Origin,
}

impl Settings {
    /// Looks at what can be judged without the provider.
    ///
    /// # Errors
    /// [`SettingsError`], which says which member is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        let issuer = Url::parse(&self.issuer).map_err(|_| SettingsError::Issuer)?;
        if issuer.query().is_some() || issuer.fragment().is_some() || issuer.host().is_none() {
            return Err(SettingsError::Issuer);
        }
        if !is_private(&issuer) {
            return Err(SettingsError::Insecure);
        }
        if self.client_id.is_empty() || self.client_secret.expose().is_empty() {
            return Err(SettingsError::Client);
        }
        Ok(())
    }
}

/// Whether what is sent to an address is read by its owner alone: TLS, or the loopback of this machine.
pub fn is_private(address: &Url) -> bool {
    match address.scheme() {
        "https" => true,
        "http" => match address.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(issuer: &str) -> Result<(), SettingsError> {
        Settings {
            issuer: issuer.into(),
            client_id: "panel".into(),
            client_secret: Secret::new("s"),
        }
        .check()
    }

    #[test]
    fn a_provider_is_reached_by_tls_or_on_this_machine() {
        for good in [
            "https://login.bank.example",
            "https://login.bank.example/realms/retail",
            "http://127.0.0.1:4000",
            "http://[::1]:4000",
            "http://localhost:4000",
        ] {
            assert_eq!(judged(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("http://login.bank.example", SettingsError::Insecure),
            ("http://localhost.bank.example", SettingsError::Insecure),
            ("ftp://127.0.0.1", SettingsError::Insecure),
            ("login.bank.example", SettingsError::Issuer),
            (
                "https://login.bank.example/?tenant=1",
                SettingsError::Issuer,
            ),
            ("https://login.bank.example/#a", SettingsError::Issuer),
            ("", SettingsError::Issuer),
        ] {
            assert_eq!(judged(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_client_has_a_name_and_a_secret() {
        let none = Settings {
            issuer: "https://login.bank.example".into(),
            client_id: "panel".into(),
            client_secret: Secret::new(""),
        };
        assert_eq!(none.check(), Err(SettingsError::Client));
    }
}
