//! The floors: what one flush to the disk and one signature cost on this machine, in this run.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use ed25519_dalek::{Signer as _, SigningKey};

/// How often each is done.
const FLUSHES: usize = 400;
const SIGNATURES: usize = 4_000;
/// About what one decision adds to the record, in bytes.
const LINE_BYTES: usize = 700;

/// Medians, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Floors {
    /// One `fdatasync` behind one line.
    pub flush: f64,
    /// One Ed25519 signature.
    pub signature: f64,
    /// One strict Ed25519 verification.
    pub verification: f64,
}

/// Measures the floors on the disk that `folder` lies on.
///
/// # Errors
/// When the folder cannot be written to.
pub fn measure(folder: &Path) -> anyhow::Result<Floors> {
    let path = folder.join("floor");
    let mut file = File::create(&path).context("create a file to flush")?;
    let line = [b'x'; LINE_BYTES];
    let flush = median(FLUSHES, || {
        file.write_all(&line)?;
        Ok(file.sync_data()?)
    })?;
    drop(file);
    std::fs::remove_file(path)?;

    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| anyhow::anyhow!("random bytes: {error}"))?;
    let key = SigningKey::from_bytes(&seed);
    let mut message = [7; 96];
    let mut turn: u64 = 0;
    let mut next = || {
        turn += 1;
        message[..8].copy_from_slice(&turn.to_be_bytes());
        message
    };
    let signature = median(SIGNATURES, || {
        std::hint::black_box(key.sign(&next()));
        Ok(())
    })?;
    let public = key.verifying_key();
    let signed = key.sign(&line);
    let verification = median(SIGNATURES, || Ok(public.verify_strict(&line, &signed)?))?;
    Ok(Floors {
        flush,
        signature,
        verification,
    })
}

/// The median duration of many turns, in microseconds.
fn median(turns: usize, mut act: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut taken = Vec::with_capacity(turns);
    for _ in 0..turns {
        let begun = Instant::now();
        act()?;
        taken.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken[taken.len() / 2])
}
