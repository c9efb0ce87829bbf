//! What pinentry shows of a key, in gpg's words.

use cert::Fingerprint;
use cert::key;
use secret::ask::KeyName;
use verify::PublicKeyAlgorithm;

use crate::PublicKey;
use crate::connection::escaped;

/// What a key is asked about for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOperation {
    /// It signs or decrypts.
    Unlock,
    /// It leaves the agent.
    Export,
    /// It is deleted.
    Delete,
}

impl KeyOperation {
    fn prompt(self, is_subkey: bool) -> &'static str {
        match (self, is_subkey) {
            (Self::Unlock, _) => "Please enter the passphrase to unlock the OpenPGP secret key:",
            (Self::Export, false) => "Please enter the passphrase to export the OpenPGP secret key:",
            (Self::Export, true) => "Please enter the passphrase to export the OpenPGP secret subkey:",
            (Self::Delete, false) => "Do you really want to permanently delete the OpenPGP secret key:",
            (Self::Delete, true) => "Do you really want to permanently delete the OpenPGP secret subkey key:",
        }
    }
}

/// Returns the command that has the agent show a key.
pub(crate) fn command(public: &PublicKey, purpose: KeyOperation) -> Option<String> {
    let key = key::parse_public(&public.body).ok()?;
    let text = question(&KeyName::from(&key), &public.primary, &public.user_id, purpose);
    Some(format!("SETKEYDESC {}", escaped(text.as_bytes())))
}

/// Returns the question about a key of the certificate with this primary key and user ID.
pub fn question(key: &KeyName, primary: &Fingerprint, user_id: &[u8], purpose: KeyOperation) -> String {
    let is_subkey = key.fingerprint != *primary;
    let user_id = shown(user_id);
    let main = if is_subkey { format!(" (main key ID {})", primary.key_id()) } else { String::new() };
    format!(
        "{}\n\"{user_id}\"\n{}-bit {} key, ID {},\ncreated {}{main}.\n{}",
        purpose.prompt(is_subkey),
        key.bits,
        algorithm(key.algorithm),
        key.fingerprint.key_id(),
        date(key.created),
        if purpose == KeyOperation::Delete { "?" } else { "" },
    )
}

/// Returns as much of a user ID as fits into a line with everything else, once it is escaped.
fn shown(user_id: &[u8]) -> String {
    const MOST_BYTES: usize = 600;
    let mut length = 0;
    String::from_utf8_lossy(&user_id[..user_id.len().min(MOST_BYTES)])
        .chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .take_while(|letter| {
            length += escaped(letter.to_string().as_bytes()).len();
            length <= MOST_BYTES
        })
        .collect()
}

/// Returns gpg's name of an algorithm, and of one that gpg does not know RFC 9580's.
fn algorithm(algorithm: PublicKeyAlgorithm) -> &'static str {
    type Algorithm = PublicKeyAlgorithm;
    match algorithm {
        algorithm if algorithm.is_rsa() => "RSA",
        Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => "ELG",
        Algorithm::DSA => "DSA",
        Algorithm::ECDH => "ECDH",
        Algorithm::ECDSA => "ECDSA",
        Algorithm::EDDSA_LEGACY => "EDDSA",
        Algorithm::ED25519 => "Ed25519",
        Algorithm::X25519 => "X25519",
        Algorithm::ED448 => "Ed448",
        Algorithm::X448 => "X448",
        _ => "?",
    }
}

/// Returns a time's day, as `2026-01-31`.
fn date(seconds: u32) -> String {
    // Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    let days = i64::from(seconds / 86400) + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::{date, shown};

    #[test]
    fn a_user_id_is_cut_where_its_escaped_form_is_too_long() {
        assert_eq!(shown("\u{e4}\n".as_bytes()), "\u{e4}?");
        assert_eq!(shown("\u{e4}".repeat(400).as_bytes()), "\u{e4}".repeat(100));
        assert_eq!(shown(format!("{}\u{e4}", "a".repeat(599)).as_bytes()), "a".repeat(599));
        assert_eq!(shown(&[b'a'; 900]), "a".repeat(600));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_767_225_599, "2025-12-31"),
            (u32::MAX, "2106-02-07"),
        ] {
            assert_eq!(date(seconds), day);
        }
    }
}
