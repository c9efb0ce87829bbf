//! Elgamal encryption, which the library of the other algorithms does not support.
//!
//! Keys and ciphertexts are encoded as in RFC 9580, 5.5.5.3 and 5.1.4; the plaintext is padded as in 12.1.1.

use cert::key::Key;
use libcrypto::bignum::{Number, OutOfMemory, Power, Workspace};
use zeroize::Zeroizing;

use crate::fields::{Fields, write_number};
use crate::{Error, Result};

/// The size of the largest supported prime in bits: operations with larger ones would take seconds.
const MAX_BITS: usize = 8192;

/// The shortest padding: zero, two, eight bytes and zero.
const LEAST_PADDING: usize = 11;

/// The public numbers of a key.
struct Public {
    p: Number,
    g: Number,
    y: Number,
}

impl Public {
    /// Reads the numbers in the encoding of packets; `None` if they are impossible or too large.
    fn read(material: &[u8]) -> Option<Self> {
        let mut fields = Fields(material);
        let mut number = || Number::from_bytes(fields.number()?).ok();
        let (p, g, y) = (number()?, number()?, number()?);
        let is_sound = p.is_odd() && p.bits() <= MAX_BITS && [&g, &y].iter().all(|it| is_within(it, &p));
        is_sound.then_some(Self { p, g, y })
    }
}

/// Returns whether a number is from 1 to the modulus minus one.
fn is_within(number: &Number, modulus: &Number) -> bool {
    number.bits() > 0 && number < modulus
}

/// Returns whether the secret number x belongs to the public numbers p, g and y, both encoded as in packets: y is g to
/// the power of x modulo p.
pub(crate) fn belongs(public: &[u8], secret: &[u8]) -> std::result::Result<bool, OutOfMemory> {
    let (Some(Public { p, g, y }), Some(x)) = (Public::read(public), Fields(secret).number()) else {
        return Ok(false);
    };
    let x = Number::from_bytes(x)?;
    // A longer exponent would take longer than any valid one.
    if x >= p {
        return Ok(false);
    }
    Ok(Workspace::new()?.power(Power { base: &g, exponent: &x, modulus: &p })? == y)
}

/// Encrypts the content of a session key packet; returns its algorithm-specific fields.
///
/// # Errors
///
/// [`Error::Unsupported`] for a key that cannot be encrypted to.
pub fn encrypt(key: &Key<'_>, content: &[u8]) -> Result<Vec<u8>> {
    let unsupported =
        || Error::Unsupported { key: key.fingerprint(), what: "encrypting to these numbers".to_owned() };
    let Public { p, g, y } = Public::read(key.material).ok_or_else(unsupported)?;
    let frame = padded(content, p.bits().div_ceil(8))?.ok_or_else(unsupported)?;
    encrypted(&p, &g, &y, &frame).map_err(|error| failed(key, &error))?.ok_or_else(unsupported)
}

fn failed(key: &Key<'_>, error: &OutOfMemory) -> Error {
    Error::Operation { key: key.fingerprint(), what: "encrypting a session key", reason: error.to_string() }
}

fn encrypted(
    p: &Number,
    g: &Number,
    y: &Number,
    frame: &[u8],
) -> std::result::Result<Option<Vec<u8>>, OutOfMemory> {
    let mut bytes = Zeroizing::new(vec![0; p.bits() / 8]);
    if getrandom::fill(&mut bytes).is_err() {
        return Ok(None);
    }
    let k = Number::from_bytes(&bytes)?;
    let mut workspace = Workspace::new()?;
    let power = |base| Power { base, exponent: &k, modulus: p };
    let [e, shared] = workspace.powers([power(g), power(y)])?;
    let product = workspace.product(&Number::from_bytes(frame)?, &shared)?;
    let c = workspace.remainder(&product, p)?;
    Ok(Some(
        [e, c].map(|number| write_number(&number.to_bytes())).iter().flat_map(|it| it.to_vec()).collect(),
    ))
}

/// Decrypts with the prime p and the secret number x of a key; `None` if the message was not encrypted to the key.
pub(crate) fn decrypt(
    p: &[u8],
    x: &[u8],
    e: &[u8],
    c: &[u8],
) -> std::result::Result<Option<Zeroizing<Vec<u8>>>, OutOfMemory> {
    let [p, x, e, c] = [p, x, e, c].map(Number::from_bytes);
    let (p, x, e, c) = (p?, x?, e?, c?);
    if !p.is_odd() || p.bits() > MAX_BITS || ![&x, &e, &c].iter().all(|number| is_within(number, &p)) {
        return Ok(None);
    }
    let mut workspace = Workspace::new()?;
    // Fermat: the inverse of e to the power of x is e to the power of p - 1 - x.
    let exponent = p.minus_word(1)?.minus(&x)?;
    let inverse = workspace.power(Power { base: &e, exponent: &exponent, modulus: &p })?;
    let product = workspace.product(&c, &inverse)?;
    let frame = workspace.remainder(&product, &p)?;
    let frame = frame.to_padded_bytes(p.bits().div_ceil(8)).expect("a remainder is shorter than its divisor");
    Ok(unpadded(&frame).map(|content| Zeroizing::new(content.to_vec())))
}

/// Pads to a length; `None` if the content is too long.
fn padded(content: &[u8], length: usize) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let Some(filling) = length.checked_sub(content.len() + 3).filter(|filling| filling + 3 >= LEAST_PADDING)
    else {
        return Ok(None);
    };
    let mut frame = Zeroizing::new(vec![0; length]);
    frame[1] = 2;
    for byte in &mut frame[2..2 + filling] {
        while *byte == 0 {
            getrandom::fill(std::slice::from_mut(byte))?;
        }
    }
    frame[3 + filling..].copy_from_slice(content);
    Ok(Some(frame))
}

/// Returns the content after the padding. It has a checksum of its own, so that errors do not reveal where wrong
/// padding ends.
fn unpadded(frame: &[u8]) -> Option<&[u8]> {
    let rest = frame.strip_prefix(&[0, 2])?;
    let filling = rest.iter().position(|byte| *byte == 0)?;
    (filling + 3 >= LEAST_PADDING).then(|| &rest[filling + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: &[&[u8]]) -> Vec<u8> {
        numbers.iter().flat_map(|bytes| write_number(bytes).to_vec()).collect()
    }

    #[test]
    fn a_secret_belongs_to_its_power_only() {
        // 5 to the power of 6 is 8 modulo 23.
        let public = packed(&[&[23], &[5], &[8]]);
        assert_eq!(belongs(&public, &packed(&[&[6]])), Ok(true));
        assert_eq!(belongs(&public, &packed(&[&[7]])), Ok(false));
        assert_eq!(belongs(&packed(&[&[23], &[5], &[9]]), &packed(&[&[6]])), Ok(false));
        assert_eq!(belongs(&packed(&[&[22], &[5], &[8]]), &packed(&[&[6]])), Ok(false));
        // 28 is 6 modulo 22, the order of the group.
        assert_eq!(belongs(&public, &packed(&[&[28]])), Ok(false));
        assert_eq!(belongs(&public[..5], &packed(&[&[6]])), Ok(false));
    }

    #[test]
    fn padding_fills_all_there_is_without_zeros_and_what_is_too_long_has_no_room() {
        let frame = padded(b"session", 64).unwrap().expect("room");
        assert!(frame.len() == 64 && frame[2..56].iter().all(|byte| *byte != 0));
        assert_eq!(unpadded(&frame), Some(&b"session"[..]));
        assert!(padded(&[1; 54], 64).unwrap().is_none());
        assert_eq!(unpadded(&[0, 2, 1, 1, 0, 7]), None);
        assert_eq!(unpadded(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 7]), None);
        assert_eq!(unpadded(&[0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]), None);
    }

    #[test]
    fn only_whom_it_was_encrypted_to_opens_it() {
        // 2^127 - 1 is prime.
        let mut p = [0xff; 16];
        p[0] = 0x7f;
        let [prime, base, x] = [&p[..], &[3], &[9; 15]].map(|bytes| Number::from_bytes(bytes).unwrap());
        let power = Power { base: &base, exponent: &x, modulus: &prime };
        let y = Workspace::new().unwrap().power(power).unwrap();
        let frame = padded(b"key", 16).unwrap().expect("room");
        let fields = encrypted(&prime, &base, &y, &frame).unwrap().expect("random numbers");
        let mut fields = Fields(&fields);
        let (e, c) = (fields.number().unwrap(), fields.number().unwrap());
        assert_eq!(decrypt(&p, &[9; 15], e, c).unwrap().as_deref().map(Vec::as_slice), Some(&b"key"[..]));
        assert!(decrypt(&p, &[8; 15], e, c).unwrap().is_none());
        assert!(decrypt(&p, &[9; 15], &p, c).unwrap().is_none());
        assert!(decrypt(&p, &[9; 15], &[], c).unwrap().is_none());
    }
}
