//! Digests of content while it passes: one for all signatures that have it in common, in a thread of their own.

use std::thread::{self, JoinHandle};

use cert::signed::{Document, Form};
use verify::{HashAlgorithm, Verdict};

use crate::pipeline::{self, Buffer, Input, PIECE, Pool};

/// Digests that begin with a salt, which no other signature shares.
const MAX_SALTED: usize = 32;

/// The documents that signatures are over, each once.
#[derive(Clone, Default)]
pub(crate) struct Documents(Vec<Document>);

impl Documents {
    /// Makes sure that such a document is hashed.
    ///
    /// # Errors
    ///
    /// As [`Document::new`]; `Unsupported` also for more salts than anybody needs.
    pub(crate) fn want(&mut self, form: Form, hash: HashAlgorithm, salt: &[u8]) -> Result<(), Verdict> {
        if self.find(form, hash, salt).is_some() {
            return Ok(());
        }
        let salted = self.0.iter().filter(|document| !document.salt().is_empty()).count();
        if !salt.is_empty() && salted == MAX_SALTED {
            return Err(Verdict::Unsupported);
        }
        self.0.push(Document::new(form, hash, salt)?);
        Ok(())
    }

    /// Finds a document.
    pub(crate) fn find(&self, form: Form, hash: HashAlgorithm, salt: &[u8]) -> Option<&Document> {
        let same = |one: &&Document| (one.form(), one.algorithm(), one.salt()) == (form, hash, salt);
        self.0.iter().find(same)
    }

    /// Has lines of text trimmed as detached signatures need it; nothing was hashed yet.
    pub(crate) fn trim_lines(&mut self) {
        self.0.iter_mut().for_each(Document::trim_lines);
    }

    fn update(&mut self, data: &[u8]) {
        self.0.iter_mut().for_each(|document| document.update(data));
    }
}

/// Hashes documents: here while they are short, then in a thread of its own.
pub(crate) enum Hashing {
    /// Here, so many bytes.
    Here(Documents, usize),
    /// In a thread.
    There(Thread),
}

pub(crate) struct Thread {
    input: Input<Buffer>,
    pool: Pool,
    handle: JoinHandle<Documents>,
}

impl Hashing {
    pub(crate) fn new(documents: Documents) -> Self {
        Self::Here(documents, 0)
    }

    /// Has lines of text trimmed as detached signatures need it; to be called before the first bytes.
    pub(crate) fn trim_lines(&mut self) {
        if let Self::Here(documents, _) = self {
            documents.trim_lines();
        }
    }

    /// Adds bytes to all documents.
    pub(crate) fn update(&mut self, data: &[u8]) {
        if let Self::Here(documents, bytes) = self {
            if documents.0.is_empty() {
                return;
            }
            *bytes += data.len();
            if *bytes <= 2 * PIECE {
                return documents.update(data);
            }
            *self = Self::There(Thread::start(std::mem::take(documents)));
        }
        if let Self::There(thread) = self {
            let mut buffer = thread.pool.take();
            buffer.extend_from_slice(data);
            // It only ends after this end of the queue.
            let _ = thread.input.send(buffer);
        }
    }

    /// Returns the documents, all of which was hashed.
    pub(crate) fn finish(self) -> Documents {
        match self {
            Self::Here(documents, _) => documents,
            Self::There(Thread { input, pool: _, handle }) => {
                drop(input);
                handle.join().expect("hashing does not panic")
            }
        }
    }
}

impl Thread {
    fn start(mut documents: Documents) -> Self {
        let (input, pieces) = pipeline::queue::<Buffer>();
        let pool = Pool::default();
        let back = pool.clone();
        let handle = thread::spawn(move || {
            for piece in pieces {
                documents.update(&piece);
                back.give(piece);
            }
            documents
        });
        Self { input, pool, handle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cert::signature::Head;

    #[test]
    fn long_content_has_the_digest_it_has_in_one_piece() {
        let content: Vec<u8> = (0..9 * PIECE + 17).map(|index| (index % 251) as u8).collect();
        let head = Head { version: 4, hash_algorithm: HashAlgorithm::SHA256, covered: &[], salt: &[] };
        let digest = |piece: usize| {
            let mut documents = Documents::default();
            documents.want(Form::Binary, HashAlgorithm::SHA256, &[]).expect("a known digest");
            let mut hashing = Hashing::new(documents);
            content.chunks(piece).for_each(|piece| hashing.update(piece));
            let documents = hashing.finish();
            let document = documents.find(Form::Binary, HashAlgorithm::SHA256, &[]).expect("it is wanted");
            document.clone().digest(&head).expect("a digest")
        };
        let whole = digest(content.len());
        assert!([1000, PIECE, 3 * PIECE].into_iter().all(|piece| digest(piece) == whole));
    }

    #[test]
    fn salts_are_limited() {
        let mut documents = Documents::default();
        let mut want = |byte| documents.want(Form::Binary, HashAlgorithm::SHA256, &[byte; 16]);
        assert!((0..MAX_SALTED as u8).all(|byte| want(byte).is_ok()));
        assert!(want(0).is_ok());
        assert_eq!(want(200), Err(Verdict::Unsupported));
    }
}
