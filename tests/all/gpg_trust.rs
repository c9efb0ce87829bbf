//! Owner trust as `gpg-keyhoard` exchanges it with gpg, and asks for it.

use harness::colons::records;
use harness::{Both, Engine, Gnupg, Home, Keyring, Output, OwnKey, Reference, Run, Victim, colons};
use lab::made::Web;

harness::on_both_engines! {
    the_issuer_of_a_certification_does_not_depend_on_certificates_that_claim_its_key
}

/// A Debian developer whose key certified others of the keyring.
const DEVELOPER: &str = "9C31503C6D866396";

/// Returns the lines of an export by keys: the first one is a remark with the time.
fn owner_trust(done: &Output) -> Vec<String> {
    let mut lines: Vec<String> = done.text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn gpg_owner_trust_is_read_and_written_as_gpg_does() {
    let both = Both::new();
    let text = "# a remark\n\n0123456789ABCDEF0123456789ABCDEF01234567:5:\n\
                0123456789abcdef0123456789ABCDEF01234568: 134:\n0123:5:\n\
                0123456789ABCDEF0123456789ABCDEF01234569:x\n0123456789ABCDEF0123456789ABCDEF01234567\n\
                0123456789ABCDEF0123456789ABCDEF01234567:4:\nno end:5:";
    let files = [&both.gpg, &both.keyhoard].map(|home| home.write("trust", text));
    let import = |run: Run, file: &std::path::Path| {
        run.at("20260101T000000!").arg("--import-ownertrust").arg(file).output()
    };
    let gpg = import(Run::gpg(&both.gpg).arg("--trust-model").arg("pgp"), &files[0]);
    let keyhoard = import(Run::gpg_keyhoard(&both.keyhoard), &files[1]);
    let told = |done: &Output| -> Vec<String> {
        let lines = done.errors();
        let own = |line: &&str| line.contains("ownertrust") || line.contains("error in");
        lines.lines().filter(own).map(|line| line.rsplit(": ").next().unwrap_or(line).to_owned()).collect()
    };
    assert_eq!(told(&keyhoard), told(&gpg));
    assert_eq!(keyhoard.code, gpg.code);
    let [gpg, keyhoard] = both.run(["--export-ownertrust"]);
    assert_eq!(owner_trust(&keyhoard), owner_trust(&gpg));
    assert_eq!(keyhoard.text().lines().count(), 4);
}

#[test]
fn gpg_prints_the_usage_of_trust_commands() {
    let both = Both::new();
    for words in [
        &["--export-ownertrust", "one"][..],
        &["--import-ownertrust", "one", "two"],
        &["--update-trustdb", "one"],
    ] {
        let [gpg, keyhoard] = both.run([&["--status-fd", "1"][..], words].concat());
        assert_eq!((keyhoard.text(), keyhoard.code), (gpg.text(), gpg.code), "{words:?}");
        assert!(keyhoard.errors().contains("usage: gpg [options] --"), "{}", keyhoard.errors());
    }
}

#[test]
fn gpg_asks_for_owner_trust_level_by_level() {
    let both = Both::of(Reference::Developers);
    let answers = "4\n".repeat(2000);
    both.gpg.write("answers", &answers);
    both.keyhoard.write("answers", &answers);
    for (run, home) in [(Run::gpg(&both.gpg), &both.gpg), (Run::gpg_keyhoard(&both.keyhoard), &both.keyhoard)]
    {
        let options =
            ["--trust-model", "pgp", "--max-cert-depth", "2", "--trusted-key", DEVELOPER, "--command-file"];
        run.at(both.clock()).args(options).arg(home.path().join("answers")).arg("--update-trustdb").succeed();
    }
    let [gpg, keyhoard] = both.run(["--export-ownertrust"]);
    assert!(owner_trust(&gpg).len() > 100, "{}", gpg.text());
    assert_eq!(owner_trust(&keyhoard), owner_trust(&gpg));
}

#[test]
fn gpg_a_new_key_forgets_an_older_owner_trust_unless_that_is_to_be_kept() {
    for (option, kept) in [("no-keep-ownertrust", false), ("keep-ownertrust", true)] {
        let both = Both::with_trust();
        both.import_owner_trust("F6258DF2BFF9A73F5B1E15C306456DD791E95791:133:\n");
        for run in [Run::gpg(&both.gpg), Run::gpg_keyhoard(&both.keyhoard)] {
            run.args(["--import-options", option, "--import"]).arg(Keyring::Nonupload.path()).succeed();
        }
        let [gpg, keyhoard] = both.run(["--export-ownertrust"]);
        let expected = if kept { vec!["F6258DF2BFF9A73F5B1E15C306456DD791E95791:133:"] } else { vec![] };
        for done in [&gpg, &keyhoard] {
            let trusts = owner_trust(done).into_iter().filter(|line| !line.starts_with('#'));
            assert_eq!(trusts.collect::<Vec<_>>(), expected, "{option}");
        }
    }
}

/// All keys are rendered while their validity is computed, those that are named afterwards.
#[test]
fn gpg_a_listing_of_all_keys_shows_each_key_as_a_listing_by_name_does() {
    let web = Web { keys: 2000, certifications: 5, introducers: 30, seed: 7 };
    let home = Home::new();
    let mut certificates = Vec::new();
    web.write(&mut certificates).expect("a vector takes everything");
    let (certificates, trust) = (home.write("web.pgp", certificates), home.write("trust", web.owner_trust()));
    let run = || Run::gpg_keyhoard(&home).at("20260101T000000");
    run().args(["--allow-non-selfsigned-uid", "--import"]).arg(certificates).output();
    run().arg("--import-ownertrust").arg(trust).succeed();
    // The name of the keyring stands above all keys.
    let keys = |done: &Output| -> Vec<String> {
        done.text().lines().skip_while(|line| !line.starts_with("pub")).map(str::to_owned).collect()
    };
    for words in [&["--list-keys"][..], &["--with-colons", "--list-keys"], &["--list-sigs"]] {
        let all = keys(&run().args(words).succeed());
        let names = (0..web.keys).map(|number| web.fingerprint(number));
        let named = keys(&run().args(words).args(names).succeed());
        assert!(named.len() > 8000, "{words:?}: {} lines", named.len());
        assert!(all == named, "{words:?}");
    }
}

#[test]
fn gpg_lists_the_owner_trust_and_the_validities_that_a_trust_database_would_hold() {
    let both = Both::of(Reference::Nonupload).trusting();
    let [gpg, keyhoard] = both.run(["--with-colons", "--list-keys"]);
    assert_eq!(gpg.text().lines().count(), keyhoard.text().lines().count());
    let fingerprints: Vec<String> = colons::records(&keyhoard.stdout)
        .windows(2)
        .filter(|pair| pair[0].kind() == "pub")
        .map(|pair| pair[1].text(10))
        .collect();
    both.import_owner_trust(&format!("{}:6:\n{}:5:\n", fingerprints[0], fingerprints[1]));
    both.run(["--check-trustdb"]);
    let [gpg, keyhoard] = both.run(["--list-trustdb"]).map(|done| {
        let mut records: Vec<String> = done.text().lines().filter_map(trust_record).collect();
        records.sort();
        records
    });
    assert_eq!(keyhoard, gpg);
    assert!(
        gpg.iter().any(|record| record.contains("ot=6")) && gpg.iter().any(|record| record.contains("v=6"))
    );
}

/// Returns what a line of `--list-trustdb` says of a key or user ID, without where else to look.
fn trust_record(line: &str) -> Option<String> {
    let (_, record) = line.strip_prefix("rec ")?.split_once(", ")?;
    let fields: Vec<&str> = record.split(", ").collect();
    match fields.as_slice() {
        [key, owner_trust, ..] if key.starts_with("trust ") => Some(format!("{key} {owner_trust}")),
        [name, validity, ..] if name.starts_with("valid ") => Some(format!("{name} {validity}")),
        _ => None,
    }
}

#[test]
fn a_revoked_key_introduces_nobody_even_if_it_is_trusted_ultimately() {
    let (ann, bob) = (OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>"));
    ann.import(bob.certificate());
    ann.certify("20240601T000000!", bob.fingerprint());
    for gnupg in Gnupg::ALL {
        let both = Both::with_trust().with(gnupg);
        let import = |name, bytes| both.import(both.gpg.write(name, bytes));
        import("both.pgp", [ann.certificate(), ann.certificate_of(bob.fingerprint())].concat());
        both.import_owner_trust(&format!("{}:6:\n", ann.fingerprint()));
        let validities = || {
            both.run(["--with-colons", "--list-keys", "bob@example.org"]).map(|listed| {
                let all = records(&listed.stdout);
                all.iter().find(|record| record.kind() == "uid").map(|uid| uid.text(2))
            })
        };
        assert_eq!(validities(), ["f", "f"].map(|letter| Some(letter.to_owned())), "{gnupg:?}");
        import("revocation.pgp", ann.revocation());
        // gpg 2.4.9 goes on believing the key.
        let gpgs = if gnupg == Gnupg::V2_4 { "f" } else { "-" };
        assert_eq!(validities(), [gpgs, "-"].map(|letter| Some(letter.to_owned())), "{gnupg:?}");
    }
}

#[test]
fn gpg_check_trustdb_tells_which_ultimately_trusted_keys_are_missing_or_expired() {
    let ann = OwnKey::new("Ann <ann@example.org>");
    ann.set_expiry("20240102T000000!", "20250101T000000");
    for gnupg in Gnupg::ALL {
        let both = Both::with_trust().with(gnupg);
        both.import(both.gpg.write("ann.pgp", ann.certificate()));
        let missing = "0123456789ABCDEF0123456789ABCDEF01234567";
        both.import_owner_trust(&format!("{}:6:\n{missing}:6:\n", ann.fingerprint()));
        for option in ["--batch", "--quiet"] {
            let told = both.run([option, "--yes", "--check-trustdb"]).map(|done| {
                let errors = done.errors();
                let lines = errors.lines().filter(|line| !line.contains("faked system time"));
                (lines.map(str::to_owned).collect::<Vec<_>>(), done.code)
            });
            assert!(told[0].0.iter().any(|line| line.contains("89ABCDEF01234567 not found")), "{told:?}");
            assert_eq!(told[0], told[1], "{gnupg:?} {option}");
        }
    }
}

#[test]
fn gpg_check_trustdb_without_an_ultimately_trusted_key_says_so() {
    let home = Home::new();
    let done = Run::gpg_keyhoard(&home).args(["--trust-model", "pgp", "--check-trustdb"]).succeed();
    assert!(done.errors().contains("gpg: no ultimately trusted keys found"), "{}", done.errors());
    let done = Run::gpg_keyhoard(&home).args(["--trust-model", "always", "--check-trustdb"]).succeed();
    assert!(
        done.errors().contains("no need for a trustdb check with 'always' trust model"),
        "{}",
        done.errors()
    );
}

fn the_issuer_of_a_certification_does_not_depend_on_certificates_that_claim_its_key(engine: Engine) {
    use packet_builder::{Certificate, Key, Signature, Signed};
    const BOB: &str = "Bob <bob@example.org>";
    let (ann, bob) = (Victim::new(), Key::ed25519("Bob"));
    let mut certified = Certificate::new(&bob, BOB);
    let signed = Signed::UserId(&bob, BOB.as_bytes());
    certified.add(Signature::new(0x10).sign(&ann.primary, &signed));
    for is_first in [true, false] {
        let home = engine.home();
        let mut certificates = [ann.claimants(20), ann.certificate.clone(), certified.bytes()];
        if is_first {
            certificates.reverse();
        }
        for certificates in certificates {
            Run::gpg_keyhoard(&home).arg("--import").stdin(certificates).succeed();
        }
        let key = ann.primary.fingerprint_text();
        let list = ["--trust-model", "pgp", "--trusted-key", &key, "--with-colons", "--check-signatures"];
        let listing = Run::gpg_keyhoard(&home).args(list).arg("bob@example.org").succeed().text();
        assert!(listing.lines().any(|line| line.starts_with("uid:f:")), "{listing}");
        let signature = listing.lines().find(|line| line.starts_with("sig:!") && line.contains("Ann"));
        assert!(signature.is_some_and(|line| line.contains(&key[24..])), "{listing}");
    }
}
