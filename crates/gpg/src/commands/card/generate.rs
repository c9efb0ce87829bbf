//! `generate`: the card makes all its keys, which become a certificate. The encryption key may be made here instead, so that
//! there is a backup of it.

use std::io::Write as _;
use std::path::PathBuf;

use agent::card::{Card, KeyAlgorithm};
use engine::cert::Timestamp;
use engine::cert::effective::Usage;
use engine::cert::key::parse_public;
use engine::cert::packet::{self, Tag};
use engine::configuration::Compat;
use engine::output_file::{Content, Existing, OutputFile};
use keygen::{Plan, Silent, Version, subkey};
use secret::ask::KeyName;
use secret::{Ask as _, Question, SecretKey, Unlocked};

use super::access::{CardAccess, Outcome};
use super::algorithms::for_key_operation;
use super::key_reference::{self, AgentCopy, KeyReference};
use super::new_keys::{self, CardKeyNumber};
use crate::code::Code;
use crate::commands::generate::make::{self, AgentKeys, Order};
use crate::generation::key_algorithm::{key_algorithm, key_flags};
use crate::generation::{Curve, Family, Kind, Material, Part, Request, dialogue};
use crate::passphrases::Passphrases;
use crate::secrets::secret_keys;
use crate::status;

/// The place that status lines about a failure name.
const LOCATION: &str = "card_key_generate";

/// Asks, has the card make its keys, and enters their certificate.
pub(super) fn run(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let Some(card) = for_key_operation(access) else { return Ok(()) };
    let has_backup = card.capabilities.imports_keys && {
        let question = "Make off-card backup of encryption key? (Y/n) ";
        let answer = access.line("cardedit.genkeys.backup_enc", question)?.to_ascii_lowercase();
        !matches!(answer.as_slice(), b"n" | b"no")
    };
    let is_taken = card.keys.iter().any(|key| key.fingerprint.iter().any(|byte| *byte != 0));
    if is_taken {
        access.tell("\n");
        access.streams.info("Note: keys are already stored on the card!");
        access.tell("\n");
        if !access.confirm("cardedit.genkeys.replace_keys", "Replace existing keys? (y/N) ")? {
            return Ok(());
        }
    }
    if card.holder.as_deref().unwrap_or_default().is_empty() {
        access.tell(
            "\nA card leaves the factory with\n   PIN = '123456'     Admin PIN = '12345678'\n\
             Change them with --change-pin.\n\n",
        );
    }
    let (pin, is_right) = new_keys::check_pin(&card, access);
    let outcome = if is_right { certificate(access, &card, has_backup) } else { Ok(()) };
    new_keys::restore_pin(pin, access);
    outcome
}

/// Asks for what the certificate says, and makes it.
fn certificate(access: &mut CardAccess<'_>, card: &Card, has_backup: bool) -> anyhow::Result<()> {
    let settings = access.settings;
    if settings.batch {
        access.streams.error("can't do this in batch mode");
        return Ok(());
    }
    let valid_for = dialogue::validity(settings, access.streams)?;
    let Some(user_id) = dialogue::user_id(&[], settings, access.streams)? else {
        access.streams.error("Key generation canceled.");
        return Ok(());
    };
    match make_keys(access, card, has_backup)? {
        Ok([primary, authentication, encryption]) => {
            let part = |public: &[u8], usage| part(public, usage, valid_for);
            let request = Request {
                primary: part(&primary, Usage::SIGN | Usage::CERTIFY)?,
                subkeys: vec![
                    part(&authentication, Usage::AUTHENTICATE)?,
                    part(&encryption, Usage::ENCRYPT)?,
                ],
                user_id,
                created: None,
                preferences: None,
                revoker: None,
                keyserver: None,
            };
            let keys = AgentKeys { public: vec![primary, authentication, encryption], location: LOCATION };
            make::make(settings, access.streams, &Order::of_agent_keys(request, keys))
        }
        Err(failure) => {
            access.tell(format!("Key generation failed: {failure}\n"));
            access.streams.status_error(LOCATION, failure.value());
            access.streams.status("KEY_NOT_CREATED ");
            Ok(())
        }
    }
}

/// Describes a key on the card as a part of a certificate.
fn part(public: &[u8], usage: Usage, valid_for: u32) -> anyhow::Result<Part> {
    let key = parse_public(public)?;
    let family = Family::from_number(key.algorithm.0.into());
    let (Some(keygrip), Some(family)) = (key.facts().keygrip, family) else {
        anyhow::bail!("the card has a key of an unknown algorithm");
    };
    Ok(Part { kind: Kind { material: Material::Existing(keygrip, family), usage }, valid_for })
}

/// Makes the keys that sign, authenticate and decrypt.
fn make_keys(
    access: &mut CardAccess<'_>,
    card: &Card,
    has_backup: bool,
) -> anyhow::Result<Outcome<[Vec<u8>; 3]>> {
    let created = access.settings.now;
    let mut made = |number| new_keys::make(number, created, access);
    let signs = match made(CardKeyNumber::Signature) {
        Ok(public) => public,
        Err(failure) => return Ok(Err(failure)),
    };
    let authenticates = match made(CardKeyNumber::Authentication) {
        Ok(public) => public,
        Err(failure) => return Ok(Err(failure)),
    };
    let decrypts = match has_backup {
        true => make_with_backup(access, card, created)?,
        false => made(CardKeyNumber::Encryption),
    };
    Ok(decrypts.map(|decrypts| [signs, authenticates, decrypts]))
}

/// Makes the encryption key here, writes the backup, and has the agent put the key onto the card.
fn make_with_backup(
    access: &mut CardAccess<'_>,
    card: &Card,
    created: Timestamp,
) -> anyhow::Result<Outcome<Vec<u8>>> {
    let number = CardKeyNumber::Encryption;
    let settings = access.settings;
    let Some(serial) = card.serial.clone() else { return Ok(Err(Code::CARD.into())) };
    let planned = material(card.keys[number.index()].algorithm.as_ref());
    let plan = planned.and_then(|material| key_algorithm(material, settings)).and_then(|(algorithm, _)| {
        Plan::new(algorithm, key_flags(Usage::ENCRYPT)).map_err(|_| Code::GENERAL)
    });
    let plan = match plan {
        Ok(plan) => plan,
        Err(code) => return Ok(Err(code.into())),
    };
    let secrets = secret_keys(settings)?;
    let Some(agent) = secrets.agent() else { return Ok(Err(Code::NO_AGENT.into())) };
    let key = subkey(Version::V4, &plan, created, &mut Silent)?;
    let (path, locked) = match write_backup(access, &key)? {
        Ok(backup) => backup,
        Err(code) => return Ok(Err(code.into())),
    };
    let to = KeyReference { serial, number, is_taken: true };
    let copy = match key_reference::import(&locked, Some(&key.plain()), &to, agent, access) {
        Ok(Ok(copy)) => copy,
        Ok(Err(failure)) => return Ok(Err(failure)),
        Err(error) => {
            access.streams.info(&error);
            // A backup of a key that nobody has is of no use.
            let _ = std::fs::remove_file(path);
            return Ok(Err(Code::GENERAL.into()));
        }
    };
    if let (AgentCopy::FromHere, Some(keygrip)) = (copy, key.keygrip()) {
        key_reference::delete_copy(keygrip, access);
    }
    if let Err(failure) = key_reference::learn_anew(access) {
        // The card has the key all the same.
        access.streams.error(format_args!("error reading the card: {failure}"));
    }
    Ok(Ok(key.public_body().to_vec()))
}

fn material(algorithm: Option<&KeyAlgorithm>) -> Result<Material, Code> {
    match algorithm {
        Some(KeyAlgorithm::Rsa(bits)) => Ok(Material::Rsa { bits: *bits }),
        Some(KeyAlgorithm::Curve(_, name)) => {
            Curve::named(name, Compat::V2_4).map(Material::Ecdh).ok_or(Code::UNKNOWN_CURVE)
        }
        None => Err(Code::UNSUPPORTED_ALGORITHM),
    }
}

/// Writes the key, locked with a passphrase that is asked for, into a file in the home directory; returns its path and the
/// locked key.
fn write_backup(
    access: &mut CardAccess<'_>,
    key: &Unlocked,
) -> anyhow::Result<Result<(PathBuf, SecretKey), Code>> {
    let name = KeyName::from(&secret::Signer::key(key));
    let mut ask = Passphrases::new(access.settings, access.streams);
    let kept = match ask.passphrase(&Question::New { key: &name }) {
        Ok(Some(passphrase)) => key.locked_anew(&passphrase)?,
        Ok(None) => {
            let error = secret::Error::NoPassphrase { key: name.fingerprint };
            return Ok(Err(ask.code(&error)));
        }
        Err(error) => return Ok(Err(ask.code(&error))),
    };
    let file = format!("sk_{}.gpg", name.fingerprint.key_id());
    let path = access.settings.home.directory().join(file);
    // As in gpg, it is a primary key.
    let packet = packet::write(Tag::SECRET_KEY, &kept.body());
    let written = OutputFile::create(&path, Content::Secret, Existing::Replaced, &[]).and_then(|mut file| {
        file.write_all(&packet)?;
        file.commit()
    });
    if let Err(error) = written {
        let shown = path.display();
        access.streams.error(format_args!("can't create backup file '{shown}': {error}"));
        return Ok(Err(error.raw_os_error().and_then(Code::of_system).unwrap_or(Code::GENERAL)));
    }
    access.streams.info(format_args!("Note: backup of card key saved to '{}'", path.display()));
    let created = format!("BACKUP_KEY_CREATED {}", name.fingerprint);
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    access.streams.status(status::with_escaped_text(created, bytes));
    Ok(Ok((path, kept)))
}
