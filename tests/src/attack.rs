//! Attacks as values: inputs for programs, with the expected result.
//!
//! A [`Rule`] is a list of [`Attack`]s. [`assert_rule`] runs each of them through all of our programs that take such
//! input; [`page`] runs them through other programs too, and writes the results.

mod made_files;
mod outcome;
pub mod page;
mod program;
mod shown_text;

use crate::{Engine, Home};

pub use made_files::MadeFiles;
pub use outcome::{Finding, Outcome};
pub use program::{Kind, Program};
pub use shown_text::dangerous_character;

/// The password of every [`Input::Encrypted`].
pub const PASSWORD: &str = "open sesame";

/// A rule that no input may break, with inputs that try to.
#[derive(Debug)]
pub struct Rule {
    /// The rule, as a sentence.
    pub title: &'static str,
    /// The class of attacks and its source: a sentence or two for readers of the page.
    pub about: &'static str,
    /// The inputs.
    pub attacks: Vec<Attack>,
}

/// One input, with the result that it must have.
#[derive(Clone, Debug)]
pub struct Attack {
    /// A description in a few words.
    pub name: String,
    /// Files of certificates that are imported first, one after the other.
    pub certificates: Vec<Vec<u8>>,
    /// The input of the programs.
    pub input: Input,
    /// The expected result.
    pub expected: Expected,
    /// The expected results of programs whose rules differ.
    pub exceptions: Vec<(Kind, Expected)>,
}

/// The input of a program, and the operation on it.
#[derive(Clone, Debug)]
pub enum Input {
    /// Verify a signature over a file.
    Detached {
        /// The signature's file.
        signature: Vec<u8>,
        /// The file.
        data: Vec<u8>,
    },
    /// Verify a signed message or clear text, and write the signed content.
    Signed(Vec<u8>),
    /// Decrypt with [`PASSWORD`].
    Encrypted(Vec<u8>),
    /// Write the content of a message to a file with the name that the message gives: only gpg does so.
    Named(Vec<u8>),
    /// List the imported certificates for a person.
    Listing,
}

/// The result that an attack must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The input is good, and the output is these bytes: no attack, but a check that the input is otherwise right.
    Accept(Vec<u8>),
    /// The input is not good.
    Refuse,
    /// No status line says that a signature is good, or that something was decrypted: for data that is neither signed nor
    /// encrypted, which gpg writes without a message.
    NoGoodStatus,
    /// The input is not good, or the output is these bytes or empty.
    RefuseOrWrite(Vec<u8>),
    /// The program fails, and its output is a prefix of these bytes.
    FailWithPrefix(Vec<u8>),
    /// The program fails, without output if it checks before it writes. Programs like gpg, which write while they read, may
    /// write, but must report the failure.
    FailWithoutOutput,
    /// The program ends by itself, with an exit code below 100.
    NoCrash,
    /// The program makes one file at most, in its current directory, with a name without control characters.
    FileHere,
    /// What a person sees has neither control characters nor marks that change the order of letters.
    ShownHarmless,
}

impl Attack {
    /// Makes an attack of a signature over a file.
    pub fn detached(name: impl Into<String>, signature: Vec<u8>, data: &[u8], expected: Expected) -> Attack {
        Attack::new(name, Input::Detached { signature, data: data.to_vec() }, expected)
    }

    /// Makes an attack of a signed message or clear text.
    pub fn signed(name: impl Into<String>, message: Vec<u8>, expected: Expected) -> Attack {
        Attack::new(name, Input::Signed(message), expected)
    }

    /// Makes an attack of an encrypted message.
    pub fn encrypted(name: impl Into<String>, message: Vec<u8>, expected: Expected) -> Attack {
        Attack::new(name, Input::Encrypted(message), expected)
    }

    /// Makes an attack of a message that names a file.
    pub fn named(name: impl Into<String>, message: Vec<u8>) -> Attack {
        Attack::new(name, Input::Named(message), Expected::FileHere)
    }

    /// Makes an attack of a certificate that is listed.
    pub fn listing(name: impl Into<String>, certificate: Vec<u8>) -> Attack {
        Attack::new(name, Input::Listing, Expected::ShownHarmless).with_certificates(certificate)
    }

    fn new(name: impl Into<String>, input: Input, expected: Expected) -> Attack {
        Attack { name: name.into(), certificates: Vec::new(), input, expected, exceptions: Vec::new() }
    }

    /// Adds a file of certificates.
    pub fn with_certificates(mut self, certificates: Vec<u8>) -> Attack {
        self.certificates.push(certificates);
        self
    }

    /// Sets the expected result for programs that follow gpg's rules.
    pub fn expecting_of_gpg(self, expected: Expected) -> Attack {
        self.expecting_of(Kind::Gpg, expected.clone()).expecting_of(Kind::Gpgv, expected)
    }

    /// Sets the expected result for programs of a kind.
    pub fn expecting_of(mut self, kind: Kind, expected: Expected) -> Attack {
        self.exceptions.push((kind, expected));
        self
    }

    /// Returns the expected result for programs of a kind.
    pub(crate) fn expected_of(&self, kind: Kind) -> &Expected {
        self.exceptions
            .iter()
            .find(|(other, _)| *other == kind)
            .map_or(&self.expected, |(_, expected)| expected)
    }
}

impl Rule {
    /// Adds a file of certificates to every attack, before its own.
    pub fn with_certificates(mut self, certificates: &[u8]) -> Rule {
        for attack in &mut self.attacks {
            attack.certificates.insert(0, certificates.to_vec());
        }
        self
    }
}

/// Runs every attack of a rule through our programs and asserts that none of them breaks it. Programs without a database
/// run with SQLite only.
///
/// # Panics
///
/// If a program breaks the rule: with a line for each attack and command.
#[track_caller]
pub fn assert_rule(engine: Engine, rule: &Rule) {
    let mut broken = Vec::new();
    let mut homes: Vec<(Vec<Vec<u8>>, Home)> = Vec::new();
    for attack in &rule.attacks {
        let index = match homes.iter().position(|(certificates, _)| *certificates == attack.certificates) {
            Some(index) => index,
            None => {
                let home = engine.home();
                Program::import(&home, &attack.certificates);
                homes.push((attack.certificates.clone(), home));
                homes.len() - 1
            }
        };
        for program in Program::ours(engine) {
            for outcome in program.run(&homes[index].1, attack) {
                if let Finding::Broken(how) = outcome.judge(attack.expected_of(program.kind), program.kind) {
                    broken.push(format!("{}: {} {how}\n{}", attack.name, outcome.command, outcome.stderr()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}\n\n{}", rule.title, broken.join("\n"));
}
