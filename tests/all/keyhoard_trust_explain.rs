//! `keyhoard trust explain`: why user IDs are as valid as they are.

use std::collections::BTreeMap;

use harness::{Engine, Home, Keyring, NOW, Output, Run, colons};
use serde_json::Value;

harness::on_both_engines! {
    keyhoard_explains_the_validity_that_listings_show
    keyhoard_explains_a_valid_user_id_by_paths_from_the_users_own_key
    keyhoard_explains_by_the_rules_that_it_is_given
    keyhoard_offers_the_models_that_it_can_explain_and_no_others
    keyhoard_names_the_missing_link_and_giving_it_makes_the_user_id_valid
    keyhoard_names_certifiers_that_are_not_valid_only_if_asked
    keyhoard_counts_nothing_for_the_users_own_key
    keyhoard_explains_nothing_where_nothing_is_found
}

/// A key that has certified 125 others in the keyring.
const TRUSTED: &str = "4900707DDC5C07F2DECB02839C31503C6D866396";

/// Debian's developers, one of whom the user is.
fn developers(engine: Engine) -> Home {
    let home = with_debians_keys(engine);
    give(&home, TRUSTED, 6);
    home
}

fn with_debians_keys(engine: Engine) -> Home {
    let home = engine.home_with_conf("");
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Developers.path()).at(NOW).succeed();
    home
}

fn give(home: &Home, key: &str, trust: u8) {
    let line = format!("{key}:{trust}:\n");
    Run::gpg_keyhoard(home).arg("--import-ownertrust").stdin(line).succeed();
}

fn explain(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).args(["--faked-system-time", NOW, "trust", "explain"]).args(arguments).output()
}

fn json(home: &Home, keys: &[&str]) -> Vec<Value> {
    let done = explain(home, &[&["--json"], keys].concat());
    assert_eq!(done.code, Some(0), "{}", done.errors());
    let lines = done.text();
    lines.lines().map(|line| serde_json::from_str(line).expect("each line is a JSON document")).collect()
}

/// Returns the validity letters of each certificate's user IDs as `gpg-keyhoard` lists them, without those of revoked
/// and expired ones.
fn listed(home: &Home) -> BTreeMap<String, Vec<String>> {
    let listing = Run::gpg_keyhoard(home).args(["--with-colons", "--list-keys"]).succeed();
    let mut listed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut key = String::new();
    let mut is_primary = false;
    for record in colons::records(&listing.stdout) {
        match record.kind() {
            "pub" | "sub" => is_primary = record.kind() == "pub",
            "fpr" if is_primary => key = record.text(10),
            "uid" | "uat" if !matches!(record.field(2), b"r" | b"e") => {
                listed.entry(key.clone()).or_default().push(record.text(2));
            }
            _ => {}
        }
    }
    listed
}

fn letters(document: &Value) -> Vec<&'static str> {
    let users = document["user_ids"].as_array().expect("there are some").iter();
    users
        .filter(|user| user["revoked"] == false && user["expired"] == false)
        .map(|user| match user["validity"].as_str().expect("a word") {
            "unknown" => "-",
            "undefined" => "q",
            "marginal" => "m",
            "full" => "f",
            "ultimate" => "u",
            other => panic!("{other}"),
        })
        .collect()
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

fn keyhoard_explains_the_validity_that_listings_show(engine: Engine) {
    let home = developers(engine);
    let listed = listed(&home);
    let some: Vec<&str> = listed.keys().step_by(20).map(String::as_str).collect();
    let documents = json(&home, &some);
    assert_eq!(documents.len(), some.len());
    for document in &documents {
        let key = document["fingerprint"].as_str().expect("a fingerprint");
        if document["standing"] != "dead" {
            let expected: Vec<&str> = listed[key].iter().map(String::as_str).collect();
            assert_eq!(sorted(letters(document)), sorted(expected), "{key}");
        }
    }
    let seen: Vec<&str> = documents.iter().flat_map(letters).collect();
    assert!(["-", "q", "f"].iter().all(|letter| seen.contains(letter)), "{seen:?}");
}

fn keyhoard_explains_a_valid_user_id_by_paths_from_the_users_own_key(engine: Engine) {
    let home = developers(engine);
    let valid = listed(&home).into_iter().find(|(_, letters)| letters.iter().all(|letter| letter == "f"));
    let (key, _) = valid.expect("the trusted key makes some valid");
    let document = &json(&home, &[&key])[0];
    assert_eq!(document["paths"], serde_json::json!([[TRUSTED, key]]));
    let certifications = document["user_ids"][0]["certifications"].as_array().expect("there are some");
    let own = certifications.iter().find(|one| one["issuer"] == TRUSTED && one["worth"] == "ultimate");
    assert!(own.is_some(), "{certifications:?}");
    assert_eq!(document["certifiers"][TRUSTED]["owner_trust"], "ultimate");
    let text = explain(&home, &[&key]).text();
    assert!(text.contains("[counts: ultimately trusted]"), "{text}");
}

fn keyhoard_explains_by_the_rules_that_it_is_given(engine: Engine) {
    let home = developers(engine);
    let (key, _) = listed(&home).into_iter().find(|(_, letters)| letters[0] == "f").expect("a valid key");
    let own = &json(&home, &[&key])[0];
    let nobodys = with_debians_keys(engine);
    assert_ne!(json(&nobodys, &[&key])[0]["user_ids"], own["user_ids"]);
    let named = &json(&nobodys, &["--trusted-key", TRUSTED, "--marginals-needed", "7", &key])[0];
    assert_eq!(named["user_ids"], own["user_ids"]);
    assert_eq!(named["marginals_needed"], 7);
}

fn keyhoard_offers_the_models_that_it_can_explain_and_no_others(engine: Engine) {
    let home = developers(engine);
    let (key, _) = listed(&home).into_iter().find(|(_, letters)| letters[0] == "f").expect("a valid key");
    let help = explain(&home, &["--help=all"]).text();
    assert!(help.contains("auto:") && help.contains("classic:") && !help.contains("tofu:"), "{help}");
    let refused = explain(&home, &["--trust-model", "tofu", &key]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("pgp, classic, auto"), "{}", refused.errors());
    assert_eq!(json(&home, &["--trust-model", "auto", &key]), json(&home, &[&key]));
    assert_eq!(explain(&home, &["--min-cert-level", "4", &key]).code, Some(2));
    let [careless, careful] = ["1", "3"].map(|level| {
        let summed = ["--faked-system-time", NOW, "--json", "trust", "check", "--min-cert-level", level];
        Run::keyhoard(&home).args(summed).succeed().json_lines()
    });
    assert_ne!(careless, careful, "certifications of level 2 do not count");
}

fn keyhoard_names_the_missing_link_and_giving_it_makes_the_user_id_valid(engine: Engine) {
    let home = developers(engine);
    let letters = listed(&home);
    let (key, _) = letters.iter().find(|(_, letters)| letters[0] == "q").expect("friends of friends");
    let text = explain(&home, &[key]).text();
    assert!(text.contains("you have not said how far you trust its owner"), "{text}");
    assert!(text.contains("Missing: 1 more"), "{text}");

    let document = &json(&home, &[key])[0];
    let users = document["user_ids"].as_array().expect("there are some");
    let certifications = users.iter().flat_map(|user| user["certifications"].as_array().expect("a list"));
    let untrusted = certifications.into_iter().find(|one| one["worth"] == "untrusted").expect("who is valid");
    give(&home, untrusted["issuer"].as_str().expect("a fingerprint"), 5);

    let document = &json(&home, &[key])[0];
    let path = serde_json::json!([TRUSTED, untrusted["issuer"], key]);
    assert!(document["paths"].as_array().expect("a list").contains(&path), "{document}");
    let validities: Vec<&Value> = document["user_ids"]
        .as_array()
        .expect("there are some")
        .iter()
        .map(|user| &user["validity"])
        .collect();
    assert!(validities.contains(&&Value::from("full")), "{validities:?}");
}

fn keyhoard_names_certifiers_that_are_not_valid_only_if_asked(engine: Engine) {
    let home = developers(engine);
    let (key, _) = listed(&home).into_iter().find(|(_, letters)| letters[0] == "f").expect("a valid key");
    let [short, long] = [&[key.as_str()][..], &["--verbose", &key]].map(|names| explain(&home, names).text());
    assert!(short.contains("by keys that are not valid"), "{short}");
    assert!(!long.contains("by keys that are not valid") && long.contains("[not valid itself]"), "{long}");
}

fn keyhoard_counts_nothing_for_the_users_own_key(engine: Engine) {
    let text = explain(&developers(engine), &[TRUSTED]).text();
    assert!(text.contains("The key is ultimately trusted.") && !text.contains("[counts"), "{text}");
}

fn keyhoard_explains_nothing_where_nothing_is_found(engine: Engine) {
    let home = developers(engine);
    let done = explain(&home, &["nobody@nowhere.example"]);
    assert_eq!((done.code, done.text().as_str()), (Some(1), ""));
}
