//! Raw bytes: the reader, the merge, secret keys and messages.

use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::packet::{Tag, write};
use keyhoard_cert::split::{Piece, Splitter};
use keyhoard_cert::{ArmorRules, Certificate, Timestamp};
use message::{
    Allowed, Authenticity, Cfb, Cipher, DetachedSignatures, EncryptedDataFormat, EncryptedSessionKey, Event,
    MessageVerifier, Result, SessionKey, Sink, Unlock, decode_count, decrypt,
};
use secret::{Passphrase, Protection, Role, S2k, SecretKey};

#[path = "../../crates/cert/tests/mutation/invariants.rs"]
mod invariants;
#[path = "../../crates/cert/tests/clean/laws.rs"]
pub(crate) mod laws;

/// Any stream: splitting it, and reading what comes out, keeps the reader's promises.
pub(crate) fn read(input: &[u8]) {
    invariants::hold(input);
}

/// Any stream: cleaning its certificates and merging those with the same primary key keeps the laws.
pub(crate) fn merge(input: &[u8]) {
    let certificates: Vec<Certificate> = Splitter::new(input)
        .filter_map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Some(raw),
            _ => None,
        })
        .filter_map(|raw| clean(&raw, &CleanOptions::default(), Timestamp(2_000_000_000)).ok())
        .map(|cleaned| cleaned.certificate)
        .collect();
    for (index, known) in certificates.iter().enumerate() {
        laws::assert_sound(known);
        let fingerprint = known.facts.primary().fingerprint;
        for new in &certificates[index + 1..] {
            if new.facts.primary().fingerprint == fingerprint {
                laws::assert_idempotent(known, new);
                laws::assert_sound(&laws::merged(known, new));
                let (one, other) = (laws::merged(known, new), laws::merged(new, known));
                // Of two copies that differ in unhashed subpackets the known one stays, so that only the counts are
                // the same.
                assert_eq!(laws::as_set(&one).len(), laws::as_set(&other).len());
            }
        }
    }
}

/// The body of a secret key packet: it is kept as it is, and whatever it says, unlocking it neither panics nor takes long.
pub(crate) fn secret(input: &[u8]) {
    for role in [Role::Primary, Role::Subkey] {
        let Ok(key) = SecretKey::parse(role, input) else { continue };
        assert_eq!(*key.body(), *input);
        assert!(input.starts_with(key.public_body()));
        if is_cheap(key.protection())
            && let Ok(unlocked) = key.unlock(&Passphrase::new(b"abc"))
        {
            let plain = unlocked.plain();
            assert_eq!(plain.fingerprint(), key.fingerprint());
            assert!(plain.unlock_plain().is_ok());
        }
        // A public part at the limit leaves no room for a stub.
        if let Ok(stub) = SecretKey::stub(role, key.public_body()) {
            assert_eq!(*stub.protection(), Protection::Dummy);
        }
    }
}

/// Says whether trying a passphrase takes no longer than a fuzzer has time for.
fn is_cheap(protection: &Protection) -> bool {
    match protection {
        Protection::Locked(locked) => is_cheap_specifier(&locked.s2k),
        _ => true,
    }
}

pub(crate) fn is_cheap_specifier(specifier: &S2k) -> bool {
    match specifier {
        S2k::Iterated { count, .. } => decode_count(*count) < 1 << 20,
        S2k::Argon2 { passes, exponent, .. } => *exponent < 12 && *passes < 4,
        _ => true,
    }
}

/// Any stream as a message, and as what an unprotected message holds: reading it ends, whatever it is.
pub(crate) fn message(input: &[u8]) {
    let key = SessionKey::new(Cipher::Aes256, &[7; 32]).expect("the cipher's size");
    let allowed = Allowed {
        unprotected: true,
        unencrypted: true,
        unknown_digests: true,
        armor: ArmorRules::Rfc9580,
        unknown_packets: true,
        trailing_zeros: true,
        trailing_data: true,
        verbatim_text: true,
    };
    read_message(input, allowed, &key);
    if let Ok(signatures) = DetachedSignatures::read(&mut &input[..]) {
        let _ = signatures.over(&mut &b"data"[..]);
    }
    read_message(&unprotected(input, &key), allowed, &key);
}

/// Encrypts packets without protection (RFC 9580, 5.7).
fn unprotected(packets: &[u8], key: &SessionKey) -> Vec<u8> {
    let mut body = vec![0; 18];
    let cfb = Cfb::new(Cipher::Aes256, key.key());
    let mut feedback = [0; 16];
    cfb.encrypt(&mut feedback, &mut body[..16]);
    let mut last = feedback;
    cfb.encrypt(&mut last, &mut body[16..]);
    let mut feedback: [u8; 16] = body[2..].try_into().expect("sixteen bytes");
    let mut data = packets.to_vec();
    cfb.encrypt(&mut feedback, &mut data);
    body.extend(data);
    write(Tag(9), &body)
}

/// Takes one session key for that of every message.
struct Known(SessionKey);

impl Unlock for Known {
    fn session_key(
        &mut self,
        _: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        _: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        let key =
            container.cipher().and_then(|cipher| SessionKey::new(cipher, &[7; 32][..cipher.key_size()]));
        Ok(key.unwrap_or_else(|| self.0.clone()))
    }
}

struct Nothing;

impl Sink for Nothing {
    fn event(&mut self, _: Event<'_>) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, _: &[u8], standing: Authenticity) -> Result<()> {
        // Nobody can make an authentic chunk by chance.
        assert_eq!(standing, Authenticity::Unverified);
        Ok(())
    }
}

/// Reads a message with its signatures, of which every one that is readable has a digest or a verdict.
fn read_message(message: &[u8], allowed: Allowed, key: &SessionKey) {
    let mut nothing = Nothing;
    let mut verifier = MessageVerifier::new(&mut nothing);
    if decrypt(&mut &message[..], allowed, &mut Known(key.clone()), &mut verifier).is_ok() {
        let _ = verifier.finish().map(|found| found.iter().filter_map(|one| one.parsed()).count());
    }
}
