//! `--export`, `--export-secret-keys` and `--export-secret-subkeys`.

use std::io::Write;
use std::ops::ControlFlow;

use agent::AllKeys;
use engine::cert::Fingerprint;
use engine::cert::certificate::Certificate;
use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::cert::facts::{Component, ComponentKind, SignatureType};
use engine::compact::compact;
use engine::export::{ExportOptions, Preparation, export};
use engine::foreign_text::shown;
use engine::secret_transfer::{SecretParts, export_secret};
use engine::store::{CertId, Detail, ReadCertificates, Record, Selection};

use super::checks::checker_for_clean;
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::filter_properties;
use crate::keyrings::Keyrings;
use crate::names::{Hit, Names};
use crate::output::{Holds, Output};
use crate::passphrases::Passphrases;
use crate::secrets::{Secrets, secret_keys};
use crate::settings::{ExportFilter, ExportSettings, Settings};
use crate::streams::Streams;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportTarget {
    Public,
    /// Secret keys with their certificates.
    Secret(SecretParts),
}

/// The certificates of an export.
#[derive(Default)]
struct Written {
    exported: Vec<Fingerprint>,
    /// Number of keys in the selection, for an export of secret keys or of revocations.
    looked_at: u64,
}

/// Writes out the keys that the arguments name, or all of them.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    what: ExportTarget,
) -> anyhow::Result<()> {
    let ExportSettings { pka, dane, mode1003, .. } = settings.export;
    anyhow::ensure!(!pka && !dane, "export-pka and export-dane: not supported yet");
    anyhow::ensure!(
        !mode1003 || what == ExportTarget::Public,
        "mode1003 is refused: it is for the secret keys of one agent only; without it every OpenPGP program reads them"
    );
    let mut written = Written::default();
    let holds = match what {
        ExportTarget::Public => Holds::Packets,
        ExportTarget::Secret(_) => Holds::SecretPackets,
    };
    let outcome = Output::open(holds, &[], settings, streams)
        .and_then(|output| write_keys(arguments, settings, streams, output, what, &mut written));
    let failure = outcome.err().map(Failure::coded).transpose()?;
    for fingerprint in &written.exported {
        streams.status(format!("EXPORTED {fingerprint}"));
    }
    let exported = written.exported.len();
    streams.status(match what {
        ExportTarget::Public if settings.export.revocations => {
            format!("EXPORT_RES {} 0 {exported}", written.looked_at)
        }
        ExportTarget::Public => format!("EXPORT_RES {exported} 0 {exported}"),
        ExportTarget::Secret(_) => format!("EXPORT_RES {} {exported} {exported}", written.looked_at),
    });
    if let Some(CodedFailure { code, value }) = failure {
        streams.status_failure_value("export", value);
        streams.error(format_args!("key export failed: {code}"));
    }
    Ok(())
}

/// Writes the keys to `output`, which is dropped if nothing was written.
fn write_keys(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    mut output: Output,
    what: ExportTarget,
    written: &mut Written,
) -> Result<(), Failure> {
    let names = Names::parse(arguments, settings.compat);
    for refused in names.refused().iter().filter(|refused| refused.code == Code::INVALID_USER_ID) {
        let name = shown(&refused.name);
        streams.error(format_args!("key \"{name}\" not found: {}", refused.code));
    }
    let unsearchable = names.refused().iter().find(|refused| refused.code != Code::INVALID_USER_ID);
    if unsearchable.is_none() {
        let keyrings = Keyrings::open(settings, streams)?;
        let (title, secret) = match what {
            ExportTarget::Public => ("PUBLIC KEY BLOCK", None),
            ExportTarget::Secret(parts) => {
                let secret =
                    Secret { parts, keys: secret_keys(settings)?, secrets: Secrets::kept(settings)? };
                ("PRIVATE KEY BLOCK", Some(secret))
            }
        };
        let export = Export { names: &names, settings, secret };
        let mut writer = output.sender(streams)?;
        if settings.armor {
            let mut armored = settings.armor_headers.begin(writer.as_mut(), title);
            export.write(&keyrings, streams, &mut armored, written)?;
            armored.finish()?;
        } else {
            export.write(&keyrings, streams, writer.as_mut(), written)?;
        }
    }
    match written.exported.is_empty() {
        true => streams.info("WARNING: nothing exported"),
        false => output.commit()?,
    }
    match unsearchable {
        Some(refused) => Err(CodedFailure { code: refused.code, value: refused.value() }.into()),
        None => Ok(()),
    }
}

/// Writes the revocations of keys and user IDs alone, as far as their owners made them.
fn write_revocations(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    options: &ExportOptions,
    out: &mut dyn Write,
    written: &mut Written,
) -> anyhow::Result<()> {
    const REVOCATIONS: [SignatureType; 3] = [
        SignatureType::KEY_REVOCATION,
        SignatureType::SUBKEY_REVOCATION,
        SignatureType::CERTIFICATION_REVOCATION,
    ];
    let mut failed = Ok(());
    snapshot.visit(selection, Detail::Bytes, &mut |record| {
        let (Some(facts), Some(bytes)) = (record.facts, record.bytes) else {
            return ControlFlow::Continue(());
        };
        written.looked_at += 1;
        let mut found = Vec::new();
        for signature in facts.components.iter().flat_map(|component| &component.signatures) {
            let packet = bytes.get(signature.span.start as usize..signature.span.end as usize);
            let revokes = REVOCATIONS.contains(&signature.kind) && signature.own.is_some();
            if revokes && options.keep_signature(signature) {
                found.extend_from_slice(packet.unwrap_or_default());
            }
        }
        if !found.is_empty() {
            written.exported.push(record.fingerprint);
            failed = out.write_all(&found);
        }
        if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(failed?)
}

struct Export<'a> {
    names: &'a Names,
    settings: &'a Settings,
    /// What is needed to export secret keys.
    secret: Option<Secret>,
}

struct Secret {
    parts: SecretParts,
    keys: AllKeys,
    secrets: Secrets,
}

impl Export<'_> {
    fn write(
        &self,
        keyrings: &Keyrings,
        streams: &mut Streams,
        out: &mut dyn Write,
        written: &mut Written,
    ) -> anyhow::Result<()> {
        for (_, snapshot) in keyrings.snapshots()?.iter() {
            self.write_ring(snapshot.as_ref(), streams, out, written)?;
        }
        Ok(())
    }

    fn write_ring(
        &self,
        snapshot: &dyn ReadCertificates,
        streams: &mut Streams,
        out: &mut dyn Write,
        written: &mut Written,
    ) -> anyhow::Result<()> {
        let settings = &self.settings.export;
        let options = ExportOptions {
            local_signatures: settings.local_sigs,
            superseded: false,
            attributes: !settings.no_attributes,
            sensitive_revokers: settings.sensitive_revkeys,
            certifications: true,
            unreadable: false,
        };
        let hits = self.names.find(snapshot)?;
        let ids: Vec<CertId> = hits.iter().map(|hit| hit.id).collect();
        let selection = if self.names.is_empty() { Selection::All } else { Selection::Ids(&ids) };
        let mut checker = checker_for_clean(snapshot, self.settings);
        let mut prepare = |id: CertId, certificate: Certificate| {
            let cleaned = match settings.clean {
                true => compact(
                    &certificate,
                    &mut checker,
                    &self.settings.compaction(self.settings.export.minimal, true),
                    self.settings.now,
                )?,
                false => certificate,
            };
            let hit = hits.binary_search_by_key(&id, |hit| hit.id).ok().map(|index| hits[index]);
            Ok(self.filtered(cleaned, hit))
        };
        if settings.revocations {
            return write_revocations(snapshot, selection, &options, out, written);
        }
        let Some(secret) = &self.secret else {
            let changes = settings.clean || self.filters() || self.names.choose_subkeys();
            let prepare = changes.then_some(&mut prepare as &mut Preparation<'_>);
            let on_certificate = |record: &Record| written.exported.push(record.fingerprint);
            export(snapshot, selection, &options, prepare, out, on_certificate)?;
            return Ok(());
        };
        written.looked_at += if self.names.is_empty() { snapshot.count()? } else { ids.len() as u64 };
        let mut with_secret = secret.secrets.certificates(snapshot)?;
        with_secret.retain(|id| self.names.is_empty() || ids.binary_search(id).is_ok());
        let mut passphrases = Passphrases::new(self.settings, streams);
        for id in with_secret {
            // It writes nothing of a certificate with a secret key that cannot be exported.
            let exported = export_secret(
                snapshot,
                Selection::Ids(&[id]),
                &secret.keys,
                secret.parts,
                &options,
                &mut prepare,
                &mut passphrases,
                out,
                |record| written.exported.push(record.fingerprint),
            );
            match exported {
                Ok(_) => {}
                Err(engine::Error::Secret(error)) => skipped(snapshot, id, error, &mut passphrases)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn filters(&self) -> bool {
        let ExportFilter { keep_uid, drop_subkey } = &self.settings.export_filter;
        keep_uid.is_some() || drop_subkey.is_some()
    }

    /// Removes what the filters drop from a certificate, and the subkeys that are not selected with `!`.
    fn filtered(&self, certificate: Certificate, hit: Option<Hit>) -> Certificate {
        let ExportFilter { keep_uid, drop_subkey } = &self.settings.export_filter;
        let facts = &certificate.facts;
        let effective = evaluate(facts, EvaluationContext::new(self.settings.now, PacketView::Gnupg));
        let mut kept = vec![true; facts.components.len()];
        let mut also =
            |others: Vec<bool>| kept.iter_mut().zip(others).for_each(|(kept, other)| *kept &= other);
        if let Some(filter) = keep_uid {
            also(filter_properties::kept_user_ids(filter, facts, &effective));
        }
        if let Some(filter) = drop_subkey {
            also(filter_properties::kept_subkeys(filter, facts, &effective));
        }
        if let Some(is_named) = hit.and_then(|hit| self.names.chosen_subkeys(hit)) {
            let named = |component: &Component| match &component.kind {
                ComponentKind::Key(key) => is_named(&key.fingerprint),
                _ => true,
            };
            also(facts.components.iter().map(named).collect());
        }
        filter_properties::retain(&certificate, &kept)
    }
}

/// Reports a certificate whose secret keys cannot be exported, as gpg does before it goes on with the next one.
///
/// # Errors
///
/// The error, if the user cancelled the whole export.
fn skipped(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    error: secret::Error,
    passphrases: &mut Passphrases<'_>,
) -> anyhow::Result<()> {
    let CodedFailure { code, value } = passphrases.failure(&error).coded()?;
    if code == Code::FULLY_CANCELLED {
        return Err(engine::Error::from(error).into());
    }
    let mut name = String::new();
    snapshot.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
        let key = record.facts.as_ref().map(|facts| facts.primary().keygrip);
        name = key.flatten().map_or_else(|| record.fingerprint.to_string(), |keygrip| keygrip.to_string());
        ControlFlow::Continue(())
    })?;
    let streams = passphrases.streams();
    streams.error(format_args!("key {name}: error receiving key from agent: {code} - skipped"));
    streams.status_error("export_keys.secret", value);
    Ok(())
}
