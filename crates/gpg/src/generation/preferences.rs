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

/// Whether the features of a certificate announce LibrePGP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LibrePgp {
    NotAnnounced,
    /// Its encrypted data, if there are AEAD modes, and its keys of version 5 (`--compliance=gnupg`).
    Announced,
}

impl LibrePgp {
    /// Returns the default list.
    pub(crate) fn default_list(self) -> &'static str {
        if self == Self::Announced { DEFAULT_OF_LIBREPGP } else { DEFAULT }
    }

    /// Returns the features of a self-signature whose AEAD modes change, which has these now.
    pub(crate) fn features(self, now: Features, has_aead: bool) -> Features {
        match self {
            Self::Announced => now.with(Features::OCB, has_aead) | Features::VERSION_5,
            Self::NotAnnounced => now,
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
pub(crate) fn read(
    text: &str,
    usual: &str,
    compat: Compat,
    librepgp: LibrePgp,
) -> Result<Preferences, Vec<String>> {
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
    let has_empty_items = compat < Compat::V2_4 && !items.is_empty();
    let items = items.split([' ', ',']).filter(|item| has_empty_items || !item.is_empty());
    let complaints: Vec<String> = items.filter_map(|item| add_item(&mut read, item, compat).err()).collect();
    read.features = librepgp.features(read.features, !read.aead.is_empty());
    if complaints.is_empty() { Ok(read) } else { Err(complaints) }
}

fn add_item(read: &mut Preferences, item: &str, compat: Compat) -> Result<(), String> {
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
    // 2.2 has no names for AEAD modes.
    if let Some(mode) = algorithms::aead(name).filter(|_| compat >= Compat::V2_4) {
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

    fn read_as(compat: Compat, text: &str) -> Result<Preferences, Vec<String>> {
        read(text, DEFAULT, compat, LibrePgp::NotAnnounced)
    }

    #[test]
    fn a_list_mixes_sorts_and_keeps_their_order() {
        let list = read_as(Compat::V2_2, "AES256,S7 sha512 Z2 uncompressed no-mdc").expect("a list");
        assert_eq!(list.ciphers, [9, 7]);
        assert_eq!(list.hashes, [HashAlgorithm::SHA512]);
        assert_eq!(list.compressions, [2, 0]);
        assert_eq!(list.features, Features::default());
    }

    #[test]
    fn the_default_is_what_gpg_prefers() {
        let list = read_as(Compat::V2_4, "default").expect("a list");
        assert_eq!(list.ciphers, [9, 8, 7, 2]);
        assert_eq!(list.hashes, [10, 9, 8, 11, 2].map(HashAlgorithm));
        assert_eq!(list.compressions, [2, 3, 1]);
        assert!(list.features == Features::SEIPD_V1 && !list.keyserver_modify);
    }

    #[test]
    fn every_wrong_item_is_told() {
        let complaints = read_as(Compat::V2_4, "S9 foo S9").expect_err("wrong items");
        assert_eq!(complaints, ["invalid item 'foo' in preference string", "preference 'S9' duplicated"]);
    }

    #[test]
    fn what_stands_for_a_list_does_not_stand_in_the_usual_one() {
        let with_usual = |text, usual| read(text, usual, Compat::V2_4, LibrePgp::NotAnnounced);
        let complaints = with_usual("default", "default").expect_err("no algorithm");
        assert_eq!(complaints, ["invalid item 'default' in preference string"]);
        assert_eq!(with_usual("default", "none").expect("a list").compressions, [0]);
    }

    #[test]
    fn modes_are_announced_with_compliance_gnupg_and_unknown_to_2_2() {
        let modes = |list: Preferences| (list.aead, list.features.0);
        let announced = |text| read(text, DEFAULT, Compat::V2_4, LibrePgp::Announced).map(modes);
        assert_eq!(announced("AES OCB"), Ok((vec![2], 7)));
        assert_eq!(announced("AES"), Ok((vec![], 5)));
        assert_eq!(announced(LibrePgp::Announced.default_list()), Ok((vec![2], 7)));
        assert_eq!(read_as(Compat::V2_4, "AES OCB").map(modes), Ok((vec![2], 1)));
        assert!(read_as(Compat::V2_2, "AES OCB").is_err());
    }

    #[test]
    fn no_preferences_can_be_asked_for() {
        let list = read_as(Compat::V2_4, "none").expect("a list");
        assert!(list.ciphers.is_empty() && list.hashes.is_empty() && list.compressions.is_empty());
    }
}
