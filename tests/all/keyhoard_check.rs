//! `keyhoard check`, `who-signed` and `signed-by`: every signature is verified once, and what came of it lasts.

use harness::packets::{SIGNATURE, packets};
use harness::{Done, Home, Keyring, OwnKey, Run};
use serde_json::Value;

const DAY: &str = "20250301T000000!";

/// Ann has certified Bob, Carol has not.
struct People {
    home: Home,
    ann: OwnKey,
    bob: OwnKey,
}

fn people() -> People {
    let (ann, bob) = (OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>"));
    ann.import(bob.certificate());
    ann.certify(DAY, bob.fingerprint());
    let people = People { home: Home::new(), ann, bob };
    import(&people.home, people.ann.certificate_of(people.bob.fingerprint()));
    import(&people.home, OwnKey::new("Carol <carol@example.org>").certificate());
    people
}

fn import(home: &Home, certificate: Vec<u8>) {
    Run::keyhoard(home).args(["import", "--quiet"]).stdin(certificate).succeed();
}

fn run(home: &Home, arguments: &[&str]) -> Done {
    Run::keyhoard(home).arg("--json").args(arguments).done()
}

/// The standings of the signatures that others made on Bob's certificate.
fn standings_of_bob(home: &Home) -> Vec<Value> {
    let signatures = run(home, &["who-signed", "bob@example.org"]).json_lines();
    signatures.iter().map(|signature| signature["standing"].clone()).collect()
}

fn summary(done: &Done) -> Value {
    done.json_lines().pop().expect("a summary")
}

#[test]
fn a_certification_is_good_as_long_as_the_issuers_key_is_here() {
    let People { home, ann, .. } = people();
    assert_eq!(standings_of_bob(&home), ["no issuer"]);
    import(&home, ann.certificate());
    assert_eq!(standings_of_bob(&home), ["good"]);
    Run::keyhoard(&home).args(["delete", "--yes", "ann@example.org"]).succeed();
    assert_eq!(standings_of_bob(&home), ["no issuer"]);
    Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(standings_of_bob(&home), ["good"]);
}

#[test]
fn a_forged_certification_is_bad_and_check_says_so() {
    let People { home, ann, bob } = people();
    import(&home, ann.certificate());
    let forged = Home::new();
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

/// Returns a certificate with the last octet of its new signature, which a bare copy does not have, damaged.
fn with_new_signature_damaged(certificate: &[u8], bare: &[u8]) -> Vec<u8> {
    let known = packets(bare);
    let mut damaged = Vec::new();
    for packet in packets(certificate) {
        damaged.extend_from_slice(packet.raw);
        if packet.tag == SIGNATURE && !known.contains(&packet) {
            *damaged.last_mut().expect("a packet has octets") ^= 1;
        }
    }
    assert_ne!(damaged, certificate);
    damaged
}

#[test]
fn what_was_found_out_is_kept_and_a_second_check_says_the_same() {
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
fn a_database_that_cannot_be_written_to_is_checked_all_the_same() {
    let People { home, ann, .. } = people();
    import(&home, ann.certificate());
    home.set_writable(false);
    assert_eq!(standings_of_bob(&home), ["good"]);
    home.set_writable(true);
}

#[test]
fn whom_a_key_signed_is_found_by_the_index() {
    let People { home, ann, bob } = people();
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

#[test]
fn a_weak_digest_is_refused_if_the_user_says_so() {
    let People { home, ann, .. } = people();
    import(&home, ann.certificate());
    let weak = ["--weak-digest", "sha512", "--weak-digest", "SHA256"];
    let refused = run(&home, &[&["who-signed", "bob@example.org"], &weak[..]].concat()).json_lines();
    assert_eq!(refused[0]["standing"], "refused");
    assert_eq!(refused[0]["reason"], "weak digest");
    assert_eq!(standings_of_bob(&home), ["good"], "the kept verdict is about the signature alone");
}
