//! Sieves candidates for primes by small prime divisors.

use crate::error::Result;
use crate::random;
use libcrypto::bignum::Number;
use std::sync::OnceLock;
use zeroize::{Zeroize, Zeroizing};

/// The number of odd numbers in a window. It holds dozens of primes of any supported size, so that testing its
/// candidates in a random order makes the choice of the prime nearly uniform. (Taking the first prime after a random
/// number would prefer primes after wide gaps.)
const WINDOW: u32 = 1 << 16;

/// The remaining candidates of a window, in a random order; secret, since one of them becomes the prime.
pub(crate) struct Window {
    first: Number,
    /// The offsets of the candidates; a candidate is `first` + 2 * its offset.
    offsets: Zeroizing<Vec<u32>>,
}

impl Window {
    /// Sieves the window that begins with `first`, which is odd. It also excludes numbers that are 1 modulo `exponent`,
    /// a prime, since the exponent has no inverse for them.
    pub(crate) fn new(first: Number, exponent: u64) -> Result<Self> {
        let mut composite = Zeroizing::new(vec![false; WINDOW as usize]);
        for group in Group::all(first.bits()) {
            let remainder = first.modulo_word(group.product);
            for &prime in &group.primes {
                mark_multiples(&mut composite, prime, (remainder % u64::from(prime)) as u32);
            }
        }
        let before = (first.modulo_word(exponent) + exponent - 1) % exponent;
        mark_multiples(&mut composite, exponent as u32, before as u32);
        // With the capacity for all offsets, since memory that a growing vector frees is not wiped, and reveals
        // `first`.
        let mut offsets = Zeroizing::new(Vec::with_capacity(WINDOW as usize));
        offsets.extend((0..WINDOW).filter(|&offset| !composite[offset as usize]));
        Ok(Self { first, offsets })
    }

    /// Removes and returns a random candidate; `None` if none is left.
    pub(crate) fn take(&mut self) -> Result<Option<Number>> {
        if self.offsets.is_empty() {
            return Ok(None);
        }
        let chosen = random::below(self.offsets.len())?;
        let mut offset = self.offsets.swap_remove(chosen);
        let number = self.first.plus_word(2 * u64::from(offset));
        offset.zeroize();
        Ok(Some(number?))
    }
}

/// Returns whether no small prime divides the number.
pub(crate) fn may_be_prime(number: &Number) -> bool {
    Group::for_single_candidates().iter().all(|group| group.divides_none(number.modulo_word(group.product)))
}

/// Trial division of numbers of the form `factor` * k + 1.
pub(crate) struct Multiples {
    /// The remainders of `factor` modulo the product of each group.
    remainders: Vec<u64>,
}

impl Multiples {
    pub(crate) fn of(factor: &Number) -> Self {
        Self {
            remainders: Group::for_single_candidates()
                .iter()
                .map(|group| factor.modulo_word(group.product))
                .collect(),
        }
    }

    /// Returns whether no small prime divides the number for `k`.
    pub(crate) fn may_be_prime(&self, k: &Number) -> bool {
        Group::for_single_candidates().iter().zip(&self.remainders).all(|(group, remainder)| {
            let product = u128::from(*remainder) * u128::from(k.modulo_word(group.product)) + 1;
            group.divides_none((product % u128::from(group.product)) as u64)
        })
    }
}

/// Marks the multiples of `prime` in a window whose first number is `remainder` modulo `prime`.
fn mark_multiples(composite: &mut [bool], prime: u32, remainder: u32) {
    let missing = if remainder == 0 { 0 } else { prime - remainder };
    let first = if missing % 2 == 0 { missing / 2 } else { (missing + prime) / 2 };
    composite
        .iter_mut()
        .skip(first as usize)
        .step_by(prime as usize)
        .for_each(|is_composite| *is_composite = true);
}

/// Primes whose product fits in a word, so that one division of a large number serves all of them.
struct Group {
    product: u64,
    primes: Vec<u32>,
}

impl Group {
    /// Returns the groups for windows of numbers of `bits` bits. The longer a primality test takes, the more small
    /// primes are worth their divisions.
    fn all(bits: usize) -> &'static [Self] {
        static GROUPS: [OnceLock<Vec<Group>>; 3] = [const { OnceLock::new() }; 3];
        let (groups, limit) = match bits {
            ..1536 => (&GROUPS[0], 1 << 17),
            1536..2048 => (&GROUPS[1], 1 << 18),
            _ => (&GROUPS[2], 1 << 19),
        };
        groups.get_or_init(|| Self::below(limit))
    }

    /// Returns the groups for candidates that are tested one by one.
    fn for_single_candidates() -> &'static [Self] {
        static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
        GROUPS.get_or_init(|| Self::below(1 << 13))
    }

    /// Returns whether none of the primes divides a number with this remainder modulo the product.
    fn divides_none(&self, remainder: u64) -> bool {
        self.primes.iter().all(|prime| !remainder.is_multiple_of(u64::from(*prime)))
    }

    /// Groups the odd primes below `limit`.
    fn below(limit: u32) -> Vec<Self> {
        let mut groups = vec![Self { product: 1, primes: Vec::new() }];
        for prime in odd_primes(limit) {
            let last = groups.last_mut().expect("there is one from the beginning");
            match last.product.checked_mul(u64::from(prime)) {
                Some(product) => {
                    last.product = product;
                    last.primes.push(prime);
                }
                None => groups.push(Self { product: u64::from(prime), primes: vec![prime] }),
            }
        }
        groups
    }
}

/// Returns the odd primes below `limit`: Eratosthenes' sieve over the odd numbers.
fn odd_primes(limit: u32) -> impl Iterator<Item = u32> {
    let mut composite = vec![false; limit as usize / 2];
    let mut prime = 3_usize;
    while prime * prime < limit as usize {
        if !composite[prime / 2] {
            composite[prime * prime / 2..]
                .iter_mut()
                .step_by(prime)
                .for_each(|is_composite| *is_composite = true);
        }
        prime += 2;
    }
    (1..limit / 2).filter(move |&half| !composite[half as usize]).map(|half| 2 * half + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_prime(number: u64) -> bool {
        number > 1
            && (2..)
                .take_while(|divisor| divisor * divisor <= number)
                .all(|divisor| !number.is_multiple_of(divisor))
    }

    #[test]
    fn the_small_primes_are_all_odd_primes_below_the_limit() {
        let expected: Vec<u32> = (3..1 << 12).filter(|&number| is_prime(number.into())).collect();
        assert_eq!(odd_primes(1 << 12).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_group_is_the_product_of_its_primes_and_no_prime_is_left_out() {
        let groups = Group::below(1 << 12);
        for group in &groups {
            assert_eq!(group.product, group.primes.iter().map(|&prime| u64::from(prime)).product::<u64>());
        }
        let primes: Vec<u32> = groups.iter().flat_map(|group| group.primes.iter().copied()).collect();
        assert_eq!(primes, odd_primes(1 << 12).collect::<Vec<_>>());
    }

    #[test]
    fn a_window_leaves_what_no_small_prime_divides_and_what_is_not_1_modulo_the_exponent() {
        let first = (1_u64 << 40) + 15;
        let mut window = Window::new(Number::from_bytes(&first.to_be_bytes()).unwrap(), 65537).unwrap();
        let mut left = Vec::new();
        while let Some(number) = window.take().unwrap() {
            let bytes = number.to_bytes();
            left.push(bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)));
        }
        left.sort_unstable();
        let small: Vec<u64> = odd_primes(1 << 17).map(u64::from).collect();
        let expected: Vec<u64> = (first..first + 2 * u64::from(WINDOW))
            .step_by(2)
            .filter(|number| number % 65537 != 1 && small.iter().all(|prime| number % prime != 0))
            .collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_window_gives_its_numbers_in_no_order() {
        let mut window = Window::new(Number::from_bytes(&[1; 128]).unwrap(), 65537).unwrap();
        let mut taken = Vec::new();
        while let Some(number) = window.take().unwrap() {
            taken.push(number);
        }
        assert!(!taken.is_sorted(), "{} numbers", taken.len());
    }
}
