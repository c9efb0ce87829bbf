//! `factory-reset`: the card is terminated and activated again, which deletes everything on it (specification 7.2.16 and
//! 7.2.17).

use super::access::{CardAccess, CardFailure, Outcome};
use crate::code::Code;

/// A PIN of 32 bytes that no card has; it is wrong whether PINs are derived or not.
const WRONG_PIN: &str = "4040404040404040404040404040404040404040404040404040404040404040";

/// The life cycle status of cards that can be reset: initialised, and operational.
const CAN_BE_RESET: [u32; 2] = [3, 5];

/// Asks twice, and resets the card. A card that was terminated is activated without a question: nothing is on it.
pub(super) fn run(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    match access.learn() {
        Ok(card) => {
            let serial = card.serial.as_deref().unwrap_or("[none]");
            access.streams.info(format_args!("OpenPGP card no. {serial} detected"));
            if !CAN_BE_RESET.contains(&card.life_cycle) {
                access.streams.error("This command is not supported by this card");
                return Ok(());
            }
            if !is_wanted(access)? || !lock(access) {
                return Ok(());
            }
            if terminate(access).is_ok() {
                activate(access);
            }
            let _ = apdu(access, "SCD UNLOCK", "unlocking connection");
        }
        Err(failure) if failure.is_terminated() => activate(access),
        Err(failure) => {
            access.streams.error(format_args!("OpenPGP card not available: {failure}"));
        }
    }
    Ok(())
}

fn is_wanted(access: &mut CardAccess<'_>) -> anyhow::Result<bool> {
    access.tell("\n");
    access.streams.info("Note: This command destroys all keys stored on the card!");
    access.tell("\n");
    Ok(access.confirm("cardedit.factory-reset.proceed", "Continue? (y/N) ")?
        && access
            .line("cardedit.factory-reset.really", "Really do a factory reset? (enter \"yes\") ")?
            .as_slice()
            == b"yes")
}

/// Keeps other programs from the card, and scdaemon from choosing an application by itself.
fn lock(access: &mut CardAccess<'_>) -> bool {
    if apdu(access, "SCD LOCK --wait", "locking connection").is_err() {
        return false;
    }
    let is_ready = apdu(access, "SCD RESET --keep-lock", "reset").is_ok()
        && apdu(access, "SCD SERIALNO undefined", "dummy select").is_ok();
    if !is_ready {
        let _ = apdu(access, "SCD UNLOCK", "unlocking connection");
    }
    is_ready
}

/// Blocks both PINs, since a card whose PINs are blocked may be terminated by anybody, and terminates it.
fn terminate(access: &mut CardAccess<'_>) -> Outcome<()> {
    apdu(access, "SCD APDU 00A4040006D27600012401", "SELECT AID")?;
    for reference in ["81", "83"] {
        for _ in 0..4 {
            // It is to fail.
            let _ = access.send(&format!("SCD APDU 002000{reference}20{WRONG_PIN}"), None);
        }
    }
    match apdu(access, "SCD APDU 00e60000", "TERMINATE DF") {
        // The card is terminated already, or need not be.
        Err(failure) if failure.is_conditions_of_use() => Ok(()),
        outcome => outcome,
    }
}

fn activate(access: &mut CardAccess<'_>) {
    let is_active = apdu(access, "SCD APDU 00440000", "ACTIVATE DF").is_ok()
        && apdu(access, "SCD RESET --keep-lock", "reset").is_ok();
    if is_active {
        let _ = access.send("SCD SERIALNO", None);
    }
}

/// Sends a command of scdaemon's; the last two bytes of the card's answer say what became of it (ISO 7816-4, 5.6).
fn apdu(access: &mut CardAccess<'_>, command: &str, name: &str) -> Outcome<()> {
    const SUCCESS: u16 = 0x9000;
    let is_apdu = command.starts_with("SCD APDU");
    match access.send(command, None) {
        Err(failure) => {
            access.tell(format!("sending card command {name} failed: {failure}\n"));
            Err(failure)
        }
        Ok((_, answer)) if is_apdu => {
            let status = answer.last_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes));
            if status == SUCCESS {
                return Ok(());
            }
            let failure = CardFailure::of_status(status);
            if !failure.is_conditions_of_use() {
                access.tell(format!("card command {name} failed: {failure} (0x{status:04x})\n"));
            }
            Err(failure)
        }
        Ok(_) => Ok(()),
    }
}

impl CardFailure {
    /// Returns what a card's status word means.
    fn of_status(status: u16) -> Self {
        match status {
            0x6285 => Self::terminated(),
            0x6982 => Code::BAD_PIN.into(),
            0x6985 => Self::conditions_of_use(),
            _ => Code::CARD.into(),
        }
    }
}
