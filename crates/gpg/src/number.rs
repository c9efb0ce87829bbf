//! Numbers as C's `strtol` reads them: white space, a sign, as many digits as there are, and the rest ignored. A number
//! that is too large is `None`.

/// Reads a decimal number; text without digits is 0.
pub(crate) fn decimal(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    signed(negative, magnitude(digits, 10)?)
}

/// Reads a decimal, octal (`0...`) or hexadecimal (`0x...`) number; text without digits is 0.
pub(crate) fn prefixed(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    let (digits, base) = base(digits);
    signed(negative, magnitude(digits, base)?)
}

/// Reads what [`prefixed`] reads, without a minus sign.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    let (negative, digits) = sign(text);
    if negative {
        return None;
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

fn magnitude(digits: &[u8], base: u32) -> Option<u64> {
    let mut value = 0u64;
    for digit in digits.iter().map_while(|&byte| char::from(byte).to_digit(base)) {
        value = value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

fn signed(negative: bool, magnitude: u64) -> Option<i64> {
    let value = i128::from(magnitude);
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_count_and_the_rest_is_ignored() {
        assert_eq!(decimal(b"  -12abc"), Some(-12));
        assert_eq!(decimal(b"0x10"), Some(0));
        assert_eq!(decimal(b"x"), Some(0));
        assert_eq!(decimal(b"9223372036854775808"), None);
        assert_eq!(decimal(b"-9223372036854775808"), Some(i64::MIN));
    }

    #[test]
    fn a_prefix_chooses_the_base() {
        assert_eq!(prefixed(b"0x1F"), Some(31));
        assert_eq!(prefixed(b"017"), Some(15));
        assert_eq!(prefixed(b"0xg"), Some(0));
        assert_eq!(unsigned(b" 0x10"), Some(16));
        assert_eq!(unsigned(b"-1"), None);
    }
}
