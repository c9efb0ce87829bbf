//! Input that wants to cost more than it is worth: refused or imported within limits, never a panic.

use harness::packets::{bytes, certificates};
use harness::{Home, Keyring, Output, Run, scale};
use lab::made::MadeKeyring;
use lab::measure::Cost;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::Read;

/// The most memory that an import may take.
const MAX_MEMORY: u64 = 96 << 20;
/// What a flood may take here, in a program with every check switched on, on a machine that is busy otherwise;
/// `make bench` measures the 2 s that are promised.
const MAX_SECONDS: f64 = 10.0;

#[test]
fn a_flood_of_signatures_by_unknown_keys_is_imported_within_the_limits() {
    let home = Home::new();
    import_flood(&home, "unknown");
    let listing = Run::gpg_keyhoard(&home).args(["--list-keys", "flooded@example.org"]).succeed();
    assert!(listing.text().contains("Flooded <flooded@example.org>"), "{}", listing.text());
}

/// Which of them are verified is a matter of budget: the good one among them may be too old for it.
#[test]
fn a_flood_of_bad_signatures_that_claim_to_be_the_certificates_own_stays_within_the_limits() {
    import_flood(&Home::new(), "itself");
}

fn import_flood(home: &Home, by: &str) {
    let flood = home.path().join("flood.gpg");
    Run::lab(home).args(["make-flood", "200000", "--by", by, "--output"]).arg(&flood).succeed();
    let (done, cost) = Run::gpg_keyhoard(home).arg("--import").arg(&flood).measured();
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert!(cost.processor() < MAX_SECONDS && cost.peak_memory < MAX_MEMORY, "{cost:?}");
    assert!(done.errors().len() < 4096, "a few lines, not one for each signature");
}

#[test]
fn a_packet_of_100_megabytes_is_refused_cheaply() {
    for tag in [2, 6, 13, 17] {
        let mut input = vec![0xC0 | tag, 0xFF];
        input.extend_from_slice(&100_000_000_u32.to_be_bytes());
        input.resize(100_000_000 + 6, b'a');
        let (done, cost) = import(input);
        assert_refused(&done, &cost);
    }
}

#[test]
fn a_packet_that_ends_before_the_length_it_announces_is_refused_cheaply() {
    let (done, cost) = import(vec![0xC6, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 4, 0, 0, 0, 0]);
    assert_refused(&done, &cost);
}

#[test]
fn compressed_packets_nested_a_hundred_thousand_deep_are_refused_cheaply() {
    // Compressed data of indeterminate length, with the algorithm that leaves it as it is.
    let (done, cost) = import([0xA3, 0].repeat(100_000));
    assert_refused(&done, &cost);
}

#[test]
fn a_compressed_packet_that_unpacks_to_10_gigabytes_is_refused_cheaply() {
    let zeros = std::io::repeat(0).take(10_000_000_000);
    let marker: &[u8] = &[0xCA, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
    let mut input = vec![0xA3, 2];
    let mut packed = flate2::read::ZlibEncoder::new(marker.chain(zeros), flate2::Compression::fast());
    packed.by_ref().take(2_000_000).read_to_end(&mut input).expect("zeros never end");
    let (done, cost) = import(input);
    assert_refused(&done, &cost);
    assert!(done.errors().contains("more data than the limit"), "{}", done.errors());
}

#[test]
fn signatures_embedded_in_each_other_as_deep_as_they_go_cost_no_more_than_others() {
    let recipe = MadeKeyring { certificates: 1, seed: scale::seed() };
    let mut certificate = recipe.certificate(0).bytes();
    certificate.extend(signature_packet(&nested_signature(2500)));
    let home = Home::new();
    let (done, cost) = Run::gpg_keyhoard(&home).arg("--import").stdin(certificate).measured();
    assert_no_panic(&done);
    assert!(cost.processor() < MAX_SECONDS && cost.peak_memory < MAX_MEMORY, "{cost:?}");
    assert_eq!(imported(&home), 1, "{}", done.errors());
}

/// Makes the content of a signature that embeds another one, and so on (RFC 9580 section 5.2.3.34).
fn nested_signature(depth: usize) -> Vec<u8> {
    let mut signature = Vec::new();
    for _ in 0..depth {
        let mut area = vec![0xFF];
        area.extend_from_slice(&(signature.len() as u32 + 1).to_be_bytes());
        area.push(32);
        area.append(&mut signature);
        signature.extend_from_slice(&[4, 0x13, 22, 8]);
        signature.extend_from_slice(&(area.len() as u16).to_be_bytes());
        signature.append(&mut area);
        signature.extend_from_slice(&[0, 0, 0x12, 0x34, 0, 1, 1, 0, 1, 1]);
    }
    signature
}

fn signature_packet(content: &[u8]) -> Vec<u8> {
    [&[0xC2, 0xFF][..], &(content.len() as u32).to_be_bytes(), content].concat()
}

#[test]
fn the_intact_certificates_of_a_damaged_keyring_are_imported_and_the_damaged_one_is_reported_with_its_position()
 {
    let keyring = Keyring::Nonupload.bytes();
    let certificates = certificates(&keyring);
    let count = certificates.len();
    let place: usize = certificates[..5].iter().map(|certificate| bytes(certificate).len()).sum();
    let mut damaged = keyring.clone();
    let primary_key = certificates[5][0];
    // A version of key that nobody knows.
    damaged[place + primary_key.raw.len() - primary_key.body.len()] = 99;
    let home = Home::new();
    let done = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "--import"]).stdin(damaged).output();
    assert!(done.errors().contains(&place.to_string()), "byte {place}: {}", done.errors());
    assert_eq!(imported(&home), count - 1);
}

#[test]
fn a_keyring_cut_off_anywhere_gives_every_certificate_before_the_cut() {
    let keyring = Keyring::Nonupload.bytes();
    let ends: Vec<usize> = certificates(&keyring)
        .iter()
        .scan(0, |end, certificate| {
            *end += bytes(certificate).len();
            Some(*end)
        })
        .collect();
    let mut rng = StdRng::seed_from_u64(scale::seed());
    for _ in 0..scale::choose(100, 10) {
        let cut = rng.random_range(0..keyring.len());
        let home = Home::new();
        let done = Run::gpg_keyhoard(&home).arg("--import").stdin(&keyring[..cut]).output();
        assert_no_panic(&done);
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let imported = imported(&home);
        assert!((whole..=whole + 1).contains(&imported), "cut at {cut}: {imported} of {whole} imported");
    }
}

#[test]
fn damage_anywhere_never_makes_a_program_panic() {
    let keyring = Keyring::Nonupload.bytes();
    let mut rng = StdRng::seed_from_u64(scale::seed());
    for _ in 0..scale::choose(200, 10) {
        let mut damaged = keyring.clone();
        for _ in 0..rng.random_range(1..200) {
            let position = rng.random_range(0..damaged.len());
            damaged[position] = rng.random();
        }
        let home = Home::new();
        let import = Run::gpg_keyhoard(&home).arg("--import").stdin(damaged).output();
        assert_no_panic(&import);
        let listing =
            Run::gpg_keyhoard(&home).args(["--with-colons", "--with-keygrip", "--list-sigs"]).output();
        assert_no_panic(&listing);
    }
}

fn import(input: Vec<u8>) -> (Output, Cost) {
    Run::gpg_keyhoard(&Home::new()).arg("--import").stdin(input).measured()
}

fn imported(home: &Home) -> usize {
    let listing = Run::gpg_keyhoard(home).args(["--with-colons", "--list-keys"]).succeed().text();
    listing.lines().filter(|line| line.starts_with("pub:")).count()
}

fn assert_refused(done: &Output, cost: &Cost) {
    assert_no_panic(done);
    assert!(!done.stderr.is_empty(), "nothing was said");
    assert!(cost.processor() < MAX_SECONDS && cost.peak_memory < MAX_MEMORY, "{cost:?}");
}

fn assert_no_panic(done: &Output) {
    assert!(done.code.is_some_and(|code| code < 100), "exit code {:?}\n{}", done.code, done.errors());
    assert!(!done.errors().contains("panicked"), "{}", done.errors());
}
