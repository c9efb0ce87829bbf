//! Keys that are on the card already become keys of a new certificate: the algorithm `card`.

use agent::card_key::{CardUse, public_body};
use engine::cert::Timestamp;
use engine::cert::effective::Usage;
use engine::cert::key::parse_public;

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

/// Reads the key of the card in the reader that is for these uses: the one that signs, or else the one that decrypts. If the
/// card `is_found` already, it is not named again.
///
/// # Errors
///
/// gpg's code; what is wrong is reported.
pub(crate) fn read(
    usage: Usage,
    is_found: bool,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<ExistingKey, Code> {
    let mut access = CardAccess::new(settings, streams).going_on(is_found);
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
    let (number, does) = match signs {
        true => (CardKeyNumber::Signature, CardUse::Signs),
        false => (CardKeyNumber::Encryption, CardUse::Decrypts),
    };
    let created = Timestamp(card.keys[number.index()].created);
    let shown = access.send(&format!("SCD READKEY OPENPGP.{}", number as u8), None);
    let public = shown.ok().and_then(|(_, shown)| public_body(&shown, does, created));
    let found = public.and_then(|public| Some(ExistingKey { kind: kind(&public, usage)?, public }));
    found.ok_or_else(|| {
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
    const PLACES: [(CardUse, [Usage; 2]); 3] = [
        (CardUse::Signs, [Usage::SIGN, Usage::CERTIFY]),
        (CardUse::Decrypts, [Usage::ENCRYPT, Usage::ENCRYPT]),
        (CardUse::Signs, [Usage::SIGN, Usage::AUTHENTICATE]),
    ];
    let mut access = CardAccess::new(settings, streams);
    let card = access.find().and_then(|()| access.learn()).map_err(|failure| failure.to_string())?;
    let mut found = Vec::new();
    for ((number, (does, [one, other])), key) in (1..).zip(PLACES).zip(&card.keys) {
        let shown = access.send(&format!("SCD READKEY OPENPGP.{number}"), None);
        let created = Timestamp(key.created);
        let public = shown.ok().and_then(|(_, shown)| public_body(&shown, does, created));
        found.extend(
            public.and_then(|public| Some(ExistingKey { kind: kind(&public, one | other)?, public })),
        );
    }
    Ok((card.serial.unwrap_or_default(), found))
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
        Code::of_agent(self.value() as u16).unwrap_or(Code::CARD)
    }
}
