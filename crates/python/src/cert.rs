//! Certificates.

use std::time::SystemTime;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::exception;

/// A certificate as it was when it was looked up.
#[pyclass(frozen, module = "keyhoard")]
pub(crate) struct Cert {
    pub(crate) cert: keyhoard::Cert,
}

/// A user ID of a certificate.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct UserId {
    text: String,
    email: Option<String>,
    created: Option<SystemTime>,
    expires: Option<SystemTime>,
    is_primary: bool,
    is_revoked: bool,
    is_expired: bool,
}

/// A primary key or subkey.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Key {
    fingerprint: String,
    created: SystemTime,
    expires: Option<SystemTime>,
    algorithm: String,
    algorithm_id: u8,
    bits: u32,
    keygrip: Option<String>,
    is_primary: bool,
    is_usable: bool,
    is_revoked: bool,
    is_expired: bool,
    can_certify: bool,
    can_sign: bool,
    can_encrypt: bool,
    can_authenticate: bool,
}

/// How certain it is whose a certificate is.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct Validity {
    /// `unknown`, `undefined`, `never`, `marginal`, `full` or `ultimate`.
    level: &'static str,
    /// `full` or `ultimate`.
    is_valid: bool,
    user_ids: Vec<Py<UserIdValidity>>,
    /// A line for each user ID.
    explanation: String,
}

/// How certain it is that a user ID belongs to its certificate.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct UserIdValidity {
    user_id: String,
    level: &'static str,
    certified_by: Vec<String>,
    explanation: String,
}

/// A signature on a key or user ID of a certificate; nothing of it is verified.
#[pyclass(frozen, get_all, module = "keyhoard")]
pub(crate) struct CertSignature {
    #[pyo3(name = "type")]
    kind: u8,
    issuer: String,
    issuer_name: Option<String>,
    created: SystemTime,
    expires: Option<SystemTime>,
    is_own: bool,
}

impl CertSignature {
    fn of(signature: keyhoard::CertSignature) -> Self {
        let keyhoard::CertSignature { kind, issuer, issuer_name, created, expires, is_own, .. } = signature;
        Self { kind, issuer: issuer.to_string(), issuer_name, created, expires, is_own }
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
    #[getter]
    fn fingerprint(&self) -> String {
        self.cert.fingerprint().to_string()
    }

    #[getter]
    fn key_id(&self) -> String {
        self.cert.key_id().to_string()
    }

    #[getter]
    fn version(&self) -> u8 {
        self.cert.fingerprint().version()
    }

    #[getter]
    fn user_id(&self) -> Option<String> {
        self.cert.user_id().map(|user_id| user_id.text())
    }

    #[getter]
    fn user_ids(&self) -> Vec<UserId> {
        self.cert.user_ids().iter().map(UserId::of).collect()
    }

    #[getter]
    fn emails(&self) -> Vec<String> {
        self.cert.user_ids().iter().filter_map(keyhoard::UserId::email).collect()
    }

    #[getter]
    fn keys(&self) -> Vec<Key> {
        self.cert.keys().into_iter().map(Key::of).collect()
    }

    #[getter]
    fn created(&self) -> SystemTime {
        self.cert.created()
    }

    #[getter]
    fn expires(&self) -> Option<SystemTime> {
        self.cert.expires()
    }

    #[getter]
    fn is_revoked(&self) -> bool {
        self.cert.is_revoked()
    }

    #[getter]
    fn is_expired(&self) -> bool {
        self.cert.is_expired()
    }

    #[getter]
    fn is_usable(&self) -> bool {
        self.cert.is_usable()
    }

    #[pyo3(signature = (now = None))]
    fn validity(&self, py: Python<'_>, now: Option<SystemTime>) -> PyResult<Validity> {
        let computed = py.detach(|| match now {
            Some(now) => self.cert.validity_at(now),
            None => self.cert.validity(),
        });
        Validity::of(py, &computed.map_err(exception)?)
    }

    fn signatures(&self, py: Python<'_>) -> PyResult<Vec<CertSignature>> {
        let signatures = py.detach(|| self.cert.signatures()).map_err(exception)?;
        Ok(signatures.into_iter().map(CertSignature::of).collect())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.cert.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.__bytes__(py)
    }

    fn armored(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.cert.armored()).map_err(exception)
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
