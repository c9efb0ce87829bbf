//! Finding certificates by the names and texts that users give.

use store::query::{Name, NameError};
use store::{CertId, Query, ReadCertificates};

use crate::foreign_text::shown;
use crate::{Error, Result};

/// What was found for several names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The certificates, each once, in database order.
    pub ids: Vec<CertId>,
    /// Which of the names nothing was found for, by their position.
    pub missing: Vec<usize>,
}

/// Finds every certificate that one of the names stands for, by GnuPG's rules (its manual, "How to specify a user ID").
///
/// # Errors
///
/// [`Error::Name`] for a name that can stand for nothing, before anything is looked up; the database's errors.
pub fn find(snapshot: &dyn ReadCertificates, names: &[impl AsRef<[u8]>]) -> Result<Found> {
    let queries = names.iter().map(|name| query(name.as_ref())).collect::<Result<Vec<Query>>>()?;
    let mut found = Found::default();
    for (number, query) in queries.iter().enumerate() {
        let ids = snapshot.find(query)?;
        if ids.is_empty() {
            found.missing.push(number);
        }
        found.ids.extend(ids);
    }
    found.ids.sort_unstable();
    found.ids.dedup();
    Ok(found)
}

/// Finds the certificates that may be meant where one is to be named: a name that is a primary key's stands for its
/// certificate alone, and not for others that list the key as a subkey, as anybody can.
///
/// # Errors
///
/// Those of [`find`].
pub fn resolve(snapshot: &dyn ReadCertificates, name: &[u8]) -> Result<Vec<CertId>> {
    let query = query(name)?;
    let ids = snapshot.find(&query)?;
    let key_id = match &query {
        Query::Fingerprint(fingerprint) => fingerprint.key_id(),
        Query::KeyId(key_id) => *key_id,
        _ => return Ok(ids),
    };
    let primaries = snapshot.primaries_by_id(key_id)?.into_iter();
    let own: Vec<CertId> =
        primaries.filter(|(_, primary)| query.names_key(primary)).map(|(id, _)| id).collect();
    Ok(if own.is_empty() { ids } else { own })
}

/// Finds every certificate whose user IDs contain all of the texts, but for the case of ASCII letters; in database
/// order.
///
/// # Errors
///
/// [`Error::Name`] for an empty text, which would stand for everything; the database's errors.
pub fn search(snapshot: &dyn ReadCertificates, texts: &[impl AsRef<[u8]>]) -> Result<Vec<CertId>> {
    let mut found: Option<Vec<CertId>> = None;
    for text in texts {
        let text = text.as_ref();
        if text.is_empty() {
            return Err(Error::Name { name: String::new(), source: NameError::Invalid });
        }
        let ids = snapshot.find(&Query::Substring(text.to_vec()))?;
        found = Some(match found {
            None => ids,
            Some(found) => found.into_iter().filter(|id| ids.binary_search(id).is_ok()).collect(),
        });
    }
    Ok(found.unwrap_or_default())
}

/// Reads a name, by GnuPG's rules.
///
/// # Errors
///
/// [`Error::Name`] for a name that can stand for nothing.
pub fn query(name: &[u8]) -> Result<Query> {
    let parsed = Name::parse(name);
    parsed.map(|name| name.query).map_err(|source| Error::Name { name: shown(name), source })
}
