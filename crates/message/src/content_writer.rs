//! Writes content: compressed or not, literal data with what goes with them.

use std::io::{self, Read, Write};

use cert::packet::Tag;

use crate::compress::{Compression, DEFAULT_LEVEL, compress};
use crate::frame::Packet;
use crate::literal::Literal;
use crate::pipeline::{Buffer, PIECE};
use crate::{Error, Result};

/// How content is written.
#[derive(Clone, Debug)]
pub struct LiteralOptions {
    /// The compression.
    pub compression: Compression,
    /// Its level, 0 to 9.
    pub level: u8,
    /// What the message says about its content.
    pub literal: Literal,
}

impl Default for LiteralOptions {
    fn default() -> Self {
        Self { compression: Compression::Uncompressed, level: DEFAULT_LEVEL, literal: Literal::default() }
    }
}

/// What goes with the literal data, around them and inside the encryption: one-pass signatures before, which hash it,
/// and signatures after.
pub trait ContentSigner {
    /// Returns the packets before the literal data.
    ///
    /// # Errors
    ///
    /// Whatever keeps the message from being written.
    fn before(&mut self) -> Result<Vec<u8>>;
    /// Sees the literal data, piece by piece.
    fn data(&mut self, data: &[u8]);
    /// Returns the packets after the literal data.
    ///
    /// # Errors
    ///
    /// Whatever keeps the message from being written.
    fn after(&mut self) -> Result<Vec<u8>>;
}

/// Nothing goes with the data.
#[derive(Debug)]
pub struct NoSigner;

impl ContentSigner for NoSigner {
    fn before(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn data(&mut self, _: &[u8]) {}

    fn after(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

impl LiteralOptions {
    pub(crate) fn check(&self) -> Result<()> {
        if self.level > 9 { Err(Error::Options("the level of a compression is 0 to 9")) } else { Ok(()) }
    }

    /// Writes all of `input`.
    pub(crate) fn write(
        &self,
        input: &mut dyn Read,
        out: &mut dyn Write,
        companion: &mut dyn ContentSigner,
    ) -> Result<()> {
        compress(self.compression, self.level, out, |out| {
            out.write_all(&companion.before()?).map_err(Error::writing)?;
            literal(input, out, &self.literal, companion)?;
            out.write_all(&companion.after()?).map_err(Error::writing)
        })
    }
}

/// Writes the literal data packet.
fn literal(
    input: &mut dyn Read,
    out: &mut dyn Write,
    literal: &Literal,
    companion: &mut dyn ContentSigner,
) -> Result<()> {
    let mut packet = Packet::new(out, Tag(11));
    packet.write_all(&literal.head()).map_err(Error::writing)?;
    let mut text = literal.lines();
    for_each_piece(input, |piece| {
        let data = text.convert(piece);
        companion.data(&data);
        packet.write_all(&data).map_err(Error::writing)
    })?;
    packet.finish().map(drop).map_err(Error::writing)
}

/// Reads to the end, piece by piece.
pub(crate) fn for_each_piece(input: &mut dyn Read, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut buffer = Buffer::default();
    loop {
        match buffer.write_with(PIECE, |room| input.read(room)) {
            Ok(0) => return Ok(()),
            Ok(_) => take(&buffer)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
        buffer.clear();
    }
}
