//! The signing keys: those of `--local-user`, else that of `--default-key`, else the first usable one.

use engine::foreign_text::shown;
use engine::signing_keys::{SigningKey, SigningKeys, gnupg_signing_key};
use engine::store::query::Name;
use secret::SecretKeys;

use crate::code::Code;
use crate::failure::Failure;
use crate::keyrings::Keyrings;
use crate::secrets::{certificates_with, secret_keys};
use crate::settings::Settings;
use crate::streams::Streams;

/// The flag of a `KEY_CONSIDERED` line for a key that was not selected.
const NOT_SELECTED: u32 = 1;
/// The flag of a `KEY_CONSIDERED` line where no subkey can be used.
const NO_SUBKEY: u32 = 2;

/// Whether a run reported which key of `--default-key` it uses.
#[derive(Default)]
pub(crate) struct DefaultKeys {
    /// It did: gpg reports it once.
    is_reported: bool,
}

/// A signing key, and the name that it was found by.
pub(crate) struct Choice {
    pub(crate) key: SigningKey,
    pub(crate) name: Option<Name>,
}

/// Chooses the keys, and reports each.
pub(super) fn chosen(
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &Keyrings,
    default_keys: &mut DefaultKeys,
) -> Result<Vec<Choice>, Failure> {
    if !settings.local_users.is_empty() {
        return named(settings, streams, keyrings);
    }
    match default(settings, streams, keyrings, default_keys)? {
        DefaultChoice::Key(choice) => {
            if choice.name.as_ref().is_none_or(|name| !name.is_of_key()) {
                streams.considered(&choice.key.primary);
            }
            report_chosen(streams, &choice);
            Ok(vec![choice])
        }
        DefaultChoice::Refused { found, code, name } => {
            report_unusable(streams, found.as_ref(), name.as_ref());
            streams.error(format_args!("no default secret key: {code}"));
            streams.invalid_signer(b"");
            Err(Failure::bare(code))
        }
    }
}

/// Finds the keys of `--local-user`, the last one first. As in gpg, a missing one is reported and left out, but ends the
/// command if it was given first.
fn named(settings: &Settings, streams: &mut Streams, keyrings: &Keyrings) -> Result<Vec<Choice>, Failure> {
    let keys = secret_keys(settings)?;
    let names: Vec<&Vec<u8>> = settings.local_users.iter().rev().collect();
    let mut chosen: Vec<Choice> = Vec::new();
    let mut last = Ok(());
    for (index, &text) in names.iter().enumerate() {
        last = Ok(());
        if names[..index].contains(&text) {
            streams.info(format_args!("skipped \"{}\": duplicated", shown(text)));
            continue;
        }
        let name = Name::parse(text).ok();
        let found = find(settings, keyrings, name.as_ref(), &keys)?;
        if let Some(SigningKeys::Key(key)) = found {
            let choice = Choice { key, name };
            report_chosen(streams, &choice);
            if chosen.iter().any(|known| known.key == choice.key) {
                streams.info("skipped: secret key already present");
            } else {
                chosen.insert(0, choice);
            }
        } else {
            report_unusable(streams, found.as_ref(), name.as_ref());
            let code = code_of(found.as_ref());
            streams.error(format_args!("skipped \"{}\": {code}", shown(text)));
            streams.invalid_signer(text);
            last = Err(Failure::bare(code));
        }
    }
    if last.is_ok() && chosen.is_empty() {
        streams.error("no valid signators");
        streams.status("NO_SGNR 0");
        last = Err(Failure::from(Code::NO_USER_ID));
    }
    last.map(|()| chosen)
}

/// The key that signs by default.
pub(crate) enum DefaultChoice {
    Key(Choice),
    /// There is none: gpg's code, and the key that was found but cannot sign.
    Refused {
        found: Option<SigningKeys>,
        code: Code,
        name: Option<Name>,
    },
}

/// Finds the default signing key: the last one of `--default-key`, else the first usable one.
pub(crate) fn default(
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &Keyrings,
    default_keys: &mut DefaultKeys,
) -> anyhow::Result<DefaultChoice> {
    if let Some((name, found)) = named_default(settings, streams, keyrings, default_keys)? {
        let name = Name::parse(&name).ok();
        return Ok(match found {
            SigningKeys::Key(key) => DefaultChoice::Key(Choice { key, name }),
            found => DefaultChoice::Refused { found: Some(found), code: Code::UNUSABLE_SECRET_KEY, name },
        });
    }
    let keys = secret_keys(settings)?;
    let names = keys.names()?;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        for id in certificates_with(snapshot.as_ref(), &names)? {
            let found = gnupg_signing_key(snapshot.as_ref(), id, None, &keys, settings.now)?;
            if let Some(SigningKeys::Key(key)) = found {
                return Ok(DefaultChoice::Key(Choice { key, name: None }));
            }
        }
    }
    Ok(DefaultChoice::Refused { found: None, code: Code::NO_SECRET_KEY, name: None })
}

/// Finds the key of `--default-key`, and its name; as in gpg, also one that cannot sign if another of its keys is
/// valid. Reports once which one it is.
pub(crate) fn named_default(
    settings: &Settings,
    streams: &mut Streams,
    keyrings: &Keyrings,
    default_keys: &mut DefaultKeys,
) -> anyhow::Result<Option<(Vec<u8>, SigningKeys)>> {
    let names = &settings.default_keys;
    let is_reported = std::mem::replace(&mut default_keys.is_reported, true);
    if names.is_empty() {
        return Ok(None);
    }
    let keys = secret_keys(settings)?;
    let is_silent = is_reported || settings.quiet;
    for text in names.iter().rev() {
        let name = Name::parse(text).ok();
        match find(settings, keyrings, name.as_ref(), &keys)? {
            Some(found @ (SigningKeys::Key(_) | SigningKeys::Unusable { is_alive: true, .. })) => {
                if !is_silent {
                    let name = shown(text);
                    streams.info(format_args!("using \"{name}\" as default secret key for signing"));
                }
                return Ok(Some((text.clone(), found)));
            }
            Some(SigningKeys::Unusable { .. }) if !is_silent => {
                let (name, code) = (shown(text), Code::NO_SECRET_KEY);
                streams.info(format_args!("Warning: not using '{name}' as default key: {code}"));
            }
            _ => {}
        }
    }
    if !is_reported {
        streams.info("all values passed to '--default-key' ignored");
    }
    Ok(None)
}

/// Finds the first certificate with a name that can sign, else one that cannot.
fn find(
    settings: &Settings,
    keyrings: &Keyrings,
    name: Option<&Name>,
    keys: &dyn SecretKeys,
) -> anyhow::Result<Option<SigningKeys>> {
    let Some(name) = name else { return Ok(None) };
    let mut unusable = None;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        for id in snapshot.find(&name.query)? {
            match gnupg_signing_key(snapshot.as_ref(), id, Some(name), keys, settings.now)? {
                Some(found @ SigningKeys::Key(_)) => return Ok(Some(found)),
                found => unusable = unusable.or(found),
            }
        }
    }
    Ok(unusable)
}

fn code_of(found: Option<&SigningKeys>) -> Code {
    if found.is_some() { Code::UNUSABLE_SECRET_KEY } else { Code::NO_SECRET_KEY }
}

fn report_chosen(streams: &mut Streams, Choice { key, name }: &Choice) {
    let is_exact = name.as_ref().is_some_and(|name| name.exact_key);
    let flags = if key.key == key.primary && !is_exact { NO_SUBKEY } else { 0 };
    streams.status(format!("KEY_CONSIDERED {} {flags}", key.primary));
}

fn report_unusable(streams: &mut Streams, found: Option<&SigningKeys>, name: Option<&Name>) {
    let Some(primary) = found.map(SigningKeys::primary) else { return };
    let is_primary = name.is_some_and(|name| name.exact_key && name.query.names_key(primary));
    let flags = if is_primary { NOT_SELECTED } else { NOT_SELECTED | NO_SUBKEY };
    streams.status(format!("KEY_CONSIDERED {primary} {flags}"));
}
