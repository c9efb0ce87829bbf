//! Reading signatures by other keys without the rest of the certificates.

use std::ops::ControlFlow;

use cert::KeyId;
use cert::facts::SignatureFacts;

use super::find;
use super::read::View;
use crate::error::Context;
use crate::{CertId, Certifications, Result, packed};

const DOING: &str = "reading certifications";

/// Finds the certificates that name a key ID as the issuer of a signature, in order of arrival.
pub(super) fn certified_by(view: &View<'_>, issuer: KeyId) -> Result<Vec<CertId>> {
    find::certs(view, "SELECT cert FROM certification WHERE issuer = ?1", [issuer.0 as i64])
}

/// Hands out every signature by another key on a certificate.
pub(super) fn visit_all(
    view: &View<'_>,
    CertId(id): CertId,
    visit: &mut dyn FnMut(&SignatureFacts),
) -> Result<()> {
    view.rows("SELECT facts FROM third_party WHERE cert = ?1", [id], DOING, |row| {
        packed::third_party(view.blob(row, 0)?, |_| true, |_, signature| visit(&signature))
            .map_err(|source| view.corrupt(id, source))?;
        Ok(ControlFlow::Continue(()))
    })
}

/// Hands out the signatures by some other keys on some certificates, and the verdicts about these keys.
pub(super) fn visit_by(
    view: &View<'_>,
    ids: &[CertId],
    by: &dyn Fn(KeyId) -> bool,
    visit: &mut dyn FnMut(&Certifications) -> ControlFlow<()>,
) -> Result<()> {
    const SQL: &str =
        "SELECT facts, verdicts FROM third_party LEFT JOIN verdicts USING (cert) WHERE cert = ?1";
    let mut statement = view.connection().prepare_cached(SQL).context(view.path(), DOING)?;
    let mut found = Certifications::default();
    for &id in ids {
        let mut rows = statement.query([id.0]).context(view.path(), DOING)?;
        let Some(row) = rows.next().context(view.path(), DOING)? else { continue };
        let verdicts = row.get_ref(1).and_then(|value| Ok(value.as_blob_or_null()?));
        let verdicts = verdicts.context(view.path(), DOING)?.unwrap_or_default();
        found.begin(id);
        packed::third_party(view.blob(row, 0)?, by, |component, facts| {
            found.signatures.push((component, facts));
        })
        .and_then(|()| packed::unpack_wanted_verdicts(verdicts, by, &mut found.verdicts))
        .map_err(|source| view.corrupt(id.0, source))?;
        if visit(&found).is_break() {
            break;
        }
    }
    Ok(())
}
