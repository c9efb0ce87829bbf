//! Signatures are checked as the real gpg checks them: each mark, each name, each sum.
//!
//! Where an issuer is expired or revoked now, gpg's mark depends on which keys its process looked at before; those
//! lines are left out of both listings.

use std::collections::HashSet;
use std::ffi::OsString;

use harness::colons::records;
use harness::{Both, Gnupg, Output, Reference, difference, mask, scale, without_trust_database};
use lab::made::Web;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use crate::oracle_trust_webs::imported;

const LISTINGS: [&[&str]; 5] = [
    &["--check-sigs"],
    &["--with-colons", "--check-sigs"],
    // With colons gpg ends with a crash here.
    &["--no-sig-cache", "--check-sigs"],
    &["--allow-weak-key-signatures", "--with-colons", "--check-sigs"],
    &["--list-options", "show-sig-expire,show-notations,show-policy-urls", "--check-sigs"],
];

/// How many of the developers `make test` checks.
const SAMPLE: usize = 12;

/// How many made webs of trust a full run checks, and `make test`.
const WEBS: u64 = 60;
const SAMPLED_WEBS: u64 = 3;

#[test]
fn oracle_signatures_on_the_members_who_do_not_upload_are_marked_as_gpg_marks_them() {
    for gnupg in Gnupg::ALL {
        let both = Both::of_version(gnupg, Reference::Nonupload);
        for listing in LISTINGS {
            compare(&both, listing, &[]);
        }
    }
}

#[test]
fn oracle_signatures_on_the_maintainers_are_marked_as_gpg_marks_them() {
    let both = Both::of(Reference::Maintainers);
    for listing in &LISTINGS[..scale::choose(LISTINGS.len(), 2)] {
        compare(&both, listing, &[]);
    }
}

#[test]
fn oracle_signatures_on_the_developers_are_marked_as_gpg_marks_them() {
    let both = Both::of(Reference::Developers);
    if scale::is_full() {
        LISTINGS[..3].iter().for_each(|listing| compare(&both, listing, &[]));
        return;
    }
    let listed = both.run(["--with-colons", "--list-keys"]);
    let mut keys: Vec<String> = records(&listed[1].stdout)
        .iter()
        .filter(|record| record.kind() == "pub")
        .map(|record| record.text(5))
        .collect();
    keys.shuffle(&mut StdRng::seed_from_u64(scale::seed()));
    keys.truncate(SAMPLE);
    for listing in LISTINGS {
        compare(&both, listing, &keys);
    }
}

/// Forged and misdated certifications, some by subkeys, by keys that have expired or are revoked, on user IDs that
/// nobody has_good_status for.
#[test]
fn oracle_signatures_of_made_webs_are_marked_as_gpg_marks_them() {
    let first = scale::seed() * 1000;
    let mut differing = Vec::new();
    for seed in first..first + scale::choose(WEBS, SAMPLED_WEBS) {
        let imported = imported(&Web::small(seed));
        let unfit = unfit_issuers(&imported.copy(), &["pub", "sub"]);
        let listings = &LISTINGS[..scale::choose(LISTINGS.len(), 2)];
        differing.extend(listings.iter().filter_map(|listing| {
            // gpg keeps what it has made of the options in its trust database.
            let both = imported.copy();
            let differing = difference_of_checks(&both, listing, &[], &unfit, without_trust_database)?;
            Some(format!("web {seed}: {differing}"))
        }));
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

#[test]
fn oracle_a_weak_digest_of_the_options_is_refused_everywhere() {
    let both = Both::of(Reference::Nonupload);
    compare(&both, &["--weak-digest", "RIPEMD160", "--with-colons", "--check-sigs"], &[]);
    // In self-signatures too, but there gpg takes its word of earlier unless it is told not to.
    both.assert_same_output(["--weak-digest", "SHA256", "--with-colons", "--list-sigs"]);
    for listing in ["--list-keys", "--list-sigs"] {
        for (name, refused) in [("SHA1", true), ("SHA224", false)] {
            let arguments = ["--no-sig-cache", "--weak-digest", name, "--with-colons", listing];
            both.assert_same_output(arguments);
            let plain = both.run(["--with-colons", listing]);
            let weak = both.run(arguments);
            assert_eq!(weak[1].text() != plain[1].text(), refused, "{name}");
        }
    }
}

#[test]
fn oracle_an_unacceptable_signature_has_a_percent_mark() {
    let both = Both::of(Reference::Nonupload);
    compare(&both, &["--no-sig-cache", "--weak-digest", "SHA512", "--check-sigs"], &[]);
    let [_, keyhoard] = both.run(["--no-sig-cache", "--weak-digest", "SHA512", "--check-sigs"]);
    assert!(keyhoard.text().contains("\nsig%"), "{}", keyhoard.text());
}

/// Asserts that both programs list the same, and count as many signatures.
fn compare(both: &Both, listing: &[&str], keys: &[String]) {
    let unfit = unfit_issuers(both, &["pub"]);
    if let Some(difference) = difference_of_checks(both, listing, keys, &unfit, <[u8]>::to_vec) {
        panic!("{difference}");
    }
}

/// Returns what differs in the listings, but for what is hidden, or in how many signatures are counted.
fn difference_of_checks(
    both: &Both,
    listing: &[&str],
    keys: &[String],
    unfit: &HashSet<String>,
    hide: fn(&[u8]) -> Vec<u8>,
) -> Option<String> {
    // gpg 2.4 orders signatures of one issuer with one date by what is in its memory.
    let unsorted = [&["--list-options", "no-sort-sigs"][..], listing].concat();
    let listing = if both.gnupg() == Gnupg::V2_4 { &unsorted[..] } else { listing };
    let arguments: Vec<OsString> =
        listing.iter().map(OsString::from).chain(keys.iter().map(OsString::from)).collect();
    let [gpg, keyhoard] = both.run(&arguments);
    let [expected, found] = [(&gpg, &both.gpg), (&keyhoard, &both.keyhoard)]
        .map(|(done, home)| without_unfit(&hide(&mask(&done.stdout, home)), unfit));
    assert!(found.contains("sig!") || found.contains("sig:!"), "nothing was checked");
    let title = format!("{arguments:?}");
    if let Some(difference) = difference(&title, expected.as_bytes(), found.as_bytes()) {
        return Some(difference);
    }
    let [expected, found] = [sums(&gpg), sums(&keyhoard)];
    let are_all_counted = expected.iter().sum::<u64>() == found.iter().sum::<u64>();
    // No good signature is missed.
    let is_same = gpg.code == keyhoard.code && are_all_counted && found[0] >= expected[0];
    let codes = [gpg.code, keyhoard.code];
    (!is_same).then(|| format!("{title}: {codes:?}, sums {expected:?} and {found:?}"))
}

/// Returns the key IDs of the keys of some kinds that are expired or revoked now.
fn unfit_issuers(both: &Both, kinds: &[&str]) -> HashSet<String> {
    let [listed, _] = both.run(["--with-colons", "--list-keys"]);
    let all = records(&listed.stdout);
    let unfit =
        all.iter().filter(|record| kinds.contains(&record.kind()) && matches!(record.field(2), b"e" | b"r"));
    unfit.map(|record| record.text(5)).collect()
}

/// Returns a listing without the signatures that unfit issuers made on other keys, and what is said about them.
fn without_unfit(listing: &[u8], unfit: &HashSet<String>) -> String {
    let text = String::from_utf8_lossy(listing);
    let (mut kept, mut own, mut dropped) = (String::new(), String::new(), false);
    for line in text.lines() {
        if let Some(key) = primary_key_id(line) {
            own = key;
        }
        dropped = match issuer(line) {
            Some(issuer) => issuer != own && unfit.contains(issuer),
            None => dropped && (line.starts_with("      ") || line.starts_with("   ")),
        };
        if !dropped {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns the key ID where a line tells of a primary key: in colons its record, for people the fingerprint below it.
fn primary_key_id(line: &str) -> Option<String> {
    if let Some(record) = line.strip_prefix("pub:") {
        return record.split(':').nth(3).map(str::to_owned);
    }
    let digits = line.strip_prefix("      ")?;
    let is_fingerprint = digits.len() == 40 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_fingerprint.then(|| digits[24..].to_owned())
}

/// Returns the issuer's key ID of a line about a signature.
fn issuer(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("sig").or_else(|| line.strip_prefix("rev"))?;
    match rest.strip_prefix(':') {
        Some(fields) => fields.split(':').nth(3),
        None => rest.get(10..26),
    }
}

/// Returns how many signatures were good, bad, not checked for want of a key, and not checked because of an error.
fn sums(done: &Output) -> [u64; 4] {
    let errors = done.errors();
    ["good signature", "bad signature", "missing key", "error"].map(|words| {
        let line = errors.lines().find(|line| line.contains(words) && !line.contains("Note"));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0)
    })
}
