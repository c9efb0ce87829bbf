//! OpenPGP with a certificate database: certificates, trust, messages and secret keys in one process.
//!
//! # Five programs
//!
//! Import, and look up:
//!
//! ```
//! fn main() -> keyhoard::Result<()> {
//!     let (yours, mine) = (keyhoard::Keyhoard::in_memory()?, keyhoard::Keyhoard::open(":memory:")?);
//!     let ann = yours.generate("Ann <ann@example.org>").create()?;
//!     println!("{} new", mine.import(ann.armored()?.as_bytes())?.new);
//!     for cert in mine.certs().by_email("ann@example.org")? {
//!         println!("{cert}, validity {}", cert.validity()?);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Verify data against the database, and say how sure it is whose signature that is:
//!
//! ```
//! fn main() -> keyhoard::Result<()> {
//!     let kh = keyhoard::Keyhoard::in_memory()?;
//!     let ann = kh.generate("Ann <ann@example.org>").create()?;
//!     let signature = kh.sign().with(&ann).detached(&b"release 1.0"[..])?;
//!     let verdicts = kh.verify().detached(&signature[..], &b"release 1.0"[..])?;
//!     assert!(verdicts.are_certain(), "{verdicts}");
//!     Ok(())
//! }
//! ```
//!
//! Encrypt to an address, and sign:
//!
//! ```
//! fn main() -> keyhoard::Result<()> {
//!     let kh = keyhoard::Keyhoard::in_memory()?;
//!     let ann = kh.generate("Ann <ann@example.org>").create()?;
//!     let encrypt = kh.encrypt().to_email("ann@example.org").sign_with(&ann).armor();
//!     encrypt.stream(&b"Hello, Ann!"[..], std::io::stdout())?;
//!     Ok(())
//! }
//! ```
//!
//! Decrypt:
//!
//! ```
//! fn main() -> keyhoard::Result<()> {
//!     let kh = keyhoard::Keyhoard::in_memory()?;
//!     let ann = kh.generate("Ann <ann@example.org>").passphrase("open sesame").create()?;
//!     let message = kh.encrypt().to(&ann).bytes("Hello, Ann!")?;
//!     let (text, decrypted) = kh.decrypt().passphrase("open sesame").bytes(&message)?;
//!     println!("{} with {}", String::from_utf8_lossy(&text), decrypted.cipher);
//!     Ok(())
//! }
//! ```
//!
//! Make a key:
//!
//! ```
//! fn main() -> keyhoard::Result<()> {
//!     let kh = keyhoard::Keyhoard::in_memory()?;
//!     let key = kh.generate("Ann <ann@example.org>").profile("modern").create()?;
//!     println!("{key} expires {:?}", key.expires());
//!     Ok(())
//! }
//! ```
//!
//! `Keyhoard::open("keys.db")` opens a file, which the programs `keyhoard` and `gpg-keyhoard` open too, and with the
//! feature `postgres` `Keyhoard::open("postgresql://...")` a database on a server.
//!
//! # What holds everywhere
//!
//! - Nothing reads a configuration file or a terminal, starts a program or changes a thread's priority, or reads the
//!   environment, but for `RAYON_NUM_THREADS` (the number of threads) and `TMPDIR` (where temporary files are).
//! - The clock and the source of passphrases are options: [`Keyhoard::options`].
//! - Whose a certificate is, the web of trust says, from the keys that the user owns ([`Keyhoard::set_owner_trust`]; a key
//!   that is made here is the user's own). An address is encrypted to only if that is certain.
//! - Foreign data cause errors and no panics, and cost bounded time and memory; streams take constant memory.
//! - Every change has an entry in the [journal](Keyhoard::journal), and can be [undone](Keyhoard::undo).
//! - [`Error::code`] stays the same for ever, and so do the names of [`Status`].
//!
//! # Features
//!
//! SQLite is always there. None of these is on unless it is asked for:
//!
//! - `postgres`: databases on PostgreSQL servers.
//! - `network`: `Keyhoard::fetch`, certificates from keyservers, Web Key Directories and URLs.
//! - `agent`: `OpenOptions::gnupg_home`, the secret keys that a running gpg-agent has, also those on cards.

mod cert;
mod cert_signature;
mod certs;
mod decrypt;
mod edit;
mod encrypt;
mod error;
#[cfg(feature = "network")]
mod fetch;
mod generate;
mod handle;
mod imported;
mod journal;
mod keyhoard;
mod keys;
mod location;
mod open;
mod passphrase;
mod sign;
mod signers;
mod time;
mod transaction;
mod unlocking;
mod validity;
mod verdict;
mod verify;

pub use crate::keyhoard::Keyhoard;
pub use cert::{Cert, Key, UserId};
pub use cert_signature::CertSignature;
pub use certs::Certs;
pub use decrypt::{Decrypt, Decrypted};
pub use edit::{AddSubkey, Certify, SubkeyUse};
pub use encrypt::Encrypt;
pub use engine::cert::{Fingerprint, KeyId};
pub use engine::trust::{OwnerTrust, Validity};
pub use engine::verification::SignatureStatus as Status;
pub use error::{Error, Result};
#[cfg(feature = "network")]
pub use fetch::Fetch;
pub use generate::Generate;
pub use imported::Imported;
pub use journal::{JournalEntry, Undone};
pub use keys::{Keys, SecretKey};
pub use location::Location;
pub use open::OpenOptions;
pub use passphrase::{Passphrase, PassphraseRequest};
pub use sign::Sign;
pub use transaction::Transaction;
pub use validity::{UserIdValidity, ValidityReport};
pub use verdict::{Verdict, Verdicts};
pub use verify::Verify;

/// The guide for users, whose program is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/first-program.md")]
struct FirstProgram;
