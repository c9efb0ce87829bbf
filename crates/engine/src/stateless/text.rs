//! Input that must be UTF-8.

use std::io::{self, Read};

use super::{Failure, Kind};

/// Passes UTF-8 on, and fails at anything else.
pub(super) struct Utf8<R> {
    inner: R,
    /// The beginning of a character that is not complete.
    pending: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
#[error("the input is no UTF-8 text")]
struct NotText;

impl<R: Read> Utf8<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, pending: Vec::new() }
    }

    /// Takes bytes that follow on those before.
    fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pending.extend_from_slice(bytes);
        match std::str::from_utf8(&self.pending) {
            Ok(_) => self.pending.clear(),
            Err(error) if error.error_len().is_none() => drop(self.pending.drain(..error.valid_up_to())),
            Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, NotText)),
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        match count {
            0 if !out.is_empty() && !self.pending.is_empty() => {
                Err(io::Error::new(io::ErrorKind::InvalidData, NotText))
            }
            _ => self.check(&out[..count]).map(|()| count),
        }
    }
}

/// Returns the failure of reading text: that it is not UTF-8, if that was the cause.
pub(super) fn of_text(error: message::Error) -> Failure {
    match &error {
        message::Error::Read(cause) if cause.get_ref().is_some_and(|cause| cause.is::<NotText>()) => {
            Failure::new(Kind::ExpectedText, NotText)
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut out[..1])
        }
    }

    #[test]
    fn text_passes_however_it_is_cut_and_nothing_else_does() {
        let read = |bytes: &[u8]| Utf8::new(Slowly(bytes)).read_to_end(&mut Vec::new()).is_ok();
        assert!(read("Zürich, 東京".as_bytes()));
        assert!(read(b""));
        assert!(!read(b"Z\xfcrich"));
        assert!(!read("東".as_bytes().split_last().expect("three bytes").1));
    }
}
