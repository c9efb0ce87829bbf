//! The preferences in self-signatures: the algorithms and features that the programs of a certificate's owner support.

use cert::Fingerprint;
use cert::effective::{ComponentState, Effective};
use cert::facts::{Facts, SelfSignature};

/// The algorithms that a certificate's owner prefers, the most preferred first; empty lists where it states none.
/// The numbers are those of RFC 9580, 9.3 to 9.6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedPreferences<'a> {
    /// Ciphers.
    pub ciphers: &'a [u8],
    /// Hash algorithms.
    pub digests: &'a [u8],
    /// Compression algorithms.
    pub compressions: &'a [u8],
    /// Authenticated modes, as LibrePGP has them.
    pub modes: &'a [u8],
    /// Pairs of a cipher and an authenticated mode, one after the other (RFC 9580, 5.2.3.15).
    pub ciphersuites: &'a [u8],
    /// Features (RFC 9580, 5.2.3.32).
    pub features: u8,
}

/// Encrypted data of LibrePGP, and SEIPD version 2.
const LIBREPGP: u8 = 2;
const SEIPD_2: u8 = 8;

impl<'a> StatedPreferences<'a> {
    /// Reads them from the self-signature of the primary user ID and the direct-key signature, of which the latter goes
    /// first in version 6 (RFC 9580, 10.1.1).
    pub(super) fn of(facts: &'a Facts, effective: &Effective) -> Self {
        let of_user = effective.primary_user_id(facts).and_then(|index| match &effective.components[index] {
            ComponentState::User(user) => Some(&facts.components[index].signatures[user.binding?]),
            _ => None,
        });
        let of_key = effective.primary().binding.map(|index| &facts.components[0].signatures[index]);
        let order = match facts.primary().fingerprint {
            Fingerprint::V6(_) => [of_key, of_user],
            _ => [of_user, of_key],
        };
        let said = || order.into_iter().flatten().filter_map(|signature| signature.own.as_deref());
        let list = |read: fn(&SelfSignature) -> Option<&Vec<u8>>| {
            said().find_map(read).map(Vec::as_slice).unwrap_or_default()
        };
        let features = said().find_map(|own| own.features).unwrap_or_default();
        let aead = list(|own| own.aead_preferences.as_ref());
        // Two subpackets are kept in one place; the features tell which one it was.
        let are_pairs = features & SEIPD_2 != 0 && features & LIBREPGP == 0;
        let (modes, ciphersuites) = if are_pairs { (&[][..], aead) } else { (aead, &[][..]) };
        Self {
            ciphers: list(|own| own.cipher_preferences.as_ref()),
            digests: list(|own| own.hash_preferences.as_ref()),
            compressions: list(|own| own.compression_preferences.as_ref()),
            modes,
            ciphersuites,
            features,
        }
    }
}
