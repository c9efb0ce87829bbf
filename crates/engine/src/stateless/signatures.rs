//! Signatures over data: signing, verifying, and separating them from the data.

use std::io::{Read, Write};
use std::path::Path;

use cert::armor_writer::{ArmorWriter, Headers};
use cert::certificate::Certificate;
use cert::effective::PacketView;
use cert::facts::SignatureType;
use cert::packet::{self, Tag};
use cert::{ArmorRules, Fingerprint, Timestamp};
use message::{
    Allowed, Authenticity as Trust, DataSignature, DetachedSignatures, Event, Format, Literal,
    LiteralOptions, MessageVerifier, NoKeys, SignatureRequest, Signing, Sink,
};
use secret::{Signer, Unlocked};
use sign::{Builder, hash_for};
use store::CertId;
use verify::HashAlgorithm;
use verify::policy::DigestPolicy;

use super::text::{Utf8, of_text};
use super::{Certificates, Failure, Keys, Kind, Password, Result};
use crate::decryption::PlaintextOutput;
use crate::recipients::{EncryptionKey, naming_recipients, preferred_digest};
use crate::signing_keys::{SigningKeys, modern_signing_key};
use crate::validity::{Sources, TrustSettings};
use crate::verification::{Examiner, SignaturePolicy, SignatureStatus, SignatureVerdict};

/// How a message that holds what is signed is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
    /// As bytes.
    #[default]
    Binary,
    /// As UTF-8 text, however its lines end.
    Text,
    /// As text that everybody can read, with the signatures behind it.
    ClearSigned,
}

/// Those who may have signed.
#[derive(Clone, Debug)]
pub struct Signers {
    /// What their file is called.
    pub name: String,
    /// Their certificates.
    pub certificates: Certificates,
}

/// When signatures must have been made; `None` is without end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Not before this.
    pub from: Option<Timestamp>,
    /// Not after this.
    pub to: Option<Timestamp>,
}

/// A signature that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// When it was made.
    pub created: Timestamp,
    /// The key that made it.
    pub key: Fingerprint,
    /// The primary key of its certificate.
    pub primary: Fingerprint,
    /// It is over text, however its lines end.
    pub is_text: bool,
    /// By what name the file of the certificate was given.
    pub signer: String,
}

/// Unlocks the keys that sign, one for each certificate: one that cannot be used is passed over for the next.
///
/// # Errors
///
/// [`Kind::KeyCannotSign`], [`Kind::KeyIsProtected`].
pub(super) fn signers(keys: &[Keys], passwords: &[Password], now: Timestamp) -> Result<Vec<Unlocked>> {
    let mut signers = Vec::new();
    for keys in keys {
        let keyring = keys.certificates().keyring(Path::new("KEYS"));
        let snapshot = keyring.snapshot();
        for (id, certificate) in (1..).map(CertId).zip(&keys.certificates) {
            let mut stored_keys = keys.stored_keys();
            let mut first_failure = None;
            let signer = loop {
                let key = match modern_signing_key(snapshot.as_ref(), id, &|_| Ok(stored_keys.clone()), now)?
                {
                    Some(SigningKeys::Key(key)) => key,
                    found => return Err(first_failure.unwrap_or_else(|| cannot_sign(certificate, found))),
                };
                match keys.unlock(&key.key, passwords) {
                    Ok(signer) => break signer,
                    Err(failure) if failure.kind == Kind::KeyIsProtected => return Err(failure),
                    Err(failure) => first_failure = first_failure.or(Some(failure)),
                }
                stored_keys.retain(|stored| stored.fingerprint != key.key);
            };
            signers.push(signer);
        }
    }
    Ok(signers)
}

/// Returns why a certificate has no key to sign with.
fn cannot_sign(certificate: &Certificate, found: Option<SigningKeys>) -> Failure {
    let primary = certificate.facts.primary().fingerprint;
    let reason = match found {
        Some(SigningKeys::Unusable { objection: Some(objection), .. }) => objection.to_string(),
        Some(_) => "it has no key that may sign now".to_owned(),
        None => "it has no secret key".to_owned(),
    };
    Failure::new(Kind::KeyCannotSign, format!("{primary}: cannot sign with it: {reason}"))
}

/// Says what each of the keys signs, for these recipients.
pub(super) fn signing<'a>(
    keys: &'a mut [Unlocked],
    kind: SignatureType,
    recipients: &[EncryptionKey],
    now: Timestamp,
) -> Result<Signing<'a>> {
    let preferences: Vec<_> = recipients.iter().map(|key| &key.preferences).collect();
    let signatory = |key: &'a mut Unlocked| {
        let builder = Builder::new(kind, preferred_digest(digest(key), &preferences), now);
        SignatureRequest {
            builder: naming_recipients(builder, recipients.iter().map(|key| (key, false))),
            key,
        }
    };
    Ok(Signing::new(keys.iter_mut().map(signatory).collect())?)
}

/// Returns the digest that a key signs data with.
fn digest(key: &Unlocked) -> HashAlgorithm {
    match hash_for(&key.key()) {
        // SHA-1, which suits a DSA key of 1024 bits, is not accepted in signatures.
        HashAlgorithm::SHA1 => HashAlgorithm::SHA256,
        hash => hash,
    }
}

/// Signs data: the signature packets, and the digest if all of them have the same one.
///
/// # Errors
///
/// [`Kind::MissingArg`] without keys, [`Kind::KeyCannotSign`], [`Kind::KeyIsProtected`], [`Kind::ExpectedText`].
pub fn sign(
    data: &mut dyn Read,
    keys: &[Keys],
    passwords: &[Password],
    as_text: bool,
    now: Timestamp,
) -> Result<(Vec<u8>, Option<HashAlgorithm>)> {
    let mut keys = at_least_one(signers(keys, passwords, now)?)?;
    let kind = if as_text { SignatureType::TEXT } else { SignatureType::BINARY };
    let signing = signing(&mut keys, kind, &[], now)?;
    let signatures = match as_text {
        true => message::sign_detached(&mut Utf8::new(data), signing),
        false => message::sign_detached(data, signing),
    };
    let hashes: Vec<_> = keys.iter().map(digest).collect();
    let same = hashes.first().filter(|first| hashes.iter().all(|hash| hash == *first));
    Ok((signatures.map_err(of_text)?, same.copied()))
}

fn at_least_one(keys: Vec<Unlocked>) -> Result<Vec<Unlocked>> {
    if keys.is_empty() { Err(Failure::new(Kind::MissingArg, "give the key that signs")) } else { Ok(keys) }
}

/// Makes a signed message, with armor or without; cleartext signatures have no armor around the text.
///
/// # Errors
///
/// [`Kind::MissingArg`] without keys, [`Kind::KeyCannotSign`], [`Kind::KeyIsProtected`], [`Kind::ExpectedText`].
pub fn sign_inline(
    data: &mut dyn Read,
    out: &mut dyn Write,
    keys: &[Keys],
    passwords: &[Password],
    how: Inline,
    with_armor: bool,
    now: Timestamp,
) -> Result<()> {
    let mut keys = at_least_one(signers(keys, passwords, now)?)?;
    let kind = if how == Inline::Binary { SignatureType::BINARY } else { SignatureType::TEXT };
    let signing = signing(&mut keys, kind, &[], now)?;
    if how == Inline::ClearSigned {
        // Not signed is the line end before the signatures (RFC 9580, 7.2): it is none of the text's.
        let mut text = Utf8::new(data).chain(&b"\n"[..]);
        return message::sign_clear(&mut text, out, Headers::default(), signing).map_err(of_text);
    }
    let is_text = how == Inline::Text;
    let format = if is_text { Format::Utf8 } else { Format::Binary };
    let content =
        LiteralOptions { literal: Literal { format, ..Literal::default() }, ..LiteralOptions::default() };
    let write = |out: &mut dyn Write| match is_text {
        true => message::sign(&mut Utf8::new(data), out, &content, signing).map_err(of_text),
        false => Ok(message::sign(data, out, &content, signing)?),
    };
    if !with_armor {
        return write(out);
    }
    let mut armored = ArmorWriter::titled(out, "MESSAGE");
    write(&mut armored)?;
    armored.finish()?;
    Ok(())
}

/// Verifies signatures over data; those that hold, at least one.
///
/// # Errors
///
/// [`Kind::NoSignature`] if none does, [`Kind::BadData`] if they are none.
pub fn verify(
    signatures: &[u8],
    data: &mut dyn Read,
    authorities: &[Signers],
    period: Period,
    now: Timestamp,
) -> Result<Vec<Verification>> {
    let read = DetachedSignatures::read(&mut &signatures[..])?;
    let signatures = read.over(data)?;
    examined(signatures, authorities, period, &[], now)?.some()
}

/// Verifies a message that holds what is signed, and writes that if a signature holds.
///
/// # Errors
///
/// [`Kind::NoSignature`] if none does, [`Kind::BadData`] for what is no such message.
pub fn verify_inline(
    message: &mut (dyn Read + Send),
    out: Box<dyn Write + '_>,
    authorities: &[Signers],
    period: Period,
    now: Timestamp,
) -> Result<Vec<Verification>> {
    let mut release = PlaintextOutput::to_stream(out, false).without_limit();
    let mut signed_text = SignedText(&mut release);
    let mut verifier = MessageVerifier::new(&mut signed_text).with_signatures_around_encryption();
    read_signed(message, &mut verifier)?;
    let signatures = verifier.finish()?;
    let holding = examined(signatures, authorities, period, &[], now)?.some()?;
    release.finish()?;
    Ok(holding)
}

/// Separates the signatures of a signed message from its content, which is written once the whole message was read;
/// nothing is verified.
///
/// # Errors
///
/// [`Kind::BadData`] for what is no such message.
pub fn split(message: &mut (dyn Read + Send), out: &mut dyn Write) -> Result<Vec<u8>> {
    let release = PlaintextOutput::to_stream(Box::new(out), false).without_limit();
    let mut splitter = Splitter { release, signatures: Vec::new() };
    read_signed(message, &mut splitter).map_err(|failure| match failure.kind {
        Kind::NoSignature => Failure::bad_data(failure.reason),
        _ => failure,
    })?;
    if splitter.signatures.is_empty() {
        return Err(Failure::bad_data("the message is not signed"));
    }
    splitter.release.finish()?;
    Ok(splitter.signatures)
}

fn read_signed(message: &mut (dyn Read + Send), sink: &mut dyn Sink) -> Result<()> {
    let armor = ArmorRules::Rfc9580;
    let allowed = Allowed { unencrypted: true, unknown_packets: true, armor, ..Allowed::default() };
    message::decrypt(message, allowed, &mut NoKeys, sink).map_err(|error| match error {
        message::Error::NoKey => Failure::bad_data("the message is encrypted"),
        error => error.into(),
    })
}

/// Leaves out the line end before the signatures of clear text, which is not signed.
struct SignedText<'a, 'w>(&'a mut PlaintextOutput<'w>);

impl Sink for SignedText<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> message::Result<()> {
        match event {
            Event::ClearTextEnd(_) => self.0.event(Event::ClearTextEnd(&[])),
            event => self.0.event(event),
        }
    }

    fn data(&mut self, data: &[u8], trust: Trust) -> message::Result<()> {
        self.0.data(data, trust)
    }
}

/// Parts content and signatures.
struct Splitter<'a> {
    /// Takes the signed bytes as they are, whatever they are.
    release: PlaintextOutput<'a>,
    signatures: Vec<u8>,
}

impl Sink for Splitter<'_> {
    fn event(&mut self, event: Event<'_>) -> message::Result<()> {
        if let Event::Signature(body) = event {
            self.signatures.extend(packet::write(Tag::SIGNATURE, body));
        }
        Ok(())
    }

    fn data(&mut self, data: &[u8], trust: Trust) -> message::Result<()> {
        self.release.data(data, trust)
    }
}

/// What was found out about signatures.
pub(super) struct Examined {
    /// Those that hold, in their order.
    pub(super) holding: Vec<Verification>,
    /// Why the others do not.
    refused: Vec<String>,
}

/// Examines signatures. In a message that was decrypted with a key, those do not hold that were made for others than all
/// `recipients`, the primary keys of the certificates with that key (RFC 9580, 5.2.3.36).
pub(super) fn examined(
    signatures: Vec<DataSignature>,
    authorities: &[Signers],
    period: Period,
    recipients: &[Fingerprint],
    now: Timestamp,
) -> Result<Examined> {
    let keyrings: Vec<_> =
        authorities.iter().map(|one| one.certificates.keyring(Path::new(&one.name))).collect();
    let snapshots: Vec<_> = keyrings.iter().map(|keyring| keyring.snapshot()).collect();
    let certificates = snapshots.iter().map(|snapshot| snapshot.as_ref()).collect();
    let sources = Sources { certificates, ..Sources::default() };
    // A script sees no warnings: a signature that gpg would only warn about does not count here.
    let digests = DigestPolicy::GNUPG.of_data();
    let settings = TrustSettings { digests, ..TrustSettings::new(now, PacketView::Full) };
    let recent = DigestPolicy::GNUPG.without_recent_sha1();
    let mut examiner = Examiner::new(sources, settings).with_self_signature_digests(recent);
    // Who names certificates presumes that one of them signed, whatever the signatures say.
    let named = authorities.iter().flat_map(|one| &one.certificates.certificates);
    examiner.presume(named.flat_map(|one| one.facts.keys().map(|key| key.fingerprint.key_id())).collect());
    let policy = SignaturePolicy { recipients, ..SignaturePolicy::new(digests, now) };
    let mut result = Examined { holding: Vec::new(), refused: Vec::new() };
    for SignatureVerdict { examined, status, .. } in examiner.search(signatures, &policy)? {
        let told = examined.signer.good().zip(examined.statement.as_ref());
        match told.filter(|_| status == SignatureStatus::Good) {
            Some((_, said)) if !period.holds(said.created) => {
                result.refused.push("not accepted: it was made outside the requested time".to_owned());
            }
            Some((signer, said)) => result.holding.push(Verification {
                created: said.created,
                key: signer.key().fingerprint,
                primary: signer.primary(),
                is_text: said.kind == SignatureType::TEXT,
                signer: authorities[signer.source].name.clone(),
            }),
            None => result.refused.push(status.to_string()),
        }
    }
    Ok(result)
}

impl Period {
    fn holds(self, time: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time <= to)
    }
}

impl Examined {
    /// Returns those that hold.
    ///
    /// # Errors
    ///
    /// [`Kind::NoSignature`] if there are none, and why.
    fn some(self) -> Result<Vec<Verification>> {
        if !self.holding.is_empty() {
            return Ok(self.holding);
        }
        let reasons = match self.refused.is_empty() {
            true => "there is none".to_owned(),
            false => self.refused.join("; "),
        };
        Err(Failure::new(Kind::NoSignature, format!("no signature holds: {reasons}")))
    }
}
