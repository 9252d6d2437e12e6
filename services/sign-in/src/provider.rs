//! The provider: what it says of itself, the way there, and what it says on the way back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use openidconnect::{
    AccessToken, AccessTokenHash, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    IdTokenVerifier, IssuerUrl, JsonWebTokenType, Nonce, NonceVerifier, OAuth2TokenResponse,
    PkceCodeChallenge, RedirectUrl, TokenResponse,
    core::{CoreAuthenticationFlow, CoreJsonWebKey},
};
use serde::Deserialize;
use time::OffsetDateTime;
use tokio::sync::Mutex;
use url::Url;

use crate::{
    SignInError,
    claims::{ALGORITHMS, Claims, Metadata, Registered, Token},
    fetch::{Fetch, FetchError},
    round::Round,
    settings::{Settings, SettingsError, is_private},
};

/// How long the provider's keys and addresses are taken for its own before they are asked for again.
const METADATA_LIFE: Duration = Duration::from_mins(10);
/// A token signed with a key that is not known makes one ask again, but no more often than this.
const METADATA_REST: Duration = Duration::from_secs(30);
/// How fresh a person's own act at the provider must be, in seconds: a bank's login is not another site's.
const AUTHENTICATION_AGE_SECONDS_MAX: i64 = 5 * 60;
/// Types of an ID token; also it may name none (RFC 7519, section 5.1).
const ID_TOKEN: [&str; 2] = ["JWT", "JOSE"];
/// How far the provider's clock may be from ours, in seconds.
pub(crate) const LEEWAY_SECONDS: i64 = 60;

/// What the browser brings back from the provider.
#[derive(Debug, Deserialize)]
pub struct Answer {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// Who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The provider.
    pub issuer: String,
    /// The provider's name for the person; unique and never given to another within one issuer.
    pub subject: String,
    /// The provider's name for the session, by which it may end it.
    pub session: Option<String>,
}

/// One provider and this service's registration with it.
#[derive(Debug)]
pub struct Provider {
    issuer: IssuerUrl,
    client_id: ClientId,
    client_secret: ClientSecret,
    back: RedirectUrl,
    fetch: Fetch,
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    metadata: Arc<Metadata>,
    since: Instant,
}

impl Provider {
    /// A provider for the service at `origin`, to which it sends browsers back at `/sign-in/back`. Nothing is asked of it yet, so
    /// a service starts while its provider is away.
    ///
    /// # Errors
    /// When the settings cannot be meant.
    pub fn new(settings: &Settings, origin: &str) -> Result<Self, SettingsError> {
        settings.check()?;
        let back = Url::parse(origin)
            .and_then(|origin| origin.join("/sign-in/back"))
            .map_err(|_| SettingsError::Origin)?;
        Ok(Self {
            issuer: IssuerUrl::new(settings.issuer.clone()).map_err(|_| SettingsError::Issuer)?,
            client_id: ClientId::new(settings.client_id.clone()),
            client_secret: ClientSecret::new(settings.client_secret.expose().to_owned()),
            back: RedirectUrl::from_url(back),
            fetch: Fetch::new().map_err(|_| SettingsError::Origin)?,
            known: Mutex::new(None),
        })
    }

    /// The same for a service that may have none.
    ///
    /// # Errors
    /// As [`Provider::new`].
    pub fn configured(
        settings: Option<&Settings>,
        origin: &str,
    ) -> Result<Option<Arc<Self>>, SettingsError> {
        let provider = settings.map(|settings| Self::new(settings, origin));
        Ok(provider.transpose()?.map(Arc::new))
    }

    /// The provider's name.
    pub fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    /// Where to send a browser that begins `round`.
    ///
    /// # Errors
    /// When the provider does not say where.
    pub async fn way_there(&self, round: &Round) -> Result<Url, SignInError> {
        let metadata = self.metadata(METADATA_LIFE).await?;
        let (state, nonce) = (round.state(), round.nonce());
        let (way, _, _) = self
            .registered(&metadata)
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state.expose().to_owned()),
                move || Nonce::new(nonce.expose().to_owned()),
            )
            .set_max_age(Duration::from_secs(
                AUTHENTICATION_AGE_SECONDS_MAX.unsigned_abs(),
            ))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(
                &round.verifier(),
            ))
            .url();
        if is_private(&way) {
            Ok(way)
        } else {
            Err(SignInError::Provider(FetchError::Insecure.to_string()))
        }
    }

    /// Judges what a browser brought back from `round`, and fetches and checks the token behind it.
    ///
    /// # Errors
    /// [`SignInError`]; nobody is signed in then.
    pub async fn way_back(&self, round: &Round, answer: Answer) -> Result<SignedIn, SignInError> {
        // Whose round it is comes before everything else: an answer of another browser says nothing here.
        if !answer
            .state
            .is_some_and(|state| round.state().matches(&state))
        {
            return Err(SignInError::NoRound);
        }
        let metadata = self.metadata(METADATA_LIFE).await?;
        let promised = metadata
            .additional_metadata()
            .authorization_response_iss_parameter_supported;
        match answer.iss {
            Some(named) if named == self.issuer.as_str() => {}
            None if !promised => {}
            _ => return Err(SignInError::Issuer),
        }
        if let Some(error) = answer.error {
            return Err(SignInError::Declined(code_word(&error)));
        }
        let code = answer
            .code
            .ok_or_else(|| SignInError::Declined("no code".into()))?;
        let answered = self
            .registered(&metadata)
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| SignInError::Provider(error.to_string()))?
            .set_pkce_verifier(round.verifier())
            .request_async(&self.fetch)
            .await
            .map_err(|error| SignInError::Provider(told(&error)))?;
        let token = answered
            .id_token()
            .ok_or_else(|| SignInError::Token("none was sent".into()))?;
        let nonce = Nonce::new(round.nonce().expose().to_owned());
        let held = self.held(token, ID_TOKEN, &nonce).await?;
        let signed_in = self.read(held.claims)?;
        if held.binds(token, answered.access_token()) {
            Ok(signed_in)
        } else {
            Err(SignInError::Token("it belongs to another answer".into()))
        }
    }

    /// What a token of one of these types says, once it holds: by the keys that are known, or by those the provider has now.
    ///
    /// # Errors
    /// [`SignInError::Token`] when it does not hold, [`SignInError::Provider`] when its key cannot be asked for.
    pub(crate) async fn held<'t>(
        &self,
        token: &'t Token,
        types: [&str; 2],
        nonce: impl NonceVerifier + Clone,
    ) -> Result<Held<'t>, SignInError> {
        let known = self.metadata(METADATA_LIFE).await?;
        let verifier = self.verifier(&known, types);
        if let Ok(claims) = token.claims(&verifier, nonce.clone()) {
            return Ok(Held { claims, verifier });
        }
        let newer = self.metadata(METADATA_REST).await?;
        let verifier = self.verifier(&newer, types);
        let claims = token
            .claims(&verifier, nonce)
            .map_err(|error| SignInError::Token(error.to_string()))?;
        Ok(Held { claims, verifier })
    }

    fn read(&self, claims: &Claims) -> Result<SignedIn, SignInError> {
        let refused = |why: &str| SignInError::Token(why.to_owned());
        if claims.additional_claims().events.is_some() {
            return Err(refused("it is no ID token"));
        }
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let acted = claims
            .auth_time()
            .ok_or_else(|| refused("it does not say when the person acted"))?
            .timestamp();
        if now - acted > AUTHENTICATION_AGE_SECONDS_MAX + LEEWAY_SECONDS {
            return Err(refused("the person acted too long ago"));
        }
        if claims.issue_time().timestamp() > now + LEEWAY_SECONDS {
            return Err(refused("it was issued in the future"));
        }
        Ok(SignedIn {
            issuer: self.issuer.as_str().to_owned(),
            subject: claims.subject().as_str().to_owned(),
            session: claims.additional_claims().sid.clone(),
        })
    }

    /// What checks a token of one of these types against the keys the provider has published.
    fn verifier(
        &self,
        metadata: &Metadata,
        types: [&str; 2],
    ) -> IdTokenVerifier<'static, CoreJsonWebKey> {
        let types = types.map(|kind| JsonWebTokenType::new(kind.to_owned()).normalize());
        // Public keys alone: a client that verifies by its secret would take tokens that anybody with the secret made.
        IdTokenVerifier::new_public_client(
            self.client_id.clone(),
            self.issuer.clone(),
            metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS)
        .set_allowed_jose_types(types.into_iter().flatten())
    }

    fn registered(&self, metadata: &Metadata) -> Registered {
        Registered::from_provider_metadata(
            metadata.clone(),
            self.client_id.clone(),
            Some(self.client_secret.clone()),
        )
        .set_redirect_uri(self.back.clone())
    }

    /// The provider's metadata, at most `age` old. One request at a time asks.
    async fn metadata(&self, age: Duration) -> Result<Arc<Metadata>, SignInError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.since.elapsed() < age) {
            return Ok(known.metadata.clone());
        }
        let metadata = Metadata::discover_async(self.issuer.clone(), &self.fetch)
            .await
            .map_err(|error| SignInError::Provider(told(&error)))?;
        let metadata = Arc::new(metadata);
        *known = Some(Known {
            metadata: metadata.clone(),
            since: Instant::now(),
        });
        Ok(metadata)
    }
}

/// A token that holds.
pub(crate) struct Held<'t> {
    /// What it says.
    pub(crate) claims: &'t Claims,
    verifier: IdTokenVerifier<'static, CoreJsonWebKey>,
}

impl Held<'_> {
    /// Whether the ID token was issued together with this access token, where it says so (Core 1.0, section 3.1.3.8).
    fn binds(&self, token: &Token, access: &AccessToken) -> bool {
        let Some(named) = self.claims.access_token_hash() else {
            return true;
        };
        token
            .signing_alg()
            .ok()
            .zip(token.signing_key(&self.verifier).ok())
            .and_then(|(algorithm, key)| AccessTokenHash::from_token(access, algorithm, key).ok())
            .is_some_and(|actual| actual == *named)
    }
}

/// An error with what is behind it, without addresses and bodies of the provider.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(cause) = behind {
        text = format!("{text}: {cause}");
        behind = cause.source();
    }
    text.chars().take(300).collect()
}

/// A provider's code word for a log: nothing but letters and underscores of it.
fn code_word(error: &str) -> String {
    error
        .chars()
        .filter(|c| c.is_ascii_lowercase() || *c == '_')
        .take(40)
        .collect()
}
