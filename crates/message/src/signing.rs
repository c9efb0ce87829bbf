//! Signs content while it is streamed: inline, detached and as clear text.

use std::io::{Read, Write};

use cert::facts::SignatureType;
use cert::packet::{self, Tag};
use cert::signed::{Form, salt_length};
use secret::Signer;
use sign::Builder;

use crate::content_writer::{ContentSigner, LiteralOptions, for_each_piece};
use crate::document_hasher::{DocumentHasher, Documents};
use crate::literal::Literal;
use crate::{Error, Result};

/// A key that signs, and the content of its signature.
pub struct SignatureRequest<'a> {
    /// The key.
    pub key: &'a mut dyn Signer,
    /// The content of the signature, of type `BINARY` or `TEXT`.
    pub builder: Builder,
}

/// Signatures that are made over one content.
///
/// As a [`ContentSigner`] it signs what [`encrypt`](crate::encrypt()) encrypts.
pub struct Signing<'a> {
    pending: Vec<Pending<'a>>,
    hasher: DocumentHasher,
}

struct Pending<'a> {
    request: SignatureRequest<'a>,
    form: Form,
    salt: Vec<u8>,
}

impl<'a> Signing<'a> {
    /// Prepares signatures by several keys over the same content.
    ///
    /// # Errors
    ///
    /// For signatures of other types and unknown hash algorithms, and if the system gives no random numbers for a salt.
    pub fn new(requests: Vec<SignatureRequest<'a>>) -> Result<Self> {
        Self::over(requests, Form::of)
    }

    /// Prepares signatures over a text as it is, with its line ends, for clear text whose dashes are not escaped.
    ///
    /// # Errors
    ///
    /// Those of [`Signing::new`], and for binary signatures.
    pub fn verbatim(requests: Vec<SignatureRequest<'a>>) -> Result<Self> {
        Self::over(requests, |kind| (kind == SignatureType::TEXT).then_some(Form::Verbatim))
    }

    fn over(
        requests: Vec<SignatureRequest<'a>>,
        form_of: impl Fn(SignatureType) -> Option<Form>,
    ) -> Result<Self> {
        let mut documents = Documents::default();
        let mut pending = Vec::with_capacity(requests.len());
        for request in requests {
            let SignatureRequest { key, builder } = &request;
            let form = form_of(builder.kind()).filter(|form| *form != Form::Nothing);
            let form = form.ok_or(Error::Options("only binary and text signatures are over content"))?;
            let hash = builder.hash();
            let unknown = || Error::Sign(sign::Error::Hash(hash));
            let mut salt = Vec::new();
            if key.key().version == 6 {
                salt = vec![0; salt_length(hash).ok_or_else(unknown)?];
                getrandom::fill(&mut salt).map_err(|_| Error::Random)?;
            }
            documents.add(form, hash, &salt).map_err(|_| unknown())?;
            pending.push(Pending { request, form, salt });
        }
        Ok(Self { pending, hasher: DocumentHasher::new(documents) })
    }

    /// Returns the hash algorithms, each only once, in the order of the signatures.
    pub(crate) fn hashes(&self) -> Vec<verify::HashAlgorithm> {
        let mut hashes = Vec::new();
        for pending in &self.pending {
            let hash = pending.request.builder.hash();
            if !hashes.contains(&hash) {
                hashes.push(hash);
            }
        }
        hashes
    }

    /// Returns whether all signatures are over this form of the content.
    pub(crate) fn is_over(&self, form: Form) -> bool {
        self.pending.iter().all(|pending| pending.form == form)
    }

    /// Says that the content is clear text; must be called before the first bytes.
    pub(crate) fn begin_clear_text(&mut self) {
        self.hasher.set_metadata(&Literal::OF_CLEAR_TEXT);
    }

    /// Returns the signature packets after the end of the content.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>> {
        let hasher = std::mem::replace(&mut self.hasher, DocumentHasher::new(Documents::default()));
        let documents = hasher.finish();
        let mut packets = Vec::new();
        for Pending { request, form, salt } in self.pending.drain(..) {
            let document = documents.find(form, request.builder.hash(), &salt);
            let document = document.expect("every signature's document is hashed, and finished once").clone();
            packets.extend(request.builder.over_document(document).by(request.key)?);
        }
        Ok(packets)
    }
}

impl ContentSigner for Signing<'_> {
    /// Returns the one-pass signatures, that of the last signer first (RFC 9580, 5.4 and 10.3).
    fn before(&mut self, literal: &Literal) -> Result<Vec<u8>> {
        self.hasher.set_metadata(literal);
        let announced = self.pending.iter().enumerate().rev();
        Ok(announced.flat_map(|(index, pending)| pending.one_pass(index == 0)).collect())
    }

    fn data(&mut self, data: &[u8]) {
        self.hasher.update(data);
    }

    fn after(&mut self) -> Result<Vec<u8>> {
        self.finish()
    }
}

impl Pending<'_> {
    fn one_pass(&self, is_last: bool) -> Vec<u8> {
        let key = self.request.key.key();
        let builder = &self.request.builder;
        let mut body = vec![3, builder.kind().0, builder.hash().0, key.algorithm.0];
        let fingerprint = key.fingerprint();
        if key.version == 6 {
            body[0] = 6;
            body.push(self.salt.len() as u8);
            body.extend(&self.salt);
            body.extend(fingerprint.as_bytes());
        } else {
            body.extend(fingerprint.key_id().0.to_be_bytes());
        }
        body.push(u8::from(is_last));
        packet::write(Tag(4), &body)
    }
}

/// Signs all of `input`, and writes a message with the content and the signatures.
///
/// # Errors
///
/// Those of input and output, and of signing.
pub fn sign(
    input: &mut dyn Read,
    output: &mut dyn Write,
    content: &LiteralOptions,
    mut signing: Signing<'_>,
) -> Result<()> {
    content.check()?;
    content.write(input, output, &mut signing)?;
    output.flush().map_err(Error::Write)
}

/// Signs all of `input`, and returns the signature packets.
///
/// # Errors
///
/// Those of the input, and of signing.
pub fn sign_detached(input: &mut dyn Read, mut signing: Signing<'_>) -> Result<Vec<u8>> {
    signing.hasher.trim_lines();
    for_each_piece(input, |piece| {
        signing.data(piece);
        Ok(())
    })?;
    signing.finish()
}
