//! Reads compressed data (RFC 9580, 5.6).

use std::io::{self, BufRead, Read};

use zlib_rs::{Inflate, InflateFlush, Status};

use crate::compress::Compression;
use crate::frame::{Body, byte, read_buffered, skip};
use crate::pipeline::Buffer;
use crate::{Error, Result};

/// The number of bytes that are decompressed at a time.
const STEP: usize = 64 << 10;

/// Reads the content of a compressed packet.
pub(crate) struct Decompressor<'a> {
    body: Body<'a>,
    decoder: Decoder,
    /// The decompressed bytes that were not consumed.
    buffer: Buffer,
    is_over: bool,
}

enum Decoder {
    Stored,
    Inflate(Box<Inflate>),
    Bzip2(bzip2::Decompress),
}

const DAMAGED: Error = Error::Malformed("damaged compressed data");

impl<'a> Decompressor<'a> {
    /// Begins reading; the first byte is the compression algorithm.
    pub(crate) fn new(mut body: Body<'a>) -> Result<(Self, Compression)> {
        let number = byte(&mut body)?;
        let compression =
            Compression::of(number).ok_or(Error::Unsupported { what: "compression", number })?;
        let decoder = match compression {
            Compression::Uncompressed => Decoder::Stored,
            Compression::Zip => Decoder::Inflate(Box::new(Inflate::new(false, 15))),
            Compression::Zlib => Decoder::Inflate(Box::new(Inflate::new(true, 15))),
            Compression::Bzip2 => Decoder::Bzip2(bzip2::Decompress::new(false)),
        };
        let unpacked = Self { body, decoder, buffer: Buffer::default(), is_over: false };
        Ok((unpacked, compression))
    }

    /// Skips to the end of the packet, past bytes after the compressed data.
    pub(crate) fn finish(mut self) -> Result<()> {
        skip(&mut self.body)
    }

    /// Decompresses some bytes, possibly none.
    fn step(&mut self) -> Result<()> {
        let Self { body, decoder, buffer, is_over } = self;
        let input = body.fill_buf().map_err(Error::reading)?;
        let is_end = input.is_empty();
        let mut consumed = 0;
        let produced = buffer.write_with(STEP, |room| {
            let produced;
            (consumed, produced, *is_over) = decoder.step(input, room)?;
            Ok::<_, Error>(produced)
        })?;
        body.consume(consumed);
        if is_end && produced == 0 && !*is_over { Err(Error::CutShort) } else { Ok(()) }
    }
}

impl Decoder {
    /// Returns the numbers of bytes consumed and produced, and whether the data end here.
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<(usize, usize, bool)> {
        match self {
            Self::Stored => {
                let count = input.len().min(out.len());
                out[..count].copy_from_slice(&input[..count]);
                Ok((count, count, input.is_empty()))
            }
            Self::Inflate(inflate) => {
                let before = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(input, out, InflateFlush::NoFlush).map_err(|_| DAMAGED)?;
                let (consumed, produced) = (inflate.total_in() - before.0, inflate.total_out() - before.1);
                Ok((consumed as usize, produced as usize, status == Status::StreamEnd))
            }
            Self::Bzip2(bzip2) => {
                let before = (bzip2.total_in(), bzip2.total_out());
                let status = bzip2.decompress(input, out).map_err(|_| DAMAGED)?;
                let (consumed, produced) = (bzip2.total_in() - before.0, bzip2.total_out() - before.1);
                Ok((consumed as usize, produced as usize, status == bzip2::Status::StreamEnd))
            }
        }
    }
}

impl BufRead for Decompressor<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.buffer.is_empty() && !self.is_over {
            self.step()?;
        }
        Ok(&self.buffer)
    }

    fn consume(&mut self, count: usize) {
        self.buffer.consume(count);
    }
}

impl Read for Decompressor<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}
