//! The tasks of an ordinary day: the command of each, and what its user must see.
//!
//! They are done one after the other by one user, who has a certificate of Ben's in `ben.pgp` and of Cleo's, expired, in
//! `cleo.pgp`, and a file `letter.txt`. In a command, `HINT` is what the task before suggested.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use harness::{Engine, OwnKey, Run};

harness::on_both_engines! {
    the_tasks_of_an_ordinary_day
}

/// What the user wants, the command, its exit code, and what must be shown.
type Task = (&'static str, &'static str, i32, &'static [&'static str]);

const TASKS: [Task; 70] = [
    (
        "see what there is, before there is anything",
        "keyhoard status",
        1,
        &["no database yet", "`keyhoard generate`"],
    ),
    (
        "list, before there is anything",
        "keyhoard list",
        2,
        &["there is no database", "`keyhoard import FILE`"],
    ),
    (
        "import a file that is something else",
        "keyhoard import letter.txt",
        1,
        &["letter.txt: no OpenPGP certificate"],
    ),
    (
        "import a URL",
        "keyhoard import https://example.org/a.asc",
        2,
        &["`keyhoard fetch https://example.org/a.asc`"],
    ),
    (
        "make a key",
        "keyhoard generate --no-passphrase 'Ann <ann@example.org>'",
        0,
        &["the key is made", "back-up"],
    ),
    (
        "see one's own key",
        "keyhoard key list",
        0,
        &["Ann <ann@example.org>", "primary", "without passphrase"],
    ),
    ("see what there is", "keyhoard status", 0, &["own key", "Ann <ann@example.org>", "last change"]),
    ("import a friend", "keyhoard import ben.pgp", 0, &["1  new"]),
    ("import the same again", "keyhoard import ben.pgp", 0, &["1  unchanged"]),
    ("import somebody expired", "keyhoard import cleo.pgp", 0, &["1  new"]),
    ("list a friend", "keyhoard list ben@example.org", 0, &["Ben <ben@example.org>"]),
    ("list with a typing mistake", "keyhoard list ben@exmaple.org", 1, &["did you mean ben@example.org"]),
    ("list what has expired", "keyhoard list --expired", 0, &["Cleo <cleo@example.org>", "[expired"]),
    ("list what is revoked", "keyhoard list --revoked", 1, &["no certificate matches"]),
    ("list one's own keys", "keyhoard list --secret", 0, &["Ann <ann@example.org>", "[your own]"]),
    ("list valid keys only", "keyhoard list --validity full", 0, &["Ann <ann@example.org>"]),
    ("list by algorithm", "keyhoard list --algorithm ed25519 ben@example.org", 0, &["Ben"]),
    ("show everything", "keyhoard show ben@example.org", 0, &["fingerprint", "standing"]),
    ("search", "keyhoard search example", 0, &["Ann", "Ben", "Cleo"]),
    ("search without a hit", "keyhoard search nobody-at-all", 1, &["no certificate here matches"]),
    (
        "encrypt to somebody not verified",
        "keyhoard encrypt --to ben@example.org letter.txt",
        1,
        &["owner not verified: no trusted key certifies it", "`keyhoard key certify"],
    ),
    (
        "encrypt to somebody expired",
        "keyhoard encrypt --to cleo@example.org letter.txt",
        1,
        &["expired", "`keyhoard refresh"],
    ),
    ("encrypt to nobody", "keyhoard encrypt letter.txt", 2, &["give --to or --password"]),
    (
        "certify a friend",
        "keyhoard key certify --yes ben@example.org",
        0,
        &["1 user ID certified", "`keyhoard undo"],
    ),
    (
        "why is the friend valid",
        "keyhoard trust explain ben@example.org",
        0,
        &["[full]", "Ann <ann@example.org>"],
    ),
    (
        "encrypt",
        "keyhoard encrypt -r ben@example.org -o to-ben.pgp letter.txt",
        0,
        &["encrypting to Ben <ben@example.org>", "to-ben.pgp"],
    ),
    (
        "encrypt over a file",
        "keyhoard encrypt -r ben@example.org -o to-ben.pgp letter.txt",
        2,
        &["the file exists already", "--force"],
    ),
    (
        "encrypt into the input",
        "keyhoard encrypt -r ben@example.org --force -o letter.txt letter.txt",
        2,
        &["input and output are the same file"],
    ),
    (
        "encrypt to oneself, too, and sign",
        "keyhoard encrypt -r ben@example.org --to-self --sign -o both.pgp letter.txt",
        0,
        &["both.pgp"],
    ),
    (
        "decrypt",
        "keyhoard decrypt both.pgp",
        0,
        &["Dear Ben", "GOOD signature by Ann <ann@example.org>, owner verified"],
    ),
    ("decrypt what is for somebody else", "keyhoard decrypt to-ben.pgp", 2, &["no password or secret key"]),
    (
        "encrypt with a password",
        "keyhoard encrypt --password-file letter.txt -o locked.pgp ben.pgp",
        0,
        &["locked.pgp"],
    ),
    (
        "decrypt with a password",
        "keyhoard decrypt --password-file letter.txt -o unlocked locked.pgp",
        0,
        &["unlocked"],
    ),
    (
        "sign",
        "keyhoard sign --detached -o letter.txt.sign letter.txt",
        0,
        &["signature written to letter.txt.sign"],
    ),
    (
        "verify",
        "keyhoard verify letter.txt.sign",
        0,
        &["GOOD signature by Ann <ann@example.org>, owner verified"],
    ),
    (
        "verify with a certificate in a file",
        "keyhoard export -o ann.pgp ann@example.org && KEYHOARD_DB=none.db keyhoard verify --signer-file ann.pgp \
         letter.txt.sign",
        0,
        &["GOOD signature by Ann"],
    ),
    (
        "verify without the key",
        "KEYHOARD_DB=none.db keyhoard verify letter.txt.sign",
        3,
        &["UNKNOWN KEY", "`keyhoard fetch"],
    ),
    (
        "verify what was changed",
        "echo more | cat letter.txt - > changed; keyhoard verify letter.txt.sign changed",
        1,
        &["BAD signature by Ann"],
    ),
    (
        "sign a text that everybody can read",
        "keyhoard sign --clear letter.txt",
        0,
        &["BEGIN PGP SIGNED MESSAGE"],
    ),
    ("export a friend", "keyhoard export --armor ben@example.org", 0, &["BEGIN PGP PUBLIC KEY BLOCK"]),
    ("export nobody", "keyhoard export nobody@nowhere.example", 1, &["not found", "nothing was exported"]),
    (
        "back up one's key",
        "keyhoard key export --all --output secret-keys.asc",
        0,
        &["secret keys of 1 certificate"],
    ),
    (
        "bring it to a second machine",
        "KEYHOARD_DB=laptop/keys.db keyhoard import secret-keys.asc",
        0,
        &["if this is your own key", "trust set ultimate"],
    ),
    (
        "decrypt one's own message there",
        "KEYHOARD_DB=laptop/keys.db keyhoard decrypt both.pgp",
        0,
        &["Dear Ben", "owner not verified", "the secret key is here"],
    ),
    ("do what is suggested there", "KEYHOARD_DB=laptop/keys.db HINT", 0, &["1 certificate"]),
    (
        "decrypt it there again",
        "KEYHOARD_DB=laptop/keys.db keyhoard decrypt both.pgp",
        0,
        &["Dear Ben", "owner verified: your own key"],
    ),
    ("trust a friend", "keyhoard trust set full ben@example.org", 0, &["1 certificate"]),
    ("list whom one trusts", "keyhoard trust list", 0, &["ultimate", "full", "Ben"]),
    ("disable a key", "keyhoard trust disable ben@example.org", 0, &["1 certificate"]),
    (
        "encrypt to a disabled key",
        "keyhoard encrypt -r ben@example.org letter.txt",
        1,
        &["disabled by you", "`keyhoard trust disable --off"],
    ),
    ("enable it again", "keyhoard trust disable --off ben@example.org", 0, &["1 certificate"]),
    ("let one's key expire", "keyhoard key set-expiry ann@example.org 30d", 0, &["`keyhoard undo"]),
    ("see that it expires soon", "keyhoard status", 0, &["expires soon", "key set-expiry"]),
    ("let it live longer", "keyhoard key set-expiry ann@example.org 2y", 0, &["`keyhoard undo"]),
    (
        "add an address",
        "keyhoard key add-user-id ann@example.org 'Ann <ann@new.example>'",
        0,
        &["`keyhoard undo"],
    ),
    ("see what was done", "keyhoard log -n 1", 0, &["add-user-id"]),
    ("take it back", "keyhoard undo", 0, &["undid entry"]),
    (
        "delete somebody",
        "keyhoard delete --yes cleo@example.org",
        0,
        &["1 certificate deleted", "`keyhoard undo"],
    ),
    (
        "make a second key with gpg, in its agent",
        "gpg --batch --pinentry-mode loopback --passphrase '' --quick-generate-key 'Work <ann@work.example>' \
         ed25519 sign never",
        0,
        &[],
    ),
    ("look for it", "keyhoard key list", 0, &["GnuPG has keys that are not here", "`keyhoard migrate`"]),
    ("copy it as suggested", "HINT", 0, &["certificate"]),
    ("see both keys", "keyhoard key list", 0, &["Work <ann@work.example>", "agent, without passphrase"]),
    (
        "sign with one of two keys",
        "keyhoard sign -o signed.pgp letter.txt",
        2,
        &["--by", "Ann <ann@example.org>", "Work <ann@work.example>"],
    ),
    ("name one as suggested", "keyhoard sign -o signed.pgp HINT letter.txt", 0, &["signed.pgp"]),
    (
        "sign with the key in the agent",
        "keyhoard sign --by ann@work.example letter.txt | keyhoard verify",
        0,
        &["GOOD signature by Work <ann@work.example>, owner verified"],
    ),
    ("say gpg's words", "keyhoard --list-secret-keys", 2, &["did you mean `keyhoard key list`?"]),
    ("say gpg's words without dashes", "keyhoard fingerprint ben@example.org", 0, &["fingerprint"]),
    ("get help", "keyhoard encrypt --help", 0, &["--to-self", "--help=all"]),
    ("see whether all is well", "keyhoard doctor", 0, &["sound"]),
    ("let a script ask", "keyhoard --json list nobody@nowhere.example", 1, &["\"error\":\"not_found\""]),
];

fn the_tasks_of_an_ordinary_day(engine: Engine) {
    let home = engine.home();
    let user = home.of_user();
    let programs = user.join("programs");
    fs::create_dir(&programs).expect("a directory");
    symlink(Run::program_path("keyhoard"), programs.join("keyhoard")).expect("a link");
    let (ben, cleo) = (OwnKey::new("Ben <ben@example.org>"), OwnKey::new("Cleo <cleo@example.org>"));
    cleo.set_expiry("20240201T000000!", "20240301T000000");
    fs::write(user.join("ben.pgp"), ben.certificate()).expect("a file");
    fs::write(user.join("cleo.pgp"), cleo.certificate()).expect("a file");
    fs::write(user.join("letter.txt"), "Dear Ben\n").expect("a file");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut failed = Vec::new();
    let mut hint = String::new();
    for (number, (wants, command, code, shows)) in TASKS.iter().enumerate() {
        let command = command.replace("HINT", &hint);
        let run = Run::new(Path::new("sh"), user).env("PATH", &path).env("KEYHOARD_DB", home.database());
        let done = run.current_dir(user).args(["-c", &command]).output();
        let shown = done.text() + &done.errors();
        hint = suggested(&shown).unwrap_or_default();
        let missing: Vec<&&str> = shows.iter().filter(|text| !shown.contains(**text)).collect();
        if done.code != Some(*code) || !missing.is_empty() {
            failed.push(format!(
                "{}. {wants}: {command}\nexit code {:?}, without {missing:?}:\n{shown}",
                number + 1,
                done.code
            ));
        }
    }
    Run::new(Path::new("gpgconf"), user).args(["--kill", "all"]).output();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns what a message suggests first: a command, or the option that names one of several keys.
fn suggested(shown: &str) -> Option<String> {
    let command = shown.split('`').skip(1).step_by(2).find(|text| text.starts_with("keyhoard "));
    let option = shown.find("--by ").and_then(|at| shown[at..].split("  ").next());
    command.or(option).map(str::to_owned)
}
