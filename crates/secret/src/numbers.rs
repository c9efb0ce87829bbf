//! Verifies that the numbers of an RSA key belong together: p, q and u to n, and d to e.
//!
//! A library may sign with d alone and not notice wrong primes. OpenSSL multiplies and divides in time that depends
//! only on the sizes of the numbers.

use libcrypto::bignum::{Number, Workspace};

use crate::fields::Fields;

/// Returns whether the secret numbers (d, p, q, u) belong to the public ones (n, e), both encoded as in packets; `None`
/// if they are cut short.
///
/// That is: n = p q, u p = 1 modulo q, and d e = 1 modulo p - 1 and q - 1 (RFC 9580, 5.5.5.1).
pub(crate) fn rsa_belongs(public: &[u8], secret: &[u8]) -> Option<bool> {
    let (mut public, mut secret) = (Fields(public), Fields(secret));
    let number = |fields: &mut Fields<'_>| Number::from_bytes(fields.number()?).ok();
    let [n, e] = [number(&mut public)?, number(&mut public)?];
    let [d, p, q, u] = [(); 4].map(|()| number(&mut secret));
    let (d, p, q, u) = (d?, p?, q?, u?);
    // An even p or q is not prime.
    if [&p, &q].iter().any(|prime| !prime.is_odd() || prime.is_one()) {
        return Some(false);
    }
    let mut workspace = Workspace::new().ok()?;
    let exponents = workspace.product(&d, &e).ok()?;
    let product = workspace.product(&u, &p).ok()?;
    let mut is_one = |number: &Number, modulus: &Number| {
        let remainder = workspace.remainder(number, modulus).ok()?;
        Some(remainder.is_one())
    };
    let inverse = is_one(&product, &q)?
        && is_one(&exponents, &p.minus_word(1).ok()?)?
        && is_one(&exponents, &q.minus_word(1).ok()?)?;
    Some(inverse && workspace.product(&p, &q).ok()? == n)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(rsa_belongs(&packed(&public), &packed(&secret)), Some(true));
        for at in 0..4 {
            let mut other = secret;
            other[at] += 2;
            assert_eq!(rsa_belongs(&packed(&public), &packed(&other)), Some(false), "number {at}");
            other[at] = 0;
            assert_eq!(rsa_belongs(&packed(&public), &packed(&other)), Some(false), "number {at}");
        }
        assert_eq!(rsa_belongs(&packed(&[3235, 17]), &packed(&secret)), Some(false));
        assert_eq!(rsa_belongs(&packed(&[3233, 19]), &packed(&secret)), Some(false));
        assert_eq!(rsa_belongs(&packed(&[3233, 17]), &packed(&[2753, 3233, 1, 1])), Some(false));
    }
}
