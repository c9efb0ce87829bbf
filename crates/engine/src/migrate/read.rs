//! Reading a source, certificate by certificate.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use cert::Timestamp;
use cert::keybox::Keybox;
use cert::split::{Piece, RawCertificate, Splitter};

use super::source::{Kind, MigrationSource};
use super::tofu_db::Remembered;
use super::{cert_d, keyboxd, tofu_db, trust_db};
use crate::owner_trust::Assignment;
use crate::{Error, Result};

/// What a source holds.
pub(super) enum Item {
    /// A certificate, and since when the source has it.
    Certificate(RawCertificate, Option<Timestamp>),
    /// What is remembered of an address that came with a key.
    Remembered(Remembered),
    /// How far the owner of a key is trusted.
    OwnerTrust(Assignment),
    /// Something that cannot be read.
    Unreadable(String),
    /// So many X.509 certificates.
    X509(u64),
}

/// What is done with it.
type Each<'e> = dyn FnMut(Item) -> Result<()> + 'e;

/// Hands everything that a source holds to `each`, in its order.
pub(super) fn read(source: &MigrationSource, each: &mut Each<'_>) -> Result<()> {
    let path = source.path.as_path();
    match source.kind {
        Kind::Keyring => read_stream(open(path)?, None, "", each),
        Kind::Keybox => read_keybox(open(path)?, each),
        Kind::Keyboxd => read_keyboxd(path, each),
        Kind::CertD => read_cert_d(path, each),
        // These are taken over one by one, after the certificates.
        Kind::SecretKeys | Kind::Revocations | Kind::Settings => Ok(()),
        Kind::TrustDb => trust_db::read(open(path)?, path, &mut |given| {
            each(given.map_or_else(Item::Unreadable, Item::OwnerTrust))
        }),
        Kind::TofuDb => {
            tofu_db::read(path, &mut |binding| each(binding.map_or_else(Item::Unreadable, Item::Remembered)))
        }
    }
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Reads certificates from packets; `location` is the place of these packets in a larger file.
fn read_stream(
    reader: impl Read,
    since: Option<Timestamp>,
    location: &str,
    each: &mut Each<'_>,
) -> Result<()> {
    for piece in Splitter::new(reader) {
        match piece {
            Ok(Piece::Certificate(raw)) => each(Item::Certificate(raw, since))?,
            Ok(Piece::Revocation(raw)) => {
                each(Item::Unreadable(format!(
                    "{location}a revocation without its key at byte {}",
                    raw.position
                )))?;
            }
            Ok(Piece::Ignored(_)) => {}
            Err(error) => each(Item::Unreadable(format!("{location}{error}")))?,
        }
    }
    Ok(())
}

fn read_keybox(reader: impl Read, each: &mut Each<'_>) -> Result<()> {
    let mut keybox = Keybox::new(reader);
    for blob in &mut keybox {
        match blob {
            Ok(blob) if blob.ephemeral => {}
            Ok(blob) => {
                let location = format!("blob at byte {}: ", blob.position);
                read_stream(blob.keyblock.as_slice(), blob.created, &location, each)?;
            }
            Err(error) => each(Item::Unreadable(error.to_string()))?,
        }
    }
    each(Item::X509(keybox.x509_passed_over()))
}

fn read_keyboxd(path: &Path, each: &mut Each<'_>) -> Result<()> {
    let mut number = 0;
    let x509 = keyboxd::read(path, &mut |keyblock| {
        number += 1;
        read_stream(keyblock, None, &format!("row {number}: "), each)
    })?;
    each(Item::X509(x509))
}

fn read_cert_d(directory: &Path, each: &mut Each<'_>) -> Result<()> {
    let failed = |source| Error::File { path: directory.to_owned(), source };
    for file in cert_d::files(directory).map_err(failed)? {
        let location = format!("{}: ", file.strip_prefix(directory).unwrap_or(&file).display());
        match File::open(&file) {
            Ok(file) => read_stream(BufReader::new(file), None, &location, each)?,
            Err(error) => each(Item::Unreadable(format!("{location}{error}")))?,
        }
    }
    Ok(())
}
