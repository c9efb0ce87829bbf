//! What methods of the database take, beside inputs, outputs and passphrases.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::cert::Cert;
use crate::passphrase::passphrase;
use crate::stream::Input;

/// A certificate as an argument: one that was looked up, or a name.
pub(crate) enum CertOrName {
    Cert(keyhoard::Cert),
    Name(String),
}

impl CertOrName {
    pub(crate) fn of(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(cert) = argument.cast::<Cert>() {
            return Ok(Self::Cert(cert.get().cert.clone()));
        }
        match argument.cast::<PyString>() {
            Ok(name) => Ok(Self::Name(name.to_cow()?.into_owned())),
            Err(_) => Err(PyTypeError::new_err("a Cert, an address or a fingerprint is needed")),
        }
    }

    /// Reads one of them, or several in any iterable.
    pub(crate) fn all(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Self>> {
        let Some(argument) = argument else { return Ok(Vec::new()) };
        if argument.cast::<PyString>().is_ok() || argument.cast::<Cert>().is_ok() {
            return Ok(vec![Self::of(argument)?]);
        }
        argument.try_iter()?.map(|one| Self::of(&one?)).collect()
    }
}

/// One passphrase, or several in any iterable.
pub(crate) fn passwords(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<keyhoard::Passphrase>> {
    let Some(argument) = argument else { return Ok(Vec::new()) };
    if argument.cast::<PyString>().is_ok() || argument.cast::<PyBytes>().is_ok() {
        return Ok(vec![passphrase(argument)?]);
    }
    argument.try_iter()?.map(|one| passphrase(&one?)).collect()
}

/// A step of a transaction.
pub(crate) enum Step {
    Import(Input),
    Delete(keyhoard::Cert),
    Trust(keyhoard::Cert, keyhoard::OwnerTrust),
}

impl Step {
    pub(crate) fn of(kind: &str, argument: &Bound<'_, PyAny>, word: Option<&str>) -> PyResult<Self> {
        if kind == "import" {
            return Ok(Self::Import(Input::of(argument)?));
        }
        let cert = argument.cast::<Cert>()?.get().cert.clone();
        Ok(match word {
            Some(word) => Self::Trust(cert, owner_trust(word)?),
            None => Self::Delete(cert),
        })
    }
}

/// Reads a word for owner trust.
pub(crate) fn owner_trust(word: &str) -> PyResult<keyhoard::OwnerTrust> {
    let known = keyhoard::OwnerTrust::ALL.into_iter().find(|trust| trust.word() == word);
    known.ok_or_else(|| {
        PyValueError::new_err(
            "owner trust is 'unknown', 'undefined', 'never', 'marginal', 'full' or 'ultimate'",
        )
    })
}
