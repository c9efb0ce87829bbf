//! Hashes content for the signatures over it, which are checked by who knows the keys.
//!
//! A message has one content, and everything that is hashed is all of it. Signatures must be inside of the encryption
//! that their content is in: what stands around encrypted data says nothing about what is in them.

use std::io::{BufReader, Read};

use cert::dearmor::DearmoredMessage;
use cert::packet::Tag;
use cert::signature::{self, Signature};
use cert::signed::Form;
use verify::hash::Digest;
use verify::{HashAlgorithm, Verdict};

use crate::content_writer::for_each_piece;
use crate::decrypt::{Authenticity, Event, MAX_PACKET, MAX_SIGNATURES, Sink};
use crate::frame::{self, Body};
use crate::hashing::{Documents, Hashing};
use crate::{Error, Result};

/// Bytes of clear text that are kept until its signatures say how they hash it.
const MAX_CLEAR: usize = 1 << 20;
/// What longer text is hashed with, besides the digests that its headers name.
const USUAL: [HashAlgorithm; 3] = [HashAlgorithm::SHA256, HashAlgorithm::SHA384, HashAlgorithm::SHA512];

/// A signature over content, with the digest of the content that it is about.
#[derive(Clone, Debug)]
pub struct DataSignature {
    /// The body of its packet.
    pub body: Vec<u8>,
    /// The digest that it has to be over; or the verdict, if there is nothing to verify: `Unsupported` for versions and
    /// digests that are not known, `Bad` for what can be no signature over this content.
    pub digest: std::result::Result<Digest, Verdict>,
}

impl DataSignature {
    fn over(body: Vec<u8>, documents: &Documents) -> Self {
        let digest = match signature::parse(&body) {
            Ok(parsed) => digest(&parsed, documents),
            Err(_) => Err(Verdict::Unsupported),
        };
        Self { body, digest }
    }

    /// Reads the signature; `None` if its version is not known or it is damaged.
    pub fn parsed(&self) -> Option<Signature<'_>> {
        signature::parse(&self.body).ok()
    }
}

fn digest(signature: &Signature<'_>, documents: &Documents) -> std::result::Result<Digest, Verdict> {
    let form = form(signature.kind.0).ok_or(Verdict::Bad)?;
    let document = documents.find(form, signature.hash_algorithm, signature.salt);
    document.ok_or(Verdict::Unsupported)?.clone().digest(&signature.head())
}

/// Returns what of content a signature of a type is over.
fn form(kind: u8) -> Option<Form> {
    Form::of(cert::facts::SignatureType(kind)).filter(|form| *form != Form::Nothing)
}

/// Makes sure that what a signature is over is hashed; if that cannot be, its digest is missing in the end.
fn want(documents: &mut Documents, signature: &[u8]) {
    if let Ok(signature) = signature::parse(signature)
        && let Some(form) = form(signature.kind.0)
    {
        let _ = documents.want(form, signature.hash_algorithm, signature.salt);
    }
}

/// A sink before another one, which collects the signatures of a message.
pub struct MessageVerifier<'s> {
    sink: &'s mut dyn Sink,
    stage: Stage,
    /// How many signatures were announced before the content and did not come yet.
    announced: usize,
    documents: Documents,
    /// Signatures before the content (RFC 9580, 10.3: as old programs write them).
    early: Vec<Vec<u8>>,
    found: Vec<DataSignature>,
}

enum Stage {
    /// Nothing of the content came.
    Before,
    /// The content passes.
    Content(Hashing),
    /// Clear text passes: what there was of it, until it is too much.
    Clear { held: Vec<u8>, hashes: Vec<HashAlgorithm> },
    /// The content is over; of clear text that is short it is here.
    After { clear: Option<Vec<u8>> },
    /// The encrypted data that held the content are over.
    Outside,
}

const AROUND: Error = Error::Malformed("signatures around encrypted data");

impl<'s> MessageVerifier<'s> {
    /// Begins to collect the signatures of a message whose content goes on to `sink`.
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            stage: Stage::Before,
            announced: 0,
            documents: Documents::default(),
            early: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Returns the signatures, in their order.
    ///
    /// # Errors
    ///
    /// If there are fewer of them than were announced.
    pub fn finish(self) -> Result<Vec<DataSignature>> {
        if self.announced > 0 { Err(Error::CutShort) } else { Ok(self.found) }
    }

    fn announce(&mut self, body: &[u8]) {
        self.announced += 1;
        if let Some((form, hash, salt)) = announced(body) {
            let _ = self.documents.want(form, hash, salt);
        }
    }

    fn signature(&mut self, body: &[u8]) -> Result<()> {
        match &self.stage {
            Stage::Before => {
                want(&mut self.documents, body);
                self.early.push(body.to_vec());
            }
            Stage::After { clear } => {
                self.announced = self.announced.saturating_sub(1);
                if let Some(text) = clear {
                    let mut documents = Documents::default();
                    want(&mut documents, body);
                    let mut hashing = Hashing::new(documents);
                    hashing.update(text);
                    self.documents = hashing.finish();
                }
                self.found.push(DataSignature::over(body.to_vec(), &self.documents));
            }
            Stage::Content(_) | Stage::Clear { .. } | Stage::Outside => return Err(AROUND),
        }
        Ok(())
    }

    fn content_ends(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::After { clear: None });
        match stage {
            Stage::Content(hashing) => self.documents = hashing.finish(),
            Stage::Clear { held, .. } => self.stage = Stage::After { clear: Some(held) },
            other => self.stage = other,
        }
        for body in self.early.drain(..) {
            self.found.push(DataSignature::over(body, &self.documents));
        }
    }

    /// Hashes from now on, since more text is not held.
    fn stream_clear_text(&mut self) {
        let Stage::Clear { held, hashes } = &self.stage else { return };
        let mut documents = Documents::default();
        for &hash in hashes.iter().chain(&USUAL) {
            let _ = documents.want(Form::Text, hash, &[]);
        }
        let mut hashing = Hashing::new(documents);
        hashing.update(held);
        self.stage = Stage::Content(hashing);
    }
}

/// Reads what a one-pass signature packet announces (RFC 9580, 5.4).
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
    Some((form(*kind)?, HashAlgorithm(*hash), salt))
}

impl Sink for MessageVerifier<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match &event {
            Event::OnePass(body) => self.announce(body),
            Event::Signature(body) => self.signature(body)?,
            Event::Decrypting { .. } if self.announced > 0 || !self.early.is_empty() => return Err(AROUND),
            Event::Literal { .. } => {
                self.stage = Stage::Content(Hashing::new(std::mem::take(&mut self.documents)));
            }
            Event::ClearText(announced) => {
                self.stage = Stage::Clear { held: Vec::new(), hashes: announced.digests.clone() };
            }
            Event::LiteralEnd | Event::ClearTextEnd(_) => self.content_ends(),
            Event::Decrypted => {
                if self.announced > 0 {
                    return Err(AROUND);
                }
                self.stage = Stage::Outside;
            }
            _ => {}
        }
        self.sink.event(event)
    }

    fn data(&mut self, data: &[u8], standing: Authenticity) -> Result<()> {
        match &mut self.stage {
            Stage::Clear { held, .. } => {
                held.extend_from_slice(data);
                if held.len() > MAX_CLEAR {
                    self.stream_clear_text();
                }
            }
            Stage::Content(hashing) => hashing.update(data),
            _ => {}
        }
        self.sink.data(data, standing)
    }
}

/// Signatures that stand alone, and are over something else.
#[derive(Clone, Debug)]
pub struct DetachedSignatures {
    bodies: Vec<Vec<u8>>,
}

impl DetachedSignatures {
    /// Reads signatures, without armor or in one or more armored blocks.
    ///
    /// # Errors
    ///
    /// What the input says, and if there is anything else in it.
    pub fn read(input: &mut (dyn Read + Send)) -> Result<Self> {
        let mut input = BufReader::new(DearmoredMessage::of_all_blocks(input));
        let mut bodies = Vec::new();
        while let Some(header) = frame::header(&mut input)? {
            let body = Body::new(&mut input, header.length);
            match header.tag {
                Tag::SIGNATURE => bodies.push(body.whole(MAX_PACKET)?),
                Tag::MARKER | Tag::PADDING => {
                    body.whole(MAX_PACKET)?;
                }
                _ => return Err(Error::Malformed("something else among detached signatures")),
            }
            if bodies.len() > MAX_SIGNATURES {
                return Err(Error::Limit("signatures of one message"));
            }
        }
        if bodies.is_empty() { Err(Error::NoMessage) } else { Ok(Self { bodies }) }
    }

    /// Hashes what they are over, all of `data`.
    ///
    /// # Errors
    ///
    /// What the input says.
    pub fn over(self, data: &mut dyn Read) -> Result<Vec<DataSignature>> {
        let mut documents = Documents::default();
        self.bodies.iter().for_each(|body| want(&mut documents, body));
        documents.trim_lines();
        let mut hashing = Hashing::new(documents);
        for_each_piece(data, |piece| {
            hashing.update(piece);
            Ok(())
        })?;
        let documents = hashing.finish();
        Ok(self.bodies.into_iter().map(|body| DataSignature::over(body, &documents)).collect())
    }
}
