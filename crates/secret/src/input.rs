//! Reads input that contains secrets.

use std::io::{self, Read};

use zeroize::Zeroizing;

/// Reads to the end, without leaving copies in memory.
///
/// # Errors
///
/// Those of the input.
pub fn read_all(input: &mut impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    const FIRST: usize = 4096;
    let mut bytes = Zeroizing::new(vec![0; FIRST]);
    let mut length = 0;
    loop {
        if length == bytes.len() {
            let mut longer = Zeroizing::new(vec![0; 2 * length]);
            longer[..length].copy_from_slice(&bytes);
            bytes = longer;
        }
        match input.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_read_however_long_it_is() {
        for length in [0, 1, 4095, 4096, 4097, 100_000] {
            let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            assert_eq!(*read_all(&mut &bytes[..]).expect("bytes"), bytes);
        }
    }
}
