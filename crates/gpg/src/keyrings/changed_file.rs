//! The keyring file that a command changes: it is copied into a database, and written when the command is done.

use engine::keyring_copy::{KeyringCopy, KeyringFormat};
use engine::store::Timestamp;

use super::{Content, Keyrings, Ring};
use crate::migration;
use crate::settings::Settings;
use crate::streams::Streams;

impl Keyrings {
    /// Opens the keyrings for an import. It goes into that of `--primary-keyring`, or the first one. If that is a file, it is
    /// locked and copied into a database, until [`Keyrings::commit`] writes it.
    ///
    /// # Errors
    ///
    /// If it cannot be read or written.
    pub(crate) fn open_to_import(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        let keyrings = Self::with_changed_file(settings, streams)?;
        keyrings.check_writable()?;
        Ok(keyrings)
    }

    fn with_changed_file(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        let mut keyrings = Self::open(settings, streams)?;
        if keyrings.changes_new_home(settings)?
            && let Some(older) = migration::older_keyring(settings)?
        {
            let content = Content::Copy(KeyringCopy::open(&older, KeyringFormat::Packets, settings.now)?);
            keyrings.rings.retain(|ring| ring.path != older);
            let (path, shown, made_as) = (older.clone(), older, KeyringFormat::Packets);
            // After the home directory's database.
            keyrings.rings.insert(1, Ring { path, shown, primary: false, made_as, content });
        }
        keyrings.copy_file_to_change(settings)?;
        Ok(keyrings)
    }

    /// Opens the keyrings for a command that changes keys, as for an import; where the home directory has no keys, those of the
    /// first file that an option names are changed. Keys in a file that cannot be written are looked at all the same.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn open_to_change(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        let mut keyrings = Self::with_changed_file(settings, streams)?;
        if keyrings.changes_new_home(settings)? && !keyrings.changes_file() {
            let left = migration::left_in(settings)?;
            let is_named = |ring: &&mut Ring| {
                matches!(ring.content, Content::File(_)) && Some(&ring.path) != left.as_ref()
            };
            if let Some(ring) = keyrings.rings.iter_mut().find(is_named) {
                ring.copy(settings.now)?;
            }
        }
        Ok(keyrings)
    }

    /// Opens the keyrings for new keys of the user's own, as for an import, but not into a `pubring.gpg` in the home directory:
    /// owner trust makes a database there, after which that file is not read any more.
    ///
    /// # Errors
    ///
    /// The same.
    pub(crate) fn open_for_new_keys(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        let mut keyrings = Self::open(settings, streams)?;
        keyrings.copy_file_to_change(settings)?;
        keyrings.check_writable()?;
        Ok(keyrings)
    }

    /// Makes sure that the keyring file can be written, if one is changed, before secret keys are made or deleted.
    ///
    /// # Errors
    ///
    /// The reason why it cannot.
    pub(crate) fn check_writable(&self) -> engine::Result<()> {
        let mut copies = self.rings.iter().filter_map(|ring| match &ring.content {
            Content::Copy(copy) => Some(copy),
            _ => None,
        });
        copies.try_for_each(KeyringCopy::check_writable)
    }

    /// Writes the keyring file that was changed, if it is one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn commit(&mut self) -> anyhow::Result<()> {
        for ring in &mut self.rings {
            if let Content::Copy(copy) = &mut ring.content {
                copy.commit()?;
            }
        }
        Ok(())
    }

    /// Says whether changes go into a keyring file.
    pub(crate) fn changes_file(&self) -> bool {
        self.rings.iter().any(|ring| matches!(ring.content, Content::Copy(_)))
    }

    /// Returns the index of the keyring that is changed, whatever it is.
    fn changed_index(&self) -> usize {
        self.rings.iter().position(|ring| ring.primary).unwrap_or(0)
    }

    /// Says whether the keyring that is changed is the home directory's database, which does not exist.
    fn changes_new_home(&self, settings: &Settings) -> anyhow::Result<bool> {
        let Some(ring) = self.rings.get(self.changed_index()) else { return Ok(false) };
        Ok(matches!(ring.content, Content::Missing) && ring.path == settings.home.database()?)
    }

    /// Copies the keyring that is changed, if it is a file, or becomes one.
    fn copy_file_to_change(&mut self, settings: &Settings) -> engine::Result<()> {
        let index = self.changed_index();
        let Some(ring) = self.rings.get_mut(index) else { return Ok(()) };
        let is_file = match ring.content {
            Content::File(_) => true,
            Content::Missing => !ring.may_be_made(&settings.home)?,
            Content::Database(_) | Content::Copy(_) => false,
        };
        if is_file { ring.copy(settings.now) } else { Ok(()) }
    }
}

impl Ring {
    /// Locks and copies a file.
    fn copy(&mut self, now: Timestamp) -> engine::Result<()> {
        self.content = Content::Copy(KeyringCopy::open(&self.path, self.made_as, now)?);
        Ok(())
    }
}
