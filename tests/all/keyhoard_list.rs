//! `keyhoard list` and `keyhoard show`: text for people, JSON that loses nothing.

use harness::{Engine, Home, Keyring, OwnKey, Run};
use serde_json::Value;

harness::on_both_engines! {
    every_way_to_name_a_key_finds_it
    a_name_that_stands_for_nothing_is_exit_code_1_and_the_others_are_listed
    superseded_signatures_are_shown_unless_gpgs_view_is_asked_for
    a_revoked_user_id_and_an_expired_key_say_so
    user_ids_that_are_not_utf_8_come_out_of_json_byte_for_byte
    no_colours_reach_a_pipe_unless_they_are_forced
    a_listing_without_a_database_says_how_to_make_one
}

fn imported(engine: Engine, bytes: Vec<u8>) -> Home {
    let home = engine.home();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn every_way_to_name_a_key_finds_it(engine: Engine) {
    let key = OwnKey::new("Ann Example <ann@example.org>");
    let home = imported(engine, key.certificate());
    let fingerprint = key.fingerprint();
    let shown = Run::keyhoard(&home).args(["show", "--json", fingerprint]).succeed().text();
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let keygrip = format!("&{}", shown["keygrip"].as_str().expect("a keygrip"));
    let subkey = format!("{}!", shown["subkeys"][0]["key_id"].as_str().expect("a subkey"));
    let (long, short) = (&fingerprint[24..], &fingerprint[32..]);
    let names = [
        fingerprint,
        long,
        short,
        &keygrip,
        &subkey,
        "=Ann Example <ann@example.org>",
        "<ann@example.org>",
        "@example.org",
        "*nn exa",
        "EXAMPLE.ORG",
    ];
    for name in names {
        let listed = Run::keyhoard(&home).args(["list", name]).succeed().text();
        assert!(listed.starts_with(fingerprint), "{name}: {listed}");
    }
}

fn a_name_that_stands_for_nothing_is_exit_code_1_and_the_others_are_listed(engine: Engine) {
    let home = imported(engine, OwnKey::new("Ann <ann@example.org>").certificate());
    let done = Run::keyhoard(&home).args(["list", "nobody@example.org", "ann@example.org"]).output();
    assert_eq!(done.code, Some(1));
    assert!(done.errors().contains("nobody@example.org: not found"), "{}", done.errors());
    assert!(done.text().contains("Ann <ann@example.org>"), "{}", done.text());
}

fn superseded_signatures_are_shown_unless_gpgs_view_is_asked_for(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let old = key.certificate();
    key.set_expiry("20240201T000000!", "20300101T000000");
    let home = imported(engine, [old, key.certificate()].concat());
    let count = |arguments: &[&str]| {
        let list = Run::keyhoard(&home).args(["list", "--signatures", "--json"]).args(arguments);
        let listing = list.succeed().json_lines().remove(0);
        listing["user_ids"][0]["signatures"].as_array().expect("a list").len()
    };
    assert!(count(&[]) >= count(&["--gpg-view"]));
    assert_eq!(count(&[]), 2, "both self-signatures are kept");
}

fn a_revoked_user_id_and_an_expired_key_say_so(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    key.revoke_user_id("20240301T000000!", "Ann at work <ann@example.com>");
    key.set_expiry("20240302T000000!", "20250101T000000");
    let home = imported(engine, key.certificate());
    let text = Run::keyhoard(&home).at("20260101T000000").arg("list").succeed().text();
    assert!(text.contains("Ann at work <ann@example.com>  [revoked]"), "{text}");
    assert!(text.lines().next().is_some_and(|line| line.ends_with("[expired 2025-01-01]")), "{text}");
}

fn user_ids_that_are_not_utf_8_come_out_of_json_byte_for_byte(engine: Engine) {
    let home = imported(engine, Keyring::Maintainers.bytes());
    let listing = Run::keyhoard(&home).args(["list", "--json"]).succeed().json_lines();
    let user_ids = listing.iter().flat_map(|one| one["user_ids"].as_array().expect("a list"));
    let foreign: Vec<&Value> = user_ids.filter(|user_id| !user_id["octets"].is_null()).collect();
    assert_eq!(foreign.len(), 1, "Debian's keyring has one");
    assert!(foreign[0]["text"].as_str().expect("text").contains('\u{fffd}'));
}

fn no_colours_reach_a_pipe_unless_they_are_forced(engine: Engine) {
    let home = imported(engine, OwnKey::new("Ann <ann@example.org>").certificate());
    let list = |arguments: &[&str]| Run::keyhoard(&home).arg("list").args(arguments).succeed().text();
    assert!(!list(&[]).contains('\u{1b}'));
    assert!(list(&["--color", "always"]).contains("\u{1b}["));
}

fn a_listing_without_a_database_says_how_to_make_one(engine: Engine) {
    let home = engine.home();
    let done = Run::keyhoard(&home).arg("list").output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("keyhoard import"), "{}", done.errors());
    assert!(!home.has_database(), "looking makes nothing");
}
