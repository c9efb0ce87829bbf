//! What messages suggest: each command is run exactly as it was printed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use harness::{Home, Output, OwnKey, Run, Terminal};

const SECOND: &str = "if this is your own key";

/// A user with a shell, whose `keyhoard` is ours.
struct User {
    home: Home,
}

impl User {
    fn new() -> Self {
        let home = Home::new();
        let programs = home.path().join("programs");
        fs::create_dir(&programs).expect("a directory");
        symlink(Run::program_path("keyhoard"), programs.join("keyhoard")).expect("a link");
        Self { home }
    }

    /// A user with a key of their own and a certificate of Ben's.
    fn with_keys() -> Self {
        Self::with_key_and(&OwnKey::new("Ben <ben@example.org>").certificate())
    }

    /// A user with a key of their own and this certificate.
    fn with_key_and(ben: &[u8]) -> Self {
        let user = Self::new();
        user.succeed("keyhoard generate --no-passphrase 'Ann <ann@example.org>'");
        user.home.write("ben.pgp", ben);
        user.succeed("keyhoard import ben.pgp");
        user.home.write("letter", "text\n");
        user
    }

    fn run(&self, line: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.home.path().join("programs").display());
        let run = Run::new(Path::new("sh"), self.home.path()).env("PATH", path);
        run.env("KEYHOARD_DB", self.home.database()).current_dir(self.home.path()).args(["-c", line]).output()
    }

    fn succeed(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, Some(0), "{line}: {}", done.errors());
        done.text() + &done.errors()
    }

    /// Runs a command, and returns the commands that it suggests, each once.
    fn suggested(&self, line: &str) -> Vec<String> {
        let done = self.run(line);
        let shown = done.text() + &done.errors();
        let mut hints: Vec<String> = Vec::new();
        for quoted in shown.split('`').skip(1).step_by(2).filter(|text| text.starts_with("keyhoard ")) {
            if hints.iter().all(|hint| hint != quoted) {
                hints.push(quoted.to_owned());
            }
        }
        hints
    }

    /// Runs a command that suggests others, and returns these.
    fn hints(&self, line: &str) -> Vec<String> {
        let hints = self.suggested(line);
        assert!(!hints.is_empty(), "{line} suggests nothing");
        hints
    }
}

/// What a user does, and sees suggestions after the last command.
const SUGGESTING: [&str; 36] = [
    "keyhoard --db none.db list",
    "keyhoard --db none.db status",
    "keyhoard key add-user-id example.org Somebody",
    "keyhoard show nobody@nowhere.example",
    "keyhoard encrypt --to ben@example.org letter",
    "keyhoard generate --no-passphrase 'Second <second@example.org>'; keyhoard key revoke --yes second@example.org; \
     keyhoard encrypt --to ben@example.org letter",
    "keyhoard generate --no-passphrase 'Second <second@example.org>'; keyhoard encrypt --to ben@example.org letter",
    "keyhoard generate --no-passphrase 'Second <second@example.org>'; keyhoard verify ben.sig",
    "keyhoard trust disable ben@example.org; keyhoard encrypt --to ben@example.org letter",
    "keyhoard key certify --yes ben@example.org",
    "keyhoard trust explain ben@example.org",
    "keyhoard trust set unknown ann@example.org; keyhoard trust check",
    "keyhoard trust set unknown ann@example.org; keyhoard encrypt --to-self letter",
    "keyhoard trust set unknown ann@example.org; keyhoard sign -o message.pgp letter; keyhoard verify message.pgp",
    "keyhoard encrypt --to ann@example.org -o secret.pgp letter; keyhoard verify secret.pgp",
    "keyhoard encrypt --to ann@example.org -o secret.pgp letter; keyhoard import secret.pgp",
    "keyhoard sign -o message.pgp letter; keyhoard import message.pgp",
    "keyhoard undo 99",
    "keyhoard key set-expiry ann@example.org 2y",
    "keyhoard key set-expiry ann@example.org 30d; keyhoard status",
    "keyhoard key revoke --yes ann@example.org",
    "keyhoard key revoke --yes ann@example.org; keyhoard status",
    "keyhoard key revocation-certificate -o revocation ann@example.org; keyhoard import revocation",
    "keyhoard undo; keyhoard status",
    "keyhoard undo; keyhoard undo; keyhoard status",
    "keyhoard undo 1",
    "keyhoard undo 1; keyhoard doctor",
    "keyhoard undo 1; keyhoard undo 1",
    "keyhoard key add-subkey ann@example.org --for sign; keyhoard undo; keyhoard doctor",
    "keyhoard import ben.pgp; keyhoard undo 2",
    "keyhoard delete --yes ben@example.org",
    "keyhoard key delete --yes ann@example.org; keyhoard undo",
    "keyhoard key delete --yes ann@example.org",
    "keyhoard generate < /dev/null",
    "keyhoard tofu list",
    "keyhoard status",
];

/// Runs a command as it is printed, on a terminal whose user agrees to what is asked; returns the exit code and what is
/// shown.
fn follow(user: &User, hint: &str) -> (Option<i32>, String) {
    let home = user.home.path().display();
    let line = format!("cd {home}; unset GNUPGHOME; export HOME={home} PATH={home}/programs:$PATH; {hint}");
    let mut terminal = Terminal::new(&user.home, &line);
    if hint.contains("key certify") {
        terminal.answer("[y/N] ", b"y\n");
    }
    if hint.ends_with("keyhoard generate") || hint.contains("db generate") {
        terminal.answer("Name (may be empty): ", b"Cleo\n");
        terminal.answer("Mail address (may be empty): ", b"cleo@example.org\n");
    }
    if hint.contains(" generate") {
        terminal.answer("(empty for none): ", b"abc\n");
        terminal.answer("Once more: ", b"abc\n");
    }
    terminal.end()
}

#[test]
fn every_suggested_command_succeeds_as_it_is_printed() {
    let ben = OwnKey::new("Ben <ben@example.org>");
    let signature = Run::gpg(ben.home()).arg("--detach-sign").stdin("text\n").succeed().stdout;
    let ben = ben.certificate();
    let user = || {
        let user = User::with_key_and(&ben);
        user.home.write("FILE", &ben);
        user.home.write("ben", "text\n");
        user.home.write("ben.sig", &signature);
        user
    };
    let mut followed = 0;
    for line in SUGGESTING {
        let (before, last) = line.rsplit_once("; ").unwrap_or(("true", line));
        // Each of the commands that are suggested is followed by a user of its own.
        for index in 0.. {
            let user = user();
            user.run(before);
            let mut hints = user.suggested(last);
            // Nothing here goes to the network.
            hints.retain(|hint| ["fetch", "search --on", "refresh"].iter().all(|word| !hint.contains(word)));
            let Some(hint) = hints.get(index) else { break };
            let (code, shown) = follow(&user, hint);
            assert_eq!(code, Some(0), "{line} suggests {hint}: {shown}");
            followed += 1;
        }
    }
    assert!(followed >= 30, "{followed}");
}

#[test]
fn of_several_own_keys_the_first_that_can_certify_is_suggested_unless_there_is_a_default_key() {
    let user = User::with_keys();
    user.succeed("keyhoard generate --no-passphrase 'Second <second@example.org>'");
    let own = |name: &str| {
        let listed = user.succeed(&format!("keyhoard --json list {name}"));
        let key: serde_json::Value =
            serde_json::from_str(listed.lines().next().expect("a key")).expect("JSON");
        key["fingerprint"].as_str().expect("a fingerprint").to_owned()
    };
    let encrypt = "keyhoard encrypt --to ben@example.org letter";
    let suggested =
        |user: &User| user.hints(encrypt).into_iter().find(|hint| hint.contains("certify")).expect("one");
    let [ann, ben] = ["ann@example.org", "ben@example.org"].map(own);
    assert_eq!(suggested(&user), format!("keyhoard key certify --by {ann} {ben}"));
    let directory = user.home.of_user().join(".config/keyhoard");
    fs::create_dir_all(&directory).expect("a new directory");
    fs::write(directory.join("config.toml"), "default-key = \"second@example.org\"\n").expect("a new file");
    assert_eq!(suggested(&user), format!("keyhoard key certify {ben}"));
    fs::remove_file(directory.join("config.toml")).expect("it was there");
    user.succeed("keyhoard key revoke --yes ann@example.org");
    assert_eq!(suggested(&user), format!("keyhoard key certify {ben}"), "one is left");
}

#[test]
fn status_suggests_no_undo_where_nothing_is_left() {
    let user = User::with_keys();
    user.succeed("keyhoard undo; keyhoard undo");
    let shown = user.succeed("keyhoard status");
    assert!(!shown.contains("`keyhoard undo"), "{shown}");
}

#[test]
fn a_directory_that_is_no_store_is_not_suggested_for_migration() {
    let user = User::with_keys();
    let done = user.run("keyhoard import programs");
    assert!(done.errors().contains("is a directory; name the files in it"), "{}", done.errors());
    assert!(!done.errors().contains("migrate"), "{}", done.errors());
}

#[test]
fn a_check_before_any_migration_says_that_nothing_was_migrated() {
    let user = User::with_keys();
    let told = user.succeed("keyhoard migrate --check");
    assert!(told.contains("nothing was migrated yet"), "{told}");
}

#[test]
fn one_suggested_command_takes_over_what_changed_in_a_home_of_gnupg() {
    let user = User::new();
    fs::remove_file(user.home.path().join("gpg.conf")).expect("it was there");
    let gpg = "gpg --batch --pinentry-mode loopback --passphrase ''";
    user.succeed(&format!("{gpg} --quick-generate-key 'Me <me@example.org>' ed25519 sign never"));
    user.succeed("keyhoard migrate --secret-keys copy ~/.gnupg");
    let list = "gpg --with-colons --list-keys | grep ^fpr | cut -d: -f10";
    let key = user.run(list).text().lines().last().expect("a fingerprint").to_owned();
    user.succeed(&format!("sleep 1; {gpg} --quick-add-key {key} cv25519 encr never"));
    user.run("gpgconf --kill all");
    for line in ["keyhoard migrate --check", "keyhoard status", "keyhoard list"] {
        let hints = user.hints(line).into_iter().filter(|hint| hint.contains("migrate"));
        let home = user.home.path().join(".gnupg");
        let expected = format!("keyhoard migrate --secret-keys copy {}", home.display());
        assert_eq!(hints.collect::<Vec<String>>(), [expected], "{line}");
    }
    // gpg made its tofu.db since.
    assert!(!user.succeed("keyhoard key list").contains("`keyhoard migrate`"));
    let hint = user.hints("keyhoard migrate --check").remove(0);
    user.succeed(&hint);
    let check = user.succeed("keyhoard migrate --check");
    assert!(check.contains("nothing has changed"), "{check}");
    assert_eq!(user.succeed("keyhoard --json key list").lines().count(), 2, "the new subkey is here");
}

#[test]
fn keys_that_only_gnupg_has_and_keys_of_other_databases_are_told() {
    let user = User::with_keys();
    user.succeed("keyhoard --db other.db generate --no-passphrase 'Other <other@example.org>'");
    let listed = user.succeed("keyhoard key list");
    assert!(listed.contains("(of another database: ") && listed.contains("other.db)"), "{listed}");
    let gpg = "gpg --batch --pinentry-mode loopback --passphrase ''";
    user.succeed(&format!("{gpg} --quick-generate-key 'Me <me@example.org>' ed25519 sign never"));
    user.run("gpgconf --kill all");
    assert_eq!(user.hints("keyhoard key list"), ["keyhoard migrate"]);
    user.succeed("keyhoard migrate");
    assert!(!user.succeed("keyhoard key list").contains("keyhoard migrate"));
}

#[test]
fn a_word_of_gpgs_is_answered_with_the_command_that_does_the_same() {
    let user = User::with_keys();
    for (line, meant) in [
        ("keyhoard --import ben.pgp", "keyhoard import"),
        ("keyhoard --dearmor", "keyhoard sop dearmor"),
        ("keyhoard -e -r ben@example.org", "keyhoard encrypt"),
        ("keyhoard -a --export", "keyhoard export --armor"),
        ("keyhoard sign -u ann@example.org", "keyhoard sign --by"),
    ] {
        assert_eq!(user.hints(line), [meant], "{line}");
    }
    let told = user.run("keyhoard undo --yes").errors();
    assert!(!told.contains("as a value"), "{told}");
}

#[test]
fn nothing_succeeds_in_silence_where_a_person_would_wonder() {
    let user = User::with_keys();
    for (line, told) in [
        ("keyhoard signed-by ben@example.org", "no certificate here has a certification by them"),
        ("keyhoard tofu list", "no address came with several keys"),
        ("keyhoard key revocation-certificate -o revocation ann@example.org", "written to revocation"),
        ("keyhoard import revocation", "is revoked now"),
        ("keyhoard import ben.pgp", "certificate read"),
        ("keyhoard trust set never ben@example.org", "never trusted to certify others"),
        ("keyhoard delete --yes ben@example.org", "brings it back"),
        ("keyhoard undo", "1 certificate restored"),
        ("keyhoard log -n 1", "keyhoard undo"),
    ] {
        let done = user.run(line);
        let shown = done.text() + &done.errors();
        assert!(shown.contains(told), "{line}: {shown}");
    }
    user.succeed(
        "keyhoard key add-user-id --help > /dev/null; keyhoard delete --yes 'Ben <ben@example.org>'",
    );
    assert!(user.succeed("keyhoard log -n 1").contains("delete --yes 'Ben <ben@example.org>'"));
}

#[test]
fn a_command_that_reads_from_the_terminal_says_that_it_waits() {
    let user = User::with_keys();
    for command in ["decrypt", "verify", "sign", "import"] {
        let mut terminal = Terminal::new(&user.home, &format!("$KEYHOARD {command}"));
        terminal.answer("end with Ctrl-D, or name a file\r\n", b"\x04");
        terminal.end();
    }
}

#[test]
fn trust_explain_suggests_a_command_that_makes_the_certifications_count() {
    let user = User::with_keys();
    let ben = OwnKey::new("Ben the Certifier <certifier@example.org>");
    let cleo = OwnKey::new("Cleo <cleo@example.org>");
    ben.import(cleo.certificate());
    ben.certify("20240301T000000!", cleo.fingerprint());
    user.home.write("certifier.pgp", ben.certificate());
    user.home.write("cleo.pgp", ben.certificate_of(cleo.fingerprint()));
    user.succeed(
        "keyhoard import certifier.pgp cleo.pgp && keyhoard key certify --yes certifier@example.org",
    );
    let hints = user.hints("keyhoard trust explain cleo@example.org");
    assert_eq!(hints, [format!("keyhoard trust set full {}", ben.fingerprint())]);
    user.succeed(&hints[0]);
    assert!(user.succeed("keyhoard trust explain cleo@example.org").contains("[full]"));
}

#[test]
fn a_revocation_suggests_an_undo_that_takes_it_back() {
    let user = User::with_keys();
    let hints = user.hints("keyhoard key revoke --yes ann@example.org");
    assert!(hints[0].ends_with("--including-revocations"), "{hints:?}");
    user.succeed(&hints[0]);
    assert!(user.succeed("keyhoard list ann@example.org").contains("[your own]"));
}

#[test]
fn an_earlier_expiry_date_suggests_an_undo_that_takes_it_back() {
    let user = User::with_keys();
    let hints = user.hints("keyhoard key set-expiry ann@example.org 30d");
    // The new self-signature is made a second later than the one of the same second that it replaces.
    assert!(hints[0].ends_with("--including-revocations"), "{hints:?}");
    user.succeed(&hints[0]);
    assert!(!user.succeed("keyhoard list ann@example.org").contains("[expires"));
}

#[test]
fn a_suggestion_names_the_database_that_was_named() {
    let user = User::with_keys();
    user.succeed("keyhoard --db other.db import ben.pgp");
    let hints = user.hints("keyhoard --db other.db delete --yes ben@example.org");
    assert!(hints[0].starts_with("keyhoard --db other.db undo"), "{hints:?}");
    user.succeed(&hints[0]);
    user.succeed("keyhoard --db other.db list ben@example.org");
}

#[test]
fn a_back_up_of_ones_own_key_says_how_to_trust_it_on_a_second_machine() {
    let user = User::with_keys();
    user.succeed("keyhoard key export --all --output secret-keys.asc");
    user.succeed("keyhoard encrypt -r ann@example.org --sign -o message.pgp letter");
    fs::create_dir(user.home.path().join("laptop")).expect("a directory");
    let on_laptop = "KEYHOARD_DB=laptop/keyhoard.db keyhoard";
    let imported = user.run(&format!("{on_laptop} import secret-keys.asc"));
    assert!(imported.errors().contains(SECOND), "{}", imported.errors());
    let before = user.succeed(&format!("{on_laptop} decrypt message.pgp"));
    assert!(before.contains("owner not verified") && before.contains("the secret key is here"), "{before}");
    let own = before.split('`').find(|text| text.starts_with("keyhoard trust set ultimate")).expect("a hint");
    user.succeed(&format!("KEYHOARD_DB=laptop/keyhoard.db {own}"));
    let after = user.succeed(&format!("{on_laptop} decrypt message.pgp"));
    assert!(after.contains("owner verified: your own key"), "{after}");
}

#[test]
fn an_import_on_a_terminal_asks_whether_a_key_is_ones_own() {
    let user = User::with_keys();
    user.succeed("keyhoard key export --all --output secret-keys.asc");
    let laptop = Home::new();
    let file = user.home.path().join("secret-keys.asc");
    let mut terminal = Terminal::new(&laptop, &format!("$KEYHOARD import {}", file.display()));
    terminal.answer("Is this your own key? [y/N] ", b"y\n");
    let (code, shown) = terminal.end();
    assert!(code == Some(0) && shown.contains("is ultimately trusted now"), "{shown}");
    let listed = Run::keyhoard(&laptop).args(["trust", "list"]).succeed().text();
    assert!(listed.contains("ultimate") && listed.contains("Ann"), "{listed}");
}

#[test]
fn doctor_knows_of_a_secret_key_whose_certificate_is_in_another_database() {
    let user = User::with_keys();
    user.succeed("keyhoard --db other.db generate --no-passphrase 'Other <other@example.org>'");
    let done = user.run("keyhoard doctor");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    let told = done.errors();
    assert!(told.contains("is in another database") && told.contains("other.db"), "{told}");
}

#[test]
fn doctor_never_suggests_to_delete_a_secret_key() {
    let user = User::with_keys();
    user.succeed("keyhoard delete --yes --despite-secret-key ann@example.org");
    let keys = user.home.database().with_file_name("secret-keys");
    let orphan = user.run("keyhoard doctor");
    assert_eq!(orphan.code, Some(1));
    let file = fs::read_dir(&keys).expect("keys").next().expect("a key").expect("an entry").path();
    fs::write(file.with_file_name("0123456789ABCDEF0123456789ABCDEF01234567.key"), "KHSK damaged")
        .expect("a file");
    let damaged = user.run("keyhoard doctor");
    for told in [orphan.text() + &orphan.errors(), damaged.text() + &damaged.errors()] {
        assert!(!told.contains("delete"), "{told}");
    }
    assert!((orphan.text() + &orphan.errors()).contains("keep the file"));
}

#[test]
fn an_impostor_with_the_same_address_does_not_block_the_certified_key() {
    let user = User::with_keys();
    user.succeed("keyhoard key certify --yes ben@example.org");
    let impostor = OwnKey::new("Ben <ben@example.org>");
    user.home.write("impostor.pgp", impostor.certificate());
    user.succeed("keyhoard import impostor.pgp");
    let done = user.run("keyhoard encrypt -r ben@example.org -o message.pgp letter");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert!(!done.errors().contains(impostor.fingerprint()), "{}", done.errors());
}

#[test]
fn of_several_certificates_that_cannot_be_used_each_has_its_reason_and_ten_are_listed() {
    let user = User::with_keys();
    for number in 0..11 {
        let key = OwnKey::new(&format!("Dora {number} <dora@example.org>"));
        if number == 0 {
            key.set_expiry("20240201T000000!", "20240301T000000");
        }
        user.home.write("dora.pgp", key.certificate());
        user.succeed("keyhoard import dora.pgp");
    }
    let done = user.run("keyhoard encrypt -r dora@example.org letter");
    assert_eq!((done.code, done.stdout.len()), (Some(1), 0));
    let told = done.errors();
    assert_eq!(told.matches("[owner not verified: no trusted key certifies it]").count(), 10, "{told}");
    assert!(told.contains("and 1 more"), "{told}");
    let expired = user.run("keyhoard encrypt -r 'Dora 0' letter").errors();
    assert!(expired.contains("expired 2024-03-01") && expired.contains("keyhoard refresh"), "{expired}");
}

#[test]
fn the_output_may_be_a_descriptor_or_a_named_pipe_and_never_the_database() {
    let user = User::with_keys();
    for line in [
        "keyhoard export -o /dev/stdout --binary ben@example.org | cat > exported",
        "keyhoard export -o /dev/fd/3 --binary ben@example.org 3> exported",
        "mkfifo pipe && (cat pipe > exported & keyhoard export -o pipe --binary ben@example.org; wait)",
    ] {
        let _ = fs::remove_file(user.home.path().join("exported"));
        user.succeed(line);
        let exported = fs::read(user.home.path().join("exported")).expect("a file");
        assert!(!exported.is_empty(), "{line}");
    }
    let database = user.home.database();
    let done = user.run(&format!("keyhoard export --force -o {}", database.display()));
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("input and output are the same file"), "{}", done.errors());
}
