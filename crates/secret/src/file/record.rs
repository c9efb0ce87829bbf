//! The format of a file: a header with the length of the public part, then the body of the secret key packet.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `KHSK` |
//! | 1 | version of this layout: 1 |
//! | 1 | type of the packet: 5 for a primary key, 7 for a subkey |
//! | 4 | bytes of the public part, most significant first |
//! | all others | the body of the packet (RFC 9580, 5.5.3) |
//!
//! A listing reads only the public part and the protection, and no secret.

use std::io::{self, Read};

use cert::packet::Tag;
use verify::limits::MAX_KEY_PACKET;
use zeroize::Zeroizing;

use crate::keys::StoredKey;
use crate::protection::Layout;
use crate::{Role, SecretKey};

const MAGIC: &[u8; 4] = b"KHSK";
const VERSION: u8 = 1;
const HEAD: usize = 10;

/// The most bytes that describe the protection: a card's serial number and what surrounds it.
const MAX_PARAMETERS: u64 = 300;

/// Why a file cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    Content(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Content("is cut short".to_owned()),
            _ => Self::Io(error),
        }
    }
}

impl From<crate::Error> for Fault {
    fn from(error: crate::Error) -> Self {
        Self::Content(error.to_string())
    }
}

/// Returns the content of a key's file.
pub(super) fn write(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let (public, body) = (key.public_body(), key.body());
    let mut file = Zeroizing::new(Vec::with_capacity(HEAD + body.len()));
    file.extend_from_slice(MAGIC);
    file.extend([VERSION, key.role().secret_tag().0]);
    file.extend((public.len() as u32).to_be_bytes());
    file.extend_from_slice(&body);
    file
}

/// Reads a whole file.
pub(super) fn read(file: &mut impl Read) -> Result<SecretKey, Fault> {
    let (role, _) = read_head(file)?;
    let mut body = Zeroizing::new(Vec::with_capacity(MAX_KEY_PACKET + 1));
    file.take(MAX_KEY_PACKET as u64 + 1).read_to_end(&mut body)?;
    Ok(SecretKey::parse(role, &body)?)
}

/// Reads a file up to the protection of the secret.
pub(super) fn head(file: &mut impl Read) -> Result<StoredKey, Fault> {
    let (role, length) = read_head(file)?;
    let mut public = vec![0; length];
    file.read_exact(&mut public)?;
    let key = cert::key::parse_public(&public).map_err(|flaw| Fault::Content(flaw.to_string()))?;
    let mut parameters = vec![0];
    file.read_exact(&mut parameters)?;
    let more = match (parameters[0], key.version) {
        // A length of one byte and one of four.
        (0, 5) => 5,
        (0, _) => 0,
        _ => MAX_PARAMETERS,
    };
    file.take(more).read_to_end(&mut parameters)?;
    let layout = Layout::read(key.version, &parameters).map_err(|what| Fault::Content(what.to_owned()))?;
    let facts = key.facts();
    Ok(StoredKey {
        fingerprint: facts.fingerprint,
        keygrip: facts.keygrip,
        role,
        protection: layout.protection,
    })
}

fn read_head(file: &mut impl Read) -> Result<(Role, usize), Fault> {
    let mut head = [0; HEAD];
    file.read_exact(&mut head)?;
    let [magic @ .., version, tag, a, b, c, d] = head;
    if magic != *MAGIC {
        return Err(Fault::Content("is no file of a secret key".to_owned()));
    }
    if version != VERSION {
        return Err(Fault::Content(format!("is of version {version}, which is not known here")));
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    match Role::of(Tag(tag)) {
        Some(role) if length <= MAX_KEY_PACKET => Ok((role, length)),
        _ => Err(Fault::Content("has an invalid header".to_owned())),
    }
}
