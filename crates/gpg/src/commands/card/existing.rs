//! Keys that are on the card already become keys of a new certificate: the algorithm `card`.

use agent::card::Card;
use agent::card_key::public_body;
use engine::cert::Timestamp;
use engine::cert::effective::Usage;
use engine::cert::key::parse_public;
use engine::configuration::Compat;

use super::access::{CardAccess, CardFailure};
use super::new_keys::CardKeyNumber;
use crate::code::Code;
use crate::generation::{Family, Kind, Material};
use crate::settings::Settings;
use crate::streams::Streams;

/// A key on a card.
pub(crate) struct ExistingKey {
    pub(crate) kind: Kind,
    /// The body of its packet.
    pub(crate) public: Vec<u8>,
}

/// Reads the key of the card in the reader that is for these uses: the one that signs, or else the one that decrypts.
///
/// # Errors
///
/// gpg's code; what is wrong is reported.
pub(crate) fn read(usage: Usage, settings: &Settings, streams: &mut Streams) -> Result<ExistingKey, Code> {
    let mut access = CardAccess::new(settings, streams);
    let card = access.find().and_then(|()| access.learn());
    let card = card.map_err(|failure| {
        access.streams.error(format_args!("error reading the card: {failure}"));
        failure.code()
    })?;
    if !settings.quiet {
        let serial = card.serial.as_deref().unwrap_or_default();
        access.streams.info(format_args!("Serial number of the card: {serial}"));
    }
    if card.keys.iter().all(|key| key.keygrip.is_none()) {
        access.streams.error(format_args!("error reading the card: {}", Code::NO_DATA));
        return Err(Code::NO_DATA);
    }
    let signs = usage.contains(Usage::SIGN) || usage.contains(Usage::CERTIFY);
    let number = if signs { CardKeyNumber::Signature } else { CardKeyNumber::Encryption };
    read_key(number, usage, &card, &mut access).ok_or_else(|| {
        let code = Code::INVALID_PUBLIC_KEY_ALGORITHM;
        access.streams.error(format_args!("no usable key on the card: {code}"));
        code
    })
}

/// Reads all keys of the card in the reader; returns its serial number as well.
///
/// # Errors
///
/// Why it cannot be read.
pub(crate) fn read_all(
    settings: &Settings,
    streams: &mut Streams,
) -> Result<(String, Vec<ExistingKey>), String> {
    let mut access = CardAccess::new(settings, streams);
    let card = access.find().and_then(|()| access.learn()).map_err(|failure| failure.to_string())?;
    let mut keys: Vec<ExistingKey> = CardKeyNumber::ALL
        .into_iter()
        .filter_map(|number| read_key(number, number.uses(), &card, &mut access))
        .collect();
    if settings.compat == Compat::V2_2 {
        // gpg 2.2 loses what the card has keys on Ed25519 for.
        for key in keys.iter_mut().filter(|key| key.kind.material.family() == Family::Eddsa) {
            key.kind.usage = Usage::default();
        }
    }
    Ok((card.serial.unwrap_or_default(), keys))
}

/// Reads a key of the card, if there is one that can serve one of these uses.
fn read_key(
    number: CardKeyNumber,
    usage: Usage,
    card: &Card,
    access: &mut CardAccess<'_>,
) -> Option<ExistingKey> {
    let (_, shown) = access.send(&format!("SCD READKEY OPENPGP.{}", number as u8), None).ok()?;
    let created = Timestamp(card.keys[number.index()].created);
    let public = public_body(&shown, number.does(), created)?;
    Some(ExistingKey { kind: kind(&public, usage)?, public })
}

/// Returns the material of a key and those of the uses that it can serve.
fn kind(public: &[u8], usage: Usage) -> Option<Kind> {
    let key = parse_public(public).ok()?;
    let family = Family::from_number(key.algorithm.0.into())?;
    let every = [Usage::CERTIFY, Usage::SIGN, Usage::ENCRYPT, Usage::AUTHENTICATE];
    let served = every.into_iter().filter(|one| usage.contains(*one) && family.allows(*one));
    let usage = served.fold(Usage::default(), |all, one| all | one);
    Some(Kind { material: Material::Existing(key.facts().keygrip?, family), usage })
}

impl CardFailure {
    /// Returns gpg's code.
    fn code(&self) -> Code {
        Code::of_card(self.value() as u16).unwrap_or(Code::CARD)
    }
}
