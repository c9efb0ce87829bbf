//! The report of an import: messages, status lines, totals.

use std::collections::HashSet;

use engine::causes;
use engine::cert::clean::CleaningNote;
use engine::cert::{Error, Fingerprint, Flaw, KeyId};
use engine::certifications::CertificationStatus;
use engine::import::{
    Additions, ImportOutcome, ImportRefusal, Imported, ImportedSecret, SecretOutcome, StandaloneRevocation,
};

use crate::code::Code;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;

/// The parts of the reason in an `IMPORT_OK` line (GnuPG's `doc/DETAILS`).
mod reason {
    pub(super) const UNCHANGED: u32 = 0;
    pub(super) const NEW: u32 = 1;
    pub(super) const USER_IDS: u32 = 2;
    pub(super) const SIGNATURES: u32 = 4;
    pub(super) const SUBKEYS: u32 = 8;
    pub(super) const SECRET: u32 = 16;
}

/// Reports certificates, and counts them.
pub(super) struct Report<'a> {
    settings: &'a Settings,
    inputs: Vec<Input>,
    /// The index of the current input.
    current: usize,
    result: ImportResult,
    /// No messages about single keys, since keys are listed or only previewed.
    silent: bool,
    /// No totals, since only a listing is wanted.
    only_shown: bool,
    /// Only secret keys are reported.
    only_secret_keys: bool,
    /// Keys with a `KEY_CONSIDERED` line.
    considered: HashSet<Fingerprint>,
}

#[derive(Default)]
struct Input {
    name: String,
    /// It contained packets.
    has_packets: bool,
}

/// The counters of an `IMPORT_RES` line.
#[derive(Default)]
struct ImportResult {
    count: u64,
    no_user_id: u64,
    imported: u64,
    unchanged: u64,
    new_user_ids: u64,
    new_subkeys: u64,
    new_signatures: u64,
    new_revocations: u64,
    secret_read: u64,
    secret_imported: u64,
    secret_unchanged: u64,
    skipped_new_keys: u64,
    v3_keys: u64,
}

impl ImportResult {
    /// Returns the arguments of the status line. The fourth value was the number of RSA keys and is always 0, as is that of
    /// keys that are not imported.
    fn line(&self) -> String {
        let values = [
            self.count,
            self.no_user_id,
            self.imported,
            0,
            self.unchanged,
            self.new_user_ids,
            self.new_subkeys,
            self.new_signatures,
            self.new_revocations,
            self.secret_read,
            self.secret_imported,
            self.secret_unchanged,
            self.skipped_new_keys,
            0,
            self.v3_keys,
        ];
        format!("IMPORT_RES {}", values.map(|value| value.to_string()).join(" "))
    }
}

impl<'a> Report<'a> {
    pub(super) fn new(settings: &'a Settings, inputs: Vec<String>) -> Self {
        Self {
            settings,
            inputs: inputs.into_iter().map(|name| Input { name, has_packets: false }).collect(),
            current: 0,
            result: ImportResult::default(),
            silent: settings.import.show || settings.import.dry_run,
            only_shown: settings.import.show && settings.import.dry_run,
            only_secret_keys: false,
            considered: HashSet::new(),
        }
    }

    /// Begins the report of an import that gpg makes on its own, of secret keys.
    pub(super) fn of_secret_keys(settings: &'a Settings, input: String) -> Self {
        Self { silent: true, only_secret_keys: true, ..Self::new(settings, vec![input]) }
    }

    /// Reports a certificate that was imported or not.
    pub(super) fn imported(&mut self, imported: &Imported, streams: &mut Streams) {
        self.enter(imported.input, streams);
        self.notes(imported, streams);
        if imported.is_not_fully_checked() {
            let key = self.key(imported.fingerprint.key_id());
            streams.error(format_args!("{key}not fully checked; import it again to go on"));
        }
        if let Some(count) = imported.forged_self_signatures() {
            let key = self.key(imported.fingerprint.key_id());
            streams.error(format_args!("{key}{count} forged self-signatures and no good one"));
        }
        match imported.outcome {
            ImportOutcome::New if self.only_secret_keys => {}
            ImportOutcome::New => self.new_key(imported, streams),
            ImportOutcome::Changed(_) if imported.revocation => {
                self.result.new_revocations += 1;
                self.report(imported, "revocation certificate imported", streams);
            }
            ImportOutcome::Unchanged if imported.revocation => {}
            ImportOutcome::Declined => {}
            // What gpg does not count is kept here, such as an older binding signature of a subkey.
            ImportOutcome::Changed(added) if added != Additions::default() => {
                self.changed_key(imported, added, streams);
            }
            ImportOutcome::Changed(_) | ImportOutcome::Unchanged => {
                self.result.unchanged += 1;
                ok(imported, reason::UNCHANGED, streams);
                self.report(imported, "not changed", streams);
            }
            ImportOutcome::SkippedNew => {
                self.result.skipped_new_keys += 1;
                if self.settings.verbose > 0 {
                    self.report_key(&imported.fingerprint, "new key - skipped", streams);
                }
            }
            ImportOutcome::SkippedWithoutUserId => {
                self.result.no_user_id += 1;
                self.report_key(&imported.fingerprint, "new key but contains no user ID - skipped", streams);
            }
        }
        self.secrets(imported, streams);
        self.counted(imported.secret, streams);
        self.may_be_revoked(imported, streams);
    }

    /// Reports revocations of a certificate by revokers whose keys are missing.
    fn may_be_revoked(&self, imported: &Imported, streams: &mut Streams) {
        let key = self.key_id(imported.fingerprint.key_id());
        for revoker in &imported.missing_revokers {
            let revoker = self.key_id(revoker.key_id());
            streams.info(format_args!(
                "WARNING: key {key} may be revoked: revocation key {revoker} not present."
            ));
        }
    }

    /// Counts a certificate that was only previewed.
    pub(super) fn previewed(&mut self, input: usize, secret: bool, streams: &mut Streams) {
        self.enter(input, streams);
        self.counted(secret, streams);
    }

    /// Counts a revocation certificate that was only previewed.
    pub(super) fn revocation_previewed(
        &mut self,
        input: usize,
        revocation: &StandaloneRevocation<'_>,
        streams: &mut Streams,
    ) {
        match revocation.status {
            CertificationStatus::Bad => {
                let refusal = ImportRefusal::BadRevocation(revocation.facts.issuer.key_id);
                self.refused(input, 0, &refusal, streams);
            }
            _ => self.previewed(input, false, streams),
        }
    }

    /// Reports a certificate that was refused.
    pub(super) fn refused(
        &mut self,
        input: usize,
        position: u64,
        refusal: &ImportRefusal,
        streams: &mut Streams,
    ) {
        let flaw = match refusal {
            ImportRefusal::Unreadable(Error::Malformed { flaw, .. }) => Some(*flaw),
            _ => None,
        };
        // Bytes that cannot begin a packet do not count as packets.
        let first = self.inputs.get(input).is_some_and(|input| !input.has_packets) && position == 0;
        if first
            && matches!(
                flaw,
                Some(Flaw::NotAPacket | Flaw::CutShort(_) | Flaw::OpenLength(_) | Flaw::Armor(_))
            )
        {
            return;
        }
        self.enter(input, streams);
        let name = self.inputs.get(input).map_or(String::new(), |input| input.name.clone());
        match (refusal, flaw) {
            (_, Some(Flaw::ObsoleteKey(_))) => {
                self.result.v3_keys += 1;
                self.result.count += 1;
            }
            (_, Some(Flaw::Misplaced(_))) => {
                if self.settings.verbose > 0 {
                    streams.info(format_args!("{name}: {refusal}"));
                }
            }
            // An unknown key version, or a damaged key: gpg writes nothing, so that the user would not notice.
            (_, Some(Flaw::UnknownKey(_))) => {
                if !self.settings.quiet {
                    streams.info(format_args!("{name}: {refusal}"));
                }
            }
            (ImportRefusal::UnknownKey(key), _) => {
                if !self.silent {
                    let key = self.key(*key);
                    streams.error(format_args!("{key}no public key - can't apply revocation certificate"));
                }
                self.counted(false, streams);
            }
            (ImportRefusal::BadRevocation(key), _) => {
                let bad = Code::BAD_SIGNATURE;
                if !self.silent {
                    let key = self.key(*key);
                    streams.error(format_args!("{key}invalid revocation certificate: {bad} - rejected"));
                }
                streams.error(format_args!("error reading '{name}': {bad}"));
            }
            _ => streams.error(format_args!("{name}: {}", causes(refusal))),
        }
    }

    /// Reports the totals.
    pub(super) fn finish(&mut self, streams: &mut Streams) {
        if !self.inputs.is_empty() {
            self.advance(self.inputs.len(), streams);
        }
        if self.only_shown {
            return;
        }
        if !self.settings.quiet {
            self.report_sums(streams);
        }
        streams.status(self.result.line());
    }

    fn new_key(&mut self, imported: &Imported, streams: &mut Streams) {
        self.result.imported += 1;
        let name = imported.name.as_deref().unwrap_or(NO_NAME);
        self.consider(&imported.fingerprint, streams);
        if self.reports_keys() {
            let key = self.key(imported.fingerprint.key_id());
            streams.info_bytes(&[key.as_bytes(), b"public key \"", name, b"\" imported"].concat());
        }
        let key_id = imported.fingerprint.key_id();
        streams.status(status::with_text(format_args!("IMPORTED {key_id}"), name));
        ok(imported, reason::NEW, streams);
    }

    fn changed_key(&mut self, imported: &Imported, added: Additions, streams: &mut Streams) {
        self.result.new_user_ids += u64::from(added.user_ids);
        self.result.new_signatures += u64::from(added.signatures);
        self.result.new_subkeys += u64::from(added.subkeys);
        let parts = [
            (added.user_ids, reason::USER_IDS, "user ID"),
            (added.signatures, reason::SIGNATURES, "signature"),
            (added.subkeys, reason::SUBKEYS, "subkey"),
        ];
        // gpg says this of keys that are only shown, too.
        for _ in 0..added.revocations {
            if !self.settings.quiet {
                self.report_by_name(imported, "revocation certificate added", streams);
            }
        }
        for (count, _, what) in parts.iter().filter(|(count, ..)| *count > 0) {
            let plural = if *count == 1 { "" } else { "s" };
            self.report(imported, &format!("{count} new {what}{plural}"), streams);
        }
        if !self.silent {
            let reasons = parts.iter().filter(|(count, ..)| *count > 0).map(|(_, reason, _)| reason).sum();
            ok(imported, reasons, streams);
        }
    }

    /// Reports a key by its user ID, unless only problems are reported.
    fn report(&mut self, imported: &Imported, what: &str, streams: &mut Streams) {
        if self.reports_keys() {
            self.report_by_name(imported, what, streams);
        }
    }

    fn report_by_name(&mut self, imported: &Imported, what: &str, streams: &mut Streams) {
        self.consider(&imported.fingerprint, streams);
        let key = self.key(imported.fingerprint.key_id());
        let name = imported.name.as_deref().unwrap_or(NO_NAME);
        streams.info_bytes(&[key.as_bytes(), b"\"", name, b"\" ", what.as_bytes()].concat());
    }

    /// Reports something about a key by its key ID.
    fn report_key(&self, fingerprint: &Fingerprint, what: &str, streams: &mut Streams) {
        if !self.silent {
            streams.info(format_args!("{}{what}", self.key(fingerprint.key_id())));
        }
    }

    /// Says whether single keys are reported.
    fn reports_keys(&self) -> bool {
        !self.settings.quiet && !self.silent
    }

    /// Writes a `KEY_CONSIDERED` line, once for a key: gpg looks it up for its user ID.
    fn consider(&mut self, fingerprint: &Fingerprint, streams: &mut Streams) {
        if streams.status_wanted() && self.considered.insert(*fingerprint) {
            streams.considered(fingerprint);
        }
    }

    fn key(&self, key_id: KeyId) -> String {
        format!("key {}: ", self.key_id(key_id))
    }

    fn key_id(&self, key_id: KeyId) -> String {
        let mut text = Vec::new();
        self.settings.list.key_id_format.issuer(key_id, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Reports what was cleaned; bad signatures and user IDs only with `--verbose`, as gpg.
    fn notes(&self, imported: &Imported, streams: &mut Streams) {
        for note in &imported.notes {
            let (always, text) = match note {
                CleaningNote::UserIdsJoined(count) => (false, format!("{count} repeated user IDs joined")),
                CleaningNote::CopiesDropped(count) => (true, format!("{count} duplicate signatures removed")),
                CleaningNote::SignaturesMoved(count) => (true, format!("{count} signatures reordered")),
                CleaningNote::BadSignatures(count) => (false, format!("{count} bad self-signatures")),
                CleaningNote::WithoutUserId(count) => {
                    (true, format!("{count} self-signatures before any user ID removed"))
                }
                CleaningNote::UserIdSkipped(name) => {
                    (false, format!("skipped user ID \"{}\"", String::from_utf8_lossy(name)))
                }
                CleaningNote::SubkeySkipped => (false, "skipped subkey".to_owned()),
                CleaningNote::LocalSignaturesSkipped(count) => {
                    (false, format!("{count} non exportable signatures skipped"))
                }
                CleaningNote::Unchecked(count) => (true, format!("{count} self-signatures not checked")),
                CleaningNote::ComponentsUndecided(count) => (
                    true,
                    format!("{count} user IDs or subkeys skipped: too many self-signatures to check all"),
                ),
                CleaningNote::RevocationsUnchecked(count) => {
                    (true, format!("key counts as invalid: {count} possible revocations not yet checked"))
                }
                CleaningNote::TooLarge(removed) => (true, format!("key too large: {removed} removed")),
            };
            if always && !self.settings.quiet || self.settings.verbose > 0 {
                self.report_key(&imported.fingerprint, &text, streams);
            }
        }
    }

    /// Reports the secret keys of a certificate: the imported ones in one message, as gpg.
    fn secrets(&mut self, imported: &Imported, streams: &mut Streams) {
        for ImportedSecret { fingerprint, outcome } in &imported.secrets {
            if let SecretOutcome::Refused(reason) = outcome {
                let key = self.key(fingerprint.key_id());
                streams.error(format_args!("{key}secret key not imported: {reason}"));
            }
        }
        let has = |outcome: SecretOutcome| imported.has_secret(&outcome);
        let (new, unchanged) = (has(SecretOutcome::New), has(SecretOutcome::Unchanged));
        if !(new || unchanged || has(SecretOutcome::Stub)) {
            return;
        }
        if self.only_secret_keys {
            self.consider(&imported.fingerprint, streams);
        }
        if !self.settings.quiet {
            let key = self.key(imported.fingerprint.key_id());
            streams.info(format_args!("{key}secret key imported"));
        }
        self.result.secret_imported += u64::from(new);
        self.result.secret_unchanged += u64::from(unchanged);
        ok(imported, reason::SECRET | if new { reason::NEW } else { 0 }, streams);
    }

    /// Counts a certificate of the input.
    fn counted(&mut self, secret: bool, streams: &mut Streams) {
        const PROGRESS_INTERVAL: u64 = 100;
        self.result.count += 1;
        self.result.secret_read += u64::from(secret);
        if self.result.count.is_multiple_of(PROGRESS_INTERVAL) && !self.settings.quiet {
            streams.info(format_args!("{} keys processed so far", self.result.count));
        }
    }

    /// Advances to an input that contains packets.
    fn enter(&mut self, input: usize, streams: &mut Streams) {
        self.advance(input, streams);
        if let Some(input) = self.inputs.get_mut(input) {
            input.has_packets = true;
        }
    }

    /// Finishes the inputs before `next`: one without any packets is an error.
    fn advance(&mut self, next: usize, streams: &mut Streams) {
        while self.current < next {
            if self.inputs.get(self.current).is_some_and(|input| !input.has_packets) {
                streams.error("no valid OpenPGP data found.");
                streams.status("NODATA 1");
            }
            self.current += 1;
        }
    }

    fn report_sums(&self, streams: &mut Streams) {
        let report_sums = &self.result;
        streams.info(format_args!("Total number processed: {}", report_sums.count));
        for (label, count) in [
            ("skipped PGP-2 keys", report_sums.v3_keys),
            ("skipped new keys", report_sums.skipped_new_keys),
            ("w/o user IDs", report_sums.no_user_id),
            ("imported", report_sums.imported),
            ("unchanged", report_sums.unchanged),
            ("new user IDs", report_sums.new_user_ids),
            ("new subkeys", report_sums.new_subkeys),
            ("new signatures", report_sums.new_signatures),
            ("new key revocations", report_sums.new_revocations),
            ("secret keys read", report_sums.secret_read),
            ("secret keys imported", report_sums.secret_imported),
            ("secret keys unchanged", report_sums.secret_unchanged),
        ] {
            if count > 0 {
                streams.info(format_args!("{label:>22}: {count}"));
            }
        }
    }
}

/// What gpg calls a key without a user ID.
const NO_NAME: &[u8] = b"[User ID not found]";

fn ok(imported: &Imported, reason: u32, streams: &mut Streams) {
    streams.status(format!("IMPORT_OK {reason} {}", imported.fingerprint));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_result_has_fifteen_counters() {
        let result = ImportResult { count: 3, imported: 2, unchanged: 1, v3_keys: 9, ..Default::default() };
        assert_eq!(result.line(), "IMPORT_RES 3 0 2 0 1 0 0 0 0 0 0 0 0 0 9");
    }
}
