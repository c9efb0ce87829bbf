//! Attacks as values: what is fed to which programs, and what must come of it.
//!
//! A [`Rule`] is a list of [`Attack`]s. [`assert_held`] runs each of them through every one of our programs that takes
//! such input; [`page`] runs them through others too, and writes what each of them did.

mod outcome;
pub mod page;
mod program;

use crate::{Engine, Home};

pub use outcome::{Finding, Outcome};
pub use program::{Kind, Program};

/// The password of every [`Input::Encrypted`].
pub const PASSWORD: &str = "open sesame";

/// What no input may bring about, with the inputs that try it.
#[derive(Debug)]
pub struct Rule {
    /// What holds, as a sentence.
    pub title: &'static str,
    /// Who found the class, and what it is about: a sentence or two for readers of the page.
    pub about: &'static str,
    /// The inputs.
    pub attacks: Vec<Attack>,
}

/// One input.
#[derive(Clone, Debug)]
pub struct Attack {
    /// What is done, in a few words.
    pub name: String,
    /// Files of certificates, imported one after the other.
    pub known: Vec<Vec<u8>>,
    /// What the programs read.
    pub input: Input,
    /// What must come of it.
    pub must: Must,
    /// What must come of it in programs of these kinds, whose rules differ.
    pub other_rules: Vec<(Kind, Must)>,
}

/// What a program reads, and what it is asked to do with it.
#[derive(Clone, Debug)]
pub enum Input {
    /// Verify a signature over a file.
    Detached {
        /// The signature's file.
        signature: Vec<u8>,
        /// The file.
        data: Vec<u8>,
    },
    /// Verify a signed message or clear text, and write what is signed.
    Signed(Vec<u8>),
    /// Decrypt with [`PASSWORD`].
    Encrypted(Vec<u8>),
}

/// What must come of an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Must {
    /// It is good, and these bytes come out: no attack, but the proof that the input is what it should be.
    Accept(Vec<u8>),
    /// It is not good.
    Refuse,
    /// No status line says that a signature is good, or that something was decrypted: for data that is neither signed nor
    /// encrypted, which gpg writes without a word.
    VouchForNothing,
    /// If it is good, these bytes come out, or nothing.
    OnlyIfGood(Vec<u8>),
    /// It fails, and what comes out is the beginning of these bytes, or nothing.
    FailAfter(Vec<u8>),
    /// It fails, and nothing comes out of programs that check before they write. Programs like gpg, which write while
    /// they read, may write, but must say that it failed.
    FailSilently,
    /// Whatever it is: the program ends by itself, with an exit code below 100.
    EndOrderly,
}

impl Attack {
    /// Makes an attack of a signature over a file.
    pub fn detached(name: impl Into<String>, signature: Vec<u8>, data: &[u8], must: Must) -> Attack {
        Attack::new(name, Input::Detached { signature, data: data.to_vec() }, must)
    }

    /// Makes an attack of a signed message or clear text.
    pub fn signed(name: impl Into<String>, message: Vec<u8>, must: Must) -> Attack {
        Attack::new(name, Input::Signed(message), must)
    }

    /// Makes an attack of an encrypted message.
    pub fn encrypted(name: impl Into<String>, message: Vec<u8>, must: Must) -> Attack {
        Attack::new(name, Input::Encrypted(message), must)
    }

    fn new(name: impl Into<String>, input: Input, must: Must) -> Attack {
        Attack { name: name.into(), known: Vec::new(), input, must, other_rules: Vec::new() }
    }

    /// Returns the attack with one more file of certificates.
    pub fn knowing(mut self, certificates: Vec<u8>) -> Attack {
        self.known.push(certificates);
        self
    }

    /// Returns the attack with what must come of it in programs that follow gpg's rules.
    pub fn by_gpgs_rules(self, must: Must) -> Attack {
        self.but_with(Kind::Gpg, must.clone()).but_with(Kind::Gpgv, must)
    }

    /// Returns the attack with what must come of it in programs of a kind.
    pub fn but_with(mut self, kind: Kind, must: Must) -> Attack {
        self.other_rules.push((kind, must));
        self
    }

    /// Returns what must come of it in a program.
    pub(crate) fn must_of(&self, kind: Kind) -> &Must {
        self.other_rules.iter().find(|(other, _)| *other == kind).map_or(&self.must, |(_, must)| must)
    }
}

impl Rule {
    /// Returns the rule with certificates that every attack knows first.
    pub fn knowing(mut self, certificates: &[u8]) -> Rule {
        for attack in &mut self.attacks {
            attack.known.insert(0, certificates.to_vec());
        }
        self
    }
}

/// Runs every attack of a rule through our programs and asserts that none of them breaks it. What has no database runs
/// with SQLite only.
///
/// # Panics
///
/// If one breaks it: with a line for each attack and command.
#[track_caller]
pub fn assert_held(engine: Engine, rule: &Rule) {
    let mut broken = Vec::new();
    let mut homes: Vec<(Vec<Vec<u8>>, Home)> = Vec::new();
    for attack in &rule.attacks {
        let place = match homes.iter().position(|(known, _)| *known == attack.known) {
            Some(place) => place,
            None => {
                let home = engine.home();
                Program::import(&home, &attack.known);
                homes.push((attack.known.clone(), home));
                homes.len() - 1
            }
        };
        for program in Program::ours(engine) {
            for outcome in program.run(&homes[place].1, attack) {
                if let Finding::Broken(how) = outcome.judge(attack.must_of(program.kind), program.kind) {
                    broken.push(format!("{}: {} {how}\n{}", attack.name, outcome.command, outcome.said()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}\n\n{}", rule.title, broken.join("\n"));
}
