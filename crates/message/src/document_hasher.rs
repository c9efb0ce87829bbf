//! Hashes the content of a message for its signatures, each digest only once, in a thread of its own.

use std::thread::{self, JoinHandle};

use cert::signed::{Document, Form};
use crossbeam_channel::Sender;
use verify::{HashAlgorithm, Verdict};

use crate::literal::Literal;
use crate::pipeline::{self, Buffer, PIECE, Pool};

/// The most digests that begin with a salt, each of which is for one signature only.
const MAX_SALTED: usize = 32;

/// The documents over which signatures are made, each only once.
#[derive(Clone, Default)]
pub(crate) struct Documents(Vec<Document>);

impl Documents {
    /// Adds a document, unless it is there already.
    ///
    /// # Errors
    ///
    /// Those of [`Document::new`]; `Unsupported` also above [`MAX_SALTED`].
    pub(crate) fn add(&mut self, form: Form, hash: HashAlgorithm, salt: &[u8]) -> Result<(), Verdict> {
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
        let matches = |document: &&Document| {
            (document.form(), document.algorithm(), document.salt()) == (form, hash, salt)
        };
        self.0.iter().find(matches)
    }

    /// Trims lines of text as detached signatures need it; must be called before hashing.
    pub(crate) fn trim_lines(&mut self) {
        self.0.iter_mut().for_each(Document::trim_lines);
    }

    /// Sets the fields of the literal data, over which signatures of version 5 are made as well; must be called before
    /// hashing.
    pub(crate) fn set_metadata(&mut self, literal: &Literal) {
        let fields = literal.head();
        self.0.iter_mut().for_each(|document| document.set_metadata(&fields));
    }

    fn update(&mut self, data: &[u8]) {
        self.0.iter_mut().for_each(|document| document.update(data));
    }
}

/// Hashes documents: short ones in the caller's thread, long ones in a thread of its own.
pub(crate) enum DocumentHasher {
    /// In the caller's thread; the number of bytes so far.
    Inline(Documents, usize),
    /// In a thread of its own.
    Threaded(HasherThread),
}

pub(crate) struct HasherThread {
    input: Sender<Buffer>,
    pool: Pool,
    handle: JoinHandle<Documents>,
}

impl DocumentHasher {
    pub(crate) fn new(documents: Documents) -> Self {
        Self::Inline(documents, 0)
    }

    /// Trims lines of text as detached signatures need it; must be called before the first bytes.
    pub(crate) fn trim_lines(&mut self) {
        if let Self::Inline(documents, _) = self {
            documents.trim_lines();
        }
    }

    /// Sets the fields of the literal data, see [`Documents::set_metadata`].
    pub(crate) fn set_metadata(&mut self, literal: &Literal) {
        if let Self::Inline(documents, _) = self {
            documents.set_metadata(literal);
        }
    }

    /// Adds bytes to all documents.
    pub(crate) fn update(&mut self, data: &[u8]) {
        if let Self::Inline(documents, bytes) = self {
            if documents.0.is_empty() {
                return;
            }
            *bytes += data.len();
            if *bytes <= 2 * PIECE {
                return documents.update(data);
            }
            *self = Self::Threaded(HasherThread::start(std::mem::take(documents)));
        }
        if let Self::Threaded(thread) = self {
            let mut buffer = thread.pool.take();
            buffer.extend_from_slice(data);
            // The thread ends only after this sender is dropped.
            let _ = thread.input.send(buffer);
        }
    }

    /// Returns the documents after all bytes were hashed.
    pub(crate) fn finish(self) -> Documents {
        match self {
            Self::Inline(documents, _) => documents,
            Self::Threaded(HasherThread { input, pool: _, handle }) => {
                drop(input);
                handle.join().expect("hashing does not panic")
            }
        }
    }
}

impl HasherThread {
    fn start(mut documents: Documents) -> Self {
        let (input, pieces) = pipeline::channel::<Buffer>();
        let pool = Pool::default();
        let returned = pool.clone();
        let handle = thread::spawn(move || {
            for piece in pieces {
                documents.update(&piece);
                returned.put_back(piece);
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
            documents.add(Form::Binary, HashAlgorithm::SHA256, &[]).expect("a known digest");
            let mut hasher = DocumentHasher::new(documents);
            content.chunks(piece).for_each(|piece| hasher.update(piece));
            let documents = hasher.finish();
            let document = documents.find(Form::Binary, HashAlgorithm::SHA256, &[]).expect("it was added");
            document.clone().digest(&head).expect("a digest")
        };
        let whole = digest(content.len());
        assert!([1000, PIECE, 3 * PIECE].into_iter().all(|piece| digest(piece) == whole));
    }

    #[test]
    fn salts_are_limited() {
        let mut documents = Documents::default();
        let mut add = |byte| documents.add(Form::Binary, HashAlgorithm::SHA256, &[byte; 16]);
        assert!((0..MAX_SALTED as u8).all(|byte| add(byte).is_ok()));
        assert!(add(0).is_ok());
        assert_eq!(add(200), Err(Verdict::Unsupported));
    }
}
