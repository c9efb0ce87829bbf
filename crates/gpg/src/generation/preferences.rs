//! Preference lists, as `setpref` and `--default-preference-list` take them.

use keyhoard::verify::HashAlgorithm;

use crate::algorithms;

/// What gpg 2.2.40 prefers by default.
pub(crate) const DEFAULT: &str = "S9 S8 S7 S2 H10 H9 H8 H11 H2 Z2 Z3 Z1";

/// Maximum number of algorithms of one sort in a list.
const MAX_ALGORITHMS: usize = 30;

/// What the owner of a key prefers, most preferred first, by OpenPGP's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preferences {
    pub(crate) ciphers: Vec<u8>,
    pub(crate) digests: Vec<u8>,
    pub(crate) compressions: Vec<u8>,
    /// Modification detection is understood.
    pub(crate) mdc: bool,
    /// Others than the owner may change the key on a keyserver.
    pub(crate) keyserver_modify: bool,
}

impl From<Preferences> for keygen::Preferences {
    fn from(read: Preferences) -> Self {
        Self {
            ciphers: read.ciphers,
            hashes: read.digests.into_iter().map(HashAlgorithm).collect(),
            compressions: read.compressions,
            aead: Vec::new(),
            integrity: read.mdc,
            keyserver_modify: read.keyserver_modify,
        }
    }
}

impl Preferences {
    /// Reads a list of names; `default` stands for the list `usual`, and `none` for no preferences. In `usual` these are
    /// names of algorithms as others are, where `none` is no compression.
    ///
    /// # Errors
    ///
    /// What gpg says of each item that is wrong.
    pub(crate) fn read(text: &str, usual: &str) -> Result<Self, Vec<String>> {
        let mut read = Self {
            ciphers: Vec::new(),
            digests: Vec::new(),
            compressions: Vec::new(),
            mdc: true,
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
            items.split([' ', ',']).filter_map(|item| read.add(item).err()).collect();
        if complaints.is_empty() { Ok(read) } else { Err(complaints) }
    }

    fn add(&mut self, item: &str) -> Result<(), String> {
        let name = item.as_bytes();
        if let Some(cipher) = algorithms::cipher(name) {
            return add(&mut self.ciphers, cipher, item, "cipher");
        }
        if let Some(digest) = algorithms::digest(name) {
            return add(&mut self.digests, digest, item, "digest");
        }
        if let Some(compression) = algorithms::compression(name) {
            return add(&mut self.compressions, compression, item, "compression");
        }
        match item.to_ascii_lowercase().as_str() {
            "mdc" => self.mdc = true,
            "no-mdc" => self.mdc = false,
            "ks-modify" => self.keyserver_modify = true,
            "no-ks-modify" => self.keyserver_modify = false,
            _ => return Err(format!("invalid item '{item}' in preference string")),
        }
        Ok(())
    }
}

fn add(list: &mut Vec<u8>, number: u8, item: &str, sort: &str) -> Result<(), String> {
    if list.contains(&number) {
        return Err(format!("preference '{item}' duplicated"));
    }
    if list.len() == MAX_ALGORITHMS {
        return Err(format!("too many {sort} preferences"));
    }
    list.push(number);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_mixes_sorts_and_keeps_their_order() {
        let read = Preferences::read("AES256,S7 sha512 Z2 uncompressed no-mdc", DEFAULT).expect("a list");
        assert_eq!(read.ciphers, [9, 7]);
        assert_eq!(read.digests, [10]);
        assert_eq!(read.compressions, [2, 0]);
        assert!(!read.mdc);
    }

    #[test]
    fn the_default_is_what_gpg_prefers() {
        let read = Preferences::read("default", DEFAULT).expect("a list");
        assert_eq!(read.ciphers, [9, 8, 7, 2]);
        assert_eq!(read.digests, [10, 9, 8, 11, 2]);
        assert_eq!(read.compressions, [2, 3, 1]);
        assert!(read.mdc && !read.keyserver_modify);
    }

    #[test]
    fn every_wrong_item_is_told() {
        let complaints = Preferences::read("S9 foo S9", DEFAULT).expect_err("wrong items");
        assert_eq!(complaints, ["invalid item 'foo' in preference string", "preference 'S9' duplicated"]);
    }

    #[test]
    fn what_stands_for_a_list_does_not_stand_in_the_usual_one() {
        let complaints = Preferences::read("default", "default").expect_err("no algorithm");
        assert_eq!(complaints, ["invalid item 'default' in preference string"]);
        assert_eq!(Preferences::read("default", "none").expect("a list").compressions, [0]);
    }

    #[test]
    fn no_preferences_can_be_asked_for() {
        let read = Preferences::read("none", DEFAULT).expect("a list");
        assert!(read.ciphers.is_empty() && read.digests.is_empty() && read.compressions.is_empty());
    }
}
