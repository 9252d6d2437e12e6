//! Asks a service whether it reads requests.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use anyhow::bail;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time for a start: a debug program with its pools, beside others on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time for one answer.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(30);

/// Waits until `GET /health` answers 200 under the name `authority`.
///
/// # Errors
/// When it does not in time.
pub(super) async fn wait(port: u16, authority: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Ok(Ok(true)) = tokio::time::timeout(ANSWER_TIME, ask(port, authority)).await {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("no answer in {} s", PATIENCE.as_secs());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn ask(port: u16, authority: &str) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!("GET /health HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200 "))
}
