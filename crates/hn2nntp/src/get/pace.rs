//! The rate of requests, over all connections together.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Delays requests so that they are evenly spaced.
pub(crate) struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    /// Returns a pace of so many requests per second; 0 means no limit.
    pub(crate) fn new(per_second: f64) -> Self {
        let interval =
            if per_second > 0.0 { Duration::from_secs_f64(1.0 / per_second) } else { Duration::ZERO };
        Self { interval, next: Mutex::new(Instant::now()) }
    }

    /// Waits until the next request may be sent.
    pub(crate) async fn wait(&self) {
        let turn = {
            let mut next = self.next.lock().await;
            let turn = (*next).max(Instant::now());
            *next = turn + self.interval;
            turn
        };
        sleep_until(turn).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn requests_are_evenly_spaced() {
        let pace = Pace::new(100.0);
        let begin = Instant::now();
        for _ in 0..11 {
            pace.wait().await;
        }
        assert!(begin.elapsed() >= Duration::from_millis(100));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_pause_earns_no_burst() {
        let pace = Pace::new(100.0);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let begin = Instant::now();
        pace.wait().await;
        pace.wait().await;
        assert!(begin.elapsed() >= Duration::from_millis(10));
    }
}
