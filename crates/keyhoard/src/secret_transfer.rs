//! Secret keys to others: transferable secret keys (RFC 9580, 10.2), as GnuPG exports them.

use std::io::Write;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use cert::packet::{Packets, Tag};
use secret::{Held, Protection, Role, SecretKey, SecretKeys};
use store::{CertId, Detail, Record, Selection, Snapshot};
use zeroize::Zeroizing;

use crate::export::{ExportOptions, packets};
use crate::secret_keys::owner_of;
use crate::{Error, Result};

/// Which secret parts are exported; in the place of every other one stands GnuPG's stub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretParts {
    /// All that are here.
    #[default]
    All,
    /// Those of subkeys: the primary key stays at home.
    Subkeys,
}

/// What an export of secret keys wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretExportSummary {
    /// Certificates that were selected.
    pub certificates: u64,
    /// Certificates exported, those with a secret key here.
    pub exported: u64,
    /// Secret parts in them.
    pub secrets: u64,
    /// Octets, before any armor.
    pub bytes: u64,
}

/// Makes the packet of one key on its way out, from its secret key and its place.
///
/// What it returns stands in the key's place; it may be locked otherwise, or be a stub.
pub type Preparation<'a> = dyn FnMut(SecretKey) -> Result<SecretKey> + 'a;

/// Writes the selected certificates that have a secret key here, with their secret keys as they are locked.
///
/// # Errors
///
/// The database's errors, those of the place of the secret keys, and [`Error::Output`] with what `out` returned.
pub fn export_secret(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    out: &mut dyn Write,
    on_certificate: impl FnMut(&Record),
) -> Result<SecretExportSummary> {
    export_secret_prepared(snapshot, selection, keys, parts, options, None, out, on_certificate)
}

/// Does what [`export_secret`] does with secret keys that `prepare` has changed.
///
/// # Errors
///
/// Those of [`export_secret`] and of `prepare`.
#[allow(clippy::too_many_arguments)] // As `export_prepared`, and where the secret keys are.
pub fn export_secret_prepared(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    mut prepare: Option<&mut Preparation<'_>>,
    out: &mut dyn Write,
    mut on_certificate: impl FnMut(&Record),
) -> Result<SecretExportSummary> {
    let certificates = match selection {
        Selection::All => snapshot.count()?,
        Selection::Ids(ids) => ids.len() as u64,
    };
    let mut summary = SecretExportSummary { certificates, ..SecretExportSummary::default() };
    let ids = with_secret_key(snapshot, selection, &keys.list()?)?;
    let mut outcome = Ok(());
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |mut record| {
        let (Some(facts), Some(bytes)) = (record.facts.take(), record.bytes.take()) else {
            return ControlFlow::Continue(());
        };
        let certificate = Certificate { bytes, facts };
        let written = transferable(&certificate, keys, parts, options, &mut prepare).and_then(|made| {
            let Some(made) = made else { return Ok(false) };
            out.write_all(&made.packets).map_err(Error::Output)?;
            summary.exported += 1;
            summary.secrets += made.secrets;
            summary.bytes += made.packets.len() as u64;
            Ok(true)
        });
        match written {
            Ok(true) => on_certificate(&record),
            Ok(false) => {}
            Err(error) => {
                outcome = Err(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    outcome.map(|()| summary)
}

/// Returns the certificates of a selection that have one of these secret keys.
///
/// # Errors
///
/// The database's errors.
pub fn with_secret_key(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    held: &[Held],
) -> Result<Vec<CertId>> {
    let mut owners = Vec::new();
    for held in held {
        owners.extend(owner_of(snapshot, &held.fingerprint)?.map(|owner| owner.id));
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
pub fn held_by(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
) -> Result<Vec<Held>> {
    let mut found = Vec::new();
    let mut outcome = Ok(());
    snapshot.visit(selection, Detail::Own, &mut |record| {
        let Some(facts) = &record.facts else { return ControlFlow::Continue(()) };
        let held = facts.keys().filter_map(|key| keys.find(&key.fingerprint.into()).transpose());
        match held.collect::<secret::Result<Vec<Held>>>() {
            Ok(held) => found.extend(held),
            Err(error) => {
                outcome = Err(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    outcome?;
    Ok(found)
}

/// A transferable secret key.
struct Made {
    packets: Zeroizing<Vec<u8>>,
    secrets: u64,
}

/// Puts secret key packets in the places of public ones; `None` if there is no secret key here.
fn transferable(
    certificate: &Certificate,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    prepare: &mut Option<&mut Preparation<'_>>,
) -> Result<Option<Made>> {
    let mut held = Vec::new();
    for key in certificate.facts.keys() {
        held.extend(keys.find(&key.fingerprint.into())?);
    }
    if held.is_empty() {
        return Ok(None);
    }
    let public = packets(certificate, options);
    let mut made = Made { packets: Zeroizing::new(Vec::with_capacity(public.len() * 2)), secrets: 0 };
    for packet in Packets::new(&public).map_while(std::result::Result::ok) {
        let Some(role) = Role::of(packet.tag).filter(|_| packet.tag.is_key()) else {
            made.packets.extend_from_slice(packet.span.of(&public));
            continue;
        };
        let wanted = parts == SecretParts::All || packet.tag == Tag::PUBLIC_SUBKEY;
        let Ok(key) = cert::key::parse_public(packet.body) else { continue };
        let fingerprint = key.fingerprint();
        let is_held = held.iter().any(|held| held.fingerprint == fingerprint);
        let mut secret = match wanted && is_held {
            true => keys.export(&fingerprint.into())?,
            false => SecretKey::stub(role, packet.body)?,
        };
        if let Some(prepare) = prepare.as_mut().filter(|_| *secret.protection() != Protection::Dummy) {
            secret = prepare(secret)?;
        }
        made.secrets += u64::from(secret.protection().has_secret());
        made.packets.extend_from_slice(&secret.packet());
    }
    Ok(Some(made))
}

/// Does what [`export_secret`] does with certificates that `prepare` has changed.
///
/// # Errors
///
/// Those of [`export_secret`] and of `prepare`.
#[allow(clippy::too_many_arguments)] // As `export_prepared`, and where the secret keys are.
pub fn export_secret_certificates(
    snapshot: &dyn Snapshot,
    selection: Selection<'_>,
    keys: &dyn SecretKeys,
    parts: SecretParts,
    options: &ExportOptions,
    prepare: &mut crate::export::Preparation<'_>,
    out: &mut dyn Write,
    mut on_certificate: impl FnMut(&Record),
) -> Result<()> {
    let mut outcome = Ok(());
    snapshot.visit(selection, Detail::Bytes, &mut |mut record| {
        let (Some(facts), Some(bytes)) = (record.facts.take(), record.bytes.take()) else {
            return ControlFlow::Continue(());
        };
        let prepared = prepare(record.id, Certificate { bytes, facts });
        let made = prepared.and_then(|it| transferable(&it, keys, parts, options, &mut None));
        match made
            .and_then(|made| made.map(|made| out.write_all(&made.packets).map_err(Error::Output)).transpose())
        {
            Ok(written) => written.into_iter().for_each(|()| on_certificate(&record)),
            Err(error) => {
                outcome = Err(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    outcome
}
