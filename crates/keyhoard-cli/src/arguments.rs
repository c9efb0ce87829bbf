//! The command line. Help texts, shell completions and man pages are generated from it.

use clap::{Parser, Subcommand};

use crate::commands::{
    bench, check, completions, copy, db, decrypt, delete, doctor, encrypt, export, fetch, generate, import,
    key, list, log, man, migrate, policy, publish, refresh, search, show, sign, signed_by, sop, sql, status,
    tofu, trust, undo, verify, who_signed,
};
use crate::global_options::GlobalOptions;

/// A fast OpenPGP certificate database.
///
/// Imports certificates once, verifies every signature once, and answers every later question in milliseconds.
#[derive(Debug, Parser)]
#[command(name = "keyhoard", version, after_help = AFTER_HELP, max_term_width = 80)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    /// `None` asks for the status, on a terminal.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the database, your own keys, and what expires soon.
    Status(status::Arguments),
    /// Import certificates from files or standard input.
    Import(import::Arguments),
    /// Write certificates to a file, a pipe or the terminal.
    Export(export::Arguments),
    /// Make a key.
    #[command(aliases = ["gen-key", "generate-key"])]
    Generate(generate::Arguments),
    /// List certificates with their keys and user IDs.
    #[command(visible_alias = "ls", alias = "list-keys")]
    List(list::Arguments),
    /// Show everything that is known about certificates.
    #[command(alias = "fingerprint")]
    Show(show::Arguments),
    /// Find certificates by texts in their user IDs.
    #[command(visible_alias = "find")]
    Search(search::Arguments),
    /// Find certificates in the network and import them.
    #[command(aliases = ["recv-keys", "receive-keys", "locate-keys"])]
    Fetch(fetch::Arguments),
    /// Ask keyservers for updates of certificates in the database.
    #[command(alias = "refresh-keys")]
    Refresh(refresh::Arguments),
    /// Send certificates to a keyserver, or write a Web Key Directory.
    #[command(alias = "send-keys")]
    Publish(publish::Arguments),
    /// Verify certifications, and store the verdicts.
    Check(check::Arguments),
    /// List who certified certificates, verified.
    WhoSigned(who_signed::Arguments),
    /// List whom keys certified, verified.
    SignedBy(signed_by::Arguments),
    /// Encrypt with a password, or to certificates.
    Encrypt(Box<encrypt::Arguments>),
    /// Decrypt a message.
    Decrypt(decrypt::Arguments),
    /// Sign a file, a text or a message.
    Sign(sign::Arguments),
    /// Verify signatures: who signed it, and was it changed?
    Verify(Box<verify::Arguments>),
    /// Show which hash algorithms, ciphers and keys are accepted for what.
    Policy(policy::Arguments),
    /// Remove certificates.
    #[command(visible_alias = "rm")]
    Delete(delete::Arguments),
    /// Manage your own keys, and certify those of others.
    Key(key::Arguments),
    /// Show what changed the database, newest first.
    Log(log::Arguments),
    /// Undo what an earlier command did.
    Undo(undo::Arguments),
    /// Create the database, describe it, migrate its tables.
    Db(db::Arguments),
    /// Copy a whole database into another one, a file or a server's.
    Copy(copy::Arguments),
    /// Check the database, and rebuild what can be derived.
    Doctor(doctor::Arguments),
    /// Run a read-only SQL statement.
    Sql(sql::Arguments),
    /// Set and show owner trust, and explain why user IDs are valid.
    Trust(trust::Arguments),
    /// Show which keys came with which addresses, and decide about them.
    Tofu(tofu::Arguments),
    /// Copy the keys of GnuPG and other programs.
    Migrate(migrate::Arguments),
    /// Measure every OpenPGP program on this machine, side by side.
    Bench(bench::Arguments),
    /// Work on files only: the Stateless OpenPGP interface (SOP).
    Sop(sop::Arguments),
    /// Write a completion script for a shell.
    Completions(completions::Arguments),
    /// Write the man pages.
    Man(man::Arguments),
}

/// Returns whether `--json` is among the arguments, which could not be parsed.
pub(crate) fn is_json_requested() -> bool {
    std::env::args_os().skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

const AFTER_HELP: &str = "\
Certificates are named as with gpg: by fingerprint, key ID, <mail@address>, @part-of-an-address, =Exact User ID, \
&keygrip, or any part of a user ID.

Exit codes: 0 done; 1 a name was not found, or nothing usable was found; 2 an error, or invalid arguments. \
`keyhoard verify` has more of its own.

Examples:
  keyhoard import /usr/share/keyrings/debian-keyring.gpg
  keyhoard list --signatures '<someone@debian.org>'
  keyhoard export --output friends.asc --armor someone@debian.org 0123456789ABCDEF
  keyhoard log, then: keyhoard undo";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example_in_its_help() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:"), "keyhoard {} --help", command.get_name());
        }
    }
}
