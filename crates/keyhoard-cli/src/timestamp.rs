//! Parsing and formatting of timestamps, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::cert::Timestamp;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

const MINUTE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]");
const SECOND: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
pub(crate) const COMPACT: &[BorrowedFormatItem<'_>] =
    format_description!("[year][month][day]T[hour][minute][second]");

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Timestamp(u32::try_from(seconds).unwrap_or(u32::MAX))
}

/// Formats the day, like 2014-05-21.
pub(crate) fn day(timestamp: Timestamp) -> String {
    // Faster than `time`: a listing with signatures formats tens of thousands of days.
    match OffsetDateTime::from_unix_timestamp(i64::from(timestamp.0)) {
        Ok(time) => {
            let [month, day] = [u8::from(time.month()), time.day()].map(digits);
            let [century, year] = [time.year() / 100, time.year() % 100].map(|pair| digits(pair as u8));
            let text =
                [century[0], century[1], year[0], year[1], b'-', month[0], month[1], b'-', day[0], day[1]];
            text.map(char::from).iter().collect()
        }
        Err(_) => timestamp.0.to_string(),
    }
}

/// Formats day and minute, like 2014-05-21 21:41.
pub(crate) fn minute(timestamp: Timestamp) -> String {
    formatted(timestamp, MINUTE)
}

/// Formats a time by RFC 3339.
pub(crate) fn rfc3339(timestamp: Timestamp) -> String {
    formatted(timestamp, SECOND)
}

/// Parses the argument of GnuPG's `--faked-system-time`: seconds since 1970 or `20260101T000000`, and perhaps `!`
/// (which stops GnuPG's clock).
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    let text = text.trim_end_matches('!');
    let seconds = match PrimitiveDateTime::parse(text, COMPACT) {
        Ok(time) => u32::try_from(time.assume_utc().unix_timestamp()).ok(),
        Err(_) => text.parse().ok(),
    };
    seconds
        .map(Timestamp)
        .ok_or_else(|| "expected seconds since 1970 or a time like 20260101T000000".to_owned())
}

/// Parses a day of ISO 8601 and returns its beginning.
pub(crate) fn parse_day(text: &str) -> Option<OffsetDateTime> {
    const DAY: [&[BorrowedFormatItem<'_>]; 2] =
        [format_description!("[year]-[month]-[day]"), format_description!("[year][month][day]")];
    let day = DAY.iter().find_map(|format| Date::parse(text, format).ok())?;
    Some(day.with_time(Time::MIDNIGHT).assume_utc())
}

/// Returns the two digits of a number below 100.
fn digits(number: u8) -> [u8; 2] {
    [b'0' + number / 10 % 10, b'0' + number % 10]
}

fn formatted(timestamp: Timestamp, format: &[BorrowedFormatItem<'_>]) -> String {
    OffsetDateTime::from_unix_timestamp(i64::from(timestamp.0))
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_else(|| timestamp.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(day(Timestamp(1_400_708_501)), "2014-05-21");
        assert_eq!(day(Timestamp(0)), "1970-01-01");
        assert_eq!(day(Timestamp(u32::MAX)), "2106-02-07");
        assert_eq!(minute(Timestamp(1_400_708_501)), "2014-05-21 21:41");
        assert_eq!(rfc3339(Timestamp(u32::MAX)), "2106-02-07T06:28:15Z");
    }

    #[test]
    fn a_faked_time_is_read_in_both_of_gnupgs_forms() {
        assert_eq!(parse("20260101T000000!"), Ok(Timestamp(1_767_225_600)));
        assert_eq!(parse("20260101T000000"), Ok(Timestamp(1_767_225_600)));
        assert_eq!(parse("1767225600"), Ok(Timestamp(1_767_225_600)));
        assert!(parse("yesterday").is_err());
        assert!(parse("22000101T000000").is_err());
    }
}
