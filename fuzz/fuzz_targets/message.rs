//! Any stream as a message, and as what an unprotected message holds: reading it ends, whatever it is.

#![no_main]

use keyhoard_message::{
    Allowed, Cfb, Cipher, Container, Detached, Event, Opener, Result, SessionKey, Sink, Standing, Unlock, Verifier, decrypt,
};

/// Takes one session key for that of every message, after its passwords were tried where that costs little.
struct Known(SessionKey);

impl Unlock for Known {
    fn session_key(&mut self, _: &[Opener], container: &Container, _: &dyn Fn(&SessionKey) -> bool) -> Result<SessionKey> {
        let key = container.cipher().and_then(|cipher| SessionKey::new(cipher, &[7; 32][..cipher.key_size()]));
        Ok(key.unwrap_or_else(|| self.0.clone()))
    }
}

struct Nothing;

impl Sink for Nothing {
    fn event(&mut self, _: Event<'_>) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, _: &[u8], standing: Standing) -> Result<()> {
        // Nobody can make an authentic chunk by chance.
        assert_eq!(standing, Standing::Unverified);
        Ok(())
    }
}

/// Reads a message with its signatures, of which every one that is readable has a digest or a verdict.
fn read(message: &[u8], allowed: Allowed, key: &SessionKey) {
    let mut nothing = Nothing;
    let mut verifier = Verifier::new(&mut nothing);
    if decrypt(&mut &message[..], allowed, &mut Known(key.clone()), &mut verifier).is_ok() {
        let _ = verifier.finish().map(|found| found.iter().filter_map(|one| one.parsed()).count());
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let key = SessionKey::new(Cipher::Aes256, &[7; 32]).expect("the cipher's size");
    let allowed = Allowed { unprotected: true, unencrypted: true };
    read(input, allowed, &key);
    if let Ok(signatures) = Detached::read(&mut &input[..]) {
        let _ = signatures.over(&mut &b"data"[..]);
    }
    let mut body = vec![0; 18];
    let cfb = Cfb::new(Cipher::Aes256, key.key());
    let mut feedback = [0; 16];
    cfb.encrypt(&mut feedback, &mut body[..16]);
    let mut last = feedback;
    cfb.encrypt(&mut last, &mut body[16..]);
    let mut feedback: [u8; 16] = body[2..].try_into().expect("sixteen octets");
    let mut data = input.to_vec();
    cfb.encrypt(&mut feedback, &mut data);
    body.extend(data);
    let message = keyhoard_cert::packet::write(keyhoard_cert::packet::Tag(9), &body);
    read(&message, allowed, &key);
});
