//! `--export-options`.

use crate::options::refusal::Outcome;
use crate::options::words::{self, Word, flag, flags, ignored};

/// The contents of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportSettings {
    pub(crate) local_sigs: bool,
    pub(crate) no_attributes: bool,
    pub(crate) sensitive_revkeys: bool,
    pub(crate) clean: bool,
    pub(crate) minimal: bool,
    pub(crate) pka: bool,
    pub(crate) dane: bool,
    pub(crate) backup: bool,
    /// Revocations alone.
    pub(crate) revocations: bool,
    /// Secret keys as the agent keeps them.
    pub(crate) mode1003: bool,
}

impl ExportSettings {
    /// Reads one `--export-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> Outcome {
        words::read("export options", WORDS, text, self)?;
        if self.backup {
            self.local_sigs = true;
            self.no_attributes = false;
            self.sensitive_revkeys = true;
            self.clean = false;
            self.minimal = false;
            self.pka = false;
            self.dane = false;
        }
        Ok(())
    }
}

#[rustfmt::skip]
const WORDS: &[Word<ExportSettings>] = &[
    flag("export-local-sigs", |s| &mut s.local_sigs, "give away signatures marked as local"),
    flags("export-attributes", |s, on| s.no_attributes = !on, "give away attributes, that is photos"),
    flag("export-sensitive-revkeys", |s| &mut s.sensitive_revkeys, "give away sensitive designated revokers"),
    flag("export-clean", |s| &mut s.clean, "drop what is unusable"),
    flags("export-minimal", |s, on| { s.clean = on; s.minimal = on; }, "drop all but the newest self-signatures"),
    flag("export-revocs", |s| &mut s.revocations, "give away revocations only"),
    flag("export-pka", |s| &mut s.pka, ""),
    flag("export-dane", |s| &mut s.dane, ""),
    flag("backup", |s| &mut s.backup, "write the key backup format"),
    flag("mode1003", |s| &mut s.mode1003, "write secret keys as GnuPG keeps them: refused"),
    flag("export-backup", |s| &mut s.backup, ""),
    flag("include-local-sigs", |s| &mut s.local_sigs, ""),
    flags("include-attributes", |s, on| s.no_attributes = !on, ""),
    flag("include-sensitive-revkeys", |s| &mut s.sensitive_revkeys, ""),
    ignored("export-unusable-sigs", ""),
    ignored("export-clean-sigs", ""),
    ignored("export-clean-uids", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_exported_unless_taken_back() {
        let mut settings = ExportSettings::default();
        assert!(!settings.no_attributes);
        settings.read(b"no-export-attributes").expect("known word");
        assert!(settings.no_attributes);
    }

    #[test]
    fn a_backup_holds_everything() {
        let mut settings = ExportSettings::default();
        settings.read(b"export-minimal no-export-attributes backup").expect("known words");
        assert!(settings.local_sigs && !settings.no_attributes && settings.sensitive_revkeys);
        assert!(!settings.clean && !settings.minimal);
    }
}
