//! Looking again before sleeping.
//!
//! A thread that sleeps is woken through the kernel, which costs more than most of what a door does about a call: on a
//! core that has gone to rest several times as much. A thread that expects the next word within a few dozen microseconds
//! looks for it again and again for that long, giving its core away between two looks, and sleeps when nothing came. It
//! expects one only as long as its last waits were that short, so one that nobody speaks to sleeps at once and uses no
//! processor time, and one whose neighbours are slow never looks at all.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// For how many microseconds a thread looks again before it sleeps where nobody says otherwise: about what two wake-ups
/// take. It is the most processor time that one word can cost for nothing.
pub const LOOK_MICROSECONDS: u32 = 100;

/// The setting of this process.
static LOOK: AtomicU32 = AtomicU32::new(LOOK_MICROSECONDS);

/// For how many microseconds this process's threads look again before they sleep; none with 0.
pub fn set_look_microseconds(time: u32) {
    LOOK.store(time, Ordering::Relaxed);
}

/// For how long a thread looks again before it sleeps.
#[must_use]
pub fn look_time() -> Duration {
    Duration::from_micros(LOOK.load(Ordering::Relaxed).into())
}

/// A wait that was slept through counts as a short one up to here: waking takes its time, too.
const SHORT_WAIT: Duration = Duration::from_micros(200);
/// Somebody else had the core for so long, and it was not for what this thread waits for.
const TAKEN_TIME: Duration = Duration::from_micros(30);
/// Somebody else had the core for so long that a sleeper would have been woken earlier.
const LATE_TIME: Duration = Duration::from_micros(150);
/// From how many short waits on a thread looks again.
const SCORE_MIN: u8 = 8;
/// More of them are not remembered.
const SCORE_MAX: u8 = 32;
/// How many of them one long wait outweighs.
const LONG_WEIGHS: u8 = 4;
/// How many waits a thread sleeps through after others needed its core: so many at first, then twice as many each
/// time, up to the most.
const SLEPT_THROUGH: (u16, u16) = (64, 4096);

/// What a thread expects of its next wait, from those it had.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    score: u8,
    /// How many waits are slept through first.
    sleeps: u16,
    /// How many are the next time that others need the core.
    sleeps_next: u16,
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            score: 0,
            sleeps: 0,
            sleeps_next: SLEPT_THROUGH.0,
        }
    }
}

impl Expectation {
    /// Takes note of a wait.
    pub fn waited(&mut self, time: Duration) {
        self.sleeps = self.sleeps.saturating_sub(1);
        self.score = match time <= SHORT_WAIT {
            true => (self.score + 1).min(SCORE_MAX),
            false => self.score.saturating_sub(LONG_WEIGHS),
        };
    }

    /// Takes note of what came of looking: whether it found something, and how long others had the core meanwhile.
    /// False where sleeping is better for a while.
    pub fn looked(&mut self, found: bool, given_away: Duration) -> bool {
        let is_crowded = given_away > if found { LATE_TIME } else { TAKEN_TIME };
        if is_crowded {
            self.missed();
        } else if found {
            self.sleeps_next = (self.sleeps_next / 2).max(SLEPT_THROUGH.0);
        }
        !is_crowded
    }

    /// Takes note that looking found nothing in its time: whoever is waited for may need this very core. The next waits
    /// are slept through.
    pub fn missed(&mut self) {
        self.sleeps = self.sleeps_next;
        self.sleeps_next = (self.sleeps_next * 2).min(SLEPT_THROUGH.1);
    }

    /// Whether the next wait will likely be short, and the core is free meanwhile.
    #[must_use]
    pub const fn is_short(self) -> bool {
        self.score >= SCORE_MIN && self.sleeps == 0
    }
}

/// Lets others have the core, and says for how long they had it.
#[must_use]
pub fn give_way() -> Duration {
    let since = Instant::now();
    std::thread::yield_now();
    since.elapsed()
}

/// One thread of a process looks at a time: the others' cores are for those who are waited for.
#[derive(Debug)]
pub struct Looking(());

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

impl Looking {
    /// The right to look, where nobody has it, there is another core and the process may look at all.
    #[must_use]
    pub fn take() -> Option<Self> {
        static HAS_ANOTHER_CORE: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
            std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
        });
        (*HAS_ANOTHER_CORE && !look_time().is_zero() && !IS_TAKEN.swap(true, Ordering::Acquire))
            .then_some(Self(()))
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        IS_TAKEN.store(false, Ordering::Release);
    }
}

thread_local! {
    /// How many requests this thread has at work.
    static AT_WORK: Cell<usize> = const { Cell::new(0) };
    static OWN: Rc<Own> = Rc::new(Own {
        last: Cell::new(Instant::now()),
        expectation: Cell::default(),
        is_looking: Cell::new(false),
        wake: Notify::new(),
    });
}

/// What a thread of connections knows of its waits.
struct Own {
    last: Cell<Instant>,
    expectation: Cell<Expectation>,
    is_looking: Cell<bool>,
    wake: Notify,
}

/// How many requests all threads have at work.
static ALL_AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// A request that this thread has at work.
pub(crate) struct AtWork(());

impl AtWork {
    pub(crate) fn begin() -> Self {
        AT_WORK.set(AT_WORK.get() + 1);
        ALL_AT_WORK.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.set(AT_WORK.get().saturating_sub(1));
        ALL_AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether so little is asked that whoever is waited for has a core of its own.
fn is_calm() -> bool {
    ALL_AT_WORK.load(Ordering::Relaxed) <= 1
}

/// Whether this thread has more than one request at work, so that what each needs may be done for all together.
#[must_use]
pub fn has_several() -> bool {
    AT_WORK.get() > 1
}

/// Something came on this thread that was waited for.
pub(crate) fn note() {
    OWN.with(|own| {
        let now = Instant::now();
        let mut expectation = own.expectation.get();
        expectation.waited(now.duration_since(own.last.replace(now)));
        own.expectation.set(expectation);
        if !own.is_looking.get() && expectation.is_short() && is_calm() {
            own.wake.notify_one();
        }
    });
}

/// Keeps this thread's reactor looking as long as that pays. Never ends.
pub(crate) async fn look() {
    let own = OWN.with(Rc::clone);
    loop {
        own.wake.notified().await;
        let Some(_looking) = Looking::take() else {
            continue;
        };
        own.is_looking.set(true);
        while is_calm() && own.last.get().elapsed() < look_time() {
            let before = own.last.get();
            let given_away = give_way();
            // The reactor is asked without waiting before this goes on.
            tokio::task::yield_now().await;
            let mut expectation = own.expectation.get();
            let goes_on = expectation.looked(own.last.get() != before, given_away);
            own.expectation.set(expectation);
            if !goes_on {
                break;
            }
        }
        if own.last.get().elapsed() >= look_time() {
            let mut expectation = own.expectation.get();
            expectation.missed();
            own.expectation.set(expectation);
        }
        own.is_looking.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_waits_make_a_thread_look_again() {
        let short = Duration::from_micros(30);
        let mut expectation = Expectation::default();
        assert!(!expectation.is_short(), "nothing is expected at first");
        for _ in 0..SCORE_MIN {
            assert!(!expectation.is_short());
            expectation.waited(short);
        }
        assert!(expectation.is_short());
        for _ in 0..1000 {
            expectation.waited(short);
        }
        assert!(
            expectation.looked(true, Duration::from_micros(90)),
            "its own server had the core"
        );
        assert!(expectation.is_short());
        let mut long_waits = 0;
        while expectation.is_short() {
            expectation.waited(Duration::from_millis(3));
            long_waits += 1;
        }
        assert!(
            long_waits <= 7,
            "however long it was busy before: {long_waits}"
        );
        // Whoever alternates between the two never looks.
        let mut mixed = Expectation::default();
        for _ in 0..1000 {
            mixed.waited(short);
            mixed.waited(short);
            mixed.waited(Duration::from_millis(3));
            assert!(!mixed.is_short());
        }
    }

    #[test]
    fn on_a_crowded_core_a_thread_sleeps() {
        let mut expectation = Expectation::default();
        let busy = |expectation: &mut Expectation| {
            let mut waits = 0;
            while !expectation.is_short() {
                expectation.waited(Duration::from_micros(30));
                waits += 1;
            }
            waits
        };
        assert_eq!(busy(&mut expectation), u16::from(SCORE_MIN));
        let mut slept = 0;
        for _ in 0..20 {
            assert!(!expectation.looked(false, Duration::from_millis(3)));
            assert!(busy(&mut expectation) >= slept, "each time longer");
            slept = expectation.sleeps_next / 2;
        }
        assert_eq!(expectation.sleeps_next, SLEPT_THROUGH.1);
        for _ in 0..20 {
            assert!(expectation.looked(true, Duration::ZERO));
        }
        assert_eq!(expectation.sleeps_next, SLEPT_THROUGH.0);
    }

    #[test]
    fn whoever_looked_in_vain_sleeps_although_the_wait_was_short() {
        let mut expectation = Expectation::default();
        for _ in 0..SCORE_MAX {
            expectation.waited(Duration::from_micros(30));
        }
        assert!(expectation.is_short());
        expectation.missed();
        for _ in 0..SLEPT_THROUGH.0 {
            assert!(!expectation.is_short());
            expectation.waited(Duration::from_micros(130));
        }
        assert!(expectation.is_short());
    }

    #[test]
    fn one_thread_looks_at_a_time() {
        let first = Looking::take();
        assert!(Looking::take().is_none());
        drop(first);
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            assert!(Looking::take().is_some());
        }
    }

    #[test]
    fn a_thread_that_is_not_spoken_to_sleeps() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let slept = runtime.block_on(async {
            for _ in 0..100 {
                note();
            }
            let looking = OWN.with(|own| own.expectation.get().is_short());
            assert!(looking);
            // Whoever looks lets go by itself.
            let mut look = std::pin::pin!(look());
            tokio::select! {
                () = look.as_mut() => {}
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
            !OWN.with(|own| own.is_looking.get())
        });
        assert!(slept);
    }
}
