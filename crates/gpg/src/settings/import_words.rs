//! `--import-options`.

use crate::options::values::Refusal;
use crate::options::words::{self, Word};

/// How an import treats what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportSettings {
    /// Takes signatures that are not meant to leave their maker's keyring.
    pub(crate) local_sigs: bool,
    pub(crate) repair_pks_subkey_bug: bool,
    pub(crate) keep_ownertrust: bool,
    pub(crate) fast: bool,
    /// Lists each key as it would be stored.
    pub(crate) show: bool,
    pub(crate) merge_only: bool,
    pub(crate) clean: bool,
    pub(crate) minimal: bool,
    pub(crate) self_sigs_only: bool,
    /// Writes each key out instead of storing it.
    pub(crate) export: bool,
    pub(crate) restore: bool,
    pub(crate) repair_keys: bool,
    pub(crate) dry_run: bool,
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self {
            local_sigs: false,
            repair_pks_subkey_bug: false,
            keep_ownertrust: false,
            fast: false,
            show: false,
            merge_only: false,
            clean: false,
            minimal: false,
            self_sigs_only: false,
            export: false,
            restore: false,
            repair_keys: true,
            dry_run: false,
        }
    }
}

impl ImportSettings {
    /// Reads one `--import-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> std::result::Result<(), Refusal> {
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

const fn word(
    name: &'static str,
    set: fn(&mut ImportSettings, bool, Option<&str>) -> bool,
    help: &'static str,
) -> Word<ImportSettings> {
    Word { name, set, help }
}

#[rustfmt::skip]
const WORDS: &[Word<ImportSettings>] = &[
    word("import-local-sigs", |s, on, _| { s.local_sigs = on; true }, "take signatures marked as local"),
    word("repair-pks-subkey-bug", |s, on, _| { s.repair_pks_subkey_bug = on; true }, "put a misplaced subkey binding back"),
    word("keep-ownertrust", |s, on, _| { s.keep_ownertrust = on; true }, "leave the owner trust of new keys as it is"),
    word("fast-import", |s, on, _| { s.fast = on; true }, "do not look at the trust database afterwards"),
    word("import-show", |s, on, _| { s.show = on; true }, "list each key as it will be stored"),
    word("merge-only", |s, on, _| { s.merge_only = on; true }, "update known keys, skip new ones"),
    word("import-clean", |s, on, _| { s.clean = on; true }, "drop what is unusable"),
    word("import-minimal", |s, on, _| { s.clean = on; s.minimal = on; true }, "drop all but the newest self-signatures"),
    word("self-sigs-only", |s, on, _| { s.self_sigs_only = on; true }, "skip signatures by other keys"),
    word("import-export", |s, on, _| { s.export = on; true }, "write the keys out instead of storing them"),
    word("restore", |s, on, _| { s.restore = on; true }, "read the key backup format"),
    word("import-restore", |s, on, _| { s.restore = on; true }, ""),
    word("repair-keys", |s, on, _| { s.repair_keys = on; true }, "remove duplicated and misplaced signatures"),
    word("show-only", |s, on, _| { s.show = on; s.dry_run = on; true }, ""),
    word("allow-local-sigs", |s, on, _| { s.local_sigs = on; true }, ""),
    word("repair-hkp-subkey-bug", |s, on, _| { s.repair_pks_subkey_bug = on; true }, ""),
    word("import-unusable-sigs", |_, _, _| true, ""),
    word("import-clean-sigs", |_, _, _| true, ""),
    word("import-clean-uids", |_, _, _| true, ""),
    word("convert-sk-to-pk", |_, _, _| true, ""),
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
