//! Messages: what comes out is what was put in, and a signature is good over that only.

use keyhoard_cert::{key, signed::question};
use message::{
    Allowed, Authenticity, Cipher, DataSignature, EncryptedDataFormat, EncryptedSessionKey, Error, Event,
    MessageVerifier, Result, SessionKey, Sink, Unlock, decrypt,
};
use packet_builder::{
    Armor, Compressed, Hash, Header, Key, Literal, Mdc, OnePass, Packet, Seipd1, Seipd2, Signature, Signed,
    password_packet,
};
use verify::Verdict;

use crate::raw::is_cheap_specifier;
use crate::script::Script;

const PASSWORD: &str = "abc";
const KEY: packet_builder::SessionKey = packet_builder::SessionKey([7; 32]);
/// More content than this is not waited for: what is compressed can be long.
const MOST: usize = 1 << 20;
/// How often a message is put into another packet, or damaged: armor alone makes it longer by a third.
const STEPS: usize = 12;

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    let content = script.bytes().repeat(script.one_of(&[1, 1, 2, 9, 70, 400]));
    let made = Made::by(&mut script, &content);
    let mut out = Content::default();
    let mut verifier = MessageVerifier::new(&mut out);
    let allowed = Allowed { unprotected: true, unencrypted: true, ..Allowed::default() };
    let read = decrypt(&mut &made.bytes[..], allowed, &mut Knows, &mut verifier);
    let read = read.and_then(|()| verifier.finish());
    made.holds(&content, &out, &read);
}

/// A message that was made, and perhaps damaged.
struct Made {
    bytes: Vec<u8>,
    signer: Key,
    /// How many signatures were made over the content.
    signatures: usize,
    /// It is whole, and all of it can be read.
    is_sound: bool,
    /// The content itself stands in data that are protected against changes, and was not changed before.
    is_protected: bool,
    /// Some of it is compressed.
    is_compressed: bool,
}

impl Made {
    fn by(script: &mut Script<'_>, content: &[u8]) -> Self {
        let signer = if script.rarely() { Key::ed25519_v6("ann") } else { Key::ed25519("ann") };
        let (bytes, signatures) = inner(script, &signer, content);
        let mut made =
            Self { bytes, signer, signatures, is_sound: true, is_protected: false, is_compressed: false };
        for depth in 1..=STEPS {
            if script.is_over() {
                break;
            }
            made.wrap(script, depth);
        }
        made
    }

    /// Puts the message into another packet, or damages it.
    fn wrap(&mut self, script: &mut Script<'_>, depth: usize) {
        let encrypted = |script: &mut Script<'_>, version, packet: Packet| {
            let header = if script.rarely() { Header::Partial(9) } else { Header::New };
            packet_builder::bytes(&[password_packet(version, PASSWORD, KEY), packet.with(header)])
        };
        match script.below(8) {
            0 | 1 => {
                let algorithm = script.below(4) as u8;
                self.bytes = Compressed { algorithm, content: self.bytes.clone() }.packet().bytes();
                self.is_compressed = true;
                self.is_sound &= depth <= 6;
            }
            2 => {
                let mdc = script.one_of(&[Mdc::Right, Mdc::Right, Mdc::Wrong, Mdc::Missing]);
                self.bytes = encrypted(script, 4, Seipd1::new(KEY, &self.bytes, mdc).packet());
                self.is_protected = self.is_sound;
                self.is_sound &= mdc == Mdc::Right && depth <= 6;
            }
            3 => {
                let mut sealed = Seipd2::new(KEY, &self.bytes, script.below(5) as u8);
                let is_whole = !script.rarely() || !damage_chunks(script, &mut sealed);
                self.is_protected = self.is_sound;
                self.is_sound &= is_whole && depth <= 6;
                self.bytes = encrypted(script, 6, sealed.packet());
            }
            4 => {
                self.bytes = encrypted(script, 4, KEY.sed(&self.bytes));
                self.is_sound = false;
            }
            5 => {
                let packet = script.one_of(&[Packet::marker as fn() -> Packet, || Packet::padding(9)])();
                self.bytes.splice(0..0, packet.bytes());
            }
            6 => {
                self.bytes = Armor::new("MESSAGE", &self.bytes).bytes();
                // Nothing in another packet has armor.
                self.is_sound &= script.is_over();
            }
            _ => {
                let before = self.bytes.clone();
                script.damage(&mut self.bytes);
                self.is_sound &= self.bytes == before;
            }
        }
    }

    /// The oracle.
    fn holds(&self, content: &[u8], out: &Content, read: &Result<Vec<DataSignature>>) {
        let good = match read {
            Ok(signatures) => signatures.iter().filter(|one| is_good(&self.signer, one)).count(),
            Err(_) => 0,
        };
        if self.is_sound {
            assert!(read.is_ok(), "{:?}: {:02x?}", read.as_ref().err(), self.bytes);
            assert!(out.data == content && good == self.signatures, "{good} of {}", self.signatures);
        }
        if self.is_protected {
            // Openers and containers were perhaps replaced, but nobody makes others with this key.
            assert!(read.is_err() || !out.is_unchanged || out.data == content, "{:02x?}", self.bytes);
            assert!(content.starts_with(&out.data[..out.verified]), "{:02x?}", self.bytes);
        }
        assert!(good == 0 || as_text(&out.data) == as_text(content), "{:02x?}", self.bytes);
        assert!(self.is_compressed || out.is_compressed || out.data.len() <= self.bytes.len());
    }
}

/// Makes literal data, with signatures around them or not.
fn inner(script: &mut Script<'_>, signer: &Key, content: &[u8]) -> (Vec<u8>, usize) {
    let literal =
        Literal { format: script.one_of(b"btu"), name: script.bytes().to_vec(), ..Literal::new(content) };
    let mut packets = vec![literal.packet()];
    if script.rarely() {
        let headers = [Header::Partial(9), Header::Old, Header::NewLong];
        packets[0].header = headers[script.below(headers.len())].clone();
    }
    let count = script.below(6).saturating_sub(2);
    for number in 0..count {
        let kind = script.one_of(&[0x00, 0x01]);
        let mut signature = Signature::by(signer, kind).hash(script.one_of(&[Hash::SHA256, Hash::SHA512]));
        if signature.version == 6 {
            signature.salt = vec![0x5a; signature.hash.salt_length()];
        }
        let over = if kind == 0 { Signed::Bytes(content) } else { Signed::Text(content) };
        let one_pass = OnePass { last: number == 0, ..OnePass::of(&signature, signer) };
        packets.insert(0, one_pass.packet());
        packets.push(signature.sign(signer, &over));
    }
    (packet_builder::bytes(&packets), count)
}

/// Drops, repeats, exchanges or changes chunks; returns whether anything is different then.
fn damage_chunks(script: &mut Script<'_>, sealed: &mut Seipd2) -> bool {
    let before = sealed.clone();
    let (one, other) = (script.below(sealed.chunks.len()), script.below(sealed.chunks.len()));
    match script.below(6) {
        0 => sealed.last_tag.clear(),
        1 => sealed.salt[one % 32] ^= 1,
        _ if sealed.chunks.is_empty() => {}
        2 => drop(sealed.chunks.remove(one)),
        3 => sealed.chunks.swap(one, other),
        4 => sealed.chunks.insert(other, sealed.chunks[one].clone()),
        _ => sealed.chunks.truncate(one),
    }
    *sealed != before
}

/// Returns content as signatures over text mean it.
fn as_text(content: &[u8]) -> Vec<u8> {
    content.iter().copied().filter(|byte| *byte != b'\r').collect()
}

/// Says whether a key made a signature over the content that was read.
pub(crate) fn is_good(signer: &Key, signature: &DataSignature) -> bool {
    let body = signer.body();
    let public = key::parse_public(&body).expect("a public key");
    let (Ok(digest), Some(parsed)) = (signature.digest, signature.parsed()) else { return false };
    question(&public, &parsed, digest).is_ok_and(|check| verify::verify(&[check]) == [Verdict::Good])
}

/// Has the session key, and finds it with the password where that costs little.
struct Knows;

impl Unlock for Knows {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        for encrypted_key in encrypted_keys {
            if let EncryptedSessionKey::Password(skesk) = encrypted_key
                && is_cheap_specifier(&skesk.s2k)
                && let Some(key) = skesk.open(PASSWORD.as_bytes(), container.cipher())?
                && fits(&key)
            {
                return Ok(key);
            }
        }
        SessionKey::new(Cipher::Aes256, &KEY.0).ok_or(Error::NoKey)
    }
}

/// Takes what is read.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) data: Vec<u8>,
    /// So much of it came as verified.
    verified: usize,
    /// The encrypted data were not changed.
    is_unchanged: bool,
    /// Something was compressed.
    is_compressed: bool,
    pub(crate) is_clear_text: bool,
}

impl Sink for Content {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Unchanged => self.is_unchanged = true,
            Event::Compressed(_) => self.is_compressed = true,
            Event::ClearText(_) => self.is_clear_text = true,
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, data: &[u8], standing: Authenticity) -> Result<()> {
        self.data.extend_from_slice(data);
        if standing == Authenticity::Verified {
            self.verified = self.data.len();
        }
        if self.data.len() > MOST { Err(Error::Limit("content that a fuzzer waits for")) } else { Ok(()) }
    }
}
