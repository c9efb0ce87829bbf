//! `keyhoard key add-subkey`.

use engine::edit::NewSubkey;
use keygen::{Algorithm, Plan, Silent, Version, subkey};
use sign::KeyFlags;

use super::editing::EditedKey;
use crate::exit::Outcome;
use crate::expiry::Expiry;
use crate::session::Session;

/// The arguments of `keyhoard key add-subkey`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key add-subkey ann@example.org --for sign --expires 2y
  keyhoard key add-subkey ann@example.org --for encrypt --algorithm rsa3072

The new key is locked with the passphrase of the primary key.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    key: EditedKey,

    /// What the subkey is for; can be given several times.
    #[arg(long = "for", value_name = "PURPOSE", value_enum, required = true, value_delimiter = ',')]
    purposes: Vec<Purpose>,

    /// What it is made of: curve25519, curve448, nistp256, brainpoolp256r1, rsa3072, ml-kem-768+x25519 and the like.
    #[arg(long, value_name = "ALGORITHM", default_value = "curve25519", value_parser = Algorithm::parse)]
    algorithm: Algorithm,

    /// When it expires, as in `keyhoard key set-expiry`.
    #[arg(long, value_name = "WHEN", default_value = "never")]
    expires: Expiry,
}

/// What a subkey is for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Purpose {
    /// It signs data.
    Sign,
    /// Others encrypt to it.
    Encrypt,
    /// It authenticates its owner, as an SSH key does.
    Authenticate,
}

/// Makes a subkey and adds it.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let end = editing.future(arguments.expires)?;
    let flags = arguments.purposes.iter().fold(KeyFlags::default(), |flags, purpose| {
        flags
            | match purpose {
                Purpose::Sign => KeyFlags::SIGN,
                Purpose::Encrypt => KeyFlags::ENCRYPT,
                Purpose::Authenticate => KeyFlags::AUTHENTICATE,
            }
    });
    let plan = Plan::new(arguments.algorithm, flags)?;
    let version = Version::of_primary(editing.key.version())?;
    let new = NewSubkey { key: subkey(version, &plan, session.now, &mut Silent)?, flags, end };
    let what = format!("subkey {} added", new.key.fingerprint());
    let edited = editing.edit(|editor, key| editor.add_subkey(key, new))?;
    editing.print(session, &what, edited)
}
