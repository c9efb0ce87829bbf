//! Compressed data (RFC 9580, 5.6), deflated on several cores: blocks that each know the 32 KiB before them, as pigz
//! writes them, are one stream for every reader.

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

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Compression {
    /// None, and no packet for it.
    Uncompressed = 0,
    /// Deflate (RFC 1951).
    Zip = 1,
    /// Deflate with a checksum (RFC 1950).
    Zlib = 2,
    /// BZip2.
    Bzip2 = 3,
}

impl Compression {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Uncompressed, Self::Zip, Self::Zlib, Self::Bzip2];

    /// Returns the compression of a number (RFC 9580, 9.4).
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the compression of a name as GnuPG writes it, in any case (also `none`, and `Z2` for number 2).
    pub fn named(name: &str) -> Option<Self> {
        let number = name.strip_prefix(['Z', 'z']).and_then(|number| number.parse().ok());
        match number {
            Some(number) => Self::of(number),
            None if name.eq_ignore_ascii_case("none") => Some(Self::Uncompressed),
            None => Self::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name)),
        }
    }

    /// Returns its number (RFC 9580, 9.4).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns its name as GnuPG writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncompressed => "Uncompressed",
            Self::Zip => "ZIP",
            Self::Zlib => "ZLIB",
            Self::Bzip2 => "BZIP2",
        }
    }
}

/// GnuPG's level where none is given, of Deflate and of BZip2.
pub const DEFAULT_LEVEL: u8 = 6;

/// How far back Deflate looks.
const WINDOW: usize = 32 << 10;

/// Compresses what `fill` writes, into one packet.
///
/// # Errors
///
/// What `fill` returns, or the output.
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
            waiting: 0,
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

/// A part of the stream, and the end of what is before it.
#[derive(Default)]
struct Block {
    before: Vec<u8>,
    data: Vec<u8>,
    is_last: bool,
}

impl Block {
    fn deflate(self, level: u8) -> Deflated {
        // Level 0 stores: what no level makes smaller takes all the others long.
        let level = if is_dense(&self.before, &self.data) { 0 } else { level };
        let mut deflate = Deflate::new(i32::from(level), false, 15);
        if level > 0 && !self.before.is_empty() {
            deflate.set_dictionary(&self.before).ok()?;
        }
        // What does not compress grows by some bytes in 16 KiB.
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

/// A block's part of the stream; nothing if it cannot be compressed.
type Deflated = Option<Vec<u8>>;

struct Deflating<'a> {
    producer: ordered::Producer<Block, Deflated>,
    consumer: ordered::Consumer<Deflated>,
    waiting: usize,
    output: &'a mut dyn Write,
    block: Block,
    checksum: Adler32,
}

impl Deflating<'_> {
    fn hand_out(&mut self, is_last: bool) -> io::Result<()> {
        if self.waiting == 2 * pipeline::workers() {
            self.take_back()?;
        }
        self.checksum.write(&self.block.data);
        let end = self.block.data.len().saturating_sub(WINDOW);
        let next = Block { before: self.block.data[end..].to_vec(), ..Block::default() };
        let block = std::mem::replace(&mut self.block, next);
        self.waiting += 1;
        self.producer.push(Block { is_last, ..block }).ok_or(io::ErrorKind::BrokenPipe.into())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.waiting -= 1;
        let block = self.consumer.next().flatten().ok_or(io::ErrorKind::BrokenPipe)?;
        self.output.write_all(&block)
    }

    /// Writes what is left and returns the checksum of everything.
    fn finish(mut self) -> io::Result<u32> {
        self.hand_out(true)?;
        while self.waiting > 0 {
            self.take_back()?;
        }
        Ok(self.checksum.finish())
    }
}

impl Write for Deflating<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.block.data.len() == PIECE {
            self.hand_out(false)?;
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
