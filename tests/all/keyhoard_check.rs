//! `keyhoard check`, `who-signed` and `signed-by`: every signature is verified once, and what came of it lasts.

use harness::packets::{SIGNATURE, packets};
use harness::{Engine, Home, Keyring, Output, OwnKey, Run};
use serde_json::Value;

harness::on_both_engines! {
    a_certification_is_good_as_long_as_the_issuers_key_is_stored
    a_forged_certification_is_bad_and_check_says_so
    signed_by_finds_certificates_by_the_index_of_issuers
    a_hash_algorithm_that_the_user_calls_weak_is_refused
}

const DAY: &str = "20250301T000000!";

/// Ann has certified Bob, Carol has not.
struct People {
    home: Home,
    ann: OwnKey,
    bob: OwnKey,
}

fn people(engine: Engine) -> People {
    let (ann, bob) = (OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>"));
    ann.import(bob.certificate());
    ann.certify(DAY, bob.fingerprint());
    let people = People { home: engine.home(), ann, bob };
    import(&people.home, people.ann.certificate_of(people.bob.fingerprint()));
    import(&people.home, OwnKey::new("Carol <carol@example.org>").certificate());
    people
}

fn import(home: &Home, certificate: Vec<u8>) {
    Run::keyhoard(home).args(["import", "--quiet"]).stdin(certificate).succeed();
}

fn run(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("--json").args(arguments).output()
}

/// The standings of the signatures that others made on Bob's certificate.
fn standings_of_bob(home: &Home) -> Vec<Value> {
    let signatures = run(home, &["who-signed", "bob@example.org"]).json_lines();
    signatures.iter().map(|signature| signature["standing"].clone()).collect()
}

fn summary(done: &Output) -> Value {
    done.json_lines().pop().expect("a summary")
}

fn a_certification_is_good_as_long_as_the_issuers_key_is_stored(engine: Engine) {
    let People { home, ann, .. } = people(engine);
    assert_eq!(standings_of_bob(&home), ["no issuer"]);
    import(&home, ann.certificate());
    assert_eq!(standings_of_bob(&home), ["good"]);
    Run::keyhoard(&home).args(["delete", "--yes", "ann@example.org"]).succeed();
    assert_eq!(standings_of_bob(&home), ["no issuer"]);
    Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(standings_of_bob(&home), ["good"]);
}

fn a_forged_certification_is_bad_and_check_says_so(engine: Engine) {
    let People { home, ann, bob } = people(engine);
    import(&home, ann.certificate());
    let forged = engine.home();
    let certificate = with_new_signature_damaged(&ann.certificate_of(bob.fingerprint()), &bob.certificate());
    import(&forged, certificate);
    import(&forged, ann.certificate());
    assert_eq!(standings_of_bob(&forged), ["bad"]);
    for _ in 0..2 {
        let checked = run(&forged, &["check"]);
        assert_eq!(summary(&checked)["bad"], 1);
        assert_eq!(checked.code, Some(1));
    }
    // The good one arrives as well; the bad one does not go away.
    import(&forged, ann.certificate_of(bob.fingerprint()));
    let mut standings = standings_of_bob(&forged);
    standings.sort_by_key(Value::to_string);
    assert_eq!(standings, ["bad", "good"]);
}

/// Returns a certificate with the last byte of its new signature, which a bare copy does not have, damaged.
fn with_new_signature_damaged(certificate: &[u8], bare: &[u8]) -> Vec<u8> {
    let known = packets(bare);
    let mut damaged = Vec::new();
    for packet in packets(certificate) {
        damaged.extend_from_slice(packet.raw);
        if packet.tag == SIGNATURE && !known.contains(&packet) {
            *damaged.last_mut().expect("a packet has bytes") ^= 1;
        }
    }
    assert_ne!(damaged, certificate);
    damaged
}

/// A certificate whose key takes sixteen times as long to verify with as one of 4096 bits.
const SLOW_KEY: &[u8] = include_bytes!("testdata/rsa-16384.gpg");
const SLOW_KEY_ID: u64 = 0x1FC0_7C4C_DF70_133E;

/// Puts certifications under Bob's first user ID that say to be the costly key's.
fn with_forgeries_of_costly(certificate: &[u8], count: u32) -> Vec<u8> {
    const USER_ID: u8 = 13;
    const APRIL_2024: u32 = 1_711_929_600;
    let mut flooded = Vec::new();
    for packet in packets(certificate) {
        flooded.extend_from_slice(packet.raw);
        for number in 0..if packet.tag == USER_ID { count } else { 0 } {
            let mut forged = vec![4, 0x10, 1, 8, 0, 6, 5, 2];
            forged.extend((APRIL_2024 + number).to_be_bytes());
            forged.extend([0, 10, 9, 16]);
            forged.extend(SLOW_KEY_ID.to_be_bytes());
            forged.extend([0x12, 0x34, 0, 17]);
            forged.extend(&(1 << 16 | number).to_be_bytes()[1..]);
            flooded.extend([0xC0 | SIGNATURE, forged.len() as u8]);
            flooded.extend(forged);
        }
    }
    flooded
}

#[test]
fn forgeries_under_a_slow_key_are_checked_over_several_runs_and_do_not_delay_other_issuers() {
    const FORGED: usize = 2500;
    let People { home, ann, bob } = people(Engine::Sqlite);
    let certificate = ann.certificate_of(bob.fingerprint());
    for certificate in
        [ann.certificate(), SLOW_KEY.to_vec(), with_forgeries_of_costly(&certificate, FORGED as u32)]
    {
        import(&home, certificate);
    }
    let (first, cost) = Run::keyhoard(&home).args(["--json", "who-signed", "bob@example.org"]).measured();
    let marked = |done: &Output, key: &str, word: &str| {
        done.json_lines().iter().filter(|signature| signature[key] == word).count()
    };
    assert_eq!(marked(&first, "standing", "good"), 1, "Ann's");
    let (bad, unchecked) = (marked(&first, "standing", "bad"), marked(&first, "reason", "unchecked"));
    assert!(bad > 0 && unchecked > 0, "{bad} bad, {unchecked} unchecked");
    assert_eq!(bad + unchecked, FORGED);
    assert!(cost.processor() < 10.0, "{cost:?}");
    let second = run(&home, &["who-signed", "bob@example.org"]);
    assert_eq!(marked(&second, "standing", "good"), 1);
    assert_eq!(marked(&second, "standing", "bad"), FORGED, "the second time gets to the end");
}

#[test]
fn verdicts_are_stored_and_a_second_check_reports_the_same() {
    let home = Home::new();
    Run::keyhoard(&home).args(["import", "--quiet"]).arg(Keyring::Nonupload.path()).succeed();
    let kept = || {
        let counted = run(&home, &["sql", "SELECT count(*) AS n FROM verdicts"]);
        counted.json_lines()[0]["n"].as_u64().expect("a number")
    };
    assert_eq!(kept(), 0);
    let first = summary(&run(&home, &["check"]));
    assert!(first["good"].as_u64().expect("a number") > 200, "{first}");
    assert!(kept() > 0);
    assert_eq!(summary(&run(&home, &["check"])), first);
    assert_eq!(summary(&run(&home, &["check", "--again"])), first);
    Run::keyhoard(&home).args(["doctor", "--quiet"]).succeed();
}

#[test]
fn a_read_only_database_is_checked_too() {
    let People { home, ann, .. } = people(Engine::Sqlite);
    import(&home, ann.certificate());
    home.set_writable(false);
    assert_eq!(standings_of_bob(&home), ["good"]);
    home.set_writable(true);
}

fn signed_by_finds_certificates_by_the_index_of_issuers(engine: Engine) {
    let People { home, ann, bob } = people(engine);
    import(&home, ann.certificate());
    let signatures = run(&home, &["signed-by", "ann@example.org"]).json_lines();
    assert_eq!(signatures.len(), 1);
    assert_eq!(signatures[0]["certificate"], bob.fingerprint());
    assert_eq!(signatures[0]["user_id"]["text"], "Bob <bob@example.org>");
    assert_eq!(signatures[0]["maker"], ann.fingerprint());
    assert_eq!(run(&home, &["signed-by", "carol@example.org"]).code, Some(1));
    let human = Run::keyhoard(&home).args(["signed-by", "ann@example.org"]).succeed();
    assert!(human.text().contains(bob.fingerprint()) && human.text().contains("good"), "{}", human.text());
}

fn a_hash_algorithm_that_the_user_calls_weak_is_refused(engine: Engine) {
    let People { home, ann, .. } = people(engine);
    import(&home, ann.certificate());
    let weak = ["--weak-digest", "sha512", "--weak-digest", "SHA256"];
    let refused = run(&home, &[&["who-signed", "bob@example.org"], &weak[..]].concat()).json_lines();
    assert_eq!(refused[0]["standing"], "refused");
    assert_eq!(refused[0]["reason"], "weak digest");
    assert_eq!(standings_of_bob(&home), ["good"], "the kept verdict is about the signature alone");
}
