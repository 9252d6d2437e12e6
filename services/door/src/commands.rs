//! The commands, one file each: `Args` and `run(Args) -> anyhow::Result<ExitCode>`.

pub mod configured;
pub mod export;
pub mod keys;
pub mod pin;
pub mod place;
pub mod run;
pub mod witness;
