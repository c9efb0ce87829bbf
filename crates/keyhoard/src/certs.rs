//! Looking certificates up.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;

use engine::cert::armor_writer::ArmorWriter;
use engine::export::{ExportOptions, export};
use engine::find;
use engine::store::query::Query;
use engine::store::{CertId, Detail, Record, Selection, Snapshot};

use crate::cert::read_certs;
use crate::{Cert, Error, Keyhoard, Result};

/// Certificates that [`Certs::for_each`] reads at once.
const BATCH: usize = 256;

/// The certificates of a database.
#[derive(Clone, Copy, Debug)]
pub struct Certs<'k> {
    pub(crate) keyhoard: &'k Keyhoard,
}

impl Certs<'_> {
    /// Returns the certificates with a user ID that has this mail address, whether it is valid or not.
    ///
    /// # Errors
    ///
    /// `name` for what is no address; `database`.
    pub fn by_email(&self, address: &str) -> Result<Vec<Cert>> {
        let query = find::query(format!("<{address}>").as_bytes())?;
        self.found(|snapshot| Ok(snapshot.find(&query)?))
    }

    /// Returns the certificate with this primary key or subkey, given as a [`Fingerprint`](crate::Fingerprint) or in hexadecimal digits; one
    /// whose primary key it is comes before those that list it as a subkey.
    ///
    /// # Errors
    ///
    /// `name` for what is no fingerprint; `database`.
    pub fn by_fingerprint(&self, fingerprint: impl ToString) -> Result<Option<Cert>> {
        let name = fingerprint.to_string();
        match find::query(name.as_bytes())? {
            Query::Fingerprint(_) => {}
            _ => return Err(Error::Name(format!("'{name}': not a fingerprint"))),
        }
        let found = self.found(|snapshot| Ok(find::resolve(snapshot, name.as_bytes())?))?;
        Ok(found.into_iter().next())
    }

    /// Returns the certificates that a name stands for by GnuPG's rules: an address in angle brackets, a part of a user
    /// ID, `=` with a whole one, a fingerprint or key ID.
    ///
    /// # Errors
    ///
    /// `name`; `database`.
    pub fn by_name(&self, name: &str) -> Result<Vec<Cert>> {
        self.found(|snapshot| Ok(find::resolve(snapshot, name.as_bytes())?))
    }

    /// Returns the certificates with all of these words in their user IDs, whatever the case of ASCII letters.
    ///
    /// # Errors
    ///
    /// `name` without a word; `database`.
    pub fn search(&self, words: &str) -> Result<Vec<Cert>> {
        let words: Vec<&str> = words.split_whitespace().collect();
        if words.is_empty() {
            return Err(Error::Name("'': a word to search for is needed".to_owned()));
        }
        self.found(|snapshot| Ok(find::search(snapshot, &words)?))
    }

    /// Calls `each` with every certificate, in the order of their import, until it breaks.
    ///
    /// They are read in batches, between which others may write.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn for_each(&self, mut each: impl FnMut(Cert) -> ControlFlow<()>) -> Result<()> {
        let ids = self.keyhoard.handle.read(all)?;
        for batch in ids.chunks(BATCH) {
            for cert in self.found(|_| Ok(batch.to_vec()))? {
                if each(cert).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the packets of certificates, in the order of the database, as they are exported: without local signatures.
    ///
    /// # Errors
    ///
    /// `not-found` if one is no longer in the database; `database`.
    pub fn export<'c>(&self, certs: impl IntoIterator<Item = &'c Cert>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut wanted: BTreeMap<CertId, &Cert> = certs.into_iter().map(|cert| (cert.id, cert)).collect();
        let (ids, options) = (wanted.keys().copied().collect::<Vec<_>>(), ExportOptions::default());
        self.keyhoard.handle.read(|snapshot| {
            let exported = |record: &Record| {
                wanted.remove(&record.id);
            };
            Ok(export(snapshot, Selection::Ids(&ids), &options, None, &mut bytes, exported)?)
        })?;
        match wanted.into_values().next() {
            Some(missing) => Err(Error::NotFound { name: missing.fingerprint().to_string() }),
            None => Ok(bytes),
        }
    }

    /// Returns the packets of certificates in one block of ASCII armor.
    ///
    /// # Errors
    ///
    /// Those of [`Certs::export`].
    pub fn export_armored<'c>(&self, certs: impl IntoIterator<Item = &'c Cert>) -> Result<String> {
        let mut armored = ArmorWriter::titled(Vec::new(), "PUBLIC KEY BLOCK");
        armored.write_all(&self.export(certs)?)?;
        Ok(String::from_utf8_lossy(&armored.finish()?).into_owned())
    }

    /// Returns the number of certificates.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn count(&self) -> Result<u64> {
        self.keyhoard.handle.read(|snapshot| Ok(snapshot.count()?))
    }

    fn found(&self, find: impl FnOnce(&dyn Snapshot) -> Result<Vec<CertId>>) -> Result<Vec<Cert>> {
        self.keyhoard.handle.read(|snapshot| read_certs(self.keyhoard, snapshot, &find(snapshot)?))
    }
}

fn all(snapshot: &dyn Snapshot) -> Result<Vec<CertId>> {
    let mut ids = Vec::new();
    snapshot.visit(Selection::All, Detail::Name, &mut |record| {
        ids.push(record.id);
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

impl Keyhoard {
    /// Looks certificates up.
    pub fn certs(&self) -> Certs<'_> {
        Certs { keyhoard: self }
    }
}
