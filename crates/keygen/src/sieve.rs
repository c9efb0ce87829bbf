//! A window of numbers, without those that a small prime divides.

use crate::error::Result;
use crate::random;
use bignum::Number;
use std::sync::OnceLock;
use zeroize::{Zeroize, Zeroizing};

/// How many odd numbers a window holds: enough for dozens of primes of any size that is made here, so that choosing among
/// them in a random order leaves hardly a trace of how the primes lie. (The first prime behind a random number would
/// come up the more often, the wider the gap before it.)
const WINDOW: u32 = 1 << 16;

/// The numbers of a window that may be prime, in the order they were left in; secret, since one of them will be.
pub(crate) struct Window {
    first: Number,
    /// `first` + 2 * the place is the number.
    places: Zeroizing<Vec<u32>>,
}

impl Window {
    /// Sieves the window that begins with `first`, which is odd. Numbers that are 1 modulo `exponent`, a prime, go too:
    /// no private exponent belongs to them.
    pub(crate) fn new(first: Number, exponent: u64) -> Result<Self> {
        let mut composite = Zeroizing::new(vec![false; WINDOW as usize]);
        for group in Group::all(first.bits()) {
            let remainder = first.modulo_word(group.product);
            for &prime in &group.primes {
                strike(&mut composite, prime, (remainder % u64::from(prime)) as u32);
            }
        }
        let before = (first.modulo_word(exponent) + exponent - 1) % exponent;
        strike(&mut composite, exponent as u32, before as u32);
        // As long as it can become: what a vector leaves behind where it grows is not wiped, and tells of `first`.
        let mut places = Zeroizing::new(Vec::with_capacity(WINDOW as usize));
        places.extend((0..WINDOW).filter(|&place| !composite[place as usize]));
        Ok(Self { first, places })
    }

    /// Takes one of the numbers at random; `None` if none is left.
    pub(crate) fn take(&mut self) -> Result<Option<Number>> {
        if self.places.is_empty() {
            return Ok(None);
        }
        let chosen = random::below(self.places.len())?;
        let mut place = self.places.swap_remove(chosen);
        let number = self.first.plus_word(2 * u64::from(place));
        place.zeroize();
        Ok(Some(number?))
    }
}

/// Says whether a number may be prime: a small prime divides most of those that are not.
pub(crate) fn may_be_prime(number: &Number) -> bool {
    Group::few().iter().all(|group| group.leaves(number.modulo_word(group.product)))
}

/// Numbers of the form `factor` * k + 1 for many k, without those that a small prime divides.
pub(crate) struct Multiples {
    /// What `factor` leaves of each group's product.
    remainders: Vec<u64>,
}

impl Multiples {
    pub(crate) fn of(factor: &Number) -> Self {
        Self { remainders: Group::few().iter().map(|group| factor.modulo_word(group.product)).collect() }
    }

    /// Says whether the number for `k` may be prime.
    pub(crate) fn may_be_prime(&self, k: &Number) -> bool {
        Group::few().iter().zip(&self.remainders).all(|(group, remainder)| {
            let product = u128::from(*remainder) * u128::from(k.modulo_word(group.product)) + 1;
            group.leaves((product % u128::from(group.product)) as u64)
        })
    }
}

/// Strikes out every number that the prime divides, of a window whose first number leaves that remainder.
fn strike(composite: &mut [bool], prime: u32, remainder: u32) {
    let missing = if remainder == 0 { 0 } else { prime - remainder };
    let first = if missing % 2 == 0 { missing / 2 } else { (missing + prime) / 2 };
    composite.iter_mut().skip(first as usize).step_by(prime as usize).for_each(|struck| *struck = true);
}

/// Primes whose product is one word, so that one division of the large number serves all of them.
struct Group {
    product: u64,
    primes: Vec<u32>,
}

impl Group {
    /// Returns the groups for numbers of that many bits. The longer a test takes, the more primes are worth their
    /// divisions.
    fn all(bits: usize) -> &'static [Self] {
        static GROUPS: [OnceLock<Vec<Group>>; 3] = [const { OnceLock::new() }; 3];
        let (groups, limit) = match bits {
            ..1536 => (&GROUPS[0], 1 << 17),
            1536..2048 => (&GROUPS[1], 1 << 18),
            _ => (&GROUPS[2], 1 << 19),
        };
        groups.get_or_init(|| Self::below(limit))
    }

    /// Returns groups for numbers that are tried one by one.
    fn few() -> &'static [Self] {
        static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
        GROUPS.get_or_init(|| Self::below(1 << 13))
    }

    /// Says whether a number that leaves this remainder of the product is divided by none of the primes.
    fn leaves(&self, remainder: u64) -> bool {
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
            composite[prime * prime / 2..].iter_mut().step_by(prime).for_each(|struck| *struck = true);
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
