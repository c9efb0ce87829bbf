//! The authenticated modes.

use crate::blocks::{bytes, reference};
use aes_gcm::aead::consts::U12;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{AesGcm, aes};
use keyhoard_symmetric::{Aead, AeadKey, Cfb, Cipher, Error};

/// Encrypts one block.
type Block<'a> = &'a dyn Fn(u128) -> u128;

/// A ciphertext and its tag.
type Sealed = (Vec<u8>, [u8; 16]);

fn double(block: u128) -> u128 {
    (block << 1) ^ ((block >> 127) * 0x87)
}

/// Fills a block with the bit 1 and zeros.
fn padded(bytes: &[u8]) -> u128 {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    u128::from_be_bytes(block)
}

fn add(bytes: &[u8], stream: u128) -> Vec<u8> {
    bytes.iter().zip(stream.to_be_bytes()).map(|(byte, stream)| byte ^ stream).collect()
}

/// OCB as RFC 7253 defines it, for nonces of 15 bytes.
fn ocb(encrypt: Block<'_>, nonce: &[u8], associated: &[u8], plain: &[u8]) -> Sealed {
    let last = encrypt(0);
    let steps = |count: usize| (0..count.trailing_zeros() + 2).fold(last, |step, _| double(step));
    let hash = || {
        let (mut offset, mut sum) = (0, 0);
        let (blocks, rest) = associated.as_chunks();
        for (block, count) in blocks.iter().zip(1..) {
            offset ^= steps(count);
            sum ^= encrypt(u128::from_be_bytes(*block) ^ offset);
        }
        if rest.is_empty() { sum } else { sum ^ encrypt(padded(rest) ^ offset ^ last) }
    };
    let nonce = nonce.iter().fold(1, |number, byte| number << 8 | u128::from(*byte));
    let (top, bottom) = (encrypt(nonce & !63), (nonce & 63) as u32);
    let stretch = (top >> 64 ^ top >> 56) << 64;
    let mut offset = top << bottom | stretch.checked_shr(128 - bottom).unwrap_or(0);
    let (mut checksum, mut sealed) = (0, Vec::new());
    let (blocks, rest) = plain.as_chunks();
    for (block, count) in blocks.iter().zip(1..) {
        offset ^= steps(count);
        let block = u128::from_be_bytes(*block);
        sealed.extend((encrypt(block ^ offset) ^ offset).to_be_bytes());
        checksum ^= block;
    }
    if !rest.is_empty() {
        offset ^= last;
        sealed.extend(add(rest, encrypt(offset)));
        checksum ^= padded(rest);
    }
    (sealed, (encrypt(checksum ^ offset ^ double(last)) ^ hash()).to_be_bytes())
}

/// EAX as its paper defines it (Bellare, Rogaway, Wagner: The EAX Mode of Operation, 2004).
fn eax(encrypt: Block<'_>, nonce: &[u8], associated: &[u8], plain: &[u8]) -> Sealed {
    let omac = |tweak: u128, bytes: &[u8]| {
        let all = [&tweak.to_be_bytes(), bytes].concat();
        let (before, last) = all.split_at((all.len() - 1) / 16 * 16);
        let chained =
            before.as_chunks().0.iter().fold(0, |sum, block| encrypt(sum ^ u128::from_be_bytes(*block)));
        let last = match last.try_into() {
            Ok(block) => u128::from_be_bytes(block) ^ double(encrypt(0)),
            Err(_) => padded(last) ^ double(double(encrypt(0))),
        };
        encrypt(chained ^ last)
    };
    let start = omac(0, nonce);
    let counters = (0..).map(|count| encrypt(start.wrapping_add(count)));
    let sealed: Vec<u8> =
        plain.chunks(16).zip(counters).flat_map(|(piece, stream)| add(piece, stream)).collect();
    let tag = start ^ omac(1, associated) ^ omac(2, &sealed);
    (sealed, tag.to_be_bytes())
}

fn gcm<A: AeadInOut<NonceSize = U12> + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    associated: &[u8],
    plain: &[u8],
) -> Sealed {
    let mode = A::new_from_slice(key).expect("a key");
    let mut data = plain.to_vec();
    let nonce = nonce.try_into().expect("a nonce");
    let tag =
        mode.encrypt_inout_detached(nonce, associated, InOutBuf::from(&mut data[..])).expect("short data");
    (data, tag.as_slice().try_into().expect("16 bytes"))
}

/// Seals with the reference: with block ciphers of the library that the tested mode does not use.
fn expected(cipher: Cipher, mode: Aead, key: &[u8], nonce: &[u8], associated: &[u8], plain: &[u8]) -> Sealed {
    let rust_crypto = reference(cipher, key);
    let rust_crypto = |block: u128| {
        let mut block = block.to_be_bytes();
        rust_crypto(&mut block);
        u128::from_be_bytes(block)
    };
    let cfb = Cfb::new(cipher, key);
    let openssl = |block: u128| {
        let mut stream = [0; 16];
        cfb.encrypt(&mut block.to_be_bytes(), &mut stream);
        u128::from_be_bytes(stream)
    };
    match (mode, cipher) {
        (Aead::Ocb, Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256) => {
            ocb(&rust_crypto, nonce, associated, plain)
        }
        (Aead::Ocb, _) => ocb(&openssl, nonce, associated, plain),
        (Aead::Eax, _) => eax(&openssl, nonce, associated, plain),
        (Aead::Gcm, Cipher::Aes128) => gcm::<AesGcm<aes::Aes128, U12>>(key, nonce, associated, plain),
        (Aead::Gcm, Cipher::Aes192) => gcm::<AesGcm<aes::Aes192, U12>>(key, nonce, associated, plain),
        (Aead::Gcm, _) => gcm::<AesGcm<aes::Aes256, U12>>(key, nonce, associated, plain),
    }
}

const SUPPORTED: [(Aead, &[Cipher]); 3] = [
    (
        Aead::Eax,
        &[
            Cipher::Aes128,
            Cipher::Aes192,
            Cipher::Aes256,
            Cipher::Camellia128,
            Cipher::Camellia192,
            Cipher::Camellia256,
        ],
    ),
    (
        Aead::Ocb,
        &[
            Cipher::Aes128,
            Cipher::Aes192,
            Cipher::Aes256,
            Cipher::Camellia128,
            Cipher::Camellia192,
            Cipher::Camellia256,
        ],
    ),
    (Aead::Gcm, &[Cipher::Aes128, Cipher::Aes192, Cipher::Aes256]),
];

#[test]
fn every_cipher_and_mode_agrees_with_a_reference_at_every_length() {
    for (mode, cipher) in
        SUPPORTED.iter().flat_map(|(mode, ciphers)| ciphers.iter().map(|cipher| (*mode, *cipher)))
    {
        let key = bytes(cipher.key_size(), 3);
        let ours = AeadKey::new(cipher, mode, &key).expect("a key");
        for length in (0..=130).chain([1000, 4096, 10_007]) {
            let (nonce, associated) = (bytes(mode.nonce_size(), length), bytes(length % 50, 5));
            let plain = bytes(length, 11);
            let mut data = plain.clone();
            let tag = ours.seal(&nonce, &associated, &mut data);
            let expected = expected(cipher, mode, &key, &nonce, &associated, &plain);
            assert!((&data, tag) == (&expected.0, expected.1), "{cipher} {mode}, {length} bytes");
            assert_eq!(ours.open(&nonce, &associated, &mut data, &tag), Ok(()));
            assert!(data == plain, "{cipher} {mode}, {length} bytes");
        }
    }
}

#[test]
fn a_change_of_any_byte_is_noticed() {
    for (mode, cipher) in
        SUPPORTED.iter().flat_map(|(mode, ciphers)| ciphers.iter().map(|cipher| (*mode, *cipher)))
    {
        let ours = AeadKey::new(cipher, mode, &bytes(cipher.key_size(), 3)).expect("a key");
        let parts = [bytes(mode.nonce_size(), 1), bytes(5, 2), bytes(37, 3)];
        let mut sealed = parts[2].clone();
        let tag = ours.seal(&parts[0], &parts[1], &mut sealed);
        let sound = [parts[0].clone(), parts[1].clone(), sealed, tag.to_vec()];
        let opened = |[nonce, associated, data, tag]: &[Vec<u8>; 4]| {
            ours.open(nonce, associated, &mut data.clone(), tag)
        };
        assert_eq!(opened(&sound), Ok(()));
        for part in 0..4 {
            for index in 0..sound[part].len() {
                let mut changed = sound.clone();
                changed[part][index] ^= 0x10;
                assert_eq!(
                    opened(&changed),
                    Err(Error::Changed),
                    "{cipher} {mode}, part {part}, byte {index}"
                );
            }
            let (mut short, mut long) = (sound.clone(), sound.clone());
            short[part].pop();
            long[part].push(0);
            assert_eq!(opened(&short), Err(Error::Changed), "{cipher} {mode}, part {part} is shorter");
            assert_eq!(opened(&long), Err(Error::Changed), "{cipher} {mode}, part {part} is longer");
        }
    }
}

#[test]
fn other_ciphers_have_no_authenticated_mode() {
    let mut refused = 0;
    for (mode, supported) in SUPPORTED {
        for cipher in Cipher::ALL.into_iter().filter(|cipher| !supported.contains(cipher)) {
            let error = AeadKey::new(cipher, mode, &vec![0; cipher.key_size()]).err();
            assert_eq!(error, Some(Error::UnsupportedMode(cipher, mode)));
            refused += 1;
        }
    }
    assert_eq!(refused, 5 + 5 + 8);
}
