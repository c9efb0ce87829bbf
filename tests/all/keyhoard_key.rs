//! `keyhoard key`: the life of a key, and what it certifies.

use std::path::Path;

use harness::{Engine, Home, Output, Run, alice_and_bob};

harness::on_both_engines! {
    an_edit_reports_its_changes_and_can_be_undone
    the_expiry_and_the_primary_user_id_of_a_key_can_be_changed
    nothing_is_certified_or_revoked_unless_yes_is_given
    a_certification_counts_until_it_is_revoked
    a_revocation_certificate_is_written_and_revokes_when_it_is_imported
    without_a_secret_key_nothing_can_be_changed
}

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";
const TIME: &str = "20260201T000000";
/// A signature that replaces one of the same second is made a second later.
const SOON: &str = "20260201T000010";

/// A home with Alice's and Bob's keys, the secret ones too.
fn home(engine: Engine) -> Home {
    let home = engine.home();
    let file = alice_and_bob();
    Run::gpg_keyhoard(&home).args(["--batch", "--import"]).arg(file).succeed();
    home
}

fn at(home: &Home, time: &str, words: &[&str]) -> Output {
    Run::keyhoard(home).args(["--faked-system-time", time]).args(words).output()
}

fn key(home: &Home, words: &[&str]) -> Output {
    let done = at(home, TIME, &[&["key"], words].concat());
    assert_eq!(done.code, Some(0), "{words:?}: {}", done.errors());
    done
}

fn listing(home: &Home) -> serde_json::Value {
    let text = at(home, SOON, &["list", "--json", ALICE]).text();
    serde_json::from_str(&text).expect("a document")
}

fn an_edit_reports_its_changes_and_can_be_undone(engine: Engine) {
    let home = home(engine);
    let before = listing(&home);
    let text = key(&home, &["add-user-id", "--json", "alice@example.org", "New One"]).text();
    let said: serde_json::Value = serde_json::from_str(&text).expect("a document");
    assert_eq!((&said["fingerprint"], &said["signatures"]), (&ALICE.into(), &1.into()));
    assert_eq!(listing(&home)["user_ids"].as_array().map(Vec::len), Some(4));
    assert_eq!(at(&home, TIME, &["undo", &said["entry"].to_string()]).code, Some(0));
    assert_eq!(listing(&home)["user_ids"], before["user_ids"]);
}

fn the_expiry_and_the_primary_user_id_of_a_key_can_be_changed(engine: Engine) {
    let home = home(engine);
    key(&home, &["set-expiry", ALICE, "1y"]);
    assert_eq!(listing(&home)["expires"], "2027-02-01T00:00:00Z");
    key(&home, &["primary-user-id", ALICE, "Alice <alice@example.org>"]);
    assert_eq!(listing(&home)["user_ids"][0]["text"], "Alice <alice@example.org>");
    let subkeys = |home: &Home| listing(home)["subkeys"].as_array().expect("subkeys").clone();
    key(&home, &["set-expiry", ALICE, "never", "--subkeys"]);
    assert!(!subkeys(&home).is_empty() && subkeys(&home).iter().all(|subkey| subkey["expires"].is_null()));
    key(&home, &["add-subkey", ALICE, "--for", "sign,authenticate", "--expires", "30d"]);
    let added = subkeys(&home).pop().expect("the new subkey");
    assert_eq!(added["usage"], serde_json::json!(["sign", "authenticate"]));
    assert_eq!(added["expires"], "2026-03-03T00:00:00Z");
}

fn nothing_is_certified_or_revoked_unless_yes_is_given(engine: Engine) {
    let home = home(engine);
    for words in [&["certify", ALICE, "--by", BOB][..], &["revoke", ALICE]] {
        let done = at(&home, TIME, &[&["key"], words].concat());
        assert_eq!(done.code, Some(2));
        assert!(done.errors().contains("--yes"), "{}", done.errors());
    }
}

fn a_certification_counts_until_it_is_revoked(engine: Engine) {
    let home = home(engine);
    let certified = |home: &Home| {
        let text = at(home, "20260203T000000", &["who-signed", "--json", ALICE]).text();
        text.contains(BOB)
    };
    assert!(!certified(&home));
    key(&home, &["certify", ALICE, "--by", BOB, "--yes"]);
    assert!(certified(&home));
    let withdrawn = at(&home, "20260202T000000", &["key", "revoke-certification", ALICE, "--by", BOB]);
    assert_eq!(withdrawn.code, Some(0), "{}", withdrawn.errors());
    let again = at(&home, "20260202T000000", &["key", "certify", ALICE, "--by", BOB, "--yes"]);
    assert_eq!(again.code, Some(0), "{}", again.errors());
}

fn a_revocation_certificate_is_written_and_revokes_when_it_is_imported(engine: Engine) {
    let home = home(engine);
    let path = home.path().join("revocation.asc");
    let place = path.to_str().expect("text");
    key(&home, &["revocation-certificate", ALICE, "--reason", "retired", "--output", place]);
    assert_eq!(listing(&home)["standing"], "good");
    let text = std::fs::read_to_string(&path).expect("the file");
    assert!(text.contains("Comment: This is a revocation certificate"), "{text}");
    assert_eq!(at(&home, TIME, &["import", place]).code, Some(0));
    assert_eq!(listing(&home)["standing"], "revoked");
}

fn without_a_secret_key_nothing_can_be_changed(engine: Engine) {
    let home = engine.home();
    let file = alice_and_bob();
    let public = Run::gpg_keyhoard(&home_of(engine, &file)).args(["--export", ALICE]).succeed().stdout;
    Run::keyhoard(&home).arg("import").stdin(public).succeed();
    let done = at(&home, TIME, &["key", "add-user-id", ALICE, "New One"]);
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("no secret key"), "{}", done.errors());
}

fn home_of(engine: Engine, file: &Path) -> Home {
    let home = engine.home();
    Run::gpg_keyhoard(&home).args(["--batch", "--import"]).arg(file).succeed();
    home
}

#[test]
fn preferences_are_set_where_certificates_of_each_version_have_them() {
    for (profile, signatures) in [("compatible", 1), ("modern", 1), ("post-quantum", 1)] {
        let home = Home::new();
        let generate = ["generate", "--no-passphrase", "--profile", profile, "ann@example.org"];
        assert_eq!(at(&home, "20260101T000000", &generate).code, Some(0));
        let set = ["set-preferences", "--json", "ann@example.org"];
        let options =
            ["--ciphers", "camellia256,aes256", "--aead", "aes256-gcm,aes128-ocb", "--digests", "sha384"];
        let said = key(&home, &[&set[..], &options].concat()).text();
        let said: serde_json::Value = serde_json::from_str(&said).expect("a document");
        assert_eq!(said["signatures"], signatures, "{profile}");
        let shown = || {
            let text = at(&home, "20260401T000000", &["show", "--json", "ann@example.org"]).text();
            serde_json::from_str::<serde_json::Value>(&text).expect("a document")["preferences"].clone()
        };
        let preferences = shown();
        assert_eq!(preferences["ciphers"].to_string(), r#"["CAMELLIA256","AES256"]"#, "{profile}");
        assert_eq!(preferences["digests"].to_string(), r#"["SHA384"]"#, "{profile}");
        assert_eq!(
            preferences["ciphersuites"].to_string(),
            r#"[["AES256","GCM"],["AES","OCB"]]"#,
            "{profile}"
        );
        assert_eq!(preferences["features"].to_string(), r#"["SEIPD 1","SEIPD 2"]"#, "{profile}");
        let set = ["key", "set-preferences", "ann@example.org", "--no-aead"];
        assert_eq!(at(&home, "20260301T000000", &set).code, Some(0));
        let preferences = shown();
        assert_eq!(preferences["ciphersuites"].to_string(), "[]", "{profile}");
        assert_eq!(preferences["features"].to_string(), r#"["SEIPD 1"]"#, "{profile}");
        assert_eq!(preferences["digests"].to_string(), r#"["SHA384"]"#, "{profile}");
        let refused = at(&home, TIME, &["key", "set-preferences", "ann@example.org"]);
        assert!(refused.errors().contains("--ciphers"), "{}", refused.errors());
    }
}

#[test]
fn a_message_is_encrypted_with_the_first_preferred_pair_of_cipher_and_mode_that_can_be_written() {
    for profile in ["compatible", "modern"] {
        for (pairs, cipher, mode) in [
            ("camellia192-eax,aes256-gcm", "CAMELLIA192", "EAX"),
            ("aes192-gcm,camellia256-ocb", "AES192", "GCM"),
            // Nobody here has an implementation of Twofish in these modes.
            ("twofish-ocb,camellia256-ocb,aes256-gcm", "CAMELLIA256", "OCB"),
            ("twofish-eax,twofish-gcm,aes256-gcm", "AES256", "GCM"),
            ("twofish-ocb", "AES", "OCB"),
        ] {
            let home = Home::new();
            let generate = ["generate", "--no-passphrase", "--profile", profile, "ann@example.org"];
            assert_eq!(at(&home, "20260101T000000", &generate).code, Some(0));
            key(&home, &["set-preferences", "ann@example.org", "--aead", pairs]);
            let file = home.path().join("message");
            let file = file.to_str().expect("a name");
            let encrypt = ["--json", "encrypt", "--to", "ann@example.org", "--output", file];
            let run = Run::keyhoard(&home).args(["--faked-system-time", "20260401T000000"]);
            let told = run.args(encrypt).stdin("text").succeed().text();
            let told: serde_json::Value = serde_json::from_str(&told).expect("a document");
            assert_eq!((&told["cipher"], &told["aead"]), (&cipher.into(), &mode.into()), "{profile} {pairs}");
            assert_eq!(at(&home, "20260401T000000", &["decrypt", file]).text(), "text", "{profile} {pairs}");
        }
    }
}
