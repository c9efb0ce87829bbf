//! Parses signature packets (RFC 9580, 5.2).
//!
//! As in GnuPG 2.2, the first subpacket of a type in the hashed area counts. Only the issuer's key ID, and "not
//! exportable" of certifications by other keys, are also read from the unhashed area.
//!
//! Unlike in GnuPG, nothing in the unhashed area makes a signature unusable, since everybody can change that area (RFC
//! 9580, 5.2.3.1).

use crate::error::Flaw;
use crate::facts::{
    Issuer, RevocationReason, Revoker, SelfSignature, SignatureFacts, SignatureFlags, SignatureType,
    TrustSignature,
};
use crate::fields::Fields;
use crate::identity::{Fingerprint, KeyId, Timestamp};
use crate::packet::Span;
use crate::subpacket::{Kind, Notation, Subpacket, Subpackets};
use verify::limits::MAX_ISSUER_CANDIDATES;
use verify::{HashAlgorithm, PublicKeyAlgorithm, SignatureValue};

const PACKET: &str = "a signature";

/// The parsed body of a signature packet.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    /// The version of the packet, 2 to 6.
    pub version: u8,
    /// The signature type.
    pub kind: SignatureType,
    /// The public-key algorithm.
    pub key_algorithm: PublicKeyAlgorithm,
    /// The hash algorithm.
    pub hash_algorithm: HashAlgorithm,
    /// The hashed bytes of the packet, without the trailer: the type and the time in version 2 and 3, everything from
    /// the version to the end of the hashed subpackets in later versions.
    pub covered: &'a [u8],
    /// The hashed subpackets.
    pub hashed: &'a [u8],
    /// The unhashed subpackets.
    pub unhashed: &'a [u8],
    /// The first two bytes of the digest.
    pub digest_prefix: [u8; 2],
    /// The salt, which is hashed first; empty before version 6.
    pub salt: &'a [u8],
    /// The algorithm-specific fields.
    pub material: &'a [u8],
    early: Option<FixedFields>,
}

/// The fixed fields of versions without subpackets.
#[derive(Clone, Copy, Debug)]
struct FixedFields {
    created: Timestamp,
    issuer: KeyId,
}

/// The part of a signature that is hashed.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The version of the packet.
    pub version: u8,
    /// The hash algorithm.
    pub hash_algorithm: HashAlgorithm,
    /// The hashed bytes of the packet, see [`Signature::covered`].
    pub covered: &'a [u8],
    /// The salt, which is hashed first; empty before version 6.
    pub salt: &'a [u8],
}

/// Reads the body of a signature packet.
pub fn parse(body: &[u8]) -> Result<Signature<'_>, Flaw> {
    let mut fields = Fields::new(body, PACKET);
    let version = fields.u8()?;
    let (kind, key_algorithm, hash_algorithm, covered);
    let (mut hashed, mut unhashed, mut early) = (&[][..], &[][..], None);
    match version {
        2 | 3 => {
            // The number of hashed bytes, always 5.
            fields.u8()?;
            covered = fields.take(5)?;
            let mut inner = Fields::new(covered, PACKET);
            kind = SignatureType(inner.u8()?);
            early = Some(FixedFields { created: Timestamp(inner.u32()?), issuer: KeyId(fields.u64()?) });
            key_algorithm = PublicKeyAlgorithm(fields.u8()?);
            hash_algorithm = HashAlgorithm(fields.u8()?);
        }
        4..=6 => {
            kind = SignatureType(fields.u8()?);
            key_algorithm = PublicKeyAlgorithm(fields.u8()?);
            hash_algorithm = HashAlgorithm(fields.u8()?);
            hashed = area(version, &mut fields)?;
            covered = &body[..body.len() - fields.rest().len()];
            unhashed = area(version, &mut fields)?;
        }
        version => return Err(Flaw::UnknownSignature(version)),
    }
    let digest_prefix = [fields.u8()?, fields.u8()?];
    let salt = if version == 6 { fields.counted()? } else { &[] };
    let material = material(key_algorithm, fields)?;
    Ok(Signature {
        version,
        kind,
        key_algorithm,
        hash_algorithm,
        covered,
        hashed,
        unhashed,
        digest_prefix,
        salt,
        material,
        early,
    })
}

fn area<'a>(version: u8, fields: &mut Fields<'a>) -> Result<&'a [u8], Flaw> {
    let length = if version == 6 { fields.u32()? as usize } else { usize::from(fields.u16()?) };
    fields.take(length)
}

/// Returns the algorithm-specific fields, without bytes after them, as in GnuPG.
fn material(algorithm: PublicKeyAlgorithm, mut fields: Fields<'_>) -> Result<&[u8], Flaw> {
    type Algorithm = PublicKeyAlgorithm;
    let all = fields.rest();
    if let Some(length) = algorithm.fixed_signature_length() {
        return fields.take(length);
    }
    match algorithm {
        Algorithm::RSA | Algorithm::RSA_ENCRYPT | Algorithm::RSA_SIGN => {
            fields.number()?;
        }
        Algorithm::DSA | Algorithm::ECDSA | Algorithm::EDDSA_LEGACY | Algorithm::ELGAMAL_BOTH => {
            fields.number()?;
            fields.number()?;
        }
        _ => return Ok(all),
    }
    Ok(&all[..all.len() - fields.rest().len()])
}

impl<'a> Signature<'a> {
    /// Returns the value of the signature for verification.
    pub fn value(&self) -> SignatureValue<'a> {
        SignatureValue { algorithm: self.key_algorithm, material: self.material }
    }

    /// Returns the part of the signature that is hashed.
    pub fn head(&self) -> Head<'a> {
        Head {
            version: self.version,
            hash_algorithm: self.hash_algorithm,
            covered: self.covered,
            salt: self.salt,
        }
    }

    /// Returns the bodies of the embedded signatures, those of the hashed area first.
    pub fn embedded(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        [self.hashed, self.unhashed]
            .into_iter()
            .flat_map(|area| Subpackets::new(area).map_while(Result::ok))
            .filter(|subpacket| subpacket.kind == Kind::EMBEDDED_SIGNATURE && subpacket.is_well_formed())
            .map(|subpacket| subpacket.body)
    }

    /// Returns the creation time.
    pub fn created(&self) -> Timestamp {
        match self.early {
            Some(early) => early.created,
            None => Timestamp(Subpackets::new(self.hashed).first(Kind::CREATION_TIME).map_or(0, leading_u32)),
        }
    }

    /// Returns the expiration time.
    pub fn expires(&self) -> Option<Timestamp> {
        Statements::read(self).expires(self.created())
    }

    /// Returns the issuer's key ID in its fixed field before version 4; zeros in later versions.
    pub(crate) fn named_issuer(&self) -> [u8; 8] {
        self.early.map_or([0; 8], |early| early.issuer.0.to_be_bytes())
    }

    /// Returns the alleged issuer.
    ///
    /// Only a hashed fingerprint is authentic; everything else is a hint.
    pub fn issuer(&self) -> Issuer {
        Statements::read(self).issuer()
    }

    /// Returns the key IDs of all issuers that it names, whether hashed or not, at most
    /// [`MAX_ISSUER_CANDIDATES`]: hints, right and wrong.
    pub fn issuer_hints(&self) -> Vec<KeyId> {
        let first = Some(self.issuer().key_id).filter(|key_id| key_id.0 != 0);
        let areas = [self.hashed, self.unhashed].into_iter();
        let subpackets = areas.flat_map(|area| Subpackets::new(area).map_while(Result::ok));
        let named = subpackets.filter(Subpacket::is_well_formed).filter_map(|it| match it.kind {
            Kind::ISSUER => it.body.first_chunk().map(|id| KeyId(u64::from_be_bytes(*id))),
            Kind::ISSUER_FINGERPRINT => leading_fingerprint(it.body).map(|fingerprint| fingerprint.key_id()),
            _ => None,
        });
        let mut hints = Vec::new();
        for hint in first.into_iter().chain(named) {
            if !hints.contains(&hint) && hints.len() < MAX_ISSUER_CANDIDATES {
                hints.push(hint);
            }
        }
        hints
    }

    /// Returns whether a hashed critical subpacket is not understood, since it is unknown or damaged.
    pub fn has_unknown_critical(&self) -> bool {
        self.has_unknown_critical_except(&[])
    }

    /// Returns the same for an application that understands notations with the names in `known`.
    pub fn has_unknown_critical_except(&self, known: &[Vec<u8>]) -> bool {
        Subpackets::new(self.hashed).any(|item| {
            item.map_or(true, |it| it.critical && !it.is_understood() && !is_notation_of(&it, known))
        })
    }

    /// Returns the facts of the signature; `primary` is the fingerprint of the certificate.
    pub fn facts(&self, span: Span, primary: &Fingerprint) -> SignatureFacts {
        let statements = Statements::read(self);
        let issuer = statements.issuer();
        let is_own = issuer.may_be(primary);
        // A hashed fingerprint is a hint like every other.
        let may_be_own = is_own || self.kind.is_over_user() && statements.names(primary.key_id());
        let created = self.created();
        SignatureFacts {
            span,
            version: self.version,
            kind: self.kind,
            key_algorithm: self.key_algorithm,
            hash_algorithm: self.hash_algorithm,
            created,
            expires: statements.expires(created),
            issuer,
            flags: statements.flags(self.kind.is_over_user() && !is_own),
            trust: statements.trust(),
            trust_regexp: statements.trust_regexp(),
            reason: self.reason().map(Box::new),
            content: None,
            own: may_be_own.then(|| Box::new(self.self_signature())),
        }
    }

    /// Returns whether it may be exported.
    pub(crate) fn is_exportable(&self) -> bool {
        Subpackets::new(self.hashed).first(Kind::EXPORTABLE).is_none_or(|body| body.first() != Some(&0))
    }

    /// Returns its values as a self-signature, without a verdict.
    pub fn self_signature(&self) -> SelfSignature {
        let hashed = |kind| Subpackets::new(self.hashed).first(kind);
        let owned = |kind| hashed(kind).map(<[u8]>::to_vec);
        let first_byte = |kind| hashed(kind).and_then(|body| body.first().copied());
        SelfSignature {
            verdict: None,
            key_expires: hashed(Kind::KEY_EXPIRATION_TIME).map(leading_u32),
            key_flags: hashed(Kind::KEY_FLAGS).map(|body| {
                let byte = |index| body.get(index).copied().unwrap_or(0);
                [byte(0), byte(1)]
            }),
            primary_user_id: first_byte(Kind::PRIMARY_USER_ID).is_some_and(|byte| byte != 0),
            cipher_preferences: owned(Kind::CIPHER_PREFERENCES),
            hash_preferences: owned(Kind::HASH_PREFERENCES),
            compression_preferences: owned(Kind::COMPRESSION_PREFERENCES),
            aead_preferences: owned(Kind::AEAD_PREFERENCES).or_else(|| owned(Kind::AEAD_CIPHERSUITES)),
            features: first_byte(Kind::FEATURES),
            keyserver_preferences: first_byte(Kind::KEYSERVER_PREFERENCES),
            revokers: self.revokers(),
            embedded_signature: self.embedded().next().is_some(),
        }
    }

    /// Reads facts again as RFC 9580 asks, where GnuPG does otherwise: of several subpackets of a type the last one counts
    /// (5.2.3.9), and critical subpackets that GnuPG does not know are understood.
    pub(crate) fn read_by_rfc9580(&self, facts: &mut SignatureFacts) {
        let last = |kind| Subpackets::new(self.hashed).last(kind);
        facts.created = self.created_by_rfc9580();
        facts.expires = self.expires_by_rfc9580();
        facts.flags.unknown_critical = self.has_unknown_critical_by_rfc9580(&[]);
        if let Some(own) = &mut facts.own {
            own.key_expires = last(Kind::KEY_EXPIRATION_TIME).map(leading_u32);
            own.key_flags = last(Kind::KEY_FLAGS).map(|flags| {
                let byte = |index| flags.get(index).copied().unwrap_or(0);
                [byte(0), byte(1)]
            });
        }
    }

    /// Returns the creation time, of several the last one.
    pub fn created_by_rfc9580(&self) -> Timestamp {
        let last = Subpackets::new(self.hashed).last(Kind::CREATION_TIME).map(leading_u32);
        last.map_or_else(|| self.created(), Timestamp)
    }

    /// Returns the expiration time, of several the last one.
    pub fn expires_by_rfc9580(&self) -> Option<Timestamp> {
        let seconds = Subpackets::new(self.hashed).last(Kind::EXPIRATION_TIME).map(leading_u32);
        let seconds = seconds.filter(|&seconds| seconds != 0)?;
        self.created_by_rfc9580().0.checked_add(seconds).map(Timestamp)
    }

    /// Returns whether a hashed critical subpacket is not understood by an implementation of RFC 9580, or one with a time
    /// has the wrong length, so that nobody can tell what the signature says.
    pub fn has_unknown_critical_by_rfc9580(&self, notations: &[Vec<u8>]) -> bool {
        let mut subpackets = Subpackets::new(self.hashed);
        subpackets.any(|item| {
            item.map_or(true, |it| {
                let is_unknown = it.critical && !it.is_understood_by_rfc9580();
                it.is_damaged_time() && !self.is_irrevocable()
                    || is_unknown && !is_notation_of(&it, notations)
            })
        })
    }

    /// Returns the reason for a revocation, if it has one.
    fn reason(&self) -> Option<RevocationReason> {
        if !self.kind.revokes() {
            return None;
        }
        let (&code, comment) = Subpackets::new(self.hashed).first(Kind::REVOCATION_REASON)?.split_first()?;
        Some(RevocationReason { code, comment: comment.to_vec() })
    }

    /// Returns whether it is irrevocable: it revokes something, or names a designated revoker.
    pub(crate) fn is_irrevocable(&self) -> bool {
        self.kind.revokes() || !self.revokers().is_empty()
    }

    /// Returns the designated revokers, which only direct-key signatures name (GnuPG's rule).
    pub(crate) fn revokers(&self) -> Vec<Revoker> {
        if self.kind != SignatureType::DIRECT_KEY {
            return Vec::new();
        }
        Subpackets::new(self.hashed)
            .map_while(Result::ok)
            .filter(|subpacket| subpacket.kind == Kind::REVOCATION_KEY)
            .filter_map(|subpacket| match *subpacket.body {
                [class @ 0x80..=0xff, algorithm, ref fingerprint @ ..] => Some(Revoker {
                    class,
                    algorithm: PublicKeyAlgorithm(algorithm),
                    fingerprint: Fingerprint::new(4, fingerprint)?,
                }),
                _ => None,
            })
            .collect()
    }
}

/// The subpackets from which facts are made: the first well-formed one of each type.
#[derive(Default)]
struct Statements<'a> {
    early: Option<FixedFields>,
    expires: Option<&'a [u8]>,
    exportable: Option<&'a [u8]>,
    unhashed_exportable: Option<&'a [u8]>,
    revocable: Option<&'a [u8]>,
    trust: Option<&'a [u8]>,
    regexp: Option<&'a [u8]>,
    issuer: Option<&'a [u8]>,
    fingerprint: Option<&'a [u8]>,
    unhashed_fingerprint: Option<&'a [u8]>,
    notations: bool,
    policy: bool,
    keyserver: bool,
    unknown_critical: bool,
}

impl<'a> Statements<'a> {
    fn read(signature: &Signature<'a>) -> Self {
        let mut statements = Self { early: signature.early, ..Self::default() };
        statements.unknown_critical = statements.read_area(signature.hashed, Self::take_hashed);
        statements.read_area(signature.unhashed, Self::take_unhashed);
        statements
    }

    /// Reads the first subpacket of each type, and returns whether there are critical ones that are not understood.
    fn read_area(&mut self, area: &'a [u8], take: fn(&mut Self, Subpacket<'a>)) -> bool {
        let mut seen = 0u128;
        let mut unknown_critical = false;
        for item in Subpackets::new(area) {
            // A subpacket that cannot be read may be critical.
            let Ok(subpacket) = item else { return true };
            unknown_critical |= subpacket.critical && !subpacket.is_understood();
            let bit = 1 << subpacket.kind.0;
            if seen & bit == 0 {
                seen |= bit;
                if subpacket.is_well_formed() {
                    take(self, subpacket);
                }
            }
        }
        unknown_critical
    }

    fn take_hashed(&mut self, Subpacket { kind, body, .. }: Subpacket<'a>) {
        match kind {
            Kind::EXPIRATION_TIME => self.expires = Some(body),
            Kind::EXPORTABLE => self.exportable = Some(body),
            Kind::REVOCABLE => self.revocable = Some(body),
            Kind::TRUST => self.trust = Some(body),
            Kind::REGULAR_EXPRESSION => self.regexp = Some(body),
            Kind::ISSUER => self.issuer = Some(body),
            Kind::ISSUER_FINGERPRINT => self.fingerprint = Some(body),
            Kind::NOTATION => self.notations = true,
            Kind::POLICY => self.policy = true,
            Kind::PREFERRED_KEYSERVER => self.keyserver = true,
            _ => {}
        }
    }

    fn take_unhashed(&mut self, Subpacket { kind, body, .. }: Subpacket<'a>) {
        match kind {
            Kind::ISSUER => self.issuer = self.issuer.or(Some(body)),
            Kind::EXPORTABLE => self.unhashed_exportable = Some(body),
            Kind::ISSUER_FINGERPRINT => self.unhashed_fingerprint = Some(body),
            _ => {}
        }
    }

    /// An expiration of zero seconds means never (RFC 9580, 5.2.3.18).
    fn expires(&self, created: Timestamp) -> Option<Timestamp> {
        let seconds = self.expires.map(leading_u32).filter(|&seconds| seconds != 0)?;
        Some(Timestamp(created.0.wrapping_add(seconds))).filter(|end| end.0 != 0)
    }

    fn issuer(&self) -> Issuer {
        let fingerprint = self.fingerprint.and_then(leading_fingerprint);
        let hinted = || self.unhashed_fingerprint.and_then(leading_fingerprint);
        let key_id = match (self.early, fingerprint, self.issuer) {
            (Some(early), ..) => early.issuer,
            (None, Some(fingerprint), _) => fingerprint.key_id(),
            (None, None, Some(body)) => KeyId(body.first_chunk().map_or(0, |id| u64::from_be_bytes(*id))),
            (None, None, None) => hinted().map_or(KeyId(0), |fingerprint| fingerprint.key_id()),
        };
        Issuer { key_id, fingerprint }
    }

    /// Returns whether an issuer subpacket names this key ID, whatever a fingerprint says.
    fn names(&self, key_id: KeyId) -> bool {
        self.issuer.and_then(|body| body.first_chunk()).is_some_and(|id| u64::from_be_bytes(*id) == key_id.0)
    }

    fn flags(&self, is_of_user_by_another: bool) -> SignatureFlags {
        let denied = |body: Option<&[u8]>| body.is_some_and(|body| body.first() == Some(&0));
        // Old versions of GnuPG wrote it there for local certifications.
        let unhashed = self.unhashed_exportable.filter(|_| is_of_user_by_another);
        SignatureFlags {
            exportable: !denied(self.exportable.or(unhashed)),
            revocable: !denied(self.revocable),
            notations: self.notations,
            policy: self.policy,
            keyserver: self.keyserver,
            unknown_critical: self.unknown_critical,
            superseded: false,
        }
    }

    fn trust(&self) -> Option<TrustSignature> {
        match *self.trust? {
            [depth, amount] => Some(TrustSignature { depth, amount }),
            _ => None,
        }
    }

    /// The expression up to its first NUL, as GnuPG's C strings end; `None` if it is empty.
    fn trust_regexp(&self) -> Option<Vec<u8>> {
        self.trust?;
        let text = self.regexp?.split(|&byte| byte == 0).next()?;
        (!text.is_empty()).then(|| text.to_vec())
    }
}

/// Returns whether a subpacket is a notation with one of these names.
fn is_notation_of(subpacket: &Subpacket<'_>, names: &[Vec<u8>]) -> bool {
    let notation = Some(subpacket.body).filter(|_| subpacket.kind == Kind::NOTATION);
    let notation = notation.and_then(Notation::parse);
    notation.is_some_and(|notation| names.iter().any(|name| name == notation.name))
}

/// Returns the number in the first four bytes; shorter subpackets were ignored before.
fn leading_u32(body: &[u8]) -> u32 {
    body.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn leading_fingerprint(body: &[u8]) -> Option<Fingerprint> {
    let (&version, bytes) = body.split_first()?;
    Fingerprint::new(version, bytes)
}
