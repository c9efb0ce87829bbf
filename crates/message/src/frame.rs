//! Writes and reads packets of any length, with partial lengths (RFC 9580, 4.2.1.4).

use std::io::{self, BufRead, ErrorKind, Read, Write};

use cert::packet::{Header, Length, Tag, write_new_length};

use crate::pipeline::PIECE;
use crate::{Error, Result};

/// The binary logarithm of a part's size.
const PART_BITS: u32 = PIECE.trailing_zeros();

/// Writes a packet whose length is not known in advance.
pub(crate) struct Packet<W> {
    inner: W,
    /// The header, and the bytes of an incomplete part.
    pending: Vec<u8>,
    /// The size of the header in `pending`.
    header: usize,
}

impl<W: Write> Packet<W> {
    pub(crate) fn new(inner: W, tag: Tag) -> Self {
        Self { inner, pending: vec![0xc0 | tag.0], header: 1 }
    }

    fn pending_bytes(&self) -> usize {
        self.pending.len() - self.header
    }

    /// Writes the last part, and returns the inner writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let mut header = self.pending[..self.header].to_vec();
        write_new_length(&mut header, self.pending_bytes() as u32);
        self.inner.write_all(&header)?;
        self.inner.write_all(&self.pending[self.header..])?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Packet<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut rest = data;
        while self.pending_bytes() + rest.len() >= PIECE {
            let (part, after) = rest.split_at(PIECE - self.pending_bytes());
            // The length precedes the pending bytes.
            self.pending.insert(self.header, 224 + PART_BITS as u8);
            self.inner.write_all(&self.pending)?;
            self.inner.write_all(part)?;
            self.pending.clear();
            self.header = 0;
            rest = after;
        }
        self.pending.extend_from_slice(rest);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads the header of the next packet; `None` at the end.
pub(crate) fn header(input: &mut (impl BufRead + ?Sized)) -> Result<Option<Header>> {
    let mut bytes = Vec::with_capacity(6);
    if fill(input)?.is_empty() {
        return Ok(None);
    }
    loop {
        bytes.push(byte(input)?);
        match Header::parse(&bytes) {
            Ok(header) => return Ok(Some(header)),
            Err(cert::packet::Fault::Short) => {}
            Err(cert::packet::Fault::NotAPacket) => {
                return Err(Error::Malformed("no packet where one must begin"));
            }
        }
    }
}

/// Fills the buffer; returns nothing at the end of the input.
pub(crate) fn fill(input: &mut (impl BufRead + ?Sized)) -> Result<&[u8]> {
    // Called twice, since the borrow checker does not accept returning the borrow from the loop.
    while let Err(error) = input.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(Error::reading(error));
        }
    }
    input.fill_buf().map_err(Error::reading)
}

/// Skips the rest of the input.
pub(crate) fn skip(input: &mut (impl BufRead + ?Sized)) -> Result<()> {
    loop {
        let count = fill(input)?.len();
        if count == 0 {
            return Ok(());
        }
        input.consume(count);
    }
}

/// Reads from the buffer of an input.
pub(crate) fn read_buffered(input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
    let available = input.fill_buf()?;
    let count = available.len().min(out.len());
    out[..count].copy_from_slice(&available[..count]);
    input.consume(count);
    Ok(count)
}

/// Reads one byte.
pub(crate) fn byte(input: &mut (impl BufRead + ?Sized)) -> Result<u8> {
    let &byte = fill(input)?.first().ok_or(Error::CutShort)?;
    input.consume(1);
    Ok(byte)
}

/// Reads exactly `N` bytes.
pub(crate) fn bytes<const N: usize>(input: &mut (impl Read + ?Sized)) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(Error::reading)?;
    Ok(bytes)
}

/// The input of messages, which another thread may read.
pub(crate) trait Input: BufRead + Send {}

impl<T: BufRead + Send> Input for T {}

/// Reads the body of a packet with any kind of length.
pub(crate) struct Body<'a> {
    input: &'a mut dyn Input,
    left: Left,
}

#[derive(Clone, Copy)]
enum Left {
    /// This number of bytes, then the end.
    Last(u64),
    /// This number of bytes, then another length.
    Part(u64),
    /// The rest of the input.
    Open,
}

impl Left {
    fn of(length: Length) -> Self {
        match length {
            Length::Definite(length) => Self::Last(length.into()),
            Length::Partial(length) => Self::Part(length.into()),
            Length::Open => Self::Open,
        }
    }
}

impl<'a> Body<'a> {
    pub(crate) fn new(input: &'a mut dyn Input, length: Length) -> Self {
        Self { input, left: Left::of(length) }
    }

    /// Reads the rest of the body, at most `limit` bytes.
    pub(crate) fn whole(mut self, limit: usize) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        let read = (&mut self).take(limit as u64 + 1).read_to_end(&mut body);
        read.map_err(Error::reading)?;
        if body.len() > limit { Err(Error::Limit("a packet's length")) } else { Ok(body) }
    }

    /// Returns the number of bytes before the next length or the end; zero only at the end.
    fn left_here(&mut self) -> Result<usize> {
        while let Left::Part(0) = self.left {
            self.next_part(None)?;
        }
        Ok(match self.left {
            Left::Last(left) | Left::Part(left) => usize::try_from(left).unwrap_or(usize::MAX),
            Left::Open => usize::MAX,
        })
    }

    fn count(&mut self, taken: usize) {
        if let Left::Last(left) | Left::Part(left) = &mut self.left {
            *left -= taken as u64;
        }
    }

    /// Reads the length of the next part; `first` is its first byte, if that was read already.
    fn next_part(&mut self, first: Option<u8>) -> Result<()> {
        let mut bytes = vec![0xc0];
        bytes.extend(first);
        let length = loop {
            match Header::parse(&bytes) {
                Ok(header) => break header.length,
                Err(_) if bytes.len() < 6 => bytes.push(byte(self.input)?),
                Err(_) => return Err(Error::Malformed("a length that cannot be")),
            }
        };
        self.left = Left::of(length);
        Ok(())
    }
}

impl BufRead for Body<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let limit = self.left_here()?;
        if limit == 0 {
            return Ok(&[]);
        }
        let available = self.input.fill_buf()?;
        if available.is_empty() && !matches!(self.left, Left::Open) {
            return Err(Error::CutShort.into());
        }
        Ok(&available[..available.len().min(limit)])
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.count(count);
    }
}

impl Read for Body<'_> {
    /// Reads directly from the input if its buffer is empty.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.left_here()?;
        // Reads the first byte of the next length together with a part: reading it alone would fill the input's buffer.
        let ahead = usize::from(matches!(self.left, Left::Part(_)));
        let limit = left.saturating_add(ahead).min(out.len());
        // Does not read after the end of the body, where an error would not concern the body.
        if limit == 0 {
            return Ok(0);
        }
        let count = self.input.read(&mut out[..limit])?;
        if count == 0 && !matches!(self.left, Left::Open) {
            return Err(Error::CutShort.into());
        }
        self.count(count.min(left));
        if count > left {
            self.next_part(Some(out[left]))?;
        }
        Ok(count.min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let mut packet = Packet::new(Vec::new(), Tag(18));
        let mut plain = Vec::new();
        for &piece in pieces {
            let data: Vec<u8> = (plain.len()..plain.len() + piece).map(|index| (index / 7) as u8).collect();
            packet.write_all(&data).expect("a vector takes everything");
            plain.extend(data);
        }
        (packet.finish().expect("a vector takes everything"), plain)
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut input = bytes;
        let header = header(&mut input)?.ok_or(Error::NoMessage)?;
        assert_eq!(header.tag, Tag(18));
        let body = Body::new(&mut input, header.length).whole(1 << 24)?;
        assert!(input.is_empty());
        Ok(body)
    }

    #[test]
    fn what_is_written_in_any_pieces_is_read_back() {
        for pieces in
            [&[][..], &[0], &[1], &[191, 1], &[PIECE - 1], &[PIECE], &[1, PIECE, PIECE], &[3 * PIECE + 5, 9]]
        {
            let (bytes, plain) = written(pieces);
            assert!(read(&bytes).expect("a packet") == plain, "{pieces:?}");
        }
    }

    #[test]
    fn a_packet_that_is_cut_short_is_an_error_wherever_it_is_cut() {
        let (bytes, _) = written(&[PIECE + 300]);
        for length in [1, 2, 100, PIECE, PIECE + 1, PIECE + 2, PIECE + 3, bytes.len() - 1] {
            assert!(matches!(read(&bytes[..length]), Err(Error::CutShort)), "{length}");
        }
    }

    #[test]
    fn a_body_beyond_the_limit_is_refused_before_it_is_read() {
        let (bytes, _) = written(&[1000]);
        let mut input = &bytes[..];
        let length = header(&mut input).expect("a header").expect("a packet").length;
        assert!(matches!(Body::new(&mut input, length).whole(999), Err(Error::Limit(_))));
    }
}
