//! Preference lists, as `setpref` and `--default-preference-list` take them.

use engine::verify::HashAlgorithm;
use keygen::Preferences;

use crate::algorithms;

/// What gpg 2.2.40 prefers by default.
pub(crate) const DEFAULT: &str = "S9 S8 S7 S2 H10 H9 H8 H11 H2 Z2 Z3 Z1";

/// Maximum number of algorithms of one sort in a list.
const MAX_ALGORITHMS: usize = 30;

/// Reads a list of names; `default` stands for the list `usual`, and `none` for no preferences. In `usual` these are names
/// of algorithms as others are, where `none` is no compression.
///
/// # Errors
///
/// What gpg says of each item that is wrong.
pub(crate) fn read(text: &str, usual: &str) -> Result<Preferences, Vec<String>> {
    let mut read = Preferences {
        ciphers: Vec::new(),
        hashes: Vec::new(),
        compressions: Vec::new(),
        aead: Vec::new(),
        integrity: true,
        keyserver_modify: false,
    };
    let items = match text {
        _ if text.eq_ignore_ascii_case("default") => usual,
        _ if text.eq_ignore_ascii_case("none") => "",
        _ => text,
    };
    if items.is_empty() {
        return Ok(read);
    }
    let complaints: Vec<String> =
        items.split([' ', ',']).filter_map(|item| add_item(&mut read, item).err()).collect();
    if complaints.is_empty() { Ok(read) } else { Err(complaints) }
}

fn add_item(read: &mut Preferences, item: &str) -> Result<(), String> {
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
    match item.to_ascii_lowercase().as_str() {
        "mdc" => read.integrity = true,
        "no-mdc" => read.integrity = false,
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
        let list = read("AES256,S7 sha512 Z2 uncompressed no-mdc", DEFAULT).expect("a list");
        assert_eq!(list.ciphers, [9, 7]);
        assert_eq!(list.hashes, [HashAlgorithm::SHA512]);
        assert_eq!(list.compressions, [2, 0]);
        assert!(!list.integrity);
    }

    #[test]
    fn the_default_is_what_gpg_prefers() {
        let list = read("default", DEFAULT).expect("a list");
        assert_eq!(list.ciphers, [9, 8, 7, 2]);
        assert_eq!(list.hashes, [10, 9, 8, 11, 2].map(HashAlgorithm));
        assert_eq!(list.compressions, [2, 3, 1]);
        assert!(list.integrity && !list.keyserver_modify);
    }

    #[test]
    fn every_wrong_item_is_told() {
        let complaints = read("S9 foo S9", DEFAULT).expect_err("wrong items");
        assert_eq!(complaints, ["invalid item 'foo' in preference string", "preference 'S9' duplicated"]);
    }

    #[test]
    fn what_stands_for_a_list_does_not_stand_in_the_usual_one() {
        let complaints = read("default", "default").expect_err("no algorithm");
        assert_eq!(complaints, ["invalid item 'default' in preference string"]);
        assert_eq!(read("default", "none").expect("a list").compressions, [0]);
    }

    #[test]
    fn no_preferences_can_be_asked_for() {
        let list = read("none", DEFAULT).expect("a list");
        assert!(list.ciphers.is_empty() && list.hashes.is_empty() && list.compressions.is_empty());
    }
}
