//! `keyhoard search --on`: what a keyserver says it has.

use engine::configuration::Configuration;
use engine::network::Keyserver;
use engine::network::hkp::IndexedKey;
use engine::store::Timestamp;
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::printable::printable;
use crate::session::{Session, environment};
use crate::style::Style;
use crate::timestamp;

/// Prints the keys that a server has for a text, of which nothing is verified, and nothing taken in.
pub(super) fn run(
    session: &mut Session,
    server: &str,
    text: &str,
    limit: Option<usize>,
) -> anyhow::Result<Outcome> {
    let server: Keyserver = server.parse()?;
    let client = Configuration::read()?.network.client(&environment)?;
    let mut keys = server.search(&client, text)?;
    let found = keys.len();
    keys.truncate(limit.unwrap_or(usize::MAX));
    for key in &keys {
        match session.output.is_json() {
            true => session.output.json(&KeyJson::new(key))?,
            false => write(session, key)?,
        }
    }
    if keys.len() < found {
        session.note(format_args!("{} more", found - keys.len()));
    }
    if found > 0 {
        session.note(format_args!(
            "as {server} says, not verified; {} imports one",
            Hint::FetchFrom(server.to_string())
        ));
    }
    if found == 0 {
        session.note(format_args!("{server} has no key with this text"));
    }
    Ok(Outcome::done_if(found > 0))
}

fn write(session: &mut Session, key: &IndexedKey) -> std::io::Result<()> {
    let output = &mut session.output;
    let created = time(key.created).map(timestamp::day).unwrap_or_default();
    let flags = [(key.is_revoked, "revoked"), (key.is_disabled, "disabled"), (key.is_expired, "expired")];
    let flags: Vec<&str> = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word).collect();
    let id = output.styled(Style::Name, &key.id);
    let flags = output.styled(Style::Error, flags.join(", "));
    output.line(format_args!("{id}  {created}  {flags}"))?;
    key.user_ids.iter().try_for_each(|user_id| output.line(format_args!("    {}", printable(&user_id.value))))
}

/// Returns a time that OpenPGP can have.
fn time(seconds: Option<u64>) -> Option<Timestamp> {
    seconds.and_then(|seconds| u32::try_from(seconds).ok()).map(Timestamp)
}

/// A key on a server, as `docs/json.md` describes it.
#[derive(Serialize)]
struct KeyJson<'a> {
    id: &'a str,
    algorithm_number: Option<u8>,
    bits: Option<u32>,
    created: Option<String>,
    expires: Option<String>,
    revoked: bool,
    disabled: bool,
    expired: bool,
    user_ids: Vec<TextJson<'a>>,
}

impl<'a> KeyJson<'a> {
    fn new(key: &'a IndexedKey) -> Self {
        Self {
            id: &key.id,
            algorithm_number: key.algorithm,
            bits: key.bits,
            created: time(key.created).map(timestamp::rfc3339),
            expires: time(key.expires).map(timestamp::rfc3339),
            revoked: key.is_revoked,
            disabled: key.is_disabled,
            expired: key.is_expired,
            user_ids: key.user_ids.iter().map(|user_id| TextJson::new(&user_id.value)).collect(),
        }
    }
}
