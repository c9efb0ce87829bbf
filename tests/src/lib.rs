//! What the tests of whole programs share: fresh homes, running programs, comparing them with the real gpg.
//!
//! - [`Gnupg`]: the real ones, 2.2 and 2.4, unpacked by `scripts/gnupg`. Where a test names none, it is 2.2, or 2.4 with `KEYHOARD_TEST_GNUPG=2.4`.
//! - [`Home`]: a GnuPG home directory of its own for each test, removed afterwards.
//! - [`Engine`]: homes whose database is a file, or a schema of a real PostgreSQL server; [`on_both_engines`] runs tests
//!   with each.
//! - [`Run`]: one run of `gpg`, `gpg-keyhoard`, `keyhoard` or `keyhoard-lab`; its [`Output`] holds what came out.
//! - [`attack`]: inputs that try to break a rule, and what every program makes of them.
//! - [`Both`]: the real gpg and `gpg-keyhoard` side by side, each in its home, doing the same.
//! - [`AgentProxy`]: what programs say to a gpg-agent.
//! - [`CardHome`]: a home with an OpenPGP card in a virtual reader.
//! - [`Keyring`], [`Reference`]: Debian's keyrings, and homes into which gpg has imported them.
//! - [`alice_and_bob`]: two people's secret keys; [`CIPHERS`], [`COMPRESSIONS`], [`old_ciphers`]: what messages are written with.
//! - [`web`]: servers on loopback: nginx with TLS, a keyserver, one that lies, a SOCKS proxy.
//! - [`colons`], [`packets`]: reading what the programs write.
//! - [`OwnKey`]: a key that the test may change and certify with; [`SigningKey`], [`Victim`]: keys made packet by packet.
//! - [`assert_same`], [`mask()`]: byte for byte, but for what may differ.
//! - [`scale`]: how much of the long comparisons this run makes, and the seed that chooses.
//!
//! ```no_run
//! use harness::{Both, Keyring};
//!
//! let both = Both::new();
//! both.import(Keyring::Nonupload.path());
//! both.assert_same_output(["--with-colons", "--list-keys", "<someone@debian.org>"]);
//! ```
//!
//! Everything runs with `LC_ALL=C.UTF-8`, `TZ=UTC` and the clock at [`NOW`]. A test file is named after the
//! program and the command it is about (`gpg_import.rs`, `keyhoard_search.rs`); a test's name states the rule.

mod agent_proxy;
mod algorithms;
pub mod attack;
mod both;
mod card;
pub mod colons;
mod difference;
mod engine;
mod gnupg;
mod home;
mod json_schema;
mod keyring;
mod mask;
mod own_key;
pub mod packets;
mod reference;
mod run;
pub mod scale;
mod signing_keys;
mod terminal;
mod trust;
pub mod web;

pub use agent_proxy::{AgentProxy, CONNECTION};
pub use algorithms::{CIPHERS, COMPRESSIONS, old_ciphers};
pub use both::Both;
pub use card::CardHome;
pub use difference::{assert_same, difference};
pub use engine::{Engine, server};
pub use gnupg::Gnupg;
pub use home::Home;
pub use json_schema::faults as json_faults;
pub use keyring::{Keyring, alice_and_bob};
pub use mask::{mask, without_misplaced};
pub use own_key::OwnKey;
pub use reference::Reference;
pub use run::{NOW, Output, Run};
pub use signing_keys::{SIGNED_TEXT, SigningKey, Victim, detached, signing_keys};
pub use terminal::Terminal;
pub use trust::without_trust_database;
