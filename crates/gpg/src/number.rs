//! Numbers as C's `strtol` reads them: white space, a sign, as many digits as there are, and the rest ignored.

/// A number that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

/// Reads a decimal number; text without digits is 0.
pub(crate) fn decimal(text: &[u8]) -> std::result::Result<i64, OutOfRange> {
    let (negative, digits) = sign(text);
    signed(negative, magnitude(digits, 10)?)
}

/// Reads a decimal, octal (`0...`) or hexadecimal (`0x...`) number; text without digits is 0.
pub(crate) fn prefixed(text: &[u8]) -> std::result::Result<i64, OutOfRange> {
    let (negative, digits) = sign(text);
    let (digits, base) = base(digits);
    signed(negative, magnitude(digits, base)?)
}

/// Reads what [`prefixed`] reads, without a minus sign.
pub(crate) fn unsigned(text: &[u8]) -> std::result::Result<u64, OutOfRange> {
    let (negative, digits) = sign(text);
    if negative {
        return Err(OutOfRange);
    }
    let (digits, base) = base(digits);
    magnitude(digits, base)
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    let text = text.trim_ascii_start();
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

fn base(digits: &[u8]) -> (&[u8], u32) {
    match digits {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => (rest, 16),
        [b'0', ..] => (digits, 8),
        _ => (digits, 10),
    }
}

fn magnitude(digits: &[u8], base: u32) -> std::result::Result<u64, OutOfRange> {
    let mut value = 0u64;
    for digit in digits.iter().map_while(|&byte| char::from(byte).to_digit(base)) {
        value = value
            .checked_mul(u64::from(base))
            .and_then(|value| value.checked_add(u64::from(digit)))
            .ok_or(OutOfRange)?;
    }
    Ok(value)
}

fn signed(negative: bool, magnitude: u64) -> std::result::Result<i64, OutOfRange> {
    let value = i128::from(magnitude);
    i64::try_from(if negative { -value } else { value }).map_err(|_| OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_count_and_the_rest_is_ignored() {
        assert_eq!(decimal(b"  -12abc"), Ok(-12));
        assert_eq!(decimal(b"0x10"), Ok(0));
        assert_eq!(decimal(b"x"), Ok(0));
        assert_eq!(decimal(b"9223372036854775808"), Err(OutOfRange));
        assert_eq!(decimal(b"-9223372036854775808"), Ok(i64::MIN));
    }

    #[test]
    fn a_prefix_chooses_the_base() {
        assert_eq!(prefixed(b"0x1F"), Ok(31));
        assert_eq!(prefixed(b"017"), Ok(15));
        assert_eq!(prefixed(b"0xg"), Ok(0));
        assert_eq!(unsigned(b" 0x10"), Ok(16));
        assert_eq!(unsigned(b"-1"), Err(OutOfRange));
    }
}
