//! A subkey whose secret part is in the agent or on a card, and stays there.

use agent::PublicKey;
use engine::cert::Timestamp;
use engine::cert::effective::Usage;
use engine::cert::key::parse_public;
use engine::store::Fingerprint;
use secret::Role;

use super::session::Session;
use crate::failure::Failure;
use crate::generation::key_algorithm::key_flags;
use crate::secrets;

/// Adds the subkey: the body of its packet, its uses, and after how many seconds it expires, 0 for never.
pub(super) fn bind(
    public: &[u8],
    usage: Usage,
    seconds: u32,
    session: &mut Session<'_>,
) -> Result<Fingerprint, Failure> {
    let settings = session.settings();
    let key = parse_public(public)?;
    let (fingerprint, created) = (key.fingerprint(), key.created);
    let user_id = session.identities()?.first().map_or(Vec::new(), |first| first.text().into_bytes());
    let public = PublicKey { role: Role::Subkey, body: public.to_vec(), primary: session.key(), user_id };
    let agent = secrets::agent(settings);
    let opened = agent.open_without_certificate(public, settings.passphrase.given.clone());
    let Some(mut opened) = opened else { return Err(anyhow::anyhow!("the key has no keygrip").into()) };
    let end = (seconds != 0).then(|| Timestamp(created.0.wrapping_add(seconds)));
    let flags = key_flags(usage);
    session.edit_own(|editor, key| editor.add_agent_subkey(key, opened.as_mut(), flags, end))?;
    Ok(fingerprint)
}
