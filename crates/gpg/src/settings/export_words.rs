//! `--export-options`.

use crate::options::values::Refusal;
use crate::options::words::{self, Word};

/// What an export leaves in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportSettings {
    pub(crate) local_sigs: bool,
    pub(crate) attributes: bool,
    pub(crate) sensitive_revkeys: bool,
    pub(crate) clean: bool,
    pub(crate) minimal: bool,
    pub(crate) pka: bool,
    pub(crate) dane: bool,
    pub(crate) backup: bool,
}

impl Default for ExportSettings {
    fn default() -> Self {
        Self {
            local_sigs: false,
            attributes: true,
            sensitive_revkeys: false,
            clean: false,
            minimal: false,
            pka: false,
            dane: false,
            backup: false,
        }
    }
}

impl ExportSettings {
    /// Reads one `--export-options` list.
    pub(crate) fn read(&mut self, text: &[u8]) -> std::result::Result<(), Refusal> {
        words::read("export options", WORDS, text, self)?;
        if self.backup {
            self.local_sigs = true;
            self.attributes = true;
            self.sensitive_revkeys = true;
            self.clean = false;
            self.minimal = false;
            self.pka = false;
            self.dane = false;
        }
        Ok(())
    }
}

const fn word(
    name: &'static str,
    set: fn(&mut ExportSettings, bool, Option<&str>) -> bool,
    help: &'static str,
) -> Word<ExportSettings> {
    Word { name, set, help }
}

#[rustfmt::skip]
const WORDS: &[Word<ExportSettings>] = &[
    word("export-local-sigs", |s, on, _| { s.local_sigs = on; true }, "give away signatures marked as local"),
    word("export-attributes", |s, on, _| { s.attributes = on; true }, "give away attributes, that is photos"),
    word("export-sensitive-revkeys", |s, on, _| { s.sensitive_revkeys = on; true }, "give away sensitive designated revokers"),
    word("export-clean", |s, on, _| { s.clean = on; true }, "drop what is unusable"),
    word("export-minimal", |s, on, _| { s.clean = on; s.minimal = on; true }, "drop all but the newest self-signatures"),
    word("export-pka", |s, on, _| { s.pka = on; true }, ""),
    word("export-dane", |s, on, _| { s.dane = on; true }, ""),
    word("backup", |s, on, _| { s.backup = on; true }, "write the key backup format"),
    word("export-backup", |s, on, _| { s.backup = on; true }, ""),
    word("include-local-sigs", |s, on, _| { s.local_sigs = on; true }, ""),
    word("include-attributes", |s, on, _| { s.attributes = on; true }, ""),
    word("include-sensitive-revkeys", |s, on, _| { s.sensitive_revkeys = on; true }, ""),
    word("export-unusable-sigs", |_, _, _| true, ""),
    word("export-clean-sigs", |_, _, _| true, ""),
    word("export-clean-uids", |_, _, _| true, ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_exported_unless_taken_back() {
        let mut settings = ExportSettings::default();
        assert!(settings.attributes);
        settings.read(b"no-export-attributes").expect("known word");
        assert!(!settings.attributes);
    }

    #[test]
    fn a_backup_holds_everything() {
        let mut settings = ExportSettings::default();
        settings.read(b"export-minimal no-export-attributes backup").expect("known words");
        assert!(settings.local_sigs && settings.attributes && settings.sensitive_revkeys);
        assert!(!settings.clean && !settings.minimal);
    }
}
