//! Keys that become keys of a card while another command runs: the agent puts them there, or the card makes them.

use agent::card::{CardKey, KeyAlgorithm};
use agent::{AgentKeys, Stub};
use engine::cert::Keygrip;
use engine::cert::effective::Usage;
use engine::cert::key::{Key, Parameter};
use secret::{SecretKey, Stored};

use super::access::{CardAccess, CardFailure, Outcome};
use super::algorithms::for_key_operation;
use super::new_keys::{self, CardKeyNumber, SignaturePin};
use crate::clock;
use crate::code::Code;
use crate::generation::dialogue;
use crate::number;
use crate::render::digits::hex_text;

/// One of the keys of a card, which another one is to become (GnuPG's `OPENPGP.2` and the like).
pub(crate) struct KeyReference {
    pub(super) serial: String,
    pub(super) number: CardKeyNumber,
    /// The card has a key there, which is lost.
    pub(super) is_taken: bool,
}

/// The agent's copy of a key that is on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentCopy {
    /// It had one before.
    Own,
    /// It was copied there for the card.
    FromHere,
    /// There is none.
    Absent,
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

/// Has the agent put a key of its own onto the card.
///
/// # Errors
///
/// If the agent or the card refuses that.
pub(crate) fn put(
    key: &Key<'_>,
    keygrip: Keygrip,
    to: &KeyReference,
    access: &mut CardAccess<'_>,
) -> Outcome<()> {
    let force = if to.is_taken { "--force " } else { "" };
    let (serial, number) = (&to.serial, to.number as u8);
    let created = clock::agent_string(key.created);
    let derivation = key_derivation(key);
    access.operate(&format!("KEYTOCARD {force}{keygrip} {serial} OPENPGP.{number} {created}{derivation}"))
}

/// Has the agent import a key and put it onto the card. Agents of GnuPG 2.4 hold it in memory only, and get it `plain` if it is
/// there, so that they ask for no passphrase. Those of 2.2 write it into a file, in the place of a stub; if the card does not
/// get the key, the file is as it was before.
///
/// # Errors
///
/// If the agent does not import the key.
pub(crate) fn import(
    key: &SecretKey,
    plain: Option<&SecretKey>,
    to: &KeyReference,
    agent: &AgentKeys,
    access: &mut CardAccess<'_>,
) -> secret::Result<Outcome<AgentCopy>> {
    let stub = key.key().facts().keygrip.and_then(|keygrip| agent.stub(keygrip));
    let is_ephemeral = access.send("OPTION ephemeral=1", None).is_ok();
    let given = plain.filter(|_| is_ephemeral).unwrap_or(key);
    let put = agent.store_in_place_of(stub.as_ref(), given).map(|stored| {
        let copy = match stored {
            Stored::Kept => AgentCopy::Own,
            Stored::New | Stored::InsteadOfStub if is_ephemeral => AgentCopy::Absent,
            Stored::New | Stored::InsteadOfStub => AgentCopy::FromHere,
        };
        let public = key.key();
        let keygrip = public.facts().keygrip.ok_or(Code::UNSUPPORTED_ALGORITHM)?;
        let put = put(&public, keygrip, to, access);
        if put.is_err() && copy == AgentCopy::FromHere {
            delete_copy(keygrip, access);
            if let Some(Err(error)) = stub.as_ref().map(Stub::write_back) {
                access
                    .streams
                    .error(format_args!("the agent no longer knows which card has the key: {error}"));
            }
        }
        put.map(|()| copy)
    });
    if is_ephemeral {
        let _ = access.send("OPTION ephemeral=0", None);
    }
    put
}

/// Has the agent delete a copy of a key without a question.
pub(crate) fn delete_copy(keygrip: Keygrip, access: &mut CardAccess<'_>) {
    if let Err(error) = access.agent.delete(keygrip) {
        let failure = CardFailure::from(error);
        access.streams.error(format_args!("deleting copy of secret key failed: {failure}"));
    }
}

/// Returns the keygrips of the keys that are on the card.
///
/// # Errors
///
/// If the card cannot be asked.
pub(crate) fn keygrips(access: &mut CardAccess<'_>) -> Outcome<Vec<Keygrip>> {
    let (card, _) = access.command("SCD LEARN --keypairinfo")?;
    Ok(card.keys.iter().filter_map(|key| key.keygrip).collect())
}

/// Has the agent note which keys are on the card, in the place of what it had of them.
///
/// # Errors
///
/// If the card cannot be read.
pub(crate) fn learn_anew(access: &mut CardAccess<'_>) -> Outcome<()> {
    access.command("LEARN --sendinfo --force").map(drop)
}

/// Asks which of the card's keys this one, which is for these uses or for any, is to become. Returns `None`, and says why,
/// if none.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn ask(
    key: &Key<'_>,
    usage: Option<Usage>,
    access: &mut CardAccess<'_>,
) -> anyhow::Result<Option<KeyReference>> {
    let Some(card) = for_key_operation(access) else { return Ok(None) };
    if !card.capabilities.imports_keys {
        access.tell("The card does not support the import of keys\n\n");
        return Ok(None);
    }
    if !card.is_version_2() && key.bits() != 1024 {
        access.tell("You may only store a 1024 bit RSA key on the card\n\n");
        return Ok(None);
    }
    let every = [Usage::CERTIFY, Usage::SIGN, Usage::ENCRYPT, Usage::AUTHENTICATE];
    let is_offered = |number: &CardKeyNumber| {
        usage.is_none_or(|usage| every.iter().any(|one| usage.contains(*one) && number.uses().contains(*one)))
    };
    access.tell("Which of the card's keys is it to become?\n");
    access.tell(menu(is_offered));
    let number = loop {
        let answer = access.line("cardedit.genkeys.storekeytype", "Your selection? ")?;
        if matches!(answer.first(), None | Some(4)) {
            return Ok(None);
        }
        let can_change = card.capabilities.changes_algorithms || !card.is_version_2();
        match number::decimal(&answer).and_then(CardKeyNumber::of).filter(is_offered) {
            None => access.tell("Invalid selection.\n"),
            Some(number) if !can_change && !fits(key, &card.keys[number.index()]) => {
                access.tell("Key does not match the card's capability.\n");
            }
            Some(number) => break number,
        }
    };
    let is_taken = !card.keys[number.index()].fingerprint.is_empty();
    if is_taken && !is_replaced(access)? {
        return Ok(None);
    }
    Ok(card.serial.map(|serial| KeyReference { serial, number, is_taken }))
}

/// Asks for a subkey and has the card make it. Returns `None`, and says why, if there is none.
///
/// # Errors
///
/// If there is no answer.
pub(crate) fn new_subkey(access: &mut CardAccess<'_>) -> anyhow::Result<Option<NewSubkey>> {
    let Some(card) = for_key_operation(access) else { return Ok(None) };
    new_keys::show(&card, access);
    access.tell("Which of the card's keys is it to make?\n");
    access.tell(menu(|_| true));
    let number = loop {
        let answer = access.line("cardedit.genkeys.subkeytype", "Your selection? ")?;
        if answer.first() == Some(&4) {
            return Ok(None);
        }
        match number::decimal(&answer).and_then(CardKeyNumber::of) {
            Some(number) => break number,
            None => access.tell("Invalid selection.\n"),
        }
    };
    if !card.keys[number.index()].fingerprint.is_empty() && !is_replaced(access)? {
        return Ok(None);
    }
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
fn fits(key: &Key<'_>, current: &CardKey) -> bool {
    matches!(current.algorithm, Some(KeyAlgorithm::Rsa(bits)) if bits == key.bits())
}

/// Asks whether the card's key may be lost.
fn is_replaced(access: &mut CardAccess<'_>) -> anyhow::Result<bool> {
    access.tell("\n");
    access.streams.info("WARNING: such a key has already been stored on the card!");
    access.tell("\n");
    access.confirm("cardedit.genkeys.replace_key", "Replace existing key? (y/N) ")
}

/// Returns the parameters of a key's derivation, of which the card's fingerprint of it depends, as an argument.
fn key_derivation(key: &Key<'_>) -> String {
    match key.parameters().as_slice() {
        [_, _, Parameter::Bytes(derivation)] => format!(" {}", hex_text(derivation)),
        _ => String::new(),
    }
}
