//! Reads encrypted data; reading, decryption and hashing run in threads of their own.

use std::io::{self, BufRead, Read};
use std::thread::{self, Scope};

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::encrypt_stream::{MDC, MDC_HEADER};
use crate::encrypted_data::{ChunkKey, EncryptedDataFormat};
use crate::frame;
use crate::frame::Body;
use crate::ordered;
use crate::pipeline::{self, Buffer, PIECE, Pool};
use crate::scheduling;
use crate::{Cfb, Error, Result, SessionKey};
use symmetric::MAX_BLOCK;
use symmetric::TAG;

/// The size in bytes of the longest prefix that detects wrong keys.
const PREFIX: usize = MAX_BLOCK + 2;

/// Encrypted data, of which the prefix was read.
pub(crate) struct EncryptedData<'a> {
    body: Body<'a>,
    /// The prefix, which is needed to find the key.
    first: Vec<u8>,
}

impl<'a> EncryptedData<'a> {
    /// Reads the prefix of the data that detects wrong keys.
    pub(crate) fn begin(mut body: Body<'a>, container: &EncryptedDataFormat) -> Result<Self> {
        let mut first = Vec::new();
        if container.mode().is_none() {
            (&mut body).take(PREFIX as u64).read_to_end(&mut first).map_err(Error::reading)?;
        }
        Ok(Self { body, first })
    }

    /// Returns whether the key may be the right one; always if the data have no prefix.
    pub(crate) fn fits(&self, container: &EncryptedDataFormat, key: &SessionKey) -> bool {
        if container.mode().is_some() {
            return container.cipher() == Some(key.cipher());
        }
        let size = key.cipher().block_size();
        let Some(prefix) = self.first.get(..size + 2) else { return true };
        let mut prefix = prefix.to_vec();
        let (iv, cfb) = (vec![0; size], Cfb::new(key.cipher(), key.key()));
        cfb.decrypt(&iv, &mut prefix);
        prefix[size - 2..size] == prefix[size..]
    }
}

/// What the reader gets from the threads.
enum Delivery {
    Data(Buffer),
    /// The last bytes, and whether the data were unchanged.
    Last(Buffer, Result<()>),
}

impl Delivery {
    fn failed(error: Error) -> Self {
        Self::Last(Buffer::default(), Err(error))
    }
}

/// Returns the next delivery; `None` if the threads ended early.
type Deliveries<'a> = Box<dyn FnMut() -> Option<Delivery> + Send + 'a>;

/// Reads the plaintext; its end is reached only if the data were unchanged.
pub(crate) struct PlaintextReader<'a> {
    deliveries: Deliveries<'a>,
    pool: Pool,
    /// The delivered bytes that were not consumed.
    current: Buffer,
    /// The result after the last bytes, which is returned once.
    end: Option<Result<()>>,
    is_over: bool,
}

impl BufRead for PlaintextReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.current.is_empty() && !self.is_over {
            if let Some(end) = self.end.take() {
                self.is_over = end.is_ok();
                end?;
                continue;
            }
            let data = match (self.deliveries)() {
                Some(Delivery::Data(data)) => data,
                Some(Delivery::Last(data, end)) => {
                    self.end = Some(end);
                    data
                }
                // The threads ended without reporting the end.
                None => return Err(Error::CutShort.into()),
            };
            self.pool.put_back(std::mem::replace(&mut self.current, data));
        }
        Ok(&self.current)
    }

    fn consume(&mut self, count: usize) {
        self.current.consume(count);
    }
}

impl Read for PlaintextReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        frame::read_buffered(self, out)
    }
}

/// Decrypts data; `take` reads the plaintext during decryption.
///
/// # Errors
///
/// Those of `take`; and if the data were changed or truncated, which is detected at the end of the plaintext at the
/// latest.
pub(crate) fn decrypt_stream<T>(
    container: &EncryptedDataFormat,
    key: &SessionKey,
    sealed: EncryptedData<'_>,
    take: impl FnOnce(&mut PlaintextReader<'_>) -> Result<T>,
) -> Result<T> {
    let chunk_key = container.mode().map(|_| ChunkKey::new(container, key)).transpose()?;
    thread::scope(|scope| {
        let pool = Pool::default();
        let deliveries = match chunk_key {
            Some(key) => chunks(scope, key, sealed.body, pool.clone()),
            None => feedback_mode(
                scope,
                *container == EncryptedDataFormat::Unprotected,
                key,
                sealed,
                pool.clone(),
            ),
        };
        take(&mut PlaintextReader { deliveries, pool, current: Buffer::default(), end: None, is_over: false })
    })
}

enum Piece {
    Data {
        /// The block of ciphertext before the data.
        before: Vec<u8>,
        data: Buffer,
    },
    /// The end of the input, or the error that ended it.
    End(Result<()>),
}

fn feedback_mode<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    is_unprotected: bool,
    key: &SessionKey,
    sealed: EncryptedData<'env>,
    pool: Pool,
) -> Deliveries<'scope> {
    let size = key.cipher().block_size();
    let cfb = Cfb::new(key.cipher(), key.key());
    let decrypt = move |mut piece: Piece| {
        if let Piece::Data { before, data } = &mut piece {
            cfb.decrypt(before, data);
        }
        piece
    };
    let mut check = Check::new(is_unprotected, size + 2);
    let check = move |piece: Piece| match piece {
        Piece::Data { data, .. } => Delivery::Data(check.pass(data)),
        Piece::End(end) => check.last(end),
    };
    let (producer, decrypted) = ordered::start(scope, pipeline::workers(), pipeline::ahead(PIECE), decrypt);
    let checked = pipeline::stage(scope, decrypted, check);
    scope.spawn(move || {
        scheduling::apply_to_this_thread();
        let EncryptedData { mut body, mut first } = sealed;
        let mut before = vec![0; size];
        if is_unprotected && first.len() >= size + 2 {
            // Feedback starts again after the prefix (RFC 9580, 12.9, step 7).
            first.drain(..2);
            before = first.drain(..size).collect();
        }
        loop {
            let mut data = pool.take();
            data.extend_from_slice(&std::mem::take(&mut first));
            let filled = data.fill(PIECE, &mut body).map_err(Error::reading);
            let is_last = data.len() < PIECE || filled.is_err();
            let next = data.rchunks(size).next().map(<[u8]>::to_vec).unwrap_or_default();
            let before = std::mem::replace(&mut before, next);
            let pushed = producer.push(Piece::Data { before, data });
            if is_last {
                // The consumer may be gone.
                let _ = producer.push(Piece::End(filled));
            }
            if is_last || pushed.is_none() {
                break;
            }
        }
    });
    Box::new(move || checked.recv().ok())
}

/// Removes the prefix and the hash from the plaintext, and verifies the hash.
struct Check {
    /// `None` for data without a hash.
    hash: Option<Context>,
    /// The number of bytes of the prefix that were not removed yet.
    prefix: usize,
    /// The last piece, which may end with the hash.
    previous: Buffer,
    /// The number of its bytes that were hashed.
    hashed: usize,
}

impl Check {
    fn new(is_unprotected: bool, prefix: usize) -> Self {
        let hash = (!is_unprotected).then(|| Context::new(&SHA1_FOR_LEGACY_USE_ONLY));
        let prefix = if is_unprotected { 0 } else { prefix };
        Self { hash, prefix, previous: Buffer::default(), hashed: 0 }
    }

    /// Stores a piece and returns the one before it.
    fn pass(&mut self, mut data: Buffer) -> Buffer {
        let Some(hash) = &mut self.hash else { return data };
        if data.len() < MDC {
            // The last piece: the one before it may end with a part of the hash.
            self.previous.extend_from_slice(&data);
            data.clear();
            return data;
        }
        hash.update(&self.previous[self.hashed..]);
        self.hashed = data.len() - MDC;
        hash.update(&data[..self.hashed]);
        let before = std::mem::replace(&mut self.previous, data);
        self.without_prefix(before)
    }

    /// Returns the stored piece without the hash, and whether the hash matches.
    fn last(&mut self, end: Result<()>) -> Delivery {
        let mut rest = std::mem::take(&mut self.previous);
        let Some(mut hash) = self.hash.take() else { return Delivery::Last(rest, end) };
        let at = rest.len().saturating_sub(MDC);
        let digest = rest.split_off(at);
        hash.update(&rest[self.hashed..]);
        hash.update(&MDC_HEADER);
        let rest = self.without_prefix(rest);
        let is_unchanged =
            self.prefix == 0 && digest.strip_prefix(&MDC_HEADER) == Some(hash.finish().as_ref());
        Delivery::Last(rest, end.and(if is_unchanged { Ok(()) } else { Err(Error::Manipulated) }))
    }

    fn without_prefix(&mut self, mut data: Buffer) -> Buffer {
        let count = self.prefix.min(data.len());
        data.consume(count);
        self.prefix -= count;
        data
    }
}

/// A chunk to decrypt, or the end of all chunks.
enum ChunkTask {
    Chunk(u64, Buffer),
    End { count: u64, total: u64, tag: Vec<u8> },
    Failed(Error),
}

impl ChunkTask {
    fn run(self, key: &ChunkKey) -> Delivery {
        match self {
            Self::Chunk(index, mut data) => {
                let at = data.len() - TAG;
                let tag = data.split_off(at);
                key.open(index, &mut data, &tag).map_or_else(Delivery::failed, |()| Delivery::Data(data))
            }
            Self::End { count, total, tag } => {
                Delivery::Last(Buffer::default(), key.check_end(count, total, &tag))
            }
            Self::Failed(error) => Delivery::failed(error),
        }
    }
}

fn chunks<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    key: ChunkKey,
    body: Body<'env>,
    pool: Pool,
) -> Deliveries<'scope> {
    let size = key.chunk_size();
    let open = move |task: ChunkTask| task.run(&key);
    let (producer, mut opened) = ordered::start(scope, pipeline::workers(), pipeline::ahead(size), open);
    scope.spawn(move || {
        scheduling::apply_to_this_thread();
        let mut reader = Chunks {
            body,
            pool,
            size,
            carried: Vec::new(),
            count: 0,
            total: 0,
            is_read: false,
            is_over: false,
        };
        while !reader.is_over {
            let task = reader.next().unwrap_or_else(ChunkTask::Failed);
            reader.is_over |= matches!(task, ChunkTask::Failed(_));
            if producer.push(task).is_none() {
                break;
            }
        }
    });
    Box::new(move || opened.next())
}

/// Splits ciphertext into chunks with their tags.
struct Chunks<'a> {
    body: Body<'a>,
    pool: Pool,
    size: usize,
    /// The bytes at the end of the input so far, which may be the final tag.
    carried: Vec<u8>,
    count: u64,
    total: u64,
    /// Whether the input was read to its end.
    is_read: bool,
    /// Whether the end was returned.
    is_over: bool,
}

impl Chunks<'_> {
    fn next(&mut self) -> Result<ChunkTask> {
        let mut data = Buffer::default();
        if !self.is_read {
            data = self.pool.take();
            data.extend_from_slice(&std::mem::take(&mut self.carried));
            data.fill(self.size + 2 * TAG, &mut self.body).map_err(Error::reading)?;
            // A chunk that is not full is the end: the last chunk, if there is one, and the final tag.
            self.is_read = data.len() < self.size + 2 * TAG;
            let at = data.len().saturating_sub(TAG);
            self.carried = data.split_off(at);
        }
        if data.is_empty() && self.carried.len() == TAG {
            self.is_over = true;
            let tag = std::mem::take(&mut self.carried);
            return Ok(ChunkTask::End { count: self.count, total: self.total, tag });
        }
        if data.len() <= TAG {
            return Err(Error::CutShort);
        }
        let index = self.count;
        self.count += 1;
        self.total += (data.len() - TAG) as u64;
        Ok(ChunkTask::Chunk(index, data))
    }
}
