//! `keyhoard sop`: the Stateless OpenPGP interface (draft-dkg-openpgp-stateless-cli), on files and memory only.
//!
//! - [`arguments`]: subcommands and options; [`date`]: times.
//! - [`designator`]: what it reads and writes: standard input and output, and what the arguments name.
//! - [`keys`]: keys, certificates and user IDs; [`data`]: signatures, messages and armor.

mod arguments;
mod data;
mod date;
mod designator;
mod keys;

use std::ffi::OsStr;
use std::io::Write;

use clap::error::ErrorKind;
use engine::stateless::{Failure, Kind, Profile, Result, key_profiles};

pub(crate) use arguments::Arguments;
use arguments::{Subcommand, Version};
use designator::standard_output;

use crate::exit::Outcome;
use crate::session::Session;

/// The version of the interface; `~` because not all of it is implemented.
const SPECIFICATION: &str = "~draft-dkg-openpgp-stateless-cli-15";
/// The version of the subset that only verifies (sopv).
const VERIFICATION_SUBSET: &str = "1.0";

/// Runs a subcommand.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let now = session.now;
    match &arguments.subcommand {
        Subcommand::Version(version) => print(&version.lines()),
        Subcommand::ListProfiles { subcommand } => print(&profiles(subcommand)?),
        Subcommand::GenerateKey(arguments) => keys::generate_key(arguments, now),
        Subcommand::ChangeKeyPassword(arguments) => keys::change_key_password(arguments),
        Subcommand::RevokeKey(arguments) => keys::revoke_key(arguments, now),
        Subcommand::ExtractCert(form) => keys::extract_cert(form),
        Subcommand::UpdateKey(arguments) => keys::update_key(arguments, now),
        Subcommand::MergeCerts(arguments) => keys::merge_certs(arguments),
        Subcommand::CertifyUserid(arguments) => keys::certify_userid(arguments, now),
        Subcommand::ValidateUserid(arguments) => keys::validate_userid(arguments, now),
        Subcommand::Sign(arguments) => data::sign(arguments, now),
        Subcommand::Verify(arguments) => data::verify(arguments, now),
        Subcommand::Encrypt(arguments) => data::encrypt(arguments, now),
        Subcommand::Decrypt(arguments) => data::decrypt(arguments, now),
        Subcommand::Armor => data::armor(),
        Subcommand::Dearmor => data::dearmor(),
        Subcommand::InlineDetach(arguments) => data::inline_detach(arguments),
        Subcommand::InlineVerify(arguments) => data::inline_verify(arguments, now),
        Subcommand::InlineSign(arguments) => data::inline_sign(arguments, now),
    }?;
    Ok(Outcome::Done)
}

impl Version {
    fn lines(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        match self {
            Self { extended: true, .. } => {
                format!("keyhoard {version}\naws-lc and OpenSSL for cryptography\n")
            }
            Self { sop_spec: true, .. } => format!("{SPECIFICATION}\n"),
            Self { sopv: true, .. } => format!("{VERIFICATION_SUBSET}\n"),
            _ => format!("keyhoard {version}\n"),
        }
    }
}

fn profiles(subcommand: &str) -> Result<String> {
    Ok(match subcommand {
        "generate-key" => key_profiles().map(|(name, text)| format!("{name}: {text}\n")).collect(),
        "encrypt" => Profile::ALL.iter().map(|(_, name, text)| format!("{name}: {text}\n")).collect(),
        _ => return Err(Failure::new(Kind::UnsupportedProfile, format!("{subcommand}: it has no profiles"))),
    })
}

fn print(text: &str) -> Result<()> {
    Ok(standard_output()?.write_all(text.as_bytes())?)
}

/// Returns whether the command line is one of this interface, even an invalid one.
pub(crate) fn is_requested() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.find(|argument| !argument.as_encoded_bytes().starts_with(b"-")).as_deref()
        == Some(OsStr::new("sop"))
}

/// Returns the failure of the interface for an invalid command line.
pub(crate) fn misunderstood(error: &clap::Error) -> Kind {
    match error.kind() {
        ErrorKind::InvalidSubcommand => Kind::UnsupportedSubcommand,
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues => Kind::MissingArg,
        ErrorKind::ArgumentConflict => Kind::IncompatibleOptions,
        ErrorKind::InvalidUtf8 => Kind::ExpectedText,
        _ => Kind::UnsupportedOption,
    }
}
