//! Cipher feedback.

use crate::blocks::{EncryptBlock, bytes, reference};
use keyhoard_symmetric::{Cfb, Cipher};

/// Encrypts as RFC 9580, 12.9, says, block by block.
fn encrypted(encrypt: &EncryptBlock, iv: &[u8], plain: &[u8]) -> Vec<u8> {
    let (mut feedback, mut ciphertext) = (iv.to_vec(), Vec::new());
    for piece in plain.chunks(iv.len()) {
        encrypt(&mut feedback);
        feedback.iter_mut().zip(piece).for_each(|(stream, byte)| *stream ^= byte);
        ciphertext.extend_from_slice(&feedback[..piece.len()]);
    }
    ciphertext
}

#[test]
fn every_cipher_agrees_with_rustcrypto_at_every_length_and_in_pieces_of_whole_blocks() {
    for cipher in Cipher::ALL {
        let (size, key) = (cipher.block_size(), bytes(cipher.key_size(), 3));
        let (iv, ours, theirs) = (bytes(size, 5), Cfb::new(cipher, &key), reference(cipher, &key));
        let lengths = (0..=5 * size).chain([4095, 4096, 4097, 4096 + size, 20_000, 3 * 4096]);
        for (length, blocks) in lengths.flat_map(|length| [(length, 1), (length, 7), (length, 5000)]) {
            let plain = bytes(length, 11);
            let expected = encrypted(&theirs, &iv, &plain);

            let (mut data, mut feedback) = (plain.clone(), iv.clone());
            data.chunks_mut(blocks * size).for_each(|piece| ours.encrypt(&mut feedback, piece));
            assert!(data == expected, "{cipher}, {length} bytes, {blocks} blocks at once");

            let mut before = &iv[..];
            for (piece, sealed) in data.chunks_mut(blocks * size).zip(expected.chunks(blocks * size)) {
                ours.decrypt(before, piece);
                before = sealed.rchunks(size).next().expect("a piece has bytes");
            }
            assert!(data == plain, "{cipher}, {length} bytes, {blocks} blocks at once");
        }
    }
}

#[test]
fn threads_share_a_key() {
    for cipher in Cipher::ALL {
        let (key, plain) = (bytes(cipher.key_size(), 3), bytes(10_000, 11));
        let (ours, iv) = (Cfb::new(cipher, &key), vec![0; cipher.block_size()]);
        let mut sealed = plain.clone();
        ours.encrypt(&mut iv.clone(), &mut sealed);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let mut data = sealed.clone();
                        ours.decrypt(&iv, &mut data);
                        assert!(data == plain, "{cipher}");
                    }
                });
            }
        });
    }
}

/// A cipher, a key, a block and the encrypted block, in hexadecimal.
const PUBLISHED: [(Cipher, &str, &str, &str); 11] = [
    // Lai: On the Design and Security of Block Ciphers, 1992.
    (Cipher::Idea, "00010002000300040005000600070008", "0000000100020003", "11fbed2b01986de5"),
    // NIST SP 800-67, appendix B.
    (
        Cipher::TripleDes,
        "0123456789abcdef23456789abcdef01456789abcdef0123",
        "5468652071756663",
        "a826fd8ce53b855f",
    ),
    // RFC 2144, B.1.
    (Cipher::Cast5, "0123456712345678234567893456789a", "0123456789abcdef", "238b4fe5847e44b2"),
    // Schneier's file vectors.txt, which OpenSSL and others have.
    (Cipher::Blowfish, "f0e1d2c3b4a5968778695a4b3c2d1e0f", "fedcba9876543210", "93142887ee3be15c"),
    // FIPS 197, appendix C.
    (
        Cipher::Aes128,
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
    (
        Cipher::Aes192,
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
    ),
    (
        Cipher::Aes256,
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
    // Schneier and others: Twofish: A 128-Bit Block Cipher, 1998.
    (
        Cipher::Twofish,
        "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
        "00000000000000000000000000000000",
        "37527be0052334b89f0cfccae87cfa20",
    ),
    // RFC 3713, appendix A.
    (
        Cipher::Camellia128,
        "0123456789abcdeffedcba9876543210",
        "0123456789abcdeffedcba9876543210",
        "67673138549669730857065648eabe43",
    ),
    (
        Cipher::Camellia192,
        "0123456789abcdeffedcba98765432100011223344556677",
        "0123456789abcdeffedcba9876543210",
        "b4993401b3e996f84ee5cee7d79b09b9",
    ),
    (
        Cipher::Camellia256,
        "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
        "0123456789abcdeffedcba9876543210",
        "9acc237dff16d76c20ef7c919e3a7509",
    ),
];

#[test]
fn every_cipher_encrypts_a_block_as_published() {
    let bytes = |hex: &str| -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
        digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
    };
    assert_eq!(PUBLISHED.map(|(cipher, ..)| cipher), Cipher::ALL);
    for (cipher, key, block, expected) in PUBLISHED {
        let mut data = vec![0; cipher.block_size()];
        Cfb::new(cipher, &bytes(key)).encrypt(&mut bytes(block), &mut data);
        assert_eq!(data, bytes(expected), "{cipher}");
    }
}

#[test]
#[should_panic(expected = "the key has the cipher's size")]
fn a_key_of_another_size_is_refused() {
    Cfb::new(Cipher::Aes128, &[0; 17]);
}
