//! `keyhoard undo`: what an entry of the journal did is taken back, and what must not be is not.

use harness::{Engine, Home, OwnKey, Run};
use serde_json::Value;

harness::on_both_engines! {
    importing_undoing_and_importing_again_is_importing
    an_undo_removes_what_an_import_merged_and_nothing_else
    undoing_an_undo_repeats_the_command
    an_undo_without_a_number_goes_further_back_each_time
    packets_that_a_later_import_had_too_stay_unless_forced
    an_input_imported_again_without_changes_counts_as_a_later_import
    an_entry_that_changed_nothing_cannot_be_undone
    an_older_input_imported_again_does_not_protect_additions_made_in_between
    a_revocation_stays_unless_its_removal_is_requested
    a_revocation_is_removed_if_that_is_requested
    a_user_id_stays_revoked_while_other_additions_are_removed
    a_shortened_expiry_stays_and_a_lengthened_one_is_removed
    an_added_component_is_removed_even_if_it_was_imported_with_its_revocation
    a_forced_undo_does_not_lose_a_revocation_that_came_later
    an_undone_deletion_restores_the_position_of_the_certificate
    an_undo_restores_where_a_certificate_came_from_before
    an_undo_restores_the_owner_trust_before_the_command
    owner_trust_that_was_set_again_since_stays_unless_forced
    an_undone_deletion_restores_the_owner_trust
    a_dry_run_changes_nothing
    undoing_a_missing_or_undone_entry_is_a_clear_error
}

/// The command with JSON output, as of a time after everything that these tests make.
fn keyhoard(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).at("20260101T000000").arg("--json").args(arguments)
}

fn import(home: &Home, bytes: Vec<u8>) {
    keyhoard(home, &["import"]).stdin(bytes).succeed();
}

/// Everything about the certificates but when the database saw and changed them.
fn listing(home: &Home) -> Vec<Value> {
    let mut listing = keyhoard(home, &["list", "--signatures"]).output().json_lines();
    for certificate in &mut listing {
        let fields = certificate.as_object_mut().expect("an object");
        fields.remove("changed");
        fields.remove("first_seen");
    }
    listing
}

fn undo(home: &Home, arguments: &[&str]) -> Value {
    keyhoard(home, &["undo"]).args(arguments).succeed().json_lines().remove(0)
}

/// Undoes an entry of which everything stays.
fn undo_in_vain(home: &Home, arguments: &[&str]) -> Value {
    let entries = || keyhoard(home, &["log"]).succeed().json_lines();
    let before = entries();
    let done = keyhoard(home, &["undo"]).args(arguments).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let undone = done.json_lines().remove(0);
    assert_eq!(undone["entry"], Value::Null);
    assert_eq!(entries(), before, "nothing was undone");
    undone
}

fn export(home: &Home) -> Vec<u8> {
    Run::keyhoard(home).arg("export").output().stdout
}

fn importing_undoing_and_importing_again_is_importing(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let [once, again] = [engine.home(), engine.home()];
    import(&once, key.certificate());
    import(&again, key.certificate());
    assert_eq!(undo(&again, &[])["removed"], 1);
    assert_eq!(listing(&again), [] as [Value; 0]);
    import(&again, key.certificate());
    assert_eq!(listing(&again), listing(&once));
    assert_eq!(export(&again), export(&once));
}

fn an_undo_removes_what_an_import_merged_and_nothing_else(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    let (before, bytes_before) = (listing(&home), export(&home));
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    key.add_subkey("20240202T000000!");
    import(&home, key.certificate());
    let after = listing(&home);
    assert_ne!(after, before);
    let undone = undo(&home, &[]);
    assert_eq!((&undone["shrunk"], &undone["removed"]), (&1.into(), &0.into()));
    assert_eq!(listing(&home), before);
    assert_eq!(export(&home), bytes_before);
    import(&home, key.certificate());
    assert_eq!(listing(&home), after, "the input is not taken for one that is known");
}

fn undoing_an_undo_repeats_the_command(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    let before = listing(&home);
    let entry = undo(&home, &[])["entry"].to_string();
    assert_eq!(undo(&home, &[&entry])["restored"], 1);
    assert_eq!(listing(&home), before);
    assert_eq!(undo(&home, &[])["undone"], 1, "the first entry is in force again");
}

fn an_undo_without_a_number_goes_further_back_each_time(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    let home = engine.home();
    import(&home, ann.certificate());
    import(&home, bob.certificate());
    assert_eq!(undo(&home, &[])["undone"], 2);
    assert_eq!(undo(&home, &[])["undone"], 1);
    let done = keyhoard(&home, &["undo"]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("nothing to undo"), "{}", done.errors());
}

fn packets_that_a_later_import_had_too_stay_unless_forced(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    let home = engine.home();
    import(&home, ann.certificate());
    import(&home, [ann.certificate(), bob.certificate()].concat());
    let refused = keyhoard(&home, &["undo", "1"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains(ann.fingerprint()), "{}", refused.errors());
    assert_eq!(listing(&home).len(), 2);
    assert_eq!(undo(&home, &["1", "--force"])["removed"], 1);
    assert_eq!(listing(&home).len(), 1);
}

fn an_input_imported_again_without_changes_counts_as_a_later_import(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    import(&home, key.certificate());
    assert_eq!(keyhoard(&home, &["undo", "1"]).output().code, Some(2));
    undo(&home, &["2"]);
    assert_eq!(undo(&home, &["1"])["removed"], 1);
}

fn an_entry_that_changed_nothing_cannot_be_undone(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    (0..3).for_each(|_| import(&home, key.certificate()));
    let refused = keyhoard(&home, &["undo", "2"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("changed nothing that could be taken back"), "{}", refused.errors());
}

fn an_older_input_imported_again_does_not_protect_additions_made_in_between(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let old = key.certificate();
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    let home = engine.home();
    import(&home, old.clone());
    import(&home, key.certificate());
    import(&home, old);
    assert_eq!(undo(&home, &["2"])["shrunk"], 1);
}

fn a_revocation_stays_unless_its_removal_is_requested(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    import(&home, key.revocation());
    assert_eq!(listing(&home)[0]["standing"], "revoked");
    assert_eq!(undo_in_vain(&home, &[])["kept"][0]["what"], "revocation");
    let done = Run::keyhoard(&home).arg("undo").output();
    assert_eq!(done.code, Some(1));
    assert!(done.errors().contains("--including-revocations"), "{}", done.errors());
    assert!(done.errors().contains("did not undo entry 2"), "{}", done.errors());
    assert_eq!(listing(&home)[0]["standing"], "revoked");
    assert_eq!(undo(&home, &["--including-revocations"])["undone"], 2);
    assert_ne!(listing(&home)[0]["standing"], "revoked");
}

fn a_revocation_is_removed_if_that_is_requested(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    let before = listing(&home);
    import(&home, key.revocation());
    let undone = undo(&home, &["--including-revocations"]);
    assert_eq!(undone["kept"], Value::Array(vec![]));
    assert_eq!(listing(&home), before);
}

fn a_user_id_stays_revoked_while_other_additions_are_removed(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    let home = engine.home();
    import(&home, key.certificate());
    key.revoke_user_id("20240301T000000!", "Ann at work <ann@example.com>");
    key.add_user_id("20240302T000000!", "Ann elsewhere <ann@example.net>");
    import(&home, key.certificate());
    let undone = undo(&home, &[]);
    assert_eq!(undone["kept"][0]["what"], "revocation");
    let user_ids = listing(&home)[0]["user_ids"].clone();
    let names: Vec<_> =
        user_ids.as_array().expect("a list").iter().map(|one| (&one["text"], &one["standing"])).collect();
    let expected: [(&Value, &Value); 2] = [
        (&"Ann <ann@example.org>".into(), &"good".into()),
        (&"Ann at work <ann@example.com>".into(), &"revoked".into()),
    ];
    assert_eq!(names, expected);
}

fn a_shortened_expiry_stays_and_a_lengthened_one_is_removed(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    key.set_expiry("20240201T000000!", "20270101T000000");
    import(&home, key.certificate());
    assert_eq!(undo_in_vain(&home, &[])["kept"][0]["what"], "expiry");
    assert_eq!(listing(&home)[0]["expires"], "2027-01-01T00:00:00Z");

    key.set_expiry("20240301T000000!", "20280101T000000");
    import(&home, key.certificate());
    assert_eq!(listing(&home)[0]["expires"], "2028-01-01T00:00:00Z");
    let undone = undo(&home, &[]);
    assert_eq!(undone["kept"], Value::Array(vec![]));
    assert_eq!(listing(&home)[0]["expires"], "2027-01-01T00:00:00Z");
}

fn an_added_component_is_removed_even_if_it_was_imported_with_its_revocation(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, [key.certificate(), key.revocation()].concat());
    assert_eq!(listing(&home)[0]["standing"], "revoked");
    assert_eq!(undo(&home, &[])["removed"], 1);
}

fn a_forced_undo_does_not_lose_a_revocation_that_came_later(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    import(&home, key.revocation());
    assert_eq!(undo_in_vain(&home, &["1", "--force"])["kept"][0]["what"], "revocation");
    assert_eq!(listing(&home)[0]["standing"], "revoked");
}

fn an_undone_deletion_restores_the_position_of_the_certificate(engine: Engine) {
    let keys = ["Ann <ann@example.org>", "Bob <bob@example.org>", "Eve <eve@example.org>"].map(OwnKey::new);
    let home = engine.home();
    import(&home, keys.iter().flat_map(OwnKey::certificate).collect());
    let before = listing(&home);
    Run::keyhoard(&home).args(["delete", "--yes", "bob@example.org"]).succeed();
    assert_eq!(listing(&home).len(), 2);
    assert_eq!(undo(&home, &[])["restored"], 1);
    assert_eq!(listing(&home), before);
}

fn set_trust(home: &Home, key: &OwnKey, trust: &str) {
    keyhoard(home, &["trust", "set", trust, key.fingerprint()]).succeed();
}

/// Owner trust as gpg exchanges it.
fn owner_trust(home: &Home) -> String {
    Run::keyhoard(home).args(["trust", "exchange", "export"]).output().text()
}

fn an_undo_restores_the_owner_trust_before_the_command(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    set_trust(&home, &key, "marginal");
    let marginal = owner_trust(&home);
    set_trust(&home, &key, "full");
    let full = owner_trust(&home);
    assert_eq!(undo(&home, &[])["owner_trusts"], 1);
    assert_eq!(owner_trust(&home), marginal);
    assert_eq!(undo(&home, &["4"])["owner_trusts"], 1, "an undo can be undone");
    assert_eq!(owner_trust(&home), full);
    undo(&home, &["5"]);
    undo(&home, &["2"]);
    assert_eq!(owner_trust(&home), "");
    assert_eq!(listing(&home).len(), 1, "the key itself stays");
}

fn owner_trust_that_was_set_again_since_stays_unless_forced(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    set_trust(&home, &key, "marginal");
    set_trust(&home, &key, "full");
    let full = owner_trust(&home);
    for arguments in [&["2", "--dry-run"][..], &["2"]] {
        let undone = undo_in_vain(&home, arguments);
        assert_eq!((&undone["owner_trusts"], &undone["kept"][0]["what"]), (&0.into(), &"owner_trust".into()));
    }
    assert_eq!(owner_trust(&home), full);
    undo(&home, &["2", "--force"]);
    assert_eq!(owner_trust(&home), "");
}

fn an_undone_deletion_restores_the_owner_trust(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    set_trust(&home, &key, "full");
    let full = owner_trust(&home);
    keyhoard(&home, &["delete", "--yes", key.fingerprint()]).succeed();
    assert_eq!(owner_trust(&home), "");
    undo(&home, &[]);
    assert_eq!(owner_trust(&home), full);
    // The import and the owner trust that it forgot.
    let other = engine.home();
    let line = full.clone();
    Run::keyhoard(&other).args(["trust", "exchange", "import"]).stdin(line.into_bytes()).succeed();
    import(&other, key.certificate());
    assert_eq!(owner_trust(&other), "");
    undo(&other, &[]);
    assert_eq!(owner_trust(&other), full);
}

fn a_dry_run_changes_nothing(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    let before = listing(&home);
    let undone = undo(&home, &["--dry-run"]);
    assert_eq!((&undone["removed"], &undone["entry"]), (&1.into(), &Value::Null));
    assert_eq!(listing(&home), before);
}

fn undoing_a_missing_or_undone_entry_is_a_clear_error(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = engine.home();
    import(&home, key.certificate());
    let missing = keyhoard(&home, &["undo", "7"]).output();
    assert_eq!(missing.code, Some(2));
    assert!(missing.errors().contains("no entry 7"), "{}", missing.errors());
    undo(&home, &["1"]);
    let twice = keyhoard(&home, &["undo", "1"]).output();
    assert_eq!(twice.code, Some(2));
    assert!(twice.errors().contains("undone by entry 2"), "{}", twice.errors());
}

fn an_undo_restores_where_a_certificate_came_from_before(engine: Engine) {
    let (home, key) = (engine.home(), OwnKey::new("Ann <ann@example.org>"));
    import(&home, key.certificate());
    let fetch = |name: &str, time: &str, user_id: &str| {
        key.add_user_id(time, user_id);
        let url = format!("file:{}", home.write(name, key.certificate()).display());
        keyhoard(&home, &["fetch", &url]).succeed();
        let entries = keyhoard(&home, &["log"]).succeed().json_lines();
        let newest = entries.iter().filter_map(|entry| entry["entry"].as_u64()).max();
        (Some(url), newest.expect("an entry").to_string())
    };
    let origin = || listing(&home)[0]["origin"]["url"].as_str().map(str::to_owned);
    let (first, entry) = fetch("first.pgp", "20240301T000000!", "Ann <ann@example.com>");
    assert_eq!(origin(), first);
    undo(&home, &[]);
    assert_eq!(origin(), None);
    // The undo is undone.
    let undone = keyhoard(&home, &["log"]).succeed().json_lines();
    let number = undone.iter().filter_map(|entry| entry["entry"].as_u64()).max().expect("an entry");
    undo(&home, &[&number.to_string()]);
    assert_eq!(origin(), first);
    // What a later import says stays.
    let (second, _) = fetch("second.pgp", "20240401T000000!", "Ann <ann@example.net>");
    undo(&home, &["--force", &entry]);
    assert_eq!(origin(), second);
}
