//! `--change-pin`, and `passwd` and `unblock` of `--edit-card`.

use super::access::{CardAccess, Outcome};
use crate::number;
use crate::settings::Settings;
use crate::streams::Streams;

/// Changes the PINs of the card.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let unblock = match arguments {
        [] => false,
        // A number other than 0 asks for a new PIN by the Reset Code.
        [number] => number::decimal(number).unwrap_or(0) != 0,
        _ => {
            streams.usage("--change-pin [no]");
            return Ok(());
        }
    };
    change(&mut CardAccess::new(settings, streams), if unblock { Change::Unblock } else { Change::Any })
}

/// What is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A menu of everything.
    Any,
    /// The PIN by itself.
    Pin,
    /// The PIN by the Reset Code.
    Unblock,
}

/// A PIN as scdaemon's command names it, what is said of success, and of failure.
type Operation = (&'static str, &'static str, &'static str);

const PIN: Operation = ("SCD PASSWD  1", "PIN changed.", "Error changing the PIN");
const BY_RESET_CODE: Operation = ("SCD PASSWD  2", "PIN changed.", "Error changing the PIN");
const ADMIN_PIN: Operation = ("SCD PASSWD  3", "PIN changed.", "Error changing the PIN");
const NEW_PIN: Operation =
    ("SCD PASSWD --reset 1", "PIN unblocked and new PIN set.", "Error unblocking the PIN");
const RESET_CODE: Operation = ("SCD PASSWD --reset 2", "Reset Code set.", "Error setting the Reset Code");

const MENU: &str =
    "\n1 - change PIN\n2 - unblock PIN\n3 - change Admin PIN\n4 - set the Reset Code\nQ - quit\n\n";

/// Changes PINs; the agent asks for them.
pub(super) fn change(access: &mut CardAccess<'_>, change: Change) -> anyhow::Result<()> {
    let card = match access.learn() {
        Ok(card) => card,
        Err(failure) => {
            access.streams.error(format_args!("OpenPGP card not available: {failure}"));
            return Ok(());
        }
    };
    let serial = card.serial.as_deref().unwrap_or("[none]");
    access.streams.info(format_args!("OpenPGP card no. {serial} detected"));
    if access.settings.batch {
        access.streams.error("can't do this in batch mode");
        return Ok(());
    }
    match change {
        Change::Unblock if !card.is_version_2() => {
            access.streams.error("This command is only available for version 2 cards");
        }
        Change::Unblock if card.tries[1] == 0 => {
            access.streams.error("Reset Code not or not anymore available");
        }
        Change::Unblock => operate(BY_RESET_CODE, access),
        Change::Pin => operate(PIN, access),
        Change::Any => menu(access)?,
    }
    Ok(())
}

fn menu(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    loop {
        access.tell(MENU);
        let answer = access.line("cardutil.change_pin.menu", "Your selection? ")?;
        match answer.as_slice() {
            b"1" => operate(PIN, access),
            b"2" => operate(NEW_PIN, access),
            b"3" => operate(ADMIN_PIN, access),
            b"4" => operate(RESET_CODE, access),
            b"q" | b"Q" => return Ok(()),
            _ => {}
        }
    }
}

fn operate((command, success, failed): Operation, access: &mut CardAccess<'_>) {
    let outcome: Outcome<()> = access.operate(command);
    access.report(&outcome);
    match outcome {
        Ok(()) => access.tell(format!("{success}\n")),
        Err(failure) => access.tell(format!("{failed}: {failure}\n")),
    }
}
