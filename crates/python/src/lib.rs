//! The native part of the Python package `keyhoard`: classes on top of the crate [`keyhoard`].
//!
//! Everything that reads, writes or computes runs without the interpreter's lock.

mod arguments;
mod cert;
mod clock;
mod database;
mod failure;
mod file_error;
mod passphrase;
mod stream;
mod values;
mod verdict;

use pyo3::prelude::*;

/// The native part of the package `keyhoard`.
#[pymodule]
fn _keyhoard(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<database::Keyhoard>()?;
    module.add_class::<values::Imported>()?;
    module.add_class::<values::JournalEntry>()?;
    module.add_class::<values::Undone>()?;
    module.add_class::<values::SecretKey>()?;
    module.add_class::<cert::Cert>()?;
    module.add_class::<cert::CertSignature>()?;
    module.add_class::<cert::Key>()?;
    module.add_class::<cert::UserId>()?;
    module.add_class::<cert::Validity>()?;
    module.add_class::<cert::UserIdValidity>()?;
    module.add_class::<verdict::Verdict>()?;
    module.add_class::<verdict::Verdicts>()?;
    module.add_class::<verdict::Decrypted>()?;
    Ok(())
}
