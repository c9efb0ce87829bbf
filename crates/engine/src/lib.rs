//! What the commands of Keyhoard do: one function for each. The program `keyhoard`, `gpg-keyhoard` and the library
//! `keyhoard` are fronts of this crate.
//!
//! # Five examples
//!
//! Opens a database and finds certificates by mail address:
//!
//! ```
//! # use keyhoard_engine::generate::{KeyDestination, Silent, generate, revocations_beside};
//! # use keyhoard_engine::{keygen::Profile, secret::file::FileKeys};
//! # let home = tempfile::tempdir()?;
//! # let path = home.path().join("keyhoard.db");
//! # let now = keyhoard_engine::cert::Timestamp(1_767_225_600);
//! # {
//! #     let (store, secrets) = (keyhoard_engine::database::create(&path)?, FileKeys::beside(&path));
//! #     let mut profile = Profile::named("compatible").expect("it is always there");
//! #     profile.user_ids = vec![b"Ann <ann@example.org>".to_vec()];
//! #     let revocations = Some(revocations_beside(&path));
//! #     let destination = KeyDestination { store: store.as_ref(), secrets: &secrets, revocations, certificate: None, owner_trust: keyhoard_engine::import::NewOwnerTrust::Ultimate };
//! #     generate(&destination, &profile, None, "example", now, &mut Silent)?;
//! # }
//! use keyhoard_engine::store::{Detail, Selection};
//! use keyhoard_engine::{database, find::find};
//! use std::ops::ControlFlow;
//!
//! let store = database::open(&path)?;
//! let snapshot = store.snapshot()?;
//! let found = find(snapshot.as_ref(), &["<ann@example.org>"])?;
//! # assert_eq!(found.ids.len(), 1);
//! snapshot.visit(Selection::Ids(&found.ids), Detail::Own, &mut |record| {
//!     println!("{}", record.fingerprint);
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Makes a key from a profile, and keeps it without a passphrase:
//!
//! ```
//! # let home = tempfile::tempdir()?;
//! # let path = home.path().join("keyhoard.db");
//! # let now = keyhoard_engine::cert::Timestamp(1_767_225_600);
//! use keyhoard_engine::generate::{KeyDestination, Silent, generate, revocations_beside};
//! use keyhoard_engine::{database, keygen::Profile, secret::file::FileKeys};
//!
//! let (store, secrets) = (database::create(&path)?, FileKeys::beside(&path));
//! let mut profile = Profile::named("modern").expect("a profile that is always there");
//! profile.user_ids = vec![b"Ann <ann@example.org>".to_vec()];
//! let revocations = Some(revocations_beside(&path));
//! let destination = KeyDestination { store: store.as_ref(), secrets: &secrets, revocations, certificate: None, owner_trust: keyhoard_engine::import::NewOwnerTrust::Ultimate };
//! let made = generate(&destination, &profile, None, "my program", now, &mut Silent)?;
//! println!("{}", made.primary);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Encrypts a stream with a password and a cipher of one's choice:
//!
//! ```
//! # let (mut input, mut output) = (&b"a stream"[..], Vec::new());
//! use keyhoard_engine::message::{NoSigner, Cipher, DEFAULT_HASH, Encryption, MessageRecipients, S2k, encrypt};
//!
//! let password = (b"open sesame".to_vec().into(), S2k::iterated(DEFAULT_HASH, 1 << 20)?);
//! let for_whom = MessageRecipients { passwords: vec![password], ..MessageRecipients::default() };
//! let encryption = Encryption { cipher: Cipher::Camellia256, ..Encryption::default() };
//! encrypt(&mut input, &mut output, &for_whom, &encryption, &mut NoSigner)?;
//! # assert!(output.len() > 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Encrypts to a recipient from the database who is certain, and signs:
//!
//! ```
//! # use keyhoard_engine::generate::{KeyDestination, Silent, generate, revocations_beside};
//! # use keyhoard_engine::{keygen::Profile, secret::file::FileKeys};
//! # let home = tempfile::tempdir()?;
//! # let path = home.path().join("keyhoard.db");
//! # let now = keyhoard_engine::cert::Timestamp(1_767_225_600);
//! # {
//! #     let (store, secrets) = (keyhoard_engine::database::create(&path)?, FileKeys::beside(&path));
//! #     let mut profile = Profile::named("compatible").expect("it is always there");
//! #     profile.user_ids = vec![b"Ann <ann@example.org>".to_vec()];
//! #     let revocations = Some(revocations_beside(&path));
//! #     let destination = KeyDestination { store: store.as_ref(), secrets: &secrets, revocations, certificate: None, owner_trust: keyhoard_engine::import::NewOwnerTrust::Ultimate };
//! #     generate(&destination, &profile, None, "example", now, &mut Silent)?;
//! # }
//! # let (mut input, mut output) = (&b"a stream"[..], Vec::new());
//! use keyhoard_engine::cert::{effective::PacketView, facts::SignatureType};
//! use keyhoard_engine::message::{Encryption, MessageRecipients, Recipient, SignatureRequest, Signing, encrypt};
//! use keyhoard_engine::secret::{Signer, ask::Nobody};
//! use keyhoard_engine::sign::{Builder, hash_for};
//! use keyhoard_engine::{database, find, recipients::candidates, signing_keys::signing_key};
//! use keyhoard_engine::{trust::Validity, validity::TrustSettings};
//!
//! let (store, secrets) = (database::open(&path)?, FileKeys::beside(&path));
//! let snapshot = store.snapshot()?;
//! let name = find::query(b"<ann@example.org>")?;
//! let trust = TrustSettings::new(now, PacketView::Full);
//! let found = candidates(snapshot.as_ref(), &name, &trust)?;
//! let certain = found.iter().find(|recipient| recipient.validity >= Validity::Full);
//! let key = certain.and_then(|recipient| recipient.key.as_ref()).ok_or("nobody is certain")?;
//! let recipients = vec![Recipient { public: &key.public, is_hidden: false }];
//! let for_whom = MessageRecipients { recipients, ..MessageRecipients::default() };
//!
//! let ann = find::find(snapshot.as_ref(), &["<ann@example.org>"])?.ids[0];
//! let signer = signing_key(snapshot.as_ref(), ann, &secrets, now)?;
//! let mut signer = signer.ok_or("no key to sign with")?.open(&secrets, &mut Nobody)?;
//! let hash = hash_for(&Signer::key(&*signer));
//! let builder = Builder::new(SignatureType::BINARY, hash, now);
//! let mut signing = Signing::new(vec![SignatureRequest { key: signer.as_mut(), builder }])?;
//! encrypt(&mut input, &mut output, &for_whom, &Encryption::default(), &mut signing)?;
//! # assert!(output.len() > 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Verifies a detached signature, and says how sure it is whose it is:
//!
//! ```
//! # use keyhoard_engine::generate::{KeyDestination, Silent, generate, revocations_beside};
//! # use keyhoard_engine::{keygen::Profile, secret::file::FileKeys};
//! # let home = tempfile::tempdir()?;
//! # let path = home.path().join("keyhoard.db");
//! # let now = keyhoard_engine::cert::Timestamp(1_767_225_600);
//! # {
//! #     let (store, secrets) = (keyhoard_engine::database::create(&path)?, FileKeys::beside(&path));
//! #     let mut profile = Profile::named("compatible").expect("it is always there");
//! #     profile.user_ids = vec![b"Ann <ann@example.org>".to_vec()];
//! #     let revocations = Some(revocations_beside(&path));
//! #     let destination = KeyDestination { store: store.as_ref(), secrets: &secrets, revocations, certificate: None, owner_trust: keyhoard_engine::import::NewOwnerTrust::Ultimate };
//! #     generate(&destination, &profile, None, "example", now, &mut Silent)?;
//! # }
//! # use keyhoard_engine::{find::find, signing_keys::signing_key};
//! # use keyhoard_engine::message::{SignatureRequest, Signing, sign_detached};
//! # let mut data = &b"data"[..];
//! # let signature = {
//! #     let (store, secrets) = (keyhoard_engine::database::open(&path)?, FileKeys::beside(&path));
//! #     let snapshot = store.snapshot()?;
//! #     let ann = find(snapshot.as_ref(), &["<ann@example.org>"])?.ids;
//! #     let key = signing_key(snapshot.as_ref(), ann[0], &secrets, now)?.ok_or("no key")?;
//! #     let mut key = key.open(&secrets, &mut keyhoard_engine::secret::ask::Nobody)?;
//! #     let kind = keyhoard_engine::cert::facts::SignatureType::BINARY;
//! #     let builder = keyhoard_engine::sign::Builder::new(kind, keyhoard_engine::verify::HashAlgorithm::SHA256, now);
//! #     sign_detached(&mut &b"data"[..], Signing::new(vec![SignatureRequest { key: key.as_mut(), builder }])?)?
//! # };
//! use keyhoard_engine::message::DetachedSignatures;
//! use keyhoard_engine::validity::{Sources, TrustSettings};
//! use keyhoard_engine::{cert::effective::PacketView, database, verification::Examiner};
//!
//! let store = database::open(&path)?;
//! let snapshot = store.snapshot()?;
//! let sources = Sources {
//!     certificates: vec![snapshot.as_ref()],
//!     owner_trust: snapshot.trust(),
//!     verdict_store: None,
//! };
//! let mut examiner = Examiner::new(sources, TrustSettings::new(now, PacketView::Full));
//! let signatures = DetachedSignatures::read(&mut &signature[..])?.over(&mut data)?;
//! for verdict in examiner.examine(signatures)? {
//!     println!("{}, validity {:?}", verdict.status, verdict.trust.key);
//! #   assert_eq!(verdict.status, keyhoard_engine::verification::SignatureStatus::Good);
//! #   assert_eq!(verdict.trust.key, keyhoard_engine::trust::Validity::Ultimate);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! Certificates and the database:
//!
//! - [`database`]: finds, opens and creates the database; [`copy`]: copies all of it into another database.
//! - [`import`]: imports certificates from a stream; [`export`]: writes the stored packets of certificates.
//! - [`find`]: finds certificates by the names that users type; [`listing`]: certificates as plain values for output.
//! - [`delete`]: deletes certificates; [`undo`]: takes back what an entry of the journal changed.
//! - [`compact`]: removes the packets of certificates that have no effect.
//! - [`doctor`]: compares the rows with the packets that they are derived from.
//! - [`sql`]: runs the user's SQL statements.
//! - [`keyring_file`]: reads keyring files; [`keyring_copy`]: writes a changed copy of one.
//! - [`migrate`]: takes over certificates, owner trust and settings from GnuPG and from certificate stores.
//! - `fetch`, with the feature `network`: asks keyservers, Web Key Directories and URLs for certificates, and publishes them.
//!
//! Verification and trust:
//!
//! - [`verification`]: verifies signatures over content and says what they are worth.
//! - [`certifications`]: verifies signatures by other keys; [`check`]: verifies those of all certificates and counts them.
//! - [`designated_revocation`]: revocations by designated revokers.
//! - [`validity`]: the validity of user IDs; [`owner_trust`]: assigns, exports and imports owner trust.
//! - [`git_signatures`]: signatures of tags and commits in a repository.
//! - [`policy`]: the algorithms that are accepted for reading, verifying and writing.
//!
//! Keys and messages:
//!
//! - [`generate`]: generates keys, and stores their certificates and secret parts.
//! - [`edit`]: changes certificates: user IDs, subkeys, expiry dates, certifications, revocations.
//! - [`secret_keys`]: finds the secret keys of certificates; [`secret_transfer`]: exports and imports them in GnuPG's format.
//! - [`signing_keys`]: the keys that sign content; [`recipients`]: the keys that messages are encrypted to.
//! - [`decryption`]: the session keys of messages, and writing of content only after it was verified.
//! - [`stateless`]: the Stateless OpenPGP interface, with files and memory only.
//!
//! Configuration, files and terminal:
//!
//! - [`configuration`]: the user's configuration file; [`passphrase`]: passphrases from the terminal, files and programs.
//! - [`permissions`]: files and directories that other users can change.
//! - [`output_file`]: output files that appear complete or not at all; [`descriptor`]: file descriptors that the calling
//!   program opened.
//! - [`foreign_text`]: escapes text of others for output on a terminal.

#[cfg(feature = "agent")]
pub mod agent_keys;
pub mod certifications;
pub mod check;
pub mod compact;
pub mod configuration;
pub mod copy;
pub mod database;
pub mod decryption;
pub mod delete;
#[cfg(unix)]
pub mod descriptor;
pub mod designated_revocation;
pub mod doctor;
pub mod edit;
pub mod export;
#[cfg(feature = "network")]
pub mod fetch;
pub mod find;
pub mod foreign_text;
pub mod generate;
pub mod git_signatures;
#[cfg(all(feature = "agent", feature = "network"))]
pub mod gnupg_home;
pub mod import;
#[cfg(all(feature = "agent", feature = "network"))]
pub mod key_move;
#[cfg(unix)]
pub mod keyring_copy;
pub mod keyring_file;
pub mod listing;
pub mod mail;
pub mod message_algorithms;
#[cfg(all(feature = "agent", feature = "network"))]
pub mod migrate;
mod output_content;
#[cfg(unix)]
pub mod output_file;
#[cfg(all(feature = "agent", feature = "network"))]
pub mod overview;
pub mod owner_trust;
#[cfg(unix)]
pub mod passphrase;
pub mod pending;
pub mod permissions;
pub mod policy;
#[cfg(not(unix))]
pub mod portable_output_file;
#[cfg(all(feature = "agent", feature = "network"))]
pub mod pubring_copy;
pub mod recipient_choice;
pub mod recipients;
pub mod secret_keys;
pub mod secret_transfer;
pub mod signing_keys;
pub mod similar;
pub mod sql;
pub mod stateless;
pub mod tofu;
pub mod undo;
pub mod validity;
pub mod verification;

#[cfg(unix)]
mod dot_lock;
mod error;
mod retry;
mod stored;
#[cfg(test)]
mod test_keyrings;

#[cfg(feature = "agent")]
pub use agent;
pub use cert;
pub use error::{Error, ForeignError, Result, causes, lacks_search_index};
pub use keygen;
pub use message;
#[cfg(feature = "network")]
pub use network;
#[cfg(not(unix))]
pub use portable_output_file as output_file;
pub use secret;
pub use sign;
pub use store;
pub use trust;
pub use verify;
