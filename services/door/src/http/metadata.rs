//! What a client that brings no good token is told: where tokens come from (RFC 9728).

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use countersign_serve::Problem;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use serde_json::json;

use super::tokens::Identity;

/// Where the metadata of a resource lie, before the resource's own path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The resource that tokens are for, and what is said about it.
#[derive(Clone, Debug)]
pub struct Resource {
    metadata: String,
    challenge: HeaderValue,
    challenge_again: HeaderValue,
    path: String,
}

impl Resource {
    /// The resource at this address, whose tokens this issuer makes.
    ///
    /// # Errors
    /// When it is no `http` or `https` address without query and fragment.
    pub fn new(address: &str, issuer: &str) -> anyhow::Result<Self> {
        let uri: Uri = address
            .parse()
            .map_err(|_| anyhow::anyhow!("the resource {address} is no address"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            anyhow::bail!("the resource {address} is no whole address: https://HOST/mcp is wanted");
        };
        let is_plain = matches!(scheme, "http" | "https")
            && uri.query().is_none()
            && !authority.as_str().contains('@')
            && !address.contains(['"', '\\', '#']);
        anyhow::ensure!(
            is_plain,
            "the resource {address} is no plain http or https address"
        );
        let path = format!("{WELL_KNOWN}{}", uri.path().trim_end_matches('/'));
        let about = format!("{scheme}://{authority}{path}");
        let challenge = format!("Bearer resource_metadata=\"{about}\"");
        let again = format!("Bearer error=\"invalid_token\", resource_metadata=\"{about}\"");
        let metadata = json!({
            "resource": address,
            "authorization_servers": [issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "countersign-door",
        });
        Ok(Self {
            metadata: metadata.to_string(),
            challenge: HeaderValue::from_str(&challenge)?,
            challenge_again: HeaderValue::from_str(&again)?,
            path,
        })
    }
}

/// The routes that answer without a token, where callers bring one.
pub fn routes<S: Clone + Send + Sync + 'static>(identity: &Identity) -> Router<S> {
    let Identity::Bearers { resource, .. } = identity else {
        return Router::new();
    };
    let answer = |resource: Resource| {
        get(move || async move {
            let kind = [
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (kind, resource.metadata)
        })
    };
    let mut router = Router::new().route(&resource.path, answer(resource.clone()));
    if resource.path != WELL_KNOWN {
        router = router.route(WELL_KNOWN, answer(resource.clone()));
    }
    router
}

/// The answer to whoever brings no good token.
pub fn unauthorized(identity: &Identity, headers: &HeaderMap) -> Response {
    let title = match identity {
        Identity::Bearers { .. } => "A valid access token is needed",
        Identity::Local(_) | Identity::Sessions(_) => "A valid session token is needed",
    };
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", title);
    let mut response = problem.into_response();
    if let Identity::Bearers { resource, .. } = identity {
        let challenge = match headers.contains_key(header::AUTHORIZATION) {
            true => &resource.challenge_again,
            false => &resource.challenge,
        };
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_lie_where_the_resources_path_says() {
        let resource = Resource::new("https://door.example/mcp", "https://issuer.example").unwrap();
        assert_eq!(resource.path, "/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            resource.challenge,
            "Bearer resource_metadata=\"https://door.example/.well-known/oauth-protected-resource/mcp\""
        );
        let root = Resource::new("https://door.example/", "i").unwrap();
        assert_eq!(root.path, WELL_KNOWN);
        for address in [
            "door.example/mcp",
            "/mcp",
            "ftp://door.example/mcp",
            "https://door.example/mcp?x=1",
            "https://door.example/mcp#x",
            "https://a@door.example/mcp",
            "https://door.example/\"x",
            "",
        ] {
            assert!(Resource::new(address, "i").is_err(), "{address}");
        }
    }
}
