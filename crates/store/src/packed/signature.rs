//! Signatures.
//!
//! ```text
//! signature = gap length version kind key-algorithm hash-algorithm flags present created:4
//!             [expires:4] issuer [depth amount] [regexp] [reason] [content:16] [own]
//! issuer    = [fingerprint] [key-id:8]                         the key ID only where the fingerprint has another
//! own       = present:2 [key-expires:4] [key-flags:2] [preferences]*4 [features] [keyserver] [revokers]
//! ```

use cert::facts::{
    Issuer, RevocationReason, Revoker, SelfSignature, SignatureFacts, SignatureFlags, SignatureType,
    TrustSignature,
};
use cert::packet::Span;
use cert::{KeyId, SignatureDigest, Timestamp};
use verify::{HashAlgorithm, PublicKeyAlgorithm, Verdict};

use super::Result;
use super::component::write_span;
use super::reader::Reader;
use super::writer::Writer;

/// Gap, length, six bytes and the time.
pub(super) const MIN: usize = 12;

mod present {
    pub(super) const EXPIRES: u8 = 1;
    pub(super) const TRUST: u8 = 1 << 1;
    pub(super) const REGEXP: u8 = 1 << 2;
    pub(super) const OWN: u8 = 1 << 3;
    pub(super) const FINGERPRINT: u8 = 1 << 4;
    /// A key ID that is not the fingerprint's, and not 0.
    pub(super) const KEY_ID: u8 = 1 << 5;
    pub(super) const REASON: u8 = 1 << 6;
    pub(super) const CONTENT: u8 = 1 << 7;
}

mod own {
    /// Two bits: 0 unchecked, else the verdict.
    pub(super) const VERDICT: u16 = 3;
    pub(super) const KEY_EXPIRES: u16 = 1 << 2;
    pub(super) const KEY_FLAGS: u16 = 1 << 3;
    pub(super) const PRIMARY_USER_ID: u16 = 1 << 4;
    pub(super) const CIPHERS: u16 = 1 << 5;
    pub(super) const HASHES: u16 = 1 << 6;
    pub(super) const COMPRESSIONS: u16 = 1 << 7;
    pub(super) const AEADS: u16 = 1 << 8;
    pub(super) const FEATURES: u16 = 1 << 9;
    pub(super) const KEYSERVER: u16 = 1 << 10;
    pub(super) const REVOKERS: u16 = 1 << 11;
    pub(super) const EMBEDDED: u16 = 1 << 12;
    pub(super) const ALL: u16 = (1 << 13) - 1;
}

/// Writes one signature; the packet before it ended at `end`.
pub(super) fn write(signature: &SignatureFacts, end: u32, out: &mut Writer) {
    write_span(signature.span, end, out);
    let bytes = [
        signature.version,
        signature.kind.0,
        signature.key_algorithm.0,
        signature.hash_algorithm.0,
        pack_flags(signature.flags),
        pack_present(signature),
    ];
    out.raw(&bytes);
    out.u32(signature.created.0);
    if let Some(expires) = signature.expires {
        out.u32(expires.0);
    }
    write_issuer(&signature.issuer, out);
    if let Some(trust) = signature.trust {
        out.raw(&[trust.depth, trust.amount]);
    }
    if let Some(regexp) = &signature.trust_regexp {
        out.bytes(regexp);
    }
    if let Some(reason) = &signature.reason {
        out.byte(reason.code);
        out.bytes(&reason.comment);
    }
    if let Some(content) = &signature.content {
        out.raw(&content.0);
    }
    if let Some(own) = &signature.own {
        write_own(own, out);
    }
}

/// Reads the rest of a signature that stands at `span`.
pub(super) fn read(reader: &mut Reader<'_>, span: Span) -> Result<SignatureFacts> {
    let [version, kind, key_algorithm, hash_algorithm, flags, present] = reader.array()?;
    let created = Timestamp(reader.u32()?);
    let expires = optional(present & present::EXPIRES != 0, || reader.u32().map(Timestamp))?;
    let issuer = read_issuer(present, reader)?;
    let trust = optional(present & present::TRUST != 0, || {
        reader.array().map(|[depth, amount]| TrustSignature { depth, amount })
    })?;
    let trust_regexp = optional(present & present::REGEXP != 0, || reader.bytes().map(<[u8]>::to_vec))?;
    let reason = optional(present & present::REASON != 0, || read_reason(reader).map(Box::new))?;
    let content = optional(present & present::CONTENT != 0, || reader.array().map(SignatureDigest))?;
    let own = optional(present & present::OWN != 0, || read_own(reader).map(Box::new))?;
    Ok(SignatureFacts {
        span,
        version,
        kind: SignatureType(kind),
        key_algorithm: PublicKeyAlgorithm(key_algorithm),
        hash_algorithm: HashAlgorithm(hash_algorithm),
        created,
        expires,
        issuer,
        flags: unpack_flags(flags),
        trust,
        trust_regexp,
        reason,
        content,
        own,
    })
}

/// Returns the issuer's key ID of the signature that a reader stands at, without moving.
pub(super) fn issuer(reader: &Reader<'_>) -> Result<KeyId> {
    let mut reader = *reader;
    let present = read_to_issuer(&mut reader)?;
    Ok(read_issuer(present, &mut reader)?.key_id)
}

/// Moves past a signature, but for what is of the certificate itself.
pub(super) fn skip(reader: &mut Reader<'_>) -> Result<()> {
    let present = read_to_issuer(reader)?;
    read_issuer(present, reader)?;
    optional(present & present::TRUST != 0, || reader.array::<2>())?;
    optional(present & present::REGEXP != 0, || reader.bytes())?;
    optional(present & present::REASON != 0, || reader.byte().and_then(|_| reader.bytes()))?;
    optional(present & present::CONTENT != 0, || reader.array::<16>())?;
    optional(present & present::OWN != 0, || read_own(reader)).map(drop)
}

/// Moves to the issuer, and returns what follows there.
fn read_to_issuer(reader: &mut Reader<'_>) -> Result<u8> {
    let [.., present] = reader.array::<6>()?;
    reader.u32()?;
    optional(present & present::EXPIRES != 0, || reader.u32())?;
    Ok(present)
}

#[inline]
fn optional<T>(present: bool, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    if present { read().map(Some) } else { Ok(None) }
}

fn pack_present(signature: &SignatureFacts) -> u8 {
    let issuer = &signature.issuer;
    let implied = issuer.fingerprint.map_or(KeyId(0), |fingerprint| fingerprint.key_id());
    [
        (signature.expires.is_some(), present::EXPIRES),
        (signature.trust.is_some(), present::TRUST),
        (signature.trust_regexp.is_some(), present::REGEXP),
        (signature.own.is_some(), present::OWN),
        (issuer.fingerprint.is_some(), present::FINGERPRINT),
        (issuer.key_id != implied, present::KEY_ID),
        (signature.reason.is_some(), present::REASON),
        (signature.content.is_some(), present::CONTENT),
    ]
    .into_iter()
    .fold(0, |bits, (set, bit)| if set { bits | bit } else { bits })
}

fn write_issuer(issuer: &Issuer, out: &mut Writer) {
    if let Some(fingerprint) = &issuer.fingerprint {
        out.fingerprint(fingerprint);
    }
    if issuer.key_id != issuer.fingerprint.map_or(KeyId(0), |fingerprint| fingerprint.key_id()) {
        out.raw(&issuer.key_id.0.to_le_bytes());
    }
}

#[inline]
fn read_issuer(present: u8, reader: &mut Reader<'_>) -> Result<Issuer> {
    let fingerprint = optional(present & present::FINGERPRINT != 0, || reader.fingerprint())?;
    let key_id = match fingerprint {
        _ if present & present::KEY_ID != 0 => KeyId(reader.u64()?),
        Some(fingerprint) => fingerprint.key_id(),
        None => KeyId(0),
    };
    Ok(Issuer { key_id, fingerprint })
}

fn read_reason(reader: &mut Reader<'_>) -> Result<RevocationReason> {
    Ok(RevocationReason { code: reader.byte()?, comment: reader.bytes()?.to_vec() })
}

fn pack_flags(flags: SignatureFlags) -> u8 {
    let SignatureFlags { exportable, revocable, notations, policy, keyserver, unknown_critical, superseded } =
        flags;
    [exportable, revocable, notations, policy, keyserver, unknown_critical, superseded]
        .into_iter()
        .enumerate()
        .fold(0, |bits, (bit, set)| bits | u8::from(set) << bit)
}

fn unpack_flags(bits: u8) -> SignatureFlags {
    let bit = |number: u8| bits >> number & 1 != 0;
    SignatureFlags {
        exportable: bit(0),
        revocable: bit(1),
        notations: bit(2),
        policy: bit(3),
        keyserver: bit(4),
        unknown_critical: bit(5),
        superseded: bit(6),
    }
}

fn pack_own_present(signature: &SelfSignature) -> u16 {
    let verdict = match signature.verdict {
        None => 0,
        Some(Verdict::Good) => 1,
        Some(Verdict::Bad) => 2,
        Some(Verdict::Unsupported) => 3,
    };
    [
        (signature.key_expires.is_some(), own::KEY_EXPIRES),
        (signature.key_flags.is_some(), own::KEY_FLAGS),
        (signature.primary_user_id, own::PRIMARY_USER_ID),
        (signature.cipher_preferences.is_some(), own::CIPHERS),
        (signature.hash_preferences.is_some(), own::HASHES),
        (signature.compression_preferences.is_some(), own::COMPRESSIONS),
        (signature.aead_preferences.is_some(), own::AEADS),
        (signature.features.is_some(), own::FEATURES),
        (signature.keyserver_preferences.is_some(), own::KEYSERVER),
        (!signature.revokers.is_empty(), own::REVOKERS),
        (signature.embedded_signature, own::EMBEDDED),
    ]
    .into_iter()
    .fold(verdict, |bits, (set, bit)| if set { bits | bit } else { bits })
}

fn write_own(signature: &SelfSignature, out: &mut Writer) {
    out.raw(&pack_own_present(signature).to_le_bytes());
    if let Some(seconds) = signature.key_expires {
        out.u32(seconds);
    }
    if let Some(flags) = signature.key_flags {
        out.raw(&flags);
    }
    let preferences = [
        &signature.cipher_preferences,
        &signature.hash_preferences,
        &signature.compression_preferences,
        &signature.aead_preferences,
    ];
    preferences.into_iter().flatten().for_each(|list| out.bytes(list));
    [signature.features, signature.keyserver_preferences]
        .into_iter()
        .flatten()
        .for_each(|byte| out.byte(byte));
    if !signature.revokers.is_empty() {
        out.number(signature.revokers.len() as u64);
        for revoker in &signature.revokers {
            out.raw(&[revoker.class, revoker.algorithm.0]);
            out.fingerprint(&revoker.fingerprint);
        }
    }
}

fn read_own(reader: &mut Reader<'_>) -> Result<SelfSignature> {
    let bits = reader.u16()?;
    if bits & !own::ALL != 0 {
        return Err(reader.error("an unknown field of a self-signature"));
    }
    let has = |bit: u16| bits & bit != 0;
    let list = |bit: u16, reader: &mut Reader<'_>| optional(has(bit), || reader.bytes().map(<[u8]>::to_vec));
    let verdict = match bits & own::VERDICT {
        0 => None,
        1 => Some(Verdict::Good),
        2 => Some(Verdict::Bad),
        _ => Some(Verdict::Unsupported),
    };
    Ok(SelfSignature {
        verdict,
        key_expires: optional(has(own::KEY_EXPIRES), || reader.u32())?,
        key_flags: optional(has(own::KEY_FLAGS), || reader.array())?,
        primary_user_id: has(own::PRIMARY_USER_ID),
        cipher_preferences: list(own::CIPHERS, reader)?,
        hash_preferences: list(own::HASHES, reader)?,
        compression_preferences: list(own::COMPRESSIONS, reader)?,
        aead_preferences: list(own::AEADS, reader)?,
        features: optional(has(own::FEATURES), || reader.byte())?,
        keyserver_preferences: optional(has(own::KEYSERVER), || reader.byte())?,
        revokers: if has(own::REVOKERS) { read_revokers(reader)? } else { Vec::new() },
        embedded_signature: has(own::EMBEDDED),
    })
}

fn read_revokers(reader: &mut Reader<'_>) -> Result<Vec<Revoker>> {
    let count = reader.count(23)?;
    let revokers = (0..count).map(|_| {
        let [class, algorithm] = reader.array()?;
        let fingerprint = reader.fingerprint()?;
        Ok(Revoker { class, algorithm: PublicKeyAlgorithm(algorithm), fingerprint })
    });
    revokers.collect()
}
