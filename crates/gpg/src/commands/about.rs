//! Information about the program: `--version`, `--help`, `--dump-options` and the like.

use std::fmt::Write as _;

use engine::configuration::Compat;

use crate::algorithms::{self, Named};
use crate::generation::algorithm;
use crate::home::Home;
use crate::options::groups::{GROUPS, Group};
use crate::options::row::{Argument, Information, OptionAction, Row};
use crate::options::table::{OPTIONS, rows};
use crate::program::Program;
use crate::settings::Settings;
use crate::streams::Streams;

/// Returns the text of `--version`, `--help` and the like.
pub(crate) fn text(program: Program, compat: Compat, information: Information, home: &Home) -> String {
    match (information, program) {
        (Information::Version, Program::Gpg) => version(home, compat),
        (Information::Version, Program::Gpgv) => gpgv_version(compat),
        (Information::Help, Program::Gpg) => help(home, compat),
        (Information::Help, Program::Gpgv) => gpgv_help(compat),
        (Information::Warranty, _) => warranty(),
        (Information::Options, _) => dump_options(program, compat),
        (Information::OptionTable, _) => dump_option_table(program, compat),
    }
}

fn gpgv_version(compat: Compat) -> String {
    let gnupg = compat.version();
    let (version, licence) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_LICENSE"));
    format!(
        "gpgv (GnuPG) {gnupg}\nThis is gpgv-keyhoard {version}, not GnuPG\nLicence: {licence}\n\
         There is NO WARRANTY, to the extent permitted by law.\n"
    )
}

fn gpgv_help(compat: Compat) -> String {
    let mut text = gpgv_version(compat);
    text.push_str(
        "\nSyntax: gpgv-keyhoard [options] [files]\nVerifies signatures with keys that are all trusted.\n\n",
    );
    text.push_str("The options are gpgv's; its manual page gpgv(1) explains them.\n\nOptions:\n\n");
    text.extend(rows(Program::Gpgv, compat).into_iter().filter(|row| !row.help.is_empty()).map(help_line));
    text
}

/// Writes the options for `gpgconf` (`--gpgconf-list`).
pub(super) fn gpgconf_list(settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    const HAS_DEFAULT: u32 = 16;
    let out = streams.out();
    let compliance = match settings.compat {
        Compat::V2_2 => "gnupg",
        Compat::V2_4 => "openpgp",
    };
    let algorithm = algorithm::default(settings.compat);
    writeln!(out, "debug-level:{HAS_DEFAULT}:\"none:")?;
    writeln!(out, "compliance:{HAS_DEFAULT}:\"{compliance}:")?;
    writeln!(out, "default_pubkey_algo:{HAS_DEFAULT}:\"{algorithm}:")?;
    writeln!(out, "compliance_de_vs:{HAS_DEFAULT}:0:")?;
    if settings.compat >= Compat::V2_4 {
        writeln!(out, "use_keyboxd:{HAS_DEFAULT}:0:")?;
    }
    Ok(())
}

/// Writes the algorithms as libgcrypt lists its own (`--list-gcrypt-config`).
pub(super) fn library_configuration(streams: &mut Streams) -> anyhow::Result<()> {
    let out = streams.out();
    writeln!(out, "version:keyhoard {}:", env!("CARGO_PKG_VERSION"))?;
    let lists = [
        ("ciphers", algorithms::CIPHER),
        ("pubkeys", algorithms::PUBLIC_KEY),
        ("digests", algorithms::DIGEST),
    ];
    for (title, list) in lists {
        let names: String = list.iter().map(|(_, name)| name.to_lowercase() + ":").collect();
        writeln!(out, "{title}:{names}")?;
    }
    Ok(writeln!(out, "fips-mode:n:::")?)
}

/// Programs read the first line, `Home:` and the algorithms; the rest names this program.
fn version(home: &Home, compat: Compat) -> String {
    let mut text = format!("gpg (GnuPG) {}\n", compat.version());
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "This is gpg-keyhoard {}, not GnuPG: its keys are in a Keyhoard database",
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(text, "Licence: {}", env!("CARGO_PKG_LICENSE"));
    let _ = writeln!(text, "There is NO WARRANTY, to the extent permitted by law.\n");
    let _ = writeln!(text, "Home: {}", home.directory().display());
    if let Ok(database) = home.database() {
        let _ = writeln!(text, "Database: {}", engine::database::shown(&database));
    }
    let _ = writeln!(text, "Supported algorithms:");
    for (title, list) in [
        ("Pubkey: ", algorithms::PUBLIC_KEY),
        ("Cipher: ", algorithms::CIPHER),
        ("Hash: ", algorithms::DIGEST),
        ("Compression: ", algorithms::COMPRESSION),
    ] {
        text.push_str(&wrapped(title, list));
    }
    text
}

/// Writes a list of names, with a new line where one would grow beyond 60 characters.
fn wrapped(title: &str, list: &[Named]) -> String {
    const WIDTH: usize = 60;
    let mut text = title.to_owned();
    let mut line_start = 0;
    for (index, (_, name)) in list.iter().enumerate() {
        if index > 0 && text.len() - line_start > WIDTH {
            text.push_str(",\n");
            line_start = text.len();
            text.push_str(&" ".repeat(title.len()));
        } else if index > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    text.push('\n');
    text
}

fn help(home: &Home, compat: Compat) -> String {
    let mut text = version(home, compat);
    text.push_str("\nSyntax: gpg-keyhoard [options] [files]\n");
    text.push_str("The options are gpg's; its manual page gpg(1) explains them.\n\nCommands:\n\n");
    let is_command =
        |row: &&Row| matches!(row.meaning, OptionAction::Command(_)) || row.name() == "fingerprint";
    let shown = || OPTIONS.iter().filter(|row| !row.help.is_empty());
    text.extend(shown().filter(is_command).map(help_line));
    text.push_str("\nOptions:\n\n");
    text.extend(shown().filter(|row| !is_command(row)).map(help_line));
    text
}

fn help_line(row: &Row) -> String {
    const WIDTH: usize = 34;
    let short = row.short.map_or("   ".to_owned(), |short| format!("-{},", char::from(short)));
    let (placeholder, help) = match row.help.strip_prefix('|').and_then(|help| help.split_once('|')) {
        Some((placeholder, help)) => (format!(" {placeholder}"), help),
        None => (String::new(), row.help),
    };
    let option = format!("{short} --{}{placeholder}", row.name());
    format!(" {option:WIDTH$} {help}\n")
}

fn warranty() -> String {
    "This program comes without any warranty, to the extent permitted by law.\n\
     It may be used, copied and changed under the MIT License or the Apache License 2.0.\n"
        .to_owned()
}

/// Lists every long option, but for those that are only ignored.
fn dump_options(program: Program, compat: Compat) -> String {
    let rows =
        rows(program, compat).into_iter().filter(|row| !matches!(row.meaning, OptionAction::IgnoredInFile));
    let names = rows.flat_map(|row| match program {
        Program::Gpg => row.names().collect(),
        Program::Gpgv => vec![row.name()],
    });
    names.map(|name| format!("--{name}\n")).collect()
}

/// Lists every long option as `NAME:NUMBER:FLAGS:HELP:`. Flags are gpg's; names with one number mean the same, and
/// the number is that of the short option, where there is one. Options that `gpgconf` shows stand below gpg's headings.
fn dump_option_table(program: Program, compat: Compat) -> String {
    const HEADING: u32 = 1 << 9;
    let rows: Vec<(usize, &Row)> = rows(program, compat).into_iter().enumerate().collect();
    let groups = if program == Program::Gpg { &GROUPS[..] } else { &[] };
    let is_shown = |row: &Row| groups.iter().any(|group| group.options.contains(&row.name()));
    let hidden = rows.iter().filter(|(_, row)| !is_shown(row));
    let mut lines: Vec<String> = hidden.map(|(index, row)| option_lines(*index, row, compat)).collect();
    for Group { heading, text, options } in groups {
        lines.push(format!("{heading}:1:{HEADING}:{text}:\n"));
        let named = options.iter().filter_map(|name| rows.iter().find(|(_, row)| row.name() == *name));
        lines.extend(named.map(|(index, row)| option_lines(*index, row, compat)));
    }
    lines.concat()
}

/// Returns a line for each name of an option.
fn option_lines(index: usize, row: &Row, compat: Compat) -> String {
    const FIRST_NUMBER: usize = 500;
    let number = row.short.map_or(FIRST_NUMBER + index, usize::from);
    let help = match row.help {
        "" => "@".to_owned(),
        help => help.replace('%', "%25").replace(':', "%3A"),
    };
    let flags = flags(row, compat);
    row.names().map(|name| format!("{name}:{number}:{flags}:{help}:\n")).collect()
}

/// Returns gpg's flags of an option.
fn flags(row: &Row, compat: Compat) -> u32 {
    const OPTIONAL: u32 = 1 << 3;
    const PREFIX: u32 = 1 << 4;
    let argument = match row.argument() {
        Argument::None => 0,
        Argument::Int => 1,
        Argument::Text => 2,
        Argument::OptionalText => 2 | OPTIONAL,
        Argument::Unsigned if row.name().starts_with("debug-") => 4,
        Argument::Unsigned => 4 | PREFIX,
    };
    argument
        | match row.meaning {
            OptionAction::IgnoredInFile => 1 << 6,
            OptionAction::Command(_) => 1 << 7,
            OptionAction::Inform(_) if compat >= Compat::V2_4 => 1 << 7,
            _ if row.name() == "fingerprint" => 1 << 7,
            OptionAction::OptionsFile | OptionAction::NoOptions => 1 << 8,
            _ => 0,
        }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn the_first_line_of_the_version_is_gpgs() {
        let text = version(&Home::find(Some(b"/h")), Compat::V2_4);
        assert_eq!(text.lines().next(), Some("gpg (GnuPG) 2.4.9"));
        assert!(
            text.contains("\nHome: /h\nDatabase: /h/keyhoard.db\nSupported algorithms:\nPubkey: RSA, ELG,")
        );
        assert!(text.contains("TWOFISH,\n        CAMELLIA128"), "{text}");
    }

    #[test]
    fn every_option_has_a_name_of_its_own() {
        let mut all: Vec<&str> = OPTIONS.iter().flat_map(Row::names).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
        let mut letters: Vec<u8> = OPTIONS.iter().filter_map(|row| row.short).collect();
        letters.sort_unstable();
        let count = letters.len();
        letters.dedup();
        assert_eq!(letters.len(), count);
    }
}
