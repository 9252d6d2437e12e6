//! The chat origin as a process, over a real database, with a fake agent where the real one would not misbehave.

mod bank;
mod endings;
mod fake_agent;
mod leaks;
mod messages;
mod page;
mod sessions;
