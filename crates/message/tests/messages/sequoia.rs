//! Messages of RFC 9580 with passwords, which sequoia-openpgp with RustCrypto reads and writes too: session keys in version
//! 6 with Argon2, content in authenticated chunks.

use std::io::{Read, Write};

use keyhoard_message::{Aead, Cipher, DataProtection, Encryption, MessageRecipients, NoSigner, S2k, encrypt};
use sequoia_openpgp::crypto::{Password, S2K, SessionKey};
use sequoia_openpgp::packet::skesk::SKESK6;
use sequoia_openpgp::packet::{PKESK, SKESK};
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::parse::stream::{
    DecryptionHelper, DecryptorBuilder, MessageLayer, MessageStructure, VerificationHelper,
};
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::Serialize;
use sequoia_openpgp::serialize::stream::{Encryptor, LiteralWriter, Message};
use sequoia_openpgp::types::{AEADAlgorithm, SymmetricAlgorithm};
use sequoia_openpgp::{Cert, KeyHandle, Packet};
use zeroize::Zeroizing;

use crate::made::{PASSWORD, read, text};

/// Each authenticated mode with each cipher that both libraries have in it: AES in all, Camellia in EAX and OCB.
fn pairs() -> Vec<(Cipher, Aead)> {
    use Cipher::{Aes128, Aes192, Aes256, Camellia128, Camellia192, Camellia256};
    let (aes, camellia) = ([Aes128, Aes192, Aes256], [Camellia128, Camellia192, Camellia256]);
    let with = |mode| move |cipher| (cipher, mode);
    let of_aes = [Aead::Eax, Aead::Ocb, Aead::Gcm].map(|mode| aes.map(with(mode)));
    let of_camellia = [Aead::Eax, Aead::Ocb].map(|mode| camellia.map(with(mode)));
    [of_aes.concat(), of_camellia.concat()].concat()
}

/// Contents of no chunk, of one, and of many of any size.
const LENGTHS: [usize; 4] = [0, 1, 4096, 300_000];

/// Argon2 with one pass over 64 KiB, which is quick.
const ARGON2: S2k = S2k::Argon2 { salt: [7; 16], passes: 1, lanes: 2, exponent: 6 };

/// Decrypts with the password, and keeps the mode of the content.
#[derive(Default)]
struct Reader(Option<AEADAlgorithm>);

impl DecryptionHelper for Reader {
    fn decrypt(
        &mut self,
        _: &[PKESK],
        encrypted_keys: &[SKESK],
        cipher: Option<SymmetricAlgorithm>,
        decrypt: &mut dyn FnMut(Option<SymmetricAlgorithm>, &SessionKey) -> bool,
    ) -> sequoia_openpgp::Result<Option<Cert>> {
        let [SKESK::V6(key)] = encrypted_keys else { panic!("{encrypted_keys:?}") };
        assert!(matches!(key.s2k(), S2K::Argon2 { .. }), "{key:?}");
        assert!(decrypt(cipher, &key.decrypt(&Password::from(PASSWORD))?));
        Ok(None)
    }
}

impl VerificationHelper for Reader {
    fn get_certs(&mut self, _: &[KeyHandle]) -> sequoia_openpgp::Result<Vec<Cert>> {
        Ok(Vec::new())
    }

    fn check(&mut self, structure: MessageStructure<'_>) -> sequoia_openpgp::Result<()> {
        let modes = structure.into_iter().find_map(|layer| match layer {
            MessageLayer::Encryption { aead_algo, .. } => aead_algo,
            _ => None,
        });
        self.0 = modes;
        Ok(())
    }
}

fn policy() -> StandardPolicy<'static> {
    let mut policy = StandardPolicy::new();
    for cipher in Cipher::ALL {
        policy.accept_symmetric_algo(cipher.number().into());
    }
    policy
}

#[test]
fn sequoia_decrypts_password_messages_of_rfc_9580_in_every_mode() {
    let policy = policy();
    for (cipher, mode) in pairs() {
        for (length, chunk) in LENGTHS.into_iter().flat_map(|length| [(length, 0), (length, 6)]) {
            let plain = text(length);
            let protection = DataProtection::Aead { mode, chunk };
            let encryption = Encryption { cipher, protection, ..Encryption::default() };
            let passwords = vec![(Zeroizing::new(PASSWORD.to_vec()), ARGON2)];
            let keys = MessageRecipients { passwords, recipients: Vec::new() };
            let mut message = Vec::new();
            encrypt(&mut &plain[..], &mut message, &keys, &encryption, &mut NoSigner).expect("a message");
            let builder = DecryptorBuilder::from_bytes(&message).expect("a message");
            let mut decryptor = builder.with_policy(&policy, None, Reader::default()).expect("a password");
            let mut content = Vec::new();
            decryptor.read_to_end(&mut content).expect("content");
            assert!(content == plain, "{cipher} {mode:?}, {length} bytes in chunks of size {chunk}");
            assert_eq!(decryptor.into_helper().0, Some(mode.number().into()), "{cipher} {mode:?}");
        }
    }
}

/// Encrypts with the password as sequoia-openpgp does, but with Argon2.
fn encrypted_by_sequoia(plain: &[u8], cipher: Cipher, mode: Aead) -> sequoia_openpgp::Result<Vec<u8>> {
    let (cipher, mode) = (SymmetricAlgorithm::from(cipher.number()), AEADAlgorithm::from(mode.number()));
    let session_key = SessionKey::new(cipher.key_size()?)?;
    let s2k = S2K::Argon2 { salt: [9; 16], t: 1, p: 2, m: 6 };
    let skesk = SKESK6::with_password(cipher, cipher, mode, s2k, &session_key, &PASSWORD.into())?;
    let mut out = Vec::new();
    Packet::from(SKESK::from(skesk)).serialize(&mut out)?;
    let message = Encryptor::with_session_key(Message::new(&mut out), cipher, session_key)?;
    let mut writer = LiteralWriter::new(message.aead_algo(mode).build()?).build()?;
    writer.write_all(plain)?;
    writer.finalize()?;
    Ok(out)
}

#[test]
fn password_messages_of_rfc_9580_by_sequoia_are_decrypted_in_every_mode() {
    for (cipher, mode) in pairs() {
        for length in LENGTHS {
            let plain = text(length);
            let message = encrypted_by_sequoia(&plain, cipher, mode).expect("a message");
            let (reading, result) = read(&message);
            result.unwrap_or_else(|error| panic!("{cipher} {mode:?}: {error}"));
            assert!(reading.content == plain, "{cipher} {mode:?}, {length} bytes");
            assert_eq!(reading.verified, length, "{cipher} {mode:?}");
        }
    }
}
