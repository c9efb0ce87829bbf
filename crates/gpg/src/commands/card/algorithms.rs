//! `key-attr`: the algorithms of the keys that the card will make.

use agent::card::{Card, KeyAlgorithm};
use engine::verify::PublicKeyAlgorithm;

use super::access::{CardAccess, Outcome};
use crate::generation::{Curve, dialogue};
use crate::number;

const KEYS: [&str; 3] = ["Signature", "Encryption", "Authentication"];

/// Asks for the algorithm of each key and sets it.
pub(super) fn change(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let Some(mut card) = for_key_operation(access) else {
        access.streams.error("error getting card info: General error");
        return Ok(());
    };
    if !card.is_version_2() || !card.capabilities.changes_algorithms {
        access.streams.error("This command is not supported by this card");
        return Ok(());
    }
    let mut index = 0;
    while index < KEYS.len() {
        let chosen = ask(access, index, card.keys[index].algorithm.as_ref())?;
        let is_set = match &chosen {
            None => true,
            Some(algorithm) => set(access, index + 1, algorithm).is_ok(),
        };
        if is_set {
            index += 1;
        } else {
            // The same question again, as the card has it now.
            let Some(again) = for_key_operation(access) else { return Ok(()) };
            card = again;
        }
    }
    Ok(())
}

/// Reads what has to be known before keys are made or replaced; reports why it cannot be.
pub(super) fn for_key_operation(access: &mut CardAccess<'_>) -> Option<Card> {
    let _ = access.send("SCD SWITCHAPP -- openpgp", None);
    let mut card = match access.attribute("SERIALNO") {
        Ok(card) if card.is_openpgp() => card,
        Ok(_) => {
            access.streams.error("key operation not possible: not an OpenPGP card");
            return None;
        }
        Err(failure) => {
            access.streams.error(format_args!("key operation not possible: {failure}"));
            return None;
        }
    };
    for name in ["KEY-FPR", "CHV-STATUS", "DISP-NAME", "EXTCAP", "KEY-ATTR"] {
        if let Err(failure) = access.attribute_into(name, &mut card) {
            access.streams.error(format_args!("error getting current key info: {failure}"));
            return None;
        }
    }
    Some(card)
}

/// Asks for the algorithm of one key; `None` if it stays.
fn ask(
    access: &mut CardAccess<'_>,
    index: usize,
    current: Option<&KeyAlgorithm>,
) -> anyhow::Result<Option<KeyAlgorithm>> {
    access.tell(format!("Algorithm of the {} key:\n   (1) RSA\n   (2) ECC\n", KEYS[index].to_lowercase()));
    loop {
        let answer = access.line("cardedit.genkeys.algo", "Your selection? ")?;
        return match answer.as_slice() {
            b"" => Ok(None),
            b"1" => ask_size(access, current),
            b"2" => ask_curve(access, index).map(Some),
            _ => {
                access.tell("Invalid selection.\n");
                continue;
            }
        };
    }
}

fn ask_size(
    access: &mut CardAccess<'_>,
    current: Option<&KeyAlgorithm>,
) -> anyhow::Result<Option<KeyAlgorithm>> {
    const LEAST: i64 = 1024;
    const MOST: i64 = 4096;
    let usual = match current {
        Some(KeyAlgorithm::Rsa(bits)) => i64::from(*bits),
        _ => 2048,
    };
    loop {
        let text = format!("What keysize do you want? ({usual}) ");
        let answer = access.line("cardedit.genkeys.size", &text)?;
        let wanted = if answer.is_empty() { usual } else { number::decimal(&answer).unwrap_or(0) };
        let bits = if wanted == usual { usual } else { wanted.saturating_add(31) / 32 * 32 };
        if bits != wanted {
            access.tell(format!("rounded up to {bits} bits\n"));
        }
        if bits == usual && matches!(current, Some(KeyAlgorithm::Rsa(_))) {
            return Ok(None);
        }
        if (LEAST..=MOST).contains(&bits) {
            return Ok(Some(KeyAlgorithm::Rsa(bits as u32)));
        }
        access.tell(format!("RSA keysizes must be in the range {LEAST}-{MOST}\n"));
    }
}

fn ask_curve(access: &mut CardAccess<'_>, index: usize) -> anyhow::Result<KeyAlgorithm> {
    let curve = dialogue::curve(access.settings, access.streams)?;
    Ok(match (index, curve) {
        (1, curve) => KeyAlgorithm::Curve(PublicKeyAlgorithm::ECDH, curve.name().to_owned()),
        (_, Curve::Curve25519) => {
            KeyAlgorithm::Curve(PublicKeyAlgorithm::EDDSA_LEGACY, Curve::Ed25519.name().to_owned())
        }
        (_, Curve::X448) => {
            KeyAlgorithm::Curve(PublicKeyAlgorithm::EDDSA_LEGACY, Curve::Ed448.name().to_owned())
        }
        (_, curve) => KeyAlgorithm::Curve(PublicKeyAlgorithm::ECDSA, curve.name().to_owned()),
    })
}

fn set(access: &mut CardAccess<'_>, number: usize, algorithm: &KeyAlgorithm) -> Outcome<()> {
    let (value, kind) = match algorithm {
        KeyAlgorithm::Rsa(bits) => (format!("--force {number} 1 rsa{bits}"), format!("rsa{bits}")),
        KeyAlgorithm::Curve(algorithm, curve) => {
            (format!("--force {number} {} {curve}", algorithm.0), curve.clone())
        }
    };
    access.tell(format!("The card will make a key of type {kind}, if it can: what cards can do differs.\n"));
    let outcome = access.set("KEY-ATTR", value.as_bytes());
    if let Err(failure) = &outcome {
        access.streams.error(format_args!("error changing key attribute for key {number}: {failure}"));
    }
    outcome
}
