//! `keyhoard key set-preferences`.

use anyhow::bail;
use engine::edit::NewPreferences;
use engine::message::{Aead, Cipher, Compression};
use engine::verify::HashAlgorithm;

use super::editing::EditedKey;
use crate::exit::Outcome;
use crate::naming::hash_algorithm_named;
use crate::session::Session;

/// The arguments of `keyhoard key set-preferences`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key set-preferences ann@example.org --ciphers aes256,aes128 --digests sha512,sha256
  keyhoard key set-preferences ann@example.org --aead aes256-ocb,aes128-ocb

Each list begins with the most preferred one; lists that are not given stay unchanged. `keyhoard show` shows them.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    /// The ciphers for messages that every program reads.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = cipher)]
    ciphers: Option<Vec<Cipher>>,

    /// The hash algorithms of signatures.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = hash_algorithm_named)]
    digests: Option<Vec<HashAlgorithm>>,

    /// The compressions.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = compression)]
    compressions: Option<Vec<Compression>>,

    /// The ciphers and modes for messages as in RFC 9580; also says that your program reads these.
    #[arg(long, value_name = "CIPHER-MODE", value_delimiter = ',', value_parser = ciphersuite, conflicts_with = "no_aead")]
    aead: Option<Vec<(u8, u8)>>,

    /// Say that your program does not read such messages.
    #[arg(long)]
    no_aead: bool,
}

/// Sets the preferences.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let numbers = |ciphers: &Vec<Cipher>| ciphers.iter().map(|cipher| cipher.number()).collect();
    let preferences = NewPreferences {
        ciphers: arguments.ciphers.as_ref().map(numbers),
        digests: arguments.digests.clone(),
        compressions: arguments
            .compressions
            .as_ref()
            .map(|compressions| compressions.iter().map(|compression| compression.number()).collect()),
        ciphersuites: arguments.aead.clone().or(arguments.no_aead.then(Vec::new)),
    };
    if preferences.is_empty() {
        bail!("say what to set: --ciphers, --digests, --compressions, --aead or --no-aead");
    }
    let editing = arguments.key.editing(session)?;
    let edited = editing.edit(|editor, key| editor.set_preferences(key, &preferences))?;
    editing.print(session, "preferences set", edited)
}

fn cipher(name: &str) -> Result<Cipher, String> {
    let names = || Cipher::ALL.map(Cipher::name).join(", ");
    Cipher::named(name).ok_or_else(|| format!("the ciphers are {}", names()))
}

fn compression(name: &str) -> Result<Compression, String> {
    let names = || Compression::ALL.map(Compression::name).join(", ");
    Compression::named(name).ok_or_else(|| format!("the compressions are {}", names()))
}

/// Reads a cipher with blocks of 128 bits and a mode, such as `aes256-ocb`.
fn ciphersuite(name: &str) -> Result<(u8, u8), String> {
    let pair = name.rsplit_once('-').and_then(|(cipher, mode)| {
        let cipher = Cipher::named(cipher).filter(|cipher| !cipher.is_old())?;
        Some((cipher.number(), Aead::named(mode)?.number()))
    });
    pair.ok_or_else(|| {
        "expected a cipher and a mode such as aes256-ocb, aes128-gcm or camellia256-eax".to_owned()
    })
}
