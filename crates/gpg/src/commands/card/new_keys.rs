//! Keys that the card makes: `generate` of `--edit-card`, and `addcardkey` of `--edit-key`.

use agent::card::Card;
use agent::card_key::{CardUse, public_body};
use engine::cert::Timestamp;
use engine::cert::effective::Usage;

use super::access::{CardAccess, Outcome};
use crate::clock;
use crate::code::Code;
use crate::render::digits::hex_text;

/// One of the keys of a card, as its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardKeyNumber {
    Signature = 1,
    Encryption = 2,
    Authentication = 3,
}

impl CardKeyNumber {
    /// All, in the order of the card.
    pub(super) const ALL: [Self; 3] = [Self::Signature, Self::Encryption, Self::Authentication];

    /// Reads the number of a menu.
    pub(super) fn of(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as i64 == number)
    }

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Signature => "Signature",
            Self::Encryption => "Encryption",
            Self::Authentication => "Authentication",
        }
    }

    /// Returns the uses of which a key that becomes this one must be for one.
    pub(super) fn uses(self) -> Usage {
        match self {
            Self::Signature => Usage::SIGN | Usage::CERTIFY,
            Self::Encryption => Usage::ENCRYPT,
            Self::Authentication => Usage::SIGN | Usage::AUTHENTICATE,
        }
    }

    /// Returns what it does.
    pub(super) fn does(self) -> CardUse {
        if self == Self::Encryption { CardUse::Decrypts } else { CardUse::Signs }
    }

    /// Returns its place among the card's keys.
    pub(super) fn index(self) -> usize {
        self as usize - 1
    }
}

/// A PIN that the card asked for with each signature, and does not while keys are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignaturePin {
    Forced,
    Remembered,
}

/// Has the PIN entered now, once for all signatures that follow. Returns what is to be restored, and whether the PIN was right;
/// reports if it was not.
pub(super) fn check_pin(card: &Card, access: &mut CardAccess<'_>) -> (SignaturePin, bool) {
    let mut pin = SignaturePin::Remembered;
    if !card.pin_is_remembered {
        if let Err(failure) = access.set("CHV-STATUS-1", &[1]) {
            access.streams.error(format_args!("error clearing forced signature PIN flag: {failure}"));
            return (pin, false);
        }
        pin = SignaturePin::Forced;
    }
    let serial = card.serial.as_deref().unwrap_or_default();
    let checked = access.operate(&format!("SCD CHECKPIN {serial}"));
    if let Err(failure) = &checked {
        access.streams.error(format_args!("error checking the PIN: {failure}"));
        access.report(&checked);
    }
    (pin, checked.is_ok())
}

/// Has the card ask for the PIN with each signature again.
pub(crate) fn restore_pin(pin: SignaturePin, access: &mut CardAccess<'_>) {
    if pin == SignaturePin::Forced
        && let Err(failure) = access.set("CHV-STATUS-1", &[0])
    {
        access.streams.error(format_args!("error setting forced signature PIN flag: {failure}"));
    }
}

/// Has the card make a key, in the place of the one that it has, and the agent note where it is. Returns the body of its
/// packet; reports a failure.
pub(super) fn make(
    number: CardKeyNumber,
    created: Timestamp,
    access: &mut CardAccess<'_>,
) -> Outcome<Vec<u8>> {
    let digit = number as u8;
    let command = format!("SCD GENKEY --timestamp={} --force {digit}", clock::agent_string(created));
    let made = access.command(&command);
    access.report_failure(&made);
    let (card, _) = made.inspect_err(|failure| {
        access.streams.error(format_args!("key generation failed: {failure}"));
    })?;
    let created = card.key_created_at.map_or(created, Timestamp);
    let (_, shown) = access.send(&format!("READKEY --card OPENPGP.{digit}"), None)?;
    public_body(&shown, number.does(), created).ok_or_else(|| Code::INVALID_PUBLIC_KEY_ALGORITHM.into())
}

/// Shows the fingerprints of the card's keys.
pub(super) fn show(card: &Card, access: &CardAccess<'_>) {
    let mut text = String::new();
    for number in CardKeyNumber::ALL {
        let (name, key) = (number.name(), &card.keys[number.index()]);
        let fingerprint = match key.fingerprint.as_slice() {
            [] => "[none]".to_owned(),
            bytes => hex_text(bytes),
        };
        text.push_str(&format!("{name} key: {fingerprint}\n"));
    }
    access.tell(text + "\n");
}
