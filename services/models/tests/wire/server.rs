//! A socket that answers from a script and remembers what it was asked.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// One answer.
#[derive(Clone)]
pub struct Script {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    after: After,
}

/// What comes behind the pieces.
#[derive(Clone)]
enum After {
    /// The end, in order.
    End,
    /// The connection breaks.
    Break,
    /// Nothing, for as long as the other side waits.
    Silence,
    /// This, again and again.
    Again(Vec<u8>, Duration),
    /// Nothing at all is answered, not even a status.
    Mute,
}

impl Script {
    /// A stream of this content type.
    pub fn ok(content_type: &str, body: &[u8]) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".into(), content_type.into())],
            pieces: vec![body.to_vec()],
            after: After::End,
        }
    }

    /// A refusal.
    pub fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            pieces: vec![body.into()],
            after: After::End,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same in pieces of this many bytes.
    pub fn in_pieces(mut self, length: usize) -> Self {
        let whole = self.pieces.concat();
        self.pieces = whole.chunks(length).map(<[u8]>::to_vec).collect();
        self
    }

    pub fn then_breaks(mut self) -> Self {
        self.after = After::Break;
        self
    }

    pub fn then_silence(mut self) -> Self {
        self.after = After::Silence;
        self
    }

    pub fn then_again(mut self, piece: &[u8], pause: Duration) -> Self {
        self.after = After::Again(piece.to_vec(), pause);
        self
    }

    pub fn mute() -> Self {
        let mut script = Self::status(200, "");
        script.after = After::Mute;
        script
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

#[derive(Default)]
struct Seen {
    asked: Vec<Asked>,
    hung_up: usize,
}

/// The server of one test.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl Server {
    /// Answers one request after the other from the list, the last one again and again.
    pub async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
        };
        let seen = Arc::clone(&server.seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, scripts) = (Arc::clone(&seen), scripts.clone());
                tokio::spawn(async move {
                    if let Some(asked) = read(stream).await {
                        let (asked, stream) = asked;
                        let number = {
                            let mut seen = seen.lock().unwrap();
                            seen.asked.push(asked);
                            seen.asked.len() - 1
                        };
                        let script = scripts[number.min(scripts.len() - 1)].clone();
                        if answer(stream, script).await.is_err() {
                            seen.lock().unwrap().hung_up += 1;
                        }
                    }
                });
            }
        });
        server
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().asked.clone()
    }

    /// How many answers were not read to their end.
    pub fn hung_up(&self) -> usize {
        self.seen.lock().unwrap().hung_up
    }
}

async fn read(mut stream: TcpStream) -> Option<(Asked, TcpStream)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let length: usize = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim().parse().ok())
                .unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return Some((
                    Asked {
                        head,
                        body: bytes[end + 4..].to_vec(),
                    },
                    stream,
                ));
            }
        }
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

async fn answer(mut stream: TcpStream, script: Script) -> std::io::Result<()> {
    let mut gone = [0; 1];
    if matches!(script.after, After::Mute) {
        return match stream.read(&mut gone).await {
            Ok(0) | Err(_) => Err(std::io::ErrorKind::ConnectionAborted.into()),
            Ok(_) => Ok(()),
        };
    }
    let mut head = format!(
        "HTTP/1.1 {} Status\r\nconnection: close\r\ntransfer-encoding: chunked\r\n",
        script.status
    );
    for (name, value) in &script.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    for piece in script.pieces.iter().filter(|piece| !piece.is_empty()) {
        chunk(&mut stream, piece).await?;
    }
    match script.after {
        After::End => stream.write_all(b"0\r\n\r\n").await?,
        After::Break | After::Mute => {}
        After::Silence => {
            stream.flush().await?;
            // Ends when the other side goes away.
            if matches!(stream.read(&mut gone).await, Ok(0) | Err(_)) {
                return Err(std::io::ErrorKind::ConnectionAborted.into());
            }
        }
        After::Again(piece, pause) => loop {
            chunk(&mut stream, &piece).await?;
            tokio::time::sleep(pause).await;
        },
    }
    stream.flush().await?;
    stream.shutdown().await
}

async fn chunk(stream: &mut TcpStream, piece: &[u8]) -> std::io::Result<()> {
    let mut framed = format!("{:x}\r\n", piece.len()).into_bytes();
    framed.extend_from_slice(piece);
    framed.extend_from_slice(b"\r\n");
    stream.write_all(&framed).await
}
