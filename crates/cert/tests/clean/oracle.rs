//! Mutated certificates, imported by the installed `gpg` and by us: the same packets, in the same order.

use crate::made::raw;
use crate::mutated::{Numbers, Parts, keyring};
use crate::scale;
use keyhoard_cert::clean::{CleanOptions, CleaningNote, clean};
use keyhoard_cert::compact::{Certifications, compact};
use keyhoard_cert::effective::{EvaluationContext, PacketView, evaluate};
use keyhoard_cert::facts::{Component, SignatureFacts};
use keyhoard_cert::key::{self, Key};
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::signed::{for_each_digest, question};
use keyhoard_cert::split::RawCertificate;
use keyhoard_cert::{Certificate, KeyId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use verify::Verdict;
use verify::naming::sha256;
use verify::policy::DigestPolicy;

/// 2026-01-01, the moment at which both import.
const NOW: Timestamp = Timestamp(1_767_225_600);

/// Returns the seeds of the certificates that a test tries; each takes gpg some 50 ms. Every test has its number, so
/// that no two try the same.
///
/// The sample is the same every day: one certificate in a few hundred is still cleaned otherwise than gpg cleans it
/// (docs/benchmarks.md, "Long runs"), and would make CI fail on most days. In full, `SEED` chooses others.
fn seeds(test: u64) -> Range<u64> {
    let first = test * 1_000_000 + scale::choose(scale::seed().saturating_sub(1) * 10_000, 0);
    first..first + scale::choose(2000, 40)
}

/// An empty home directory of gpg.
struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn gpg(&self, arguments: &[&str]) -> (Vec<u8>, String) {
        let output = Command::new("gpg")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .arg("--homedir")
            .arg(self.directory.path())
            .args(["--batch", "--quiet", "--no-autostart", "--no-auto-check-trustdb"])
            .args(["--faked-system-time", "20260101T000000!", "--status-fd", "2"])
            .args(arguments)
            .output()
            .expect("gpg is installed");
        (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Imports and returns what gpg counted: new user IDs, subkeys and signatures.
    fn import(&self, certificate: &[u8], options: &[&str]) -> [u32; 3] {
        let path: PathBuf = self.directory.path().join("input");
        std::fs::write(&path, certificate).expect("a file in the temporary directory");
        let path = path.to_str().expect("a path in UTF-8");
        let (_, status) = self.gpg(&[&["--import"], options, &[path]].concat());
        let result = status.lines().find_map(|line| line.strip_prefix("[GNUPG:] IMPORT_RES "));
        let numbers: Vec<u32> = result
            .expect("gpg reports what it counted")
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        [numbers[5], numbers[6], numbers[7]]
    }

    fn export(&self) -> Vec<String> {
        let (exported, _) = self.gpg(&["--export"]);
        packets(&exported, &[])
    }
}

/// The packets, but for the superseded ones: their types, and enough of the bodies' digests to tell them apart.
fn packets(bytes: &[u8], superseded: &[u32]) -> Vec<String> {
    let packets = Packets::new(bytes).map(|packet| packet.expect("a packet"));
    packets
        .filter(|packet| !superseded.contains(&packet.span.start))
        .map(|packet| {
            let digest = sha256(&[packet.body]);
            let [a, b, c, d, ..] = digest;
            format!("{} {a:02x}{b:02x}{c:02x}{d:02x}", packet.tag.0)
        })
        .collect()
}

fn shown(certificate: Option<&Certificate>) -> Vec<String> {
    let Some(certificate) = certificate else { return Vec::new() };
    let signatures = certificate.facts.components.iter().flat_map(|component| &component.signatures);
    let superseded: Vec<u32> = signatures
        .filter(|signature| signature.flags.superseded)
        .map(|signature| signature.span.start)
        .collect();
    packets(&certificate.bytes, &superseded)
}

/// Imports as a database does: an update without user IDs needs a certificate that is known already.
fn import(
    known: Option<Certificate>,
    raw: &RawCertificate,
    options: &CleanOptions,
) -> (Option<Certificate>, [u32; 3]) {
    let cleaned = clean(raw, options, NOW).expect("a certificate");
    // GnuPG takes nothing of it.
    if cleaned.notes.iter().any(|note| matches!(note, CleaningNote::WithoutUserId(_))) {
        return (known, [0; 3]);
    }
    let Some(known) = known else {
        return (cleaned.has_user_ids.then_some(cleaned.certificate), [0; 3]);
    };
    match merge(&known, &cleaned.certificate) {
        None => (Some(known), [0; 3]),
        Some(merged) => {
            let counts = [merged.new_user_ids, merged.new_subkeys, merged.new_signatures];
            (Some(merged.certificate), counts)
        }
    }
}

/// Certificates small enough for gpg to be quick.
fn small_ones() -> (Vec<RawCertificate>, Vec<RawCertificate>) {
    let all: Vec<_> = ["debian-maintainers", "debian-nonupload"].into_iter().flat_map(keyring).collect();
    let small = all.iter().filter(|raw| Packets::new(&raw.bytes).count() < 100).cloned().collect();
    (small, all)
}

fn compare_cleaning(seeds: Range<u64>, options: &CleanOptions, gpg_options: &[&str]) {
    let (originals, strangers) = small_ones();
    for seed in seeds {
        let mut numbers = Numbers::new(seed);
        let mut parts = Parts::of(&numbers.pick(&originals).bytes);
        for _ in 0..=numbers.below(4) {
            parts.mutate(&mut numbers, &strangers);
        }
        let input = parts.bytes();
        let home = Home::new();
        home.import(&input, gpg_options);
        let (ours, _) = import(None, &split(&input), options);
        assert_eq!(shown(ours.as_ref()), home.export(), "mutation {seed}");
    }
}

/// What the reader makes of the one certificate of a stream.
fn split(input: &[u8]) -> RawCertificate {
    let kept: Vec<u8> = Packets::new(input)
        .map(|packet| packet.expect("a packet"))
        .filter(|packet| packet.tag != Tag::TRUST)
        .flat_map(|packet| packet.span.of(input))
        .copied()
        .collect();
    raw(&[&kept])
}

#[test]
fn oracle_mutated_certificates_are_cleaned_as_gpg_cleans_them() {
    compare_cleaning(seeds(1), &CleanOptions::default(), &[]);
}

#[test]
fn oracle_mutated_certificates_are_cleaned_as_gpg_cleans_them_without_repair() {
    let options = CleanOptions { no_repair: true, ..CleanOptions::default() };
    compare_cleaning(seeds(2), &options, &["--import-options", "no-repair-keys"]);
}

#[test]
fn oracle_mutated_certificates_are_cleaned_as_gpg_cleans_them_with_self_signatures_only() {
    let options = CleanOptions { self_signatures_only: true, ..CleanOptions::default() };
    compare_cleaning(seeds(3), &options, &["--import-options", "self-sigs-only"]);
}

#[test]
fn oracle_sequences_of_imports_end_with_gpgs_packets_and_counts() {
    let (originals, _) = small_ones();
    for seed in seeds(4) {
        let mut numbers = Numbers::new(seed);
        let original = Parts::of(&numbers.pick(&originals).bytes);
        let home = Home::new();
        let mut known = None;
        for step in 0..3 {
            let mut parts = original.clone();
            parts.thin(&mut numbers, 3, 4);
            parts.spoil(&mut numbers);
            let input = parts.bytes();
            let theirs = home.import(&input, &[]);
            let was_known = known.is_some();
            let ours;
            (known, ours) = import(known, &split(&input), &CleanOptions::default());
            if was_known {
                assert_eq!(ours, theirs, "mutation {seed}, step {step}: user IDs, subkeys, signatures");
            }
            assert_eq!(shown(known.as_ref()), home.export(), "mutation {seed}, step {step}");
        }
    }
}

#[test]
fn oracle_minimal_imports_leave_what_gpg_leaves() {
    let (originals, _) = small_ones();
    for seed in seeds(6) {
        let mut numbers = Numbers::new(seed);
        let mut parts = Parts::of(&numbers.pick(&originals).bytes);
        parts.thin(&mut numbers, 9, 10);
        let input = parts.bytes();
        let home = Home::new();
        home.import(&input, &["--import-options", "import-minimal"]);
        let (ours, _) = import(None, &split(&input), &CleanOptions::default());
        let ours = ours.map(|ours| compact(&ours, &Certifications::Own, NOW).certificate);
        assert_eq!(shown(ours.as_ref()), home.export(), "mutation {seed}");
    }
}

#[test]
fn oracle_clean_imports_leave_what_gpg_leaves() {
    let members = keyring("debian-nonupload");
    let home = Home::new();
    home.import(&std::fs::read("/usr/share/keyrings/debian-nonupload.gpg").expect("a keyring"), &[]);
    let known_ones: Vec<Certificate> = members
        .iter()
        .map(|raw| clean(raw, &CleanOptions::default(), NOW).expect("a sound one").certificate)
        .collect();
    for (raw, known) in members.iter().zip(&known_ones) {
        home.import(&raw.bytes, &["--import-options", "import-clean"]);
        let good = good_certifications(known, &known_ones);
        let certifies = |_: &Component, signature: &SignatureFacts| good.contains(&signature.span.start);
        let ours = compact(known, &Certifications::Good(&certifies), NOW).certificate;
        let fingerprint = known.facts.primary().fingerprint;
        let (theirs, _) = home.gpg(&["--export", &fingerprint.to_string()]);
        assert_eq!(shown(Some(&ours)), packets(&theirs, &[]), "{fingerprint}");
    }
}

/// Where the certifications stand that verify under one of the keys at hand. To GnuPG a key that has ended or was
/// revoked is not at hand.
fn good_certifications(certificate: &Certificate, issuers: &[Certificate]) -> HashSet<u32> {
    let is_usable = |issuer: &&Certificate| {
        evaluate(&issuer.facts, EvaluationContext::new(NOW, PacketView::Gnupg)).primary().is_usable()
    };
    let keys: HashMap<KeyId, Key<'_>> = issuers
        .iter()
        .filter(is_usable)
        .map(|issuer| {
            let first = Packets::new(&issuer.bytes).next().expect("a packet").expect("a sound one");
            let key = key::parse_public(first.body).expect("a key");
            (key.fingerprint().key_id(), key)
        })
        .collect();
    let mut good = HashSet::new();
    let wanted = |_: &Component, facts: &SignatureFacts| {
        facts.own.is_none()
            && DigestPolicy::GNUPG.accepts_certification(facts.hash_algorithm, facts.created.0)
    };
    for_each_digest(certificate, wanted, |_, facts, signature, digest| {
        let Some(key) = keys.get(&facts.issuer.key_id) else { return };
        let check = digest.and_then(|digest| question(key, signature, digest));
        if check.is_ok_and(|check| verify::verify(&[check]) == [Verdict::Good]) {
            good.insert(facts.span.start);
        }
    })
    .expect("the bytes are those of the facts");
    good
}
