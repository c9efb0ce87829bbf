//! Elgamal keys, with OpenSSL's big numbers.
//!
//! Keys and ciphertexts are encoded as in RFC 9580, 5.5.5.3 and 5.1.4; the plaintext is padded as in 12.1.1.

use openssl::bn::{BigNum, BigNumRef};
use openssl::error::ErrorStack;
use openssl::rand::{rand_bytes, rand_priv_bytes};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _, ConstantTimeGreater as _};
use zeroize::Zeroizing;

use crate::fields::{Fields, write_number};
use crate::numbers;

/// The size of the largest supported prime in bits: operations with larger ones would take seconds.
const MAX_BITS: i32 = 8192;

/// The shortest padding: zero, two, eight bytes and zero.
const LEAST_PADDING: usize = 11;

/// The public numbers of a key.
struct Public {
    p: BigNum,
    g: BigNum,
    y: BigNum,
}

impl Public {
    /// Reads the numbers in the encoding of packets; `None` if they are impossible or too large.
    fn read(material: &[u8]) -> Result<Option<Self>, ErrorStack> {
        let Some([p, g, y]) = Fields(material).numbers() else { return Ok(None) };
        let (p, g, y) = (numbers::public(p)?, numbers::public(g)?, numbers::public(y)?);
        let is_sound = p.is_odd()
            && p.num_bits() <= MAX_BITS
            && [&g, &y].iter().all(|number| numbers::is_within(number, &p));
        Ok(is_sound.then_some(Self { p, g, y }))
    }
}

/// The numbers of a key, public and secret, in the encoding of packets.
pub(crate) struct Numbers<'a> {
    public: &'a [u8],
    x: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts in the encoding of packets; `None` if the secret one is cut short or too long.
    pub(crate) fn read(public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let [x] = Fields(secret).numbers()?;
        Some(Self { public, x })
    }

    /// Returns whether both parts belong together: y is g to the power of x modulo p.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        let Some(Public { p, g, y }) = Public::read(self.public)? else { return Ok(false) };
        let x = numbers::secret(self.x)?;
        // A longer exponent would take longer than any valid one.
        Ok(x < p && numbers::power(&g, &x, &p)? == y)
    }

    /// Decrypts; `None` if the numbers of the ciphertext are not those of the key's group, which everybody can see.
    ///
    /// Where the padding is wrong, the result is empty. The callers treat that as another wrong checksum, so that their
    /// errors do not tell whether the padding was right: whoever can ask that often enough decrypts without the key.
    pub(crate) fn decrypt(&self, e: &[u8], c: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        let Some(Public { p, .. }) = Public::read(self.public)? else { return Ok(None) };
        let (x, e, c) = (numbers::secret(self.x)?, numbers::public(e)?, numbers::public(c)?);
        if ![&x, &e, &c].iter().all(|number| numbers::is_within(number, &p)) {
            return Ok(None);
        }
        // Fermat: the inverse of e to the power of x is e to the power of p - 1 - x.
        let mut exponent = numbers::result()?;
        exponent.checked_sub(&p, &x)?;
        exponent.sub_word(1)?;
        let inverse = numbers::power(&e, &exponent, &p)?;
        let frame = numbers::padded(&*product(&c, &inverse, &p)?, &p)?;
        Ok(Some(Zeroizing::new(unpadded(&frame).to_vec())))
    }
}

/// Encrypts to a key; returns two numbers in the encoding of packets. `None` if the key is impossible or too small.
pub(crate) fn encrypt(public: &[u8], content: &[u8]) -> Result<Option<Vec<u8>>, ErrorStack> {
    let Some(Public { p, g, y }) = Public::read(public)? else { return Ok(None) };
    let Some(frame) = padded(content, p.num_bytes() as usize)? else { return Ok(None) };
    let mut k = Zeroizing::new(vec![0; p.num_bits() as usize / 8]);
    rand_priv_bytes(&mut k)?;
    let (k, frame) = (numbers::secret(&k)?, numbers::secret(&frame)?);
    let e = numbers::power(&g, &k, &p)?;
    let c = product(&frame, &*numbers::power(&y, &k, &p)?, &p)?;
    Ok(Some([e, c].map(|number| write_number(&number.to_vec()).to_vec()).concat()))
}

fn product(a: &BigNumRef, b: &BigNumRef, modulus: &BigNumRef) -> Result<BigNum, ErrorStack> {
    let mut product = numbers::result()?;
    product.mod_mul(a, b, modulus, &mut *numbers::context()?)?;
    Ok(product)
}

/// Pads to a length; `None` if the content is too long.
fn padded(content: &[u8], length: usize) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
    let Some(filling) = length.checked_sub(content.len() + 3).filter(|filling| filling + 3 >= LEAST_PADDING)
    else {
        return Ok(None);
    };
    let mut frame = Zeroizing::new(vec![0; length]);
    frame[1] = 2;
    for byte in &mut frame[2..2 + filling] {
        while *byte == 0 {
            rand_bytes(std::slice::from_mut(byte))?;
        }
    }
    frame[3 + filling..].copy_from_slice(content);
    Ok(Some(frame))
}

/// Returns the content after the padding; nothing if the padding is wrong. All of the frame is read in either case.
fn unpadded(frame: &[u8]) -> &[u8] {
    let Some(([zero, two], rest)) = frame.split_first_chunk().map(|(start, rest)| (*start, rest)) else {
        return &[];
    };
    // The position after the first zero.
    let (mut start, mut is_found) = (0, Choice::from(0));
    for (position, byte) in (3..).zip(rest) {
        let is_end = byte.ct_eq(&0) & !is_found;
        start = u64::conditional_select(&start, &position, is_end);
        is_found |= is_end;
    }
    let is_long = !(LEAST_PADDING as u64).ct_gt(&start);
    let is_padded = zero.ct_eq(&0) & two.ct_eq(&2) & is_found & is_long;
    &frame[u64::conditional_select(&(frame.len() as u64), &start, is_padded) as usize..]
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
        let belongs = |public: &[u8], secret: &[u8]| {
            Numbers::read(public, secret).expect("a number").belong().expect("memory")
        };
        let public = packed(&[&[23], &[5], &[8]]);
        assert!(belongs(&public, &packed(&[&[6]])));
        assert!(!belongs(&public, &packed(&[&[7]])));
        assert!(!belongs(&packed(&[&[23], &[5], &[9]]), &packed(&[&[6]])));
        assert!(!belongs(&packed(&[&[22], &[5], &[8]]), &packed(&[&[6]])));
        // 28 is 6 modulo 22, the order of the group.
        assert!(!belongs(&public, &packed(&[&[28]])));
        assert!(!belongs(&public[..5], &packed(&[&[6]])));
    }

    #[test]
    fn padding_fills_all_there_is_without_zeros_and_what_is_too_long_has_no_room() {
        let frame = padded(b"session", 64).unwrap().expect("room");
        assert!(frame.len() == 64 && frame[2..56].iter().all(|byte| *byte != 0));
        assert_eq!(unpadded(&frame), b"session");
        assert!(padded(&[1; 54], 64).unwrap().is_none());
        assert_eq!(unpadded(&[0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 7]), [0, 7]);
        for wrong in [
            &[][..],
            &[0],
            &[0, 2],
            &[0, 2, 1, 1, 0, 7],
            &[0, 2, 1, 1, 1, 1, 1, 1, 1, 0, 7, 0, 7],
            &[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 7],
            &[1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 7],
            &[0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        ] {
            assert!(unpadded(wrong).is_empty(), "{wrong:?}");
        }
    }

    #[test]
    fn only_whom_it_was_encrypted_to_opens_it() {
        // 2^127 - 1 is prime.
        let mut p = [0xff; 16];
        p[0] = 0x7f;
        let [prime, base, x] = [&p[..], &[3], &[9; 15]].map(|bytes| numbers::public(bytes).expect("memory"));
        let y = numbers::power(&base, &x, &prime).expect("memory").to_vec();
        let public = packed(&[&p, &[3], &y]);
        let fields = encrypt(&public, b"key").expect("random numbers").expect("room");
        let [e, c] = Fields(&fields).numbers().expect("two numbers");
        let decrypted = |x: &[u8], e: &[u8]| {
            let secret = packed(&[x]);
            let numbers = Numbers::read(&public, &secret).expect("a number");
            numbers.decrypt(e, c).expect("memory").map(|content| content.to_vec())
        };
        assert_eq!(decrypted(&[9; 15], e), Some(b"key".to_vec()));
        assert_eq!(decrypted(&[8; 15], e), Some(Vec::new()), "only the padding is wrong");
        assert_eq!(decrypted(&[9; 15], &p), None);
        assert_eq!(decrypted(&[9; 15], &[]), None);
    }
}
