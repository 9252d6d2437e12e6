//! Keys and a session token for the bench of the door in front of the bank.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_identity::{
    SESSION_HEADER, SESSION_LIFETIME_SECONDS_MAX, SessionClaims, SigningKey, SigningKeyFile,
    TokenId, TurnId, generate_key, sign_session,
};

/// A fresh key of this name.
///
/// # Errors
/// When the system has no random bytes.
pub fn key(key_id: &str) -> anyhow::Result<SigningKeyFile> {
    Ok(generate_key(random()?, key_id))
}

/// Prints the header of a session token, good from now on, as JSON.
///
/// # Errors
/// When the key file cannot be read.
pub fn print_header(key_file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(key_file).context("read the session key")?;
    let key = SigningKey::from_file(&serde_json::from_str(&text)?)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let token = sign_session(
        &key,
        &SessionClaims {
            customer: CustomerId::from_uuid(uuid::Uuid::new_v4()),
            conversation: ConversationId::from_uuid(uuid::Uuid::new_v4()),
            turn: TurnId::from_random(random()?),
            grant_secret: Secret::from_random(random()?),
            issued_at: now,
            expires_at: now + SESSION_LIFETIME_SECONDS_MAX,
            token_id: TokenId::from_random(random()?),
        },
    )?;
    println!("{}", serde_json::json!({ SESSION_HEADER: token }));
    Ok(())
}

fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("random bytes: {error}"))?;
    Ok(bytes)
}
