//! `--export`.

use std::io::Write;

use keyhoard::cert::armor_writer::ArmorWriter;
use keyhoard::cert::certificate::Certificate;
use keyhoard::cert::effective::{Moment, View, evaluate};
use keyhoard::cert::facts::{Component, ComponentKind};
use keyhoard::cert::{Fingerprint, Timestamp};
use keyhoard::compact::{CompactOptions, compact};
use keyhoard::export::{ExportOptions, Preparation, export_prepared};
use keyhoard::find::shown;
use keyhoard::store::{CertId, Selection, Snapshot};

use super::{Session, checker};
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::names::{Hit, Names};
use crate::output::Output;
use crate::properties;
use crate::settings::{ExportFilter, Settings};
use crate::status::Status;

/// Why an export failed: what is told, and the value for the status line.
type Failure = (Code, u32);

/// Writes out the keys that the arguments name, or all of them.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let settings = &session.settings.export;
    anyhow::ensure!(!settings.pka && !settings.dane, "export-pka and export-dane: not supported yet");
    let mut exported = Vec::new();
    let outcome = match Output::open(&session.settings, session.streams)? {
        Ok(output) => write_keys(session, output, &mut exported)?,
        Err(code) => Err((code, code.with_gpg())),
    };
    for fingerprint in &exported {
        session.streams.status(&Status::Exported { fingerprint: fingerprint.to_string() });
    }
    let count = exported.len() as u64;
    session.streams.status(&Status::ExportResult { count, secret: 0, exported: count });
    if let Err((code, value)) = outcome {
        session.streams.status(&Status::Failure { place: "export", code: value });
        session.streams.error(format_args!("key export failed: {code}"));
    }
    Ok(())
}

/// Writes the keys to `output`, which appears only if there was anything to write.
fn write_keys(
    session: &mut Session<'_>,
    mut output: Output,
    exported: &mut Vec<Fingerprint>,
) -> anyhow::Result<std::result::Result<(), Failure>> {
    let names = Names::parse(&session.arguments);
    for refused in names.refused().iter().filter(|refused| refused.code == Code::InvalidUserId) {
        let name = shown(&refused.name);
        session.streams.error(format_args!("key \"{name}\" not found: {}", refused.code));
    }
    let unsearchable = names.refused().iter().find(|refused| refused.code != Code::InvalidUserId);
    if unsearchable.is_none() {
        let keyrings = Keyrings::open(session)?;
        let export = Export { names: &names, settings: &session.settings, now: session.now };
        let writer = output.writer(session.streams);
        if session.settings.armor {
            let mut writer = ArmorWriter::new(writer);
            export.write(&keyrings, &mut writer, exported)?;
            writer.finish()?;
        } else {
            export.write(&keyrings, &mut { writer }, exported)?;
        }
    }
    match exported.is_empty() {
        true => session.streams.info("WARNING: nothing exported"),
        false => output.commit()?,
    }
    Ok(unsearchable.map_or(Ok(()), |refused| Err((refused.code, refused.value()))))
}

struct Export<'a> {
    names: &'a Names,
    settings: &'a Settings,
    now: Timestamp,
}

impl Export<'_> {
    fn write(
        &self,
        keyrings: &Keyrings,
        out: &mut dyn Write,
        exported: &mut Vec<Fingerprint>,
    ) -> anyhow::Result<()> {
        for ring in keyrings.iter() {
            let Some(snapshot) = ring.snapshot()? else { continue };
            self.write_ring(snapshot.as_ref(), out, exported)?;
        }
        Ok(())
    }

    fn write_ring(
        &self,
        snapshot: &dyn Snapshot,
        out: &mut dyn Write,
        exported: &mut Vec<Fingerprint>,
    ) -> anyhow::Result<()> {
        let settings = &self.settings.export;
        let options = ExportOptions {
            local_signatures: settings.local_sigs,
            superseded: false,
            attributes: settings.attributes,
            sensitive_revokers: settings.sensitive_revkeys,
            certifications: true,
            unreadable: false,
        };
        let hits = self.names.find(snapshot)?;
        let ids: Vec<CertId> = hits.iter().map(|hit| hit.id).collect();
        let selection = if self.names.is_empty() { Selection::All } else { Selection::Ids(&ids) };
        let mut checker = checker(snapshot, self.settings.digests, self.now);
        let mut prepare = |id: CertId, certificate: Certificate| {
            let cleaned = match settings.clean {
                true => compact(&certificate, &mut checker, &self.compaction(), self.now)?,
                false => certificate,
            };
            let hit = hits.binary_search_by_key(&id, |hit| hit.id).ok().map(|index| hits[index]);
            Ok(self.filtered(cleaned, hit))
        };
        let changes = settings.clean || self.filters() || self.names.choose_subkeys();
        let prepare = changes.then_some(&mut prepare as &mut Preparation<'_>);
        export_prepared(snapshot, selection, &options, prepare, out, |record| {
            exported.push(record.fingerprint)
        })?;
        Ok(())
    }

    fn compaction(&self) -> CompactOptions {
        CompactOptions {
            minimal: self.settings.export.minimal,
            expired_subkeys: true,
            min_cert_level: self.settings.trust.min_cert_level.try_into().unwrap_or_default(),
            accept_unsigned_user_ids: self.settings.allow_non_selfsigned_uid,
        }
    }

    fn filters(&self) -> bool {
        let ExportFilter { keep_uid, drop_subkey } = &self.settings.export_filter;
        keep_uid.is_some() || drop_subkey.is_some()
    }

    /// Returns what the filters leave of a certificate, and the names, where they name single subkeys.
    fn filtered(&self, certificate: Certificate, hit: Option<Hit>) -> Certificate {
        let ExportFilter { keep_uid, drop_subkey } = &self.settings.export_filter;
        let facts = &certificate.facts;
        let effective = evaluate(facts, Moment::new(self.now, View::Gnupg));
        let mut kept = vec![true; facts.components.len()];
        let mut also =
            |others: Vec<bool>| kept.iter_mut().zip(others).for_each(|(kept, other)| *kept &= other);
        if let Some(filter) = keep_uid {
            also(properties::kept_user_ids(filter, facts, &effective));
        }
        if let Some(filter) = drop_subkey {
            also(properties::kept_subkeys(filter, facts, &effective));
        }
        if let Some(is_named) = hit.and_then(|hit| self.names.chosen_subkeys(hit)) {
            let named = |component: &Component| match &component.kind {
                ComponentKind::Key(key) => is_named(&key.fingerprint),
                _ => true,
            };
            also(facts.components.iter().map(named).collect());
        }
        properties::retain(&certificate, &kept)
    }
}
