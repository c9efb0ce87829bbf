//! Help on one screen: the common options and the examples of a command. `--help=all` has everything.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Headings of options that only `--help=all` and the man pages list.
const HIDDEN_HEADINGS: [&str; 4] = ["Global options", "Trust options", "Passphrases", "Signatures"];

/// Options under these headings that are common all the same.
const COMMON: [&str; 2] = ["json", "by"];

/// Options that few people need.
const RARE: [&str; 28] = [
    "to_hidden",
    "pad",
    "sure",
    "not_to_self",
    "password_fd",
    "cipher",
    "allow_old_cipher",
    "aead",
    "compress",
    "level",
    "text",
    "name",
    "time",
    "binary",
    "local_signatures",
    "no_attributes",
    "gpg_view",
    "allow_unsigned_user_ids",
    "no_repair",
    "stream_unverified",
    "allow_unprotected",
    "show_session_key",
    "session_key_file",
    "trust_amount",
    "regexp",
    "non_revocable",
    "batch",
    "commits",
];

/// Commands that few people need.
const RARE_COMMANDS: [&str; 11] =
    ["sop", "who-signed", "signed-by", "policy", "db", "copy", "sql", "tofu", "bench", "completions", "man"];

/// Lines of examples, below their title.
const MOST_EXAMPLES: usize = 4;

/// The arguments, and which help they ask for.
pub(crate) struct Request {
    pub(crate) arguments: Vec<OsString>,
    /// Whether everything is to be listed.
    pub(crate) is_full: bool,
}

impl Request {
    /// Reads the arguments: `--help` and `help COMMAND` ask for the short help, `--help=all` for all of it.
    pub(crate) fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut arguments: Vec<OsString> = arguments.collect();
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let is_full = arguments[..end].iter().any(|argument| argument == "--help=all");
        for argument in &mut arguments[..end] {
            if argument == "--help=all" {
                *argument = "--help".into();
            } else if argument == "--help" && !is_full {
                *argument = "-h".into();
            }
        }
        if arguments.get(1).is_some_and(|first| first == "help") && !is_full {
            arguments.remove(1);
            arguments.push("-h".into());
        }
        Self { arguments, is_full }
    }
}

/// Leaves the common options and the examples of a command and of its subcommands.
pub(crate) fn short(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string).map(|help| {
        let end = ["Examples:", "Exit codes:"].iter().filter_map(|title| help.find(title)).min().unwrap_or(0);
        let first = help[end..].split("\n\n").next().unwrap_or_default();
        let examples: Vec<&str> = first.lines().take(MOST_EXAMPLES + 1).collect();
        let codes = help.split("\n\n").find(|part| !first.contains(part) && part.contains("Exit codes:"));
        let codes = codes.map(|codes| format!("{codes}\n\n")).unwrap_or_default();
        format!("{}\n\n{codes}--help=all lists everything.", examples.join("\n"))
    });
    let command = command.mut_args(|argument| {
        let is_hidden = argument.get_help_heading().is_some_and(|heading| HIDDEN_HEADINGS.contains(&heading));
        let is_common = COMMON.contains(&argument.get_id().as_str());
        let is_rare = RARE.contains(&argument.get_id().as_str());
        match (is_hidden && !is_common) || is_rare {
            true => argument.hide(true),
            false if is_common => argument.help_heading(None::<&str>),
            false => argument,
        }
    });
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    let command = command.disable_help_flag(true).arg(help.help("Print help; --help=all prints all of it"));
    command.mut_subcommands(|subcommand| {
        let is_rare = RARE_COMMANDS.contains(&subcommand.get_name());
        let subcommand = short(subcommand);
        if is_rare { subcommand.hide(true) } else { subcommand }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    /// The lines and columns of a help text at most. The columns are those of the narrowest terminals in use. A
    /// terminal of 24 lines would not hold the commands of `keyhoard` or `keyhoard key`, one line for each; a window
    /// over the height of a small display has 40.
    const SCREEN: (usize, usize) = (40, 80);

    fn each(command: &mut Command, visit: &mut dyn FnMut(&mut Command)) {
        visit(command);
        command.get_subcommands_mut().for_each(|subcommand| each(subcommand, visit));
    }

    #[test]
    fn the_help_of_every_command_fits_one_screen() {
        let mut command = short(Arguments::command()).term_width(SCREEN.1);
        command.build();
        let mut too_long = Vec::new();
        each(&mut command, &mut |command| {
            let help = command.render_help().to_string();
            let size =
                (help.lines().count(), help.lines().map(|line| line.chars().count()).max().unwrap_or(0));
            let fits = size.0 <= SCREEN.0 && size.1 <= SCREEN.1;
            too_long.extend((!fits).then(|| format!("{}: {size:?}", command.get_name())));
        });
        assert!(too_long.is_empty(), "{too_long:?}");
    }

    #[test]
    fn help_is_short_unless_all_is_asked_for() {
        let of = |arguments: &[&str]| Request::of(arguments.iter().map(OsString::from));
        assert_eq!(of(&["keyhoard", "list", "--help"]).arguments, ["keyhoard", "list", "-h"]);
        assert_eq!(of(&["keyhoard", "help", "list"]).arguments, ["keyhoard", "list", "-h"]);
        let full = of(&["keyhoard", "list", "--help=all"]);
        assert!(full.is_full && full.arguments == ["keyhoard", "list", "--help"]);
        assert_eq!(of(&["keyhoard", "show", "--", "--help"]).arguments[3], "--help");
    }
}
