//! `trust`, `enable` and `disable`, which take effect at once.

use engine::owner_trust::{self, Assignment};
use engine::trust::OwnerTrust;

use super::session::Session;
use crate::render::edit_view::Names;
use crate::trust;

/// Asks how far the owner is trusted.
pub(super) fn edit(session: &mut Session<'_>) -> anyhow::Result<()> {
    if session.settings().list.with_colons {
        let records = super::show::records(session)?;
        session.keys.streams.out().write_all(&records)?;
    } else {
        let view = session.view(Names::All { selected: &session.selected }, true, false)?;
        session.tell(view);
    }
    session.tell("\n");
    explain(session);
    loop {
        let trust = match session.line("edit_ownertrust.value", "Your decision? ")?.as_slice() {
            b"" => {
                explain(session);
                continue;
            }
            b"1" => OwnerTrust::Undefined,
            b"2" => OwnerTrust::Never,
            b"3" => OwnerTrust::Marginal,
            b"4" => OwnerTrust::Full,
            b"5" => {
                let question = "Do you really want to set this key to ultimate trust? (y/N) ";
                if !session.confirm("edit_ownertrust.set_ultimate.okay", question)? {
                    continue;
                }
                OwnerTrust::Ultimate
            }
            b"m" | b"M" | [4] => return Ok(()),
            _ => continue,
        };
        let store = trust::database_to_write(session.keys.settings, session.keys.streams)?;
        let key = session.key();
        let given = Assignment::new(key, trust, store.snapshot()?.owner_trust(&key)?);
        owner_trust::assign(store.as_ref(), &[given], "gpg-keyhoard --edit-key", session.settings().now)?;
        session.redisplay = true;
        return Ok(());
    }
}

fn explain(session: &Session<'_>) {
    session.tell(
        "How far do you trust the owner to check the keys of others before certifying them?\n\n  \
         1 = I don't know or won't say\n  2 = I do NOT trust\n  3 = I trust marginally\n  4 = I trust fully\n  \
         5 = I trust ultimately\n  m = back to the main menu\n\n",
    );
}

/// Disables the key, or enables it again.
pub(super) fn disable(session: &mut Session<'_>, disabled: bool) -> anyhow::Result<()> {
    let store = trust::database_to_write(session.keys.settings, session.keys.streams)?;
    let key = session.key();
    let before = store.snapshot()?.owner_trust(&key)?;
    let given = Assignment::disabling(key, disabled, before);
    if given.trust != before {
        owner_trust::assign(store.as_ref(), &[given], "gpg-keyhoard --edit-key", session.settings().now)?;
    }
    Ok(())
}
