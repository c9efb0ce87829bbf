//! Hashes the content of messages for their signatures, which the caller verifies.
//!
//! A message has one content, all of which is hashed. Signatures around encrypted data are over these, and say nothing
//! about the plaintext: they are an error, or are returned as ones that are not over the content.

use std::io::{BufReader, Read};

use cert::ArmorRules;
use cert::dearmor::DearmoredMessage;
use cert::packet::Tag;
use cert::signature::{self, Signature};
use cert::signed::Form;
use verify::hash::Digest;
use verify::{HashAlgorithm, Verdict};

use crate::content_writer::for_each_piece;
use crate::decrypt::{Authenticity, Event, MAX_PACKET, MAX_SIGNATURES, Sink, is_left_aside};
use crate::document_hasher::{DocumentHasher, Documents};
use crate::frame::{self, Body};
use crate::literal::Literal;
use crate::{Error, Result};

/// The most bytes of clear text that are buffered until its signatures say how it is hashed.
const MAX_CLEAR: usize = 1 << 20;
/// The hash algorithms for longer text, in addition to those that its headers name.
const DEFAULT_ALGORITHMS: [HashAlgorithm; 3] =
    [HashAlgorithm::SHA256, HashAlgorithm::SHA384, HashAlgorithm::SHA512];

/// A signature over content, with the digest of the content.
#[derive(Clone, Debug)]
pub struct DataSignature {
    /// The body of its packet.
    pub body: Vec<u8>,
    /// The digest over which it must be made; or the verdict if it is already known: `Unsupported` for unknown versions
    /// and hash algorithms and for signatures around encrypted data, `Bad` for those that cannot be made over content.
    pub digest: std::result::Result<Digest, Verdict>,
    /// The digest of text in which CRs alone end lines, if there are any: what programs sign then differs. None for clear
    /// text, which is written as it was signed.
    pub loose_digest: Option<Digest>,
    /// Whether it is around encrypted data, so that it is not over the content.
    pub is_around_encryption: bool,
}

impl DataSignature {
    fn over(body: Vec<u8>, documents: &Documents, text: Form) -> Self {
        let (digest, loose_digest) = match signature::parse(&body) {
            Ok(parsed) => (digest(&parsed, documents, text), loose_digest(&parsed, documents, text)),
            Err(_) => (Err(Verdict::Unsupported), None),
        };
        Self { body, digest, loose_digest, is_around_encryption: false }
    }

    fn around(body: Vec<u8>) -> Self {
        Self { body, digest: Err(Verdict::Unsupported), loose_digest: None, is_around_encryption: true }
    }

    /// Parses the signature; `None` if its version is unknown or it is damaged.
    pub fn parsed(&self) -> Option<Signature<'_>> {
        signature::parse(&self.body).ok()
    }
}

fn digest(
    signature: &Signature<'_>,
    documents: &Documents,
    text: Form,
) -> std::result::Result<Digest, Verdict> {
    let form = form(signature.kind.0, text).ok_or(Verdict::Bad)?;
    let document = documents.find(form, signature.hash_algorithm, signature.salt);
    document.ok_or(Verdict::Unsupported)?.clone().digest(&signature.head())
}

fn loose_digest(signature: &Signature<'_>, documents: &Documents, text: Form) -> Option<Digest> {
    let form = form(signature.kind.0, text)?;
    let document = documents.find(form, signature.hash_algorithm, signature.salt)?;
    document.clone().loose_digest(&signature.head())
}

/// Returns the form of the content over which signatures of a type are made; those over text are over `text`.
fn form(kind: u8, text: Form) -> Option<Form> {
    let form = Form::of(cert::facts::SignatureType(kind)).filter(|form| *form != Form::Nothing)?;
    Some(if form == Form::Text { text } else { form })
}

/// Adds the document of a signature; if that is not possible, its digest is missing later.
fn add_document(documents: &mut Documents, signature: &[u8], text: Form) {
    if let Ok(signature) = signature::parse(signature)
        && let Some(form) = form(signature.kind.0, text)
    {
        let _ = documents.add(form, signature.hash_algorithm, signature.salt);
    }
}

/// A sink that collects the signatures of a message, and forwards everything to another sink.
pub struct MessageVerifier<'s> {
    sink: &'s mut dyn Sink,
    stage: Stage,
    is_clear_text: bool,
    /// What signatures over text are over: [`Form::Verbatim`] in clear text whose dashes are not escaped.
    text: Form,
    /// The number of one-pass signatures whose signatures did not follow yet.
    announced: usize,
    /// The same of those around encrypted data; `None` if these are an error.
    announced_around: Option<usize>,
    documents: Documents,
    /// Signatures before the content, as old programs write them (RFC 9580, 10.3).
    early: Vec<Vec<u8>>,
    found: Vec<DataSignature>,
}

enum Stage {
    /// Before the content.
    Before,
    /// In the content.
    Content(DocumentHasher),
    /// In clear text, which is buffered up to [`MAX_CLEAR`].
    Clear { text: Vec<u8>, hashes: Vec<HashAlgorithm> },
    /// After the content; with the text, if it is short clear text.
    After { clear: Option<Vec<u8>> },
    /// After the encrypted data with the content.
    Outside,
}

const SIGNATURES_AROUND_ENCRYPTION: Error = Error::Malformed("signatures around encrypted data");

impl<'s> MessageVerifier<'s> {
    /// Creates a verifier that forwards events and data to `sink`.
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            stage: Stage::Before,
            is_clear_text: false,
            text: Form::Text,
            announced: 0,
            announced_around: None,
            documents: Documents::default(),
            early: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Accepts signatures around encrypted data.
    pub fn with_signatures_around_encryption(mut self) -> Self {
        self.announced_around = Some(0);
        self
    }

    /// Returns the signatures in order.
    ///
    /// # Errors
    ///
    /// If there are fewer signatures than one-pass signatures.
    pub fn finish(self) -> Result<Vec<DataSignature>> {
        let announced = self.announced + self.announced_around.unwrap_or_default();
        if announced > 0 { Err(Error::CutShort) } else { Ok(self.found) }
    }

    fn announce(&mut self, body: &[u8]) {
        self.announced += 1;
        if let Some((form, hash, salt)) = announced(body) {
            let _ = self.documents.add(form, hash, salt);
        }
    }

    fn signature(&mut self, body: &[u8]) -> Result<()> {
        match &self.stage {
            Stage::Before => {
                add_document(&mut self.documents, body, self.text);
                self.early.push(body.to_vec());
            }
            Stage::After { clear } => {
                self.announced = self.announced.saturating_sub(1);
                if let Some(text) = clear {
                    let mut documents = Documents::default();
                    add_document(&mut documents, body, self.text);
                    documents.set_metadata(&Literal::OF_CLEAR_TEXT);
                    let mut hasher = DocumentHasher::new(documents);
                    hasher.update(text);
                    self.documents = hasher.finish();
                }
                let mut found = DataSignature::over(body.to_vec(), &self.documents, self.text);
                found.loose_digest = found.loose_digest.filter(|_| !self.is_clear_text);
                self.found.push(found);
            }
            Stage::Outside => match &mut self.announced_around {
                Some(announced) => {
                    *announced = announced.saturating_sub(1);
                    self.found.push(DataSignature::around(body.to_vec()));
                }
                None => return Err(SIGNATURES_AROUND_ENCRYPTION),
            },
            Stage::Content(_) | Stage::Clear { .. } => return Err(SIGNATURES_AROUND_ENCRYPTION),
        }
        Ok(())
    }

    fn content_ends(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::After { clear: None });
        match stage {
            Stage::Content(hasher) => self.documents = hasher.finish(),
            Stage::Clear { text, .. } => self.stage = Stage::After { clear: Some(text) },
            other => self.stage = other,
        }
        for body in self.early.drain(..) {
            self.found.push(DataSignature::over(body, &self.documents, self.text));
        }
    }

    /// Hashes the text from now on, since it exceeds the buffer.
    fn stream_clear_text(&mut self) {
        let Stage::Clear { text, hashes } = &self.stage else { return };
        let mut documents = Documents::default();
        for &hash in hashes.iter().chain(&DEFAULT_ALGORITHMS) {
            let _ = documents.add(self.text, hash, &[]);
        }
        documents.set_metadata(&Literal::OF_CLEAR_TEXT);
        let mut hasher = DocumentHasher::new(documents);
        hasher.update(text);
        self.stage = Stage::Content(hasher);
    }
}

/// Parses a one-pass signature packet (RFC 9580, 5.4).
fn announced(body: &[u8]) -> Option<(Form, HashAlgorithm, &[u8])> {
    let [version, kind, hash, _, rest @ ..] = body else { return None };
    let salt = match version {
        3 => &[],
        6 => {
            let (&length, rest) = rest.split_first()?;
            rest.get(..length.into())?
        }
        _ => return None,
    };
    Some((form(*kind, Form::Text)?, HashAlgorithm(*hash), salt))
}

impl Sink for MessageVerifier<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match &event {
            Event::OnePass(body) => self.announce(body),
            Event::Signature(body) => self.signature(body)?,
            Event::Decrypting { .. } if self.announced > 0 || !self.early.is_empty() => {
                let Some(around) = &mut self.announced_around else {
                    return Err(SIGNATURES_AROUND_ENCRYPTION);
                };
                *around += std::mem::take(&mut self.announced);
                self.found.extend(self.early.drain(..).map(DataSignature::around));
                self.documents = Documents::default();
            }
            Event::Literal { literal, .. } => {
                self.documents.set_metadata(literal);
                self.stage = Stage::Content(DocumentHasher::new(std::mem::take(&mut self.documents)));
            }
            Event::ClearText(announced) => {
                self.is_clear_text = true;
                if announced.is_verbatim {
                    self.text = Form::Verbatim;
                }
                self.stage = Stage::Clear { text: Vec::new(), hashes: announced.digests.clone() };
            }
            Event::LiteralEnd | Event::ClearTextEnd(_) => self.content_ends(),
            Event::Decrypted => {
                if self.announced > 0 {
                    return Err(SIGNATURES_AROUND_ENCRYPTION);
                }
                self.stage = Stage::Outside;
            }
            _ => {}
        }
        self.sink.event(event)
    }

    fn data(&mut self, data: &[u8], authenticity: Authenticity) -> Result<()> {
        match &mut self.stage {
            Stage::Clear { text, .. } => {
                text.extend_from_slice(data);
                if text.len() > MAX_CLEAR {
                    self.stream_clear_text();
                }
            }
            Stage::Content(hasher) => hasher.update(data),
            _ => {}
        }
        self.sink.data(data, authenticity)
    }
}

/// Detached signatures.
#[derive(Clone, Debug)]
pub struct DetachedSignatures {
    bodies: Vec<Vec<u8>>,
    left_aside: Vec<Tag>,
}

impl DetachedSignatures {
    /// Reads signatures, without armor or in one or more armored blocks, by RFC 9580's rules for armor.
    ///
    /// # Errors
    ///
    /// Those of the input, and if it contains other packets.
    pub fn read(input: &mut (dyn Read + Send)) -> Result<Self> {
        Self::read_with(input, ArmorRules::Rfc9580)
    }

    /// Reads signatures as [`DetachedSignatures::read`] does, by other rules for armor.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn read_with(input: &mut (dyn Read + Send), armor: ArmorRules) -> Result<Self> {
        let mut input = BufReader::new(DearmoredMessage::of_all_blocks(input).with(armor));
        let (mut bodies, mut left_aside) = (Vec::new(), Vec::new());
        while let Some(header) = frame::header(&mut input)? {
            let body = Body::new(&mut input, header.length);
            match header.tag {
                Tag::SIGNATURE => bodies.push(body.whole(MAX_PACKET)?),
                tag if is_left_aside(tag) => {
                    body.whole(MAX_PACKET)?;
                    left_aside.push(tag);
                }
                _ => return Err(Error::Malformed("something else among detached signatures")),
            }
            if bodies.len() + left_aside.len() > MAX_SIGNATURES {
                return Err(Error::Limit("signatures of one message"));
            }
        }
        if bodies.is_empty() { Err(Error::NoMessage) } else { Ok(Self { bodies, left_aside }) }
    }

    /// Returns the types of the packets among the signatures that say nothing of them.
    pub fn left_aside(&self) -> &[Tag] {
        &self.left_aside
    }

    /// Hashes all of `data`, over which the signatures are made.
    ///
    /// # Errors
    ///
    /// Those of the input.
    pub fn over(self, data: &mut dyn Read) -> Result<Vec<DataSignature>> {
        let mut documents = Documents::default();
        self.bodies.iter().for_each(|body| add_document(&mut documents, body, Form::Text));
        documents.trim_lines();
        let mut hasher = DocumentHasher::new(documents);
        for_each_piece(data, |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        let documents = hasher.finish();
        Ok(self.bodies.into_iter().map(|body| DataSignature::over(body, &documents, Form::Text)).collect())
    }
}
