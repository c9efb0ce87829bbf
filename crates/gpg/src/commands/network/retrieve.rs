//! `--auto-key-retrieve`: the key of a signature that is not here.

use engine::network::wkd::Address;
use engine::network::{Keyserver, Search};
use engine::store::Query;
use engine::verification::SignatureContents;

use super::locate::find_at;
use super::{answers, servers};
use crate::failure::Failure;
use crate::settings::{Mechanism, Settings};
use crate::streams::Streams;

/// Asks for the key that a signature names as its maker's, as gpg does: the keyserver that the signature names, where
/// that counts; the Web Key Directory of the user ID in the signature, where `--auto-key-locate` has it; the usual
/// keyserver, if the signature has a fingerprint. Returns whether something was imported.
pub(crate) fn run(
    statement: &SignatureContents,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let preferred = statement.preferred_keyserver.as_ref().filter(|_| settings.network.honor_keyserver_url);
    if let Some(server) = preferred.and_then(|preferred| answers::named_by_others(&preferred.url))
        && at_keyserver(statement, &server, settings, streams)?
    {
        return Ok(true);
    }
    if of_signer(statement, settings, streams)? {
        return Ok(true);
    }
    match statement.issuer.fingerprint {
        Some(_) => at_keyserver(statement, &servers::keyserver(settings)?, settings, streams),
        None => Ok(false),
    }
}

/// Asks a keyserver.
fn at_keyserver(
    statement: &SignatureContents,
    server: &Keyserver,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let issuer = &statement.issuer;
    let key = match issuer.fingerprint {
        Some(fingerprint) => (Search::Fingerprint(fingerprint.to_string()), Query::Fingerprint(fingerprint)),
        None => (Search::KeyId(issuer.key_id.to_string()), Query::KeyId(issuer.key_id)),
    };
    let client = servers::client(settings)?;
    if !settings.quiet {
        streams.info(format_args!("requesting key {} from {server}", issuer.key_id));
    }
    let answered = answers::get("auto-key-retrieve", &[key], server, &client, settings, streams);
    is_imported(answered.map(|()| true))
}

/// Asks the Web Key Directory of the signer's user ID.
fn of_signer(
    statement: &SignatureContents,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let is_wanted = settings.network.locate.contains(&Mechanism::Wkd);
    let user_id = statement.user_id.as_deref().filter(|_| is_wanted);
    let address = user_id.and_then(engine::cert::mailbox::mail_address);
    let address = address.and_then(|address| Address::parse(std::str::from_utf8(address).ok()?).ok());
    let Some(address) = address else { return Ok(false) };
    is_imported(find_at(&Mechanism::Wkd, &address, settings, streams).map(|found| found.is_some()))
}

/// Whatever goes wrong, the signature is reported as one without a key.
fn is_imported(answered: Result<bool, Failure>) -> anyhow::Result<bool> {
    answered.or_else(|failure| failure.coded().map(|_| false))
}
