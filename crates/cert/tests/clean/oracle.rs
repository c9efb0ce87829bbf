//! Mutated certificates, imported by the installed `gpg` and by us: the same packets, in the same order.

use crate::digests::for_each_digest;
use crate::gnupg::Gnupg;
use crate::made::raw;
use crate::mutated::{Numbers, Parts, digest_prefix, keyring, unhashed};
use crate::scale;
use keyhoard_cert::clean::{CleanOptions, CleaningNote, clean};
use keyhoard_cert::compact::{CompactOptions, compact};
use keyhoard_cert::effective::{EvaluationContext, PacketView, evaluate};
use keyhoard_cert::key::{self, Key};
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::signed::question;
use keyhoard_cert::split::RawCertificate;
use keyhoard_cert::{Certificate, KeyId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::Command;
use verify::Verdict;
use verify::naming::sha256;
use verify::policy::DigestPolicy;

/// 2026-01-01, the moment at which both import.
const NOW: Timestamp = Timestamp(1_767_225_600);

/// Seeds with which a test failed once.
const FAILED_BEFORE: [u64; 4] = [1_000_128, 2_000_123, 3_000_737, 4_760_738];

/// Returns the seeds of the certificates that a test tries, those with which it failed before first; each takes gpg some
/// 50 ms. Every test has its number, so that no two try the same.
fn seeds(test: u64) -> impl Iterator<Item = u64> {
    let failed = FAILED_BEFORE.into_iter().filter(move |seed| seed / 1_000_000 == test);
    let first = test * 1_000_000 + scale::seed().saturating_sub(1) * 10_000;
    failed.chain(first..first + scale::choose(2000, 40))
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
        let output = Command::new(Gnupg::V2_2.program("gpg"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .arg("--homedir")
            .arg(self.directory.path())
            .args(["--batch", "--quiet", "--no-autostart", "--no-auto-check-trustdb"])
            .args(["--faked-system-time", "20260101T000000!", "--status-fd", "2"])
            .args(arguments)
            .output()
            .expect("gpg is unpacked");
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
        .map(|packet| name(packet.tag, packet.body))
        .collect()
}

fn name(tag: Tag, body: &[u8]) -> String {
    let [a, b, c, d, ..] = sha256(&[body]);
    format!("{} {a:02x}{b:02x}{c:02x}{d:02x}", tag.0)
}

/// A version 4 signature in its parts; the unhashed subpackets are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SignatureParts<'a> {
    /// Type, algorithms and hashed subpackets.
    signed: &'a [u8],
    digest_prefix: &'a [u8],
    /// The numbers, which only the issuer can make.
    value: &'a [u8],
}

impl<'a> SignatureParts<'a> {
    fn of(body: &'a [u8]) -> Option<Self> {
        let (&4, unhashed) = (body.first()?, unhashed(body)) else { return None };
        let (prefix, signed) = (digest_prefix(body), &body[..unhashed]);
        Some(Self { signed, digest_prefix: &body[prefix..prefix + 2], value: &body[prefix + 2..] })
    }
}

/// The packets of an input that are copies of one signature, but with another type, other hashed subpackets or another
/// digest prefix, so that at most one of them is genuine.
fn false_copies(input: &[u8]) -> HashSet<String> {
    let packets = Packets::new(input).map(|packet| packet.expect("a packet"));
    let signatures = packets.filter(|packet| packet.tag == Tag::SIGNATURE);
    let parts: Vec<_> =
        signatures.filter_map(|packet| Some((packet.body, SignatureParts::of(packet.body)?))).collect();
    let is_false_copy =
        |one: &SignatureParts<'_>| parts.iter().any(|(_, other)| one.value == other.value && one != other);
    let false_copies = parts.iter().filter(|(_, parts)| is_false_copy(parts));
    false_copies.map(|(body, _)| name(Tag::SIGNATURE, body)).collect()
}

/// Compares the packets that we keep of an input with those that gpg keeps.
///
/// They are the same, except where the input has false copies of a signature: of those gpg keeps the first or the last,
/// and may then drop the component that it is over. We keep the genuine one. So false copies are not compared, and gpg
/// may lack components that have one.
fn assert_as_gpg(input: &[u8], ours: &[String], theirs: &[String], what: &str) {
    if ours == theirs {
        return;
    }
    let false_copies = false_copies(input);
    let is_compared = |packet: &&String| !false_copies.contains(*packet);
    let mut theirs = components(theirs).peekable();
    // Without a user ID gpg keeps nothing.
    if theirs.peek().is_none() && ours.iter().any(|packet| false_copies.contains(packet)) {
        return;
    }
    for component in components(ours) {
        let has_false_copy = component.iter().any(|packet| false_copies.contains(packet));
        let compared =
            |component: &[String]| component.iter().filter(is_compared).cloned().collect::<Vec<_>>();
        let as_gpg = theirs.next_if(|other| compared(other) == compared(component));
        assert!(as_gpg.is_some() || has_false_copy, "{what}: not as gpg: {component:?}");
    }
    assert_eq!(theirs.next(), None, "{what}: gpg keeps more than {ours:?}");
}

/// Divides packets into components with their signatures.
fn components(packets: &[String]) -> impl Iterator<Item = &[String]> {
    packets.chunk_by(|_, next| next.starts_with("2 "))
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

fn compare_cleaning(seeds: impl Iterator<Item = u64>, options: &CleanOptions, gpg_options: &[&str]) {
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
        assert_as_gpg(&input, &shown(ours.as_ref()), &home.export(), &format!("mutation {seed}"));
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
        let mut behind_subkeys = HashSet::new();
        let mut copies = 0;
        for step in 0..3 {
            let mut parts = original.clone();
            parts.thin(&mut numbers, 3, 4);
            parts.spoil(&mut numbers);
            let input = parts.bytes();
            let mut theirs = home.import(&input, &[]);
            let was_known = known.is_some();
            let ours;
            (known, ours) = import(known, &split(&input), &CleanOptions::default());
            behind_subkeys.extend(certifications_behind_subkeys(&input));
            let shown = shown(known.as_ref());
            let (exported, copies_now) = without_copies(home.export(), &shown, &behind_subkeys);
            assert_eq!(shown, exported, "mutation {seed}, step {step}");
            theirs[2] -= copies_now - copies;
            copies = copies_now;
            if was_known {
                assert_eq!(ours, theirs, "mutation {seed}, step {step}: user IDs, subkeys, signatures");
            }
        }
    }
}

/// Returns the certifications of an input that stand behind a subkey, where they are not made.
fn certifications_behind_subkeys(input: &[u8]) -> HashSet<String> {
    let packets = Packets::new(input).map(|packet| packet.expect("a packet"));
    let behind = packets.skip_while(|packet| packet.tag != Tag::PUBLIC_SUBKEY);
    let is_over_user_id = |body: &[u8]| matches!(body, [4, 0x10..=0x13 | 0x30, ..]);
    let misplaced = behind.filter(|packet| packet.tag == Tag::SIGNATURE && is_over_user_id(packet.body));
    misplaced.map(|packet| name(packet.tag, packet.body)).collect()
}

/// Leaves out what gpg copies of certifications behind a new subkey: it adds them to the last user ID as well. Returns
/// also how many these are.
fn without_copies(
    theirs: Vec<String>,
    ours: &[String],
    behind_subkeys: &HashSet<String>,
) -> (Vec<String>, u32) {
    let mut ours = ours.iter().peekable();
    let all = theirs.len();
    let mut kept = theirs;
    kept.retain(|packet| ours.next_if_eq(&packet).is_some() || !behind_subkeys.contains(packet));
    let copies = (all - kept.len()) as u32;
    (kept, copies)
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
        let ours = ours.map(|ours| compacted(&ours, true, &HashSet::new()));
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
        let ours = compacted(known, false, &good);
        let fingerprint = known.facts.primary().fingerprint;
        let (theirs, _) = home.gpg(&["--export", &fingerprint.to_string()]);
        assert_eq!(shown(Some(&ours)), packets(&theirs, &[]), "{fingerprint}");
    }
}

/// Compacts a certificate, with the offsets of the certifications by others that are good.
fn compacted(certificate: &Certificate, minimal: bool, good: &HashSet<u32>) -> Certificate {
    let options = CompactOptions {
        minimal,
        expired_subkeys: false,
        min_cert_level: 2,
        accept_unsigned_user_ids: false,
    };
    let is_good = |component: usize, signature: usize| {
        let signature = &certificate.facts.components[component].signatures[signature];
        signature.counts(certificate.facts.primary()) || good.contains(&signature.span.start)
    };
    compact(certificate, &is_good, &options, NOW)
}

/// Returns the offsets of the certifications that verify under one of the keys at hand. To GnuPG a key that has expired or was
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
    for_each_digest(certificate, |facts, signature, digest| {
        let is_wanted = facts.own.is_none()
            && DigestPolicy::GNUPG.accepts_certification(facts.hash_algorithm, facts.created.0);
        let Some(key) = keys.get(&facts.issuer.key_id).filter(|_| is_wanted) else { return };
        let check = digest.and_then(|digest| question(key, signature, digest));
        if check.is_ok_and(|check| verify::verify(&[check]) == [Verdict::Good]) {
            good.insert(facts.span.start);
        }
    });
    good
}
