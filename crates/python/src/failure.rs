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
        let make = |py: Python<'_>| {
            let make = py.import("keyhoard._errors")?.getattr("make")?;
            make.call1((error.code(), error.to_string()))
        };
        match make(py) {
            Ok(made) => PyErr::from_value(made),
            Err(_) => PyRuntimeError::new_err(error.to_string()),
        }
    })
}
