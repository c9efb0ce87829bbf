//! Writes the content of messages: literal data with their signatures, compressed or not.

use std::io::{self, Read, Write};

use cert::packet::Tag;

use crate::compress::{Compression, DEFAULT_LEVEL, compress};
use crate::frame::Packet;
use crate::literal::Literal;
use crate::pipeline::{Buffer, PIECE};
use crate::{Error, Result};

/// Options for writing content.
#[derive(Clone, Debug)]
pub struct LiteralOptions {
    /// The compression algorithm.
    pub compression: Compression,
    /// Its level, 0 to 9.
    pub level: u8,
    /// The fields of the literal data packet.
    pub literal: Literal,
}

impl Default for LiteralOptions {
    fn default() -> Self {
        Self { compression: Compression::Uncompressed, level: DEFAULT_LEVEL, literal: Literal::default() }
    }
}

/// Signs the literal data inside of the encryption: writes one-pass signatures before them, hashes them, and writes
/// signatures after them.
pub trait ContentSigner {
    /// Returns the packets before the literal data, of which `literal` are the fields.
    ///
    /// # Errors
    ///
    /// Any error, which ends writing the message.
    fn before(&mut self, literal: &Literal) -> Result<Vec<u8>>;
    /// Takes the literal data in pieces.
    fn data(&mut self, data: &[u8]);
    /// Returns the packets after the literal data.
    ///
    /// # Errors
    ///
    /// Any error, which ends writing the message.
    fn after(&mut self) -> Result<Vec<u8>>;
}

/// Makes no signatures.
#[derive(Debug)]
pub struct NoSigner;

impl ContentSigner for NoSigner {
    fn before(&mut self, _: &Literal) -> Result<Vec<u8>> {
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

    /// Writes all of `input` as content.
    pub(crate) fn write(
        &self,
        input: &mut dyn Read,
        out: &mut dyn Write,
        signer: &mut dyn ContentSigner,
    ) -> Result<()> {
        compress(self.compression, self.level, out, |out| {
            out.write_all(&signer.before(&self.literal)?).map_err(Error::writing)?;
            literal(input, out, &self.literal, signer)?;
            out.write_all(&signer.after()?).map_err(Error::writing)
        })
    }
}

/// Writes the literal data packet.
fn literal(
    input: &mut dyn Read,
    out: &mut dyn Write,
    literal: &Literal,
    signer: &mut dyn ContentSigner,
) -> Result<()> {
    let mut packet = Packet::new(out, Tag(11));
    packet.write_all(&literal.head()).map_err(Error::writing)?;
    let mut text = literal.lines();
    for_each_piece(input, |piece| {
        let data = text.convert(piece);
        signer.data(&data);
        packet.write_all(&data).map_err(Error::writing)
    })?;
    packet.finish().map(drop).map_err(Error::writing)
}

/// Reads to the end, and calls a function with each piece.
pub(crate) fn for_each_piece(input: &mut dyn Read, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut buffer = Buffer::default();
    // To clear and wipe memory for a long piece costs more than hashing a short text.
    let mut size = 4 << 10;
    loop {
        match buffer.write_with(size, |room| input.read(room)) {
            Ok(0) => return Ok(()),
            Ok(_) => take(&buffer)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
        buffer.clear();
        size = PIECE.min(4 * size);
    }
}
