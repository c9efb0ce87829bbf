//! What the door promises about the secret keys in a real gpg-agent.
#![cfg(feature = "agent")]

use std::path::Path;
use std::process::Command;

use keyhoard::Keyhoard;

fn run(program: &str, home: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).arg("--homedir").arg(home).args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn a_key_that_a_running_agent_has_signs_and_decrypts_and_none_is_started() {
    let directory = tempfile::tempdir().expect("a directory");
    let home = directory.path();
    let quick =
        ["--batch", "--passphrase", "", "--quick-generate-key", "Ann <ann@example.org>", "future-default"];
    run("gpg", home, &quick);
    let certificate = run("gpg", home, &["--export"]);

    let open = || Keyhoard::options().gnupg_home(home).open(home.join("keys.db"));
    let kh = open().expect("a database");
    kh.import(&certificate[..]).expect("imports");
    let ann = kh.certs().by_email("ann@example.org").expect("found").remove(0);
    let keys = kh.keys().of(&ann).expect("the agent's");
    assert!(keys.len() == 2 && keys.iter().all(|key| key.is_here), "{keys:?}");
    let message = kh.encrypt().to(&ann).sign_with(&ann).bytes("Hello").expect("encrypts");
    let (text, decrypted) = kh.decrypt().bytes(&message).expect("decrypts");
    assert!(text == b"Hello" && decrypted.verdicts.are_good());
    let own = kh.generate("Ben <ben@example.org>").create().expect("a key in files");
    assert_eq!(kh.keys().list().expect("both").len(), 4);
    kh.sign().with(&own).detached(&b"text"[..]).expect("signs");

    run("gpgconf", home, &["--kill", "gpg-agent"]);
    let gone = open().expect("the database").sign().with(&ann).detached(&b"text"[..]);
    assert_eq!(gone.expect_err("no agent runs").code(), "no-usable-key");
}

#[test]
fn an_agent_s_keys_are_used_with_a_database_in_a_file_only() {
    let home = tempfile::tempdir().expect("a directory");
    let refused = Keyhoard::options().gnupg_home(home.path()).open(":memory:").expect_err("in memory");
    assert_eq!(refused.code(), "incomplete");
}
