//! When to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at Ctrl-C, at SIGTERM, and when the terminal goes away.
///
/// # Errors
/// When signals cannot be watched.
pub async fn asked_to_stop() -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}
