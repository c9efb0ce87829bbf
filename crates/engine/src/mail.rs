//! Keys and messages as mail brings them.

use std::io::{self, BufReader, Cursor, Read};

use cert::mail_armor::{MAX_MAIL, is_changed, mended};
use zeroize::Zeroizing;

/// An input of keys or messages whose armor is [mended]; one of more than [`MAX_MAIL`] bytes is read as it is.
pub struct Mail<'a> {
    inner: Box<dyn Read + Send + 'a>,
    /// Whether the armor was damaged.
    pub is_mended: bool,
}

/// How hyphens and dashes of Unicode begin in UTF-8; as a packet it would be critical and unknown.
const DASH: [u8; 2] = [0xe2, 0x80];

impl<'a> Mail<'a> {
    /// Reads the beginning of a message.
    ///
    /// # Errors
    ///
    /// Those of the input.
    pub fn read(message: impl Read + Send + 'a) -> io::Result<Self> {
        Self::mending(message, |_| true)
    }

    /// Reads the beginning of certificates, whose places in the input are told: they are read as they are unless mending
    /// [changes](is_changed) them.
    ///
    /// # Errors
    ///
    /// Those of the input.
    pub fn read_certificates(certificates: impl Read + Send + 'a) -> io::Result<Self> {
        Self::mending(certificates, |is_changed| is_changed)
    }

    fn mending(message: impl Read + Send + 'a, uses: impl Fn(bool) -> bool) -> io::Result<Self> {
        let mut message = BufReader::new(message);
        let mut first = Vec::with_capacity(DASH.len());
        message.by_ref().take(DASH.len() as u64).read_to_end(&mut first)?;
        // Packets begin with the high bit. Text does not, unless it begins with a dash in the place of hyphens.
        let is_text = first.first().is_some_and(|byte| byte & 0x80 == 0) || first == DASH;
        let beginning = Cursor::new(first);
        if !is_text {
            return Ok(Self { inner: Box::new(beginning.chain(message)), is_mended: false });
        }
        let mut text = Zeroizing::new(Vec::new());
        beginning.chain(&mut message).take(MAX_MAIL as u64).read_to_end(&mut text)?;
        let mended = mended(&text).filter(|_| text.len() < MAX_MAIL).map(Zeroizing::new);
        let is_mended = mended.as_ref().is_some_and(|mended| is_changed(&text, mended));
        let text = mended.filter(|_| uses(is_mended)).unwrap_or(text);
        Ok(Self { inner: Box::new(Cursor::new(text).chain(message)), is_mended })
    }
}

impl Read for Mail<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out)
    }
}
