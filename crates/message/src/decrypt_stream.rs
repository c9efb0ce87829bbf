//! Reads encrypted data: threads read, decrypt and hash ahead of whoever takes the plaintext.

use std::io::{self, BufRead, Read};
use std::thread::{self, Scope};

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::encrypt_stream::{MDC, MDC_HEADER};
use crate::encrypted_data::{ChunkKey, EncryptedDataFormat};
use crate::frame::Body;
use crate::ordered;
use crate::pipeline::{self, Buffer, PIECE, Pool};
use crate::scheduling;
use crate::{Cfb, Error, Result, SessionKey};
use symmetric::MAX_BLOCK;
use symmetric::TAG;

/// Bytes that tell a wrong key from a right one, at most.
const PREFIX: usize = MAX_BLOCK + 2;

/// Encrypted data of which the first bytes were read.
pub(crate) struct EncryptedData<'a> {
    body: Body<'a>,
    /// The first bytes, if they are needed before there is a key.
    first: Vec<u8>,
}

impl<'a> EncryptedData<'a> {
    /// Reads as much of the data as tells a wrong key from a right one.
    pub(crate) fn begin(mut body: Body<'a>, container: &EncryptedDataFormat) -> Result<Self> {
        let mut first = Vec::new();
        if container.mode().is_none() {
            (&mut body).take(PREFIX as u64).read_to_end(&mut first).map_err(Error::reading)?;
        }
        Ok(Self { body, first })
    }

    /// Says whether the key may be the right one; where the data say nothing, it may.
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

/// What the threads deliver.
enum Delivery {
    Data(Buffer),
    /// The last bytes, and whether they are the end of something that was not changed.
    Last(Buffer, Result<()>),
}

impl Delivery {
    fn failed(error: Error) -> Self {
        Self::Last(Buffer::default(), Err(error))
    }
}

/// What comes next; `None` if the threads ended without word of the end.
type Deliveries<'a> = Box<dyn FnMut() -> Option<Delivery> + Send + 'a>;

/// The plaintext; its end is only reached if nothing was changed.
pub(crate) struct PlaintextReader<'a> {
    deliveries: Deliveries<'a>,
    pool: Pool,
    /// What was delivered and not taken.
    current: Buffer,
    /// Said once after the last bytes.
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
                // Without word of its end, it has none.
                None => return Err(Error::CutShort.into()),
            };
            self.pool.give(std::mem::replace(&mut self.current, data));
        }
        Ok(&self.current)
    }

    fn consume(&mut self, count: usize) {
        self.current.consume(count);
    }
}

impl Read for PlaintextReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.fill_buf()?;
        let count = held.len().min(out.len());
        out[..count].copy_from_slice(&held[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl PlaintextReader<'_> {
    /// Goes to the end, to learn whether anything was changed.
    pub(crate) fn skip(&mut self) -> Result<()> {
        loop {
            let count = self.fill_buf().map_err(Error::reading)?.len();
            if count == 0 {
                return Ok(());
            }
            self.consume(count);
        }
    }
}

/// Decrypts data; `take` gets the plaintext while it is being decrypted.
///
/// # Errors
///
/// What `take` returns; or if the data were changed or are cut short, which is found at the latest at the plaintext's
/// end.
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
        /// The block of ciphertext before it.
        before: Vec<u8>,
        data: Buffer,
    },
    /// The end of what can be read, and why it is if the input does not end there.
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
            // Feedback begins anew after the prefix (RFC 9580, 12.9, step 7).
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
                // Nobody may listen any more.
                let _ = producer.push(Piece::End(filled));
            }
            if is_last || pushed.is_none() {
                break;
            }
        }
    });
    Box::new(move || checked.recv().ok())
}

/// Takes prefix and hash off the plaintext, and checks the hash.
struct Check {
    /// `None` where there is no hash.
    hash: Option<Context>,
    /// Bytes of the prefix that were not taken off yet.
    prefix: usize,
    /// The last piece, at the end of which the hash may be.
    held: Buffer,
    /// How much of it was hashed.
    hashed: usize,
}

impl Check {
    fn new(is_unprotected: bool, prefix: usize) -> Self {
        let hash = (!is_unprotected).then(|| Context::new(&SHA1_FOR_LEGACY_USE_ONLY));
        let prefix = if is_unprotected { 0 } else { prefix };
        Self { hash, prefix, held: Buffer::default(), hashed: 0 }
    }

    /// Holds a piece back and returns the one before it.
    fn pass(&mut self, mut data: Buffer) -> Buffer {
        let Some(hash) = &mut self.hash else { return data };
        if data.len() < MDC {
            // It is the last one, and the one before it may end with a part of the hash.
            self.held.extend_from_slice(&data);
            data.clear();
            return data;
        }
        hash.update(&self.held[self.hashed..]);
        self.hashed = data.len() - MDC;
        hash.update(&data[..self.hashed]);
        let before = std::mem::replace(&mut self.held, data);
        self.without_prefix(before)
    }

    /// Returns what is held but for the hash, and what the hash says.
    fn last(&mut self, end: Result<()>) -> Delivery {
        let mut rest = std::mem::take(&mut self.held);
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

/// A chunk to open, or the end of all of them.
enum Work {
    Chunk(u64, Buffer),
    End { count: u64, total: u64, tag: Vec<u8> },
    Failed(Error),
}

impl Work {
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
    let open = move |work: Work| work.run(&key);
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
            let work = reader.next().unwrap_or_else(Work::Failed);
            reader.is_over |= matches!(work, Work::Failed(_));
            if producer.push(work).is_none() {
                break;
            }
        }
    });
    Box::new(move || opened.next())
}

/// Cuts ciphertext into chunks with their tags.
struct Chunks<'a> {
    body: Body<'a>,
    pool: Pool,
    size: usize,
    /// What was read and may be the tag at the end.
    carried: Vec<u8>,
    count: u64,
    total: u64,
    /// Whether everything was read.
    is_read: bool,
    /// Whether everything was handed out.
    is_over: bool,
}

impl Chunks<'_> {
    fn next(&mut self) -> Result<Work> {
        let mut data = Buffer::default();
        if !self.is_read {
            data = self.pool.take();
            data.extend_from_slice(&std::mem::take(&mut self.carried));
            data.fill(self.size + 2 * TAG, &mut self.body).map_err(Error::reading)?;
            // What is not full ends here: the last chunk, if there is one, and the tag of all.
            self.is_read = data.len() < self.size + 2 * TAG;
            let at = data.len().saturating_sub(TAG);
            self.carried = data.split_off(at);
        }
        if data.is_empty() && self.carried.len() == TAG {
            self.is_over = true;
            let tag = std::mem::take(&mut self.carried);
            return Ok(Work::End { count: self.count, total: self.total, tag });
        }
        if data.len() <= TAG {
            return Err(Error::CutShort);
        }
        let index = self.count;
        self.count += 1;
        self.total += (data.len() - TAG) as u64;
        Ok(Work::Chunk(index, data))
    }
}
