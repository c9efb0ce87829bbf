//! A home of GnuPG before 2.1, whose secret keys are in `secring.gpg`: they are taken over once, when gpg does it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::OnceLock;

use harness::{Gnupg, Run, Terminal};

use crate::agent_home::{AgentHome, key_files, places};

/// The file with which GnuPG notes that the agent has the keys.
const MARK: &str = ".gpg-v21-migrated";

/// The certificate and the secret key of Ann, with a subkey and the passphrase `abc`.
fn keys() -> &'static [Vec<u8>; 2] {
    static KEYS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    KEYS.get_or_init(|| {
        let maker = AgentHome::empty();
        maker.gpg("abc", &["--quick-generate-key", "Ann <ann@example.org>", "rsa2048", "sign,cert", "never"]);
        let key = maker.fingerprints("ann@example.org")[0].clone();
        maker.gpg("abc", &["--quick-add-key", &key, "rsa2048", "encr", "never"]);
        [&["--export"][..], &["--pinentry-mode", "loopback", "--passphrase", "abc", "--export-secret-keys"]]
            .map(|words| Run::gpg_with_agent(&maker.home).args(words).succeed().stdout)
    })
}

/// Makes a home of GnuPG before 2.1, where `import-home` has this value.
fn old_home(import_home: &str) -> AgentHome {
    let [public, secret] = keys();
    let home = AgentHome::empty();
    fs::create_dir_all(home.home.path().join(".config/keyhoard")).expect("room");
    home.home.write(".config/keyhoard/config.toml", format!("import-home = \"{import_home}\"\n"));
    home.home.write("pubring.gpg", public);
    home.home.write("secring.gpg", secret);
    home
}

fn is_marked(home: &AgentHome) -> bool {
    home.home.path().join(MARK).exists()
}

fn ours(home: &AgentHome) -> Run {
    Run::gpg_keyhoard(&home.home).with_agent()
}

fn has_secret_keys(home: &AgentHome) -> bool {
    home.listed(ours(home)).contains("sec:")
}

fn delete_secret_keys(home: &AgentHome) {
    let key = home.fingerprints("ann@example.org")[0].clone();
    ours(home).args(["--yes", "--delete-secret-keys", &key]).succeed();
}

#[test]
fn secret_keys_of_gnupg_before_2_1_are_taken_over_before_the_commands_before_which_gpg_does_it() {
    let ann = "ann@example.org";
    let key = old_home("yes").fingerprints(ann)[0].clone();
    let commands: [(&[&str], bool); 33] = [
        (&["--list-secret-keys"], true),
        (&["--list-keys"], false),
        (&["--with-secret", "--list-keys"], true),
        (&["--with-secret", "--list-sigs"], false),
        (&["--check-sigs"], false),
        (&["--sign"], true),
        (&["--clear-sign"], true),
        (&["--detach-sign"], true),
        (&["--trust-model", "always", "--recipient", ann, "--encrypt"], false),
        (&["--trust-model", "always", "--recipient", ann, "--sign", "--encrypt"], true),
        (&["--symmetric"], false),
        (&["--sign", "--symmetric"], true),
        (&["--store"], false),
        (&["--decrypt"], true),
        (&["--verify"], false),
        (&["--list-packets"], false),
        (&[], false),
        (&["--import"], true),
        (&["--import-ownertrust"], false),
        (&["--export"], false),
        (&["--export-secret-keys"], true),
        (&["--export-secret-subkeys"], true),
        (&["--delete-keys", "nobody"], false),
        (&["--delete-secret-keys", "nobody"], true),
        (&["--passwd", "nobody"], true),
        (&["--edit-key", "nobody"], true),
        (&["--sign-key", "nobody"], true),
        (&["--quick-sign-key", "0000000000000000000000000000000000000000"], false),
        (&["--quick-add-uid", &key, "Nobody"], true),
        (&["--quick-set-expire", &key, "1y"], false),
        (&["--gen-revoke", "nobody"], true),
        (&["--desig-revoke", "nobody"], true),
        (&["--card-status"], false),
    ];
    for (words, is_taken) in commands {
        let (theirs, home) = (old_home("yes"), old_home("yes"));
        let common = ["--passphrase", "abc", "--pinentry-mode", "loopback"];
        let run = |run: Run| run.args(common).args(words).stdin("text").output().errors();
        run(Run::gpg_with_agent(&theirs.home));
        assert_eq!(is_marked(&theirs), is_taken, "gpg {words:?}");
        let told = run(ours(&home));
        assert_eq!(is_marked(&home), is_taken, "{words:?}: {told}");
        assert_eq!(key_files(home.home.path()), if is_taken { 2 } else { 0 }, "{words:?}: {told}");
        if !is_taken {
            assert!(
                !home.home.path().join("S.gpg-agent").exists() || words == ["--card-status"],
                "{words:?}"
            );
        }
    }
}

#[test]
fn taking_over_secret_keys_of_gnupg_before_2_1_is_told_as_by_gpg_and_signs_with_them() {
    let told = |home: &AgentHome, run: Run| {
        let signed =
            run.args(["--status-fd", "2", "--trust-model", "always", "--sign"]).stdin("text").succeed();
        Run::gpg_with_agent(&home.home).arg("--verify").stdin(signed.stdout.clone()).succeed();
        let told = signed.errors().replace(&home.home.path().display().to_string(), "HOME");
        let is_of_import = |line: &&str| {
            line.contains("IMPORT_OK") || line.contains("migration") || line.contains("secret key")
        };
        told.lines().filter(is_of_import).map(str::to_owned).collect::<Vec<_>>()
    };
    for gnupg in Gnupg::ALL {
        let [theirs, home] = [(), ()].map(|()| old_home("yes"));
        [&theirs, &home].into_iter().for_each(|home| home.answer("abc"));
        let gpg = told(&theirs, Run::gpg_of_with_agent(gnupg, &theirs.home));
        assert_eq!(gpg.len(), 6, "{gpg:?}");
        assert_eq!(told(&home, ours(&home).like(gnupg)), gpg);
        let grips = |run: Run, home: &AgentHome| -> Vec<String> {
            home.listed(run).lines().filter(|line| line.starts_with("grp:")).map(str::to_owned).collect()
        };
        let gpg = grips(Run::gpg_of_with_agent(gnupg, &theirs.home), &theirs);
        assert_eq!(gpg.len(), 2, "the primary key and its subkey");
        assert_eq!(grips(ours(&home), &home), gpg);
    }
}

#[test]
fn a_secret_key_of_gnupg_before_2_1_that_is_deleted_does_not_come_back() {
    let home = old_home("yes");
    assert!(has_secret_keys(&home));
    assert!(is_marked(&home));
    delete_secret_keys(&home);
    assert!(!has_secret_keys(&home));
    assert!(
        !home.listed(Run::gpg_with_agent(&home.home)).contains("sec:"),
        "gpg does not take them over either"
    );
}

#[test]
fn secret_keys_of_gnupg_before_2_1_that_go_into_files_are_taken_over_once_and_without_gpgs_mark() {
    let home = old_home("yes");
    let in_files = || Run::gpg_keyhoard(&home.home);
    assert!(home.listed(in_files()).contains("sec:"));
    assert!(!is_marked(&home));
    assert_eq!(places(&home), ["file", "file"]);
    let key = home.fingerprints("ann@example.org")[0].clone();
    in_files().args(["--yes", "--delete-secret-keys", &key]).succeed();
    assert!(!home.listed(in_files()).contains("sec:"));
    assert!(home.listed(Run::gpg_with_agent(&home.home)).contains("sec:"), "gpg takes them over for itself");
}

#[test]
fn an_empty_secring_is_passed_over_and_a_damaged_one_is_reported_and_read_again() {
    let home = old_home("yes");
    home.home.write("secring.gpg", "");
    let listed = ours(&home).arg("--list-secret-keys").succeed().errors();
    assert!(!listed.contains("migration"), "{listed}");
    assert!(!is_marked(&home));
    for damaged in [&b"garbage"[..], &keys()[1][..700]] {
        home.home.write("secring.gpg", damaged);
        let theirs = old_home("yes");
        theirs.home.write("secring.gpg", damaged);
        let gpg = Run::gpg_with_agent(&theirs.home).arg("--list-secret-keys").output();
        let listed = ours(&home).arg("--list-secret-keys").output();
        assert_eq!((gpg.code, listed.code), (Some(2), Some(2)), "{} {}", gpg.errors(), listed.errors());
        assert!(listed.errors().contains("secring.gpg' failed: "), "{}", listed.errors());
        assert!(!is_marked(&home), "what is lost may be restored");
    }
    home.home.write("secring.gpg", &keys()[1]);
    assert!(has_secret_keys(&home));
    assert!(is_marked(&home));
}

#[test]
fn whoever_is_asked_about_secret_keys_of_gnupg_before_2_1_decides_once() {
    let home = old_home("ask");
    Run::keyhoard(&home.home).arg("migrate").arg(home.home.path()).succeed();
    let pointed_out = ours(&home).arg("--list-secret-keys").succeed().errors();
    let command = format!("migrate --secret-keys copy '{}'", home.home.path().display());
    assert!(pointed_out.contains(&command), "{pointed_out}");
    Run::keyhoard(&home.home).args(["migrate", "--secret-keys", "copy"]).arg(home.home.path()).succeed();
    assert!(has_secret_keys(&home));
    delete_secret_keys(&home);
    assert!(!has_secret_keys(&home), "what was copied does not come back");

    for (answer, is_taken) in [("y", true), ("n", false)] {
        let home = old_home("ask");
        Run::keyhoard(&home.home).arg("migrate").arg(home.home.path()).succeed();
        let user = home.home.path().display();
        let command = format!("HOME='{user}' \"$GPG\" --list-secret-keys");
        let mut terminal = Terminal::new(&home.home, &command);
        terminal.answer("Take them over? (y/N) ", format!("{answer}\n").as_bytes());
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(shown.contains("migration succeeded"), is_taken, "{shown}");
        assert_eq!(shown.contains("Ann"), is_taken, "{shown}");
    }
}

#[test]
fn where_there_is_no_database_the_agent_gets_the_secret_keys_of_gnupg_before_2_1_as_from_gpg() {
    let home = old_home("ask");
    assert!(has_secret_keys(&home));
    assert!(is_marked(&home));
    let gpgs = home.listed(Run::gpg_with_agent(&home.home));
    assert!(gpgs.contains("sec:"), "{gpgs}");
    home.answer("abc");
    let signed = ours(&home).args(["--local-user", "ann@example.org", "--sign"]).stdin("text").succeed();
    Run::gpg(&home.home).arg("--verify").stdin(signed.stdout).succeed();
    assert!(!home.home.database().exists());

    let shared = old_home("ask");
    fs::set_permissions(shared.home.path(), fs::Permissions::from_mode(0o770)).expect("it is ours");
    let listed = ours(&shared).arg("--list-secret-keys").output().errors();
    assert!(listed.contains("secring.gpg' are not taken over: "), "{listed}");
    assert!(!is_marked(&shared));
}

#[test]
fn secret_keys_of_gnupg_before_2_1_stay_where_they_are_in_a_home_that_others_can_change() {
    let home = old_home("yes");
    let set =
        |mode| fs::set_permissions(home.home.path(), fs::Permissions::from_mode(mode)).expect("it is ours");
    set(0o770);
    let listed = ours(&home).arg("--list-secret-keys").output().errors();
    assert!(listed.contains("secring.gpg' are not taken over: "), "{listed}");
    assert!(!is_marked(&home));
    assert_eq!(key_files(home.home.path()), 0);
    set(0o700);
    assert!(has_secret_keys(&home));
}

#[test]
fn without_consent_secret_keys_of_gnupg_before_2_1_stay_where_they_are() {
    let home = old_home("no");
    let listed = ours(&home).arg("--list-secret-keys").succeed();
    assert_eq!((listed.text(), is_marked(&home)), (String::new(), false), "{}", listed.errors());
    let home = old_home("yes");
    ours(&home).args(["--dry-run", "--list-secret-keys"]).succeed();
    assert!(!is_marked(&home));
}
