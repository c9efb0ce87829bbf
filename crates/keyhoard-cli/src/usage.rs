//! What is said about arguments that were not understood, and help.

use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::arguments::Arguments;
use crate::error_code::ErrorCode;
use crate::stderr::{self, MessageJson};
use crate::style::Style;
use crate::{gpg_words, help, hint};

/// Says that no command was given, with the help.
pub(crate) fn report_missing_command(is_json: bool) -> ExitCode {
    match is_json {
        true => {
            stderr::json(&MessageJson::Error { error: ErrorCode::Usage, message: "no command was given" })
        }
        false => eprint!("{}", help::short(Arguments::command()).render_help()),
    }
    ExitCode::from(2)
}

/// Writes what is wrong with the arguments as JSON.
pub(crate) fn report_as_json(error: &clap::Error) -> ExitCode {
    let mut message = what_is_wrong(&error.to_string());
    if let Some(meant) = meant_word(error) {
        message += &format!("; did you mean {}?", hint::named(&meant));
    }
    stderr::json(&MessageJson::Error { error: ErrorCode::Usage, message: &message });
    ExitCode::from(2)
}

/// Prints the help that was asked for, or what is wrong with the arguments.
pub(crate) fn explain(mut error: clap::Error, request: &help::Request) -> ExitCode {
    if error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::SuggestedArg).is_none() {
        // Only how to give the option as a value, which nobody means.
        error.remove(ContextKind::Suggested);
    }
    let is_help =
        matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    let short = || help::short(Arguments::command()).try_get_matches_from(&request.arguments).err();
    // An error here could not be reported anywhere.
    let _ = match (is_help && !request.is_full).then(short).flatten() {
        Some(shorter) => shorter.print(),
        None => error.print(),
    };
    if let Some(meant) = meant_word(&error) {
        stderr::print(Style::Faint, "keyhoard:", format_args!("did you mean {}?", hint::named(&meant)));
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// Returns the command that is meant by a word of gpg's, which is why the arguments were not understood.
fn meant_word(error: &clap::Error) -> Option<String> {
    let context = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let ContextValue::String(word) = error.get(context)? else { return None };
    let all = Arguments::command();
    let mut words = std::env::args_os().skip(1);
    let given = words.find_map(|argument| all.find_subcommand(argument.to_str()?).cloned());
    gpg_words::meant(word, given.as_ref())
}

/// Returns the first part of an error about arguments, on one line.
fn what_is_wrong(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn the_message_about_a_missing_argument_names_it() {
        let message = |words: &[&str]| {
            let error = Arguments::try_parse_from(words).expect_err("an error");
            what_is_wrong(&error.to_string())
        };
        assert_eq!(
            message(&["keyhoard", "undo", "--frobnicate"]),
            "unexpected argument '--frobnicate' found"
        );
        let missing = "the following required arguments were not provided: <NAME>...";
        assert_eq!(message(&["keyhoard", "show"]), missing);
    }
}
