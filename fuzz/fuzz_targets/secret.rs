//! The body of a secret key packet: it is kept as it is, and whatever it says, unlocking it neither panics nor takes long.

#![no_main]

use keyhoard_message::decode_count;
use keyhoard_secret::{Passphrase, Protection, Role, S2k, SecretKey};

/// Says whether trying a passphrase takes no longer than a fuzzer has time for.
fn is_cheap(protection: &Protection) -> bool {
    match protection {
        Protection::Locked(locked) => match locked.s2k {
            S2k::Iterated { count, .. } => decode_count(count) < 1 << 20,
            S2k::Argon2 { passes, exponent, .. } => exponent < 12 && passes < 4,
            _ => true,
        },
        _ => true,
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    for role in [Role::Primary, Role::Subkey] {
        let Ok(key) = SecretKey::parse(role, input) else { continue };
        assert_eq!(*key.body(), *input);
        assert!(input.starts_with(key.public_body()));
        if is_cheap(key.protection()) {
            if let Ok(unlocked) = key.unlock(&Passphrase::new(b"abc")) {
                let plain = unlocked.plain();
                assert_eq!(plain.fingerprint(), key.fingerprint());
                assert!(plain.unlock_plain().is_ok());
            }
        }
        // A public part at the limit leaves no room for a stub.
        if let Ok(stub) = SecretKey::stub(role, key.public_body()) {
            assert_eq!(*stub.protection(), Protection::Dummy);
        }
    }
});
