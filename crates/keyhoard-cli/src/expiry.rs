//! Expiration times as arguments.

use std::str::FromStr;

use engine::cert::Timestamp;
use engine::keygen::profile_file::seconds;
use engine::store::query::Name;
use engine::store::{Fingerprint, Query};

use crate::timestamp;

/// When something expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never,
    /// A number of seconds from now.
    In(u32),
    /// At this time.
    At(Timestamp),
}

impl Expiry {
    /// Returns the time of expiry; `None` means never.
    pub(crate) fn after(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::In(seconds) => Some(Timestamp(now.0.saturating_add(seconds))),
            Self::At(time) => Some(time),
        }
    }
}

impl FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || "expected something like 18m, 2y, 2030-01-01 or never".to_owned();
        if text == "never" {
            return Ok(Self::Never);
        }
        if let Some(day) = timestamp::parse_day(text) {
            let seconds = u32::try_from(day.unix_timestamp());
            return seconds.map(|seconds| Self::At(Timestamp(seconds))).map_err(|_| unknown());
        }
        seconds(text).map(|seconds| Self::In(seconds.get())).ok_or_else(unknown)
    }
}

/// Reads a fingerprint.
pub(crate) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    match Name::parse(text.as_bytes()).map(|name| name.query) {
        Ok(Query::Fingerprint(fingerprint)) => Ok(fingerprint),
        _ => Err("expected a fingerprint".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u32 = 86400;

    #[test]
    fn an_end_is_a_span_a_day_or_never() {
        assert_eq!("2y".parse(), Ok(Expiry::In(2 * 365 * DAY)));
        assert_eq!("18m".parse(), Ok(Expiry::In(18 * 30 * DAY)));
        assert_eq!("3w".parse(), Ok(Expiry::In(21 * DAY)));
        assert_eq!("2026-01-01".parse(), Ok(Expiry::At(Timestamp(1_767_225_600))));
        assert_eq!("never".parse(), Ok(Expiry::Never));
        for text in ["", "0d", "2", "y", "99999y", "2026-13-01", "2300-01-01", "ä"] {
            assert!(text.parse::<Expiry>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_begins_now() {
        assert_eq!(Expiry::In(5).after(Timestamp(10)), Some(Timestamp(15)));
        assert_eq!(Expiry::Never.after(Timestamp(10)), None);
    }
}
