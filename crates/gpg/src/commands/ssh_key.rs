//! `--export-ssh-key`: the public key for authentication as OpenSSH writes it.

use std::io::Write;
use std::ops::ControlFlow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::cert::Keygrip;
use engine::cert::certificate::Certificate;
use engine::cert::effective::{ComponentState, EvaluationContext, KeyState, PacketView, Usage, evaluate};
use engine::cert::facts::{ComponentKind, KeyFacts};
use engine::cert::key::{Key, Parameter};
use engine::foreign_text::shown;
use engine::store::query::Name;
use engine::store::{Detail, Query, Selection};
use engine::verify::PublicKeyAlgorithm as Algorithm;
use secret::{Name as SecretKeyName, SecretKeys as _};

use crate::code::Code;
use crate::failure::Failure;
use crate::keyrings::Keyrings;
use crate::names;
use crate::output::{Holds, Output};
use crate::secrets::secret_keys;
use crate::settings::Settings;
use crate::streams::Streams;

/// Writes the newest subkey for authentication of a key, else the primary key, or exactly the key that is named with `!`.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--export-ssh-key <user-id>");
        return Ok(());
    };
    match line(name, settings, streams) {
        Ok(line) => {
            let Ok(mut output) = Output::open(Holds::Packets, &[], settings, streams) else { return Ok(()) };
            output.writer(streams).write_all(line.as_bytes())?;
            output.commit()
        }
        Err(failure) => {
            let code = failure.coded()?.code;
            streams.error(format_args!("key \"{}\" not found: {code}", shown(name)));
            streams.error(format_args!("key export failed: {code}"));
            Ok(())
        }
    }
}

/// Refuses to write a secret key, which gpg names by its keygrip, as gpg 2.4 does: that writes none of any algorithm yet.
pub(super) fn secret(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage("--export-secret-ssh-key <user-id>");
        return Ok(());
    };
    let text = shown(name);
    let Ok(Name { query: Query::Keygrip(keygrip), .. }) = Name::parse(name) else {
        streams.error(format_args!("key \"{text}\" not found: Not a Keygrip"));
        return Ok(());
    };
    let is_here = secret_keys(settings)?.find(&SecretKeyName::Keygrip(keygrip))?.is_some();
    let (code, value) = match is_here {
        true if is_rsa(keygrip, settings, streams)? => {
            (Code::NOT_IMPLEMENTED, Code::NOT_IMPLEMENTED.with_gpg())
        }
        true => (Code::INVALID_PUBLIC_KEY_ALGORITHM, Code::INVALID_PUBLIC_KEY_ALGORITHM.bare()),
        false => (Code::NO_SECRET_KEY, Code::NO_SECRET_KEY.with_agent()),
    };
    streams.status_failure_value("export-ssh-key", value);
    streams.error(format_args!("export as ssh key failed: {code}"));
    Ok(())
}

/// Says whether a certificate has an RSA key with a keygrip.
fn is_rsa(keygrip: Keygrip, settings: &Settings, streams: &mut Streams) -> anyhow::Result<bool> {
    let keyrings = Keyrings::open(settings, streams)?;
    let is_meant = |key: &KeyFacts| key.keygrip == Some(keygrip) && key.algorithm == Algorithm::RSA;
    let mut is_rsa = false;
    for (_, snapshot) in keyrings.snapshots()?.iter() {
        let ids = snapshot.find(&Query::Keygrip(keygrip))?;
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            is_rsa |= record.facts.is_some_and(|facts| facts.keys().any(is_meant));
            ControlFlow::Continue(())
        })?;
    }
    Ok(is_rsa)
}

/// Finds the key and returns its line.
fn line(name: &[u8], settings: &Settings, streams: &mut Streams) -> Result<String, Failure> {
    let wanted = names::parsed(name, Code::NO_PUBLIC_KEY, settings.compat)?;
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let mut found = Vec::new();
    for (_, snapshot) in snapshots.iter() {
        let ids = snapshot.find(&wanted.query)?;
        snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
            found.extend(record.facts.zip(record.bytes).map(|(facts, bytes)| Certificate { facts, bytes }));
            ControlFlow::Continue(())
        })?;
    }
    let certificate = match found.as_slice() {
        [] => return Err(Code::NO_PUBLIC_KEY.into()),
        [certificate] => certificate,
        _ => return Err(Code::AMBIGUOUS_NAME.into()),
    };
    streams.considered(&certificate.facts.primary().fingerprint);
    let index = chosen(certificate, &wanted, settings).ok_or(Code::UNUSABLE_PUBLIC_KEY)?;
    let key = certificate.key(index).ok_or(Code::BAD_PUBLIC_KEY)?;
    let (kind, blob) = blob(&key)?;
    let key_id = key.fingerprint().key_id().to_string();
    // As in gpg the last half, of version 5 the first one.
    let short = if key.version == 4 { &key_id[8..] } else { &key_id[..8] };
    Ok(format!("{kind} {} openpgp:0x{short}\n", STANDARD.encode(blob)))
}

/// Returns the component that is written.
fn chosen(certificate: &Certificate, wanted: &Name, settings: &Settings) -> Option<usize> {
    let facts = &certificate.facts;
    let effective = evaluate(facts, EvaluationContext::new(settings.now, PacketView::Gnupg));
    let keys = facts.components.iter().zip(&effective.components).enumerate().filter_map(
        |(index, (component, state))| match (&component.kind, state) {
            (ComponentKind::Key(key), ComponentState::Key(state)) => Some((index, key, *state)),
            _ => None,
        },
    );
    let mut keys = keys.collect::<Vec<_>>();
    if wanted.exact_key {
        return keys.iter().find(|(_, key, _)| wanted.query.names_key(&key.fingerprint)).map(|it| it.0);
    }
    let authenticates = |state: &KeyState| state.is_usable() && state.usage.contains(Usage::AUTHENTICATE);
    keys.retain(|(_, key, state)| authenticates(state) && key.created <= settings.now);
    let subkeys = keys.iter().filter(|(index, ..)| *index > 0);
    // Of several that are equally old the first one counts.
    let newest = subkeys.rev().max_by_key(|(_, key, _)| key.created);
    newest.or_else(|| keys.first()).map(|(index, ..)| *index)
}

/// Returns the type of the key and its encoding (RFC 4253, 6.6; RFC 5656, 3.1; RFC 8709, 4).
fn blob(key: &Key<'_>) -> Result<(&'static str, Vec<u8>), Code> {
    let numbers: Vec<&[u8]> = key
        .parameters()
        .into_iter()
        .filter_map(|parameter| match parameter {
            Parameter::Number(number) => Some(number),
            Parameter::Bytes(_) => None,
        })
        .collect();
    match (key.algorithm, numbers.as_slice()) {
        (Algorithm::RSA | Algorithm::RSA_SIGN, [n, e]) => {
            Ok(("ssh-rsa", encoded(&[b"ssh-rsa", &positive(e), &positive(n)])))
        }
        (Algorithm::DSA, [p, q, g, y]) => {
            let numbers = [p, q, g, y].map(|number| positive(number));
            let fields: Vec<&[u8]> =
                std::iter::once(&b"ssh-dss"[..]).chain(numbers.iter().map(Vec::as_slice)).collect();
            Ok(("ssh-dss", encoded(&fields)))
        }
        (Algorithm::ECDSA, [point]) => {
            let facts = key.facts();
            let (kind, curve) = match facts.curve_name() {
                Some("nistp256") => ("ecdsa-sha2-nistp256", "nistp256"),
                Some("nistp384") => ("ecdsa-sha2-nistp384", "nistp384"),
                Some("nistp521") => ("ecdsa-sha2-nistp521", "nistp521"),
                _ => return Err(Code::UNKNOWN_CURVE),
            };
            Ok((kind, encoded(&[kind.as_bytes(), curve.as_bytes(), point])))
        }
        (Algorithm::EDDSA_LEGACY, [[0x40, point @ ..]]) if key.facts().curve_name() == Some("ed25519") => {
            Ok(("ssh-ed25519", encoded(&[b"ssh-ed25519", point])))
        }
        (Algorithm::EDDSA_LEGACY, [point]) if key.facts().curve_name() == Some("ed448") => {
            Ok(("ssh-ed448", encoded(&[b"ssh-ed448", point])))
        }
        (Algorithm::ED25519, _) => Ok(("ssh-ed25519", encoded(&[b"ssh-ed25519", key.material]))),
        (Algorithm::EDDSA_LEGACY, _) => Err(Code::UNKNOWN_CURVE),
        (Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH, _) => Err(Code::UNUSABLE_PUBLIC_KEY),
        _ => Err(Code::INVALID_PUBLIC_KEY_ALGORITHM),
    }
}

/// Writes fields, each after its length in four bytes.
fn encoded(fields: &[&[u8]]) -> Vec<u8> {
    let length = |field: &[u8]| (field.len() as u32).to_be_bytes();
    fields.iter().flat_map(|field| [&length(field)[..], field].concat()).collect()
}

/// Returns a number that would be negative otherwise with a zero before it.
fn positive(number: &[u8]) -> Vec<u8> {
    let zero = number.first().filter(|byte| **byte & 0x80 != 0).map(|_| 0);
    zero.into_iter().chain(number.iter().copied()).collect()
}
