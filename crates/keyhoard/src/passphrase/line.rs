//! The line that a passphrase is read from.

use std::io::{self, Read};

use secret::Passphrase;
use zeroize::Zeroizing;

/// The most bytes of a passphrase.
pub(super) const MAX_BYTES: usize = 4096;

/// Reads a line byte by byte, so that what follows is left to others.
pub(super) fn first_line(input: &mut impl Read) -> io::Result<Passphrase> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
    let mut byte = Zeroizing::new([0]);
    while line.len() < MAX_BYTES && input.read(&mut *byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    Ok(Passphrase::new(&line))
}
