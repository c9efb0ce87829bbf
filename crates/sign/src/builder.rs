//! A signature before it is made: what it says, what it is over, then by whom.

use crate::area::Area;
use crate::error::{Error, Result};
use crate::subpacket::{Subpacket, named};
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

/// What a signature says.
#[derive(Clone, Debug)]
pub struct Builder {
    kind: SignatureType,
    hash: HashAlgorithm,
    created: Timestamp,
    /// Seconds from its creation to its end.
    expires: Option<NonZeroU32>,
    /// The areas of the signature that this one follows.
    kept: [Area; 2],
    changes: Vec<Change>,
    salt: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Change {
    Set { subpacket: Subpacket, critical: bool },
    Remove(Kind),
}

impl Builder {
    /// Begins a signature that says nothing yet.
    pub fn new(kind: SignatureType, hash: HashAlgorithm, created: Timestamp) -> Self {
        Self {
            kind,
            hash,
            created,
            expires: None,
            kept: [Area::default(), Area::default()],
            changes: Vec::new(),
            salt: None,
        }
    }

    /// Begins a signature that says what an older one says, except when it was made and by whom.
    ///
    /// It ends when the older one ends, or one second after its creation where that has passed (GnuPG's rule).
    ///
    /// # Errors
    ///
    /// `Damaged` if the older one's subpackets cannot be read.
    pub fn after(older: &Signature<'_>, hash: HashAlgorithm, created: Timestamp) -> Result<Self> {
        let mut kept = [Area::copy(older.hashed)?, Area::copy(older.unhashed)?];
        for area in &mut kept {
            for kind in [Kind::CREATION_TIME, Kind::EXPIRATION_TIME, Kind::ISSUER, Kind::ISSUER_FINGERPRINT] {
                area.remove(kind);
            }
        }
        let remaining = older.expires().map(|end| end.0.saturating_sub(created.0).max(1));
        let expires = remaining.and_then(NonZeroU32::new);
        Ok(Self { kept, expires, ..Self::new(older.kind, hash, created) })
    }

    /// Returns the signature's type.
    pub fn kind(&self) -> SignatureType {
        self.kind
    }

    /// Returns the digest.
    pub fn hash(&self) -> HashAlgorithm {
        self.hash
    }

    /// Lets it end so many seconds after its creation.
    pub fn expiring_after(self, seconds: NonZeroU32) -> Self {
        Self { expires: Some(seconds), ..self }
    }

    /// Says something more; what stands only once takes the place of what was said before.
    pub fn with(self, subpacket: Subpacket) -> Self {
        self.changed(Change::Set { subpacket, critical: false })
    }

    /// Says something that nobody may overlook: who does not understand it must not use the signature.
    pub fn with_critical(self, subpacket: Subpacket) -> Self {
        self.changed(Change::Set { subpacket, critical: true })
    }

    /// Takes back what was said in subpackets of a type.
    pub fn without(self, kind: Kind) -> Self {
        self.changed(Change::Remove(kind))
    }

    fn changed(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Gives the salt that a version 6 signature begins with, which is random otherwise.
    pub fn salted(self, salt: Vec<u8>) -> Self {
        Self { salt: Some(salt), ..self }
    }

    /// Says that it is over a part of a certificate, whose primary key is this.
    pub fn over<'a>(self, primary: Key<'a>, subject: Subject<'a>) -> Unsigned<'a> {
        Unsigned { builder: self, over: Over::Certificate(primary, subject) }
    }

    /// Says that it is over a document, all of which is hashed; a version 6 signature has the document's salt.
    pub fn over_document(self, document: Document) -> Unsigned<'static> {
        Unsigned { builder: self, over: Over::Document(document) }
    }

    /// Lays out the hashed and the unhashed area.
    fn areas(self, issuer: &Key<'_>) -> [Area; 2] {
        let version = issuer.version;
        let fingerprint = issuer.fingerprint();
        let [mut hashed, mut unhashed] = self.kept;
        if version == 4 {
            unhashed.push(Kind::ISSUER, false, fingerprint.key_id().0.to_be_bytes().to_vec());
            hashed.push(Kind::ISSUER_FINGERPRINT, false, named(&fingerprint));
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
            hashed.push(Kind::ISSUER_FINGERPRINT, false, named(&fingerprint));
        }
        [hashed, unhashed]
    }
}

/// Puts a subpacket into its area: GnuPG leaves an embedded signature, which proves itself, unhashed.
fn set(hashed: &mut Area, unhashed: &mut Area, subpacket: &Subpacket, version: u8, critical: bool) {
    let kind = subpacket.kind();
    if !subpacket.may_repeat() {
        hashed.remove(kind);
        unhashed.remove(kind);
    }
    let critical = critical || subpacket.is_critical(version);
    let is_unhashed = version == 4 && kind == Kind::EMBEDDED_SIGNATURE;
    let area = if is_unhashed { unhashed } else { hashed };
    area.push(kind, critical, subpacket.body());
}

/// What a signature is over.
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

/// A signature that only lacks its maker.
#[derive(Clone)]
pub struct Unsigned<'a> {
    builder: Builder,
    over: Over<'a>,
}

impl Unsigned<'_> {
    /// Lets a key make the signature and returns the packet, header included.
    ///
    /// # Errors
    ///
    /// If the key's version makes no signatures, if type, digest or salt do not suit, if the subpackets are too long,
    /// if the secret key does not sign, and if what it made does not verify.
    pub fn by(self, signer: &mut dyn Signer) -> Result<Vec<u8>> {
        self.body_by(signer).map(|body| packet::write(Tag::SIGNATURE, &body))
    }

    /// Lets a key make the signature and returns the packet's body, which an embedded signature is.
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
            version @ (4 | 6) => version,
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
    let wanted = salt_length(hash).ok_or(Error::Hash(hash))?;
    let given = match over {
        Over::Document(document) => Some(document.salt().to_vec()),
        Over::Certificate(..) => given,
    };
    match given {
        Some(salt) if salt.len() == wanted => Ok(salt),
        Some(salt) => Err(Error::Salt { given: salt.len(), wanted }),
        None => {
            let mut salt = vec![0; wanted];
            getrandom::fill(&mut salt)?;
            Ok(salt)
        }
    }
}

fn verifies(body: &[u8], issuer: &Key<'_>, digest: Digest) -> bool {
    let Ok(signature) = cert::signature::parse(body) else { return false };
    question(issuer, &signature, digest).is_ok_and(|check| verify(&[check]) == [Verdict::Good])
}
