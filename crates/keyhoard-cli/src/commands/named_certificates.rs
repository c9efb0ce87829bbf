//! Finds the certificates that the arguments of a command name.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use anyhow::bail;
use engine::find::{find, resolve};
use engine::foreign_text::shown;
use engine::similar::similar;
use engine::store::{CertId, Detail, Fingerprint, ReadCertificates, Selection};

use crate::error_code::ErrorCode;
use crate::exit::CodedError;
use crate::hint::Hint;
use crate::printable::{counted, printable};
use crate::session::Session;

/// The certificates that the arguments name.
pub(super) struct NamedCertificates {
    /// `None` for all certificates.
    pub(super) ids: Option<Vec<CertId>>,
    /// Whether every name was found.
    pub(super) complete: bool,
}

impl NamedCertificates {
    /// Finds certificates by their names, and warns about names that are not found.
    pub(super) fn find(
        session: &Session,
        snapshot: &dyn ReadCertificates,
        names: &[OsString],
    ) -> anyhow::Result<Self> {
        if names.is_empty() {
            return Ok(Self { ids: None, complete: true });
        }
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let found = find(snapshot, &bytes)?;
        for &missing in &found.missing {
            warn_not_found(session, snapshot, bytes[missing])?;
        }
        Ok(Self { ids: Some(found.ids), complete: found.missing.is_empty() })
    }

    /// Finds the one certificate with a name.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`] if there is none, [`ErrorCode::Ambiguous`] if there are several.
    pub(super) fn find_one(snapshot: &dyn ReadCertificates, name: &OsStr) -> anyhow::Result<CertId> {
        let name = name.as_bytes();
        match resolve(snapshot, name)?[..] {
            [id] => Ok(id),
            [] => bail!(CodedError::not_found(not_found(snapshot, name)?)),
            ref several => {
                let certificates = counted(several.len(), "certificate");
                let list = Hint::List(shown(name));
                let reason = format!(
                    "{}: {certificates} match; give the fingerprint of one, {list} shows them",
                    shown(name)
                );
                bail!(CodedError::new(ErrorCode::Ambiguous, reason))
            }
        }
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        self.ids.as_deref().map_or(Selection::All, Selection::Ids)
    }
}

/// Warns that no certificate has a name, and says which names are like it.
pub(super) fn warn_not_found(
    session: &Session,
    snapshot: &dyn ReadCertificates,
    name: &[u8],
) -> engine::Result<()> {
    session.refuse(ErrorCode::NotFound, not_found(snapshot, name)?);
    Ok(())
}

fn not_found(snapshot: &dyn ReadCertificates, name: &[u8]) -> engine::Result<String> {
    let similar: Vec<String> = similar(snapshot, name)?.iter().map(|name| printable(name)).collect();
    Ok(match similar.is_empty() {
        true => format!("{}: not found", shown(name)),
        false => format!("{}: not found; did you mean {}?", shown(name), similar.join(" or ")),
    })
}

/// Returns the primary keys of certificates, in database order.
pub(super) fn fingerprints(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
) -> engine::Result<Vec<Fingerprint>> {
    let mut keys = Vec::new();
    snapshot.visit(selection, Detail::Name, &mut |record| {
        keys.push(record.fingerprint);
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}
