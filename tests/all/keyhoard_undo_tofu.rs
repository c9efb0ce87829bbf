//! `keyhoard undo` of what trust on first use remembers: decisions, what was forgotten, what was taken over.

use harness::{Engine, Home, OwnKey, Run};
use serde_json::Value;

harness::on_both_engines! {
    an_undo_restores_the_policy_before_the_command
    a_policy_that_was_set_again_since_stays_unless_forced
    undoing_tofu_forget_restores_policies_and_messages
    undoing_a_migration_removes_its_policies_and_messages
    a_command_that_only_counted_a_message_leaves_nothing_to_undo
    purging_a_key_purges_its_policies
    an_undo_restores_owner_trust_that_one_command_set_twice
}

const MAIL: &str = "ann@example.org";

fn keyhoard(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).at("20260701T000000").arg("--json").args(arguments)
}

fn undo(home: &Home, arguments: &[&str]) -> Value {
    keyhoard(home, &["undo"]).args(arguments).succeed().json_lines().remove(0)
}

/// What is known of Ann's address: keys, since when, decided what, messages seen.
fn known(home: &Home) -> Vec<Value> {
    keyhoard(home, &["tofu", "explain", MAIL]).output().json_lines()
}

fn policy(home: &Home) -> Value {
    keyhoard(home, &["tofu", "list", "--all"]).succeed().json_lines()[0]["policy"].clone()
}

fn decide(home: &Home, policy: &str) {
    keyhoard(home, &["tofu", "policy", policy, MAIL]).succeed();
}

fn home_with(engine: Engine, key: &OwnKey) -> Home {
    let home = engine.home_with_conf("");
    Run::keyhoard(&home).at("20260701T000000").arg("import").stdin(key.certificate()).succeed();
    home
}

fn signed(key: &OwnKey, day: &str) -> Vec<u8> {
    let arguments = ["--yes", "--pinentry-mode", "loopback", "--passphrase", "", "--sign"];
    Run::gpg_with_agent(key.home()).at(day).args(arguments).stdin(day).succeed().stdout
}

const VERIFY: [&str; 3] = ["--trust-model", "tofu", "--verify"];

const ENCRYPT: [&str; 5] = ["--trust-model", "tofu", "--recipient", MAIL, "--encrypt"];

fn see_messages(home: &Home, key: &OwnKey) {
    for day in ["20260702T000000!", "20260703T000000!"] {
        Run::gpg_keyhoard(home).at(day).args(VERIFY).stdin(signed(key, day)).succeed();
    }
}

fn an_undo_restores_the_policy_before_the_command(engine: Engine) {
    let home = home_with(engine, &OwnKey::new("Ann <ann@example.org>"));
    let untouched = known(&home);
    decide(&home, "good");
    let good = known(&home);
    Run::gpg_keyhoard(&home).args(["--tofu-policy", "bad"]).arg(fingerprint(&good)).succeed();
    assert_eq!(policy(&home), "bad");
    let changes = keyhoard(&home, &["log", "3"]).succeed().json_lines();
    assert_eq!(changes.len(), 1);
    let binding = &changes[0]["binding"];
    assert_eq!([&binding["address"], &binding["before"], &binding["after"]], [MAIL, "good", "bad"]);

    let undone = undo(&home, &[]);
    assert_eq!((&undone["undone"], &undone["bindings"]), (&3.into(), &1.into()));
    assert_eq!(known(&home), good);
    assert_eq!(undo(&home, &["4"])["bindings"], 1, "an undo can be undone");
    assert_eq!(policy(&home), "bad");
    undo(&home, &[]);
    assert_eq!(undo(&home, &[])["undone"], 2);
    assert_eq!(known(&home), untouched);
}

fn fingerprint(known: &[Value]) -> String {
    known[0]["keys"][0]["fingerprint"].as_str().expect("text").to_owned()
}

fn a_policy_that_was_set_again_since_stays_unless_forced(engine: Engine) {
    let home = home_with(engine, &OwnKey::new("Ann <ann@example.org>"));
    decide(&home, "good");
    decide(&home, "bad");
    let kept = keyhoard(&home, &["undo", "2", "--dry-run"]).output();
    assert_eq!(kept.code, Some(1));
    let undone = &kept.json_lines()[0];
    assert_eq!((&undone["bindings"], &undone["kept"][0]["what"]), (&0.into(), &"policy".into()));
    let told = Run::keyhoard(&home).args(["undo", "2"]).output();
    assert_eq!(told.code, Some(1));
    assert!(told.errors().contains("--force takes it back"), "{}", told.errors());
    assert_eq!(policy(&home), "bad");
    assert_eq!(undo(&home, &["2", "--force"])["bindings"], 1);
    assert_eq!(policy(&home), "auto");
}

fn undoing_tofu_forget_restores_policies_and_messages(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = home_with(engine, &key);
    decide(&home, "good");
    see_messages(&home, &key);
    let remembered = known(&home);
    assert_eq!(remembered[0]["keys"][0]["verified"]["messages"], 2);
    keyhoard(&home, &["tofu", "forget", MAIL]).succeed();
    let forgotten = known(&home);
    assert_eq!(forgotten[0]["keys"][0]["verified"]["messages"], 0);
    let entry = undo(&home, &[])["entry"].to_string();
    assert_eq!(known(&home), remembered);
    undo(&home, &[&entry]);
    assert_eq!(known(&home), forgotten);
}

fn undoing_a_migration_removes_its_policies_and_messages(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let gnupg = engine.home_with_conf("");
    Run::gpg(&gnupg).arg("--import").stdin(key.certificate()).succeed();
    let day = "20260101T100000!";
    Run::gpg(&gnupg).at(day).args(VERIFY).stdin(signed(&key, day)).succeed();
    Run::gpg(&gnupg).args(["--tofu-policy", "good", key.fingerprint()]).succeed();

    let home = home_with(engine, &key);
    let before = known(&home);
    keyhoard(&home, &["migrate"]).arg(gnupg.path()).succeed();
    let migrated = known(&home);
    assert_eq!(policy(&home), "good");
    assert_eq!(migrated[0]["keys"][0]["verified"]["messages"], 1);
    let undone = undo(&home, &[]);
    assert_eq!((&undone["undone"], &undone["bindings"]), (&2.into(), &1.into()));
    assert_eq!(known(&home), before);
    undo(&home, &["3"]);
    assert_eq!(known(&home), migrated);

    // The certificate and what is remembered of it come and go as one.
    let empty = engine.home();
    keyhoard(&empty, &["migrate"]).arg(gnupg.path()).succeed();
    let migrated = known(&empty);
    let undone = undo(&empty, &[]);
    assert_eq!((&undone["removed"], &undone["bindings"]), (&1.into(), &1.into()));
    assert_eq!(known(&empty)[0]["keys"], Value::Array(Vec::new()));
    undo(&empty, &["2"]);
    assert_eq!(known(&empty), migrated);
}

fn a_command_that_only_counted_a_message_leaves_nothing_to_undo(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = home_with(engine, &key);
    decide(&home, "good");
    see_messages(&home, &key);
    Run::gpg_keyhoard(&home).at("20260704T000000!").args(ENCRYPT).stdin("hello").succeed();
    let seen = |what: &str| known(&home)[0]["keys"][0][what]["messages"].clone();
    assert_eq!([seen("verified"), seen("encrypted")], [2, 1]);
    let entries = keyhoard(&home, &["log"]).succeed().json_lines();
    assert_eq!(entries.len(), 2, "the import and the decision: {entries:?}");
    let refused = keyhoard(&home, &["undo", "3"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("no entry 3"), "{}", refused.errors());
    let undone = undo(&home, &[]);
    assert_eq!(undone["undone"], 2, "the last command that changed something");
    assert_eq!(undo(&home, &[&undone["entry"].to_string()])["bindings"], 1);
    assert_eq!([seen("verified"), seen("encrypted")], [2, 1]);
}

fn purging_a_key_purges_its_policies(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = home_with(engine, &key);
    decide(&home, "good");
    keyhoard(&home, &["delete", "--yes", "--purge", key.fingerprint()]).succeed();
    let change = keyhoard(&home, &["log", "2"]).succeed().json_lines().remove(0);
    assert_eq!((&change["change"], &change["undoable"]), (&"binding".into(), &false.into()));
    assert!(change.get("binding").is_none(), "{change}");
    assert_eq!(undo(&home, &["2"])["purged"][0], key.fingerprint());
    assert_eq!(known(&home)[0]["keys"], Value::Array(Vec::new()));
}

fn an_undo_restores_owner_trust_that_one_command_set_twice(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = home_with(engine, &key);
    let lines = format!("{0}:4:\n{0}:5:\n", key.fingerprint());
    keyhoard(&home, &["trust", "exchange", "import"]).stdin(lines).succeed();
    assert_eq!(undo(&home, &[])["owner_trusts"], 1);
    assert_eq!(Run::keyhoard(&home).args(["trust", "exchange", "export"]).output().text(), "");
}
