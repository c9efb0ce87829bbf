//! Standard input and output, files, and the designators `@ENV:NAME` and `@FD:NUMBER` in their place.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use engine::descriptor::duplicate;
use engine::secret::read_all;
use engine::stateless::{Certificates, Failure, Keys, Kind, Password, Result, Signers};
use zeroize::Zeroizing;

use crate::destination;
use crate::output::StandardOutput;

/// What an argument designates.
enum Designated<'a> {
    File(&'a Path),
    Variable(&'a OsStr),
    Descriptor(i32),
}

impl<'a> Designated<'a> {
    fn of(name: &'a OsStr) -> Result<Self> {
        let bytes = name.as_bytes();
        if !bytes.starts_with(b"@") {
            return Ok(Self::File(Path::new(name)));
        }
        if Path::new(name).exists() {
            return Err(failure(Kind::AmbiguousInput, name, "there is a file with this name too"));
        }
        if let Some(variable) = bytes.strip_prefix(b"@ENV:") {
            return Ok(Self::Variable(OsStr::from_bytes(variable)));
        }
        let number =
            bytes.strip_prefix(b"@FD:").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        number.map(Self::Descriptor).ok_or_else(|| {
            failure(Kind::UnsupportedSpecialPrefix, name, "only @ENV:NAME and @FD:NUMBER are known")
        })
    }
}

fn failure(kind: Kind, name: &OsStr, reason: impl std::fmt::Display) -> Failure {
    Failure::new(kind, format!("{}: {reason}", name.display()))
}

/// Reads all data of a designator.
pub(super) fn read(name: &OsStr) -> Result<Zeroizing<Vec<u8>>> {
    let missing = |error: io::Error| failure(Kind::MissingInput, name, error);
    let mut file = match Designated::of(name)? {
        Designated::File(path) => File::open(path).map_err(missing)?,
        Designated::Descriptor(number) => {
            File::from(duplicate(number).map_err(|error| missing(error.into()))?)
        }
        Designated::Variable(variable) => {
            let value = std::env::var_os(variable);
            let value = value.ok_or_else(|| failure(Kind::MissingInput, name, "the variable is not set"))?;
            return Ok(value.into_vec().into());
        }
    };
    read_all(&mut file).map_err(|error| failure(Kind::Unspecified, name, error))
}

/// Reads all of standard input.
pub(super) fn standard_input() -> Result<Zeroizing<Vec<u8>>> {
    Ok(read_all(&mut io::stdin().lock())?)
}

/// Returns standard output.
pub(super) fn standard_output() -> Result<StandardOutput<File>> {
    destination::standard_output().map_err(|error| Failure::new(Kind::Unspecified, error))
}

/// Reads certificates.
pub(super) fn certificates(name: &OsStr) -> Result<Certificates> {
    Certificates::read(&read(name)?).map_err(|error| named(name, error))
}

/// Reads copies of certificates that are to be merged, and revocations.
pub(super) fn copies(name: &OsStr) -> Result<Certificates> {
    Certificates::read_copies(&read(name)?).map_err(|error| named(name, error))
}

/// Reads the certificates of acceptable signers.
pub(super) fn signers(names: &[OsString]) -> Result<Vec<Signers>> {
    let authority = |name: &OsString| {
        Ok(Signers { name: name.to_string_lossy().into_owned(), certificates: certificates(name)? })
    };
    names.iter().map(authority).collect()
}

/// Reads secret keys.
pub(super) fn keys(names: &[OsString]) -> Result<Vec<Keys>> {
    names.iter().map(|name| Keys::read(&read(name)?).map_err(|error| named(name, error))).collect()
}

fn named(name: &OsStr, error: Failure) -> Failure {
    failure(error.kind, name, error.reason)
}

/// Reads passwords for decryption.
pub(super) fn existing_passwords(names: &[OsString]) -> Result<Vec<Password>> {
    names.iter().map(|name| Ok(Password::existing(read(name)?))).collect()
}

/// Reads a password for encryption.
pub(super) fn new_password(name: &OsStr) -> Result<Password> {
    Password::new(read(name)?)
}

/// An output file besides standard output.
pub(super) struct SideOutput<'a> {
    name: &'a OsStr,
    file: File,
}

impl<'a> SideOutput<'a> {
    /// Creates the file, which only its owner can read.
    ///
    /// # Errors
    ///
    /// [`Kind::OutputExists`] if it is there already.
    pub(super) fn create(name: &'a OsStr) -> Result<Self> {
        let failed = |error: io::Error| {
            let exists = error.kind() == io::ErrorKind::AlreadyExists;
            failure(if exists { Kind::OutputExists } else { Kind::Unspecified }, name, error)
        };
        let file = match Designated::of(name)? {
            Designated::File(path) => {
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?
            }
            Designated::Descriptor(number) => {
                File::from(duplicate(number).map_err(|error| failed(error.into()))?)
            }
            Designated::Variable(_) => {
                return Err(failure(Kind::UnsupportedSpecialPrefix, name, "a variable cannot be written to"));
            }
        };
        Ok(Self { name, file })
    }

    /// Writes all bytes.
    pub(super) fn write(mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| failure(Kind::Unspecified, self.name, error))
    }
}
