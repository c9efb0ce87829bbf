//! `keyhoard delete`: asks, forgets, and never leaves a secret key alone unsaid.

use harness::{Engine, Home, Output, OwnKey, Run};

harness::on_both_engines! {
    without_a_terminal_nothing_is_deleted_unless_yes_is_given
    a_name_without_a_match_deletes_nothing
    the_inputs_of_a_deleted_certificate_are_forgotten
}

fn import(home: &Home, bytes: Vec<u8>) -> Output {
    Run::keyhoard(home).args(["import", "--json"]).stdin(bytes).succeed()
}

fn delete(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("delete").args(arguments).output()
}

fn count(home: &Home) -> usize {
    Run::keyhoard(home).args(["list", "--json"]).output().text().lines().count()
}

fn without_a_terminal_nothing_is_deleted_unless_yes_is_given(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    import(&home, key.certificate());
    let refused = delete(&home, &["ann@example.org"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("--yes"), "{}", refused.errors());
    assert_eq!(count(&home), 1);
}

fn a_name_without_a_match_deletes_nothing(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    import(&home, key.certificate());
    assert_eq!(delete(&home, &["--yes", "ann@example.org", "nobody@example.org"]).code, Some(1));
    assert_eq!(count(&home), 1);
}

fn the_inputs_of_a_deleted_certificate_are_forgotten(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    import(&home, key.certificate());
    assert_eq!(delete(&home, &["--yes", "ann@example.org"]).code, Some(0));
    assert_eq!(count(&home), 0);
    assert!(import(&home, key.certificate()).text().contains("\"new\":1"));
    assert_eq!(count(&home), 1);
}

#[test]
fn a_purged_certificate_leaves_no_bytes_and_cannot_be_restored() {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), Home::new());
    let bytes = key.certificate();
    import(&home, bytes.clone());
    delete(&home, &["--yes", "ann@example.org"]);
    import(&home, bytes);
    assert_eq!(delete(&home, &["--yes", "--purge", "ann@example.org"]).code, Some(0));
    let former = Run::keyhoard(&home).args(["sql", "--csv", "SELECT count(*) FROM former"]).succeed();
    assert_eq!(former.text().lines().last(), Some("0"), "earlier deletions are purged as well");
    let undone = Run::keyhoard(&home).arg("undo").succeed();
    assert!(undone.errors().contains("was purged"), "{}", undone.errors());
    assert_eq!(count(&home), 0);
}

#[test]
fn a_certificate_deleted_earlier_can_be_purged_by_its_fingerprint() {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), Home::new());
    import(&home, key.certificate());
    import(&home, OwnKey::new("Bob <bob@example.org>").certificate());
    delete(&home, &["--yes", key.fingerprint()]);
    let unasked = delete(&home, &["--purge", key.fingerprint()]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.errors());
    let without = delete(&home, &["--yes", key.fingerprint()]);
    assert_eq!(without.code, Some(1), "only what is here can be deleted and brought back");

    let stranger = "0123456789ABCDEF0123456789ABCDEF01234567";
    let refused = delete(&home, &["--yes", "--purge", key.fingerprint(), stranger]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors().contains(&format!("{stranger}: neither in the database nor in the journal")));
    assert!(!refused.errors().contains(key.fingerprint()), "{}", refused.errors());

    let purged = delete(&home, &["--yes", "--purge", "--json", key.fingerprint(), "bob@example.org"]);
    assert_eq!(purged.code, Some(0), "{}", purged.errors());
    assert!(purged.text().contains(key.fingerprint()) && purged.text().contains("\"purged\":true"));
    let former = Run::keyhoard(&home).args(["sql", "--csv", "SELECT count(*) FROM former"]).succeed();
    assert_eq!(former.text().lines().last(), Some("0"));
    assert_eq!(count(&home), 0);
    let again = delete(&home, &["--yes", "--purge", key.fingerprint()]);
    assert_eq!(again.code, Some(1));
    assert!(again.errors().contains("nothing was deleted"), "{}", again.errors());
}

#[test]
fn a_certificate_with_a_secret_key_is_deleted_only_with_despite_secret_key() {
    let key = OwnKey::new("Ann <ann@example.org>");
    import(key.home(), key.certificate());
    let refused = delete(key.home(), &["--yes", key.fingerprint()]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("private-keys-v1.d"), "{}", refused.errors());
    assert_eq!(count(key.home()), 1);
    assert_eq!(delete(key.home(), &["--yes", "--despite-secret-key", key.fingerprint()]).code, Some(0));
    assert_eq!(count(key.home()), 0);
}
