//! `generate`: the card makes all its keys, which become a certificate. The encryption key may be made here instead, so that
//! there is a backup of it.

use std::io::Write as _;
use std::path::PathBuf;

use agent::card::{Card, KeyAlgorithm};
use engine::cert::Timestamp;
use engine::cert::effective::Usage;
use engine::cert::key::parse_public;
use engine::cert::packet::{self, Tag};
use engine::output_file::{Content, Existing, OutputFile};
use keygen::{Plan, Silent, Version, subkey};
use secret::ask::KeyName;
use secret::{Ask as _, Question, SecretKey, SecretKeys as _, Unlocked};

use super::access::{CardFailure, Outcome};
use super::algorithms::for_key_operation;
use super::new_keys::{self, CardKeyNumber};
use super::session::CardSession;
use crate::clock;
use crate::code::Code;
use crate::commands::generate::make::{self, CardKeys, Order};
use crate::generation::key_algorithm::{key_algorithm, key_flags};
use crate::generation::{Curve, Family, Kind, Material, Part, Request, dialogue};
use crate::passphrases::Passphrases;
use crate::secrets::secret_keys;
use crate::status;

/// The place that status lines about a failure name.
const LOCATION: &str = "card_key_generate";

/// Asks, has the card make its keys, and enters their certificate.
pub(super) fn run(session: &mut CardSession<'_>) -> anyhow::Result<()> {
    let Some(card) = for_key_operation(session) else { return Ok(()) };
    let has_backup = card.capabilities.imports_keys && {
        let question = "Make off-card backup of encryption key? (Y/n) ";
        let answer = session.access.line("cardedit.genkeys.backup_enc", question)?.to_ascii_lowercase();
        !matches!(answer.as_slice(), b"n" | b"no")
    };
    let is_taken = card.keys.iter().any(|key| key.fingerprint.iter().any(|byte| *byte != 0));
    if is_taken {
        session.access.tell("\n");
        session.access.streams.info("Note: keys are already stored on the card!");
        session.access.tell("\n");
        if !session.access.confirm("cardedit.genkeys.replace_keys", "Replace existing keys? (y/N) ")? {
            return Ok(());
        }
    }
    if card.holder.as_deref().unwrap_or_default().is_empty() {
        session.access.tell(
            "\nA card leaves the factory with\n   PIN = '123456'     Admin PIN = '12345678'\n\
             Change them with --change-pin.\n\n",
        );
    }
    let (pin, is_right) = new_keys::check_pin(&card, &mut session.access);
    let outcome = if is_right { certificate(session, has_backup) } else { Ok(()) };
    new_keys::restore_pin(pin, &mut session.access);
    outcome
}

/// Asks for what the certificate says, and makes it.
fn certificate(session: &mut CardSession<'_>, has_backup: bool) -> anyhow::Result<()> {
    let access = &mut session.access;
    let settings = access.settings;
    if settings.batch {
        access.streams.error("can't do this in batch mode");
        return Ok(());
    }
    let card = match access.attribute("KEY-ATTR") {
        Ok(card) => card,
        Err(failure) => {
            access.streams.error(format_args!("error getting current key info: {failure}"));
            return Ok(());
        }
    };
    let valid_for = dialogue::validity(settings, access.streams)?;
    let Some(user_id) = dialogue::user_id(&[], settings, access.streams)? else {
        access.streams.error("Key generation canceled.");
        return Ok(());
    };
    match make_keys(session, &card, has_backup)? {
        Ok([primary, authentication, encryption]) => {
            let part = |public: &[u8], usage| part(public, usage, valid_for);
            let request = Request {
                primary: part(&primary, Usage::SIGN | Usage::CERTIFY)?,
                subkey: Some(part(&encryption, Usage::ENCRYPT)?),
                user_id,
                created: None,
                preferences: None,
                revoker: None,
                keyserver: None,
            };
            let keys = CardKeys {
                authentication: Some(part(&authentication, Usage::AUTHENTICATE)?),
                public: vec![primary, authentication, encryption],
                location: LOCATION,
            };
            make::make(settings, session.access.streams, &Order::of_card(request, keys))
        }
        Err(failure) => {
            session.access.tell(format!("Key generation failed: {failure}\n"));
            session.access.streams.status_error(LOCATION, failure.value());
            session.access.streams.status("KEY_NOT_CREATED ");
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
    session: &mut CardSession<'_>,
    card: &Card,
    has_backup: bool,
) -> anyhow::Result<Outcome<[Vec<u8>; 3]>> {
    let created = session.access.settings.now;
    let mut made = |number| new_keys::make(number, created, &mut session.access);
    let signs = match made(CardKeyNumber::Signature) {
        Ok(public) => public,
        Err(failure) => return Ok(Err(failure)),
    };
    let authenticates = match made(CardKeyNumber::Authentication) {
        Ok(public) => public,
        Err(failure) => return Ok(Err(failure)),
    };
    let decrypts = match has_backup {
        true => make_with_backup(session, card.keys[1].algorithm.as_ref(), created)?,
        false => made(CardKeyNumber::Encryption),
    };
    Ok(decrypts.map(|decrypts| [signs, authenticates, decrypts]))
}

/// Makes the encryption key here, writes the backup, and has the agent put the key onto the card.
fn make_with_backup(
    session: &mut CardSession<'_>,
    algorithm: Option<&KeyAlgorithm>,
    created: Timestamp,
) -> anyhow::Result<Outcome<Vec<u8>>> {
    let settings = session.access.settings;
    let planned = material(algorithm).and_then(|material| key_algorithm(material, settings));
    let plan = planned.and_then(|(algorithm, _)| {
        Plan::new(algorithm, key_flags(Usage::ENCRYPT)).map_err(|_| Code::GENERAL)
    });
    let plan = match plan {
        Ok(plan) => plan,
        Err(code) => return Ok(Err(code.into())),
    };
    let key = subkey(Version::V4, &plan, created, &mut Silent)?;
    let backup = match write_backup(session, &key)? {
        Ok(backup) => backup,
        Err(code) => return Ok(Err(code.into())),
    };
    let put = put(session, &key, &backup.key);
    if matches!(put, Put::NotSent(_)) {
        // A backup of a key that nobody has is of no use.
        let _ = std::fs::remove_file(backup.path);
    }
    Ok(match put {
        Put::Done => Ok(key.public_body().to_vec()),
        Put::NotSent(failure) | Put::Failed(failure) => Err(failure),
    })
}

fn material(algorithm: Option<&KeyAlgorithm>) -> Result<Material, Code> {
    match algorithm {
        Some(KeyAlgorithm::Rsa(bits)) => Ok(Material::Rsa { bits: *bits }),
        Some(KeyAlgorithm::Curve(_, name)) => {
            Curve::named_loosely(name).map(Material::Ecdh).ok_or(Code::UNKNOWN_CURVE)
        }
        None => Err(Code::UNSUPPORTED_ALGORITHM),
    }
}

/// A key in a file, locked with a passphrase.
struct Backup {
    path: PathBuf,
    key: SecretKey,
}

/// What became of a key that was to go onto the card.
enum Put {
    Done,
    /// The card was not sent it.
    NotSent(CardFailure),
    /// The card was sent it, and may have it.
    Failed(CardFailure),
}

/// Writes the key, locked with a passphrase that is asked for, into a file in the home directory.
fn write_backup(session: &mut CardSession<'_>, key: &Unlocked) -> anyhow::Result<Result<Backup, Code>> {
    let access = &mut session.access;
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
    Ok(Ok(Backup { path, key: kept }))
}

/// Has the agent put a key that it does not keep onto the card.
fn put(session: &mut CardSession<'_>, key: &Unlocked, locked: &SecretKey) -> Put {
    let access = &mut session.access;
    let agent = match secret_keys(access.settings) {
        Ok(secrets) => secrets.agent().cloned(),
        Err(error) => {
            access.streams.info(&error);
            None
        }
    };
    let (Some(agent), Some(keygrip)) = (agent, key.keygrip()) else {
        return Put::NotSent(Code::NO_AGENT.into());
    };
    let serial = match access.attribute("SERIALNO") {
        Ok(Card { serial: Some(serial), .. }) => serial,
        Ok(_) => return Put::NotSent(Code::CARD.into()),
        Err(failure) => return Put::NotSent(failure),
    };
    // Agents of GnuPG 2.4 hold the key in memory only; earlier ones write it into a file, where it is locked as in the backup.
    let is_ephemeral = access.send("OPTION ephemeral=1", None).is_ok();
    let stored = if is_ephemeral { agent.store(&key.plain()) } else { agent.store(locked) };
    let put = match stored {
        Ok(_) => {
            let public = secret::Signer::key(key);
            let created = clock::agent_string(public.created);
            let derivation = super::place::key_derivation(&public);
            let command = format!("KEYTOCARD --force {keygrip} {serial} OPENPGP.2 {created}{derivation}");
            access.operate(&command).map_or_else(Put::Failed, |()| Put::Done)
        }
        Err(error) => {
            access.streams.info(&error);
            Put::NotSent(Code::GENERAL.into())
        }
    };
    if is_ephemeral {
        let _ = access.send("OPTION ephemeral=0", None);
    } else if !matches!(put, Put::NotSent(_))
        && let Err(failure) = access.send(&format!("DELETE_KEY --force {keygrip}"), None)
    {
        access.streams.error(format_args!("deleting copy of secret key failed: {failure}"));
    }
    if matches!(put, Put::Done)
        && let Err(failure) = access.command("LEARN --sendinfo --force")
    {
        // The card has the key all the same.
        access.streams.error(format_args!("error reading the card: {failure}"));
    }
    put
}
