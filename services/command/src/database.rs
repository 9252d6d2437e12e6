//! The way to the database: an address that is a secret, for this program and for PostgreSQL's own.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;
use sqlx::{Connection, PgConnection};
use url::Url;

/// Which database.
#[derive(Args, Debug)]
pub struct Database {
    /// The file that holds the database's address, postgres://…
    #[arg(long, value_name = "FILE")]
    database_file: PathBuf,
    /// The folder of PostgreSQL's programs; the path's when left out
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

impl Database {
    fn address(&self) -> anyhow::Result<String> {
        let path = self.database_file.display();
        let text =
            std::fs::read_to_string(&self.database_file).with_context(|| format!("read {path}"))?;
        Ok(text.trim().to_owned())
    }

    /// Connects.
    ///
    /// # Errors
    /// When there is no address, or nobody answers there.
    pub async fn connect(&self) -> anyhow::Result<PgConnection> {
        PgConnection::connect(&self.address()?)
            .await
            .context("reach the database")
    }

    /// Runs one of PostgreSQL's programs. Password and address reach it in a file that is gone afterwards, since
    /// arguments are for everybody to read.
    ///
    /// # Errors
    /// When it is not there, or fails; its own words are in the message.
    pub fn run(
        &self,
        program: &str,
        service_folder: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<()> {
        let service = Service::write(service_folder, &self.address()?)?;
        let path = match &self.programs {
            Some(folder) => folder.join(program),
            None => PathBuf::from(program),
        };
        let mut command = Command::new(&path);
        command
            .args(arguments)
            .arg("--dbname=service=countersign")
            .env("PGSERVICEFILE", &service.0);
        let done = command.output().with_context(|| {
            format!(
                "start {}: install PostgreSQL's client programs, or give --programs",
                path.display()
            )
        })?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("{program} ended with {}: {}", done.status, said.trim());
        }
        Ok(())
    }
}

/// A file of libpq's that names one database; removed when dropped.
struct Service(PathBuf);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Service {
    fn write(folder: &Path, address: &str) -> anyhow::Result<Self> {
        let text = service_text(address)?;
        let path = folder.join(".database.conf");
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("make {}", path.display()))?;
        let service = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(service)
    }
}

fn decoded(text: &str) -> String {
    let escaped = format!("k={}", text.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = form_urlencoded::parse(escaped.as_bytes());
    pairs
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// An address in the form of a service file.
fn service_text(address: &str) -> anyhow::Result<String> {
    // Its own words would hold the password.
    let url = Url::parse(address)
        .map_err(|_| anyhow::anyhow!("the file holds no address postgres://…"))?;
    ensure!(
        matches!(url.scheme(), "postgres" | "postgresql"),
        "the file holds no address postgres://…"
    );
    let mut lines = vec![
        ("user".to_owned(), decoded(url.username())),
        (
            "dbname".to_owned(),
            decoded(url.path().trim_start_matches('/')),
        ),
    ];
    if let Some(password) = url.password() {
        lines.push(("password".to_owned(), decoded(password)));
    }
    if let Some(port) = url.port() {
        lines.push(("port".to_owned(), port.to_string()));
    }
    if let Some(host) = url.host_str() {
        lines.push((
            "host".to_owned(),
            decoded(host).trim_matches(['[', ']']).to_owned(),
        ));
    }
    for (name, value) in url.query_pairs() {
        let known = [
            "host",
            "port",
            "user",
            "password",
            "dbname",
            "sslmode",
            "sslrootcert",
        ];
        if known.contains(&&*name) {
            lines.retain(|(own, _)| *own != name);
            lines.push((name.into_owned(), value.into_owned()));
        }
    }
    let mut text = "[countersign]\n".to_owned();
    for (name, value) in lines {
        ensure!(
            !value.contains(['\n', '\r']),
            "the address holds a line break"
        );
        text.push_str(&format!("{name}={value}\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_libpq_reads_it() {
        let text = service_text(
            "postgres://backup:p%40ss+1@db.bank.example:5433/bank?sslmode=verify-full",
        )
        .unwrap();
        for line in [
            "user=backup",
            "password=p@ss+1",
            "host=db.bank.example",
            "port=5433",
            "dbname=bank",
            "sslmode=verify-full",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        let socket = service_text("postgres://backup@localhost/bank?host=/run/db").unwrap();
        assert!(
            socket.contains("host=/run/db\n") && !socket.contains("localhost"),
            "{socket}"
        );
        let error = service_text("hunter2").unwrap_err().to_string();
        assert!(!error.contains("hunter2"));
        assert!(service_text("postgres://a:b%0Aoptions=x@h/d").is_err());
    }
}
