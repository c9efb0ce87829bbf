//! Retrying operations that failed because of another program's lock or a lost connection.

use std::time::{Duration, Instant};

/// How long a transaction is tried again before its error is believed.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// Repeats what [failed for the moment](crate::Error::is_transient), with longer and longer pauses.
///
/// `attempt` must begin a transaction of its own each time, so that a failed one has left nothing behind.
pub fn retry_transient<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    is_transient: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let began = Instant::now();
    let mut pause = Backoff::of_a_server();
    loop {
        match attempt() {
            Err(error) if is_transient(&error) && began.elapsed() < RETRY_TIMEOUT => pause.sleep(),
            done => return done,
        }
    }
}

/// Uneven intervals that become longer and longer.
pub(crate) struct Backoff {
    state: u64,
    /// Microseconds of the next one at most.
    next: u64,
    /// Microseconds of any one at most.
    most: u64,
}

impl Backoff {
    /// Waits for a server.
    pub(crate) fn of_a_server() -> Self {
        Self::from_to(5_000, 500_000)
    }

    /// Waits for another process on the same machine.
    pub(crate) fn of_a_machine() -> Self {
        Self::from_to(500, 8_000)
    }

    fn from_to(next: u64, most: u64) -> Self {
        // Two processes must not keep step; nothing else depends on this number.
        let mut random = [0; 8];
        let state = match getrandom::fill(&mut random) {
            Ok(()) => u64::from_ne_bytes(random) | 1,
            Err(_) => u64::from(std::process::id()) << 16 | 1,
        };
        Self { state, next, most }
    }

    pub(crate) fn sleep(&mut self) {
        self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        std::thread::sleep(Duration::from_micros(self.next / 2 + (self.state >> 33) % (self.next / 2)));
        self.next = (self.next * 3 / 2).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_become_longer_up_to_the_longest() {
        let mut pause = Backoff::from_to(2, 5);
        let longest: Vec<u64> = std::iter::repeat_with(|| {
            pause.sleep();
            pause.next
        })
        .take(4)
        .collect();
        assert_eq!(longest, [3, 4, 5, 5]);
    }

    #[test]
    fn only_what_failed_for_the_moment_is_done_again() {
        let mut attempts = 0;
        let done = retry_transient(
            || {
                attempts += 1;
                if attempts < 3 { Err("later") } else { Ok(attempts) }
            },
            |error| *error == "later",
        );
        assert_eq!(done, Ok(3));
        let refused: Result<(), &str> = retry_transient(|| Err("never"), |error| *error == "later");
        assert_eq!(refused, Err("never"));
    }
}
