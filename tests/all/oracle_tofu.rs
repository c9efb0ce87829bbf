//! Trust on first use: the first listing is what the real gpg's second one is.
//!
//! gpg's first listing depends on the order in which it meets the keys, since it makes its bindings on the way.

use harness::{Both, Gnupg, Home, OwnKey, Reference, Run, assert_same, difference, scale};
use lab::made::SharedAddresses;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};

/// How many keyrings a full run compares, and `make test`.
const KEYRINGS: u64 = 200;
const SAMPLE: u64 = 4;

const MODELS: [&str; 2] = ["tofu", "tofu+pgp"];
const POLICIES: [&str; 5] = ["auto", "good", "unknown", "bad", "ask"];

/// In gpg two keys are cross-signed if another user ID follows the one with the address in both, whoever certified it.
/// In Debian's keyring that hides a conflict between revoked user IDs.
const HIDDEN_IN_GPG: &str = "leader@debian.org";

#[test]
fn oracle_debians_keyring_is_listed_as_by_a_gpg_that_has_seen_it_before() {
    for model in MODELS {
        let both = with_trust(Both::of(Reference::Developers));
        see(&both, &["--trust-model", model, "--with-colons", "-k"]);
        both.assert_same_output(["--trust-model", model, "--with-colons", "-k"]);
        both.assert_same_output(["--trust-model", model, "--list-options", "show-uid-validity", "-k"]);
    }
}

#[test]
fn oracle_tofu_info_of_debians_keys_equals_gpgs() {
    let both = with_trust(Both::of(Reference::Developers));
    let listing = ["--trust-model", "tofu+pgp", "--with-tofu-info", "--with-colons", "-k"];
    see(&both, &listing);
    let [gpg, keyhoard] = both.run(listing);
    let [gpg, keyhoard] =
        [gpg, keyhoard].map(|done| without_hidden_conflict(&without_trust_record(&done.text())));
    assert_eq!(difference("what is known", gpg.as_bytes(), keyhoard.as_bytes()), None);
}

#[test]
fn oracle_conflicts_are_found_as_by_a_gpg_that_has_seen_all_keys_before() {
    let first = scale::seed() * 1000;
    let mut differing = Vec::new();
    for seed in first..first + scale::choose(KEYRINGS, SAMPLE) {
        let found = differences(seed);
        differing.extend(found.into_iter().map(|text| format!("keyring {seed}: {text}")));
    }
    let count = differing.len();
    assert!(count == 0, "{count} listings differ\n\n{}", differing.join("\n\n"));
}

/// Returns what differs between gpg and gpg-keyhoard about one made keyring.
fn differences(seed: u64) -> Vec<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let keys = rng.random_range(2..30);
    let rivals = SharedAddresses { keys, addresses: keys.div_ceil(3), forged: false, seed };
    let both = rivals_in_both(&rivals, &mut rng);
    let copy = || Both::in_homes([&both.gpg, &both.keyhoard].map(|home| Home::copy_of(home.path())));
    let (informed, one_by_one) = (copy(), copy());
    let model = MODELS.choose(&mut rng).expect("there are two");
    let default = POLICIES.choose(&mut rng).expect("there are five");
    let listings = [
        format!("--trust-model {model} --with-colons -k"),
        format!("--trust-model {model} --tofu-default-policy {default} --with-colons -k"),
        format!("--trust-model {model} --list-options show-uid-validity -k"),
        format!("--trust-model {model} --with-colons -k {}", rivals.fingerprint(rng.random_range(0..keys))),
    ];
    see(&both, &["--trust-model", model, "--with-colons", "-k"]);
    let mut differing: Vec<String> =
        listings.iter().filter_map(|listing| both.difference(words(listing))).collect();
    let listing = format!("--trust-model {model} --with-tofu-info --with-colons -k");
    see(&informed, &words(&listing));
    differing.extend(informed.difference(words(&listing)));
    // One key after the other: those that were not listed yet are in no conflict.
    let mut order: Vec<u64> = (0..keys).chain(0..keys).collect();
    order.shuffle(&mut rng);
    for number in order {
        let key = rivals.fingerprint(number);
        let listing = format!("--trust-model {model} --with-tofu-info --with-colons -k {key}");
        let [gpg, keyhoard] = one_by_one.run(words(&listing)).map(|done| without_trust_record(&done.text()));
        differing.extend(difference(&listing, gpg.as_bytes(), keyhoard.as_bytes()));
    }
    differing.into_iter().map(|text| format!("{rivals:?}: {text}")).collect()
}

/// Imports the keyring, and says which keys are trusted and what is thought of some.
fn rivals_in_both(rivals: &SharedAddresses, rng: &mut StdRng) -> Both {
    let both = with_trust(Both::new());
    let mut certificates = Vec::new();
    rivals.write(&mut certificates).expect("a vector takes everything");
    both.import(both.gpg.write("rivals.pgp", certificates));
    let trusts = (0..rivals.keys).map(|number| match number {
        0 => 6,
        1 => *[6, 4].choose(rng).expect("there are two"),
        _ => *[2, 4, 5].choose(rng).expect("there are three"),
    });
    let lines = trusts.zip(0..).map(|(trust, number)| format!("{}:{trust}:\n", rivals.fingerprint(number)));
    let owner_trust = both.gpg.write("owner-trust", lines.collect::<String>());
    in_both(&both, &["--import-ownertrust", &owner_trust.to_string_lossy()]);
    for _ in 0..rng.random_range(0..4) {
        // To set "auto" would only tell gpg before the first listing that there is such a key.
        let policy = POLICIES[1..].choose(rng).expect("there are four");
        let key = rivals.fingerprint(rng.random_range(0..rivals.keys));
        in_both(&both, &["--tofu-policy", policy, &key]);
    }
    both
}

#[test]
fn oracle_a_policy_that_cannot_be_set_ends_with_gpgs_exit_code() {
    let both = with_trust(Both::new());
    let absent = "4900707DDC5C07F2DECB02839C31503C6D866396";
    for arguments in [&[][..], &["good"], &["best", absent], &["good", "=Ann"], &["good", absent]] {
        let [gpg, keyhoard] = both.run([&["--status-fd", "1", "--tofu-policy"][..], arguments].concat());
        assert_eq!(keyhoard.code, gpg.code, "{arguments:?}");
        assert_eq!(keyhoard.text(), gpg.text(), "{arguments:?}");
    }
}

/// Runs a command in both at a time, and asserts that they write the same and have the same exit code.
#[track_caller]
fn assert_same_use(both: Both, time: &str, arguments: &[&str]) -> Both {
    let both = both.now(time);
    let what = arguments.join(" ");
    let [gpg, keyhoard] = both.run([&["--status-fd", "1"], arguments].concat());
    let text = |output: &str| {
        let kept = |line: &&str| !line.starts_with("tru:") && !line.contains("KEY_CONSIDERED");
        output.split_inclusive('\n').filter(kept).collect::<String>()
    };
    assert_same(&what, text(&gpg.text()).as_bytes(), text(&keyhoard.text()).as_bytes());
    let words = |errors: &str| {
        const OWN: [&str; 7] = [
            "faked system time",
            "trustdb",
            "marginals needed",
            "depth: ",
            "no ultimately trusted",
            "created",
            "no gpg-agent running",
        ];
        let is_own = |line: &str| OWN.iter().any(|own| line.contains(own));
        errors.split_inclusive('\n').filter(|line| !is_own(line)).collect::<String>()
    };
    assert_same(&what, words(&gpg.errors()).as_bytes(), words(&keyhoard.errors()).as_bytes());
    assert_eq!(gpg.code, keyhoard.code, "{what}");
    both
}

#[test]
fn oracle_messages_are_counted_from_the_first_one_that_gpg_counts() {
    let keys = ["Ann <ann@example.org>", "Other Ann <ann@example.org>"].map(OwnKey::new);
    let [ann, other] = keys.each_ref().map(OwnKey::fingerprint);
    let files = Home::new();
    let path = |name: &str| files.path().join(name).to_string_lossy().into_owned();
    files.write("text", "a text");
    keys.iter().zip(["ann", "other"]).for_each(|(key, name)| drop(files.write(name, key.certificate())));
    for (key, name, time) in [
        (&keys[0], "1", "20260101T120000!"),
        (&keys[0], "2", "20260102T120000!"),
        (&keys[1], "3", "20260102T120000!"),
        (&keys[0], "4", "20260103T120000!"),
    ] {
        let signed = Run::gpg_with_agent(key.home()).at(time).arg("--detach-sign").stdin("a text");
        files.write(name, signed.succeed().stdout);
    }
    let text = path("text");
    for gnupg in Gnupg::ALL {
        for model in MODELS {
            let mut both = with_trust(Both::new().with(gnupg));
            let mut same = |time: &str, arguments: &[&str]| {
                let used = std::mem::take(&mut both);
                let arguments = [&["--trust-model", model], arguments].concat();
                both = assert_same_use(used, &format!("202601{time}!"), &arguments);
            };
            let list = ["--with-colons", "--with-tofu-info", "--list-keys"];
            same("05T000000", &["--import", &path("ann")]);
            same("06T000000", &list);
            for (time, signature) in [("07T000000", "1"), ("07T000001", "1"), ("08T000000", "2")] {
                same(time, &["--verify", &path(signature), &text]);
            }
            same("10T000000", &list);
            same("11T000000", &["--import", &path("other")]);
            // gpg meets the other key, and finds the conflict.
            same("12T000000", &["--with-colons", "--list-keys", other]);
            same("12T000001", &list);
            same("12T000002", &["--verify", &path("3"), &text]);
            same("12T000003", &["--verify", &path("4"), &text]);
            same("12T000004", &["--tofu-policy", "good", ann]);
            same("12T000005", &["--tofu-policy", "bad", other]);
            same("13T000000", &["--verify", &path("3"), &text]);
            same("13T000001", &["--verify", &path("4"), &text]);
            same("14T000000", &list);
            same("15T000000", &["--tofu-policy", "auto", ann]);
            same("16T000000", &list);
        }
    }
}

/// Two keys with the same address.
struct Rivals {
    keys: [OwnKey; 2],
    files: Home,
}

impl Rivals {
    /// Makes the keys, their certificates in `ann` and `other`, and a signature by each over `text`, in `1` and `2`.
    fn new() -> Self {
        let keys = ["Ann <ann@example.org>", "Other Ann <ann@example.org>"].map(OwnKey::new);
        let files = Home::new();
        files.write("text", "a text");
        for (key, [certificate, signature]) in keys.iter().zip([["ann", "1"], ["other", "2"]]) {
            files.write(certificate, key.certificate());
            let signing = Run::gpg_with_agent(key.home()).at("20260101T120000!").arg("--detach-sign");
            files.write(signature, signing.stdin("a text").succeed().stdout);
        }
        Self { keys, files }
    }

    fn fingerprints(&self) -> [&str; 2] {
        self.keys.each_ref().map(OwnKey::fingerprint)
    }

    fn path(&self, name: &str) -> String {
        self.files.path().join(name).to_string_lossy().into_owned()
    }
}

#[test]
fn oracle_keys_with_the_same_address_are_in_conflict_once_both_were_used() {
    let rivals = Rivals::new();
    let [ann, other] = rivals.fingerprints();
    let [certificate, other_certificate, first, second, text] =
        ["ann", "other", "1", "2", "text"].map(|name| rivals.path(name));
    let list = |key| vec!["--with-colons", "--with-tofu-info", "--list-keys", key];
    let verify = |signature| vec!["--verify", signature, text.as_str()];
    let import = vec!["--import", certificate.as_str(), other_certificate.as_str()];
    // Each is the use of one key, or of none; then what is thought of both is compared.
    let out = rivals.path("message");
    let encrypt = |key| vec!["--batch", "--yes", "-o", &out, "-r", key, "--encrypt", &text];
    let uses: [[Vec<&str>; 2]; 8] = [
        [verify(&first), verify(&second)],
        [list(other), verify(&first)],
        [encrypt(ann), list(other)],
        [verify(&second), encrypt(ann)],
        [vec!["--tofu-policy", "auto", ann], list(other)],
        [vec!["--tofu-policy", "good", other], verify(&first)],
        [vec!["--check-trustdb"], verify(&second)],
        [vec!["--no-expensive-trust-checks", "--with-colons", "-k"], verify(&second)],
    ];
    for gnupg in Gnupg::ALL {
        for (model, uses) in MODELS.iter().flat_map(|model| uses.iter().map(move |uses| (model, uses))) {
            let mut both = with_trust(Both::new().with(gnupg));
            let steps = [&import, &uses[0], &uses[1], &list(ann), &list(other), &verify(&first)];
            for (day, arguments) in (10..).zip(steps) {
                let arguments = [&["--trust-model", model], &arguments[..]].concat();
                both = assert_same_use(both, &format!("202601{day}T000000!"), &arguments);
            }
        }
    }
}

fn in_both(both: &Both, arguments: &[&str]) {
    for done in both.run(arguments) {
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.errors());
    }
}

/// Lets a trust model say what is valid, where the oracle's settings say that everything is.
fn with_trust(both: Both) -> Both {
    for home in [&both.gpg, &both.keyhoard] {
        home.write("gpg.conf", "");
    }
    both
}

/// Lets gpg meet the keys.
fn see(both: &Both, listing: &[&str]) {
    Run::gpg(&both.gpg).args(listing).succeed();
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

fn without_trust_record(listing: &str) -> String {
    listing.split_inclusive('\n').filter(|line| !line.starts_with("tru:")).collect()
}

/// Leaves out what is known of the address whose conflict gpg does not see.
fn without_hidden_conflict(listing: &str) -> String {
    let mut hidden = false;
    let mut kept = String::new();
    for line in listing.split_inclusive('\n') {
        if !(hidden && line.starts_with("tfs:")) {
            kept.push_str(line);
        }
        hidden = line.starts_with("uid:") && line.contains(HIDDEN_IN_GPG);
    }
    kept
}
