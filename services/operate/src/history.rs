//! Secrets in the whole history: every text that any commit brought in, looked at with the rules that the door redacts with.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use countersign_screening::redact::BuiltIn;
use countersign_screening::{Redactor, Rules};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::files;

/// Where the exceptions stand.
pub const ALLOWED: &str = "docs/deploy/secrets-allowed.yaml";
/// Longest text that is looked at; longer ones are lock files and pictures.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The rules: marked keys, private keys and tokens. What a name beside it calls a password is in this code on every page, so such values are not
/// looked for, and neither are card numbers and IBANs, which are what a bank's tests are made of.
const RULES: [BuiltIn; 8] = [
    BuiltIn::CloudKey,
    BuiltIn::ForgeToken,
    BuiltIn::ChatToken,
    BuiltIn::PaymentKey,
    BuiltIn::ModelKey,
    BuiltIn::ServiceKey,
    BuiltIn::PrivateKey,
    BuiltIn::Jwt,
];

/// Paths in which such texts are expected, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Every exception.
    pub allowed: Vec<Exception>,
}

/// One exception: all finds of a rule below a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// A path of the checkout, now or once; a folder ends with `/`.
    pub path: String,
    /// The rules that find something there.
    pub rules: Vec<String>,
    /// Why nothing there is a secret.
    pub why: String,
}

/// Something that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Find {
    /// Where it stood.
    pub path: String,
    /// The rule.
    pub rule: String,
    /// The first characters of the SHA-256 of what stood there; the text itself is not repeated.
    pub digest: String,
    /// The object, for `git show`.
    pub object: String,
}

/// Every find in every text that the newest commit or one before it holds.
///
/// # Errors
/// When git does not answer.
pub fn finds() -> anyhow::Result<Vec<Find>> {
    let root = files::root();
    let listed = Command::new("git")
        .args(["rev-list", "--objects", "HEAD"])
        .current_dir(&root)
        .output()
        .context("start git")?;
    ensure!(listed.status.success(), "git lists no objects here");
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        if let Some((object, path)) = line.split_once(' ') {
            paths.entry(object.to_owned()).or_insert(path.to_owned());
        }
    }
    let mut git = Command::new("git")
        .args(["cat-file", "--batch", "--buffer"])
        .current_dir(&root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("start git")?;
    let mut asked = git.stdin.take().context("git takes questions")?;
    let names: Vec<String> = paths.keys().cloned().collect();
    let asker =
        std::thread::spawn(move || names.iter().try_for_each(|name| writeln!(asked, "{name}")));
    let mut answers = BufReader::new(git.stdout.take().context("git answers")?);
    let look = Look::new();
    let mut finds = Vec::new();
    let mut head = String::new();
    loop {
        head.clear();
        if answers.read_line(&mut head)? == 0 {
            break;
        }
        let mut words = head.split_whitespace();
        let (object, kind, size) = (words.next(), words.next(), words.next());
        let size: usize = size.context("git says a size")?.parse()?;
        let mut bytes = vec![0; size + 1];
        answers.read_exact(&mut bytes)?;
        bytes.truncate(size);
        if kind != Some("blob") || size > TEXT_BYTES_MAX {
            continue;
        }
        let object = object.unwrap_or_default();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            finds.extend(look.at(text).map(|(rule, digest)| Find {
                path: paths.get(object).cloned().unwrap_or_default(),
                rule,
                digest,
                object: object[..12.min(object.len())].to_owned(),
            }));
        }
    }
    let _ = asker.join();
    ensure!(git.wait()?.success(), "git ends well");
    finds.sort();
    finds.dedup();
    Ok(finds)
}

/// Looks at one text.
pub struct Look(Redactor);

impl Default for Look {
    fn default() -> Self {
        Self::new()
    }
}

impl Look {
    /// With the rules of this scan.
    #[must_use]
    pub fn new() -> Self {
        let everything = Redactor::new(&Rules::standard());
        let others = BuiltIn::ALL.iter().filter(|rule| !RULES.contains(rule));
        let off = everything.set(others.map(|rule| rule.name()));
        Self(everything.without(off))
    }

    /// The rules that find something, with the digest of what they found.
    pub fn at<'t>(&self, text: &'t str) -> impl Iterator<Item = (String, String)> + use<'t> {
        let edits = self.0.redact_text(text).edits;
        edits.into_iter().map(|edit| {
            let digest = hex::encode(Sha256::digest(text.get(edit.span).unwrap_or_default()));
            (edit.rule.to_string(), digest[..12].to_owned())
        })
    }
}

impl Allowed {
    /// Reads the exceptions of the checkout.
    ///
    /// # Errors
    /// When they are not there or have another form.
    pub fn read() -> anyhow::Result<Self> {
        Ok(serde_saphyr::from_str(&files::text(ALLOWED)?)?)
    }

    /// Finds that no exception covers, and exceptions that cover nothing.
    #[must_use]
    pub fn judge(&self, finds: &[Find]) -> (Vec<Find>, Vec<String>) {
        let mut used: BTreeSet<usize> = BTreeSet::new();
        let bad = finds
            .iter()
            .filter(|find| {
                let covers = self.allowed.iter().enumerate().filter(|(_, one)| {
                    let path = if one.path.ends_with('/') {
                        find.path.starts_with(&one.path)
                    } else {
                        find.path == one.path
                    };
                    path && one.rules.contains(&find.rule)
                });
                let covering: Vec<usize> = covers.map(|(index, _)| index).collect();
                used.extend(&covering);
                covering.is_empty()
            })
            .cloned()
            .collect();
        let idle = self.allowed.iter().enumerate();
        let idle = idle.filter(|(index, _)| !used.contains(index));
        (bad, idle.map(|(_, one)| one.path.clone()).collect())
    }
}
