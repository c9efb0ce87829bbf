//! Floods of forged signatures: whatever is sent along with a revocation, it counts; and nobody disables a certificate.
//!
//! The certificates are made once, with numbers of OpenSSL's; nobody has their secret keys. Behind each stand the
//! revocations of its key, of its user ID and of its subkey.

use std::sync::atomic::{AtomicU32, Ordering};

use cert::signed::{Digester, Subject};
use cert::{key, packet, signature};
use harness::packets::{Packet, packets};
use harness::{Engine, Home, Run, on_both_engines, scale};

const RSA_4096: &[u8] = include_bytes!("testdata/revocable-rsa-4096.pgp");
const RSA_16384: &[u8] = include_bytes!("testdata/revocable-rsa-16384.pgp");
const DSA_3072: &[u8] = include_bytes!("testdata/revocable-dsa-3072.pgp");
const KARL: &[u8] = include_bytes!("../../crates/engine/src/testdata/designated-revoker-karl.asc");
const RITA: &[u8] = include_bytes!("../../crates/engine/src/testdata/designated-revoker-rita.asc");

/// As many bytes of forgeries as the issue of 2026 was about.
const FLOOD: usize = 20_000_000;

/// What a revocation revokes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Revoked {
    Key,
    UserId,
    Subkey,
}

const ALL: [Revoked; 3] = [Revoked::Key, Revoked::UserId, Revoked::Subkey];

impl Revoked {
    /// The record of a listing that says so.
    fn record(self) -> &'static str {
        match self {
            Self::Key => "pub",
            Self::UserId => "uid",
            Self::Subkey => "sub",
        }
    }
}

/// A certificate that can be revoked.
struct Revocable {
    packets: Vec<Packet<'static>>,
}

impl Revocable {
    fn of(bytes: &'static [u8]) -> Self {
        Self { packets: packets(bytes) }
    }

    fn revocation(&self, revoked: Revoked) -> Packet<'static> {
        self.packets[5 + revoked as usize]
    }

    fn subject(&self, kind: u8) -> Subject<'static> {
        match kind {
            0x13 | 0x30 => Subject::UserId(self.packets[1].body),
            0x28 => Subject::Subkey(key::parse_public(self.packets[3].body).expect("a subkey")),
            _ => Subject::Primary,
        }
    }

    /// Copies of a signature that are younger, padded, and not made by anybody, although their digests begin as they
    /// say: at least so many bytes of them.
    fn forgeries(&self, genuine: Packet<'_>, padding: usize, bytes: usize) -> Vec<Vec<u8>> {
        forgeries(self.packets[0].body, self.subject(genuine.body[1]), genuine, padding, bytes)
    }

    /// The certificate with signatures behind the component that they are over.
    fn with(&self, revoked: Option<Revoked>, signatures: &[Vec<u8>]) -> Vec<u8> {
        let behind = |this| if revoked == Some(this) { signatures.concat() } else { Vec::new() };
        let raw = |index: usize| self.packets[index].raw;
        let (key, user, subkey) = (behind(Revoked::Key), behind(Revoked::UserId), behind(Revoked::Subkey));
        [raw(0), &key, raw(1), raw(2), &user, raw(3), raw(4), &subkey].concat()
    }

    /// So many bytes of forgeries, with the genuine revocation in the midst of them.
    fn flooded(&self, revoked: Revoked, padding: usize, bytes: usize) -> Vec<u8> {
        let genuine = self.revocation(revoked);
        let mut signatures = self.forgeries(genuine, padding, bytes);
        signatures.insert(signatures.len() / 3, genuine.raw.to_vec());
        self.with(Some(revoked), &signatures)
    }
}

fn forgeries(
    primary: &[u8],
    subject: Subject<'_>,
    genuine: Packet<'_>,
    padding: usize,
    bytes: usize,
) -> Vec<Vec<u8>> {
    /// No two forgeries of a run are alike.
    static SERIAL: AtomicU32 = AtomicU32::new(1);
    let mut digester = Digester::new(key::parse_public(primary).expect("a key"));
    let mut over = digester.over(subject);
    let mut forgeries = Vec::new();
    let mut size = 0;
    while size < bytes {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let mut body = padded(genuine.body, padding);
        let created = body.windows(2).position(|window| window == [5, 2]).expect("a creation time") + 2;
        body[created..created + 4].copy_from_slice(&(1_600_000_000 + serial).to_be_bytes());
        let last = body.len() - 4;
        (0..4).for_each(|place| body[last + place] ^= serial.to_be_bytes()[place]);
        let signature = signature::parse(&body).expect("a signature");
        let prefix = over.digest(&signature).expect("a digest").prefix();
        let at = body.len() - signature.material.len() - 2;
        body[at..at + 2].copy_from_slice(&prefix);
        let forgery = packet::write(packet::Tag::SIGNATURE, &body);
        size += forgery.len();
        forgeries.push(forgery);
    }
    forgeries
}

/// A signature of version 4 with so many bytes more among its unhashed subpackets.
fn padded(body: &[u8], padding: usize) -> Vec<u8> {
    if padding == 0 {
        return body.to_vec();
    }
    let number = |at: usize| usize::from(u16::from_be_bytes([body[at], body[at + 1]]));
    let unhashed = 6 + number(4);
    let end = unhashed + 2 + number(unhashed);
    let mut padding = vec![100; padding];
    padding.splice(..0, [&[255][..], &(padding.len() as u32).to_be_bytes()].concat());
    let length = (end - unhashed - 2 + padding.len()) as u16;
    [&body[..unhashed], &length.to_be_bytes(), &body[unhashed + 2..end], &padding, &body[end..]].concat()
}

fn import(home: &Home, bytes: Vec<u8>) -> i32 {
    Run::keyhoard(home).arg("import").stdin(bytes).output().code.expect("an exit code")
}

/// The letters of validity in a listing, by its records.
fn validity(home: &Home) -> Vec<(String, String)> {
    let listing = Run::gpg_keyhoard(home).args(["--with-colons", "--list-keys"]).succeed().text();
    let fields = |line: &str| {
        let mut fields = line.split(':').map(str::to_owned);
        Some((fields.next()?, fields.next()?))
    };
    listing
        .lines()
        .filter_map(fields)
        .filter(|(record, _)| ["pub", "uid", "sub"].contains(&&**record))
        .collect()
}

fn is_revoked(home: &Home, revoked: Revoked) -> bool {
    validity(home).contains(&(revoked.record().to_owned(), "r".to_owned()))
}

fn rebuild(home: &Home) {
    Run::keyhoard(home).args(["doctor", "--rebuild"]).succeed();
    Run::keyhoard(home).arg("doctor").succeed();
}

fn a_revocation_in_20_megabytes_of_forgeries_counts_before_and_after_a_rebuild(engine: Engine) {
    let certificate = Revocable::of(RSA_4096);
    for revoked in ALL {
        let home = engine.home();
        assert_eq!(import(&home, certificate.flooded(revoked, 0, FLOOD)), 0, "{revoked:?}");
        assert!(is_revoked(&home, revoked), "{revoked:?}");
        rebuild(&home);
        assert!(is_revoked(&home, revoked), "{revoked:?}");
    }
}

fn a_revocation_counts_whenever_it_comes_among_imports_of_forgeries(engine: Engine) {
    let certificate = Revocable::of(RSA_4096);
    for revoked in ALL {
        let genuine = certificate.revocation(revoked);
        let flood =
            |padding| certificate.with(Some(revoked), &certificate.forgeries(genuine, padding, 6_000_000));
        let plain = certificate.with(Some(revoked), &[genuine.raw.to_vec()]);
        for place in 0..3 {
            let home = engine.home();
            let mut imports = vec![flood(0), flood(300)];
            imports.insert(place, plain.clone());
            for bytes in imports {
                assert_eq!(import(&home, bytes), 0, "{revoked:?} in import {place}");
            }
            assert!(is_revoked(&home, revoked), "{revoked:?} in import {place}");
            rebuild(&home);
            assert!(is_revoked(&home, revoked), "{revoked:?} in import {place}");
        }
    }
}

fn a_flood_of_forgeries_invalidates_no_key(engine: Engine) {
    let certificate = Revocable::of(RSA_4096);
    let home = engine.home();
    assert_eq!(import(&home, certificate.with(None, &[])), 0);
    let before = validity(&home);
    for revoked in ALL {
        let forgeries = certificate.forgeries(certificate.revocation(revoked), 0, 9_000_000);
        assert_eq!(import(&home, certificate.with(Some(revoked), &forgeries)), 0, "{revoked:?}");
        assert_eq!(validity(&home), before, "{revoked:?}");
    }
}

fn a_revocation_imported_without_its_certificate_counts_after_a_stored_flood(engine: Engine) {
    let certificate = Revocable::of(RSA_4096);
    let home = engine.home();
    let genuine = certificate.revocation(Revoked::Key);
    let forgeries = certificate.forgeries(certificate.revocation(Revoked::UserId), 0, 4_000_000);
    assert_eq!(import(&home, certificate.with(Some(Revoked::UserId), &forgeries)), 0);
    assert_eq!(import(&home, genuine.raw.to_vec()), 0);
    assert!(is_revoked(&home, Revoked::Key));
    rebuild(&home);
    assert!(is_revoked(&home, Revoked::Key));
}

fn a_revocation_that_an_undo_keeps_or_restores_counts(engine: Engine) {
    let certificate = Revocable::of(RSA_4096);
    let home = engine.home();
    assert_eq!(import(&home, certificate.with(None, &[])), 0);
    assert_eq!(import(&home, certificate.flooded(Revoked::Key, 0, FLOOD)), 0);
    Run::keyhoard(&home).arg("undo").output();
    assert!(is_revoked(&home, Revoked::Key), "a revocation is not taken back unasked");
    Run::keyhoard(&home).args(["delete", "--yes", "rsa-4096@example.org"]).output();
    Run::keyhoard(&home).arg("undo").output();
    assert!(is_revoked(&home, Revoked::Key));
}

#[test]
fn a_revocation_by_a_key_of_16384_bits_counts_in_20_megabytes_of_forgeries() {
    let certificate = Revocable::of(RSA_16384);
    for revoked in ALL {
        let home = Home::new();
        assert_eq!(import(&home, certificate.flooded(revoked, 0, FLOOD)), 0, "{revoked:?}");
        assert!(is_revoked(&home, revoked), "{revoked:?}");
        rebuild(&home);
        assert!(is_revoked(&home, revoked), "{revoked:?}");
    }
}

/// As many bytes of forgeries as it takes three commands to verify under DSA; in a full run as many as elsewhere.
fn too_much_for_dsa() -> usize {
    scale::choose(FLOOD, 35_000 * 130)
}

fn stress_a_certificate_of_a_slow_algorithm_is_not_valid_until_all_of_a_flood_is_verified(engine: Engine) {
    let certificate = Revocable::of(DSA_3072);
    let home = engine.home();
    let flood = certificate.flooded(Revoked::Key, 0, too_much_for_dsa());
    let done = Run::keyhoard(&home).arg("import").stdin(flood).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("not fully checked"), "{}", done.errors());
    let letters = validity(&home);
    assert!(letters.contains(&("pub".to_owned(), "i".to_owned())), "{letters:?}");
    let listed = &Run::keyhoard(&home).args(["list", "--json"]).succeed().json_lines()[0];
    assert_eq!(listed["fully_checked"], false, "{listed}");
    let encrypt = ["encrypt", "--to", "dsa-3072@example.org"];
    assert_ne!(Run::keyhoard(&home).args(encrypt).stdin("text").output().code, Some(0));
    rebuild(&home);
    let is_settled = || validity(&home)[0].1 != "i";
    let checks = (0..9).take_while(|_| !is_settled()).filter(|_| {
        let code = Run::keyhoard(&home).arg("check").output().code;
        assert!(code == Some(2), "{code:?}");
        true
    });
    assert!(checks.count() > 0, "it was not done at once");
    let command = Run::keyhoard(&home).args(["log", "--json"]).succeed().json_lines()[0]["command"].clone();
    assert_eq!(command, "keyhoard check");
    assert!(is_revoked(&home, Revoked::Key));
    // All are verified now, and the forged ones that were kept are bad signatures: the documented exit code is 1.
    assert_eq!(Run::keyhoard(&home).arg("check").output().code, Some(1));
    rebuild(&home);
    assert!(is_revoked(&home, Revoked::Key));
}

fn stress_repeating_an_import_verifies_what_the_first_one_left_unverified(engine: Engine) {
    let certificate = Revocable::of(DSA_3072);
    let home = engine.home();
    let genuine = certificate.revocation(Revoked::Subkey);
    let forgeries = certificate.forgeries(genuine, 0, too_much_for_dsa() / 2);
    let flood = certificate.with(Some(Revoked::Subkey), &forgeries);
    let mut codes = vec![import(&home, flood.clone())];
    while codes.last() == Some(&2) && codes.len() < 9 {
        assert_eq!(validity(&home)[0].1, "i");
        codes.push(import(&home, flood.clone()));
    }
    assert!(codes.len() > 1 && codes.last() == Some(&0), "{codes:?}");
    assert!(!is_revoked(&home, Revoked::Subkey), "nobody has revoked it");
    assert_ne!(validity(&home)[0].1, "i", "and it is valid again");
}

fn a_designated_revocation_counts_behind_forged_direct_key_signatures_and_revocations(engine: Engine) {
    let scratch = Home::new();
    let binary =
        |armored: &[u8]| Run::gpg_keyhoard(&scratch).arg("--dearmor").stdin(armored).succeed().stdout;
    let (karl, rita) = (binary(KARL), binary(RITA));
    let parts = packets(&karl);
    let [key, revocation, naming] = [parts[0], parts[1], parts[2]];
    let rest: Vec<u8> = parts[3..].iter().flat_map(|packet| packet.raw).copied().collect();
    let forged = |genuine, bytes| forgeries(key.body, Subject::Primary, genuine, 0, bytes).concat();
    let flooded = |bytes| {
        let (before, after) = (forged(naming, bytes), forged(revocation, bytes));
        [key.raw, &before, revocation.raw, naming.raw, &after, &rest].concat()
    };
    for bytes in [64 * naming.raw.len(), 4_000_000] {
        for rita_first in [true, false] {
            let home = engine.home();
            let mut imports = vec![flooded(bytes), rita.clone()];
            imports.rotate_left(usize::from(rita_first));
            imports.into_iter().for_each(|bytes| assert_eq!(import(&home, bytes), 0));
            assert!(validity(&home).contains(&("pub".to_owned(), "r".to_owned())), "{bytes}, {rita_first}");
            rebuild(&home);
            assert!(validity(&home).contains(&("pub".to_owned(), "r".to_owned())), "{bytes}, {rita_first}");
        }
    }
}

#[test]
fn a_certificate_whose_good_self_signature_follows_20000_forgeries_is_imported() {
    let certificate = Revocable::of(RSA_4096);
    let [key, user, good, ..] = certificate.packets[..] else { panic!("a key, a user ID, a signature") };
    let forgeries = certificate.forgeries(good, 0, 20_000 * good.raw.len());
    for behind in [true, false] {
        let mut packets = vec![key.raw.to_vec(), user.raw.to_vec()];
        packets.extend(forgeries.clone());
        packets.insert(if behind { packets.len() } else { 2 }, good.raw.to_vec());
        let home = Home::new();
        assert_eq!(import(&home, packets.concat()), 0);
        assert_eq!(validity(&home).len(), 2, "the key and its user ID");
    }
}

#[test]
fn a_certificate_with_more_self_signatures_than_can_be_verified_is_refused_with_an_error_and_exit_code_2() {
    let certificate = Revocable::of(DSA_3072);
    let [key, user, good, ..] = certificate.packets[..] else { panic!("a key, a user ID, a signature") };
    let forgeries = certificate.forgeries(good, 0, 20_000 * good.raw.len());
    let bytes = [key.raw, user.raw, &forgeries.concat(), good.raw].concat();
    let home = Home::new();
    let done = Run::keyhoard(&home).arg("import").stdin(bytes.clone()).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("too many"), "{}", done.errors());
    let done = Run::gpg_keyhoard(&home).arg("--import").stdin(bytes).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("not fully checked"), "{}", done.errors());
}

#[test]
fn an_import_says_of_removed_signatures_whether_they_name_the_key_itself() {
    let certificate = Revocable::of(RSA_4096);
    let forgeries = certificate.forgeries(certificate.revocation(Revoked::Key), 0, 9_000_000);
    let flood = certificate.with(Some(Revoked::Key), &forgeries);
    let what = format!("{} forged or surplus signatures that name the key itself", forgeries.len());
    let home = Home::new();
    let done = Run::gpg_keyhoard(&home).arg("--import").stdin(flood.clone()).succeed();
    let text = format!("key too large: {what} removed\n");
    assert!(done.errors().contains(&text), "{}", done.errors());
    let home = Home::new();
    let done = Run::keyhoard(&home).args(["import", "--verbose"]).stdin(flood).succeed();
    let text = format!("{what} left out: the certificate is too large");
    assert!(done.text().contains(&text), "{}", done.text());
}

on_both_engines! {
    a_revocation_in_20_megabytes_of_forgeries_counts_before_and_after_a_rebuild
    a_revocation_counts_whenever_it_comes_among_imports_of_forgeries
    a_flood_of_forgeries_invalidates_no_key
    a_revocation_imported_without_its_certificate_counts_after_a_stored_flood
    a_revocation_that_an_undo_keeps_or_restores_counts
    stress_a_certificate_of_a_slow_algorithm_is_not_valid_until_all_of_a_flood_is_verified
    stress_repeating_an_import_verifies_what_the_first_one_left_unverified
    a_designated_revocation_counts_behind_forged_direct_key_signatures_and_revocations
}
