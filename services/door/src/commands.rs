//! The commands, one file each: `Args` and `run(Args) -> anyhow::Result<ExitCode>`.

pub mod configured;
pub mod pin;
