//! The web of trust of Debian's keyring, byte for byte what the real gpg lists.

use harness::{Both, Reference, Run, colons, scale};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// How many choices of trusted keys and owner trust a full run compares, and `make test`.
const CHOICES: u64 = 20;
const SAMPLE: u64 = 1;

/// When many of the keys had not expired yet, and the tests' usual time.
const CLOCKS: [&str; 2] = ["20230101T000000!", harness::NOW];

#[test]
fn oracle_listings_of_the_developers_with_trust_equal_gpgs() {
    let fingerprints = fingerprints();
    let first = scale::seed() * 100;
    let mut differing = Vec::new();
    let choices = first..first + scale::choose(CHOICES, SAMPLE);
    for seed in choices.clone() {
        let mut rng = StdRng::seed_from_u64(seed);
        let clock = *CLOCKS.choose(&mut rng).expect("there are two");
        let both = Both::of(Reference::Developers).trusting().now(clock);
        let trust = owner_trust(&fingerprints, &mut rng);
        both.import_owner_trust(&trust);
        let found = [
            both.difference_of_trust_checks(&[]),
            both.difference_of_listings(&["--with-colons", "--list-keys"].map(String::from)),
            both.difference_of_listings(&["--list-keys".to_owned()]),
            both.difference_of_listings(
                &["--with-colons", "--fast-list-mode", "--list-keys"].map(String::from),
            ),
            both.difference_of_listings(&["--fast-list-mode", "--list-keys"].map(String::from)),
            both.difference_of_listings(
                &["--with-colons", "--no-expensive-trust-checks", "--list-keys"].map(String::from),
            ),
        ];
        let name = |text| format!("choice {seed}:\n{trust}{text}");
        differing.extend(found.into_iter().flatten().map(name));
    }
    let count = differing.len();
    assert!(count == 0, "{count} differences in choices {choices:?}\n\n{}", differing.join("\n\n"));
}

/// Returns the fingerprints of Debian's developers.
fn fingerprints() -> Vec<String> {
    let listing =
        Run::gpg_keyhoard_in(Reference::Developers.keyhoard()).args(["--with-colons", "-k"]).succeed();
    let records = colons::records(&listing.stdout);
    let primary = records.windows(2).filter(|pair| pair[0].kind() == "pub");
    primary.map(|pair| pair[1].text(10)).collect()
}

/// Chooses one to three ultimately trusted keys and some with other owner trust, some of them disabled.
fn owner_trust(fingerprints: &[String], rng: &mut StdRng) -> String {
    let ultimate = rng.random_range(1..=3);
    let others = [0, 10, 50][rng.random_range(0..3)];
    let chosen: Vec<_> = fingerprints.choose_multiple(rng, ultimate + others).collect();
    let trusts = std::iter::repeat_n(6, ultimate).chain(std::iter::repeat_with(|| {
        let trust = [2, 3, 4, 4, 5, 5, 5][rng.random_range(0..7)];
        if rng.random_bool(0.05) { trust | 128 } else { trust }
    }));
    chosen.into_iter().zip(trusts).map(|(fingerprint, trust)| format!("{fingerprint}:{trust}:\n")).collect()
}
