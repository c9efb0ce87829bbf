//! Numbers, dates and bytes as digits: `write!` costs more than all the rest of a listing.

use engine::cert::Timestamp;

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";
const SECONDS_PER_DAY: u32 = 86_400;

/// Appends bytes as upper-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    for (digits, &byte) in out[start..].chunks_exact_mut(2).zip(bytes) {
        digits.copy_from_slice(&pair(UPPER, byte));
    }
}

/// Returns bytes as upper-case hexadecimal digits.
pub(crate) fn hex_text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    hex(bytes, &mut out);
    String::from_utf8(out).expect("digits are ASCII")
}

/// Appends one byte as two lower-case hexadecimal digits.
pub(super) fn lower_hex(byte: u8, out: &mut Vec<u8>) {
    out.extend(pair(LOWER, byte));
}

/// Appends a decimal number.
pub(super) fn decimal(number: u32, out: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends seconds since 1970; nothing for a time that is not given.
pub(super) fn seconds(time: Option<Timestamp>, out: &mut Vec<u8>) {
    if let Some(time) = time.filter(|time| time.0 != 0) {
        decimal(time.0, out);
    }
}

/// Appends a day as `2026-01-31`, UTC.
pub(crate) fn date(time: Timestamp, out: &mut Vec<u8>) {
    let (year, month, day) = civil(time.0 / SECONDS_PER_DAY);
    let digit = |number: u32| b'0' + (number % 10) as u8;
    out.extend_from_slice(&[
        digit(year / 1000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        b'-',
        digit(month / 10),
        digit(month),
        b'-',
        digit(day / 10),
        digit(day),
    ]);
}

/// Appends a time of day as `23:59:59`, UTC.
pub(super) fn time_of_day(time: Timestamp, out: &mut Vec<u8>) {
    let seconds = time.0 % SECONDS_PER_DAY;
    for (index, number) in [seconds / 3600, seconds / 60 % 60, seconds % 60].into_iter().enumerate() {
        out.extend((index > 0).then_some(b':'));
        out.extend([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
    }
}

/// Appends a day, or gpg's word for none, as wide as a day.
pub(super) fn date_or_never(time: Option<Timestamp>, out: &mut Vec<u8>) {
    match time {
        Some(time) => date(time, out),
        None => out.extend(b"never     "),
    }
}

fn pair(digits: &[u8; 16], byte: u8) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

/// Turns days since 1970 into year, month and day: years that begin in March put the leap day last.
fn civil(days: u32) -> (u32, u32, u32) {
    const DAYS_TO_1970: u32 = 719_468;
    const DAYS_PER_ERA: u32 = 146_097;
    let days = days + DAYS_TO_1970;
    let of_era = days % DAYS_PER_ERA;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (DAYS_PER_ERA - 1)) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + days / DAYS_PER_ERA * 400 + u32::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(print: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        print(&mut out);
        String::from_utf8(out).expect("digits are ASCII")
    }

    #[test]
    fn every_day_has_the_date_of_the_calendar() {
        let mut day = time::Date::from_ordinal_date(1970, 1).expect("a day");
        for number in 0..=u32::MAX / SECONDS_PER_DAY {
            let expected = (day.year() as u32, u32::from(u8::from(day.month())), u32::from(day.day()));
            assert_eq!(civil(number), expected);
            day = day.next_day().expect("the calendar goes on");
        }
    }

    #[test]
    fn a_date_is_that_of_greenwich() {
        assert_eq!(printed(|out| date(Timestamp(86_399), out)), "1970-01-01");
        assert_eq!(printed(|out| date(Timestamp(u32::MAX), out)), "2106-02-07");
    }

    #[test]
    fn numbers_have_no_leading_zeros() {
        assert_eq!(printed(|out| decimal(0, out)), "0");
        assert_eq!(printed(|out| decimal(u32::MAX, out)), "4294967295");
        assert_eq!(printed(|out| hex(&[0, 0xab], out)), "00AB");
    }
}
