//! Keys of the agent go onto the card: which of its keys they become, and what the agent notes afterwards.

use agent::card::{CardKey, KeyAlgorithm};
use engine::cert::Keygrip;
use engine::cert::effective::Usage;
use engine::cert::key::{Key, Parameter};

use super::access::{CardAccess, Outcome};
use super::algorithms::for_key_operation;
use super::new_keys::{self, CardKeyNumber, SignaturePin};
use super::session::CardSession;
use crate::clock;
use crate::code::Code;
use crate::generation::dialogue;
use crate::number;
use crate::render::digits::hex_text;
use crate::settings::Settings;
use crate::streams::Streams;

/// A card that keys are put onto in the course of another command.
#[derive(Default)]
pub(crate) struct KeyCard {
    /// It was found and named before.
    is_selected: bool,
}

/// One of the keys of a card.
pub(crate) struct Place {
    serial: String,
    number: CardKeyNumber,
    is_taken: bool,
}

/// A subkey that a card has made.
pub(crate) struct NewSubkey {
    /// The body of its packet.
    pub(crate) public: Vec<u8>,
    pub(crate) usage: Usage,
    /// How long it is valid; 0 for ever.
    pub(crate) seconds: u32,
    /// What the card is to do once the subkey is bound.
    pub(crate) pin: SignaturePin,
}

impl KeyCard {
    /// Asks which of the card's keys this one, which is for these uses or for any, is to become. Returns `None`, and says why,
    /// if none.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    pub(crate) fn ask(
        &mut self,
        key: &Key<'_>,
        usage: Option<Usage>,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<Option<Place>> {
        self.with_access(settings, streams, |access| {
            let mut session = CardSession::new(access);
            let place = ask(key, usage, &mut session);
            (place, session.access)
        })
    }

    /// Asks for a subkey and has the card make it. Returns `None`, and says why, if there is none.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    pub(crate) fn new_subkey(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<Option<NewSubkey>> {
        self.with_access(settings, streams, |access| {
            let mut session = CardSession::new(access);
            let made = new_subkey(&mut session);
            (made, session.access)
        })
    }

    /// Has the card ask for the PIN as it did before.
    pub(crate) fn restore_pin(&mut self, pin: SignaturePin, settings: &Settings, streams: &mut Streams) {
        self.with_access(settings, streams, |mut access| {
            new_keys::restore_pin(pin, &mut access);
            ((), access)
        });
    }

    /// Has the agent put a key of its own there; reports if it fails.
    pub(crate) fn put(
        &mut self,
        key: &Key<'_>,
        keygrip: Keygrip,
        place: &Place,
        settings: &Settings,
        streams: &mut Streams,
    ) -> bool {
        let force = if place.is_taken { "--force " } else { "" };
        let (serial, number) = (&place.serial, place.number as u8);
        let created = clock::agent_string(key.created);
        let derivation = key_derivation(key);
        let command = format!("KEYTOCARD {force}{keygrip} {serial} OPENPGP.{number} {created}{derivation}");
        let outcome = self.run(settings, streams, |access| access.operate(&command));
        if let Err(failure) = &outcome {
            streams.error(format_args!("KEYTOCARD failed: {failure}"));
        }
        outcome.is_ok()
    }

    /// Returns the keygrips of the keys that are on the card.
    ///
    /// # Errors
    ///
    /// If the card cannot be asked.
    pub(crate) fn keygrips(&mut self, settings: &Settings, streams: &mut Streams) -> Outcome<Vec<Keygrip>> {
        let (card, _) = self.run(settings, streams, |access| access.command("SCD LEARN --keypairinfo"))?;
        Ok(card.keys.iter().filter_map(|key| key.keygrip).collect())
    }

    /// Has the agent note which keys are on the card, in the place of what it had of them.
    ///
    /// # Errors
    ///
    /// If the card cannot be read.
    pub(crate) fn learn_anew(&mut self, settings: &Settings, streams: &mut Streams) -> Outcome<()> {
        self.run(settings, streams, |access| access.command("LEARN --sendinfo --force")).map(drop)
    }

    /// Sends a command that is not for the card.
    ///
    /// # Errors
    ///
    /// If the agent refuses it.
    pub(crate) fn agent(&mut self, command: &str, settings: &Settings, streams: &mut Streams) -> Outcome<()> {
        self.run(settings, streams, |access| access.send(command, None)).map(drop)
    }

    fn run<T>(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
        run: impl FnOnce(&mut CardAccess<'_>) -> Outcome<T>,
    ) -> Outcome<T> {
        self.with_access(settings, streams, |mut access| (run(&mut access), access))
    }

    fn with_access<'a, T>(
        &mut self,
        settings: &'a Settings,
        streams: &'a mut Streams,
        run: impl FnOnce(CardAccess<'a>) -> (T, CardAccess<'a>),
    ) -> T {
        let (done, access) = run(CardAccess::new(settings, streams).going_on(self.is_selected));
        self.is_selected = access.is_selected();
        done
    }
}

fn ask(key: &Key<'_>, usage: Option<Usage>, session: &mut CardSession<'_>) -> anyhow::Result<Option<Place>> {
    let Some(card) = for_key_operation(session) else { return Ok(None) };
    if !card.capabilities.imports_keys {
        session.access.tell("The card does not support the import of keys\n\n");
        return Ok(None);
    }
    if !card.is_version_2() && key.bits() != 1024 {
        session.access.tell("You may only store a 1024 bit RSA key on the card\n\n");
        return Ok(None);
    }
    let every = [Usage::CERTIFY, Usage::SIGN, Usage::ENCRYPT, Usage::AUTHENTICATE];
    let is_offered = |number: &CardKeyNumber| {
        usage.is_none_or(|usage| every.iter().any(|one| usage.contains(*one) && number.uses().contains(*one)))
    };
    session.access.tell("Which of the card's keys is it to become?\n");
    session.access.tell(menu(is_offered));
    let number = loop {
        let answer = session.access.line("cardedit.genkeys.storekeytype", "Your selection? ")?;
        if matches!(answer.first(), None | Some(4)) {
            return Ok(None);
        }
        let can_change = card.capabilities.changes_algorithms || !card.is_version_2();
        match number::decimal(&answer).and_then(CardKeyNumber::of).filter(is_offered) {
            None => session.access.tell("Invalid selection.\n"),
            Some(number) if !can_change && !fits(key, &card.keys[number.index()]) => {
                session.access.tell("Key does not match the card's capability.\n");
            }
            Some(number) => break number,
        }
    };
    let is_taken = !card.keys[number.index()].fingerprint.is_empty();
    if is_taken && !is_replaced(session)? {
        return Ok(None);
    }
    Ok(card.serial.map(|serial| Place { serial, number, is_taken }))
}

fn new_subkey(session: &mut CardSession<'_>) -> anyhow::Result<Option<NewSubkey>> {
    let Some(card) = for_key_operation(session) else { return Ok(None) };
    new_keys::show(&card, &session.access);
    session.access.tell("Which of the card's keys is it to make?\n");
    session.access.tell(menu(|_| true));
    let number = loop {
        let answer = session.access.line("cardedit.genkeys.subkeytype", "Your selection? ")?;
        if answer.first() == Some(&4) {
            return Ok(None);
        }
        match number::decimal(&answer).and_then(CardKeyNumber::of) {
            Some(number) => break number,
            None => session.access.tell("Invalid selection.\n"),
        }
    };
    if !card.keys[number.index()].fingerprint.is_empty() && !is_replaced(session)? {
        return Ok(None);
    }
    let access = &mut session.access;
    let (pin, is_right) = new_keys::check_pin(&card, access);
    let made = if is_right { make_subkey(number, pin, access) } else { Ok(None) };
    if !matches!(made, Ok(Some(_))) {
        new_keys::restore_pin(pin, access);
    }
    made
}

fn make_subkey(
    number: CardKeyNumber,
    pin: SignaturePin,
    access: &mut CardAccess<'_>,
) -> anyhow::Result<Option<NewSubkey>> {
    let settings = access.settings;
    let seconds = dialogue::validity(settings, access.streams)?;
    let is_asked = settings.command_input.is_none();
    let outcome = if is_asked && !access.confirm("keygen.cardsub.okay", "Really create? (y/N) ")? {
        Err(Code::CANCELLED.into())
    } else {
        new_keys::make(number, settings.now, access)
    };
    let usage = match number {
        CardKeyNumber::Signature => Usage::SIGN,
        CardKeyNumber::Encryption => Usage::ENCRYPT,
        CardKeyNumber::Authentication => Usage::AUTHENTICATE,
    };
    match outcome {
        Ok(public) => Ok(Some(NewSubkey { public, usage, seconds, pin })),
        Err(failure) => {
            access.streams.error(format_args!("Key generation failed: {failure}"));
            Ok(None)
        }
    }
}

/// Returns the lines of a menu of the card's keys.
fn menu(is_offered: impl Fn(&CardKeyNumber) -> bool) -> String {
    let offered = CardKeyNumber::ALL.into_iter().filter(is_offered);
    offered.map(|number| format!("   ({}) {} key\n", number as u8, number.name())).collect()
}

/// Returns whether a card whose algorithms cannot be changed takes a key in the place of one of its own.
fn fits(key: &Key<'_>, place: &CardKey) -> bool {
    matches!(place.algorithm, Some(KeyAlgorithm::Rsa(bits)) if bits == key.bits())
}

/// Asks whether the card's key may be lost.
fn is_replaced(session: &mut CardSession<'_>) -> anyhow::Result<bool> {
    session.access.tell("\n");
    session.access.streams.info("WARNING: such a key has already been stored on the card!");
    session.access.tell("\n");
    session.access.confirm("cardedit.genkeys.replace_key", "Replace existing key? (y/N) ")
}

/// Returns the parameters of a key's derivation, of which the card's fingerprint of it depends, as an argument.
pub(super) fn key_derivation(key: &Key<'_>) -> String {
    match key.parameters().as_slice() {
        [_, _, Parameter::Bytes(derivation)] => format!(" {}", hex_text(derivation)),
        _ => String::new(),
    }
}
