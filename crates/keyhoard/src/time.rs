//! Times: OpenPGP's seconds, and the standard library's times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::cert::Timestamp;

/// Returns a time as OpenPGP has it, in whole seconds between 1970 and 2106.
pub(crate) fn to_timestamp(time: SystemTime) -> Timestamp {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Timestamp(u32::try_from(seconds).unwrap_or(u32::MAX))
}

/// Returns a time of OpenPGP's.
pub(crate) fn from_timestamp(Timestamp(seconds): Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.into())
}
