//! Times of ISO 8601, `now`, and `-` for no limit.

use std::str::FromStr;

use engine::cert::Timestamp;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::timestamp;

const LOCAL: [&[BorrowedFormatItem<'_>]; 3] = [
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]"),
    format_description!("[year][month][day]T[hour][minute][second]Z"),
    timestamp::COMPACT,
];

/// A time argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Date {
    /// The current time.
    Now,
    /// No limit.
    Unbounded,
    /// This second.
    At(Timestamp),
    /// The day that begins at this second.
    Day(Timestamp),
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let local = |format: &&[BorrowedFormatItem<'_>]| {
            PrimitiveDateTime::parse(text, format).ok().map(PrimitiveDateTime::assume_utc)
        };
        let time = OffsetDateTime::parse(text, &Rfc3339).ok().or_else(|| LOCAL.iter().find_map(local));
        match (text, time, timestamp::parse_day(text)) {
            ("now", ..) => Ok(Self::Now),
            ("-", ..) => Ok(Self::Unbounded),
            (_, Some(time), _) => Ok(Self::At(nearest(time))),
            (_, _, Some(day)) => Ok(Self::Day(nearest(day))),
            _ => Err("expected a time like 2026-01-31T13:25:35Z, a day, `now` or `-`".to_owned()),
        }
    }
}

/// Returns the nearest time that a timestamp can hold.
fn nearest(time: OffsetDateTime) -> Timestamp {
    Timestamp(time.unix_timestamp().clamp(0, u32::MAX.into()) as u32)
}

impl Date {
    /// Returns the first second; `None` for no limit.
    pub(super) fn first(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Now => Some(now),
            Self::Unbounded => None,
            Self::At(time) | Self::Day(time) => Some(time),
        }
    }

    /// Returns the last second; `None` for no limit.
    pub(super) fn last(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Day(begin) => Some(Timestamp(begin.0.saturating_add(86399))),
            other => other.first(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000);

    #[test]
    fn times_are_read_as_iso_8601_has_them() {
        for text in
            ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00", "20260101T000000Z"]
        {
            let date: Date = text.parse().expect(text);
            assert_eq!(date.last(NOW), Some(Timestamp(1_767_225_600)), "{text}");
        }
        assert_eq!("now".parse::<Date>().expect("now").first(NOW), Some(NOW));
        assert_eq!("-".parse::<Date>().expect("none").first(NOW), None);
        assert!("yesterday".parse::<Date>().is_err());
    }

    #[test]
    fn a_day_has_a_first_and_a_last_second() {
        let day: Date = "2026-01-01".parse().expect("a day");
        assert_eq!(day.first(NOW), Some(Timestamp(1_767_225_600)));
        assert_eq!(day.last(NOW), Some(Timestamp(1_767_225_600 + 86399)));
    }
}
