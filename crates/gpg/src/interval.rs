//! Reads validity periods and creation times of keys and signatures, as gpg's options and parameter files give them.

use engine::cert::Timestamp;

use crate::clock;
use crate::number;

const DAY: u32 = 86_400;

/// Reads a validity period in seconds, counted from `now`; 0 for ever.
///
/// A number of days, weeks, months or years (`2y`), a day (`2027-01-31`, its noon), a time (`20270131T120000`),
/// `seconds=N`, or one of `0`, `none`, `never`, `-` for ever. `None` for anything else.
pub(crate) fn validity(text: &[u8], now: Timestamp) -> Option<u32> {
    if matches!(text, b"" | b"none" | b"never" | b"-") {
        return Some(0);
    }
    if let Some(seconds) = text.strip_prefix(b"seconds=") {
        return Some(wrapped(seconds));
    }
    if let Some(noon) = day(text).map(|day| day.wrapping_add(DAY / 2)).filter(|&noon| noon > now.0) {
        return Some(noon - now.0);
    }
    if let Some(time) = clock::iso_time(text) {
        return Some(time.0.wrapping_sub(now.0));
    }
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let days = match (count, &text[count..]) {
        (1.., b"" | b"d" | b"D") => 1,
        (1.., b"w" | b"W") => 7,
        (1.., b"m" | b"M") => 30,
        (1.., b"y" | b"Y") => 365,
        _ => return None,
    };
    // All ones says that nothing could be read.
    Some(wrapped(&text[..count]).wrapping_mul(DAY).wrapping_mul(days)).filter(|&seconds| seconds != u32::MAX)
}

/// Reads the creation time of a key: a day, a time, or `seconds=N` after 1970. `None` for anything else.
pub(crate) fn creation(text: &[u8]) -> Option<Timestamp> {
    let seconds = match text.strip_prefix(b"seconds=") {
        Some(seconds) => wrapped(seconds),
        None => day(text).or_else(|| clock::iso_time(text).map(|time| time.0))?,
    };
    Some(Timestamp(seconds)).filter(|time| time.0 != 0)
}

/// Reads a day, `YYYY-MM-DD`, and returns when it begins.
fn day(text: &[u8]) -> Option<u32> {
    let [y @ .., b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year: &[u8; 4] = y.try_into().ok()?;
    let time = [year.as_slice(), &[*m1, *m2, *d1, *d2], b"T000000"].concat();
    clock::iso_time(&time).map(|time| time.0).filter(|&begin| begin != 0)
}

/// Reads a number as C's `atoi` does, as far as 32 bits hold it.
fn wrapped(text: &[u8]) -> u32 {
    // Larger numbers become the largest one.
    number::decimal(text).map_or(u32::MAX, |value| value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600);

    #[test]
    fn a_number_counts_days_weeks_months_or_years() {
        assert_eq!(validity(b"3", NOW), Some(3 * DAY));
        assert_eq!(validity(b"3d", NOW), Some(3 * DAY));
        assert_eq!(validity(b"2W", NOW), Some(14 * DAY));
        assert_eq!(validity(b"6m", NOW), Some(180 * DAY));
        assert_eq!(validity(b"2y", NOW), Some(730 * DAY));
        assert_eq!(validity(b"2yy", NOW), None);
        assert_eq!(validity(b"y", NOW), None);
    }

    #[test]
    fn a_day_ends_at_its_noon_and_a_time_when_it_says() {
        assert_eq!(validity(b"2026-01-02", NOW), Some(DAY + DAY / 2));
        assert_eq!(validity(b"20260102T000001", NOW), Some(DAY + 1));
        assert_eq!(validity(b"seconds=77", NOW), Some(77));
    }

    #[test]
    fn a_day_in_the_past_is_no_expiry() {
        assert_eq!(validity(b"2020-01-01", NOW), None);
    }

    #[test]
    fn something_may_be_valid_for_ever() {
        for text in [&b"0"[..], b"none", b"never", b"-", b""] {
            assert_eq!(validity(text, NOW), Some(0));
        }
    }

    #[test]
    fn a_key_is_created_on_a_day_or_at_a_time() {
        assert_eq!(creation(b"2026-01-01"), Some(NOW));
        assert_eq!(creation(b"20260101T000000"), Some(NOW));
        assert_eq!(creation(b"seconds=1767225600"), Some(NOW));
        assert_eq!(creation(b"seconds=0"), None);
        assert_eq!(creation(b"soon"), None);
        assert_eq!(creation(b""), None);
    }
}
