//! The socket over which the running bank's starter asks it for addresses and tokens.
//!
//! It lies in a folder that only the starter's user may enter, and each caller's user is looked at as well:
//! no service runs as that user where they have users of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use countersign_testkit::{files, spawn};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::operator::Decision;
use crate::state::Place;

/// Longest question or answer.
const LINE_BYTES_MAX: u64 = 8 * 1024;
/// Time for a question to arrive and for an answer.
const TIME: Duration = Duration::from_secs(10);

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// A fresh one-use address, as this customer or as the first.
    Open(Option<String>),
    /// A fresh one-use address of the dashboard, for this operator.
    Operate(String),
    /// A session token for the door.
    Token(String),
    /// What an operator decides.
    Decide(Decision),
}

impl Question {
    fn line(&self) -> String {
        match self {
            Self::Open(None) => "open\n".to_owned(),
            Self::Open(Some(name)) => format!("open {name}\n"),
            Self::Operate(name) => format!("operate {name}\n"),
            Self::Token(name) => format!("token {name}\n"),
            Self::Decide(Decision::List) => "waiting\n".to_owned(),
            Self::Decide(Decision::Allow { operator, which }) => {
                format!("allow {which} {operator}\n")
            }
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (word, name) = match line.trim_end().split_once(' ') {
            Some((word, name)) => (word, Some(name.to_owned())),
            None => (line.trim_end(), None),
        };
        match (word, name) {
            ("open", name) => Some(Self::Open(name)),
            ("operate", Some(name)) => Some(Self::Operate(name)),
            ("token", Some(name)) => Some(Self::Token(name)),
            ("waiting", None) => Some(Self::Decide(Decision::List)),
            ("allow", Some(what)) => {
                let (which, operator) = what.split_once(' ')?;
                Some(Self::Decide(Decision::Allow {
                    operator: operator.to_owned(),
                    which: which.to_owned(),
                }))
            }
            _ => None,
        }
    }
}

/// The running bank's end.
#[derive(Debug)]
pub struct Control(UnixListener);

impl Control {
    /// Listens below the run's folder.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen(runtime: &Path) -> anyhow::Result<Self> {
        let path = socket(runtime);
        if let Some(folder) = path.parent() {
            files::make_folder(folder, 0o700)?;
        }
        let listener = UnixListener::bind(&path).context("listen on the control socket")?;
        files::set_mode(&path, 0o600)?;
        Ok(Self(listener))
    }

    /// Waits for the next question of this user. Others are turned away unanswered.
    ///
    /// # Errors
    /// When the socket is gone.
    pub async fn next(&self) -> anyhow::Result<(Question, Asker)> {
        loop {
            let (stream, _) = self.0.accept().await?;
            let allowed = [0, spawn::effective_uid()];
            if !stream
                .peer_cred()
                .is_ok_and(|peer| allowed.contains(&peer.uid()))
            {
                continue;
            }
            let mut reader = BufReader::new(stream.take(LINE_BYTES_MAX));
            let mut line = String::new();
            let read = tokio::time::timeout(TIME, reader.read_line(&mut line)).await;
            if let (Ok(Ok(_)), Some(question)) = (read, Question::parse(&line)) {
                return Ok((question, Asker(reader.into_inner().into_inner())));
            }
        }
    }
}

/// Who waits for an answer.
#[derive(Debug)]
pub struct Asker(UnixStream);

impl Asker {
    /// Answers; a caller who has gone is no failure.
    pub async fn answer(mut self, answer: anyhow::Result<String>) {
        let line = match answer {
            Ok(text) => format!("ok {text}\n"),
            Err(error) => format!("no {error:#}\n"),
        };
        let _ = tokio::time::timeout(TIME, self.0.write_all(line.as_bytes())).await;
    }
}

/// Asks the running bank of a folder.
///
/// # Errors
/// When none runs, or it says no.
pub async fn ask(place: &Place, question: Question) -> anyhow::Result<String> {
    let not_running = "no bank runs here; start one with `cargo xtask up`";
    let runtime = place.runtime_folder().context(not_running)?;
    let mut stream = UnixStream::connect(socket(&runtime))
        .await
        .context(not_running)?;
    stream.write_all(question.line().as_bytes()).await?;
    let mut answer = String::new();
    tokio::time::timeout(
        TIME,
        stream.take(LINE_BYTES_MAX).read_to_string(&mut answer),
    )
    .await
    .context("the running bank does not answer")??;
    match answer.trim_end().split_once(' ') {
        Some(("ok", text)) => Ok(text.to_owned()),
        Some(("no", why)) => bail!("{why}"),
        _ => {
            ensure!(
                !answer.is_empty(),
                "only the user who started the bank may ask it"
            );
            bail!("the running bank answers in words this program does not know; start it again")
        }
    }
}

fn socket(runtime: &Path) -> PathBuf {
    runtime.join("control").join("socket")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_read_back_and_others_are_none() {
        for question in [
            Question::Open(None),
            Question::Open(Some("ada".to_owned())),
            Question::Operate("demo".to_owned()),
            Question::Token("ada".to_owned()),
            Question::Decide(Decision::List),
            Question::Decide(Decision::Allow {
                operator: "grace".to_owned(),
                which: "act_01".to_owned(),
            }),
        ] {
            assert_eq!(Question::parse(&question.line()), Some(question));
        }
        for line in [
            "",
            "token\n",
            "stop\n",
            "opens ada\n",
            "allow act_01\n",
            "waiting x\n",
        ] {
            assert_eq!(Question::parse(line), None, "{line:?}");
        }
    }

    #[tokio::test]
    async fn only_this_user_may_ask() {
        use std::os::unix::fs::PermissionsExt;
        let runtime =
            std::env::temp_dir().join(format!("countersign-control-{}", std::process::id()));
        let control = Control::listen(&runtime).expect("listens");
        for (path, mode) in [(runtime.join("control"), 0o700), (socket(&runtime), 0o600)] {
            let found = std::fs::metadata(&path)
                .expect("there")
                .permissions()
                .mode()
                & 0o777;
            assert_eq!(found, mode, "{}", path.display());
        }
        let asking = async {
            let mut stream = UnixStream::connect(socket(&runtime))
                .await
                .expect("connect");
            stream.write_all(b"open ada\n").await.expect("write");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("read");
            answer
        };
        let answering = async {
            let (question, asker) = control.next().await.expect("a question");
            assert_eq!(question, Question::Open(Some("ada".to_owned())));
            asker.answer(Ok("http://localhost/#x".to_owned())).await;
        };
        let (answer, ()) = tokio::join!(asking, answering);
        assert_eq!(answer, "ok http://localhost/#x\n");
        std::fs::remove_dir_all(runtime).expect("clean up");
    }
}
