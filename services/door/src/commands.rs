//! The commands, one file each: `Args` and `run(Args) -> anyhow::Result<ExitCode>`.

mod ask;
pub mod completion;
pub mod configured;
pub mod decide;
mod definitions;
pub mod explain;
pub mod export;
pub mod forward;
pub mod init;
mod judgement;
pub mod keys;
pub mod lint;
pub mod pin;
pub mod place;
mod policy_file;
pub mod run;
pub mod serve;
pub mod witness;
