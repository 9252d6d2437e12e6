//! How far a run is, on standard error.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Characters of the bar.
const WIDTH: usize = 30;

/// A bar that moves with each case.
#[derive(Debug)]
pub struct Progress {
    name: &'static str,
    all: usize,
    done: AtomicUsize,
    failed: AtomicUsize,
}

impl Progress {
    /// A bar for `all` steps.
    #[must_use]
    pub fn of(name: &'static str, all: usize) -> Self {
        Self {
            name,
            all,
            done: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        }
    }

    /// One step more.
    pub fn step(&self, passed: bool) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !passed {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        let failed = self.failed.load(Ordering::Relaxed);
        let mut out = std::io::stderr().lock();
        if out.is_terminal() {
            let filled = done * WIDTH / self.all.max(1);
            let bar: String = (0..WIDTH)
                .map(|place| if place < filled { '█' } else { '·' })
                .collect();
            let _ = write!(
                out,
                "\r{} {bar} {done}/{} · {failed} failed ",
                self.name, self.all
            );
        } else if done.is_multiple_of(50) || done == self.all {
            let _ = writeln!(
                out,
                "{}: {done} of {}, {failed} failed",
                self.name, self.all
            );
        }
    }

    /// Leaves the line.
    pub fn end(&self) {
        let mut out = std::io::stderr().lock();
        if out.is_terminal() {
            let _ = writeln!(out);
        }
    }
}
