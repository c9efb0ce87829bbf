//! The command line, read the way gpg's argument parser reads it.
//!
//! The first word that is not an option, or `--`, ends the options; all words after it are arguments.

use engine::configuration::Compat;

use super::refusal::Fault;
use super::row::{Argument, Row};
use super::table::{OPTIONS, rows};
use crate::number;
use crate::program::Program;

/// An option with its value.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) row: &'static Row,
    pub(crate) value: Value<'a>,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    None,
    Text(&'a [u8]),
    Int(i32),
    Unsigned(u64),
}

/// The options of a command line, one after the other.
pub(crate) struct CommandLine<'a> {
    program: Program,
    compat: Compat,
    words: &'a [Vec<u8>],
    /// Position inside a cluster of short options; 0 at the start of a word.
    inside: usize,
    stop_seen: bool,
    /// The word the last item came from.
    last: &'a [u8],
}

impl<'a> CommandLine<'a> {
    /// Begins to read `words`, which do not include the program's name.
    pub(crate) fn new(program: Program, compat: Compat, words: &'a [Vec<u8>]) -> Self {
        Self { program, compat, words, inside: 0, stop_seen: false, last: b"" }
    }

    /// Returns the word of the last option, for messages.
    pub(crate) fn last_word(&self) -> &'a [u8] {
        self.last
    }

    /// Returns the arguments, once all options are read, and whether a `--` precedes them.
    pub(crate) fn arguments(&self) -> (&'a [Vec<u8>], bool) {
        (self.words, self.stop_seen)
    }

    fn long(&mut self, word: &'a [u8]) -> Result<Item<'a>, Fault> {
        let (name, given) = match word.iter().position(|&byte| byte == b'=') {
            Some(at) => (&word[..at], Some(&word[at + 1..])),
            None => (word, None),
        };
        let following = self.words.get(1).map(Vec::as_slice);
        self.words = &self.words[1..];
        let row = find_long(self.program, self.compat, name)?;
        let argument = row.argument();
        if argument == Argument::None {
            // A value for an option that takes none is ignored, as in gpg.
            return Ok(Item { row, value: Value::None });
        }
        let value = match given {
            Some(given) => Some(given).filter(|given| !given.is_empty()),
            None => following.filter(|next| argument != Argument::OptionalText || !next.starts_with(b"-")),
        };
        if given.is_none() && value.is_some() {
            self.words = &self.words[1..];
        }
        item(row, value)
    }

    fn short(&mut self, word: &'a [u8]) -> Result<Item<'a>, Fault> {
        self.inside = self.inside.max(1);
        let letter = word[self.inside];
        let rest = &word[self.inside + 1..];
        self.inside += 1;
        let row = find_short(self.program, self.compat, letter);
        let argument = row.map_or(Argument::None, Row::argument);
        if argument == Argument::None {
            if rest.is_empty() {
                self.next_word();
            }
            return row.map(|row| Item { row, value: Value::None }).ok_or(Fault::Unknown);
        }
        self.next_word();
        let value = match (rest, self.words.first()) {
            ([], None) => None,
            ([], Some(next)) => {
                self.words = &self.words[1..];
                Some(next.as_slice())
            }
            (rest, _) => Some(rest),
        };
        row.map_or(Err(Fault::Unknown), |row| item(row, value))
    }

    fn next_word(&mut self) {
        self.inside = 0;
        self.words = &self.words[1..];
    }
}

impl<'a> Iterator for CommandLine<'a> {
    type Item = Result<Item<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let word = self.words.first().filter(|_| !self.stop_seen)?.as_slice();
        match word {
            _ if self.inside > 0 => {}
            b"--" => {
                self.stop_seen = true;
                self.words = &self.words[1..];
                return None;
            }
            [b'-', b'-', long @ ..] => {
                self.last = word;
                return Some(self.long(long));
            }
            [b'-', _, ..] => self.last = word,
            _ => return None,
        }
        Some(self.short(word))
    }
}

/// Finds an option by its whole name, as a configuration file gives it.
pub(crate) fn find_exactly(name: &[u8]) -> Option<&'static Row> {
    OPTIONS.iter().find(|row| row.names().any(|known| known.as_bytes() == name))
}

/// Finds an option by its name or an abbreviation that fits no other option.
fn find_long(program: Program, compat: Compat, name: &[u8]) -> Result<&'static Row, Fault> {
    if name.is_empty() {
        return Err(Fault::Unknown);
    }
    let is_it = |row: &&Row| row.names().any(|known| known.as_bytes() == name);
    let rows = rows(program, compat);
    if let Some(row) = rows.iter().copied().find(is_it) {
        return Ok(row);
    }
    let begins = |row: &&Row| row.names().any(|known| known.as_bytes().starts_with(name));
    let mut fitting = rows.iter().copied().filter(begins);
    match (fitting.next(), fitting.next()) {
        (None, _) => Err(Fault::Unknown),
        (Some(row), None) => Ok(row),
        (Some(_), Some(_)) => Err(Fault::Ambiguous),
    }
}

fn find_short(program: Program, compat: Compat, letter: u8) -> Option<&'static Row> {
    let letter = if letter == b'?' { b'h' } else { letter };
    rows(program, compat).into_iter().find(|row| row.short == Some(letter))
}

/// Joins an option and the text given for it.
pub(super) fn item<'a>(row: &'static Row, text: Option<&'a [u8]>) -> Result<Item<'a>, Fault> {
    let value = match (row.argument(), text) {
        (Argument::None, None) | (Argument::OptionalText, None) => Value::None,
        (Argument::None, Some(_)) => return Err(Fault::UnexpectedArgument),
        (_, None) => return Err(Fault::MissingArgument),
        (Argument::Text | Argument::OptionalText, Some(text)) => Value::Text(text),
        (Argument::Int, Some(text)) => {
            let number = number::decimal(text).and_then(|number| i32::try_from(number).ok());
            Value::Int(number.ok_or(Fault::InvalidArgument)?)
        }
        (Argument::Unsigned, Some(text)) => {
            Value::Unsigned(number::unsigned(text).ok_or(Fault::InvalidArgument)?)
        }
    };
    Ok(Item { row, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = Vec<Result<(String, String), Fault>>;

    /// Reads a command line; gives options with their values, and the arguments.
    fn read(line: &[&str]) -> (Seen, Vec<String>) {
        let words: Vec<Vec<u8>> = line.iter().map(|word| word.as_bytes().to_vec()).collect();
        let mut reader = CommandLine::new(Program::Gpg, Compat::V2_4, &words);
        let mut seen = Seen::new();
        for item in reader.by_ref() {
            seen.push(item.map(|item| (called(item.row), shown(item.value))));
        }
        let arguments = reader.arguments().0.iter().map(|word| String::from_utf8_lossy(word).into_owned());
        (seen, arguments.collect())
    }

    fn called(row: &Row) -> String {
        match row.name() {
            "" => char::from(row.short.expect("a row without a name has a letter")).to_string(),
            name => name.to_owned(),
        }
    }

    fn shown(value: Value<'_>) -> String {
        match value {
            Value::None => String::new(),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Int(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
        }
    }

    fn options(line: &[&str]) -> Seen {
        read(line).0
    }

    fn good(name: &str, value: &str) -> Result<(String, String), Fault> {
        Ok((name.to_owned(), value.to_owned()))
    }

    #[test]
    fn a_value_follows_an_equals_sign_or_is_the_next_word() {
        assert_eq!(options(&["--output=x", "--output", "-y"]), [good("output", "x"), good("output", "-y")]);
        assert_eq!(options(&["--output="]), [Err(Fault::MissingArgument)]);
        assert_eq!(options(&["--output", ""]), [good("output", "")]);
        assert_eq!(options(&["--output"]), [Err(Fault::MissingArgument)]);
        assert_eq!(options(&["--armor=x"]), [good("armor", "")], "ignored as in gpg");
    }

    #[test]
    fn an_optional_value_does_not_begin_with_a_dash() {
        assert_eq!(options(&["--passphrase", "x"]), [good("passphrase", "x")]);
        assert_eq!(options(&["--passphrase", "-k"]), [good("passphrase", ""), good("list-keys", "")]);
    }

    #[test]
    fn short_options_stand_together_and_a_value_ends_the_cluster() {
        assert_eq!(
            options(&["-vaofile", "-k"]),
            [good("verbose", ""), good("armor", ""), good("output", "file"), good("list-keys", "")]
        );
        assert_eq!(options(&["-z", "6", "-kz7"]), [good("z", "6"), good("list-keys", ""), good("z", "7")]);
        assert_eq!(options(&["-kz"]), [good("list-keys", ""), Err(Fault::MissingArgument)]);
        assert_eq!(options(&["-jk"]), [Err(Fault::Unknown), good("list-keys", "")]);
        assert_eq!(options(&["-?"]), [good("help", "")]);
    }

    #[test]
    fn names_may_be_abbreviated_until_they_fit_two_options() {
        assert_eq!(options(&["--list-k"]), [good("list-keys", "")]);
        assert_eq!(options(&["--no-force"]), [good("sk-comments", "")], "names of one option do not compete");
        assert_eq!(options(&["--list"]), [Err(Fault::Ambiguous)]);
        assert_eq!(options(&["--sign"]), [good("sign", "")], "a whole name wins");
        assert_eq!(options(&["--bogus", "--"]), [Err(Fault::Unknown)]);
        assert_eq!(options(&["--=x"]), [Err(Fault::Unknown)]);
    }

    #[test]
    fn the_first_other_word_ends_the_options() {
        assert_eq!(read(&["-k", "a", "--foo"]).1, ["a", "--foo"]);
        assert_eq!(read(&["-k", "--", "-h"]).1, ["-h"]);
        assert_eq!(read(&["-k", "-", "-h"]).1, ["-", "-h"], "a lone dash is a file name");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(options(&["--status-fd", "99999999999"]), [Err(Fault::InvalidArgument)]);
        assert_eq!(options(&["--status-fd=2x"]), [good("status-fd", "2")]);
        assert_eq!(options(&["--set-filesize=-3"]), [Err(Fault::InvalidArgument)]);
        assert_eq!(options(&["--max-output=0x10"]), [good("max-output", "16")]);
    }
}
