//! Errors as Python's exceptions, and the exceptions of functions that a program handed in.

use std::cell::RefCell;
use std::io;

use keyhoard::Fingerprint;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::file_error::FileError;
use crate::verdict::Verdicts;

thread_local! {
    /// What a function of the program raised, which this thread called while it worked.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does some work without the interpreter's lock. If a function of the program raised an exception meanwhile, that comes out,
/// whatever came of the work.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, keyhoard::Error> + Send,
) -> PyResult<T> {
    let done = py.detach(work);
    match RAISED.take() {
        Some(raised) => Err(raised),
        None => done.map_err(exception),
    }
}

/// Calls a function of the program during some work. After one has raised an exception, none is called.
pub(crate) fn ask<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    if RAISED.with_borrow(Option::is_some) {
        return None;
    }
    let answer = Python::attach(call);
    answer.map_err(|raised| RAISED.set(Some(raised))).ok()
}

/// Makes the exception of an error: the class in `keyhoard._errors` that its code has. Errors of Python's streams stay what
/// they are, and those of the system have their number and the file's name.
pub(crate) fn exception(error: keyhoard::Error) -> PyErr {
    Python::attach(|py| match error {
        keyhoard::Error::Io(error) => os_error(py, error),
        error => own_error(py, &error),
    })
    .unwrap_or_else(|failed| failed)
}

fn os_error(py: Python<'_>, error: io::Error) -> PyResult<PyErr> {
    let named = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
    let number = number(py, named.map_or(&error, |named| &named.source))?;
    let Some(number) = number else { return Ok(error.into()) };
    let text = py.import("os")?.call_method1("strerror", (number,))?;
    let path = named.map(|named| named.path.as_os_str());
    Ok(PyErr::from_value(py.get_type::<PyOSError>().call1((number, text, path))?))
}

/// Returns the system's number of an error; by its kind where a library hides it.
fn number(py: Python<'_>, error: &io::Error) -> PyResult<Option<i32>> {
    let name = match error.kind() {
        _ if error.raw_os_error().is_some() => return Ok(error.raw_os_error()),
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        io::ErrorKind::StorageFull => "ENOSPC",
        _ => return Ok(None),
    };
    py.import("errno")?.getattr(name)?.extract()
}

fn own_error(py: Python<'_>, error: &keyhoard::Error) -> PyResult<PyErr> {
    use keyhoard::Error;
    let details = PyDict::new(py);
    if let Error::NotFound { name } | Error::Ambiguous { name, .. } | Error::NotValid { name, .. } = error {
        details.set_item("name", name)?;
    }
    match error {
        Error::Ambiguous { candidates, .. } => {
            let candidates: Vec<String> = candidates.iter().map(Fingerprint::to_string).collect();
            details.set_item("candidates", candidates)?;
        }
        Error::NotValid { fingerprint, .. } | Error::NoUsableKey { fingerprint, .. } => {
            details.set_item("fingerprint", fingerprint.to_string())?;
        }
        Error::BadSignature { verdicts } => {
            details.set_item("verdicts", Verdicts::of(py, verdicts, None)?)?
        }
        _ => {}
    }
    let make = py.import("keyhoard._errors")?.getattr("make")?;
    Ok(PyErr::from_value(make.call((error.code(), error.to_string()), Some(&details))?))
}
