//! Computes the digests of signatures over documents (RFC 9580, 5.2.4) from a stream.

use super::salt_and_trailer::{after_salt, hash_trailer};
use crate::facts::SignatureType;
use crate::signature::Head;
use verify::hash::{Digest, Hasher};
use verify::{HashAlgorithm, Verdict};

/// The form of a document over which a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The bytes.
    Binary,
    /// The text, with CR LF as line ends.
    Text,
    /// The bytes of a text as they are: GnuPG's clear text whose dashes are not escaped.
    Verbatim,
    /// Nothing: a standalone signature.
    Nothing,
}

impl Form {
    /// Returns the form for signatures of a type; `None` if they are not made over documents.
    pub fn of(kind: SignatureType) -> Option<Self> {
        match kind {
            SignatureType::BINARY => Some(Self::Binary),
            SignatureType::TEXT => Some(Self::Text),
            SignatureType::STANDALONE => Some(Self::Nothing),
            _ => None,
        }
    }

    /// Returns the type of signatures over this form.
    pub fn signature_type(self) -> SignatureType {
        match self {
            Self::Binary => SignatureType::BINARY,
            Self::Text | Self::Verbatim => SignatureType::TEXT,
            Self::Nothing => SignatureType::STANDALONE,
        }
    }
}

/// Computes the digest of signatures over one document; a clone continues from the same state.
///
/// Each signature of version 6 has its own salt, and therefore needs its own `Document`.
#[derive(Clone)]
pub struct Document {
    form: Form,
    hasher: Hasher,
    algorithm: HashAlgorithm,
    salt: Vec<u8>,
    /// Whether the last byte was a CR.
    after_cr: bool,
    /// If lines are trimmed, the number of CRs that may be the end of a line.
    trimmed: Option<u64>,
    /// What signatures of version 5 are over in addition: the fields of the literal data before the content.
    metadata: Vec<u8>,
    /// The state if CRs alone end lines too, from the first one on: programs differ about them.
    loose: Option<Hasher>,
}

impl Document {
    /// Creates a document; the salt is empty for signatures before version 6.
    ///
    /// # Errors
    ///
    /// `Unsupported` for an unknown hash algorithm, `Bad` for a salt of the wrong length.
    pub fn new(form: Form, algorithm: HashAlgorithm, salt: &[u8]) -> Result<Self, Verdict> {
        let hasher = if salt.is_empty() {
            Hasher::new(algorithm).ok_or(Verdict::Unsupported)?
        } else {
            after_salt(&Head { version: 6, hash_algorithm: algorithm, covered: &[], salt })?
        };
        Ok(Self {
            form,
            hasher,
            algorithm,
            salt: salt.to_vec(),
            after_cr: false,
            trimmed: None,
            metadata: vec![0; 6],
            loose: None,
        })
    }

    /// Sets the fields of the literal data before the content, over which signatures of version 5 are made as well
    /// (LibrePGP, 5.2.4); without literal data they are zeros.
    pub fn set_metadata(&mut self, fields: &[u8]) {
        self.metadata = fields.to_vec();
    }

    /// Removes all CRs at the ends of lines, also of the last line.
    ///
    /// GnuPG makes detached signatures over text in this way, although RFC 9580 only normalises line ends. Must be
    /// called before the first bytes.
    pub fn trim_lines(&mut self) {
        self.trimmed = Some(0);
    }

    /// Adds bytes of the document.
    pub fn update(&mut self, bytes: &[u8]) {
        match self.form {
            Form::Binary | Form::Verbatim => self.hasher.update(bytes),
            Form::Text if self.trimmed.is_some() => self.update_trimmed(bytes),
            Form::Text => self.update_text(bytes),
            Form::Nothing => {}
        }
    }

    fn update_text(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&next) = rest.first() {
            if self.after_cr && next != b'\n' {
                self.end_loose_lines(1, 0);
                self.after_cr = false;
            }
            let part = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(part);
            match line.split_last() {
                Some((b'\n', text)) => {
                    self.add(text);
                    self.add(if self.after_cr && text.is_empty() { b"\n" } else { b"\r\n" });
                    self.after_cr = false;
                }
                last => {
                    self.add(line);
                    self.after_cr = last.is_some_and(|(last, _)| *last == b'\r');
                }
            }
            rest = after;
        }
    }

    /// Adds bytes that both forms of the text have.
    fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        if let Some(loose) = &mut self.loose {
            loose.update(bytes);
        }
    }

    /// Ends lines where CRs stand alone, of which `hashed` were added already, and `missing` were not.
    fn end_loose_lines(&mut self, hashed: usize, missing: u64) {
        let loose = self.loose.get_or_insert_with(|| self.hasher.clone());
        if hashed > 0 {
            loose.update(b"\n");
        }
        (0..missing).for_each(|_| loose.update(b"\r\n"));
    }

    fn update_trimmed(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = line.strip_suffix(b"\n").map_or((line, false), |text| (text, true));
            let kept = text.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
            let mut crs = self.trimmed.unwrap_or_default();
            if kept > 0 {
                self.update_crs(crs);
                self.update_inside_line(&text[..kept]);
                crs = 0;
            }
            crs += (text.len() - kept) as u64;
            if ends {
                self.add(b"\r\n");
                crs = 0;
            }
            self.trimmed = Some(crs);
        }
    }

    /// Adds a part of a line, in which CRs stand alone.
    fn update_inside_line(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'\r', rest) {
            self.add(&rest[..at]);
            self.update_crs(1);
            rest = &rest[at + 1..];
        }
        self.add(rest);
    }

    /// Adds CRs that were not at the end of a line.
    fn update_crs(&mut self, mut count: u64) {
        const CRS: [u8; 64] = [b'\r'; 64];
        if count > 0 {
            self.end_loose_lines(0, count);
        }
        while count > 0 {
            let piece = count.min(CRS.len() as u64);
            self.hasher.update(&CRS[..piece as usize]);
            count -= piece;
        }
    }

    /// Returns the form.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the hash algorithm.
    pub fn algorithm(&self) -> HashAlgorithm {
        self.algorithm
    }

    /// Returns the salt, empty before version 6.
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// Finishes the document with CRs alone as line ends; `None` if there are none, and for what [`Document::digest`] is an
    /// error.
    pub fn loose_digest(mut self, head: &Head<'_>) -> Option<Digest> {
        if self.form == Form::Text && self.after_cr && self.trimmed.is_none() {
            self.end_loose_lines(1, 0);
        }
        let hasher = self.loose.take()?;
        Self { hasher, ..self }.digest(head).ok()
    }

    /// Finishes the document and returns the digest of a signature.
    ///
    /// # Errors
    ///
    /// `Bad` for a signature with another hash algorithm or salt, and for a SHA-1 collision attack.
    pub fn digest(self, head: &Head<'_>) -> Result<Digest, Verdict> {
        if head.hash_algorithm != self.algorithm || head.salt != self.salt {
            return Err(Verdict::Bad);
        }
        if (head.version == 6) == self.salt.is_empty() {
            return Err(Verdict::Bad);
        }
        let mut hasher = self.hasher;
        let metadata = if self.form == Form::Nothing { &[][..] } else { &self.metadata[..] };
        hash_trailer(&mut hasher, head, metadata);
        hasher.finish().ok_or(Verdict::Bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: Head<'static> =
        Head { version: 4, hash_algorithm: HashAlgorithm::SHA256, covered: &[], salt: &[] };

    fn digest(form: Form, pieces: &[&[u8]]) -> Digest {
        let mut document = Document::new(form, HashAlgorithm::SHA256, &[]).expect("a known digest");
        pieces.iter().for_each(|piece| document.update(piece));
        document.digest(&HEAD).expect("a digest")
    }

    #[test]
    fn lines_of_text_end_with_cr_lf_whatever_they_ended_with() {
        let canonical = digest(Form::Binary, &[b"one\r\ntwo\r\n\r\n"]);
        for pieces in
            [&[&b"one\ntwo\n\n"[..]][..], &[b"one\r\ntwo\n\r\n"], &[b"one\r", b"\ntwo", b"\n", b"\n"]]
        {
            assert_eq!(digest(Form::Text, pieces), canonical, "{pieces:?}");
        }
        assert_ne!(digest(Form::Text, &[b"one\r\r\ntwo\n\n"]), canonical);
    }

    #[test]
    fn a_cr_alone_may_end_a_line() {
        let loose = |pieces: &[&[u8]], trims: bool| {
            let mut document = Document::new(Form::Text, HashAlgorithm::SHA256, &[]).expect("a known digest");
            if trims {
                document.trim_lines();
            }
            pieces.iter().for_each(|piece| document.update(piece));
            document.loose_digest(&HEAD)
        };
        let canonical = digest(Form::Binary, &[b"one\r\ntwo\r\nthree\r\n"]);
        for pieces in [&[&b"one\rtwo\nthree\n"[..]][..], &[b"one\r", b"two", b"\r\nthr", b"ee\r", b"\n"]] {
            assert_eq!(loose(pieces, false), Some(canonical), "{pieces:?}");
            assert_eq!(loose(pieces, true), Some(canonical), "{pieces:?}");
        }
        assert_eq!(loose(&[b"one\ntwo\r\n"], false), None);
        assert_eq!(loose(&[b"one\ntwo\r\n"], true), None);
    }

    fn trimmed(pieces: &[&[u8]]) -> Digest {
        let mut document = Document::new(Form::Text, HashAlgorithm::SHA256, &[]).expect("a known digest");
        document.trim_lines();
        pieces.iter().for_each(|piece| document.update(piece));
        document.digest(&HEAD).expect("a digest")
    }

    #[test]
    fn lines_that_are_trimmed_lose_all_crs_at_their_ends_and_no_others() {
        let many = [b'\r'; 150];
        for (pieces, signed) in [
            (&[&b"one\r\r\ntwo\n"[..]][..], &b"one\r\ntwo\r\n"[..]),
            (&[b"one\r", b"\r", b"\r\n", b"\r\ntwo\r\r"], b"one\r\n\r\ntwo"),
            (&[b"o\r", b"\rne \n"], b"o\r\rne \r\n"),
            (&[b"\r", b""], b""),
            (&[b"x", &many, b"y", &many], &[b"x", &many[..], b"y"].concat()),
        ] {
            assert_eq!(trimmed(pieces), digest(Form::Binary, &[signed]), "{pieces:?}");
        }
    }

    #[test]
    fn a_signature_that_stands_alone_is_over_nothing() {
        assert_eq!(digest(Form::Nothing, &[b"anything"]), digest(Form::Binary, &[]));
    }

    #[test]
    fn another_salt_or_digest_is_refused() {
        let document = || Document::new(Form::Binary, HashAlgorithm::SHA256, &[]).expect("a known digest");
        assert_eq!(document().digest(&Head { version: 6, ..HEAD }), Err(Verdict::Bad));
        assert_eq!(document().digest(&Head { salt: &[1; 16], ..HEAD }), Err(Verdict::Bad));
        let other = Head { hash_algorithm: HashAlgorithm::SHA512, ..HEAD };
        assert_eq!(document().digest(&other), Err(Verdict::Bad));
        assert_eq!(
            Document::new(Form::Binary, HashAlgorithm::SHA256, &[1; 8]).err(),
            Some(Verdict::Bad),
            "a salt of the wrong length"
        );
    }

    proptest! {
        #[test]
        fn text_does_not_depend_on_how_it_is_cut(
            text in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'a')], 0..40),
            cut in 0usize..40,
        ) {
            let (first, second) = text.split_at(cut.min(text.len()));
            prop_assert_eq!(digest(Form::Text, &[first, second]), digest(Form::Text, &[&text]));
            prop_assert_eq!(trimmed(&[first, second]), trimmed(&[&text]));
        }
    }
}
