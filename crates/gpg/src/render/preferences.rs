//! Preferences as people and programs read them.

use engine::cert::facts::SelfSignature;
use keygen::Preferences;
use sign::Features;

use crate::algorithms::{AEAD, CIPHER, COMPRESSION, DIGEST, Named};

const NO_MODIFY: u8 = 0x80;

/// The preferences of a user ID as they are shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    ciphers: Vec<u8>,
    aead: Vec<u8>,
    hashes: Vec<u8>,
    compressions: Vec<u8>,
    features: Features,
    keyserver_modify: bool,
    is_empty: bool,
}

impl Shown {
    /// Returns those of a self-signature in force.
    pub(crate) fn of(own: Option<&SelfSignature>) -> Self {
        let Some(own) = own else { return Self { is_empty: true, ..Self::default() } };
        let SelfSignature { features, keyserver_preferences, .. } = *own;
        let shown = Self {
            ciphers: own.cipher_preferences.clone().unwrap_or_default(),
            aead: own.aead_preferences.clone().unwrap_or_default(),
            hashes: own.hash_preferences.clone().unwrap_or_default(),
            compressions: own.compression_preferences.clone().unwrap_or_default(),
            features: Features(features.unwrap_or_default()),
            keyserver_modify: keyserver_preferences.is_none_or(|byte| byte & NO_MODIFY == 0),
            is_empty: false,
        };
        let none = [&shown.ciphers, &shown.aead, &shown.hashes, &shown.compressions];
        Self { is_empty: none.iter().all(|list| list.is_empty()), ..shown }
    }

    /// Returns preferences that are about to be set.
    pub(crate) fn new(preferences: &Preferences) -> Self {
        Self {
            ciphers: preferences.ciphers.clone(),
            aead: preferences.aead.clone(),
            hashes: preferences.hashes.iter().map(|hash| hash.0).collect(),
            compressions: preferences.compressions.clone(),
            features: preferences.features,
            keyserver_modify: preferences.keyserver_modify,
            is_empty: false,
        }
    }

    /// Returns one line of letters and numbers behind `indent` columns; nothing where no algorithm is named.
    pub(crate) fn line(&self, indent: usize) -> String {
        if self.is_empty {
            return String::new();
        }
        let mut line = format!("{:indent$}{}", "", self.letters(&['S', 'A', 'H', 'Z']));
        line += if self.has(Features::SEIPD_V1) { " [mdc]" } else { "" };
        line += if self.has(Features::OCB) { " [aead]" } else { "" };
        line += if self.keyserver_modify { "" } else { " [no-ks-modify]" };
        line + "\n"
    }

    /// Returns the field of a record.
    pub(crate) fn field(&self) -> String {
        let mut field = self.letters(&['S', '?', 'H', 'Z']);
        field += if self.has(Features::SEIPD_V1) { ",mdc" } else { "" };
        field + if self.keyserver_modify { "" } else { ",no-ks-modify" }
    }

    /// Returns a line for each kind of algorithm, by name and with those that everybody has, behind `indent` columns.
    pub(crate) fn names(&self, indent: usize) -> String {
        const TRIPLE_DES: u8 = 2;
        const SHA1: u8 = 2;
        const UNCOMPRESSED: u8 = 0;
        const ZIP: u8 = 1;
        let with = |list: &[u8], implied: &[u8]| -> Vec<u8> {
            let missing = implied.iter().filter(|number| !list.contains(number));
            list.iter().chain(missing).copied().collect()
        };
        let compressions: &[u8] =
            if self.compressions.is_empty() { &[ZIP, UNCOMPRESSED] } else { &[UNCOMPRESSED] };
        let mut features = Vec::new();
        features.extend(self.has(Features::SEIPD_V1).then_some("MDC"));
        features.extend(self.has(Features::OCB).then_some("AEAD"));
        features.extend((!self.keyserver_modify).then_some("Keyserver no-modify"));
        let lines = [
            ("Cipher", named(CIPHER, &with(&self.ciphers, &[TRIPLE_DES]))),
            ("AEAD", named(AEAD, &self.aead)),
            ("Digest", named(DIGEST, &with(&self.hashes, &[SHA1]))),
            ("Compression", named(COMPRESSION, &with(&self.compressions, compressions))),
            ("Features", features.join(", ")),
        ];
        let shown = lines.iter().filter(|(label, list)| *label != "Features" || !list.is_empty());
        shown.map(|(label, list)| format!("{:indent$}{label}: {list}\n", "")).collect()
    }

    fn has(&self, feature: Features) -> bool {
        self.features.contains(feature)
    }

    /// Returns the algorithms as letters with numbers, the letters in the order of the fields.
    fn letters(&self, letters: &[char; 4]) -> String {
        let lists = [&self.ciphers, &self.aead, &self.hashes, &self.compressions];
        let items: Vec<String> = lists
            .iter()
            .zip(letters)
            .flat_map(|(list, letter)| list.iter().map(move |number| format!("{letter}{number}")))
            .collect();
        items.join(" ")
    }
}

fn named(table: &[Named], numbers: &[u8]) -> String {
    let name = |number: &u8| match table.iter().find(|(known, _)| known == number) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("[{number}]"),
    };
    numbers.iter().map(name).collect::<Vec<_>>().join(", ")
}
