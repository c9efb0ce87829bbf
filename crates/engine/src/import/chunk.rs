//! Reads an input in chunks, on a thread of its own.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use cert::ArmorRules;
use cert::split::{Piece, Splitter};

/// A chunk is complete with this many bytes of certificates.
const CHUNK_BYTES: usize = 1 << 20;
/// A chunk is complete with this many certificates.
pub(super) const CHUNK_CERTIFICATES: usize = 512;

/// Chunks that are read ahead.
const CHUNKS_AHEAD: usize = 2;

/// Consecutive certificates of an input, and the errors between them.
pub(super) type Chunk = Vec<cert::Result<Piece>>;

/// Splits `input` on a thread of its own and returns the chunks. The thread ends with the input, or once the receiver
/// is dropped.
pub(super) fn read_ahead<'scope>(
    scope: &'scope Scope<'scope, '_>,
    input: impl Read + Send + 'scope,
    armor: ArmorRules,
) -> Receiver<Chunk> {
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    scope.spawn(move || send_chunks(input, armor, &sender));
    chunks
}

fn send_chunks(input: impl Read, armor: ArmorRules, chunks: &SyncSender<Chunk>) {
    let mut chunk = Chunk::new();
    let mut bytes = 0;
    for item in Splitter::with(input, armor) {
        bytes += item.as_ref().map_or(0, len);
        chunk.push(item);
        if bytes >= CHUNK_BYTES || chunk.len() >= CHUNK_CERTIFICATES {
            if chunks.send(std::mem::take(&mut chunk)).is_err() {
                return;
            }
            bytes = 0;
        }
    }
    if !chunk.is_empty() {
        // The receiver is dropped after an error.
        let _ = chunks.send(chunk);
    }
}

/// Returns the bytes of a piece.
pub(super) fn len(piece: &Piece) -> usize {
    match piece {
        Piece::Certificate(raw) => raw.bytes.len(),
        Piece::Revocation(raw) => raw.bytes.len(),
        Piece::Ignored(_) => 0,
    }
}
