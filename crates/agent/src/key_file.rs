//! What a file of the agent says of a key, without its secret (GnuPG's agent/keyformat.txt).

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::sexp::Sexp;

/// The most bytes of a file.
const MAX_FILE: u64 = 64 << 10;

/// What protects a key of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing.
    Plain,
    /// A passphrase.
    Protected,
    /// It is on a card.
    Card {
        /// The card's serial number.
        serial: Vec<u8>,
    },
    /// Something that is not known here.
    Unknown,
}

/// Reads a file of `private-keys-v1.d`; returns the s-expression in it, `None` if it has none.
///
/// # Errors
///
/// The system's errors.
pub fn read(path: &Path) -> io::Result<Option<Sexp>> {
    let bytes = bytes(path)?;
    Ok((bytes.len() as u64 <= MAX_FILE).then(|| expression(&bytes)).flatten())
}

/// Returns the names in a file that say more than the key and when it was made: a label, what uses the key, and the like.
///
/// # Errors
///
/// The system's errors.
pub fn attributes(path: &Path) -> io::Result<Vec<String>> {
    Ok(names(&bytes(path)?))
}

/// Reads a file, or one byte more than the limit.
fn bytes(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    // To open a named pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let file = File::open(path)?;
    // With room for the whole file, the bytes never move and leave no copy behind.
    let length = file.metadata()?.len().min(MAX_FILE) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(length as usize + 32));
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn names(bytes: &[u8]) -> Vec<String> {
    if bytes.first() == Some(&b'(') {
        return Vec::new();
    }
    let mut names = Vec::new();
    for line in
        bytes.split(|&byte| byte == b'\n').filter(|line| line.first().is_some_and(u8::is_ascii_alphabetic))
    {
        let Some(length) = line.iter().position(|&byte| byte == b':') else { continue };
        let name = String::from_utf8_lossy(&line[..length]).into_owned();
        let is_known = ["Key", "Created"].iter().any(|known| known.eq_ignore_ascii_case(&name));
        if !is_known && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns how a key is protected.
pub fn form(key: &Sexp) -> Form {
    match key.name() {
        Some(b"private-key") => Form::Plain,
        Some(b"protected-private-key") => Form::Protected,
        Some(b"shadowed-private-key") => serial(key).map_or(Form::Unknown, |serial| Form::Card { serial }),
        _ => Form::Unknown,
    }
}

/// Returns the s-expression of a file: the whole file, or the value of `Key:` in the extended format.
fn expression(bytes: &[u8]) -> Option<Sexp> {
    if bytes.first() == Some(&b'(') {
        return Sexp::read(bytes);
    }
    let mut value = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut is_inside = false;
    for line in bytes.split(|&byte| byte == b'\n') {
        match line.first() {
            Some(b' ' | b'\t') => {}
            Some(b'#') | None => continue,
            Some(_) => is_inside = false,
        }
        let name = b"key:";
        let begins = line.len() >= name.len() && line[..name.len()].eq_ignore_ascii_case(name);
        if begins && value.is_empty() {
            is_inside = true;
            value.extend_from_slice(&line[name.len()..]);
        } else if is_inside {
            value.push(b' ');
            value.extend_from_slice(line);
        }
    }
    Sexp::read(&value)
}

/// Returns the serial number of the card that a key is on: `(shadowed t1-v1 (SERIAL ID))` inside the algorithm's list.
fn serial(key: &Sexp) -> Option<Vec<u8>> {
    let [_, algorithm, ..] = key.elements()? else { return None };
    match algorithm.child("shadowed")? {
        [protocol, info, ..] if protocol.bytes() == Some(b"t1-v1") => {
            info.elements()?.first()?.bytes().map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"(11:private-key(3:rsa(1:n1:\x03)(1:e1:\x03)(1:d1:\x03)))";
    const EXTENDED: &[u8] = b"Created: 20260101T000000\nKey: (protected-private-key (rsa (n #03#)(e #03#)\n \
        (protected openpgp-s2k3-sha1-aes-cbc\n  ((sha1 #0102# \"65536\") #03#) #04#)\n  ))\nLabel: x\n";
    const CARD: &[u8] = b"Key: (shadowed-private-key (rsa (n #03#)(e #03#)(shadowed t1-v1\n \
        (#D276000124010200FFFF000000010000# OPENPGP.1)\n )))\n";

    #[test]
    fn the_old_and_the_extended_format_are_read() {
        let form_of = |bytes| expression(bytes).map(|key| form(&key));
        assert_eq!(form_of(PLAIN), Some(Form::Plain));
        assert_eq!(form_of(EXTENDED), Some(Form::Protected));
        let Some(Form::Card { serial }) = form_of(CARD) else { panic!("a card") };
        assert_eq!(serial.len(), 16);
        assert_eq!(form_of(b"Created: x\n"), None);
        assert_eq!(form_of(b"(5:other)"), Some(Form::Unknown));
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused() {
        assert!(read(Path::new("/dev/zero")).is_err());
        assert!(attributes(&std::env::temp_dir()).is_err());
    }

    #[test]
    fn the_names_of_the_extended_format_are_found() {
        assert_eq!(names(PLAIN), Vec::<String>::new());
        assert_eq!(names(EXTENDED), ["Label"]);
        assert_eq!(
            names(b"# a\nUse-for-ssh: yes\nConfirm: no\nConfirm: no\nKey: (x)\n"),
            ["Use-for-ssh", "Confirm"]
        );
    }
}
