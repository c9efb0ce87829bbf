//! Configuration files: `gpg.conf` of the system, of the user, or one named with `--options`.
//!
//! A line holds a long option without its dashes, whole, and after white space its argument, which may stand in
//! double quotes. A `#` begins a comment only as a line's first character. A line in brackets is a meta command.

use super::meta::{Owner, Rules};
use super::parse::{self, Item};
use super::refusal::Fault;
use super::row::{OptionAction, Row};

/// The content of a line.
pub(crate) enum Event<'a> {
    Option(Item<'a>),
    /// A message of a meta command.
    Say(String),
    Fault(&'static str),
}

/// Reads the text of a configuration file; returns what its lines contain, with their numbers.
pub(crate) fn read<'a>(
    text: &'a [u8],
    owner: Owner,
    file: &str,
    rules: &mut Rules,
) -> Vec<(usize, Event<'a>)> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut tolerated: Vec<&[u8]> = Vec::new();
    let mut events = Vec::new();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let event = match Line::parse(line) {
            Ok(Line::Nothing) => None,
            Ok(Line::Meta(command)) => match rules.command(command, owner, file, number) {
                Ok(said) => said.map(Event::Say),
                Err(fault) => Some(Event::Fault(fault)),
            },
            Ok(Line::Option { keyword: b"ignore-invalid-option", argument }) => {
                tolerated.extend(argument.unwrap_or_default().split(u8::is_ascii_whitespace));
                None
            }
            Ok(Line::Option { keyword, argument }) => match parse::find_exactly(keyword) {
                Some(row) if rules.drops(row, owner) => None,
                Some(row) => option(row, argument),
                None if tolerated.contains(&keyword) => None,
                None => Some(Event::Fault(Fault::Unknown.text())),
            },
            Err(fault) => Some(Event::Fault(fault)),
        };
        events.extend(event.map(|event| (number, event)));
    }
    events
}

fn option<'a>(row: &'static Row, argument: Option<&'a [u8]>) -> Option<Event<'a>> {
    let item = match parse::item(row, argument) {
        Ok(item) => item,
        Err(fault) => return Some(Event::Fault(fault.text())),
    };
    match row.meaning {
        OptionAction::OptionsFile | OptionAction::IgnoredInFile => None,
        OptionAction::NoOptions | OptionAction::Inform(_) => Some(Event::Fault(Fault::Unknown.text())),
        _ => Some(Event::Option(item)),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Nothing,
    Option { keyword: &'a [u8], argument: Option<&'a [u8]> },
    Meta(&'a [u8]),
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, &'static str> {
        const MAX_KEYWORD: usize = 98;
        let line = line.trim_ascii();
        match line {
            [] | [b'#', ..] => return Ok(Self::Nothing),
            [b'[', rest @ ..] => return Self::meta(rest),
            _ => {}
        }
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (keyword, argument) = line.split_at(end);
        if keyword.len() > MAX_KEYWORD {
            return Err(Fault::KeywordTooLong.text());
        }
        let argument = argument.trim_ascii_start();
        Ok(Self::Option { keyword, argument: (!argument.is_empty()).then(|| unquote(argument)) })
    }

    fn meta(rest: &'a [u8]) -> Result<Self, &'static str> {
        const INVALID: &str = "invalid meta command";
        let end = rest.iter().position(|&byte| byte == b']').ok_or(INVALID)?;
        let command = rest[..end].trim_ascii();
        match rest[end + 1..].trim_ascii_start() {
            [] | [b'#', ..] if !command.is_empty() => Ok(Self::Meta(command)),
            _ => Err(INVALID),
        }
    }
}

fn unquote(argument: &[u8]) -> &[u8] {
    match argument.strip_prefix(b"\"") {
        Some(quoted) => quoted.strip_suffix(b"\"").unwrap_or(quoted),
        None => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse::Value;

    /// Returns the content of each line as text: `NAME=VALUE`, `! FAULT` or a message.
    fn events(owner: Owner, text: &str) -> Vec<(usize, String)> {
        let events = read(text.as_bytes(), owner, "test.conf", &mut Rules::default());
        let shown = |event: Event<'_>| match event {
            Event::Option(Item { row, value: Value::Text(text) }) => {
                format!("{}={}", row.name(), String::from_utf8_lossy(text))
            }
            Event::Option(Item { row, .. }) => row.name().to_owned(),
            Event::Say(text) => text,
            Event::Fault(text) => format!("! {text}"),
        };
        events.into_iter().map(|(line, event)| (line, shown(event))).collect()
    }

    fn user(text: &str) -> Vec<String> {
        events(Owner::User, text).into_iter().map(|(_, event)| event).collect()
    }

    #[test]
    fn keywords_are_whole_names_and_arguments_may_be_quoted() {
        assert_eq!(user("  output   \"a b\" \r\nbatch\n"), ["output=a b", "batch"]);
        assert_eq!(user("outpu x\n--batch\n"), ["! invalid option", "! invalid option"]);
        assert_eq!(user("output"), ["! missing argument"]);
        assert_eq!(user("status-fd 99999999999"), ["! invalid argument"]);
    }

    #[test]
    fn a_comment_stands_on_a_line_of_its_own() {
        assert_eq!(user("# x\n \t# y\n\noutput a # b"), ["output=a # b"]);
        assert_eq!(user("batch # x"), ["! argument not expected"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_lines_are_counted() {
        assert_eq!(
            events(Owner::User, "\u{feff}batch\n\nbogus"),
            [(1, "batch".to_owned()), (3, "! invalid option".to_owned())]
        );
    }

    #[test]
    fn options_of_other_versions_can_be_tolerated_by_name() {
        assert_eq!(user("ignore-invalid-option foo bar\nfoo x\nbar\nbaz"), ["! invalid option"]);
        assert_eq!(user("strict\nno-strict\nload-extension"), [""; 0]);
    }

    #[test]
    fn a_file_cannot_choose_files_or_ask_for_help() {
        assert_eq!(user("options x\nno-options\nhelp"), ["! invalid option", "! invalid option"]);
    }

    #[test]
    fn meta_commands_are_checked() {
        assert_eq!(user("[echo line ${line} of ${file} $$x] # c"), ["test.conf:1: line 1 of test.conf $x"]);
        assert_eq!(user("[-info hi]\n[verbose]"), ["hi"]);
        assert_eq!(user("[]\n[echo\n[echo x] y"), ["! invalid meta command"; 3]);
        assert_eq!(
            user("[foo]\n[force]\n[echo]\n[verbose x]"),
            [
                "! unknown meta command",
                "! unexpected meta command",
                "! missing argument",
                "! argument not expected"
            ]
        );
    }

    #[test]
    fn the_system_may_have_options_ignored() {
        assert_eq!(events(Owner::System, "[ignore]\nbatch\n[-ignore]\narmor"), [(4, "armor".to_owned())]);
        assert_eq!(
            events(Owner::System, "[user nobody-of-this-name]\nbatch\n[user *]\narmor"),
            [(4, "armor".to_owned())]
        );
    }
}
