//! Secrets from the system's random source.

use countersign_domain::Secret;

/// A new bearer secret of 256 bits.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random_secret() -> anyhow::Result<Secret> {
    Ok(Secret::from_random(random_bytes()?))
}

/// Random bytes.
///
/// # Errors
/// When the system gives none.
pub fn random_bytes<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random bytes: {error}"))?;
    Ok(bytes)
}
