//! Writing the primitive values of a blob.

use cert::Fingerprint;

use super::reader::VERSION;

/// A blob being written.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    /// Begins with [`VERSION`].
    pub(super) fn with_version() -> Self {
        Self { bytes: vec![VERSION] }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    pub(super) fn fingerprint(&mut self, fingerprint: &Fingerprint) {
        self.byte(fingerprint.version());
        self.raw(fingerprint.as_bytes());
    }
}
