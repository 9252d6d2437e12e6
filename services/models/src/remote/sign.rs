//! Requests to AWS, signed (Signature Version 4) by the provider's own library.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign as signature},
    sign::v4,
};
use countersign_domain::Secret;

/// Access keys.
#[derive(Debug, Clone)]
pub struct AwsKeys {
    /// The key's public name.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: Secret,
    /// The token of temporary keys.
    pub session_token: Option<Secret>,
}

/// A request could not be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sign a request: it or its keys have an impossible form")]
pub struct SignError;

impl AwsKeys {
    /// Whether keys can stand in headers.
    pub fn are_plain(&self) -> bool {
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        plain(&self.access_key_id)
            && plain(self.secret_access_key.expose())
            && self
                .session_token
                .as_ref()
                .is_none_or(|token| plain(token.expose()))
    }
}

/// Signs a request for a service of a region.
///
/// # Errors
/// [`SignError`].
pub fn sign(
    request: &mut http::Request<Vec<u8>>,
    keys: &AwsKeys,
    region: &str,
    service: &str,
    now: SystemTime,
) -> Result<(), SignError> {
    if !keys.are_plain() {
        return Err(SignError);
    }
    let identity = Credentials::new(
        keys.access_key_id.clone(),
        keys.secret_access_key.expose(),
        keys.session_token
            .as_ref()
            .map(|token| token.expose().to_owned()),
        None,
        "config",
    )
    .into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|_| SignError)?
        .into();
    let headers: Vec<(String, String)> = request
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let signable = SignableRequest::new(
        request.method().as_str(),
        request.uri().to_string(),
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
        SignableBody::Bytes(request.body()),
    )
    .map_err(|_| SignError)?;
    let (instructions, _) = signature(signable, &parameters)
        .map_err(|_| SignError)?
        .into_parts();
    instructions.apply_to_request_http1x(request);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn signed(token: Option<&str>) -> http::Request<Vec<u8>> {
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".into(),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: token.map(Secret::new),
        };
        let mut request = http::Request::post("https://example.amazonaws.com/")
            .body(Vec::new())
            .unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        sign(&mut request, &keys, "us-east-1", "service", at).unwrap();
        request
    }

    /// The vector `post-vanilla` of the published test suite of Signature Version 4.
    #[test]
    fn a_request_is_signed_as_the_published_vector() {
        let request = signed(None);
        assert_eq!(
            request.headers()["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }

    #[test]
    fn a_temporary_keys_token_is_sent_and_an_impossible_key_is_not() {
        assert_eq!(signed(Some("tok")).headers()["x-amz-security-token"], "tok");
        let keys = AwsKeys {
            access_key_id: "A".into(),
            secret_access_key: Secret::new("B"),
            session_token: Some(Secret::new("a\nb")),
        };
        let mut request = http::Request::post("https://a.example/")
            .body(Vec::new())
            .unwrap();
        let at = SystemTime::UNIX_EPOCH;
        assert_eq!(
            sign(&mut request, &keys, "eu-central-1", "bedrock", at),
            Err(SignError)
        );
    }
}
