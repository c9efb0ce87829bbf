//! Exporting transferable secret keys (RFC 9580, 10.2), as GnuPG does.

use std::io::Write;
use std::ops::ControlFlow;

use cert::Facts;
use cert::certificate::Certificate;
use cert::packet::{Packets, Tag};
use secret::{Ask, Role, SecretKey, SecretKeys, StoredKey};
use store::{CertId, Detail, ReadCertificates, Record, Selection};
use zeroize::Zeroizing;

use crate::export::{ExportOptions, Preparation, packets};
use crate::secret_keys::owners_of;
use crate::stored::try_visit;
use crate::{Error, Result};

/// Which secret parts are exported; GnuPG's stub replaces every other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretParts {
    /// All that are here.
    #[default]
    All,
    /// Those of subkeys, not that of the primary key.
    Subkeys,
}

/// What an export of secret keys wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretExportSummary {
    /// Certificates with a secret key here.
    pub exported: u64,
    /// Secret parts in them.
    pub secrets: u64,
}

/// Writes the selected certificates that have a secret key here, with their secret keys as they are locked, as `prepare`
/// has changed them. `ask` is asked for passphrases where the agent has this program ask.
///
/// # Errors
///
/// The database's errors, those of the place of the secret keys and of `prepare`, and [`Error::Output`] with what `out`
/// returned.
#[allow(clippy::too_many_arguments)] // As `export`, and where the secret keys are.
pub fn export_secret(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    prepare: &mut Preparation<'_>,
    ask: &mut dyn Ask,
    out: &mut dyn Write,
    mut on_certificate: impl FnMut(&Record),
) -> Result<SecretExportSummary> {
    let mut summary = SecretExportSummary::default();
    try_visit(snapshot, selection, Detail::Bytes, &mut |mut record| {
        if let (Some(facts), Some(bytes)) = (record.facts.take(), record.bytes.take()) {
            let prepared = prepare(record.id, Certificate { bytes, facts })?;
            if let Some((packets, secrets)) = transferable(&prepared, keys, parts, options, ask)? {
                packets.iter().try_for_each(|packet| out.write_all(packet)).map_err(Error::Output)?;
                summary.exported += 1;
                summary.secrets += secrets;
                on_certificate(&record);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(summary)
}

/// Returns the certificates of a selection that have one of these secret keys, by the rule of [`owners_of`].
///
/// # Errors
///
/// The database's errors.
pub fn with_secret_key(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    stored_keys: &[StoredKey],
) -> Result<Vec<CertId>> {
    let mut owners = Vec::new();
    for stored in stored_keys {
        owners.extend(owners_of(snapshot, &stored.fingerprint, stored_keys)?.into_iter().map(|(id, _)| id));
    }
    if let Selection::Ids(ids) = selection {
        owners.retain(|owner| ids.contains(owner));
    }
    owners.sort_unstable();
    owners.dedup();
    Ok(owners)
}

/// Returns the secret keys here of a selection of certificates.
///
/// # Errors
///
/// The database's errors, and those of the place of the secret keys.
pub fn secret_keys_of(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
) -> Result<Vec<StoredKey>> {
    let mut found = Vec::new();
    try_visit(snapshot, selection, Detail::Own, &mut |record| {
        for key in record.facts.iter().flat_map(Facts::keys) {
            found.extend(keys.find(&key.fingerprint.into())?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Packets, some of which contain secrets.
type SecretPackets = Vec<Zeroizing<Vec<u8>>>;

/// Replaces public key packets by secret key packets, and returns the packets and how many have a secret; `None` if there
/// is no secret key here.
fn transferable(
    certificate: &Certificate,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    ask: &mut dyn Ask,
) -> Result<Option<(SecretPackets, u64)>> {
    let mut stored_keys = Vec::new();
    for key in certificate.facts.keys() {
        stored_keys.extend(keys.find(&key.fingerprint.into())?);
    }
    if stored_keys.is_empty() {
        return Ok(None);
    }
    let public = packets(certificate, options);
    let (mut transferable, mut secrets) = (Vec::new(), 0);
    for packet in Packets::new(&public).map_while(std::result::Result::ok) {
        let Some(role) = Role::of(packet.tag).filter(|_| packet.tag.is_key()) else {
            transferable.push(packet.span.of(&public).to_vec().into());
            continue;
        };
        let wanted = parts == SecretParts::All || packet.tag == Tag::PUBLIC_SUBKEY;
        let Ok(key) = cert::key::parse_public(packet.body) else { continue };
        let fingerprint = key.fingerprint();
        let is_stored = stored_keys.iter().any(|stored| stored.fingerprint == fingerprint);
        let secret = match wanted && is_stored {
            true => keys.export(&fingerprint.into(), ask)?,
            false => SecretKey::stub(role, packet.body)?,
        };
        secrets += u64::from(secret.protection().has_secret());
        transferable.push(secret.packet());
    }
    Ok(Some((transferable, secrets)))
}
