//! Reads compressed data (RFC 9580, 5.6).

use std::io::{self, BufRead, Read};

use zeroize::Zeroize;
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::compress::Compression;
use crate::frame::{Body, octet};
use crate::{Error, Result};

/// Octets unpacked at a time.
const BUFFER: usize = 64 << 10;

/// What a compressed packet holds.
pub(crate) struct Unpacked<'a> {
    body: Body<'a>,
    decoder: Decoder,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_over: bool,
}

enum Decoder {
    Stored,
    Inflate(Box<Inflate>),
    Bzip2(bzip2::Decompress),
}

const DAMAGED: Error = Error::Malformed("damaged compressed data");

impl<'a> Unpacked<'a> {
    /// Begins to read; the first octet names the compression.
    pub(crate) fn new(mut body: Body<'a>) -> Result<(Self, Compression)> {
        let number = octet(&mut body)?;
        let compression =
            Compression::of(number).ok_or(Error::Unsupported { what: "compression", number })?;
        let decoder = match compression {
            Compression::Uncompressed => Decoder::Stored,
            Compression::Zip => Decoder::Inflate(Box::new(Inflate::new(false, 15))),
            Compression::Zlib => Decoder::Inflate(Box::new(Inflate::new(true, 15))),
            Compression::Bzip2 => Decoder::Bzip2(bzip2::Decompress::new(false)),
        };
        let unpacked = Self { body, decoder, buffer: vec![0; BUFFER], start: 0, end: 0, is_over: false };
        Ok((unpacked, compression))
    }

    /// Goes to the packet's end, past what follows the compressed data.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.body.skip()
    }

    /// Unpacks some octets, perhaps none.
    fn step(&mut self) -> Result<()> {
        let input = self.body.fill_buf().map_err(Error::reading)?;
        let is_end = input.is_empty();
        let (consumed, produced, is_last) = self.decoder.step(input, &mut self.buffer)?;
        self.body.consume(consumed);
        (self.start, self.end, self.is_over) = (0, produced, is_last);
        if is_end && produced == 0 && !is_last { Err(Error::CutShort) } else { Ok(()) }
    }
}

impl Decoder {
    /// Returns the octets consumed and produced, and whether the data end here.
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

impl BufRead for Unpacked<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end && !self.is_over {
            self.step()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.fill_buf()?;
        let count = held.len().min(out.len());
        out[..count].copy_from_slice(&held[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl Drop for Unpacked<'_> {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}
