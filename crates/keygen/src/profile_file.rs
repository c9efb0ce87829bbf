//! Reads profiles from TOML files that users write.
//!
//! ```toml
//! [work]
//! version = 4                  # or 6; 4 if it is left out
//! algorithm = "ed25519"        # of the primary key, and of subkeys that name none
//! purposes = ["certify", "sign"]
//! expires = "2y"               # of all keys: a number of d, w, m (30 days) or y (365 days), or "never"
//! user-ids = ["Ann <ann@example.org>"]
//! ciphers = ["aes256", "aes128"]
//! hashes = ["sha512", "sha256"]
//! compressions = ["zlib"]
//! aead = ["ocb"]
//! keyserver = "hkps://keys.example.org"
//!
//! [[work.subkeys]]
//! purposes = ["encrypt"]
//! algorithm = "rsa3072"
//! expires = "1y"
//! ```
//!
//! A profile without `subkeys` has one subkey, which encrypts; `subkeys = []` means none.

use crate::algorithm::{Algorithm, Version};
use crate::preferences::Preferences;
use crate::profile::{Plan, Profile};
use serde::Deserialize;
use sign::{Features, KeyFlags};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use toml::Spanned;
use verify::HashAlgorithm;

/// An error in a file of profiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ProfileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// Reads all profiles of a file.
///
/// # Errors
///
/// The first error in the file.
pub fn read(text: &str) -> Result<BTreeMap<String, Profile>, ProfileError> {
    let tables: BTreeMap<String, Spanned<Table>> = toml::from_str(text)
        .map_err(|error| error_at(text, error.span().unwrap_or_default(), error.message().to_owned()))?;
    tables.into_iter().map(|(name, table)| Ok((name, profile(text, table)?))).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    version: Option<Spanned<u8>>,
    algorithm: Option<Spanned<String>>,
    purposes: Option<Vec<Spanned<String>>>,
    expires: Option<Spanned<String>>,
    #[serde(default)]
    user_ids: Vec<String>,
    ciphers: Option<Vec<Spanned<String>>>,
    hashes: Option<Vec<Spanned<String>>>,
    compressions: Option<Vec<Spanned<String>>>,
    aead: Option<Vec<Spanned<String>>>,
    keyserver: Option<String>,
    subkeys: Option<Vec<Spanned<Subkey>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Subkey {
    algorithm: Option<Spanned<String>>,
    purposes: Vec<Spanned<String>>,
    expires: Option<Spanned<String>>,
}

fn profile(text: &str, table: Spanned<Table>) -> Result<Profile, ProfileError> {
    let position = table.span();
    let table = table.into_inner();
    let version = match &table.version {
        None => Version::V4,
        Some(number) => match number.get_ref() {
            4 => Version::V4,
            6 => Version::V6,
            _ => return Err(error_at(text, number.span(), "version is 4 or 6".to_owned())),
        },
    };
    let algorithm = match &table.algorithm {
        None => Algorithm::Curve25519,
        Some(name) => algorithm(text, name)?,
    };
    let lifetime = lifetime(text, table.expires.as_ref())?;
    let defaults = Profile::usual(version, algorithm).living(lifetime);
    let primary = match &table.purposes {
        None => defaults.primary,
        Some(purposes) => {
            plan(text, position, algorithm, KeyFlags::CERTIFY | flags(text, purposes)?, lifetime)?
        }
    };
    let subkeys = match table.subkeys {
        None => defaults.subkeys,
        Some(tables) => {
            let subkey = |table| subkey(text, table, algorithm, lifetime);
            tables.into_iter().map(subkey).collect::<Result<_, _>>()?
        }
    };
    let aead = numbers(text, table.aead, AEAD)?.unwrap_or(defaults.preferences.aead);
    let is_librepgp = version == Version::V4 && !aead.is_empty();
    Ok(Profile {
        primary,
        subkeys,
        preferences: Preferences {
            ciphers: numbers(text, table.ciphers, CIPHERS)?.unwrap_or(defaults.preferences.ciphers),
            hashes: match numbers(text, table.hashes, HASHES)? {
                Some(numbers) => numbers.into_iter().map(HashAlgorithm).collect(),
                None => defaults.preferences.hashes,
            },
            compressions: numbers(text, table.compressions, COMPRESSIONS)?
                .unwrap_or(defaults.preferences.compressions),
            aead,
            features: defaults.preferences.features.with(Features::OCB, is_librepgp),
            ..defaults.preferences
        },
        user_ids: table.user_ids.into_iter().map(String::into_bytes).collect(),
        keyserver: table.keyserver.map(String::into_bytes),
        ..defaults
    })
}

/// Plans a subkey; the profile's algorithm and lifetime are the defaults.
fn subkey(
    text: &str,
    table: Spanned<Subkey>,
    defaults: Algorithm,
    default_lifetime: Option<NonZeroU32>,
) -> Result<Plan, ProfileError> {
    let position = table.span();
    let table = table.into_inner();
    let algorithm = table.algorithm.map_or(Ok(defaults), |name| algorithm(text, &name))?;
    let lifetime = match &table.expires {
        None => default_lifetime,
        said => lifetime(text, said.as_ref())?,
    };
    plan(text, position, algorithm, flags(text, &table.purposes)?, lifetime)
}

fn plan(
    text: &str,
    position: Range<usize>,
    algorithm: Algorithm,
    flags: KeyFlags,
    lifetime: Option<NonZeroU32>,
) -> Result<Plan, ProfileError> {
    let plan = Plan::new(algorithm, flags).map_err(|error| error_at(text, position, error.to_string()))?;
    Ok(plan.living(lifetime))
}

fn algorithm(text: &str, name: &Spanned<String>) -> Result<Algorithm, ProfileError> {
    Algorithm::parse(name.get_ref()).map_err(|error| error_at(text, name.span(), error.to_string()))
}

fn flags(text: &str, purposes: &[Spanned<String>]) -> Result<KeyFlags, ProfileError> {
    purposes.iter().try_fold(KeyFlags(0), |flags, purpose| {
        let flag = match purpose.get_ref().as_str() {
            "certify" => KeyFlags::CERTIFY,
            "sign" => KeyFlags::SIGN,
            "encrypt" => KeyFlags::ENCRYPT,
            "authenticate" => KeyFlags::AUTHENTICATE,
            other => {
                let what = format!("'{other}' is none of certify, sign, encrypt and authenticate");
                return Err(error_at(text, purpose.span(), what));
            }
        };
        Ok(flags | flag)
    })
}

const DAY: u32 = 86400;

fn lifetime(text: &str, span: Option<&Spanned<String>>) -> Result<Option<NonZeroU32>, ProfileError> {
    let Some(span) = span else { return Ok(None) };
    if span.get_ref() == "never" {
        return Ok(None);
    }
    let what = "expected a span like 18m or 2y, or never";
    seconds(span.get_ref()).map(Some).ok_or_else(|| error_at(text, span.span(), what.to_owned()))
}

/// Parses a duration in days, weeks, months (30 days) or years (365 days), such as `18m`, and returns it in seconds;
/// `None` if it is malformed.
pub fn seconds(span: &str) -> Option<NonZeroU32> {
    let (end, letter) = span.char_indices().last()?;
    let days = match letter {
        'd' => 1,
        'w' => 7,
        'm' => 30,
        'y' => 365,
        _ => return None,
    };
    let count: u32 = span[..end].parse().ok()?;
    NonZeroU32::new(count.checked_mul(days)?.checked_mul(DAY)?)
}

type Names = &'static [(&'static str, u8)];

const CIPHERS: Names = &[
    ("idea", 1),
    ("3des", 2),
    ("cast5", 3),
    ("blowfish", 4),
    ("aes128", 7),
    ("aes192", 8),
    ("aes256", 9),
    ("twofish", 10),
    ("camellia128", 11),
    ("camellia192", 12),
    ("camellia256", 13),
];
const HASHES: Names = &[
    ("sha1", 2),
    ("sha256", 8),
    ("sha384", 9),
    ("sha512", 10),
    ("sha224", 11),
    ("sha3-256", 12),
    ("sha3-512", 14),
];
const COMPRESSIONS: Names = &[("uncompressed", 0), ("zip", 1), ("zlib", 2), ("bzip2", 3)];
const AEAD: Names = &[("eax", 1), ("ocb", 2), ("gcm", 3)];

/// Returns the numbers of the algorithms in a list; `None` without a list.
fn numbers(
    text: &str,
    list: Option<Vec<Spanned<String>>>,
    known: Names,
) -> Result<Option<Vec<u8>>, ProfileError> {
    let number = |name: &Spanned<String>| {
        let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.get_ref()));
        found.map(|(_, number)| *number).ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            error_at(text, name.span(), format!("'{}' is none of {}", name.get_ref(), names.join(", ")))
        })
    };
    list.map(|list| list.iter().map(number).collect()).transpose()
}

fn error_at(text: &str, position: Range<usize>, what: String) -> ProfileError {
    let before = text.as_bytes().get(..position.start).unwrap_or_default();
    ProfileError { line: 1 + before.iter().filter(|byte| **byte == b'\n').count(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_profile_is_the_one_every_gnupg_reads() {
        let profiles = read("[mine]\n").unwrap();
        assert_eq!(profiles["mine"], Profile::named("compatible").unwrap());
    }

    #[test]
    fn everything_can_be_said() {
        let text = r#"
            [work]
            version = 6
            algorithm = "nistp384"
            purposes = ["certify"]
            expires = "2y"
            user-ids = ["Ann <ann@example.org>"]
            ciphers = ["AES256", "twofish"]
            hashes = ["sha3-512"]
            compressions = []
            aead = ["gcm"]
            keyserver = "hkps://keys.example.org"
            [[work.subkeys]]
            purposes = ["sign"]
            [[work.subkeys]]
            purposes = ["encrypt", "authenticate"]
            algorithm = "rsa3072"
            expires = "3w"
        "#;
        let profile = &read(text).unwrap()["work"];
        assert_eq!((profile.version, profile.primary.flags()), (Version::V6, KeyFlags::CERTIFY));
        assert_eq!(profile.preferences.ciphers, [9, 10]);
        assert_eq!(profile.preferences.hashes, [HashAlgorithm::SHA3_512]);
        assert_eq!((profile.preferences.compressions.len(), &profile.preferences.aead[..]), (0, &[3][..]));
        assert_eq!(profile.user_ids, [b"Ann <ann@example.org>"]);
        let [sign, both] = &profile.subkeys[..] else { panic!("{profile:?}") };
        assert_eq!(
            (sign.algorithm(), sign.lifetime),
            (Some(Algorithm::Weierstrass(libcrypto::Curve::NistP384)), NonZeroU32::new(730 * DAY))
        );
        assert_eq!(
            (both.algorithm().expect("a new key").to_string().as_str(), both.lifetime),
            ("rsa3072", NonZeroU32::new(21 * DAY))
        );
    }

    #[test]
    fn a_subkey_ends_when_the_profile_says_unless_it_says_itself_be_it_never() {
        let text = r#"
            [work]
            expires = "2y"
            [[work.subkeys]]
            purposes = ["sign"]
            expires = "never"
            [[work.subkeys]]
            purposes = ["encrypt"]
        "#;
        let profile = &read(text).unwrap()["work"];
        let years = NonZeroU32::new(730 * DAY);
        assert_eq!(profile.primary.lifetime, years);
        assert_eq!([profile.subkeys[0].lifetime, profile.subkeys[1].lifetime], [None, years]);
    }

    #[test]
    fn an_error_says_the_line() {
        for (text, line, what) in [
            ("[a]\nversion = 5\n", 2, "version is 4 or 6"),
            ("[a]\n\nalgorithm = \"dsa\"\n", 3, "'dsa' is no algorithm"),
            ("[a]\nalgorithm = \"rsa1024\"\n", 2, "2048 to 16384"),
            ("[a]\nciphers = [\n \"aes256\",\n \"rot13\"]\n", 4, "'rot13' is none of idea"),
            ("[a]\nexpires = \"soon\"\n", 2, "18m"),
            ("[a]\n[[a.subkeys]]\npurposes = [\"fly\"]\n", 3, "'fly' is none of certify"),
            ("[a]\npurposes = [\"encrypt\"]\n", 1, "cannot both sign and encrypt"),
            ("[a]\nexpire = \"2y\"\n", 2, "unknown field"),
            ("[a]\nexpires = 2y\n", 2, ""),
            ("a\n", 1, ""),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.what.contains(what), "{text}: {error}");
        }
    }
}
