//! `--tofu-policy`.

use keyhoard::foreign_text::shown;
use keyhoard::store::query::Name;
use keyhoard::store::{CertId, Query, Store};
use keyhoard::tofu::{Decided, bindings_of, decide};
use keyhoard::trust::tofu::Policy;

use super::{CommandFailed, Session};
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::trust;

/// Sets a policy for all user IDs of the keys that the arguments name, up to the first that is not found.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let [policy, names @ ..] = session.arguments.as_slice() else { return wrong_arguments(session) };
    if names.is_empty() {
        return wrong_arguments(session);
    }
    let (policy, names) = (trust::tofu_policy(policy), names.to_vec());
    let policy = match policy {
        Ok(policy) => policy,
        Err(text) => {
            session.streams.error(text);
            session.streams.status_failure("gpg-exit", Code::General);
            return Err(CommandFailed.into());
        }
    };
    let mut keyrings = Keyrings::open(session)?;
    for name in names {
        let store = keyrings.writable(&session.home, &session.settings, session.streams)?;
        let text = shown(&name);
        let Ok(Name { query, .. }) = Name::parse(&name) else {
            let text = format!("error parsing key specification '{text}': {}", Code::InvalidUserId);
            return failed(session, &text, Code::InvalidUserId);
        };
        if !names_one_key(&query) {
            let text = format!("'{text}' does not appear to be a valid key ID, fingerprint or keygrip");
            return failed(session, &text, Code::General);
        }
        let Some(&id) = store.snapshot()?.find(&query)?.first() else {
            return failed(session, &format!("key \"{text}\" not found: {}", Code::NotFound), Code::NotFound);
        };
        set(session, store, id, policy)?;
    }
    Ok(())
}

fn set(session: &mut Session<'_>, store: &dyn Store, id: CertId, policy: Policy) -> anyhow::Result<()> {
    let now = session.now;
    let decided = if session.settings.dry_run {
        bindings_of(store.snapshot()?.as_ref(), &[id], None, now)?
    } else {
        let command = format!("gpg-keyhoard --tofu-policy {}", policy.name());
        decide(store, &[id], None, policy, &command, now)?
    };
    for Decided { key, user_id, before, .. } in decided {
        let user_id = String::from_utf8_lossy(&user_id);
        session.streams.info(format_args!(
            "Changing TOFU trust policy for binding <key: {key}, user id: {user_id}> from {} to {}.",
            before.name(),
            policy.name()
        ));
        if session.settings.dry_run {
            session.streams.info("TOFU database update skipped due to --dry-run");
        }
    }
    Ok(())
}

fn names_one_key(query: &Query) -> bool {
    matches!(query, Query::ShortKeyId(_) | Query::KeyId(_) | Query::Fingerprint(_) | Query::Keygrip(_))
}

fn wrong_arguments(session: &mut Session<'_>) -> anyhow::Result<()> {
    session.usage("--tofu-policy POLICY KEYID [KEYID...]");
    Ok(())
}

fn failed(session: &mut Session<'_>, text: &str, code: Code) -> anyhow::Result<()> {
    session.streams.error(text);
    session.streams.status_failure("tofu-driver", code);
    Err(CommandFailed.into())
}
