//! The keys that messages are encrypted to.

use std::cmp::Reverse;
use std::fmt;
use std::io::Read;
use std::iter;
use std::path::Path;

use cert::certificate::Certificate;
use cert::clean::{CleanOptions, clean};
use cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, Usage, UserIdState};
use cert::facts::{ComponentKind, KeyFacts, SelfSignature, SignatureFacts};
use cert::mailbox::mailbox;
use cert::split::{Piece, Splitter};
use cert::subpacket::{Kind, Subpackets};
use cert::{ArmorRules, BoundAddress, Facts, Fingerprint, Timestamp};
use message::{Aead, Cipher};
use secret::StoredKey;
use sign::{Builder, Subpacket};
use store::query::Name;
use store::{CertId, Query, ReadCertificates, Selection};
use trust::Validity;
use verify::{HashAlgorithm, policy};

use crate::Result;
use crate::designated_revocation::evaluate_certificate;
use crate::keyring_file::KeyringFile;
use crate::listing::{FirstUse, UserTrust};
use crate::message_algorithms;
use crate::secret_transfer::with_secret_key;
use crate::stored::read_one;
use crate::validity::{Sources, TrustSettings, ValidityResult};

/// A certificate that a name denotes, with the properties that decide whether it can be encrypted to.
#[derive(Clone, Debug)]
pub struct RecipientCandidate {
    /// The certificate.
    pub fingerprint: Fingerprint,
    /// Its primary user ID.
    pub user_id: Vec<u8>,
    /// How sure it is that the certificate is whose the name says.
    pub validity: Validity,
    /// A user ID that the name denotes is bound to it, and is neither expired nor revoked.
    pub is_named: bool,
    /// The user does not want it to be used.
    pub is_disabled: bool,
    /// When its newest key for encryption was made, which may have expired: the date that GnuPG compares.
    pub newest: Option<Timestamp>,
    /// The key to encrypt to; `None` if there is none that may be used now.
    pub key: Option<EncryptionKey>,
    /// LibrePGP's additional decryption subkeys, to which GnuPG encrypts as well.
    pub also: Vec<EncryptionKey>,
    /// Why it cannot be used; `None` if it can, whether it is valid or not.
    pub obstacle: Option<RecipientObstacle>,
    /// What trust on first use knows of the user IDs that are meant, in the order of the packets, where that was asked
    /// for: of the first one that a name stands for, of all where a key is named.
    pub first_uses: Vec<UserFirstUse>,
}

/// Why nothing is encrypted to a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientObstacle {
    /// It was revoked at this time.
    Revoked(Timestamp),
    /// It expired at this time.
    Expired(Timestamp),
    /// Its last key to encrypt to expired at this time.
    EncryptionKeyExpired(Timestamp),
    /// No key that may be used now is for encryption.
    NoEncryptionKey,
    /// No self-signature binds the certificate's primary key now.
    NotBound,
    /// The primary key, or the key to encrypt to, is too small.
    TooSmall,
    /// The key derivation or key wrap of the key to encrypt to is too weak.
    WeakKeyDerivation,
    /// The key to encrypt to is for another purpose.
    OtherPurpose,
    /// Possible revocations were not verified yet.
    NotFullyChecked,
    /// The user disabled it.
    Disabled,
}

impl fmt::Display for RecipientObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Revoked(_) => "it is revoked",
            Self::Expired(_) => "it has expired",
            Self::EncryptionKeyExpired(_) => "its last key to encrypt to has expired",
            Self::NoEncryptionKey => "no key of it that is bound and not revoked is for encryption",
            Self::NotBound => "no self-signature binds its primary key",
            Self::TooSmall => "its key is too small",
            Self::WeakKeyDerivation => "the key derivation or key wrap of its key is too weak",
            Self::OtherPurpose => "its key to encrypt to is for another purpose",
            Self::NotFullyChecked => "it is not valid until all possible revocations are verified",
            Self::Disabled => "it is disabled",
        })
    }
}

/// A user ID that is not revoked, and what trust on first use knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFirstUse {
    /// The address that is bound.
    pub address: BoundAddress,
    /// What is known; `None` if it has expired, or the key is the user's own.
    pub known: Option<FirstUse>,
}

impl RecipientCandidate {
    /// Returns the key to encrypt to, unless the user does not want it to be used.
    pub fn usable_key(&self) -> Option<&EncryptionKey> {
        self.key.as_ref().filter(|_| !self.is_disabled)
    }

    /// Says whether a name is the whole fingerprint of the certificate, or of the key to encrypt to.
    ///
    /// That of another subkey does not say whose the certificate is: any certificate can have a subkey of somebody
    /// else's.
    pub fn has_fingerprint(&self, name: &Query) -> bool {
        matches!(name, Query::Fingerprint(_))
            && (name.names_key(&self.fingerprint)
                || self.key.as_ref().is_some_and(|key| name.names_key(&key.fingerprint)))
    }
}

/// A key to encrypt to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptionKey {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// The fingerprint of the primary key of its certificate.
    pub primary: Fingerprint,
    /// The body of its packet.
    pub public: Vec<u8>,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// What its owner's programs can read.
    pub preferences: Preferences,
}

/// What is encrypted (RFC 9580, 5.2.3.29): a key may be for one of both only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncryptionPurpose {
    /// Either.
    #[default]
    Any,
    /// Messages.
    Communications,
    /// Files that are kept.
    Storage,
}

impl EncryptionPurpose {
    /// Says whether keys with these flags are for it.
    fn fits(self, flags: u8) -> bool {
        match self {
            Self::Any => true,
            Self::Communications => flags & 0x04 != 0,
            Self::Storage => flags & 0x08 != 0,
        }
    }
}

/// What the owner of a certificate says that messages may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Ciphers, the preferred one first.
    pub ciphers: Vec<u8>,
    /// Digests, the preferred one first.
    pub digests: Vec<u8>,
    /// Compressions, the preferred one first; `None` if nothing is said.
    pub compressions: Option<Vec<u8>>,
    /// Pairs of a cipher and an AEAD mode for SEIPD version 2, the preferred one first.
    pub ciphersuites: Vec<(u8, u8)>,
    /// Encrypted data of RFC 9580 (SEIPD version 2) are read.
    pub seipd2: bool,
    /// LibrePGP's OCB-encrypted data are read.
    pub ocb: bool,
}

/// Returns the cipher of a message, and its AEAD mode if all recipients read encrypted data of RFC 9580, by what they
/// prefer.
pub fn preferred(recipients: &[&Preferences]) -> (Cipher, Option<Aead>) {
    if !recipients.is_empty() && recipients.iter().all(|preferences| preferences.seipd2) {
        let (cipher, mode) = preferred_ciphersuite(recipients);
        return (cipher, Some(mode));
    }
    (preferred_cipher(recipients), None)
}

/// Returns the cipher of a message in encrypted data that everybody reads (SEIPD version 1).
pub fn preferred_cipher(recipients: &[&Preferences]) -> Cipher {
    let lists: Vec<&[u8]> = recipients.iter().map(|preferences| &preferences.ciphers[..]).collect();
    message_algorithms::modern_cipher(&lists)
}

/// Returns the cipher and the mode of a message in encrypted data of RFC 9580.
pub fn preferred_ciphersuite(recipients: &[&Preferences]) -> (Cipher, Aead) {
    let lists: Vec<&[(u8, u8)]> =
        recipients.iter().map(|preferences| &preferences.ciphersuites[..]).collect();
    message_algorithms::ciphersuite(&lists)
}

/// Returns the hash algorithm of a signature that the recipients read: that which suits its key best, unless they prefer
/// another one that is no shorter.
pub fn preferred_digest(best: HashAlgorithm, recipients: &[&Preferences]) -> HashAlgorithm {
    let lists: Vec<&[u8]> = recipients.iter().map(|preferences| &preferences.digests[..]).collect();
    message_algorithms::modern_digest(best, &lists)
}

/// Lets a signature inside of an encrypted message name those for whom it is made (RFC 9580, 5.2.3.36), so that a
/// recipient cannot pass it on as one that was made for others. Nobody is named if one is hidden: the others would see who.
pub fn naming_recipients<'k>(
    signature: Builder,
    recipients: impl Iterator<Item = (&'k EncryptionKey, bool)> + Clone,
) -> Builder {
    if recipients.clone().any(|(_, is_hidden)| is_hidden) {
        return signature;
    }
    recipients
        .fold(signature, |signature, (key, _)| signature.with(Subpacket::IntendedRecipient(key.primary)))
}

impl Preferences {
    /// Adds what the owner of a key of RFC 9980 reads without saying so (RFC 9980, 7.1).
    fn add_implicit_of_rfc_9980(&mut self) {
        let (cipher, pair) = (Cipher::Aes256.number(), (Cipher::Aes256.number(), Aead::Ocb.number()));
        if !self.ciphers.contains(&cipher) {
            self.ciphers.push(cipher);
        }
        if !self.ciphersuites.contains(&pair) {
            self.ciphersuites.push(pair);
        }
    }

    /// Says whether a cipher is among the preferred ones.
    pub fn reads(&self, cipher: Cipher) -> bool {
        self.ciphers.contains(&cipher.number())
    }
}

/// Returns what the certificates that a name stands for are as recipients.
///
/// The validity is that of the user IDs that have the name, and where it is a mail address, have it as their own; of
/// any user ID if a key is named.
///
/// # Errors
///
/// The database's errors.
pub fn candidates(
    snapshot: &dyn ReadCertificates,
    name: &Query,
    trust: &TrustSettings,
) -> Result<Vec<RecipientCandidate>> {
    let sources =
        Sources { certificates: vec![snapshot], owner_trust: snapshot.trust(), verdict_store: None };
    let address = match name {
        Query::Substring(text) => mailbox(text),
        _ => None,
    };
    let is_named = |user_id: &[u8]| {
        !is_of_user(name)
            || name.matches_user_id(user_id) && (address.is_none() || mailbox(user_id) == address)
    };
    let meant = NameFilter { user_id: &is_named, key: &|_| true };
    candidates_of(0, &snapshot.find(name)?, &meant, &sources, trust)
}

/// Returns what the certificates that a name stands for are as recipients, as GnuPG looks at them: the validity is that
/// of the user IDs that have the name, one that is revoked or has expired names nobody, and a key that is named with a
/// `!` is encrypted to itself.
///
/// # Errors
///
/// The database's errors.
pub fn named(
    sources: &Sources<'_>,
    source: usize,
    name: &Name,
    trust: &TrustSettings,
) -> Result<Vec<RecipientCandidate>> {
    let ids = sources.certificates[source].find(&name.query)?;
    let is_of_user = is_of_user(&name.query);
    let user_id = |user_id: &[u8]| !is_of_user || name.query.matches_user_id(user_id);
    let meant = NameFilter { user_id: &user_id, key: &|key| name.means_key(key) };
    let mut candidates = candidates_of(source, &ids, &meant, sources, trust)?;
    for candidate in &mut candidates {
        candidate.is_named |= !is_of_user;
        candidate.first_uses.truncate(if is_of_user { 1 } else { usize::MAX });
    }
    Ok(candidates)
}

/// Leaves of the certificates that a name stands for those that it can mean: anybody can list anybody's key as a subkey,
/// and would get the messages if their own key were the one to encrypt to.
///
/// A primary key's name means its certificate alone. A subkey's name means a certificate of which it is the key to encrypt
/// to, if there is any: all of these lead to the same key, and the most valid one stays. Else all stay.
pub fn owners(name: &Query, mut candidates: Vec<RecipientCandidate>) -> Vec<RecipientCandidate> {
    if is_of_user(name) {
        return candidates;
    }
    if candidates.iter().any(|candidate| name.names_key(&candidate.fingerprint)) {
        candidates.retain(|candidate| name.names_key(&candidate.fingerprint));
        return candidates;
    }
    let leads_there = |candidate: &RecipientCandidate| {
        candidate.key.as_ref().is_some_and(|key| name.names_key(&key.fingerprint))
    };
    let best = candidates.iter().filter(|candidate| leads_there(candidate));
    let best = best.min_by_key(|candidate| (Reverse(candidate.validity), candidate.fingerprint)).cloned();
    best.map_or(candidates, |best| vec![best])
}

/// The recipient that a name stands for.
#[derive(Clone, Debug)]
pub enum RecipientSelection {
    /// This one.
    Recipient(Box<RecipientCandidate>),
    /// Several certificates have the subkey with this name, so it is unknown which of them it belongs to.
    Ambiguous,
    /// The first certificate has no key to encrypt to, and no other one can be used.
    Unusable(Fingerprint),
    /// The user ID with the name is not valid on the first certificate, or the certificate is disabled, and no other one
    /// can be used.
    NotNamed(Fingerprint),
    /// No certificate has the name.
    Missing,
}

/// Selects the recipient that a name stands for from the candidates of all keyrings, as GnuPG does: for a mail address the
/// most valid one, of several that with the newest key for encryption; else the first one that can be used.
///
/// A name that is not a key's selects a disabled certificate only `with_disabled`.
pub fn select(
    name: &Name,
    is_address: bool,
    with_disabled: bool,
    candidates: Vec<RecipientCandidate>,
) -> RecipientSelection {
    let candidates = owners(&name.query, candidates);
    let is_key = name.is_of_key();
    let Some(first) = candidates.first() else { return RecipientSelection::Missing };
    let first_certificate = first.fingerprint;
    let has_no_key = first.is_named && first.key.is_none();
    let is_another = |candidate: &RecipientCandidate| {
        !name.query.names_key(&candidate.fingerprint) && candidate.fingerprint != first_certificate
    };
    if is_key && candidates.iter().any(is_another) {
        return RecipientSelection::Ambiguous;
    }
    let mut usable = candidates.into_iter().filter(|candidate| {
        candidate.is_named && candidate.key.is_some() && (is_key || with_disabled || !candidate.is_disabled)
    });
    let best = match is_address {
        true => usable.min_by_key(|candidate| Reverse((candidate.validity, candidate.newest))),
        false => usable.next(),
    };
    match best {
        Some(best) => RecipientSelection::Recipient(Box::new(best)),
        None if has_no_key => RecipientSelection::Unusable(first_certificate),
        None => RecipientSelection::NotNamed(first_certificate),
    }
}

fn is_of_user(name: &Query) -> bool {
    matches!(name, Query::Exact(_) | Query::Mail(_) | Query::MailPart(_) | Query::Substring(_))
}

/// Which parts of a certificate are meant.
struct NameFilter<'a> {
    user_id: &'a dyn Fn(&[u8]) -> bool,
    key: &'a dyn Fn(&Fingerprint) -> bool,
}

fn candidates_of(
    source: usize,
    ids: &[CertId],
    meant: &NameFilter<'_>,
    sources: &Sources<'_>,
    trust: &TrustSettings,
) -> Result<Vec<RecipientCandidate>> {
    let snapshot = sources.certificates[source];
    let mut certificates = Vec::with_capacity(ids.len());
    for &id in ids {
        certificates.extend(read_one(snapshot, id)?.map(|stored| (id, stored.certificate)));
    }
    let keys: Vec<Fingerprint> =
        certificates.iter().map(|(_, one)| one.facts.primary().fingerprint).collect();
    let validities = ValidityResult::of(&keys, sources, trust)?;
    let candidate = |(id, certificate): &(CertId, Certificate)| {
        let facts = &certificate.facts;
        let context = EvaluationContext::new(trust.now, trust.view);
        let effective = evaluate_certificate(certificate, context, &sources.certificates)?;
        let user_trust = validities.trust((source, *id), facts, &effective)?;
        let components = facts.components.iter().zip(&effective.components).enumerate();
        let named: Vec<(usize, &UserIdState)> = components
            .filter_map(|(index, (component, state))| match (&component.kind, state) {
                (ComponentKind::UserId(user_id), ComponentState::User(user)) => {
                    let is_meant = user.created.is_some() && !user.revoked && (meant.user_id)(user_id);
                    is_meant.then_some((index, user))
                }
                _ => None,
            })
            .collect();
        let validities = named.iter().filter_map(|(index, _)| user_trust.user_ids.get(*index).copied());
        let key = encryption_key(certificate, &effective, context, EncryptionPurpose::Any, meant.key);
        let obstacle = match &key {
            None => Some(obstacle(certificate, &effective, context, EncryptionPurpose::Any)),
            Some(_) => user_trust.disabled.then_some(RecipientObstacle::Disabled),
        };
        Ok(RecipientCandidate {
            fingerprint: facts.primary().fingerprint,
            newest: newest_encryption_key(facts, &effective),
            user_id: primary_name(certificate, &effective),
            validity: validities.max().unwrap_or_default(),
            is_named: named.iter().any(|(_, user)| !user.expired),
            is_disabled: user_trust.disabled,
            key,
            also: decryption_subkeys(certificate, &effective),
            obstacle,
            first_uses: first_uses(facts, &effective, &user_trust, meant.user_id),
        })
    };
    certificates.iter().map(candidate).collect()
}

/// Returns the certificates of a file, whose armor is read by these rules, as recipients; the user who names the file
/// vouches for their validity.
///
/// Their designated revokers are looked up in the file and in `revokers`.
///
/// # Errors
///
/// Errors of reading the file and of certificates in it that cannot be read, and those of the database.
pub fn of_file(
    file: impl Read,
    armor: ArmorRules,
    path: &Path,
    revokers: &[&dyn ReadCertificates],
    now: Timestamp,
) -> Result<Vec<RecipientCandidate>> {
    let mut certificates = Vec::new();
    for piece in Splitter::with(file, armor) {
        let Piece::Certificate(raw) = piece? else { continue };
        let cleaned = clean(&raw, &CleanOptions::default(), now);
        let refused = |reason: String| message::Error::Recipient { key: "a certificate".to_owned(), reason };
        certificates.push(cleaned.map_err(|error| refused(error.to_string()))?.certificate);
    }
    let keyring = KeyringFile::of(path, certificates);
    of_keyring(&keyring, revokers, EncryptionPurpose::Any, now)
}

/// Returns the certificates of a keyring as recipients; the caller vouches for their validity.
pub(crate) fn of_keyring(
    keyring: &KeyringFile,
    revokers: &[&dyn ReadCertificates],
    purpose: EncryptionPurpose,
    now: Timestamp,
) -> Result<Vec<RecipientCandidate>> {
    let own = keyring.snapshot();
    let revokers: Vec<&dyn ReadCertificates> =
        iter::once(own.as_ref()).chain(revokers.iter().copied()).collect();
    let candidate = |certificate: &Certificate| {
        let context = EvaluationContext::new(now, PacketView::Full);
        let effective = evaluate_certificate(certificate, context, &revokers)?;
        let key = encryption_key(certificate, &effective, context, purpose, &|_| true);
        Ok(RecipientCandidate {
            obstacle: key.is_none().then(|| obstacle(certificate, &effective, context, purpose)),
            fingerprint: certificate.facts.primary().fingerprint,
            user_id: primary_name(certificate, &effective),
            newest: newest_encryption_key(&certificate.facts, &effective),
            validity: Validity::Full,
            is_named: true,
            is_disabled: false,
            key,
            also: decryption_subkeys(certificate, &effective),
            first_uses: Vec::new(),
        })
    };
    keyring.certificates().map(candidate).collect()
}

/// Returns what trust on first use knows of those user IDs of a certificate that are meant and not revoked; nothing where
/// that was not asked for.
pub fn first_uses(
    facts: &Facts,
    effective: &Effective,
    trust: &UserTrust,
    is_meant: &dyn Fn(&[u8]) -> bool,
) -> Vec<UserFirstUse> {
    let components = facts.components.iter().zip(&effective.components);
    let known = components.zip(&trust.user_ids).zip(&trust.first_uses);
    let of_user = known.filter_map(|(((component, state), validity), known)| {
        let (ComponentKind::UserId(user_id), ComponentState::User(user)) = (&component.kind, state) else {
            return None;
        };
        let counts = !user.expired && *validity != Validity::Ultimate;
        (!user.revoked && is_meant(user_id)).then(|| UserFirstUse {
            address: BoundAddress::of_user_id(user_id),
            known: known.clone().filter(|_| counts),
        })
    });
    of_user.collect()
}

fn primary_name(certificate: &Certificate, effective: &Effective) -> Vec<u8> {
    effective.primary_name(&certificate.facts).unwrap_or_default().to_vec()
}

/// Returns the certificates that are the user's own: ultimately trusted, with a secret key among `stored`.
///
/// # Errors
///
/// The database's errors.
pub fn with_own_key(
    snapshot: &dyn ReadCertificates,
    stored: &[StoredKey],
    trust: &TrustSettings,
) -> Result<Vec<RecipientCandidate>> {
    let ids = with_secret_key(snapshot, Selection::All, stored)?;
    let sources =
        Sources { certificates: vec![snapshot], owner_trust: snapshot.trust(), verdict_store: None };
    let meant = NameFilter { user_id: &|_| true, key: &|_| true };
    let mut own = candidates_of(0, &ids, &meant, &sources, trust)?;
    own.retain(|candidate| candidate.validity == Validity::Ultimate);
    Ok(own)
}

/// Returns why a certificate has no key to encrypt to.
fn obstacle(
    certificate: &Certificate,
    effective: &Effective,
    context: EvaluationContext,
    purpose: EncryptionPurpose,
) -> RecipientObstacle {
    let primary = effective.primary();
    if !effective.fully_checked {
        return RecipientObstacle::NotFullyChecked;
    }
    if let Some(revocation) = primary.revoked {
        return RecipientObstacle::Revoked(revocation.date);
    }
    if let (true, Some(end)) = (primary.expired, primary.expires) {
        return RecipientObstacle::Expired(end);
    }
    if !primary.is_usable() {
        return RecipientObstacle::NotBound;
    }
    if is_primary_too_small(certificate, context) {
        return RecipientObstacle::TooSmall;
    }
    let keys = (0..effective.components.len()).filter(|index| may_encrypt(effective, *index));
    let mut refusals = keys.filter_map(|index| refusal(certificate, effective, index, context, purpose));
    if let Some(refusal) = refusals.next_back() {
        return refusal;
    }
    let ends = effective.components.iter().filter_map(|state| match state {
        ComponentState::Key(key) if key.expired && key.revoked.is_none() => {
            key.expires.filter(|_| key.usage.contains(Usage::ENCRYPT))
        }
        _ => None,
    });
    ends.max().map_or(RecipientObstacle::NoEncryptionKey, RecipientObstacle::EncryptionKeyExpired)
}

fn encryption_key(
    certificate: &Certificate,
    effective: &Effective,
    context: EvaluationContext,
    purpose: EncryptionPurpose,
    is_meant: &dyn Fn(&Fingerprint) -> bool,
) -> Option<EncryptionKey> {
    if !effective.primary().is_usable() || is_primary_too_small(certificate, context) {
        return None;
    }
    let usable = |index: &usize| {
        may_encrypt(effective, *index) && refusal(certificate, effective, *index, context, purpose).is_none()
    };
    let key = |index: usize| match &certificate.facts.components[index].kind {
        ComponentKind::Key(key) => is_meant(&key.fingerprint).then_some((index, key)),
        _ => None,
    };
    let places = (0..certificate.facts.components.len()).filter(usable).filter_map(key);
    // As in GnuPG, the newest subkey is preferred to the primary key.
    let (index, key): (usize, &KeyFacts) = places.max_by_key(|(index, key)| (*index > 0, key.created))?;
    as_encryption_key(certificate, effective, index, key)
}

/// Returns when the newest key for encryption was made that is bound and not revoked.
fn newest_encryption_key(facts: &Facts, effective: &Effective) -> Option<Timestamp> {
    let components = facts.components.iter().zip(&effective.components);
    let created = components.filter_map(|(component, state)| match (&component.kind, state) {
        (ComponentKind::Key(key), ComponentState::Key(state)) => {
            (state.revoked.is_none() && state.usage.contains(Usage::ENCRYPT)).then_some(key.created)
        }
        _ => None,
    });
    created.max()
}

/// Says whether the primary key is too small for others to rely on it.
fn is_primary_too_small(certificate: &Certificate, context: EvaluationContext) -> bool {
    let primary = certificate.facts.primary();
    context.view == PacketView::Full
        && !policy::is_large_enough(primary.algorithm, primary.bits, context.now.0)
}

/// Says whether a component is a key for encryption that is bound, not revoked and not expired.
fn may_encrypt(effective: &Effective, index: usize) -> bool {
    matches!(&effective.components[index], ComponentState::Key(state)
        if state.is_usable() && state.usage.contains(Usage::ENCRYPT))
}

/// Returns why a key that may encrypt is not encrypted to for a purpose.
fn refusal(
    certificate: &Certificate,
    effective: &Effective,
    index: usize,
    context: EvaluationContext,
    purpose: EncryptionPurpose,
) -> Option<RecipientObstacle> {
    let ComponentKind::Key(key) = &certificate.facts.components[index].kind else { return None };
    let fits = || key_flags(&certificate.facts, effective, index).is_some_and(|flags| purpose.fits(flags));
    let is_safe = || certificate.key(index).is_some_and(|key| secret::is_safe_to_encrypt_to(&key));
    let is_strict = context.view == PacketView::Full;
    if is_strict && !policy::is_large_enough(key.algorithm, key.bits, context.now.0) {
        Some(RecipientObstacle::TooSmall)
    } else if is_strict && !is_safe() {
        Some(RecipientObstacle::WeakKeyDerivation)
    } else if purpose != EncryptionPurpose::Any && !fits() {
        Some(RecipientObstacle::OtherPurpose)
    } else {
        None
    }
}

fn as_encryption_key(
    certificate: &Certificate,
    effective: &Effective,
    index: usize,
    key: &KeyFacts,
) -> Option<EncryptionKey> {
    let expires = match &effective.components[index] {
        ComponentState::Key(state) => state.expires,
        _ => None,
    };
    Some(EncryptionKey {
        fingerprint: key.fingerprint,
        primary: certificate.facts.primary().fingerprint,
        public: certificate.body(certificate.facts.components[index].span)?.to_vec(),
        expires,
        preferences: preferences(certificate, effective),
    })
}

/// Returns the usable additional decryption subkeys of a certificate.
fn decryption_subkeys(certificate: &Certificate, effective: &Effective) -> Vec<EncryptionKey> {
    let components = certificate.facts.components.iter().zip(&effective.components).enumerate().skip(1);
    let usable = components.filter_map(|(index, (component, state))| match (&component.kind, state) {
        (ComponentKind::Key(key), ComponentState::Key(state))
            if state.is_usable() && state.usage.contains(Usage::ALSO_DECRYPT) =>
        {
            Some((index, key))
        }
        _ => None,
    });
    usable.filter_map(|(index, key)| as_encryption_key(certificate, effective, index, key)).collect()
}

/// Returns the key flags of a key: its own, of a primary key those of the primary user ID, else those of a direct-key
/// signature.
fn key_flags(facts: &Facts, effective: &Effective, index: usize) -> Option<u8> {
    let flags = |component: usize, binding: usize| {
        facts.components[component].signatures[binding].own.as_ref()?.key_flags.map(|[flags, _]| flags)
    };
    let of_key = |index: usize| match &effective.components[index] {
        ComponentState::Key(state) => state.binding.and_then(|binding| flags(index, binding)),
        _ => None,
    };
    let of_user = || {
        let user = effective.primary_user_id(facts)?;
        match &effective.components[user] {
            ComponentState::User(state) => state.binding.and_then(|binding| flags(user, binding)),
            _ => None,
        }
    };
    match index {
        0 => of_user().or_else(|| of_key(0)),
        index => of_key(index).or_else(|| of_key(0)),
    }
}

/// Reads the preferences where GnuPG does: in the self-signature of the primary user ID, else in a direct-key
/// signature. A certificate of version 6 has them in the latter (RFC 9580, 10.1.1).
fn preferences(certificate: &Certificate, effective: &Effective) -> Preferences {
    let facts = &certificate.facts;
    let of_user = effective.primary_user_id(facts).and_then(|user_id| match &effective.components[user_id] {
        ComponentState::User(user) => user.binding.map(|index| &facts.components[user_id].signatures[index]),
        _ => None,
    });
    let of_key = effective.primary().binding.map(|index| &facts.components[0].signatures[index]);
    let order = match facts.primary().fingerprint {
        Fingerprint::V6(_) => [of_key, of_user],
        _ => [of_user, of_key],
    };
    let signatures = || order.into_iter().flatten();
    let said: Vec<&SelfSignature> = signatures().filter_map(|signature| signature.own.as_deref()).collect();
    let ciphersuites = |signature: &SignatureFacts| {
        let signature = cert::signature::parse(certificate.body(signature.span)?).ok()?;
        let pairs = Subpackets::new(signature.hashed).first(Kind::AEAD_CIPHERSUITES)?;
        Some(pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    };
    let mut preferences = Preferences {
        ciphers: said.iter().find_map(|own| own.cipher_preferences.clone()).unwrap_or_default(),
        digests: said.iter().find_map(|own| own.hash_preferences.clone()).unwrap_or_default(),
        compressions: said.iter().find_map(|own| own.compression_preferences.clone()),
        ciphersuites: signatures().find_map(ciphersuites).unwrap_or_default(),
        seipd2: said.iter().any(|own| own.features.is_some_and(|features| features & 8 != 0)),
        ocb: said.iter().find_map(|own| own.features).is_some_and(|features| features & 2 != 0),
    };
    if has_post_quantum_key(facts, effective) {
        preferences.add_implicit_of_rfc_9980();
    }
    preferences
}

fn has_post_quantum_key(facts: &Facts, effective: &Effective) -> bool {
    facts.components.iter().zip(&effective.components).any(|(component, state)| {
        matches!((&component.kind, state), (ComponentKind::Key(key), ComponentState::Key(state))
            if state.valid && key.algorithm.is_post_quantum())
    })
}
