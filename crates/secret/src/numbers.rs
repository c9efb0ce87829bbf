//! Verifies that the numbers of an RSA key belong together: p, q and u to n, and d to e.
//!
//! With arithmetic of its own, since a library may sign with d alone and not notice wrong primes. Branches and indexes
//! depend only on the sizes of secret numbers.

use zeroize::Zeroizing;

use crate::fields::Fields;

/// A number as limbs, the least significant one first.
type Number = Zeroizing<Vec<u32>>;

/// Returns whether the secret numbers (d, p, q, u) belong to the public ones (n, e), both encoded as in packets.
///
/// That is: n = p q, u p = 1 modulo q, and d e = 1 modulo p - 1 and q - 1 (RFC 9580, 5.5.5.1).
pub(crate) fn rsa_belongs(public: &[u8], secret: &[u8]) -> Option<bool> {
    let mut public = Fields(public);
    let (n, e) = (number(public.number()?), number(public.number()?));
    let mut secret = Fields(secret);
    let [d, p, q, u] = [(); 4].map(|()| secret.number().map(number));
    let (d, p, q, u) = (d?, p?, q?, u?);
    // An even p or q is not prime; and `minus_one` needs odd numbers.
    if [&p, &q].iter().any(|prime| prime.first().is_none_or(|low| low & 1 == 0) || is(prime, 1)) {
        return Some(false);
    }
    let exponents = product(&d, &e);
    Some(
        equal(&product(&p, &q), &n)
            && is(&remainder(&product(&u, &p), &q), 1)
            && is(&remainder(&exponents, &minus_one(&p)), 1)
            && is(&remainder(&exponents, &minus_one(&q)), 1),
    )
}

fn number(bytes: &[u8]) -> Number {
    let limbs = bytes.rchunks(4).map(|limb| limb.iter().fold(0, |limb, &byte| limb << 8 | u32::from(byte)));
    Zeroizing::new(limbs.collect())
}

fn product(a: &[u32], b: &[u32]) -> Number {
    let mut product = Zeroizing::new(vec![0u32; a.len() + b.len()]);
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in b.iter().enumerate() {
            let sum = u64::from(x) * u64::from(y) + u64::from(product[i + j]) + carry;
            product[i + j] = sum as u32;
            carry = sum >> 32;
        }
        product[i + b.len()] = carry as u32;
    }
    product
}

/// Returns the remainder of a division bit by bit.
fn remainder(number: &[u32], divisor: &[u32]) -> Number {
    // With one more limb for the bit that is shifted out.
    let mut left = Zeroizing::new(vec![0u32; divisor.len() + 1]);
    let mut reduced = left.clone();
    for bit in (0..number.len() * 32).rev() {
        let mut carry = number[bit / 32] >> (bit % 32) & 1;
        for limb in left.iter_mut() {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 31);
        }
        let mut borrow = false;
        for (i, limb) in reduced.iter_mut().enumerate() {
            let (once, first) = left[i].overflowing_sub(divisor.get(i).copied().unwrap_or(0));
            let (twice, second) = once.overflowing_sub(u32::from(borrow));
            (*limb, borrow) = (twice, first | second);
        }
        let keep = 0u32.wrapping_sub(u32::from(borrow));
        for (limb, reduced) in left.iter_mut().zip(reduced.iter()) {
            *limb = *limb & keep | reduced & !keep;
        }
    }
    left
}

/// Subtracts one from an odd number.
fn minus_one(odd: &[u32]) -> Number {
    let mut even = Zeroizing::new(odd.to_vec());
    even.iter_mut().take(1).for_each(|low| *low &= !1);
    even
}

fn is(number: &[u32], small: u32) -> bool {
    equal(number, &[small])
}

/// Compares two numbers of which either may have leading zeros.
fn equal(a: &[u32], b: &[u32]) -> bool {
    let limb = |number: &[u32], i| number.get(i).copied().unwrap_or(0);
    (0..a.len().max(b.len())).fold(0, |differs, i| differs | limb(a, i) ^ limb(b, i)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn products_and_remainders_are_those_of_the_processor(a: u64, b: u64, c in 1..u64::MAX) {
            let (a, b, c) = (u128::from(a), u128::from(b), u128::from(c));
            let made = product(&number(&bytes(a)), &number(&bytes(b)));
            prop_assert!(equal(&made, &number(&bytes(a * b))));
            prop_assert!(equal(&remainder(&made, &number(&bytes(c))), &number(&bytes(a * b % c))));
        }
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
