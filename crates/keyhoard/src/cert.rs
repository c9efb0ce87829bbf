//! A certificate.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use engine::cert::Facts;
use engine::cert::effective::{ComponentState, Effective, EvaluationContext, KeyState, Usage, UserIdState};
use engine::cert::facts::{ComponentKind, KeyFacts};
use engine::cert::mailbox::mail_address;
use engine::delete::delete;
use engine::designated_revocation::evaluate_with_revokers;
use engine::owner_trust::{Assignment, OptionNames, assign, effective};
use engine::store::{CertId, Detail, Selection, Snapshot};

use crate::cert_signature::{CertSignature, read_signatures};
use crate::time::{from_timestamp, to_timestamp};
use crate::validity::ValidityReport;
use crate::{Error, Fingerprint, KeyId, Keyhoard, OwnerTrust, Result};

/// A certificate (GnuPG's "key") as it was when it was looked up.
#[derive(Clone)]
pub struct Cert {
    keyhoard: Keyhoard,
    pub(crate) id: CertId,
    facts: Arc<Facts>,
    effective: Arc<Effective>,
}

/// A user ID of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserId {
    /// Its bytes, which need not be UTF-8.
    pub bytes: Vec<u8>,
    /// When its binding signature was made; `None` if it is revoked or expired, or nothing binds it.
    pub created: Option<SystemTime>,
    /// When its binding signature expires.
    pub expires: Option<SystemTime>,
    /// It is the primary one.
    pub is_primary: bool,
    /// Its owner revoked it.
    pub is_revoked: bool,
    /// Its binding signature has expired.
    pub is_expired: bool,
}

/// A primary key or subkey of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// When it was made.
    pub created: SystemTime,
    /// When it expires.
    pub expires: Option<SystemTime>,
    /// The algorithm: of a curve its name, such as `ed25519`, else the algorithm's with the size, such as `rsa4096`.
    pub algorithm: String,
    /// The algorithm's number (RFC 9580, 9.1).
    pub algorithm_id: u8,
    /// The size in bits, as GnuPG has it.
    pub bits: u32,
    /// GnuPG's keygrip, in hexadecimal digits, if one is defined for the algorithm.
    pub keygrip: Option<String>,
    /// It is the primary key.
    pub is_primary: bool,
    /// It is bound to the certificate, and neither revoked nor expired.
    pub is_usable: bool,
    /// It, or the certificate, was revoked.
    pub is_revoked: bool,
    /// It, or the certificate, has expired.
    pub is_expired: bool,
    /// It certifies keys and user IDs.
    pub can_certify: bool,
    /// It signs.
    pub can_sign: bool,
    /// Messages are encrypted to it.
    pub can_encrypt: bool,
    /// It authenticates.
    pub can_authenticate: bool,
}

impl Cert {
    /// Returns the fingerprint of the primary key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.facts.primary().fingerprint
    }

    /// Returns the key ID of the primary key, which is not unique.
    pub fn key_id(&self) -> KeyId {
        self.fingerprint().key_id()
    }

    /// Returns the user IDs, in the order of the certificate; attributes (photographs) are left out.
    pub fn user_ids(&self) -> Vec<UserId> {
        let components = self.facts.components.iter().zip(&self.effective.components);
        let user_ids = components.filter_map(|(component, state)| match (&component.kind, state) {
            (ComponentKind::UserId(bytes), ComponentState::User(state)) => Some(UserId::of(bytes, state)),
            _ => None,
        });
        user_ids.collect()
    }

    /// Returns the primary user ID; `None` if no user ID is valid by itself.
    pub fn user_id(&self) -> Option<UserId> {
        self.user_ids().into_iter().find(|user_id| user_id.is_primary)
    }

    /// Returns the keys, the primary one first.
    pub fn keys(&self) -> Vec<Key> {
        let components = self.facts.components.iter().zip(&self.effective.components).enumerate();
        let keys = components.filter_map(|(index, (component, state))| match (&component.kind, state) {
            (ComponentKind::Key(facts), ComponentState::Key(state)) => {
                Some(Key::of(facts, state, index == 0))
            }
            _ => None,
        });
        keys.collect()
    }

    /// Returns when the primary key was made.
    pub fn created(&self) -> SystemTime {
        from_timestamp(self.facts.primary().created)
    }

    /// Returns when the certificate expires; `None` if never.
    pub fn expires(&self) -> Option<SystemTime> {
        self.effective.primary().expires.map(from_timestamp)
    }

    /// Says whether its owner, or somebody whom the owner trusted with it, revoked the certificate.
    pub fn is_revoked(&self) -> bool {
        self.effective.primary().revoked.is_some()
    }

    /// Says whether the certificate has expired.
    pub fn is_expired(&self) -> bool {
        self.effective.primary().expired
    }

    /// Says whether the certificate can be used: bound, neither revoked nor expired. It says nothing of whose it is.
    pub fn is_usable(&self) -> bool {
        self.effective.primary().is_usable()
    }

    /// Returns how certain it is now that the certificate is whose its user IDs say, and why.
    ///
    /// # Errors
    ///
    /// `not-found` if it is no longer in the database; `database`.
    pub fn validity(&self) -> Result<ValidityReport> {
        self.validity_at(self.keyhoard.now())
    }

    /// Returns how certain that is at another moment, by what the database holds now.
    ///
    /// # Errors
    ///
    /// Those of [`Cert::validity`].
    pub fn validity_at(&self, now: SystemTime) -> Result<ValidityReport> {
        let trust = self.keyhoard.handle.trust(to_timestamp(now));
        let report = |snapshot: &dyn Snapshot| ValidityReport::of(&self.fingerprint(), snapshot, &trust);
        self.keyhoard.handle.read(report)?.ok_or_else(|| self.missing())
    }

    /// Returns the signatures on the certificate's keys and user IDs, in the order of the packets. Only those by the
    /// certificate itself are verified: see [`Cert::validity`] for who certified it.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn signatures(&self) -> Result<Vec<CertSignature>> {
        let handle = &self.keyhoard.handle;
        handle.read(|snapshot| read_signatures(snapshot, self.id, handle.now()))
    }

    /// Returns the packets, as they are exported: without local signatures.
    ///
    /// # Errors
    ///
    /// `not-found` if it is no longer in the database; `database`.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.keyhoard.certs().export([self])
    }

    /// Returns the packets in ASCII armor.
    ///
    /// # Errors
    ///
    /// Those of [`Cert::to_bytes`].
    pub fn armored(&self) -> Result<String> {
        self.keyhoard.certs().export_armored([self])
    }

    fn missing(&self) -> Error {
        Error::NotFound { name: self.fingerprint().to_string() }
    }
}

/// Equal are certificates with the same primary key.
impl PartialEq for Cert {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Eq for Cert {}

/// Shows the fingerprint and the primary user ID.
impl fmt::Display for Cert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.fingerprint())?;
        self.user_id().map_or(Ok(()), |user_id| write!(f, " {user_id}"))
    }
}

impl fmt::Debug for Cert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cert({self})")
    }
}

impl UserId {
    fn of(bytes: &[u8], state: &UserIdState) -> Self {
        Self {
            bytes: bytes.to_vec(),
            created: state.created.map(from_timestamp),
            expires: state.expires.map(from_timestamp),
            is_primary: state.primary,
            is_revoked: state.revoked,
            is_expired: state.expired,
        }
    }

    /// Returns it as text, with other bytes than UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns its mail address, if it has one.
    pub fn email(&self) -> Option<String> {
        mail_address(&self.bytes).map(|address| String::from_utf8_lossy(address).into_owned())
    }
}

/// Shows it with control characters escaped.
impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&engine::foreign_text::shown(&self.bytes))
    }
}

impl Key {
    fn of(facts: &KeyFacts, state: &KeyState, is_primary: bool) -> Self {
        let can = |usage: Usage| state.usage.contains(usage);
        Self {
            fingerprint: facts.fingerprint,
            created: from_timestamp(facts.created),
            expires: state.expires.map(from_timestamp),
            algorithm: algorithm(facts),
            algorithm_id: facts.algorithm.0,
            bits: facts.bits,
            keygrip: facts.keygrip.map(|keygrip| keygrip.to_string()),
            is_primary,
            is_usable: state.is_usable(),
            is_revoked: state.revoked.is_some(),
            is_expired: state.expired,
            can_certify: can(Usage::CERTIFY),
            can_sign: can(Usage::SIGN),
            can_encrypt: can(Usage::ENCRYPT),
            can_authenticate: can(Usage::AUTHENTICATE),
        }
    }
}

fn algorithm(facts: &KeyFacts) -> String {
    use engine::verify::PublicKeyAlgorithm as Algorithm;
    match (facts.curve_name(), facts.algorithm) {
        (Some(curve), _) => curve.to_owned(),
        (None, algorithm) if algorithm.is_rsa() => format!("rsa{}", facts.bits),
        (None, Algorithm::DSA) => format!("dsa{}", facts.bits),
        (None, Algorithm(16)) => format!("elg{}", facts.bits),
        (None, Algorithm(25)) => "x25519".to_owned(),
        (None, Algorithm(26)) => "x448".to_owned(),
        (None, Algorithm(27)) => "ed25519".to_owned(),
        (None, Algorithm(28)) => "ed448".to_owned(),
        (None, Algorithm(number)) => format!("algorithm-{number}"),
    }
}

/// Reads certificates as they are now.
pub(crate) fn read_certs(keyhoard: &Keyhoard, snapshot: &dyn Snapshot, ids: &[CertId]) -> Result<Vec<Cert>> {
    let context = EvaluationContext::new(keyhoard.handle.now(), keyhoard.handle.view);
    let mut certs = Vec::with_capacity(ids.len());
    let mut outcome = Ok(());
    snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
        let Some(facts) = record.facts else { return ControlFlow::Continue(()) };
        match evaluate_with_revokers(&facts, context, (snapshot, record.id), &[snapshot]) {
            Ok(effective) => {
                let (facts, effective) = (Arc::new(facts), Arc::new(effective));
                certs.push(Cert { keyhoard: keyhoard.clone(), id: record.id, facts, effective });
                ControlFlow::Continue(())
            }
            Err(error) => {
                outcome = Err(error);
                ControlFlow::Break(())
            }
        }
    })?;
    outcome?;
    Ok(certs)
}

impl Keyhoard {
    /// Deletes a certificate, which [`Keyhoard::undo`] brings back; secret keys stay.
    ///
    /// # Errors
    ///
    /// `database`, `locked`.
    pub fn delete(&self, cert: &Cert) -> Result<()> {
        let handle = &self.handle;
        handle.write(|store| Ok(delete(store, &[cert.id], &handle.program, handle.now()).map(drop)?))
    }

    /// Says how far the user trusts a certificate's owner to certify others; [`OwnerTrust::Ultimate`] says that it is
    /// the user's own.
    ///
    /// # Errors
    ///
    /// `database`, `locked`.
    pub fn set_owner_trust(&self, cert: &Cert, trust: OwnerTrust) -> Result<()> {
        let handle = &self.handle;
        let primary = cert.fingerprint();
        let before = handle.read(|snapshot| Ok(snapshot.owner_trust(&primary)?))?;
        let given = Assignment::new(primary, trust, before);
        handle.write(|store| Ok(assign(store, &[given], &handle.program, handle.now())?))
    }

    /// Returns how far the user trusts a certificate's owner to certify others.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn owner_trust(&self, cert: &Cert) -> Result<OwnerTrust> {
        let assigned = self.handle.read(|snapshot| Ok(snapshot.owner_trust(&cert.fingerprint())?))?;
        Ok(effective(assigned, OptionNames::Nothing))
    }
}
