//! Certificates.

use std::time::SystemTime;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::run;

/// A certificate as it was when it was looked up.
#[pyclass(frozen, module = "keyhoard")]
pub(crate) struct Cert {
    pub(crate) cert: keyhoard::Cert,
}

/// A user ID of a certificate.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct UserId {
    /// The user ID as text; other bytes than UTF-8 are replaced.
    text: String,
    /// Its mail address, if it has one.
    email: Option<String>,
    /// When its binding signature was made; ``None`` if it is revoked or expired, or nothing binds it.
    created: Option<SystemTime>,
    /// When its binding signature expires.
    expires: Option<SystemTime>,
    /// Whether it is the primary one.
    is_primary: bool,
    /// Whether its owner revoked it.
    is_revoked: bool,
    /// Whether its binding signature has expired.
    is_expired: bool,
}

/// A primary key or subkey.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Key {
    /// The fingerprint, in hexadecimal digits.
    fingerprint: String,
    /// When it was made.
    created: SystemTime,
    /// When it expires; ``None`` if never.
    expires: Option<SystemTime>,
    /// The algorithm: of a curve its name, such as ``ed25519``, else with the size, such as ``rsa4096``.
    algorithm: String,
    /// The algorithm's number (RFC 9580, 9.1).
    algorithm_id: u8,
    /// The size in bits, as GnuPG has it.
    bits: u32,
    /// GnuPG's keygrip, in hexadecimal digits, if one is defined for the algorithm.
    keygrip: Option<String>,
    /// Whether it is the primary key.
    is_primary: bool,
    /// Whether it is bound to the certificate, and neither revoked nor expired.
    is_usable: bool,
    /// Whether it, or the certificate, was revoked.
    is_revoked: bool,
    /// Whether it, or the certificate, has expired.
    is_expired: bool,
    /// Whether it certifies keys and user IDs.
    can_certify: bool,
    /// Whether it signs.
    can_sign: bool,
    /// Whether messages are encrypted to it.
    can_encrypt: bool,
    /// Whether it authenticates.
    can_authenticate: bool,
}

/// How certain it is whose a certificate is.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Validity {
    /// That of the most valid user ID: ``unknown``, ``undefined``, ``never``, ``marginal``, ``full`` or ``ultimate``.
    level: &'static str,
    /// Whether that is ``full`` or ``ultimate``.
    is_valid: bool,
    /// Each user ID and attribute, as a ``UserIdValidity``.
    user_ids: Vec<Py<UserIdValidity>>,
    /// A line for each user ID.
    explanation: String,
}

/// How certain it is that a user ID belongs to its certificate.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct UserIdValidity {
    /// The user ID, with control characters escaped; of an attribute what GnuPG calls it.
    user_id: String,
    /// ``unknown``, ``undefined``, ``never``, ``marginal``, ``full`` or ``ultimate``.
    level: &'static str,
    /// The fingerprints of those who certified it so that it counts.
    certified_by: Vec<String>,
    /// Why, in one line for people.
    explanation: String,
}

/// A signature on a key or user ID of a certificate; nothing of it is verified.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct CertSignature {
    /// The type (RFC 9580, 5.2.1): 0x10 to 0x13 certify a user ID, 0x18 binds a subkey, 0x20 to 0x30 revoke.
    #[pyo3(name = "type")]
    kind: u8,
    /// The key ID of the key that says to have made it.
    issuer: String,
    /// The primary user ID of the certificate with that key, if it is here.
    issuer_name: Option<String>,
    /// When it was made, as it says.
    created: SystemTime,
    /// When it expires, as it says.
    expires: Option<SystemTime>,
    /// Whether it says to be by the certificate's own primary key.
    is_own: bool,
    /// Whether it is a certification by another key of which the owner of the certificate approves.
    is_approved: bool,
}

impl CertSignature {
    fn of(signature: keyhoard::CertSignature) -> Self {
        let keyhoard::CertSignature {
            kind, issuer, issuer_name, created, expires, is_own, is_approved, ..
        } = signature;
        Self { kind, issuer: issuer.to_string(), issuer_name, created, expires, is_own, is_approved }
    }
}

#[pymethods]
impl CertSignature {
    fn __repr__(&self) -> String {
        format!("<CertSignature {:#04x} by {}>", self.kind, self.issuer)
    }
}

impl UserId {
    fn of(user_id: &keyhoard::UserId) -> Self {
        Self {
            text: user_id.text(),
            email: user_id.email(),
            created: user_id.created,
            expires: user_id.expires,
            is_primary: user_id.is_primary,
            is_revoked: user_id.is_revoked,
            is_expired: user_id.is_expired,
        }
    }
}

impl Key {
    fn of(key: keyhoard::Key) -> Self {
        Self {
            fingerprint: key.fingerprint.to_string(),
            created: key.created,
            expires: key.expires,
            algorithm: key.algorithm,
            algorithm_id: key.algorithm_id,
            bits: key.bits,
            keygrip: key.keygrip,
            is_primary: key.is_primary,
            is_usable: key.is_usable,
            is_revoked: key.is_revoked,
            is_expired: key.is_expired,
            can_certify: key.can_certify,
            can_sign: key.can_sign,
            can_encrypt: key.can_encrypt,
            can_authenticate: key.can_authenticate,
        }
    }
}

#[pymethods]
impl Cert {
    /// The fingerprint of the primary key, in hexadecimal digits.
    #[getter]
    fn fingerprint(&self) -> String {
        self.cert.fingerprint().to_string()
    }

    /// The key ID of the primary key, which is not unique.
    #[getter]
    fn key_id(&self) -> String {
        self.cert.key_id().to_string()
    }

    /// The version of the primary key: 4, or 6 (RFC 9580).
    #[getter]
    fn version(&self) -> u8 {
        self.cert.fingerprint().version()
    }

    /// The primary user ID; ``None`` if no user ID is valid by itself.
    #[getter]
    fn user_id(&self) -> Option<String> {
        self.cert.user_id().map(|user_id| user_id.text())
    }

    /// The user IDs, a ``UserId`` each, in the order of the certificate.
    #[getter]
    fn user_ids(&self) -> Vec<UserId> {
        self.cert.user_ids().iter().map(UserId::of).collect()
    }

    /// The mail addresses in the user IDs.
    #[getter]
    fn emails(&self) -> Vec<String> {
        self.cert.user_ids().iter().filter_map(keyhoard::UserId::email).collect()
    }

    /// The keys, a ``Key`` each, the primary one first.
    #[getter]
    fn keys(&self) -> Vec<Key> {
        self.cert.keys().into_iter().map(Key::of).collect()
    }

    /// When the primary key was made.
    #[getter]
    fn created(&self) -> SystemTime {
        self.cert.created()
    }

    /// When the certificate expires; ``None`` if never.
    #[getter]
    fn expires(&self) -> Option<SystemTime> {
        self.cert.expires()
    }

    /// Whether its owner, or somebody whom the owner trusted with it, revoked the certificate.
    #[getter]
    fn is_revoked(&self) -> bool {
        self.cert.is_revoked()
    }

    /// Whether the certificate has expired.
    #[getter]
    fn is_expired(&self) -> bool {
        self.cert.is_expired()
    }

    /// Whether the certificate can be used: bound, neither revoked nor expired. It says nothing of whose it
    /// is.
    #[getter]
    fn is_usable(&self) -> bool {
        self.cert.is_usable()
    }

    /// Returns how certain it is that the certificate is whose its user IDs say, now or at another moment.
    ///
    /// ``now`` is a ``datetime`` with a time zone. Raises ``NotFoundError`` if the certificate is no longer
    /// in the database.
    ///
    /// >>> print(ann.validity())
    /// ultimate
    /// >>> ann.validity().user_ids[0].explanation
    /// 'it is your own key'
    #[pyo3(signature = (now = None))]
    fn validity(&self, py: Python<'_>, now: Option<SystemTime>) -> PyResult<Validity> {
        let computed = run(py, || match now {
            Some(now) => self.cert.validity_at(now),
            None => self.cert.validity(),
        });
        Validity::of(py, &computed?)
    }

    /// Returns the certificate's level, and those of its user IDs, in their order.
    fn _levels(&self, py: Python<'_>) -> PyResult<(&'static str, Vec<&'static str>)> {
        let report = run(py, || self.cert.validity())?;
        let level = |user_id: keyhoard::UserId| {
            // An attribute may be called what a user ID says: the lower one counts.
            let shown = user_id.to_string();
            let same = report.user_ids.iter().filter(|one| one.user_id == shown);
            same.map(|one| one.validity).min().unwrap_or_default().word()
        };
        Ok((report.validity.word(), self.cert.user_ids().into_iter().map(level).collect()))
    }

    /// Returns the signatures on the certificate's keys and user IDs, a ``CertSignature`` each, in the order
    /// of the packets.
    ///
    /// Only those by the certificate itself were verified: ``validity`` says who certified it.
    fn signatures(&self, py: Python<'_>) -> PyResult<Vec<CertSignature>> {
        let signatures = run(py, || self.cert.signatures())?;
        Ok(signatures.into_iter().map(CertSignature::of).collect())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, || self.cert.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the packets, as they are exported: without local signatures. ``bytes(cert)`` does the same.
    ///
    /// Raises ``NotFoundError`` if the certificate is no longer in the database.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.__bytes__(py)
    }

    /// Returns the packets in ASCII armor, as text.
    ///
    /// Raises ``NotFoundError`` if the certificate is no longer in the database.
    ///
    /// >>> ann.armored().splitlines()[0]
    /// '-----BEGIN PGP PUBLIC KEY BLOCK-----'
    fn armored(&self, py: Python<'_>) -> PyResult<String> {
        run(py, || self.cert.armored())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().cert == self.cert)
    }

    fn __hash__(&self) -> u64 {
        self.cert.key_id().0
    }

    fn __str__(&self) -> String {
        self.cert.to_string()
    }

    fn __repr__(&self) -> String {
        let user_id = self.cert.user_id().map(|user_id| format!(" {user_id}")).unwrap_or_default();
        let state = match (self.is_revoked(), self.is_expired()) {
            (true, _) => " (revoked)",
            (_, true) => " (expired)",
            _ => "",
        };
        format!("<Cert {}{user_id}{state}>", self.fingerprint())
    }
}

#[pymethods]
impl UserId {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<UserId {:?}>", self.text)
    }
}

#[pymethods]
impl Key {
    fn __repr__(&self) -> String {
        format!("<Key {} {}>", self.algorithm, self.fingerprint)
    }
}

impl Validity {
    fn of(py: Python<'_>, report: &keyhoard::ValidityReport) -> PyResult<Self> {
        let user_id = |one: &keyhoard::UserIdValidity| {
            let user_id = UserIdValidity {
                user_id: one.user_id.clone(),
                level: one.validity.word(),
                certified_by: one.certified_by.iter().map(ToString::to_string).collect(),
                explanation: one.explanation.clone(),
            };
            Py::new(py, user_id)
        };
        Ok(Self {
            level: report.validity.word(),
            is_valid: report.validity >= keyhoard::Validity::Full,
            user_ids: report.user_ids.iter().map(user_id).collect::<PyResult<_>>()?,
            explanation: report.to_string(),
        })
    }
}

#[pymethods]
impl Validity {
    fn __bool__(&self) -> bool {
        self.is_valid
    }

    fn __str__(&self) -> &str {
        self.level
    }

    fn __repr__(&self) -> String {
        format!("<Validity {}>", self.level)
    }
}

#[pymethods]
impl UserIdValidity {
    fn __repr__(&self) -> String {
        format!("<UserIdValidity {} {:?}: {}>", self.level, self.user_id, self.explanation)
    }
}
