//! Asks a service of this container whether it reads requests: `countersign-probe ADDRESS HOST`. For images that hold no shell.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

/// Time for each of connecting, sending and reading.
const PATIENCE: Duration = Duration::from_secs(2);
/// The first line of an answer is shorter than this.
const ANSWER_BYTES: u64 = 64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, host] = &arguments[..] else {
        eprintln!(
            "usage: countersign-probe ADDRESS HOST, such as 127.0.0.1:8480 panel.bank.example"
        );
        return ExitCode::from(64);
    };
    match ask(address, host) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: ask {address}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(address: &str, host: &str) -> std::io::Result<bool> {
    let address: SocketAddr = address
        .parse()
        .map_err(|_| std::io::Error::other("not an address with a port"))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
    Ok(answer.starts_with(b"HTTP/1.1 200 "))
}
