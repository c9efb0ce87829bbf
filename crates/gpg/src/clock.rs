//! `--faked-system-time`.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::cert::Timestamp;
use time::{Date, Month, OffsetDateTime};

use crate::number;
use crate::render::digits;

/// Reads a faked time: ISO time (`20260101T000000`) or seconds since 1970, with or without a `!` at the end. The `!`,
/// which stops the clock in gpg, makes no difference: the clock is read once.
///
/// `None` for 0 and for anything else: gpg then keeps the real time.
pub(crate) fn faked_time(text: &[u8]) -> Option<Timestamp> {
    let text = text.strip_suffix(b"!").unwrap_or(text);
    let seconds = iso(text).or_else(|| number::decimal(text))?;
    u32::try_from(seconds).ok().filter(|&seconds| seconds != 0).map(Timestamp)
}

/// Reads a time of the form `YYYYMMDDThhmmss`, not before 1970.
pub(crate) fn iso_time(text: &[u8]) -> Option<Timestamp> {
    iso(text).and_then(|seconds| u32::try_from(seconds).ok()).map(Timestamp)
}

/// Reads the system's clock.
pub(crate) fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u32::try_from(since.as_secs()).unwrap_or(u32::MAX))
}

/// Writes a time as gpg's messages do: `2026-01-01 00:00:00`.
pub(crate) fn log_string(time: Timestamp) -> String {
    let rest = time.0 % 86_400;
    format!("{} {:02}:{:02}:{:02}", day_string(time), rest / 3600, rest / 60 % 60, rest % 60)
}

/// Writes a time as the agent reads it: `20260101T000000`.
pub(crate) fn agent_string(time: Timestamp) -> String {
    log_string(time).replace(' ', "T").replace(['-', ':'], "")
}

/// Writes a time as C does: `Thu Jan  1 00:00:00 2026 UTC`.
pub(crate) fn long_string(time: Timestamp) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = log_string(time);
    let number = |range: std::ops::Range<usize>| text[range].parse::<usize>().unwrap_or_default();
    let day = DAYS[(time.0 / 86_400 % 7) as usize];
    let month = MONTHS[(number(5..7) + 11) % 12];
    format!("{day} {month} {:2} {} {} UTC", number(8..10), &text[11..], &text[..4])
}

/// Writes a day: `2026-01-01`.
pub(crate) fn day_string(time: Timestamp) -> String {
    let mut day = Vec::with_capacity(10);
    digits::date(time, &mut day);
    String::from_utf8_lossy(&day).into_owned()
}

/// Reads `YYYYMMDDThhmmss`; after it only the end, white space, a colon or a comma may follow.
fn iso(text: &[u8]) -> Option<i64> {
    let stamp = text.get(..15)?;
    let digits = |range: std::ops::Range<usize>| -> Option<i64> {
        stamp[range]
            .iter()
            .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
    };
    let ends = text.get(15).is_none_or(|&byte| byte.is_ascii_whitespace() || byte == b':' || byte == b',');
    if stamp[8] != b'T' || !ends {
        return None;
    }
    let (year, month, day) = (digits(0..4)?, digits(4..6)?, digits(6..8)?);
    let (hour, minute, second) = (digits(9..11)?, digits(11..13)?, digits(13..15)?);
    let valid = year >= 1900 && (1..=31).contains(&day) && hour <= 23 && minute <= 59 && second <= 61;
    let days = days(year, month, day).filter(|_| valid)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar; a day after the month's end counts on.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let first = Date::from_calendar_date(year.try_into().ok()?, month, 1).ok()?;
    let epoch = OffsetDateTime::UNIX_EPOCH.date();
    Some(i64::from(first.to_julian_day() - epoch.to_julian_day()) + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_time_and_seconds_name_the_same_moment() {
        assert_eq!(faked_time(b"20260101T000000!"), Some(Timestamp(1_767_225_600)));
        assert_eq!(faked_time(b"1767225600"), Some(Timestamp(1_767_225_600)));
        assert_eq!(faked_time(b"20240229T235959"), Some(Timestamp(1_709_251_199)));
    }

    #[test]
    fn nonsense_leaves_the_real_time() {
        assert_eq!(faked_time(b"yesterday"), None);
        assert_eq!(faked_time(b"0"), None);
        assert_eq!(faked_time(b""), None);
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for seconds in [1, 951_782_400, 1_709_251_199, 1_767_225_600, u32::MAX] {
            assert_eq!(iso(agent_string(Timestamp(seconds)).as_bytes()), Some(i64::from(seconds)));
        }
        assert_eq!(log_string(Timestamp(1_709_251_199)), "2024-02-29 23:59:59");
    }
}
