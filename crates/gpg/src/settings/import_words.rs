//! `--import-options`.

use crate::options::refusal::Outcome;
use crate::options::words::{self, Word, flag, flags, ignored};

/// How an import treats certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportSettings {
    /// Imports non-exportable certifications.
    pub(crate) local_sigs: bool,
    pub(crate) repair_pks_subkey_bug: bool,
    pub(crate) keep_ownertrust: bool,
    /// Lists each key as it would be stored.
    pub(crate) show: bool,
    pub(crate) merge_only: bool,
    pub(crate) clean: bool,
    pub(crate) minimal: bool,
    pub(crate) self_sigs_only: bool,
    /// Writes each key out instead of storing it.
    pub(crate) export: bool,
    pub(crate) restore: bool,
    pub(crate) no_repair: bool,
    pub(crate) dry_run: bool,
}

impl ImportSettings {
    /// Reads one `--import-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> Outcome {
        words::read("import options", WORDS, text, self)?;
        if self.restore {
            self.local_sigs = true;
            self.keep_ownertrust = true;
            self.minimal = false;
            self.clean = false;
            self.repair_pks_subkey_bug = false;
            self.merge_only = false;
        }
        Ok(())
    }
}

#[rustfmt::skip]
const WORDS: &[Word<ImportSettings>] = &[
    flag("import-local-sigs", |s| &mut s.local_sigs, "take signatures marked as local"),
    flag("repair-pks-subkey-bug", |s| &mut s.repair_pks_subkey_bug, "put a misplaced subkey binding back"),
    flag("keep-ownertrust", |s| &mut s.keep_ownertrust, "leave the owner trust of new keys as it is"),
    ignored("fast-import", "do not look at the trust database afterwards"),
    ignored("bulk-import", "write many keys at once, which is always done"),
    flag("import-show", |s| &mut s.show, "list each key as it will be stored"),
    flags("show-only", |s, on| { s.show = on; s.dry_run = on; }, "list each key, store none"),
    flag("merge-only", |s| &mut s.merge_only, "update known keys, skip new ones"),
    flag("import-clean", |s| &mut s.clean, "drop what is unusable"),
    flags("import-minimal", |s, on| { s.clean = on; s.minimal = on; }, "drop all but the newest self-signatures"),
    flag("self-sigs-only", |s| &mut s.self_sigs_only, "skip signatures by other keys"),
    flag("import-export", |s| &mut s.export, "write the keys out instead of storing them"),
    flag("restore", |s| &mut s.restore, "read the key backup format"),
    flag("import-restore", |s| &mut s.restore, ""),
    flags("repair-keys", |s, on| s.no_repair = !on, "remove duplicated and misplaced signatures"),
    flag("allow-local-sigs", |s| &mut s.local_sigs, ""),
    flag("repair-hkp-subkey-bug", |s| &mut s.repair_pks_subkey_bug, ""),
    ignored("import-unusable-sigs", ""),
    ignored("import-clean-sigs", ""),
    ignored("import-clean-uids", ""),
    ignored("convert-sk-to-pk", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimal_includes_clean_and_no_minimal_takes_both_back() {
        let mut settings = ImportSettings::default();
        settings.read(b"import-minimal").expect("known word");
        assert!(settings.clean && settings.minimal);
        settings.read(b"no-import-minimal").expect("known word");
        assert!(!settings.clean && !settings.minimal);
    }

    #[test]
    fn restoring_a_backup_keeps_everything() {
        let mut settings = ImportSettings::default();
        settings.read(b"import-minimal,merge-only,restore").expect("known words");
        assert!(settings.local_sigs && settings.keep_ownertrust);
        assert!(!settings.clean && !settings.minimal && !settings.merge_only);
    }
}
