//! Alice and Bob: two certificates in a database, with their secret keys in files beside it.

use keyhoard_engine::cert::split::{Piece, Splitter};
use keyhoard_engine::cert::{Fingerprint, Timestamp};
use keyhoard_engine::doctor::examine;
use keyhoard_engine::edit::{Editor, Target};
use keyhoard_engine::import::{ImportOptions, import};
use keyhoard_engine::store::Store;
use keyhoard_engine::{database, undo};
use secret::ask::Nobody;
use secret::file::FileKeys;
use secret::{Role, SecretKey, SecretKeys};
use std::path::PathBuf;
use tempfile::TempDir;

/// Made by GnuPG 2.2.40 (Debian), without protection: Alice (Ed25519, three user IDs of which one is revoked, a signing
/// and an encryption subkey) and Bob (RSA), who certified each other.
const FILE: &[u8] = include_bytes!("alice-and-bob.pgp");

pub(crate) const ALICE: &[u8] = b"Alice <alice@example.org>";
pub(crate) const SECOND: &[u8] = b"Alice Second <second@example.org>";
pub(crate) const BOB: &[u8] = b"Bob <bob@example.org>";
/// A month after the keys were made.
pub(crate) const NOW: Timestamp = Timestamp(1_767_225_600 + 31 * 86400);
pub(crate) const DAY: u32 = 86400;

pub(crate) struct House {
    pub(crate) store: Box<dyn Store>,
    pub(crate) keys: FileKeys,
    pub(crate) alice: Fingerprint,
    pub(crate) bob: Fingerprint,
    path: PathBuf,
    _directory: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("keyhoard.db");
        let store = database::create(&path).expect("a database");
        let options = ImportOptions { command: "import".to_owned(), ..ImportOptions::default() };
        import(store.as_ref(), FILE, &options, NOW, &mut |_| {}).expect("an import");
        let keys = FileKeys::beside(&path);
        let mut primaries = Vec::new();
        for piece in Splitter::new(FILE) {
            let Ok(Piece::Certificate(raw)) = piece else { panic!("the file holds certificates") };
            primaries.push(raw.secrets[0].fingerprint);
            for (index, secret) in raw.secrets.iter().enumerate() {
                let role = if index == 0 { Role::Primary } else { Role::Subkey };
                let key = SecretKey::parse(role, &secret.body).expect("a secret key");
                keys.store(&key).expect("it is kept");
            }
        }
        Self { store, keys, alice: primaries[0], bob: primaries[1], path, _directory: directory }
    }

    /// Lets somebody edit at a moment.
    pub(crate) fn edit_at<T>(&self, now: Timestamp, edit: impl FnOnce(&mut Editor<'_>) -> T) -> T {
        let mut nobody = Nobody;
        let command = "edit".to_owned();
        edit(&mut Editor::new(self.store.as_ref(), &self.keys, &mut nobody, command, now))
    }

    pub(crate) fn edit<T>(&self, edit: impl FnOnce(&mut Editor<'_>) -> T) -> T {
        self.edit_at(NOW, edit)
    }

    /// What a certificate is and means at a moment.
    pub(crate) fn at(&self, now: Timestamp, primary: &Fingerprint) -> Target {
        self.edit_at(now, |editor| editor.target(primary)).expect("the certificate")
    }

    pub(crate) fn bytes(&self, primary: &Fingerprint) -> Vec<u8> {
        self.at(NOW, primary).certificate.bytes
    }

    /// Takes the last entry of the journal back, whatever it was.
    pub(crate) fn undo(&self) {
        let options = undo::UndoOptions { including_revocations: true, ..undo::UndoOptions::default() };
        undo::undo(self.store.as_ref(), None, &options, NOW, &mut |_| {}).expect("an undo");
    }

    /// Says whether the database is what the bytes of its certificates say.
    pub(crate) fn is_sound(&self) -> bool {
        examine(&self.path, &mut |_| {}).expect("an examination").problems == 0
    }
}
