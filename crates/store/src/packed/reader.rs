//! Reading the primitive values of a blob.

use cert::Fingerprint;

use super::{Error, Result};

/// The version every blob begins with, but for the own facts; those of before the checksums too.
pub const VERSION: u8 = 1;

/// A place in a blob; every read is checked against its end.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Begins behind the version, which must be [`VERSION`].
    pub(super) fn after_version(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Self::new(bytes);
        if reader.byte()? == VERSION { Ok(reader) } else { Err(reader.error("an unknown version")) }
    }

    #[inline]
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns what is left, without moving.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    pub(super) fn error(&self, what: &'static str) -> Error {
        Error { position: self.position, what }
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.position).ok_or(self.error("the end"))?;
        self.position += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some(array) = self.rest().first_chunk::<N>() else { return Err(self.error("the end")) };
        self.position += N;
        Ok(*array)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a LEB128 number.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error("a number that is too long"))
    }

    /// Reads a number that must fit 32 bits.
    #[inline]
    pub(super) fn number32(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| self.error("a number that is too large"))
    }

    /// Reads how many items follow, each at least `size` bytes long: what is allocated is bounded by the blob.
    #[inline]
    pub(super) fn count(&mut self, size: usize) -> Result<usize> {
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() / size => Ok(count),
            _ => Err(self.error("more items than there are bytes")),
        }
    }

    /// Reads a byte string with its length before it.
    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.count(1)?;
        let bytes = &self.rest()[..length];
        self.position += length;
        Ok(bytes)
    }

    /// Reads a byte string as a blob within the blob, keeping positions meaningful.
    pub(super) fn section(&mut self) -> Result<Reader<'a>> {
        let length = self.count(1)?;
        let end = self.position + length;
        let section = Reader { bytes: &self.bytes[..end], position: self.position };
        self.position = end;
        Ok(section)
    }

    #[inline]
    pub(super) fn fingerprint(&mut self) -> Result<Fingerprint> {
        match self.byte()? {
            4 => self.array().map(Fingerprint::V4),
            5 => self.array().map(Fingerprint::V5),
            6 => self.array().map(Fingerprint::V6),
            _ => Err(self.error("a fingerprint of an unknown version")),
        }
    }

    pub(super) fn finish(&self) -> Result<()> {
        if self.remaining() == 0 { Ok(()) } else { Err(self.error("bytes after the end")) }
    }
}
