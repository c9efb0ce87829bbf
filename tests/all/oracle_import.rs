//! Imports report what the real gpg reports.

use harness::{Both, Gnupg, Home, Keyring, Reference, Run, assert_same};

#[test]
fn oracle_importing_a_keyring_twice_reports_what_gpg_reports() {
    for keyring in [Keyring::Nonupload, Keyring::Maintainers] {
        let both = Both::new();
        both.import(keyring.path());
        both.import(keyring.path());
    }
}

#[test]
fn oracle_importing_each_keyring_reports_what_gpg_reported() {
    for reference in [Reference::Nonupload, Reference::Maintainers, Reference::Developers] {
        let [keyring] = reference.keyrings() else { panic!("{reference:?} holds one keyring") };
        let home = Home::new();
        let import = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "--import"]).arg(keyring.path());
        let found = import_lines(&import.succeed().status_lines());
        let expected = import_lines(&reference.gpg_import_status(Gnupg::V2_2));
        assert_same(&format!("--import of {reference:?}"), expected.as_bytes(), found.as_bytes());
    }
}

fn import_lines(status: &str) -> String {
    status.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] IMPORT")).collect()
}
