//! Finds the certificates that the arguments of a command name.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use anyhow::bail;
use engine::find::{find, resolve};
use engine::foreign_text::shown;
use engine::store::{CertId, Detail, Fingerprint, ReadCertificates, Selection};

use crate::exit::NotFound;
use crate::printable::counted;
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
            session.warn(format_args!("{}: not found", shown(bytes[missing])));
        }
        Ok(Self { ids: Some(found.ids), complete: found.missing.is_empty() })
    }

    /// Finds the one certificate that a name stands for.
    ///
    /// # Errors
    ///
    /// [`NotFound`] if there is none; another error if there are several.
    pub(super) fn find_one(snapshot: &dyn ReadCertificates, name: &OsStr) -> anyhow::Result<CertId> {
        let name = name.as_bytes();
        match resolve(snapshot, name)?[..] {
            [id] => Ok(id),
            [] => Err(NotFound::because(format_args!("{}: not found", shown(name))).into()),
            ref several => {
                let certificates = counted(several.len(), "certificate");
                bail!("{}: stands for {certificates}; say the fingerprint of one", shown(name))
            }
        }
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        self.ids.as_deref().map_or(Selection::All, Selection::Ids)
    }
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
