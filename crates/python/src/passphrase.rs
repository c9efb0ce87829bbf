//! Passphrases: text, bytes, or a function that is asked.

use keyhoard::{Passphrase, PassphraseRequest};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::failure::ask;

/// What unlocks keys.
pub(crate) enum Unlocking {
    Passphrase(Passphrase),
    /// Called with a fingerprint and the number of wrong answers; returns text, bytes or `None`.
    Function(Py<PyAny>),
}

/// Reads an argument.
pub(crate) fn unlocking(argument: &Bound<'_, PyAny>) -> PyResult<Unlocking> {
    if argument.is_callable() {
        return Ok(Unlocking::Function(argument.clone().unbind()));
    }
    passphrase(argument).map(Unlocking::Passphrase)
}

/// Reads a passphrase.
pub(crate) fn passphrase(argument: &Bound<'_, PyAny>) -> PyResult<Passphrase> {
    if let Ok(text) = argument.cast::<PyString>() {
        return Ok(Passphrase::from(text.to_cow()?.as_ref()));
    }
    match argument.cast::<PyBytes>() {
        Ok(bytes) => Ok(Passphrase::from(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err("a passphrase is str or bytes")),
    }
}

/// What answers a request for a passphrase.
pub(crate) type Answer = Box<dyn Fn(&PassphraseRequest) -> Option<Passphrase> + Send + Sync>;

impl Unlocking {
    /// Returns a closure that answers. An exception of a function counts as no answer, and comes out at the end of the work.
    pub(crate) fn answer(self) -> Answer {
        match self {
            Self::Passphrase(passphrase) => {
                Box::new(move |request| (request.wrong == 0).then(|| passphrase.clone()))
            }
            Self::Function(function) => Box::new(move |request| {
                let asked = ask(|py| {
                    let answer = function.bind(py).call1((request.key.to_string(), request.wrong))?;
                    if answer.is_none() { Ok(None) } else { passphrase(&answer).map(Some) }
                });
                asked.flatten()
            }),
        }
    }
}
