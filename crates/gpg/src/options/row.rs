//! One of gpg's options: names, argument, meaning, help.

use engine::configuration::Compat;

use super::refusal::Outcome;
use crate::settings::{Command, Settings};
use crate::streams::Channel;

/// One option.
pub(crate) struct Row {
    /// Its long names, separated by `|`; empty where there is only a short one.
    names: &'static str,
    pub(crate) short: Option<u8>,
    pub(crate) meaning: OptionAction,
    /// One line for `--help`; empty to leave it out.
    pub(crate) help: &'static str,
    /// The first version of gpg that has it.
    pub(crate) since: Compat,
}

/// What an option does.
pub(crate) enum OptionAction {
    Command(Command),
    Flag(fn(&mut Settings)),
    /// A deprecated flag; reported with the option to use instead.
    Deprecated(fn(&mut Settings), &'static str),
    Text(fn(&mut Settings, &[u8]) -> Outcome),
    /// With no argument it is empty.
    OptionalText(fn(&mut Settings, &[u8])),
    Int(fn(&mut Settings, i32)),
    Unsigned(fn(&mut Settings, u64)),
    OpenFd(Channel),
    OpenFile(Channel),
    /// Names the only configuration file to read.
    OptionsFile,
    NoOptions,
    Inform(Information),
    Harmless(Argument),
    /// An option without effect; reported.
    Obsolete(Argument),
    /// Ignored in a configuration file, unknown on the command line.
    IgnoredInFile,
}

/// What an option prints about the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Information {
    Help,
    Version,
    Warranty,
    Options,
    OptionTable,
}

/// What kind of argument an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    None,
    Text,
    OptionalText,
    /// A C `int`, decimal.
    Int,
    /// A C `unsigned long`, its base chosen by a prefix.
    Unsigned,
}

impl Row {
    /// Returns the name to use.
    pub(crate) fn name(&self) -> &'static str {
        self.names.split('|').next().unwrap_or_default()
    }

    /// Returns all long names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split('|').filter(|name| !name.is_empty())
    }

    /// Returns what kind of argument it takes.
    pub(crate) fn argument(&self) -> Argument {
        match &self.meaning {
            OptionAction::Text(_) | OptionAction::OpenFile(_) | OptionAction::OptionsFile => Argument::Text,
            OptionAction::OptionalText(_) => Argument::OptionalText,
            OptionAction::Int(_) | OptionAction::OpenFd(_) => Argument::Int,
            OptionAction::Unsigned(_) => Argument::Unsigned,
            OptionAction::Harmless(argument) | OptionAction::Obsolete(argument) => *argument,
            _ => Argument::None,
        }
    }

    const fn new(names: &'static str, meaning: OptionAction) -> Self {
        Self { names, short: None, meaning, help: "", since: Compat::V2_2 }
    }

    pub(super) const fn short(self, short: u8) -> Self {
        Self { short: Some(short), ..self }
    }

    /// Says that gpg 2.2 does not have the option.
    pub(super) const fn new_in_2_4(self) -> Self {
        Self { since: Compat::V2_4, ..self }
    }

    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }
}

pub(super) const fn command(names: &'static str, command: Command, help: &'static str) -> Row {
    Row::new(names, OptionAction::Command(command)).help(help)
}

pub(super) const fn flag(names: &'static str, set: fn(&mut Settings)) -> Row {
    Row::new(names, OptionAction::Flag(set))
}

pub(super) const fn deprecated(names: &'static str, set: fn(&mut Settings), instead: &'static str) -> Row {
    Row::new(names, OptionAction::Deprecated(set, instead))
}

pub(super) const fn text(names: &'static str, set: fn(&mut Settings, &[u8]) -> Outcome) -> Row {
    Row::new(names, OptionAction::Text(set))
}

pub(super) const fn int(names: &'static str, set: fn(&mut Settings, i32)) -> Row {
    Row::new(names, OptionAction::Int(set))
}

pub(super) const fn harmless(names: &'static str) -> Row {
    Row::new(names, OptionAction::Harmless(Argument::None))
}

pub(super) const fn harmless_text(names: &'static str) -> Row {
    Row::new(names, OptionAction::Harmless(Argument::Text))
}

pub(super) const fn harmless_int(names: &'static str) -> Row {
    Row::new(names, OptionAction::Harmless(Argument::Int))
}

pub(super) const fn harmless_unsigned(names: &'static str) -> Row {
    Row::new(names, OptionAction::Harmless(Argument::Unsigned))
}

pub(super) const fn obsolete(names: &'static str, argument: Argument) -> Row {
    Row::new(names, OptionAction::Obsolete(argument))
}

pub(super) const fn other(names: &'static str, meaning: OptionAction) -> Row {
    Row::new(names, meaning)
}
