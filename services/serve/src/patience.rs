//! A time-out that is begun anew many times and hardly ever runs out.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// How long something may still take.
///
/// Beginning anew only writes a time down. The reactor's timer runs on and is looked at when it fires, so that
/// a call sets no timer of its own.
#[derive(Debug)]
pub struct Patience {
    until: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// From now on.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            sleep: None,
        }
    }

    /// Begins anew.
    pub fn renew(&mut self, time: Duration) {
        let until = Instant::now() + time;
        if until < self.until {
            // The timer would fire too late.
            self.sleep = None;
        }
        self.until = until;
    }

    /// Ready once the time has run out.
    pub fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        while sleep.as_mut().poll(context).is_ready() {
            if sleep.deadline() >= until {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(until);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_ends_when_the_last_time_given_ran_out() {
        let began = Instant::now();
        let mut patience = Patience::new(Duration::from_millis(20));
        let renew = |patience: &mut Patience, time| {
            patience.renew(Duration::from_millis(time));
        };
        assert!(
            std::future::poll_fn(|context| Poll::Ready(patience.poll_end(context)))
                .await
                .is_pending()
        );
        renew(&mut patience, 60);
        std::future::poll_fn(|context| patience.poll_end(context)).await;
        assert!(began.elapsed() >= Duration::from_millis(60));
        renew(&mut patience, 10_000);
        assert!(
            std::future::poll_fn(|context| Poll::Ready(patience.poll_end(context)))
                .await
                .is_pending()
        );
        // A shorter time counts at once.
        renew(&mut patience, 10);
        let ended = std::future::poll_fn(|context| patience.poll_end(context));
        assert!(
            tokio::time::timeout(Duration::from_secs(5), ended)
                .await
                .is_ok()
        );
    }
}
