//! The clients: a thread and a connection each, with as little between them and the wire as there can be.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::Figures;

/// A press that waits: whose session, where it goes, what it carries.
pub struct Press {
    secret: String,
    path: String,
    body: String,
}

/// What all presses together took.
pub struct Pressed {
    took: Vec<Duration>,
    whole: Duration,
}

impl Pressed {
    /// The figures, where the servers used `used` seconds of processor time for them.
    pub fn figures(mut self, used: f64) -> Figures {
        self.took.sort();
        let count = self.took.len();
        let at = |share: usize| self.took[count * share / 100].as_secs_f64() * 1e3;
        let number = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        Figures {
            rate: number / self.whole.as_secs_f64(),
            p50: at(50),
            p99: at(99),
            cpu: used / number * 1e6,
        }
    }
}

struct Connection {
    stream: BufReader<TcpStream>,
    port: u16,
}

impl Connection {
    fn open(port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            port,
        })
    }

    /// One request and its whole answer.
    fn ask(
        &mut self,
        method: &str,
        path: &str,
        secret: &str,
        body: &str,
    ) -> anyhow::Result<(u16, Vec<u8>)> {
        let port = self.port;
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nCookie: __Host-countersign-panel={secret}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(text.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("a status")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        Ok((status, answer))
    }
}

/// Has everybody's card drawn and shown.
pub fn draw_all(port: u16, people: u64, clients: usize) -> anyhow::Result<Vec<Press>> {
    let next = Mutex::new(1..=people);
    let drawn = Mutex::new(Vec::new());
    each(clients, || {
        let mut connection = Connection::open(port)?;
        while let Some(number) = take(&next) {
            let secret = format!("{number:064x}");
            let (status, answer) = connection.ask("GET", "/api/cards", &secret, "")?;
            ensure!(status == 200, "a card answered {status}");
            let answer: Value = serde_json::from_slice(&answer)?;
            let card = &answer["cards"][0];
            let hash = card["confirm_hash"].as_str();
            let hash = hash.with_context(|| format!("a card cannot be confirmed: {card}"))?;
            ensure!(card["step_up"].is_null(), "a card wants a passkey: {card}");
            let body = json!({"version": card["version"], "confirm_hash": hash, "nonce": card["nonce"], "note": ""});
            let path = format!(
                "/api/actions/{}/confirm",
                card["action"].as_str().context("an id")?
            );
            lock(&drawn).push(Press {
                secret,
                path,
                body: body.to_string(),
            });
        }
        Ok(())
    })?;
    drawn
        .into_inner()
        .map_err(|_| anyhow::anyhow!("a client panicked"))
}

/// Presses all of them.
pub fn all(port: u16, presses: Vec<Press>, clients: usize) -> anyhow::Result<Pressed> {
    let took = Mutex::new(Vec::with_capacity(presses.len()));
    let next = Mutex::new(presses.into_iter());
    let began = Instant::now();
    each(clients, || {
        let mut connection = Connection::open(port)?;
        let mut own = Vec::new();
        while let Some(press) = take(&next) {
            let asked = Instant::now();
            let (status, answer) =
                connection.ask("POST", &press.path, &press.secret, &press.body)?;
            own.push(asked.elapsed());
            ensure!(
                status == 200,
                "a press answered {status}: {}",
                String::from_utf8_lossy(&answer)
            );
        }
        lock(&took).extend(own);
        Ok(())
    })?;
    Ok(Pressed {
        whole: began.elapsed(),
        took: took
            .into_inner()
            .map_err(|_| anyhow::anyhow!("a client panicked"))?,
    })
}

fn each(clients: usize, work: impl Fn() -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(&work)).collect();
        for thread in threads {
            thread
                .join()
                .map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
        Ok(())
    })
}

fn take<I: Iterator>(next: &Mutex<I>) -> Option<I::Item> {
    lock(next).next()
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
