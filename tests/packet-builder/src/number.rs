//! Numbers as OpenPGP writes them.

/// Returns a multiprecision integer (RFC 9580, 3.2): two bytes with the length in bits, then the number without leading
/// zeros.
pub fn mpi(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    let number = &number[zeros..];
    let bits = number.first().map_or(0, |&first| number.len() * 8 - first.leading_zeros() as usize);
    [&(bits as u16).to_be_bytes()[..], number].concat()
}

#[cfg(test)]
mod tests {
    use super::mpi;

    #[test]
    fn leading_zeros_are_not_written() {
        assert_eq!(mpi(&[0, 0, 1, 0xFF]), [0, 9, 1, 0xFF]);
        assert_eq!(mpi(&[0, 0]), [0, 0]);
    }
}
