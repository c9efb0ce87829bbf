//! Every listing of Debian's keyrings, byte for byte what each of the two real gpgs lists.

use std::ffi::OsString;

use harness::{Both, Gnupg, Home, Reference, Run, scale};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// The listings, each in both formats. The last one reads the keyrings' files, the others the database.
const LISTINGS: [&[&str]; 6] = [
    &["--list-keys"],
    &["--list-sigs"],
    &["--fast-list-mode", "--list-sigs"],
    &["--fingerprint", "--fingerprint"],
    &["--with-keygrip", "-k"],
    &["--show-keys"],
];
const FORMATS: [&[&str]; 2] = [&[], &["--with-colons"]];

/// How many of the combinations `make test` compares for the big keyrings.
const SAMPLE: usize = 4;

#[test]
fn oracle_listings_of_the_members_who_do_not_upload_equal_gpgs() {
    compare(Reference::Nonupload, |combinations, _| combinations);
}

#[test]
fn oracle_listings_of_the_maintainers_equal_gpgs() {
    compare(Reference::Maintainers, |combinations, _| combinations);
}

#[test]
fn oracle_listings_of_the_developers_equal_gpgs() {
    compare(Reference::Developers, sample);
}

#[test]
fn oracle_listings_of_all_three_together_equal_gpgs() {
    compare(Reference::Three, |combinations, salt| sample(combinations, salt + 2));
}

#[test]
fn oracle_listings_at_other_dates_equal_gpgs() {
    for (salt, now) in
        ["20000101T000000!", "20100615T120000!", "20191231T235959!", "20400101T000000!"].iter().enumerate()
    {
        let reference = Reference::Maintainers;
        for gnupg in Gnupg::ALL {
            let chosen = sample(combinations(reference), 4 + 2 * salt as u64 + gnupg as u64);
            let both = Both::of_version(gnupg, reference).now(now);
            assert_none(gnupg, &differences(gnupg, &both, &chosen), chosen.len());
        }
    }
}

/// Compares the listings that are chosen for each gpg, with a salt of its own.
fn compare(reference: Reference, chosen: fn(Vec<Vec<OsString>>, u64) -> Vec<Vec<OsString>>) {
    for gnupg in Gnupg::ALL {
        let chosen = chosen(combinations(reference), gnupg as u64);
        let found = differences(gnupg, &Both::of_version(gnupg, reference), &chosen);
        assert_none(gnupg, &found, chosen.len());
    }
}

/// Files are shown in homes of their own: in colon mode gpg fails where a trust database was never made, and where
/// there is one its listings of the home's own keys say so.
fn differences(gnupg: Gnupg, both: &Both, combinations: &[Vec<OsString>]) -> Vec<String> {
    let shows_files = |arguments: &&Vec<OsString>| arguments.iter().any(|argument| argument == "--show-keys");
    let (files, listings): (Vec<_>, Vec<_>) = combinations.iter().partition(shows_files);
    let empty = Both::new().with(gnupg).now(both.clock());
    make_trust_database(gnupg, &empty.gpg);
    let files = files.into_iter().filter_map(|arguments| empty.difference(arguments));
    files.chain(listings.into_iter().filter_map(|arguments| both.difference(arguments))).collect()
}

fn make_trust_database(gnupg: Gnupg, home: &Home) {
    Run::gpg_of(gnupg, home).args(["--trust-model", "pgp", "--list-keys"]).succeed();
    assert!(home.path().join("trustdb.gpg").exists());
}

fn assert_none(gnupg: Gnupg, differences: &[String], of: usize) {
    let (count, version) = (differences.len(), gnupg.version());
    assert!(count == 0, "{count} of {of} listings differ from {version}'s\n\n{}", differences.join("\n\n"));
}

fn combinations(reference: Reference) -> Vec<Vec<OsString>> {
    let mut combinations = Vec::new();
    for listing in LISTINGS {
        for format in FORMATS {
            let mut arguments: Vec<OsString> =
                [format, listing].concat().iter().map(OsString::from).collect();
            if listing == ["--show-keys"] {
                arguments.extend(reference.keyrings().iter().map(|keyring| keyring.path().into_os_string()));
            }
            combinations.push(arguments);
        }
    }
    combinations
}

/// Leaves a few combinations, chosen by the run's seed, unless the run is a full one.
fn sample(mut combinations: Vec<Vec<OsString>>, salt: u64) -> Vec<Vec<OsString>> {
    let seed = scale::seed();
    let count = scale::choose(combinations.len(), SAMPLE);
    combinations.shuffle(&mut StdRng::seed_from_u64(seed + salt));
    combinations.truncate(count);
    println!("seed {seed}: comparing {combinations:?}");
    combinations
}
