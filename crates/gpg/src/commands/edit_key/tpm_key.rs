//! `keytotpm`: the agent locks a secret key of its own with the machine's TPM.

use agent::connection::{Silent, Wait};
use engine::cert::facts::ComponentKind;
use secret::{Name, SecretKeys};

use super::session::Session;

/// Has the agent lock the primary key or the selected subkey. A key in a file is not for the agent.
pub(super) fn lock(session: &mut Session<'_>) -> anyhow::Result<()> {
    let Some(key) = session.key_to_move()? else { return Ok(()) };
    let in_file = session.keys.secrets.files().find(&Name::Fingerprint(key))?;
    if in_file.is_some_and(|stored| stored.protection.has_secret()) {
        session.keys.streams.error("error from TPM: the secret key is in a file, and not in the agent");
        return Ok(());
    }
    let keygrip = session.components().iter().find_map(|component| match &component.kind {
        ComponentKind::Key(facts) if facts.fingerprint == key => facts.keygrip,
        _ => None,
    });
    let (Some(keygrip), Some(keys)) = (keygrip, session.keys.secrets.agent()) else { return Ok(()) };
    match keys.agent().transact(&format!("KEYTOTPM {keygrip}"), Wait::User, &mut Silent) {
        Ok(_) => session.redisplay = true,
        Err(error) => session.keys.streams.error(format_args!("error from TPM: {error}")),
    }
    Ok(())
}
