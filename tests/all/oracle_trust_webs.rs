//! The web of trust of made webs, in which everything occurs that a trust model has a rule for: what the real gpg
//! makes of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use harness::colons::records;
use harness::{Both, Gnupg, Run, scale};
use lab::made::Web;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// How many webs a full run compares, and `make test`.
const WEBS: u64 = 320;
const SAMPLE: u64 = 6;

/// With how many different settings each web is checked and listed.
const SETTINGS: usize = 3;

#[test]
fn oracle_made_webs_give_every_user_id_the_validity_that_gpg_gives_it() {
    let first = scale::seed() * 1000;
    let webs = first..first + scale::choose(WEBS, SAMPLE);
    let next = AtomicU64::new(webs.start);
    let differing = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&seed| seed < webs.end)
                {
                    let differences = differences_of_web(seed);
                    differing.lock().expect("nobody panics with it").extend(differences);
                }
            });
        }
    });
    let differing = differing.into_inner().expect("nobody panics with it");
    let count = differing.len();
    assert!(count == 0, "{count} differences in webs {webs:?}\n\n{}", differing.join("\n\n"));
}

/// Who is valid is known before any signature was verified: forged certifications, beside good ones by keys that nobody
/// trusts, take more than one look at what is verified on the way.
#[test]
fn the_first_listing_of_an_unverified_web_equals_gpgs() {
    for introducers in [11, 15, 20] {
        let web = Web { keys: 60, certifications: 12, introducers, seed: 2 };
        let imported = imported(&web);
        Run::gpg(&imported.gpg).at(imported.clock()).args(["--yes", "--check-trustdb"]).succeed();
        let single = (0..web.keys).step_by(12).map(|number| vec![web.fingerprint(number)]);
        for names in single.chain([Vec::new()]) {
            // In the copy nothing was verified yet.
            let difference = imported.copy().difference_of_listings(&listing(&[], &names));
            assert!(difference.is_none(), "{web:?}: {}", difference.unwrap_or_default());
        }
    }
}

/// Makes homes with the certificates of a web and the owner trust that belongs to it.
pub(crate) fn imported(web: &Web) -> Both {
    let both = Both::with_trust();
    let mut certificates = Vec::new();
    web.write(&mut certificates).expect("a vector takes everything");
    both.import(both.gpg.write("web.pgp", certificates));
    let revoked = revoked_keys(&both);
    let owner_trust = web.owner_trust();
    let lines = owner_trust.lines().filter(|line| !revoked.iter().any(|key| line.starts_with(key)));
    both.import_owner_trust(&lines.map(|line| format!("{line}\n")).collect::<String>());
    both
}

/// Returns the fingerprints of revoked keys if they introduce others, as in gpg 2.4 and not here, once they are trusted
/// ultimately.
fn revoked_keys(both: &Both) -> Vec<String> {
    if both.gnupg() == Gnupg::V2_2 {
        return Vec::new();
    }
    let [listed, _] = both.run(["--with-colons", "--list-keys"]);
    let all = records(&listed.stdout);
    let pairs = all.windows(2).filter(|pair| pair[0].kind() == "pub" && pair[0].field(2) == b"r");
    pairs.map(|pair| pair[1].text(10)).collect()
}

/// Returns what differs between gpg and gpg-keyhoard about one web.
fn differences_of_web(seed: u64) -> Vec<String> {
    let web = Web::small(seed);
    let imported = imported(&web);
    let revoked = revoked_keys(&imported);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut differing = Vec::new();
    for number in 0..SETTINGS {
        // gpg keeps what it has made of some options, such as trusted keys.
        let both = imported.copy();
        let options = if number == 0 { Vec::new() } else { settings(&web, &mut rng, &revoked) };
        differing.extend(both.difference_of_trust_checks(&options));
        differing.extend(both.difference_of_listings(&listing(&options, &[])));
        differing.extend(both.difference_of_listings(&[&options[..], &["--list-keys".to_owned()]].concat()));
        // Each query for a single key works its way back from it.
        for _ in 0..2 {
            let fingerprint = web.fingerprint(rng.random_range(0..web.keys));
            differing.extend(both.difference_of_listings(&listing(&options, &[fingerprint])));
        }
    }
    let name = |text| format!("web {seed} ({web:?}): {text}");
    differing.into_iter().map(name).collect()
}

fn listing(options: &[String], names: &[String]) -> Vec<String> {
    let list = ["--with-colons", "--list-keys"].map(String::from);
    [options, &list, names].concat()
}

/// Chooses options that change what follows from a web.
fn settings(web: &Web, rng: &mut StdRng, revoked: &[String]) -> Vec<String> {
    if rng.random_bool(0.1) {
        // No other option means anything to it.
        return ["--trust-model", "direct"].map(String::from).to_vec();
    }
    let mut options = Vec::new();
    let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
    option("--marginals-needed", rng.random_range(2..=4).to_string());
    option("--completes-needed", rng.random_range(1..=3).to_string());
    option("--max-cert-depth", rng.random_range(1..=7).to_string());
    option("--min-cert-level", rng.random_range(1..=3).to_string());
    let model = ["pgp", "pgp", "pgp", "classic"].choose(rng).expect("there are some");
    option("--trust-model", (*model).to_owned());
    if rng.random_bool(0.3) {
        let key = web.fingerprint(rng.random_range(0..web.keys));
        if !revoked.contains(&key) {
            option("--trusted-key", key);
        }
    }
    options
}
