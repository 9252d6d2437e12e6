//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Checks records, receipts and approvals offline.
///
/// Exit codes: 0 it holds; 1 a signature does not hold; 2 not this key's, or a revoked one;
/// 3 malformed; 4 not canonical, or another hash; 5 an outcome without a signature; 6 withheld;
/// 7 an outcome that contradicts itself; 8 not known here, not tampered with; 9 signed, and against
/// a rule of its own format or another policy; 10 the private record is not the committed one;
/// 11 a line was changed, moved or taken out; 12 the end was cut off; 13 another past than the one
/// signed for; 14 an entry without a receipt; 15 something doubled; 16 a receipt without its entries;
/// 17 a receipt and its entries that differ; 64 wrong usage. `gate` alone: 0 authorised, 1 refused, 2 an input is missing.
#[derive(Debug, Parser)]
#[command(name = "countersign-verify", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What to check.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// A log: every line follows from the one before, and all of it from a signed head.
    Log(LogArguments),
    /// A ledger: each entry has exactly one receipt in the log that the key signs for, and each receipt its entries.
    Ledger(LedgerArguments),
    /// A receipt: its event is in the log that the key signs for.
    Receipt(ReceiptArguments),
    /// A receipt in the Permission Protocol's format.
    Artifact(ArtifactArguments),
    /// What came of an approved action, in the Permission Protocol's format.
    Attestation(AttestationArguments),
    /// The page that checks receipts, proofs and logs in a browser, as one file without a network.
    Page(PageArguments),
    /// Whether something may go on: a person approved exactly it, and the approval still counts.
    Gate(GateArguments),
}

/// What a log is checked with.
#[derive(Debug, Args)]
pub struct LogArguments {
    /// The log: a record's directory, or one file with a canonical JSON object a line.
    pub file: PathBuf,
    /// A signed head of it. The one to trust is the one that was saved elsewhere, earlier.
    #[arg(long)]
    pub checkpoint: PathBuf,
    /// The log's public keys: `keys.json`, the JSON file of one key, or its one-line form.
    #[arg(long)]
    pub key: PathBuf,
    /// A policy file that decisions may come from; every decision must come from one of those given.
    #[arg(long)]
    pub policy: Vec<PathBuf>,
    /// The public key of a witness, one-line form, that must have signed the head, too.
    #[arg(long)]
    pub witness: Option<PathBuf>,
    /// Every decision must have a signed head of its own, in the record's directory.
    #[arg(long)]
    pub each_signed: bool,
    /// Take a log whose earlier lines are not there; they stay unchecked but for their number.
    #[arg(long)]
    pub part: bool,
}

/// What a ledger is checked with.
#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// The export, as `cargo xtask ledger` writes it.
    pub file: PathBuf,
    /// The log's public keys: `keys.json`, the JSON file of one key, or its one-line form.
    #[arg(long)]
    pub key: PathBuf,
    /// A signed head that was saved elsewhere, in place of the export's own.
    #[arg(long)]
    pub checkpoint: Option<PathBuf>,
}

/// Where the page goes.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// The file to write; it is never written over. Printed when left out.
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// What a receipt is checked with.
#[derive(Debug, Args)]
pub struct ReceiptArguments {
    /// The receipt's JSON file; the payload alone where `--proof` is given.
    pub file: PathBuf,
    /// The payload's proof, as C2SP tlog-proof text.
    #[arg(long)]
    pub proof: Option<PathBuf>,
    /// The log's public keys: `keys.json`, the JSON file of one key, or its one-line form.
    #[arg(long)]
    pub key: PathBuf,
    /// The policy file that the decision must come from.
    #[arg(long)]
    pub policy: Vec<PathBuf>,
}

/// What a receipt in the Permission Protocol's format is checked with.
#[derive(Debug, Args)]
pub struct ArtifactArguments {
    /// The artifact's JSON file.
    pub file: PathBuf,
    /// The issuer's key set, `keys.json`.
    #[arg(long)]
    pub keys: PathBuf,
    /// The private request's exact text, to open the commitment.
    #[arg(long, requires = "salt")]
    pub request: Option<PathBuf>,
    /// Its salt: 64 hexadecimal digits.
    #[arg(long, requires = "request")]
    pub salt: Option<String>,
    /// A file with the summary that is claimed for the receipt, less one line end.
    #[arg(long, requires = "request")]
    pub summary: Option<PathBuf>,
    /// A JSON file with any of companyId, idemKey and inputHash that are claimed for it.
    #[arg(long, requires = "request")]
    pub binding: Option<PathBuf>,
    /// The policy file that the receipt's policy version must name by its hash.
    #[arg(long)]
    pub policy: Vec<PathBuf>,
}

/// What an attestation is checked with.
#[derive(Debug, Args)]
pub struct AttestationArguments {
    /// The attestation's JSON file.
    pub file: PathBuf,
    /// The receipt it is about.
    #[arg(long)]
    pub receipt: PathBuf,
    /// The issuer's key set, `keys.json`.
    #[arg(long)]
    pub keys: PathBuf,
}

/// What an approval is checked with.
#[derive(Debug, Args)]
pub struct GateArguments {
    /// The approval: a signed approval of a door, or an artifact of the Permission Protocol.
    pub approval: PathBuf,
    /// The key set that came with it: which key is active, replaced or revoked.
    #[arg(long)]
    pub keys: PathBuf,
    /// The keys that this gate trusts, kept with the gate: `keys.json`, or one-line forms.
    #[arg(long)]
    pub trust: PathBuf,
    /// What must have been approved: `SERVER:TOOL`, or a deployment's capability.
    #[arg(long)]
    pub scope: String,
    /// The commit that must have been approved.
    #[arg(long)]
    pub scope_sha: Option<String>,
    /// The exact call: its opening as JSON, or its digest in 64 hexadecimal digits in a file.
    #[arg(long)]
    pub call: Option<PathBuf>,
    /// The moment to judge for, RFC 3339 in UTC with milliseconds; now when it is left out.
    #[arg(long)]
    pub at: Option<String>,
}
