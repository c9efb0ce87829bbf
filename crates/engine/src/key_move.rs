//! Moves secret keys between files and gpg-agent.
//!
//! A key is copied, the copy is opened and tried, and only then the original is deleted. A program that dies on the way
//! leaves both, and the move can be run again.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use agent::{AgentKeys, AllKeys, key_file};
use cert::key::{Key, Parameter};
use cert::{Fingerprint, Keygrip};
use secret::{Ask, Ciphertext, Name, OpenKey, SecretKeys as _, Stored, StoredKey};
use store::{Query, ReadCertificates};
use verify::hash::Hasher;
use verify::{Check, HashAlgorithm, PublicKeyAlgorithm, SignatureValue, Verdict};

use crate::migrate::keyboxd;
use crate::secret_keys::owner_of;
use crate::{Error, Result};

/// Where a key is moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Into gpg-agent.
    Agent,
    /// Into a file beside the database.
    File,
}

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It is at its destination, and only there.
    Done,
    /// It was there before.
    Already,
    /// It is at both places, since the agent's copy is needed.
    Copied(Vec<AgentUse>),
    /// It is on a card, and cannot be moved.
    OnCard,
    /// There is only a placeholder for it.
    NoSecret,
}

/// What else uses a key of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentUse {
    /// Another key packet with the same numbers.
    OtherKey(Fingerprint),
    /// The agent's support for ssh.
    Ssh,
    /// An X.509 certificate of gpgsm.
    X509,
}

impl fmt::Display for AgentUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKey(key) => write!(f, "the key {key} has the same numbers"),
            Self::Ssh => f.write_str("ssh uses it"),
            Self::X509 => f.write_str("a certificate of gpgsm uses it"),
        }
    }
}

/// Moves a key, or completes a move that was interrupted.
///
/// # Errors
///
/// [`secret::Error::Unsupported`] for a key that the agent cannot hold; [`secret::Error::Damaged`] if the copy does not
/// work, then the original stays; those of the stores and the database.
pub fn move_key(
    snapshot: &dyn ReadCertificates,
    keys: &AllKeys,
    stored: &StoredKey,
    to: Destination,
    ask: &mut dyn Ask,
) -> Result<Moved> {
    let name = Name::Fingerprint(stored.fingerprint);
    let agent = keys.agent().ok_or(Error::NoAgentHere)?;
    let (in_file, in_agent) = (keys.files().find(&name)?, agent.find(&name)?);
    if [&in_file, &in_agent].into_iter().flatten().any(is_on_card) {
        return Ok(Moved::OnCard);
    }
    let in_file = in_file.is_some_and(|stored| stored.protection.has_secret());
    match (to, in_file, in_agent.is_some()) {
        (_, false, false) => Ok(Moved::NoSecret),
        (Destination::Agent, false, true) | (Destination::File, true, false) => Ok(Moved::Already),
        (Destination::Agent, true, _) => {
            agent.store(&keys.files().export(&name, ask)?)?;
            try_out(agent.open(&name, ask)?.as_mut())?;
            keys.files().delete(&name)?;
            Ok(Moved::Done)
        }
        (Destination::File, ..) => {
            copy_to_file(keys, agent, &name, ask)?;
            let uses = uses(snapshot, agent, stored)?;
            if !uses.is_empty() {
                return Ok(Moved::Copied(uses));
            }
            agent.clone().without_question_before_deletion().delete(&name)?;
            Ok(Moved::Done)
        }
    }
}

/// Returns the names of what the agent's file says of a key, and a file here does not: what a move to a file would lose.
///
/// # Errors
///
/// Those of the stores.
pub fn lost_attributes(keys: &AllKeys, stored: &StoredKey) -> Result<Vec<String>> {
    let Some(agent) = keys.agent() else { return Ok(Vec::new()) };
    let Some(StoredKey { keygrip: Some(keygrip), .. }) =
        agent.find(&Name::Fingerprint(stored.fingerprint))?
    else {
        return Ok(Vec::new());
    };
    let file = agent.agent().key_directory().join(format!("{keygrip}.key"));
    // The file may be on another machine.
    Ok(key_file::attributes(&file).unwrap_or_default())
}

/// Copies a key of the agent into a file, and tries the copy; the original stays.
///
/// # Errors
///
/// As [`move_key`].
pub fn copy_to_file(keys: &AllKeys, agent: &AgentKeys, name: &Name, ask: &mut dyn Ask) -> Result<Stored> {
    let stored = match keys.files().find(name)? {
        Some(stored) if stored.protection.has_secret() => Stored::Kept,
        _ => keys.files().store(&agent.export(name, ask)?)?,
    };
    try_out(keys.files().open(name, ask)?.as_mut())?;
    Ok(stored)
}

fn is_on_card(stored: &StoredKey) -> bool {
    use secret::Protection::{Agent, Card};
    matches!(stored.protection, Card { .. } | Agent { card: Some(_), .. })
}

/// Signs and verifies, or encrypts and decrypts.
///
/// # Errors
///
/// [`secret::Error::Damaged`] if the result is wrong, and those of the key.
pub fn try_out(key: &mut dyn OpenKey) -> Result<()> {
    let public = secret::Signer::key(key);
    let (fingerprint, algorithm) = (public.fingerprint(), public.algorithm);
    let signs = matches!(algorithm, PublicKeyAlgorithm::DSA | PublicKeyAlgorithm::ECDSA)
        || matches!(algorithm, PublicKeyAlgorithm::EDDSA_LEGACY | PublicKeyAlgorithm::ED25519)
        || matches!(
            algorithm,
            PublicKeyAlgorithm::ED448 | PublicKeyAlgorithm::RSA_SIGN | PublicKeyAlgorithm::RSA
        );
    let works = if signs { signs_rightly(key)? } else { decrypts_rightly(key)? };
    let what = "its copy signs or decrypts incorrectly";
    if works { Ok(()) } else { Err(secret::Error::Damaged { key: fingerprint, what }.into()) }
}

fn signs_rightly(key: &mut dyn OpenKey) -> Result<bool> {
    let hash = match secret::Signer::key(key) {
        public if public.algorithm != PublicKeyAlgorithm::ECDSA || public.bits() > 384 => {
            HashAlgorithm::SHA512
        }
        public if public.bits() > 256 => HashAlgorithm::SHA384,
        _ => HashAlgorithm::SHA256,
    };
    let mut hasher = Hasher::new(hash).expect("a known algorithm");
    hasher.update(b"a signature by a secret key that was moved");
    let digest = hasher.finish().expect("only SHA-1 has collisions");
    let material = key.sign(hash, digest.as_bytes())?;
    let public = secret::Signer::key(key);
    let signature = SignatureValue { algorithm: public.algorithm, material: &material };
    let check = Check { issuer: public.public_key(), hash, digest, signature };
    Ok(verify::verify(&[check]) == [Verdict::Good])
}

fn decrypts_rightly(key: &mut dyn OpenKey) -> Result<bool> {
    const AES_256: u8 = 9;
    let session_key = [0x5a; 32];
    let public = secret::Signer::key(key);
    let fields = secret::encrypt(&public, Some(AES_256), &session_key)?;
    let algorithm = public.algorithm;
    let Some(read) = Ciphertext::read(algorithm, 3, &fields) else { return Ok(false) };
    let decrypted = key.decrypt(&read.ciphertext)?;
    // The number of the cipher stands before it or is not encrypted, and a checksum may follow.
    let rest = if read.cipher.is_some() { Some(&decrypted[..]) } else { decrypted.strip_prefix(&[AES_256]) };
    Ok(rest.is_some_and(|rest| rest.starts_with(&session_key)))
}

/// Finds what else uses a key of the agent.
fn uses(snapshot: &dyn ReadCertificates, agent: &AgentKeys, stored: &StoredKey) -> Result<Vec<AgentUse>> {
    let Some(keygrip) = stored.keygrip else { return Ok(Vec::new()) };
    let mut uses = other_keys(snapshot, keygrip, &stored.fingerprint)?;
    let directory = agent.agent().key_directory();
    let home = directory.parent().unwrap_or(&directory);
    if is_for_ssh(home, &directory, keygrip) {
        uses.push(AgentUse::Ssh);
    }
    let public = agent.public_body(&stored.fingerprint)?;
    let key = public.as_deref().and_then(|body| cert::key::parse_public(body).ok());
    if key.is_none_or(|key| is_in_x509(home, &key)) {
        uses.push(AgentUse::X509);
    }
    Ok(uses)
}

fn other_keys(snapshot: &dyn ReadCertificates, keygrip: Keygrip, key: &Fingerprint) -> Result<Vec<AgentUse>> {
    let mut others = Vec::new();
    for id in snapshot.find(&Query::Keygrip(keygrip))? {
        let Some(facts) = snapshot.own_facts(id)? else { continue };
        let same = facts.keys().filter(|other| other.keygrip == Some(keygrip) && other.fingerprint != *key);
        others.extend(same.map(|other| AgentUse::OtherKey(other.fingerprint)));
    }
    // A subkey of another certificate may be this very key.
    if let Some(owner) = owner_of(snapshot, key)? {
        let ids = snapshot.find(&Query::Fingerprint(*key))?;
        let others_with_it = ids.into_iter().filter(|id| *id != owner.id);
        for id in others_with_it {
            others
                .extend(snapshot.own_facts(id)?.map(|facts| AgentUse::OtherKey(facts.primary().fingerprint)));
        }
    }
    Ok(others)
}

/// Says whether the agent offers a key to ssh: by a line of `sshcontrol`, or an attribute in the key's file. If that file
/// is not here, the agent may be on another machine; if one cannot be read, it may.
fn is_for_ssh(home: &Path, directory: &Path, keygrip: Keygrip) -> bool {
    let keygrip = keygrip.to_string();
    let Ok(control) = read_if_there(&home.join("sshcontrol")) else { return true };
    let is_named = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let word = line.trim_start_matches(['!', ' ']).get(..keygrip.len()).map(str::to_owned);
        word.is_some_and(|word| word.eq_ignore_ascii_case(&keygrip))
    };
    let has_attribute = match key_file::attributes(&directory.join(format!("{keygrip}.key"))) {
        Ok(names) => names.iter().any(|name| name.eq_ignore_ascii_case("Use-for-ssh")),
        Err(_) => true,
    };
    has_attribute || control.split(|&byte| byte == b'\n').any(is_named)
}

/// Says whether gpgsm has an X.509 certificate with a key's number or point. If its files cannot be read, it may.
fn is_in_x509(home: &Path, key: &Key<'_>) -> bool {
    let number = key.parameters().into_iter().find_map(|parameter| match parameter {
        Parameter::Number(bytes) => Some(bytes),
        Parameter::Bytes(_) => None,
    });
    // Points have a prefix of their own in OpenPGP.
    let Some(number) = number.map(|number| number.strip_prefix(&[0x40]).unwrap_or(number)) else {
        return true;
    };
    let Ok(keybox) = read_if_there(&home.join("pubring.kbx")) else { return true };
    let database = home.join("public-keys.d/pubring.db");
    is_in_keybox(&keybox, number) || (database.exists() && is_in_keyboxd(&database, number))
}

fn is_in_keybox(keybox: &[u8], number: &[u8]) -> bool {
    const X509: u8 = 3;
    let mut rest = keybox;
    while let Some((length, _)) = rest.split_first_chunk::<4>() {
        match rest.split_at_checked(u32::from_be_bytes(*length) as usize) {
            Some((blob @ [_, _, _, _, kind, ..], after)) => {
                if *kind == X509 && memchr::memmem::find(blob, number).is_some() {
                    return true;
                }
                rest = after;
            }
            _ => return true,
        }
    }
    false
}

fn is_in_keyboxd(database: &Path, number: &[u8]) -> bool {
    let mut is_found = false;
    let read = keyboxd::read_x509(database, &mut |certificate| {
        is_found |= memchr::memmem::find(certificate, number).is_some();
        Ok(())
    });
    read.is_err() || is_found
}

/// Reads a file; one that does not exist is empty.
fn read_if_there(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_uses_a_key_that_its_control_file_or_an_attribute_names() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = home.path().join("private-keys-v1.d");
        fs::create_dir(&directory).expect("a directory");
        let keygrip = Keygrip([0xab; 20]);
        let is_used = || is_for_ssh(home.path(), &directory, keygrip);
        assert!(is_used(), "the agent may be on another machine");
        let file = directory.join(format!("{keygrip}.key"));
        fs::write(&file, "Key: (x)\n").expect("room");
        assert!(!is_used());
        fs::write(home.path().join("sshcontrol"), format!("# a comment\n{keygrip} 0\n")).expect("room");
        assert!(is_used());
        fs::write(home.path().join("sshcontrol"), b"\xff\n").expect("room");
        assert!(!is_used());
        fs::write(&file, "Use-for-ssh: yes\nKey: (x)\n").expect("room");
        assert!(is_used());
    }

    #[test]
    fn gpgsm_uses_a_key_whose_number_is_in_a_certificate_of_its_keybox() {
        let blob = |kind: u8| [&[0, 0, 0, 12, kind][..], b"1234567"].concat();
        assert!(is_in_keybox(&[blob(2), blob(3)].concat(), b"456"));
        assert!(!is_in_keybox(&[blob(2), blob(2)].concat(), b"456"), "that is an OpenPGP key");
        assert!(!is_in_keybox(b"", b"456"));
        assert!(is_in_keybox(&blob(2)[..7], b"456"), "a damaged file may have it");
    }
}
