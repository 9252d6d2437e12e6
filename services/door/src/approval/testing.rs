//! What the tests of this room share: a record in memory, moments, and calls to hold.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_identity::generate_key;
use countersign_receipts::{
    ApprovalWay, Approver, CallOpening, Hash, HeldCall, LogKeyFile, LogSigner,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::decision::{Ask, Choice, Decision, Ended, Tell, Why};
use super::holds::Holds;
use super::record::{Line, NotWritten, Record};
use super::terms::{Terms, Ways};
use crate::clock::Now;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A record in memory that can be told to fail.
pub struct Memory {
    signer: LogSigner,
    lines: Mutex<Vec<serde_json::Value>>,
    pub failing: Mutex<bool>,
}

impl Memory {
    pub fn new() -> Arc<Self> {
        let key = generate_key([5; 32], "receipts");
        let file = LogKeyFile {
            key_id: key.key_id,
            pkcs8_pem: key.pkcs8_pem,
        };
        Arc::new(Self {
            signer: LogSigner::new("log.example/door", &file).unwrap(),
            lines: Mutex::default(),
            failing: Mutex::default(),
        })
    }

    pub fn lines(&self) -> Vec<serde_json::Value> {
        locked(&self.lines).clone()
    }

    pub fn events(&self) -> Vec<String> {
        let text = |line: &serde_json::Value| line["event"].as_str().unwrap().to_owned();
        self.lines().iter().map(text).collect()
    }
}

impl Record for Memory {
    fn signer(&self) -> &LogSigner {
        &self.signer
    }

    fn write(&self, line: &Line<'_>) -> Result<Hash, NotWritten> {
        if *locked(&self.failing) {
            return Err(NotWritten(anyhow::anyhow!("the disk is full")));
        }
        let mut lines = locked(&self.lines);
        lines.push(serde_json::to_value(line).unwrap());
        Ok([u8::try_from(lines.len() % 256).unwrap(); 32].into())
    }

    fn seal(&self) -> Result<(), NotWritten> {
        Ok(())
    }
}

pub const START: i64 = 1_800_000_000;
pub const ALL: Ways = Ways {
    page: true,
    webhook: true,
    client: true,
};

pub fn at(seconds: u64) -> Now {
    let utc = time::OffsetDateTime::from_unix_timestamp(START).unwrap();
    Now {
        monotonic_milliseconds: seconds * 1_000,
        utc: utc + Duration::from_secs(seconds),
    }
}

pub fn held(number: u8, now: Now, terms: &Terms) -> HeldCall {
    HeldCall {
        approval: [number; 16],
        call: [number ^ 0xff; 16],
        held: [number; 32].into(),
        opening: CallOpening {
            salt: [9; 32].into(),
            server: "files".into(),
            method: "tools/call".into(),
            tool: Some("write_file".into()),
            definition: None,
            identity: "local".into(),
            policy_sha256: "aa".repeat(32),
            message: format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call"}}"#),
        },
        rule: "writes".into(),
        policy: "demo".into(),
        commit: None,
        held_at: now.text(),
        expires_at: now.text_after(terms.time_to_live),
    }
}

pub struct Told(pub Arc<Mutex<Vec<Ended>>>);

impl Told {
    pub fn new() -> Self {
        Self(Arc::default())
    }

    pub fn tell(&self) -> Tell {
        let told = Arc::clone(&self.0);
        Box::new(move |ended| locked(&told).push(ended))
    }

    pub fn whys(&self) -> Vec<Why> {
        locked(&self.0).iter().map(|ended| ended.why).collect()
    }
}

pub fn ask(number: u8, now: Now, terms: Terms, told: &Told) -> Ask {
    Ask {
        held: held(number, now, &terms),
        terms,
        still: Box::new(|| true),
        tell: told.tell(),
    }
}

pub fn by(way: ApprovalWay) -> Approver {
    Approver {
        way,
        name: "Grace".into(),
    }
}

pub fn decision(holds: &Holds, number: u8, choice: Choice) -> Decision {
    let hold = [number; 16];
    Decision {
        hold,
        digest: holds.seen(&hold).map_or([0; 32].into(), |seen| seen.digest),
        choice,
        approver: by(ApprovalWay::Page),
        note: None,
        commit: None,
    }
}

pub fn one(terms: Terms) -> (Arc<Memory>, Holds, Told) {
    let memory = Memory::new();
    let holds = Holds::new(Arc::clone(&memory) as Arc<dyn Record>, ALL);
    let told = Told::new();
    holds.hold(ask(1, at(0), terms, &told), at(0)).unwrap();
    (memory, holds, told)
}

pub fn webhook_secret(byte: u8) -> String {
    format!("whsec_{}", STANDARD.encode([byte; 32]))
}

pub fn webhook_signature(key: u8, id: &str, stamp: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&[key; 32]).unwrap();
    mac.update(format!("{id}.{stamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}
