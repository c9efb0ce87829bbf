//! Names and addresses of the owners of made keys.

use super::seeded_random::SeededRandom;

const GIVEN: [&str; 32] = [
    "Ada", "Alan", "Amina", "Anouk", "Bela", "Bruno", "Carla", "Chidi", "Dana", "Dmitri", "Edith", "Emil",
    "Farah", "Finn", "Greta", "Hugo", "Ines", "Ivo", "Jana", "Kofi", "Lena", "Luis", "Mara", "Nils", "Olga",
    "Pavel", "Rosa", "Samir", "Tove", "Uma", "Viktor", "Yuki",
];

const SYLLABLES: [&str; 40] = [
    "al", "ba", "bren", "chi", "dor", "du", "el", "fa", "fen", "gar", "go", "hal", "ho", "il", "jo", "ka",
    "kel", "lan", "li", "lun", "ma", "mer", "mi", "na", "nor", "ol", "pe", "pra", "quin", "ra", "ros", "sa",
    "sil", "ta", "tor", "ul", "va", "ver", "wen", "zo",
];

/// A made person, with one of 64,000 surnames: of a million people about sixteen share one.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) given: &'static str,
    pub(super) surname: String,
    number: u64,
}

impl Person {
    pub(super) fn new(seed: u64, number: u64) -> Person {
        let mut random = SeededRandom::new(seed, number, "person");
        let given = random.one_of(&GIVEN);
        let lower: String = (0..3).map(|_| random.one_of(&SYLLABLES)).collect();
        let (first, rest) = lower.split_at(1);
        Person { given, surname: first.to_uppercase() + rest, number }
    }

    /// Returns a mail address that nobody else in the keyring has.
    pub(super) fn mail(&self) -> String {
        format!("{}.{}.{}@example.org", self.given, self.surname, self.number).to_lowercase()
    }

    /// Returns the user ID at an index: with mail addresses in several domains and in mixed case, or without one.
    pub(super) fn user_id(&self, position: u64) -> String {
        let Person { given, surname, number } = self;
        match position {
            0 => format!("{given} {surname} <{}>", self.mail()),
            1 => format!("{given} {surname} <{given}{number}@Work.Example.NET>"),
            2 => format!("{given} {surname} (chapter) <{given}.{number}@chapter.example.com>"),
            _ => format!("{surname} {number}.{position}"),
        }
    }

    /// Returns the two user IDs.
    pub(super) fn user_ids(&self) -> [String; 2] {
        let Person { given, surname, number } = self;
        let task = format!("{}{surname}{number}@work.example.net", &given[..1]).to_lowercase();
        [format!("{given} {surname} <{}>", self.mail()), format!("{given} {surname} (work) <{task}>")]
    }
}
