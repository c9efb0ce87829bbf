//! Errors as Python's exceptions.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Makes the exception of an error: the class in `keyhoard._errors` that its code has. Errors of Python's streams and of
/// the system stay what they are.
pub(crate) fn exception(error: keyhoard::Error) -> PyErr {
    if let keyhoard::Error::Io(error) = error {
        return error.into();
    }
    Python::attach(|py| {
        let made = py.import("keyhoard._errors").and_then(|errors| errors.getattr("make"));
        match made.and_then(|make| make.call1((error.code(), error.to_string()))) {
            Ok(made) => PyErr::from_value(made),
            Err(_) => PyRuntimeError::new_err(error.to_string()),
        }
    })
}
