//! `--assert-signer` and `--assert-pubkey-algo`: what a good signature must be made with.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use engine::cert::Fingerprint;
use engine::cert::facts::KeyFacts;
use engine::foreign_text::shown;

use crate::render::algorithm::description;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::system_error::system_words;

/// Compares a signer with both options.
pub(super) fn check(settings: &Settings, streams: &mut Streams, key: &KeyFacts, primary: &Fingerprint) {
    if !settings.assert_signers.is_empty() && !streams.is_signer_asserted() {
        signer(settings, streams, &[primary.to_string(), key.fingerprint.to_string()]);
    }
    if !settings.assert_algorithms.is_empty() {
        algorithm(settings, streams, key);
    }
}

fn signer(settings: &Settings, streams: &mut Streams, fingerprints: &[String; 2]) {
    let is_it = |text: &str| fingerprints.iter().any(|known| known.eq_ignore_ascii_case(text));
    for given in &settings.assert_signers {
        let name = shown(given);
        if is_fingerprint(&name) {
            if is_it(&name) {
                return asserted(settings, streams, &name, "");
            }
            continue;
        }
        let text = match fs::read(OsStr::from_bytes(given)) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => {
                streams.error(format_args!("error opening '{name}': {}", system_words(&error)));
                continue;
            }
        };
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            if !line.ends_with('\n') {
                streams.error(format_args!("file '{name}', line {number}: Incomplete line"));
                continue;
            }
            let word = line.split_ascii_whitespace().next().filter(|word| !word.starts_with('#'));
            if let Some(word) = word.filter(|word| is_it(word)) {
                return asserted(settings, streams, word, &format!(" ({name}:{number})"));
            }
        }
    }
}

fn is_fingerprint(text: &str) -> bool {
    matches!(text.len(), 32 | 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn asserted(settings: &Settings, streams: &mut Streams, fingerprint: &str, place: &str) {
    let fingerprint = fingerprint.to_ascii_uppercase();
    streams.assert_signer();
    streams.status(format!("ASSERT_SIGNER {fingerprint}"));
    if !settings.quiet {
        streams.info(format_args!("asserted signer '{fingerprint}'{place}"));
    }
}

fn algorithm(settings: &Settings, streams: &mut Streams, key: &KeyFacts) {
    let mut name = Vec::new();
    description(key, settings.list.legacy, settings.compat, &mut name);
    let name = String::from_utf8_lossy(&name);
    let allowed = settings.assert_algorithms.iter().map(|condition| allows(condition, &name));
    // As in gpg, nothing after a word that names no algorithm counts.
    let is_allowed = allowed.map_while(|allowed| allowed).any(|allowed| allowed);
    let (word, digit) = if is_allowed { ("asserted", 1) } else { ("denied", 0) };
    if !is_allowed {
        streams.deny_algorithm();
    }
    let fingerprint = key.fingerprint;
    streams.status(format!("ASSERT_PUBKEY_ALGO {fingerprint} {digit} {name}"));
    if !settings.quiet {
        streams.info(format_args!("{word} signer '{fingerprint}' with algo {name}"));
    }
}

/// Says whether a condition such as `>=rsa2048` holds for an algorithm; `None` if it names none.
fn allows(condition: &str, name: &str) -> Option<bool> {
    let wanted = condition.trim_start_matches(['<', '>', '=']);
    let operator = &condition[..condition.len() - wanted.len()];
    let ((family, strength), (wanted_family, least)) = (parts(name)?, parts(wanted)?);
    let is_family = family.eq_ignore_ascii_case(wanted_family);
    match operator {
        "" | "=" => Some(name.eq_ignore_ascii_case(wanted)),
        ">=" => Some(is_family && strength >= least),
        ">" => Some(is_family && strength > least),
        "<=" => Some(is_family && strength <= least),
        "<" => Some(is_family && strength < least),
        _ => None,
    }
}

/// Splits a name into its letters and its strength; 448 is more than 25519.
fn parts(name: &str) -> Option<(&str, u32)> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, rest) = (&name[..letters], &name[letters..]);
    let digits = rest.trim_start_matches(['-', '+']);
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let number: u32 = digits[..end].parse().unwrap_or(0);
    let is_448 = name.eq_ignore_ascii_case("ed448") || name.eq_ignore_ascii_case("cv448");
    (!letters.is_empty()).then_some((letters, if is_448 { number + 50_000 } else { number }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_compares_strengths_within_a_family() {
        assert_eq!(allows("rsa2048", "rsa2048"), Some(true));
        assert_eq!(allows("rsa2048", "rsa3072"), Some(false));
        assert_eq!(allows(">=rsa2048", "rsa3072"), Some(true));
        assert_eq!(allows(">rsa3072", "rsa3072"), Some(false));
        assert_eq!(allows("<=rsa3072", "rsa2048"), Some(true));
        assert_eq!(allows(">=ed25519", "ed448"), Some(true));
        assert_eq!(allows(">=rsa2048", "ed25519"), Some(false));
        assert_eq!(allows("123", "rsa2048"), None);
    }
}
