//! Reads encrypted data: threads read, decrypt and hash ahead of whoever takes the plaintext.

use std::io::{self, BufRead, Read};
use std::thread::{self, Scope};

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::aead::TAG;
use crate::cfb::MAX_BLOCK;
use crate::container::{ChunkKey, Container};
use crate::frame::Body;
use crate::pipeline::{self, Output, PIECE, Pool};
use crate::seal::{MDC, MDC_HEADER};
use crate::{Cfb, Error, Result, SessionKey};

/// Octets that tell a wrong key from a right one, at most.
const PREFIX: usize = MAX_BLOCK + 2;

/// Encrypted data of which the first octets were read.
pub(crate) struct Sealed<'a> {
    body: Body<'a>,
    /// The first octets, if they are needed before there is a key.
    first: Vec<u8>,
}

impl<'a> Sealed<'a> {
    /// Reads as much of the data as tells a wrong key from a right one.
    pub(crate) fn begin(mut body: Body<'a>, container: &Container) -> Result<Self> {
        let mut first = Vec::new();
        if container.mode().is_none() {
            (&mut body).take(PREFIX as u64).read_to_end(&mut first).map_err(Error::reading)?;
        }
        Ok(Self { body, first })
    }

    /// Says whether the key may be the right one; where the data say nothing, it may.
    pub(crate) fn fits(&self, container: &Container, key: &SessionKey) -> bool {
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
    Data(Vec<u8>),
    /// Everything came, and was not changed.
    End,
    Failed(Error),
}

/// The plaintext; its end is only reached if nothing was changed.
pub(crate) struct Plain {
    deliveries: Output<Delivery>,
    pool: Pool,
    current: Vec<u8>,
    at: usize,
    is_over: bool,
}

impl BufRead for Plain {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.current.len() && !self.is_over {
            match self.deliveries.recv() {
                Ok(Delivery::Data(data)) => {
                    self.pool.give(std::mem::replace(&mut self.current, data));
                    self.at = 0;
                }
                Ok(Delivery::End) => self.is_over = true,
                Ok(Delivery::Failed(error)) => return Err(error.into()),
                // Without word of its end, it has none.
                Err(_) => return Err(Error::CutShort.into()),
            }
        }
        Ok(&self.current[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

impl Read for Plain {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let held = self.fill_buf()?;
        let count = held.len().min(out.len());
        out[..count].copy_from_slice(&held[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl Plain {
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
/// What `take` returns; or if the data were changed or are cut short, which is found at the latest at the plaintext's end.
pub(crate) fn open<T>(
    container: &Container,
    key: &SessionKey,
    sealed: Sealed<'_>,
    take: impl FnOnce(&mut Plain) -> Result<T>,
) -> Result<T> {
    let chunk_key = container.mode().map(|_| ChunkKey::new(container, key)).transpose()?;
    thread::scope(|scope| {
        let pool = Pool::new();
        let deliveries = match chunk_key {
            Some(key) => chunks(scope, key, sealed.body, pool.clone()),
            None => feedback_mode(scope, *container == Container::Unprotected, key, sealed, pool.clone()),
        };
        let mut plain = Plain { deliveries, pool, current: Vec::new(), at: 0, is_over: false };
        take(&mut plain)
    })
}

/// Reads until the buffer has so many octets, or there are no more.
fn fill(body: &mut Body<'_>, buffer: &mut Vec<u8>, size: usize) -> Result<()> {
    let missing = size - buffer.len();
    buffer.reserve_exact(missing);
    body.take(missing as u64).read_to_end(buffer).map(drop).map_err(Error::reading)
}

/// A piece of ciphertext with the block before it; an error comes in the place of a piece.
type Piece = Result<(Vec<u8>, Vec<u8>)>;

fn feedback_mode<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    is_unprotected: bool,
    key: &SessionKey,
    sealed: Sealed<'env>,
    pool: Pool,
) -> Output<Delivery> {
    let size = key.cipher().block_size();
    let cfb = Cfb::new(key.cipher(), key.key());
    let (mut fan, mut gather) = pipeline::fan(scope, 2, move |piece: Piece| {
        piece.map(|(before, mut data)| {
            cfb.decrypt(&before, &mut data);
            data
        })
    });
    scope.spawn(move || {
        let Sealed { mut body, mut first } = sealed;
        let mut before = vec![0; size];
        if is_unprotected && first.len() >= size + 2 {
            // Feedback begins anew after the prefix (RFC 9580, 12.9, step 7).
            first.drain(..2);
            before = first.drain(..size).collect();
        }
        loop {
            let mut data = pool.take();
            data.append(&mut first);
            let filled = fill(&mut body, &mut data, PIECE);
            let is_last = data.len() < PIECE || filled.is_err();
            let next = data.rchunks(size).next().map(<[u8]>::to_vec).unwrap_or_default();
            let before = std::mem::replace(&mut before, next);
            let sent = fan.send(filled.map(|()| (before, data)));
            if is_last || sent.is_none() {
                break;
            }
        }
    });
    let (sender, deliveries) = pipeline::queue();
    scope.spawn(move || {
        let mut check = Check::new(is_unprotected, size + 2);
        while let Some(piece) = gather.receive() {
            let delivery = match piece {
                Ok(data) => check.pass(data, |data| sender.send(Delivery::Data(data)).is_ok()),
                Err(error) => {
                    // Nobody listens any more if this does not arrive.
                    let _ = sender.send(Delivery::Failed(error));
                    return;
                }
            };
            if !delivery {
                return;
            }
        }
        let end = check.end();
        let _ = sender.send(end.map_or_else(Delivery::Failed, |()| Delivery::End));
    });
    deliveries
}

/// Takes prefix and hash off the plaintext, and checks the hash.
struct Check {
    /// `None` where there is no hash.
    hash: Option<Context>,
    /// Octets of the prefix that did not come yet.
    prefix: usize,
    /// The last octets, which may be the hash.
    held: Vec<u8>,
}

impl Check {
    fn new(is_unprotected: bool, prefix: usize) -> Self {
        let hash = (!is_unprotected).then(|| Context::new(&SHA1_FOR_LEGACY_USE_ONLY));
        Self { hash, prefix: if is_unprotected { 0 } else { prefix }, held: Vec::new() }
    }

    /// Passes a piece on but for its last octets, after those of the piece before it; says whether anybody listens.
    fn pass(&mut self, mut data: Vec<u8>, mut send: impl FnMut(Vec<u8>) -> bool) -> bool {
        let Some(hash) = &mut self.hash else { return send(data) };
        if data.len() < MDC {
            self.held.append(&mut data);
            data = self.held.split_off(0);
        }
        let next = data.split_off(data.len().saturating_sub(MDC));
        let mut before = std::mem::replace(&mut self.held, next);
        hash.update(&before);
        hash.update(&data);
        for part in [&mut before, &mut data] {
            let count = self.prefix.min(part.len());
            part.drain(..count);
            self.prefix -= count;
        }
        (before.is_empty() || send(before)) && (data.is_empty() || send(data))
    }

    fn end(self) -> Result<()> {
        let Some(mut hash) = self.hash else { return Ok(()) };
        let digest = self.held.strip_prefix(&MDC_HEADER).ok_or(Error::Manipulated)?;
        hash.update(&MDC_HEADER);
        if self.prefix == 0 && hash.finish().as_ref() == digest { Ok(()) } else { Err(Error::Manipulated) }
    }
}

/// A chunk to open, or the end of all of them.
enum Work {
    Chunk(u64, Vec<u8>),
    End { count: u64, total: u64, tag: Vec<u8> },
    Failed(Error),
}

impl Work {
    fn run(self, key: &ChunkKey) -> Delivery {
        match self {
            Self::Chunk(index, mut data) => {
                let tag = data.split_off(data.len() - TAG);
                key.open(index, &mut data, &tag).map_or_else(Delivery::Failed, |()| Delivery::Data(data))
            }
            Self::End { count, total, tag } => {
                key.check_end(count, total, &tag).map_or_else(Delivery::Failed, |()| Delivery::End)
            }
            Self::Failed(error) => Delivery::Failed(error),
        }
    }
}

fn chunks<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    key: ChunkKey,
    body: Body<'env>,
    pool: Pool,
) -> Output<Delivery> {
    let size = key.chunk_size();
    // Long chunks are not read ahead: memory stays small.
    let ahead = if size > 1 << 20 { 0 } else { 2 };
    let (mut fan, mut gather) = pipeline::fan(scope, ahead, move |work: Work| work.run(&key));
    scope.spawn(move || {
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
            if fan.send(work).is_none() {
                break;
            }
        }
    });
    let (sender, deliveries) = if ahead == 0 { crossbeam_channel::bounded(0) } else { pipeline::queue() };
    scope.spawn(move || {
        while let Some(delivery) = gather.receive() {
            let is_last = !matches!(delivery, Delivery::Data(_));
            if sender.send(delivery).is_err() || is_last {
                break;
            }
        }
    });
    deliveries
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
        let mut data = self.pool.take();
        if !self.is_read {
            data.append(&mut self.carried);
            fill(&mut self.body, &mut data, self.size + 2 * TAG)?;
            // What is not full ends here: the last chunk, if there is one, and the tag of all.
            self.is_read = data.len() < self.size + 2 * TAG;
            self.carried = data.split_off(data.len().saturating_sub(TAG));
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
