//! Single keys, asked for in every way that gpg knows, byte for byte what the real gpg answers.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use harness::colons::{Record, records};
use harness::{Both, Reference, Run, scale};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// As many as the project promises; the queries are quick enough for every run to make them all.
const QUERIES: usize = 100;

/// What is asked about the key that a query names.
const COMMANDS: [&[&str]; 6] = [
    &["--list-keys"],
    &["--with-colons", "--list-keys"],
    &["--list-sigs"],
    &["--with-colons", "--fast-list-mode", "--list-sigs"],
    &["--with-keygrip", "-k"],
    &["--with-colons", "--fingerprint", "--fingerprint"],
];

#[test]
fn oracle_single_key_queries_of_every_kind_equal_gpgs() {
    let both = Both::of(Reference::Three);
    let listing = Run::gpg(&both.gpg).args(["--with-colons", "--with-keygrip", "-k"]).succeed().stdout;
    let keys = keys(&listing);
    let mut rng = StdRng::seed_from_u64(scale::seed());
    let mut differences = Vec::new();
    for number in 0..QUERIES {
        let kind = KINDS[number % KINDS.len()];
        let key = keys.choose(&mut rng).expect("the keyrings hold keys");
        let other = keys.choose(&mut rng).expect("the keyrings hold keys");
        let command = COMMANDS.choose(&mut rng).expect("there are commands");
        let mut arguments: Vec<OsString> = command.iter().map(OsString::from).collect();
        arguments.push("--".into());
        arguments.extend(kind(key, other, &mut rng));
        differences.extend(both.difference(&arguments));
    }
    let (seed, count) = (scale::seed(), differences.len());
    assert!(count == 0, "seed {seed}: {count} of {QUERIES} answers differ\n\n{}", differences.join("\n\n"));
}

/// What a certificate can be asked for by.
#[derive(Debug, Default)]
struct Key {
    /// Fingerprints and keygrips, the primary key's first.
    fingerprints: Vec<String>,
    keygrips: Vec<String>,
    user_ids: Vec<Vec<u8>>,
}

/// Makes the names that stand for a key, or for it and another one.
type Kind = fn(&Key, &Key, &mut StdRng) -> Vec<OsString>;

const KINDS: [Kind; 20] = [
    |key, _, _| vec![short(&key.fingerprints[0]).into()],
    |key, _, _| vec![format!("0x{}", short(&key.fingerprints[0])).into()],
    |key, _, _| vec![long(&key.fingerprints[0]).into()],
    |key, _, _| vec![format!("0x{}", long(&key.fingerprints[0]).to_lowercase()).into()],
    |key, _, rng| vec![long(one_of(&key.fingerprints, rng)).into()],
    |key, _, _| vec![key.fingerprints[0].clone().into()],
    |key, _, rng| vec![one_of(&key.fingerprints, rng).into()],
    |key, _, rng| vec![format!("{}!", one_of(&key.fingerprints, rng)).into()],
    |key, _, rng| vec![format!("0x{}!", long(one_of(&key.fingerprints, rng))).into()],
    |key, _, _| vec![spaced(&key.fingerprints[0]).into()],
    |key, _, rng| vec![format!("&{}", one_of(&key.keygrips, rng)).into()],
    |key, _, rng| vec![prefixed(b"=", &user_id(key, rng))],
    |key, _, rng| vec![prefixed(b"", &mail(&user_id(key, rng)))],
    |key, _, rng| vec![prefixed(b"", &mail(&user_id(key, rng)).to_ascii_uppercase())],
    |key, _, rng| vec![prefixed(b"@", &part(&mail(&user_id(key, rng)), rng))],
    |key, _, rng| vec![prefixed(b"*", &part(&user_id(key, rng), rng))],
    |key, _, rng| vec![prefixed(b"", &part(&user_id(key, rng), rng))],
    |key, _, rng| vec![prefixed(b"", &part(&user_id(key, rng), rng).to_ascii_uppercase())],
    |key, other, rng| vec![key.fingerprints[0].clone().into(), prefixed(b"", &mail(&user_id(other, rng)))],
    |key, _, _| vec![long(&key.fingerprints[0]).chars().rev().collect::<String>().into()],
];

fn keys(listing: &[u8]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for record in records(listing) {
        if record.kind() == "pub" {
            keys.push(Key::default());
        }
        if let Some(key) = keys.last_mut() {
            key.add(&record);
        }
    }
    keys
}

impl Key {
    fn add(&mut self, record: &Record<'_>) {
        match record.kind() {
            "fpr" => self.fingerprints.push(record.text(10)),
            "grp" => self.keygrips.push(record.text(10)),
            "uid" => self.user_ids.push(record.unescaped(10)),
            _ => {}
        }
    }
}

fn one_of<'a>(texts: &'a [String], rng: &mut StdRng) -> &'a str {
    texts.choose(rng).expect("a key has a fingerprint and a keygrip")
}

fn short(fingerprint: &str) -> &str {
    &fingerprint[fingerprint.len() - 8..]
}

fn long(fingerprint: &str) -> &str {
    &fingerprint[fingerprint.len() - 16..]
}

/// Writes a fingerprint as gpg shows it to people: groups of four, two spaces in the middle.
fn spaced(fingerprint: &str) -> String {
    let groups: Vec<_> =
        fingerprint.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group)).collect();
    let (left, right) = groups.split_at(groups.len() / 2);
    format!("{}  {}", left.join(" "), right.join(" "))
}

fn user_id(key: &Key, rng: &mut StdRng) -> Vec<u8> {
    key.user_ids.choose(rng).expect("a listed key has a user ID").clone()
}

/// Returns the mail address in its angle brackets, or the whole user ID if it has none.
fn mail(user_id: &[u8]) -> Vec<u8> {
    let start = user_id.iter().position(|&byte| byte == b'<').unwrap_or(0);
    user_id[start..].to_vec()
}

/// Returns some bytes of a text, which need not be whole characters. They do not end with a space: gpg 2.2.40 frees
/// a name that does before it looks for it, and finds whatever is in that memory by then.
fn part(text: &[u8], rng: &mut StdRng) -> Vec<u8> {
    let bare: Vec<u8> = text.iter().copied().filter(|byte| !b"<>".contains(byte)).collect();
    let length = rng.random_range(1..=bare.len().min(12));
    let start = rng.random_range(0..=bare.len() - length);
    let part = bare[start..start + length].trim_ascii_end();
    if part.is_empty() { bare } else { part.to_vec() }
}

fn prefixed(prefix: &[u8], bytes: &[u8]) -> OsString {
    OsString::from_vec([prefix, bytes].concat())
}
