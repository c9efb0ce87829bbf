//! Secret keys of version 5 (LibrePGP) in files, beside the real gpg 2.4, whose agent has them.

use harness::colons::records;
use harness::{Both, Gnupg, Output, Run, packets};

/// What makes a program work without questions, with a passphrase.
const OPTIONS: [&str; 7] =
    ["--batch", "--pinentry-mode", "loopback", "--trust-model", "always", "--compliance", "gnupg"];
const NAME: &str = "V5 <v5@example.org>";

/// Runs a program with a passphrase.
fn with(run: Run, passphrase: &str) -> Run {
    run.args(OPTIONS).args(["--passphrase", passphrase])
}

/// Homes of gpg 2.4, the first with a key of version 5 and a subkey that encrypts; gpg-keyhoard has them in files, locked as gpg
/// exported them.
fn homes(passphrase: &str, algorithms: [&str; 2]) -> (Both, Vec<u8>) {
    let both = Both::with_agent().with(Gnupg::V2_4).now("20260201T000000!");
    let gpg = |words: &[&str]| with(both.run_of(true), passphrase).args(words).succeed().stdout;
    let [primary, subkey] = algorithms;
    gpg(&["--quick-generate-key", NAME, primary, "sign,cert", "never"]);
    let listed = gpg(&["--with-colons", "--list-keys"]);
    let key = records(&listed).iter().find(|record| record.kind() == "fpr").expect("a key").text(10);
    gpg(&["--quick-add-key", &key, subkey, "encr", "never"]);
    let exported = gpg(&["--export-secret-keys"]);
    let done = with(both.run_of(false), passphrase).arg("--import").stdin(exported.clone()).succeed();
    assert!(done.errors().contains("secret keys imported: 1"), "{}", done.errors());
    (both, exported)
}

/// Returns what `-K` says of keys, but for how valid they are.
fn keys(done: &Output) -> Vec<String> {
    let fields = |record: &harness::colons::Record<'_>| {
        let fields = [1, 3, 4, 5, 6, 10, 12, 15, 17, 18].map(|field| record.text(field));
        fields.join(":")
    };
    let all = records(&done.stdout);
    all.iter()
        .filter(|record| matches!(record.kind(), "sec" | "ssb" | "fpr" | "grp" | "uid"))
        .map(fields)
        .collect()
}

const PAIRS: [[&str; 2]; 4] =
    [["ed25519/v5", "cv25519/v5"], ["nistp256/v5", "nistp384/v5"], ["ed448", "cv448"], ["ed448", "cv448"]];
const PASSPHRASES: [&str; 4] = ["", "a passphrase", "", "a passphrase"];

#[test]
fn version_5_keys_in_files_are_listed_sign_and_decrypt_as_gpg_does_with_them() {
    let mut compared = 0;
    for (passphrase, algorithms) in PASSPHRASES.into_iter().zip(PAIRS) {
        let (both, _) = homes(passphrase, algorithms);
        let run = |gpg: bool, words: &[&str], input: &[u8]| {
            with(both.run_of(gpg), passphrase).args(words).stdin(input).succeed()
        };
        let [gpg, keyhoard] =
            [true, false].map(|gpg| keys(&run(gpg, &["--with-colons", "--with-keygrip", "-K"], b"")));
        assert_eq!(gpg, keyhoard);
        assert!(gpg.len() > 6, "{gpg:?}");
        for (writes, reads) in [(true, false), (false, true), (false, false)] {
            let encrypted = run(writes, &["-r", "v5@example.org", "-s", "-e"], b"a text");
            let read = run(reads, &["--status-fd", "2", "-d"], &encrypted.stdout);
            assert_eq!(read.text(), "a text");
            let told = read.errors();
            assert!(told.contains("GOODSIG") && told.contains("DECRYPTION_OKAY"), "{told}");
            let signed = run(writes, &["--clear-sign"], b"a text\n");
            assert!(
                run(reads, &["--status-fd", "2", "--verify"], &signed.stdout).errors().contains("GOODSIG")
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}

#[test]
fn version_5_secret_keys_are_exported_as_gpg_reads_them() {
    for (passphrase, algorithms) in PASSPHRASES.into_iter().zip(PAIRS) {
        let (both, exported) = homes(passphrase, algorithms);
        let ours = with(both.run_of(false), passphrase).arg("--export-secret-keys").succeed().stdout;
        let secret_keys = |bytes: &[u8]| -> Vec<Vec<u8>> {
            let certificates = packets::certificates(bytes);
            let components = certificates.iter().flat_map(|certificate| packets::components(certificate));
            components.map(|component| component.body.to_vec()).collect()
        };
        if passphrase.is_empty() {
            assert_eq!(secret_keys(&ours), secret_keys(&exported));
        }
        let other = Both::with_agent().with(Gnupg::V2_4).now(both.clock());
        let done = with(other.run_of(true), passphrase).arg("--import").stdin(ours.clone()).succeed();
        assert!(done.errors().contains("secret keys imported: 1"), "{}", done.errors());
        let encrypted =
            with(both.run_of(true), passphrase).args(["-r", "v5@example.org", "-e"]).stdin("a text");
        let read = with(other.run_of(true), passphrase).arg("-d").stdin(encrypted.succeed().stdout).succeed();
        assert_eq!(read.text(), "a text");
        // A subkey alone, with a stub in place of the primary key.
        let stubs = with(both.run_of(false), passphrase).arg("--export-secret-subkeys").succeed().stdout;
        let packets = both.run_of(true).arg("--list-packets").stdin(stubs).succeed().text();
        assert_eq!(packets.matches("gnu-dummy").count(), 1, "{packets}");
    }
}

#[test]
fn the_passphrase_of_a_version_5_key_in_files_is_changed() {
    let (both, _) = homes("first", PAIRS[0]);
    let run = |passphrase: &str| with(both.run_of(false), passphrase);
    let key = records(&run("first").args(["--with-colons", "-K"]).succeed().stdout)
        .iter()
        .find(|record| record.kind() == "fpr")
        .expect("a key")
        .text(10);
    let change =
        Run::keyhoard(&both.keyhoard).at("20260201T000000").args(["key", "passphrase", "--remove", &key]);
    change.args(["--passphrase-fd", "0"]).stdin("first\n").succeed();
    let signed = run("").arg("-s").stdin("a text").succeed().stdout;
    assert_eq!(run("").arg("-d").stdin(signed).succeed().text(), "a text");
}
