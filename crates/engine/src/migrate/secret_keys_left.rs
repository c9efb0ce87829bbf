//! The secret keys of GnuPG, which a migration leaves where they are: GnuPG alone has their passphrases asked for.

use std::fs;
use std::path::{Path, PathBuf};

use cert::packet::{Packets, Tag};
use secret::{Role, SecretKey, StoredKey};
use zeroize::Zeroizing;

use super::source::Source;

/// Where GnuPG's agent keeps secret keys in a home directory, a file for each, called by its keygrip.
const OF_AGENT: &str = "private-keys-v1.d";
/// Where GnuPG before 2.1 kept them.
const SECRING: &str = "secring.gpg";
/// What a later GnuPG leaves when it has taken over [`SECRING`].
const TAKEN_OVER: &str = ".gpg-v21-migrated";
/// What the agent's file says of a key that is on a card.
const ON_CARD: &[u8] = b"shadowed-private-key";

/// Secret keys that stay with GnuPG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKeysLeft {
    /// GnuPG's home directory.
    pub home: PathBuf,
    /// The file or directory that they are in.
    pub path: PathBuf,
    /// How many of them are not here.
    pub keys: u64,
}

/// Returns the secret keys in the GnuPG home directories that sources are in, without those that are held here and those
/// on cards. What cannot be read is passed over.
pub fn secret_keys_left(sources: &[Source], stored_keys: &[StoredKey]) -> Vec<SecretKeysLeft> {
    let stored_keys: Vec<&StoredKey> =
        stored_keys.iter().filter(|stored| stored.protection.has_secret()).collect();
    let mut homes: Vec<&Path> = sources.iter().filter_map(|source| home_of(&source.path)).collect();
    homes.sort_unstable();
    homes.dedup();
    let left = homes.into_iter().flat_map(|home| {
        let (agent, secring) = (home.join(OF_AGENT), home.join(SECRING));
        let of_secring = if home.join(TAKEN_OVER).exists() { 0 } else { in_secring(&secring, &stored_keys) };
        [(with_agent(&agent, &stored_keys), agent), (of_secring, secring)]
            .map(|(keys, path)| SecretKeysLeft { home: home.to_owned(), path, keys })
    });
    left.filter(|left| left.keys > 0).collect()
}

/// Returns the directory that a source is in, or above it that of keyboxd's database.
fn home_of(source: &Path) -> Option<&Path> {
    let directory = source.parent()?;
    if directory.ends_with("public-keys.d") { directory.parent() } else { Some(directory) }
}

fn with_agent(directory: &Path, stored_keys: &[&StoredKey]) -> u64 {
    let keygrips: Vec<String> =
        stored_keys.iter().filter_map(|stored| Some(stored.keygrip?.to_string())).collect();
    let is_left = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default();
        path.extension().is_some_and(|suffix| suffix == "key")
            && !keygrips.iter().any(|keygrip| name.eq_ignore_ascii_case(keygrip))
            && fs::read(path).is_ok_and(|bytes| {
                let bytes = Zeroizing::new(bytes);
                !bytes.windows(ON_CARD.len()).any(|window| window == ON_CARD)
            })
    };
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries.flatten().map(|entry| entry.path()).filter(is_left).count() as u64
}

fn in_secring(file: &Path, stored_keys: &[&StoredKey]) -> u64 {
    let Ok(bytes) = fs::read(file).map(Zeroizing::new) else { return 0 };
    let secret = |tag: Tag| match tag {
        Tag::SECRET_KEY => Some(Role::Primary),
        Tag::SECRET_SUBKEY => Some(Role::Subkey),
        _ => None,
    };
    let is_left = |role: Role, body: &[u8]| match SecretKey::parse(role, body) {
        Ok(key) => {
            let fingerprint = key.fingerprint();
            key.protection().has_secret()
                && !stored_keys.iter().any(|stored| stored.fingerprint == fingerprint)
        }
        Err(_) => true,
    };
    let packets = Packets::new(&bytes).map_while(Result::ok);
    packets.filter(|packet| secret(packet.tag).is_some_and(|role| is_left(role, packet.body))).count() as u64
}
