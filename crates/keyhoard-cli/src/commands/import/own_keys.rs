//! Secret keys that an import brought: whether they are the user's own.

use std::io::{self, IsTerminal};

use engine::owner_trust::{Assignment, OptionNames, assign, effective};
use engine::secret_keys::owner_of;
use engine::store::{Fingerprint, Store};
use engine::trust::OwnerTrust;

use crate::hint::Hint;
use crate::printable::printable;
use crate::question::is_agreed;
use crate::session::{Session, command_line};

/// Asks on a terminal whether keys with new secret parts are the user's own, and makes those ultimately trusted; says
/// elsewhere which command does. Keys that are ultimately trusted already are left out.
pub(super) fn ask(session: &Session, store: &dyn Store, keys: &[Fingerprint]) -> anyhow::Result<()> {
    let is_asking = io::stdin().is_terminal() && io::stderr().is_terminal() && !session.output.is_json();
    for key in keys {
        let snapshot = store.snapshot()?;
        let before = snapshot.trust().map(|trust| trust.owner_trust(key)).transpose()?.flatten();
        let name = owner_of(snapshot.as_ref(), key)?.and_then(|owner| owner.name);
        drop(snapshot);
        let decided = before.filter(|before| !before.is_by_option());
        if effective(decided, OptionNames::Nothing) == OwnerTrust::Ultimate {
            continue;
        }
        let name = name.as_deref().map(printable).unwrap_or_default();
        if is_asking && is_agreed(format_args!("{key}  {name}\nIs this your own key?"))? {
            let own = Assignment::new(*key, OwnerTrust::Ultimate, before);
            assign(store, &[own], &command_line(), session.now)?;
            session.note(format_args!("{key} is ultimately trusted now"));
        } else {
            let own = Hint::TrustOwn(key.to_string());
            session.note(format_args!("{name}: if this is your own key, {own} makes it ultimately trusted"));
        }
    }
    Ok(())
}
