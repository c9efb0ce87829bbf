//! Messages as mail brings them.

use std::io::{self, BufReader, Cursor, Read};

use cert::mail_armor::{MAX_MAIL, mended};
use zeroize::Zeroizing;

/// A message whose armor is [mended] if its first line does not begin a block, or a block is not as it should be; long ones
/// are read as they are.
pub(super) struct Mail<'a> {
    inner: Box<dyn Read + Send + 'a>,
}

impl<'a> Mail<'a> {
    /// Reads the beginning of a message.
    ///
    /// # Errors
    ///
    /// Those of the input.
    pub(super) fn read(message: &'a mut (dyn Read + Send)) -> io::Result<Self> {
        let mut message = BufReader::new(message);
        let mut first = [0];
        let read = message.read(&mut first)?;
        let beginning = Cursor::new(first).take(read as u64);
        // Packets begin with the high bit, text does not.
        if first[0] & 0x80 != 0 || read == 0 {
            return Ok(Self { inner: Box::new(beginning.chain(message)) });
        }
        let mut text = Zeroizing::new(Vec::new());
        beginning.chain(&mut message).take(MAX_MAIL as u64).read_to_end(&mut text)?;
        let text = match mended(&text).filter(|_| text.len() < MAX_MAIL) {
            Some(mended) => Zeroizing::new(mended),
            None => text,
        };
        Ok(Self { inner: Box::new(Cursor::new(text).chain(message)) })
    }
}

impl Read for Mail<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out)
    }
}
