//! Writes encrypted data; hashing, encryption and writing run in threads of their own.

use std::io::{self, Write};
use std::thread::{self, Scope, ScopedJoinHandle};

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use cert::packet::Tag;

use crate::encrypted_data::{ChunkKey, EncryptedDataFormat};
use crate::frame::Packet;
use crate::ordered;
use crate::pipeline::{self, Buffer, PIECE, Pool};
use crate::{Cfb, Error, Result, SessionKey};
use symmetric::random;

/// The header of the packet with the SHA-1 (RFC 9580, 5.13.1).
pub(crate) const MDC_HEADER: [u8; 2] = [0xd3, 20];
/// The size of that packet in bytes.
pub(crate) const MDC: usize = MDC_HEADER.len() + 20;

/// A piece of the stream.
struct Piece {
    data: Buffer,
    is_last: bool,
}

/// Encrypts the bytes that `fill` writes into one packet.
///
/// # Errors
///
/// Those of `fill` and of the output.
pub(crate) fn encrypt_stream<T>(
    container: &EncryptedDataFormat,
    key: &SessionKey,
    output: &mut (dyn Write + Send),
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let mut packet = Packet::new(output, Tag(container.tag()));
    packet.write_all(&container.head()).map_err(Error::writing)?;
    thread::scope(|scope| match container {
        EncryptedDataFormat::Version1 => in_feedback_mode(scope, key, packet, fill),
        EncryptedDataFormat::Version2 { .. } | EncryptedDataFormat::Gnupg { .. } => {
            in_chunks(scope, ChunkKey::new(container, key)?, packet, fill)
        }
        EncryptedDataFormat::Unprotected => {
            Err(Error::Options("data without protection against changes are not written"))
        }
    })
}

type Writing<'scope> = ScopedJoinHandle<'scope, io::Result<()>>;

fn in_feedback_mode<'scope, 'env, T>(
    scope: &'scope Scope<'scope, 'env>,
    key: &SessionKey,
    packet: Packet<&'env mut (dyn Write + Send)>,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let pool = Pool::default();
    let (input, plain) = pipeline::channel();
    let mut hash = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    let hashed = pipeline::stage(scope, plain, move |mut piece: Piece| {
        if piece.is_last {
            piece.data.extend_from_slice(&MDC_HEADER);
        }
        hash.update(&piece.data);
        if piece.is_last {
            piece.data.extend_from_slice(hash.clone().finish().as_ref());
        }
        piece
    });
    let cfb = Cfb::new(key.cipher(), key.key());
    let mut feedback = vec![0; key.cipher().block_size()];
    let encrypted = pipeline::stage(scope, hashed, move |mut piece| {
        cfb.encrypt(&mut feedback, &mut piece.data);
        piece
    });
    let writing = write(scope, encrypted, pool.clone(), packet);
    let send = Box::new(move |piece| input.send(piece).ok());
    let mut cutter = Cutter { send, pool, current: Buffer::default(), size: PIECE };
    // The prefix of random bytes, of which the last two are repeated, detects wrong keys.
    let prefix = random::<16>()?;
    let prefix = &prefix[..key.cipher().block_size()];
    let begun = cutter.write_all(prefix).and_then(|()| cutter.write_all(&prefix[prefix.len() - 2..]));
    begun.map_err(Error::writing)?;
    let filled = fill(&mut cutter);
    end(filled, cutter, writing)
}

/// Ends the stream, unless `fill` failed. An error of the output is returned first, since other errors follow from it.
fn end<T>(filled: Result<T>, mut cutter: Cutter<'_>, writing: Writing<'_>) -> Result<T> {
    let ended = filled.and_then(|filled| cutter.send(true).map(|()| filled).map_err(Error::writing));
    drop(cutter);
    writing.join().expect("writing does not panic").map_err(Error::writing)?;
    ended
}

fn write<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    pieces: impl IntoIterator<Item = Piece> + Send + 'scope,
    pool: Pool,
    mut packet: Packet<&'env mut (dyn Write + Send)>,
) -> Writing<'scope> {
    scope.spawn(move || {
        for piece in pieces {
            packet.write_all(&piece.data)?;
            if piece.is_last {
                return packet.finish().map(drop);
            }
            pool.put_back(piece.data);
        }
        // `fill` failed and returns the error; the packet is left incomplete.
        Ok(())
    })
}

/// Splits the written bytes into pieces of one size.
struct Cutter<'a> {
    /// Sends a piece to the next stage; `None` if that has ended.
    send: Box<dyn FnMut(Piece) -> Option<()> + 'a>,
    pool: Pool,
    current: Buffer,
    size: usize,
}

impl Cutter<'_> {
    fn send(&mut self, is_last: bool) -> io::Result<()> {
        let data = std::mem::replace(&mut self.current, self.pool.take());
        (self.send)(Piece { data, is_last })
            .ok_or_else(|| io::Error::other("a stage of encryption has ended"))
    }
}

impl Write for Cutter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.current.len() == self.size {
            self.send(false)?;
        }
        let room = self.size - self.current.len();
        self.current.reserve(room + MDC);
        let count = data.len().min(room);
        self.current.extend_from_slice(&data[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn in_chunks<'scope, 'env, T>(
    scope: &'scope Scope<'scope, 'env>,
    key: ChunkKey,
    packet: Packet<&'env mut (dyn Write + Send)>,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let pool = Pool::default();
    let size = key.chunk_size();
    let end_key = key.clone();
    let seal = move |(index, mut piece): (u64, Piece)| {
        // Only the last chunk can be empty, which is not written.
        if !piece.data.is_empty() {
            key.seal(index, &mut piece.data);
        }
        piece
    };
    let (mut count, mut total) = (0, 0);
    let append_end = move |mut piece: Piece| {
        if !piece.data.is_empty() {
            count += 1;
            total += (piece.data.len() - symmetric::TAG) as u64;
        }
        if piece.is_last {
            piece.data.extend_from_slice(&end_key.end(count, total));
        }
        piece
    };
    let (producer, sealed) = ordered::start(scope, pipeline::workers(), pipeline::ahead(size), seal);
    let writing = write(scope, sealed.map(append_end), pool.clone(), packet);
    let mut indexes = 0..;
    let send = Box::new(move |piece| producer.push((indexes.next()?, piece)));
    let mut cutter = Cutter { send, pool, current: Buffer::default(), size };
    let filled = fill(&mut cutter);
    end(filled, cutter, writing)
}
