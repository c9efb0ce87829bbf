//! Preference lists, as `setpref` and `--default-preference-list` take them.

use engine::configuration::Compat;
use engine::verify::HashAlgorithm;
use keygen::Preferences;
use sign::Features;

use crate::algorithms;

/// What gpg prefers by default.
pub(crate) const DEFAULT: &str = "S9 S8 S7 S2 H10 H9 H8 H11 H2 Z2 Z3 Z1";

/// What gpg 2.4 prefers by default with `--compliance=gnupg`.
const DEFAULT_OF_LIBREPGP: &str = "S9 S8 S7 S2 A2 H10 H9 H8 H11 H2 Z2 Z3 Z1";

/// What preference lists are to LibrePGP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LibrePgp {
    /// AEAD modes have no names (gpg 2.2).
    Unknown,
    /// AEAD modes may be named, and nothing is announced.
    Named,
    /// Its encrypted data, if there are AEAD modes, and its keys of version 5 are announced (`--compliance=gnupg`).
    Announced,
}

impl LibrePgp {
    /// Returns what it is to one of GnuPG's versions; `is_compliance` if it is what messages comply with.
    pub(crate) fn of(compat: Compat, is_compliance: bool) -> Self {
        match compat {
            Compat::V2_2 => Self::Unknown,
            Compat::V2_4 if is_compliance => Self::Announced,
            Compat::V2_4 => Self::Named,
        }
    }

    /// Returns the default list.
    pub(crate) fn default_list(self) -> &'static str {
        if self == Self::Announced { DEFAULT_OF_LIBREPGP } else { DEFAULT }
    }

    /// Returns the features of a self-signature whose AEAD modes change, which has these now.
    pub(crate) fn features(self, now: Features, has_aead: bool) -> Features {
        match self {
            Self::Announced => now.with(Features::OCB, has_aead) | Features::VERSION_5,
            Self::Unknown | Self::Named => now,
        }
    }
}

/// Maximum number of algorithms of one sort in a list.
const MAX_ALGORITHMS: usize = 30;

/// Reads a list of names; `default` stands for the list `usual`, and `none` for no preferences. In `usual` these are names
/// of algorithms as others are, where `none` is no compression.
///
/// # Errors
///
/// What gpg says of each item that is wrong.
pub(crate) fn read(text: &str, usual: &str, librepgp: LibrePgp) -> Result<Preferences, Vec<String>> {
    let mut read = Preferences {
        ciphers: Vec::new(),
        hashes: Vec::new(),
        compressions: Vec::new(),
        aead: Vec::new(),
        features: Features::SEIPD_V1,
        keyserver_modify: false,
    };
    let items = match text {
        _ if text.eq_ignore_ascii_case("default") => usual,
        _ if text.eq_ignore_ascii_case("none") => "",
        _ => text,
    };
    // For 2.2 nothing between two separators is an invalid item.
    let counts_nothing = librepgp == LibrePgp::Unknown && !items.is_empty();
    let items = items.split([' ', ',']).filter(|item| counts_nothing || !item.is_empty());
    let complaints: Vec<String> =
        items.filter_map(|item| add_item(&mut read, item, librepgp).err()).collect();
    read.features = librepgp.features(read.features, !read.aead.is_empty());
    if complaints.is_empty() { Ok(read) } else { Err(complaints) }
}

fn add_item(read: &mut Preferences, item: &str, librepgp: LibrePgp) -> Result<(), String> {
    let name = item.as_bytes();
    if let Some(cipher) = algorithms::cipher(name) {
        return add(&mut read.ciphers, cipher, item, "cipher");
    }
    if let Some(digest) = algorithms::digest(name) {
        return add(&mut read.hashes, HashAlgorithm(digest), item, "digest");
    }
    if let Some(compression) = algorithms::compression(name) {
        return add(&mut read.compressions, compression, item, "compression");
    }
    if let Some(mode) = algorithms::aead(name).filter(|_| librepgp != LibrePgp::Unknown) {
        return add(&mut read.aead, mode, item, "AEAD");
    }
    match item.to_ascii_lowercase().as_str() {
        "mdc" | "no-mdc" => {
            read.features = read.features.with(Features::SEIPD_V1, item.eq_ignore_ascii_case("mdc"));
        }
        "ks-modify" => read.keyserver_modify = true,
        "no-ks-modify" => read.keyserver_modify = false,
        _ => return Err(format!("invalid item '{item}' in preference string")),
    }
    Ok(())
}

fn add<T: PartialEq>(list: &mut Vec<T>, algorithm: T, item: &str, sort: &str) -> Result<(), String> {
    if list.contains(&algorithm) {
        return Err(format!("preference '{item}' duplicated"));
    }
    if list.len() == MAX_ALGORITHMS {
        return Err(format!("too many {sort} preferences"));
    }
    list.push(algorithm);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_mixes_sorts_and_keeps_their_order() {
        let list =
            read("AES256,S7 sha512 Z2 uncompressed no-mdc", DEFAULT, LibrePgp::Unknown).expect("a list");
        assert_eq!(list.ciphers, [9, 7]);
        assert_eq!(list.hashes, [HashAlgorithm::SHA512]);
        assert_eq!(list.compressions, [2, 0]);
        assert_eq!(list.features, Features::default());
    }

    #[test]
    fn the_default_is_what_gpg_prefers() {
        let list = read("default", DEFAULT, LibrePgp::Named).expect("a list");
        assert_eq!(list.ciphers, [9, 8, 7, 2]);
        assert_eq!(list.hashes, [10, 9, 8, 11, 2].map(HashAlgorithm));
        assert_eq!(list.compressions, [2, 3, 1]);
        assert!(list.features == Features::SEIPD_V1 && !list.keyserver_modify);
    }

    #[test]
    fn every_wrong_item_is_told() {
        let complaints = read("S9 foo S9", DEFAULT, LibrePgp::Named).expect_err("wrong items");
        assert_eq!(complaints, ["invalid item 'foo' in preference string", "preference 'S9' duplicated"]);
    }

    #[test]
    fn what_stands_for_a_list_does_not_stand_in_the_usual_one() {
        let complaints = read("default", "default", LibrePgp::Named).expect_err("no algorithm");
        assert_eq!(complaints, ["invalid item 'default' in preference string"]);
        assert_eq!(read("default", "none", LibrePgp::Named).expect("a list").compressions, [0]);
    }

    #[test]
    fn modes_are_announced_with_compliance_gnupg_and_unknown_to_2_2() {
        let read = |text, librepgp| read(text, DEFAULT, librepgp).map(|list| (list.aead, list.features.0));
        assert_eq!(read("AES OCB", LibrePgp::Announced), Ok((vec![2], 7)));
        assert_eq!(read("AES", LibrePgp::Announced), Ok((vec![], 5)));
        assert_eq!(read("AES OCB", LibrePgp::Named), Ok((vec![2], 1)));
        assert!(read("AES OCB", LibrePgp::Unknown).is_err());
        assert_eq!(read(LibrePgp::Announced.default_list(), LibrePgp::Announced), Ok((vec![2], 7)));
    }

    #[test]
    fn no_preferences_can_be_asked_for() {
        let list = read("none", DEFAULT, LibrePgp::Named).expect("a list");
        assert!(list.ciphers.is_empty() && list.hashes.is_empty() && list.compressions.is_empty());
    }
}
