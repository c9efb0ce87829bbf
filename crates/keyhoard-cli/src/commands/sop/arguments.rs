//! The subcommands of the interface, and their options.

use std::ffi::OsString;

use super::date::Date;

/// The arguments of `keyhoard sop`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard sop generate-key 'Ann <ann@example.org>' > ann.key
  keyhoard sop extract-cert < ann.key > ann.cert
  keyhoard sop sign ann.key < letter > letter.sig
  keyhoard sop verify letter.sig ann.cert < letter
  keyhoard sop encrypt ann.cert < letter > letter.pgp
  keyhoard sop decrypt ann.key < letter.pgp

The database is neither read nor changed. Files can also be named @ENV:NAME, the content of an environment variable, and \
@FD:NUMBER, an open file descriptor. The exit codes are those of the interface.")]
pub(crate) struct Arguments {
    /// Accepted, and changes nothing.
    #[arg(long, global = true)]
    debug: bool,

    #[command(subcommand)]
    pub(super) subcommand: Subcommand,
}

/// The subcommands.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Subcommand {
    /// Print the name and version of this program.
    Version(Version),
    /// List the profiles of generate-key or encrypt.
    ListProfiles {
        /// The subcommand.
        subcommand: String,
    },
    /// Make a key.
    GenerateKey(GenerateKey),
    /// Lock the keys on standard input with another password.
    ChangeKeyPassword(ChangeKeyPassword),
    /// Make revoked certificates of the keys on standard input.
    RevokeKey(RevokeKey),
    /// Make certificates of the keys on standard input.
    ExtractCert(Form),
    /// Bring the keys on standard input up to date.
    UpdateKey(UpdateKey),
    /// Merge copies into the certificates on standard input.
    MergeCerts(MergeCerts),
    /// Certify user IDs of the certificates on standard input.
    CertifyUserid(CertifyUserid),
    /// Check that an authority certified each certificate.
    ValidateUserid(ValidateUserid),
    /// Sign standard input: the signatures alone.
    Sign(Sign),
    /// Verify signatures over standard input.
    Verify(Verify),
    /// Encrypt standard input.
    Encrypt(Encrypt),
    /// Decrypt the message on standard input.
    Decrypt(Box<Decrypt>),
    /// Put armor around packets.
    Armor,
    /// Take the armor off.
    Dearmor,
    /// Take the signatures off a signed message.
    InlineDetach(InlineDetach),
    /// Verify a signed message, and write what is signed.
    InlineVerify(InlineVerify),
    /// Sign standard input into a message that holds it.
    InlineSign(InlineSign),
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(super) struct Version {
    /// Print the names and versions of the cryptographic libraries.
    #[arg(long)]
    pub(super) backend: bool,
    /// Print more, in no fixed format.
    #[arg(long)]
    pub(super) extended: bool,
    /// Print the version of the interface.
    #[arg(long)]
    pub(super) sop_spec: bool,
    /// Print the version of the subset that only verifies.
    #[arg(long)]
    pub(super) sopv: bool,
}

/// How packets are written.
#[derive(Debug, clap::Args)]
pub(super) struct Form {
    /// Write packets without armor.
    #[arg(long)]
    pub(super) no_armor: bool,
}

/// What unlocks secret keys.
#[derive(Debug, clap::Args)]
pub(super) struct KeyPasswords {
    /// A file with a password of the secret keys; may be given again.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) with_key_password: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct GenerateKey {
    #[command(flatten)]
    pub(super) form: Form,
    /// The profile of the key; list-profiles lists the profiles.
    #[arg(long, default_value = "default")]
    pub(super) profile: String,
    /// Make a key that nobody can encrypt to.
    #[arg(long)]
    pub(super) signing_only: bool,
    /// A file with a password to lock it with.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) with_key_password: Option<OsString>,
    /// The user IDs.
    #[arg(value_name = "USERID")]
    pub(super) user_ids: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ChangeKeyPassword {
    #[command(flatten)]
    pub(super) form: Form,
    /// A file with the new password; without, the keys are unlocked.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) new_key_password: Option<OsString>,
    /// A file with an old password; may be given again.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) old_key_password: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct RevokeKey {
    #[command(flatten)]
    pub(super) form: Form,
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
}

#[derive(Debug, clap::Args)]
pub(super) struct UpdateKey {
    #[command(flatten)]
    pub(super) form: Form,
    /// Add no subkey to encrypt to.
    #[arg(long)]
    pub(super) signing_only: bool,
    /// Do not add features to the key that the owner's program supports.
    #[arg(long)]
    pub(super) no_added_capabilities: bool,
    /// Revoke RSA, DSA and Elgamal subkeys below 2048 bits.
    #[arg(long)]
    pub(super) revoke_deprecated_keys: bool,
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
    /// Add what this copy of the certificates has; may be given again.
    #[arg(long, value_name = "CERTS")]
    pub(super) merge_certs: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct MergeCerts {
    #[command(flatten)]
    pub(super) form: Form,
    /// Other copies of the certificates.
    #[arg(value_name = "CERTS")]
    pub(super) certs: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct CertifyUserid {
    #[command(flatten)]
    pub(super) form: Form,
    /// The user ID; may be given again.
    #[arg(long, required = true, value_name = "USERID")]
    pub(super) userid: Vec<String>,
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
    /// Certify also user IDs without a self-signature.
    #[arg(long)]
    pub(super) no_require_self_sig: bool,
    /// The keys that certify.
    #[arg(required = true, value_name = "KEYS")]
    pub(super) keys: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ValidateUserid {
    /// The user ID is a mail address, whatever else the certificate's user ID contains.
    #[arg(long)]
    pub(super) addr_spec_only: bool,
    /// As of this time.
    #[arg(long, value_name = "DATE", default_value = "now")]
    pub(super) validate_at: Date,
    /// The user ID.
    #[arg(value_name = "USERID")]
    pub(super) user_id: String,
    /// The certificates of the authorities.
    #[arg(required = true, value_name = "CERTS")]
    pub(super) authorities: Vec<OsString>,
}

/// The keys that sign, and what unlocks them.
#[derive(Debug, clap::Args)]
pub(super) struct SigningKeys {
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
    /// The keys that sign.
    #[arg(required = true, value_name = "KEYS")]
    pub(super) keys: Vec<OsString>,
}

/// What data are signed or encrypted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DataKind {
    /// Bytes.
    Binary,
    /// UTF-8 text, however its lines end.
    Text,
}

#[derive(Debug, clap::Args)]
pub(super) struct Sign {
    #[command(flatten)]
    pub(super) form: Form,
    /// The type of the data.
    #[arg(long = "as", value_name = "KIND", default_value = "binary")]
    pub(super) kind: DataKind,
    /// Write the name of the hash algorithm to this file, as multipart/signed needs it.
    #[arg(long, value_name = "MICALG")]
    pub(super) micalg_out: Option<OsString>,
    #[command(flatten)]
    pub(super) signers: SigningKeys,
}

/// When signatures must have been made.
#[derive(Debug, clap::Args)]
pub(super) struct DateLimits {
    /// Take no signatures made before this.
    #[arg(long, value_name = "DATE", default_value = "-")]
    pub(super) not_before: Date,
    /// Take no signatures made after this.
    #[arg(long, value_name = "DATE", default_value = "now")]
    pub(super) not_after: Date,
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    #[command(flatten)]
    pub(super) date_limits: DateLimits,
    /// The signatures.
    #[arg(value_name = "SIGNATURES")]
    pub(super) signatures: OsString,
    /// The certificates of those who may have signed.
    #[arg(required = true, value_name = "CERTS")]
    pub(super) certs: Vec<OsString>,
}

/// What is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PurposeKind {
    /// Both.
    Any,
    /// Stored data.
    Storage,
    /// Messages.
    Communications,
}

#[derive(Debug, clap::Args)]
pub(super) struct Encrypt {
    #[command(flatten)]
    pub(super) form: Form,
    /// The type of the data.
    #[arg(long = "as", value_name = "KIND", default_value = "binary")]
    pub(super) kind: DataKind,
    /// The profile of the message; list-profiles lists the profiles.
    #[arg(long, default_value = "default")]
    pub(super) profile: String,
    /// The purpose of the message; only keys for this purpose are encrypted to.
    #[arg(long = "for", value_name = "PURPOSE", default_value = "any")]
    pub(super) purpose: PurposeKind,
    /// A file with a password that opens the message; may be given again.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) with_password: Vec<OsString>,
    /// Sign it with these keys too; may be given again.
    #[arg(long, value_name = "KEYS")]
    pub(super) sign_with: Vec<OsString>,
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
    /// Write the session key to this file.
    #[arg(long, value_name = "SESSIONKEY")]
    pub(super) session_key_out: Option<OsString>,
    /// Encrypt to these certificates.
    #[arg(value_name = "CERTS")]
    pub(super) certs: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Decrypt {
    /// Write the session key to this file.
    #[arg(long, value_name = "SESSIONKEY")]
    pub(super) session_key_out: Option<OsString>,
    /// A file with the session key; may be given again.
    #[arg(long, value_name = "SESSIONKEY")]
    pub(super) with_session_key: Vec<OsString>,
    /// A file with a password of the message; may be given again.
    #[arg(long, value_name = "PASSWORD")]
    pub(super) with_password: Vec<OsString>,
    /// List the valid signatures in this file.
    #[arg(long, value_name = "VERIFICATIONS", alias = "verify-out")]
    pub(super) verifications_out: Option<OsString>,
    /// The certificates of those who may have signed; may be given again.
    #[arg(long, value_name = "CERTS")]
    pub(super) verify_with: Vec<OsString>,
    /// Take no signatures made before this.
    #[arg(long, value_name = "DATE")]
    pub(super) verify_not_before: Option<Date>,
    /// Take no signatures made after this [default: now].
    #[arg(long, value_name = "DATE")]
    pub(super) verify_not_after: Option<Date>,
    #[command(flatten)]
    pub(super) key_passwords: KeyPasswords,
    /// The keys.
    #[arg(value_name = "KEYS")]
    pub(super) keys: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct InlineDetach {
    #[command(flatten)]
    pub(super) form: Form,
    /// Write the signatures to this file.
    #[arg(long, required = true, value_name = "SIGNATURES")]
    pub(super) signatures_out: OsString,
}

#[derive(Debug, clap::Args)]
pub(super) struct InlineVerify {
    #[command(flatten)]
    pub(super) date_limits: DateLimits,
    /// List the valid signatures in this file.
    #[arg(long, value_name = "VERIFICATIONS")]
    pub(super) verifications_out: Option<OsString>,
    /// The certificates of those who may have signed.
    #[arg(required = true, value_name = "CERTS")]
    pub(super) certs: Vec<OsString>,
}

/// What data are signed as in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum InlineKind {
    /// Bytes.
    Binary,
    /// UTF-8 text, however its lines end.
    Text,
    /// Text that everybody can read, with the signatures behind it.
    #[value(name = "clearsigned")]
    ClearSigned,
}

#[derive(Debug, clap::Args)]
pub(super) struct InlineSign {
    #[command(flatten)]
    pub(super) form: Form,
    /// The type of the data.
    #[arg(long = "as", value_name = "KIND", default_value = "binary")]
    pub(super) kind: InlineKind,
    #[command(flatten)]
    pub(super) signers: SigningKeys,
}
