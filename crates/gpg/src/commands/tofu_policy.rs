//! `--tofu-policy`.

use engine::foreign_text::shown;
use engine::store::query::Name;
use engine::store::{CertId, Query, Store};
use engine::tofu::{Decided, bindings_of, decide};
use engine::trust::tofu::Policy;

use crate::code::Code;
use crate::failure::CommandFailed;
use crate::keyrings::Keyrings;
use crate::settings::Settings;
use crate::settings::trust::tofu_policy;
use crate::streams::Streams;

/// Sets a policy for all user IDs of the keys that the arguments name, up to the first that is not found.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [policy, names @ ..] = arguments else { return wrong_arguments(streams) };
    if names.is_empty() {
        return wrong_arguments(streams);
    }
    let policy = match tofu_policy(policy) {
        Ok(policy) => policy,
        Err(text) => {
            streams.error(text);
            streams.status_failure("gpg-exit", Code::GENERAL);
            return Err(CommandFailed.into());
        }
    };
    let mut keyrings = Keyrings::open(settings, streams)?;
    for name in names {
        let store = keyrings.writable(settings, streams)?;
        let text = shown(name);
        let Ok(Name { query, .. }) = Name::parse(name) else {
            let text = format!("error parsing key specification '{text}': {}", Code::INVALID_USER_ID);
            return give_up(streams, &text, Code::INVALID_USER_ID);
        };
        if !names_one_key(&query) {
            let text = format!("'{text}' does not appear to be a valid key ID, fingerprint or keygrip");
            return give_up(streams, &text, Code::GENERAL);
        }
        let Some(&id) = store.snapshot()?.find(&query)?.first() else {
            return give_up(
                streams,
                &format!("key \"{text}\" not found: {}", Code::NOT_FOUND),
                Code::NOT_FOUND,
            );
        };
        set(settings, streams, store, id, policy)?;
    }
    Ok(())
}

fn set(
    settings: &Settings,
    streams: &mut Streams,
    store: &dyn Store,
    id: CertId,
    policy: Policy,
) -> anyhow::Result<()> {
    let now = settings.now;
    let decided = if settings.dry_run {
        bindings_of(store.snapshot()?.as_ref(), &[id], None, now)?
    } else {
        let command = format!("gpg-keyhoard --tofu-policy {}", policy.name());
        decide(store, &[id], None, policy, &command, now)?
    };
    for Decided { key, user_id, before, .. } in decided {
        let user_id = String::from_utf8_lossy(&user_id);
        let binding = format!("binding <key: {key}, user id: {user_id}>");
        let policy = policy.name();
        match before.map(Policy::name) {
            Some(before) => streams
                .info(format_args!("Changing TOFU trust policy for {binding} from {before} to {policy}.")),
            None => {
                streams.info(format_args!("Setting TOFU trust policy for new {binding} to {policy}."));
            }
        }
        if settings.dry_run {
            streams.info("TOFU database update skipped due to --dry-run");
        }
    }
    Ok(())
}

fn names_one_key(query: &Query) -> bool {
    matches!(query, Query::ShortKeyId(_) | Query::KeyId(_) | Query::Fingerprint(_) | Query::Keygrip(_))
}

fn wrong_arguments(streams: &mut Streams) -> anyhow::Result<()> {
    streams.usage("--tofu-policy POLICY KEYID [KEYID...]");
    Ok(())
}

fn give_up(streams: &mut Streams, text: &str, code: Code) -> anyhow::Result<()> {
    streams.error(text);
    streams.status_failure("tofu-driver", code);
    Err(CommandFailed.into())
}
