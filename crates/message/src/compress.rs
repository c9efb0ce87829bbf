//! Writes compressed data (RFC 9580, 5.6). Deflate runs on several cores: as in pigz, each block has the 32 KiB before
//! it as its dictionary, and all blocks form one stream.

use std::io::{self, Write};
use std::thread;

use cert::packet::Tag;
use simd_adler32::Adler32;
use zlib_rs::{Deflate, DeflateFlush, Status};

use crate::density::is_dense;
use crate::frame::Packet;
use crate::ordered;
use crate::pipeline::{self, PIECE};
use crate::{Error, Result};

/// A compression algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Compression {
    /// No compression, and no compressed packet.
    Uncompressed = 0,
    /// Deflate (RFC 1951).
    Zip = 1,
    /// Deflate with a checksum (RFC 1950).
    Zlib = 2,
    /// BZip2.
    Bzip2 = 3,
}

impl Compression {
    /// All algorithms, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Uncompressed, Self::Zip, Self::Zlib, Self::Bzip2];

    /// Finds the algorithm with a number (RFC 9580, 9.4).
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Finds the algorithm with a name as GnuPG writes it, in any case (also `none`, and `Z2` for number 2).
    pub fn named(name: &str) -> Option<Self> {
        let number = name.strip_prefix(['Z', 'z']).and_then(|number| number.parse().ok());
        match number {
            Some(number) => Self::of(number),
            None if name.eq_ignore_ascii_case("none") => Some(Self::Uncompressed),
            None => Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name)),
        }
    }

    /// Returns the number of the algorithm (RFC 9580, 9.4).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name of the algorithm as GnuPG writes it.
    pub fn name(self) -> &'static str {
        ["Uncompressed", "ZIP", "ZLIB", "BZIP2"][self as usize]
    }
}

/// GnuPG's default level, for Deflate and BZip2.
pub const DEFAULT_LEVEL: u8 = 6;

/// The size of Deflate's window in bytes.
const WINDOW: usize = 32 << 10;

/// Compresses the bytes that `fill` writes into one packet.
///
/// # Errors
///
/// Those of `fill` and of the output.
pub(crate) fn compress<T>(
    compression: Compression,
    level: u8,
    output: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    if compression == Compression::Uncompressed {
        return fill(output);
    }
    let mut packet = Packet::new(output, Tag::COMPRESSED);
    packet.write_all(&[compression.number()]).map_err(Error::writing)?;
    let filled = match compression {
        Compression::Bzip2 => {
            let level = bzip2::Compression::new(u32::from(level).clamp(1, 9));
            let mut encoder = bzip2::write::BzEncoder::new(&mut packet, level);
            let filled = fill(&mut encoder)?;
            encoder.finish().map_err(Error::writing)?;
            filled
        }
        _ => deflate(compression == Compression::Zlib, level, &mut packet, fill)?,
    };
    packet.finish().map_err(Error::writing)?;
    Ok(filled)
}

fn deflate<T>(
    zlib: bool,
    level: u8,
    output: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    if zlib {
        output.write_all(&zlib_header(level)).map_err(Error::writing)?;
    }
    thread::scope(|scope| {
        let deflate = move |block: Block| block.deflate(level);
        let workers = pipeline::workers();
        let (producer, consumer) = ordered::start(scope, workers, 2 * workers, deflate);
        let mut writer = Deflating {
            producer,
            consumer,
            in_progress: 0,
            output,
            block: Block::default(),
            checksum: Adler32::new(),
        };
        let filled = fill(&mut writer)?;
        let checksum = writer.finish().map_err(Error::writing)?;
        if zlib {
            output.write_all(&checksum.to_be_bytes()).map_err(Error::writing)?;
        }
        Ok(filled)
    })
}

/// Returns the header of a zlib stream (RFC 1950, 2.2).
fn zlib_header(level: u8) -> [u8; 2] {
    let level = match level {
        0..=1 => 0,
        2..=5 => 1,
        6 => 2,
        _ => 3u16,
    };
    let header = 0x7800 | level << 6;
    (header + 31 - header % 31).to_be_bytes()
}

/// A part of the stream, with the end of the data before it.
#[derive(Default)]
struct Block {
    before: Vec<u8>,
    data: Vec<u8>,
    is_last: bool,
}

impl Block {
    fn deflate(self, level: u8) -> Deflated {
        // Level 0 stores: trying to compress incompressible data takes long at all other levels.
        let level = if is_dense(&self.before, &self.data) { 0 } else { level };
        let mut deflate = Deflate::new(i32::from(level), false, 15);
        if level > 0 && !self.before.is_empty() {
            deflate.set_dictionary(&self.before).ok()?;
        }
        // Incompressible data grow by some bytes in 16 KiB.
        let mut out = vec![0; self.data.len() + self.data.len() / 256 + 256];
        let flush = if self.is_last { DeflateFlush::Finish } else { DeflateFlush::SyncFlush };
        loop {
            let (consumed, produced) = (deflate.total_in() as usize, deflate.total_out() as usize);
            let status = deflate.compress(&self.data[consumed..], &mut out[produced..], flush).ok()?;
            let produced = deflate.total_out() as usize;
            if status == Status::StreamEnd || (!self.is_last && produced < out.len()) {
                out.truncate(produced);
                return Some(out);
            }
            out.resize(2 * out.len(), 0);
        }
    }
}

/// The compressed block; `None` if compression failed.
type Deflated = Option<Vec<u8>>;

fn failed() -> io::Error {
    io::Error::other("compression failed")
}

struct Deflating<'a> {
    producer: ordered::Producer<Block, Deflated>,
    consumer: ordered::Consumer<Deflated>,
    in_progress: usize,
    output: &'a mut dyn Write,
    block: Block,
    checksum: Adler32,
}

impl Deflating<'_> {
    fn push_block(&mut self, is_last: bool) -> io::Result<()> {
        if self.in_progress == 2 * pipeline::workers() {
            self.write_next_block()?;
        }
        self.checksum.write(&self.block.data);
        let end = self.block.data.len().saturating_sub(WINDOW);
        let next = Block { before: self.block.data[end..].to_vec(), ..Block::default() };
        let block = std::mem::replace(&mut self.block, next);
        self.in_progress += 1;
        self.producer.push(Block { is_last, ..block }).ok_or_else(failed)
    }

    fn write_next_block(&mut self) -> io::Result<()> {
        self.in_progress -= 1;
        let block = self.consumer.next().flatten().ok_or_else(failed)?;
        self.output.write_all(&block)
    }

    /// Writes the remaining blocks and returns the checksum of all data.
    fn finish(mut self) -> io::Result<u32> {
        self.push_block(true)?;
        while self.in_progress > 0 {
            self.write_next_block()?;
        }
        Ok(self.checksum.finish())
    }
}

impl Write for Deflating<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.block.data.len() == PIECE {
            self.push_block(false)?;
        }
        self.block.data.reserve_exact(PIECE - self.block.data.len());
        let count = data.len().min(PIECE - self.block.data.len());
        self.block.data.extend_from_slice(&data[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
