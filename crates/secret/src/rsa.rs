//! RSA keys.

use openssl::bn::{BigNum, BigNumRef};
use openssl::error::ErrorStack;
use openssl::pkey::Private;
use openssl::rsa::{Padding, Rsa};
use verify::{HashAlgorithm, digest_info};
use zeroize::Zeroizing;

use crate::fields::{Fields, write_number};
use crate::numbers;

/// The numbers of a key, public and secret, the most significant byte first (RFC 9580, 5.5.5.1).
pub(crate) struct Numbers<'a> {
    n: &'a [u8],
    e: &'a [u8],
    d: &'a [u8],
    p: &'a [u8],
    q: &'a [u8],
    u: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts in the encoding of packets; `None` if they are cut short or too long.
    pub(crate) fn read(public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let [n, e] = Fields(public).numbers()?;
        let [d, p, q, u] = Fields(secret).numbers()?;
        Some(Self { n, e, d, p, q, u })
    }

    /// Returns whether both parts belong together: n = p q, u p = 1 modulo q, and d e = 1 modulo p - 1 and q - 1; and
    /// whether u and d are below q and n, as OpenSSL needs them.
    ///
    /// OpenSSL would sign with d alone and not notice wrong primes. It multiplies and divides in time that depends only
    /// on the sizes of the numbers.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        let (n, e) = (numbers::public(self.n)?, numbers::public(self.e)?);
        let [d, p, q, u] = self.secrets()?;
        // An even p or q is not prime.
        if [&p, &q].iter().any(|prime| !prime.is_odd() || prime.num_bits() == 1) {
            return Ok(false);
        }
        let (inverse, exponents) = (product(&u, &p)?, product(&d, &e)?);
        let [p_less_one, q_less_one] = [less_one(&p)?, less_one(&q)?];
        Ok(u < q
            && d < n
            && product(&p, &q)? == n
            && is_one_modulo(&inverse, &q)?
            && is_one_modulo(&exponents, &p_less_one)?
            && is_one_modulo(&exponents, &q_less_one)?)
    }

    /// Signs a digest with the padding of PKCS #1 v1.5; returns the number of the signature in the encoding of packets.
    /// `None` for an unknown hash algorithm.
    pub(crate) fn sign(&self, hash: HashAlgorithm, digest: &[u8]) -> Result<Option<Vec<u8>>, ErrorStack> {
        let Some(content) = digest_info(hash, digest) else { return Ok(None) };
        let key = self.private_key()?;
        let mut signature = vec![0; key.size() as usize];
        let length = key.private_encrypt(&content, &mut signature, Padding::PKCS1)?;
        Ok(Some(write_number(&signature[..length]).to_vec()))
    }

    /// Decrypts what has the padding of PKCS #1 v1.5. Where the padding is wrong, the result is other bytes, always the
    /// same ones for a ciphertext, so that nobody learns from an error where it is wrong.
    pub(crate) fn decrypt(&self, c: &[u8]) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        let key = self.private_key()?;
        let mut decrypted = Zeroizing::new(vec![0; key.size() as usize]);
        let length = key.private_decrypt(c, &mut decrypted, Padding::PKCS1)?;
        decrypted.truncate(length);
        Ok(decrypted)
    }

    /// Returns the key in OpenSSL's form, whose first prime is q and whose second one is p, so that u is its coefficient.
    /// OpenSSL wipes the numbers.
    fn private_key(&self) -> Result<Rsa<Private>, ErrorStack> {
        let [d, p, q, u] = self.secrets()?;
        let [p_less_one, q_less_one] = [less_one(&p)?, less_one(&q)?];
        let [d_of_q, d_of_p] = [remainder(&d, &q_less_one)?, remainder(&d, &p_less_one)?];
        let (n, e) = (numbers::public(self.n)?, numbers::public(self.e)?);
        Rsa::from_private_components(n, e, d, q, p, d_of_q, d_of_p, u)
    }

    fn secrets(&self) -> Result<[BigNum; 4], ErrorStack> {
        let [d, p, q, u] = [self.d, self.p, self.q, self.u].map(numbers::secret);
        Ok([d?, p?, q?, u?])
    }
}

/// Encrypts with the padding of PKCS #1 v1.5; returns the number in the encoding of packets. `None` if the key cannot be
/// read.
pub(crate) fn encrypt(public: &[u8], content: &[u8]) -> Result<Option<Vec<u8>>, ErrorStack> {
    let Some([n, e]) = Fields(public).numbers() else { return Ok(None) };
    let key = Rsa::from_public_components(numbers::public(n)?, numbers::public(e)?)?;
    let mut encrypted = vec![0; key.size() as usize];
    let length = key.public_encrypt(content, &mut encrypted, Padding::PKCS1)?;
    Ok(Some(write_number(&encrypted[..length]).to_vec()))
}

fn product(a: &BigNumRef, b: &BigNumRef) -> Result<BigNum, ErrorStack> {
    let mut product = numbers::result()?;
    product.checked_mul(a, b, &mut *numbers::context()?)?;
    Ok(product)
}

fn remainder(number: &BigNumRef, divisor: &BigNumRef) -> Result<BigNum, ErrorStack> {
    let mut remainder = numbers::result()?;
    remainder.checked_rem(number, divisor, &mut *numbers::context()?)?;
    Ok(remainder)
}

fn is_one_modulo(number: &BigNumRef, divisor: &BigNumRef) -> Result<bool, ErrorStack> {
    Ok(remainder(number, divisor)?.num_bits() == 1)
}

fn less_one(number: &BigNumRef) -> Result<BigNum, ErrorStack> {
    let mut less = numbers::result()?;
    less.checked_sub(number, &*BigNum::from_u32(1)?)?;
    Ok(less)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belongs(public: &[u8], secret: &[u8]) -> bool {
        Numbers::read(public, secret).expect("all numbers").belong().expect("memory")
    }

    fn bytes(value: u128) -> Vec<u8> {
        value.to_be_bytes().into_iter().skip_while(|&byte| byte == 0).collect()
    }

    fn packed(numbers: &[u128]) -> Vec<u8> {
        let pack = |&value: &u128| {
            let bits = (128 - value.leading_zeros()) as u16;
            [&bits.to_be_bytes()[..], &bytes(value)].concat()
        };
        numbers.iter().flat_map(pack).collect()
    }

    #[test]
    fn the_numbers_of_a_key_belong_together_and_no_others_do() {
        // p = 61, q = 53, n = 3233, e = 17, d = 2753, u = 61^-1 mod 53 = 20.
        let (public, secret) = ([3233, 17], [2753, 61, 53, 20]);
        assert!(belongs(&packed(&public), &packed(&secret)));
        for at in 0..4 {
            let mut other = secret;
            other[at] += 2;
            assert!(!belongs(&packed(&public), &packed(&other)), "number {at}");
            other[at] = 0;
            assert!(!belongs(&packed(&public), &packed(&other)), "number {at}");
        }
        assert!(!belongs(&packed(&public), &packed(&[2753 + 60 * 52, 61, 53, 20])), "a large d");
        assert!(!belongs(&packed(&public), &packed(&[2753, 61, 53, 20 + 53])), "a large u");
        assert!(!belongs(&packed(&[3235, 17]), &packed(&secret)));
        assert!(!belongs(&packed(&[3233, 19]), &packed(&secret)));
        assert!(!belongs(&packed(&[3233, 17]), &packed(&[2753, 3233, 1, 1])));
    }
}
