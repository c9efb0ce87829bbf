//! Builds signatures: their content, what they are made over, then the issuer.

use crate::area::Area;
use crate::error::{Error, Result};
use crate::subpacket::{Subpacket, versioned};
use cert::Timestamp;
use cert::facts::SignatureType;
use cert::key::Key;
use cert::packet::{self, Tag};
use cert::signature::{Head, Signature};
use cert::signed::{Digester, Document, Subject, question, salt_length};
use cert::subpacket::Kind;
use secret::Signer;
use std::num::NonZeroU32;
use verify::hash::Digest;
use verify::{HashAlgorithm, Verdict, verify};

/// The content of a signature.
#[derive(Clone, Debug)]
pub struct Builder {
    kind: SignatureType,
    hash: HashAlgorithm,
    created: Timestamp,
    /// The lifetime of the signature in seconds.
    expires: Option<NonZeroU32>,
    /// The hashed and the unhashed area of the older signature.
    older: [Area; 2],
    changes: Vec<Change>,
    salt: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Change {
    Set { subpacket: Subpacket, critical: bool },
    Remove(Kind),
}

impl Builder {
    /// Creates a signature without content.
    pub fn new(kind: SignatureType, hash: HashAlgorithm, created: Timestamp) -> Self {
        Self {
            kind,
            hash,
            created,
            expires: None,
            older: [Area::default(), Area::default()],
            changes: Vec::new(),
            salt: None,
        }
    }

    /// Creates a signature with the content of an older one, except for the creation time and the issuer.
    ///
    /// It expires when the older one does, or one second after its creation if that has expired (GnuPG's rule).
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the subpackets of the older signature cannot be read.
    pub fn after(older: &Signature<'_>, hash: HashAlgorithm, created: Timestamp) -> Result<Self> {
        let mut areas = [Area::copy(older.hashed)?, Area::copy(older.unhashed)?];
        for area in &mut areas {
            for kind in [Kind::CREATION_TIME, Kind::EXPIRATION_TIME, Kind::ISSUER, Kind::ISSUER_FINGERPRINT] {
                area.remove(kind);
            }
        }
        let remaining = older.expires().map(|end| end.0.saturating_sub(created.0).max(1));
        let expires = remaining.and_then(NonZeroU32::new);
        Ok(Self { older: areas, expires, ..Self::new(older.kind, hash, created) })
    }

    /// Returns the type of the signature.
    pub fn kind(&self) -> SignatureType {
        self.kind
    }

    /// Returns the hash algorithm.
    pub fn hash(&self) -> HashAlgorithm {
        self.hash
    }

    /// Sets the lifetime of the signature.
    pub fn expiring_after(self, seconds: NonZeroU32) -> Self {
        Self { expires: Some(seconds), ..self }
    }

    /// Adds a subpacket; one of a type that occurs only once replaces an existing one.
    pub fn with(self, subpacket: Subpacket) -> Self {
        self.changed(Change::Set { subpacket, critical: false })
    }

    /// Adds a critical subpacket: implementations that do not understand it must not use the signature.
    pub fn with_critical(self, subpacket: Subpacket) -> Self {
        self.changed(Change::Set { subpacket, critical: true })
    }

    /// Removes the subpackets of a type.
    pub fn without(self, kind: Kind) -> Self {
        self.changed(Change::Remove(kind))
    }

    fn changed(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Sets the salt of a version 6 signature, which is random otherwise.
    pub fn salted(self, salt: Vec<u8>) -> Self {
        Self { salt: Some(salt), ..self }
    }

    /// Makes the signature over a part of the certificate with this primary key.
    pub fn over<'a>(self, primary: Key<'a>, subject: Subject<'a>) -> Unsigned<'a> {
        Unsigned { builder: self, over: Over::Certificate(primary, subject) }
    }

    /// Makes the signature over a document that was hashed completely; a version 6 signature has the document's salt.
    pub fn over_document(self, document: Document) -> Unsigned<'static> {
        Unsigned { builder: self, over: Over::Document(document) }
    }

    /// Returns the hashed and the unhashed area.
    fn areas(self, issuer: &Key<'_>) -> [Area; 2] {
        let version = issuer.version;
        let fingerprint = issuer.fingerprint();
        let [mut hashed, mut unhashed] = self.older;
        if version == 4 {
            unhashed.push(Kind::ISSUER, false, fingerprint.key_id().0.to_be_bytes().to_vec());
        }
        if version < 6 {
            hashed.push(Kind::ISSUER_FINGERPRINT, false, versioned(&fingerprint));
        }
        hashed.push(Kind::CREATION_TIME, version == 6, self.created.0.to_be_bytes().to_vec());
        if let Some(seconds) = self.expires {
            hashed.push(Kind::EXPIRATION_TIME, true, seconds.get().to_be_bytes().to_vec());
        }
        for change in self.changes {
            match change {
                Change::Remove(kind) => {
                    hashed.remove(kind);
                    unhashed.remove(kind);
                }
                Change::Set { subpacket, critical } => {
                    set(&mut hashed, &mut unhashed, &subpacket, version, critical);
                }
            }
        }
        if version == 6 {
            hashed.push(Kind::ISSUER_FINGERPRINT, false, versioned(&fingerprint));
        }
        [hashed, unhashed]
    }
}

/// Puts a subpacket into its area. As in GnuPG, an embedded signature is unhashed before version 6, since it is authentic
/// by itself.
fn set(hashed: &mut Area, unhashed: &mut Area, subpacket: &Subpacket, version: u8, critical: bool) {
    let kind = subpacket.kind();
    if !subpacket.may_repeat() {
        hashed.remove(kind);
        unhashed.remove(kind);
    }
    let critical = critical || subpacket.is_critical(version);
    let is_unhashed = version < 6 && kind == Kind::EMBEDDED_SIGNATURE;
    let area = if is_unhashed { unhashed } else { hashed };
    area.push(kind, critical, subpacket.body());
}

/// What a signature is made over.
#[derive(Clone)]
enum Over<'a> {
    Certificate(Key<'a>, Subject<'a>),
    Document(Document),
}

impl Over<'_> {
    fn suits(&self, kind: SignatureType) -> bool {
        match self {
            Self::Certificate(_, subject) => subject.suits(kind),
            Self::Document(document) => document.form().signature_type() == kind,
        }
    }

    fn digest(self, head: &Head<'_>) -> std::result::Result<Digest, Verdict> {
        match self {
            Self::Certificate(primary, subject) => Digester::new(primary).over(subject).digest_with(head),
            Self::Document(document) => document.digest(head),
        }
    }
}

/// A signature that only lacks the issuer.
#[derive(Clone)]
pub struct Unsigned<'a> {
    builder: Builder,
    over: Over<'a>,
}

impl Unsigned<'_> {
    /// Signs with a key and returns the packet, including its header.
    ///
    /// # Errors
    ///
    /// If the version of the key is not supported, if the type, hash algorithm or salt does not fit, if the subpackets
    /// are too long, if the secret key cannot sign, and if the signature does not verify.
    pub fn by(self, signer: &mut dyn Signer) -> Result<Vec<u8>> {
        self.body_by(signer).map(|body| packet::write(Tag::SIGNATURE, &body))
    }

    /// Signs with a key and returns the body of the packet, for embedded signatures.
    ///
    /// # Errors
    ///
    /// As [`by`](Self::by).
    pub fn body_by(self, signer: &mut dyn Signer) -> Result<Vec<u8>> {
        let Self { builder, over } = self;
        let (kind, hash) = (builder.kind, builder.hash);
        if !over.suits(kind) {
            return Err(Error::Subject(kind));
        }
        let issuer = signer.key();
        let version = match issuer.version {
            version @ 4..=6 => version,
            version => return Err(Error::Version(version)),
        };
        let salt = salt(version, hash, &over, builder.salt.clone())?;
        let algorithm = issuer.algorithm;
        let [hashed, unhashed] = builder.areas(&issuer);
        let mut body = vec![version, kind.0, algorithm.0, hash.0];
        write_area(&mut body, version, &hashed.bytes())?;
        let head = Head { version, hash_algorithm: hash, covered: &body, salt: &salt };
        let digest = over.digest(&head).map_err(|_| Error::Hash(hash))?;
        write_area(&mut body, version, &unhashed.bytes())?;
        body.extend(digest.prefix());
        if version == 6 {
            body.push(salt.len() as u8);
            body.extend(&salt);
        }
        body.extend(signer.sign(hash, digest.as_bytes())?);
        if verifies(&body, &signer.key(), digest) { Ok(body) } else { Err(Error::Unverified) }
    }
}

fn write_area(body: &mut Vec<u8>, version: u8, area: &[u8]) -> Result<()> {
    let length = u16::try_from(area.len()).map_err(|_| Error::TooLong)?;
    if version == 6 {
        body.extend(u32::from(length).to_be_bytes());
    } else {
        body.extend(length.to_be_bytes());
    }
    body.extend(area);
    Ok(())
}

/// Returns the salt: none before version 6, the document's, the given one, or a random one.
fn salt(version: u8, hash: HashAlgorithm, over: &Over<'_>, given: Option<Vec<u8>>) -> Result<Vec<u8>> {
    if version != 6 {
        return Ok(Vec::new());
    }
    let required = salt_length(hash).ok_or(Error::Hash(hash))?;
    let given = match over {
        Over::Document(document) => Some(document.salt().to_vec()),
        Over::Certificate(..) => given,
    };
    match given {
        Some(salt) if salt.len() == required => Ok(salt),
        Some(salt) => Err(Error::Salt { given: salt.len(), wanted: required }),
        None => {
            let mut salt = vec![0; required];
            getrandom::fill(&mut salt)?;
            Ok(salt)
        }
    }
}

fn verifies(body: &[u8], issuer: &Key<'_>, digest: Digest) -> bool {
    let Ok(signature) = cert::signature::parse(body) else { return false };
    question(issuer, &signature, digest).is_ok_and(|check| verify(&[check]) == [Verdict::Good])
}
