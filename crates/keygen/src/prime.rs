//! The two primes of an RSA key, searched at the same time on every core; and primes of groups, one after the other.
//!
//! FIPS 186-5, appendix A.1.3 (random probable primes) and B.3.1 (Miller and Rabin's test). Instead of one random number
//! after the other, a random order of the numbers of a sieved window behind a random number is tested, two numbers at
//! once since the processor may do that in the time of one.

use crate::error::Result;
use crate::progress::{Progress, Step};
use crate::random;
use crate::sieve::{Multiples, Window, may_be_prime};
use bignum::{Number, Power, Workspace};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// Returns two primes of `bits` bits each, neither 1 modulo `exponent` (a prime), both at least the square root of 2
/// times 2^(`bits` - 1).
pub(crate) fn pair(bits: usize, exponent: u64, progress: &mut dyn Progress) -> Result<[Number; 2]> {
    let searches = [Search::new(bits, exponent), Search::new(bits, exponent)];
    let progress = Mutex::new(progress);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failure = thread::scope(|scope| {
        let work = |preferred: usize| work(&searches, preferred, &progress);
        let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || work(number))).collect();
        let mut failure = work(0).err();
        for other in others {
            failure = failure.or(other.join().expect("a worker does not panic").err());
        }
        failure
    });
    match searches.map(|search| search.found.into_inner()) {
        [Some(first), Some(second)] => Ok([first, second]),
        _ => Err(failure.expect("workers end only when both primes are found, or with an error")),
    }
}

/// What the cofactor of a prime less one is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    Any,
    Prime,
}

/// Returns a random prime of `bits` bits.
pub(crate) fn any(bits: usize, progress: &mut dyn Progress) -> Result<Number> {
    let progress = Mutex::new(progress);
    search(&progress, |workspace| {
        let candidate = random::of_bits(bits)?.with_bit(0)?;
        Ok((may_be_prime(&candidate) && passes(workspace, &candidate, &progress)?).then_some(candidate))
    })
}

/// Returns a random prime of `bits` bits that is 1 modulo `factor`: twice that, times a cofactor, plus 1.
pub(crate) fn above_multiple(
    bits: usize,
    factor: &Number,
    cofactor: Factor,
    progress: &mut dyn Progress,
) -> Result<Number> {
    let progress = Mutex::new(progress);
    let twice = factor.times_word(2)?;
    let multiples = Multiples::of(&twice);
    // One bit more than the shortest cofactor has: half of what is tried has the right length.
    let length = bits - twice.bits() + 1;
    search(&progress, |workspace| {
        let k = random::bytes(length.div_ceil(8))?;
        let mut k = Number::from_bytes(&k)?.shifted_right(length.next_multiple_of(8) - length)?;
        if cofactor == Factor::Prime {
            k = k.with_bit(0)?;
        }
        if k.bits() == 0 || !multiples.may_be_prime(&k) || (cofactor == Factor::Prime && !may_be_prime(&k)) {
            return Ok(None);
        }
        let candidate = workspace.product(&twice, &k)?.plus_word(1)?;
        let is_it = candidate.bits() == bits
            && (cofactor == Factor::Any || passes(workspace, &k, &progress)?)
            && passes(workspace, &candidate, &progress)?;
        Ok(is_it.then_some(candidate))
    })
}

/// Lets every core try until one finds.
fn search(
    progress: &Mutex<&mut dyn Progress>,
    attempt: impl Fn(&mut Workspace) -> Result<Option<Number>> + Sync,
) -> Result<Number> {
    let found = OnceLock::new();
    let work = || -> Result<()> {
        let mut workspace = Workspace::new()?;
        while found.get().is_none() {
            if let Some(prime) = attempt(&mut workspace)? {
                // Whoever comes second has searched in vain.
                let _ = found.set(prime);
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failure = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let first = work().err();
        others
            .into_iter()
            .fold(first, |failure, other| failure.or(other.join().expect("a worker does not panic").err()))
    });
    match found.into_inner() {
        Some(prime) => {
            tell(progress, Step::Prime);
            Ok(prime)
        }
        None => Err(failure.expect("workers end only when a prime is found, or with an error")),
    }
}

/// Says whether a number passes all rounds of the test.
fn passes(
    workspace: &mut Workspace,
    candidate: &Number,
    progress: &Mutex<&mut dyn Progress>,
) -> Result<bool> {
    let round = Round::new(candidate)?;
    let power = workspace.power(round.power())?;
    if !round.passes(power, workspace)? {
        tell(progress, Step::Composite);
        return Ok(false);
    }
    // Short primes take more rounds for the same certainty than those of FIPS 186-5, table B.1.
    const SHORT: usize = 512;
    let rounds = if candidate.bits() < SHORT { 32 } else { 4 };
    for _ in 0..rounds / 2 {
        if test(workspace, [candidate; 2])? != [true; 2] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn tell(progress: &Mutex<&mut dyn Progress>, step: Step) {
    progress.lock().unwrap_or_else(PoisonError::into_inner).step(step);
}

/// Looks for one prime after the other, the preferred one first, until both are found.
fn work(searches: &[Search; 2], preferred: usize, progress: &Mutex<&mut dyn Progress>) -> Result<()> {
    let mut workspace = Workspace::new()?;
    let unfinished = || {
        [&searches[preferred % 2], &searches[(preferred + 1) % 2]]
            .into_iter()
            .find(|search| !search.is_done())
    };
    while let Some(search) = unfinished() {
        let candidates = search.candidates()?;
        for (candidate, passed) in candidates.iter().zip(test(&mut workspace, candidates.each_ref())?) {
            if passed && is_prime(&mut workspace, candidate)? {
                if search.found.set(candidate.copy()?).is_ok() {
                    tell(progress, Step::Prime);
                }
                break;
            }
            tell(progress, Step::Composite);
        }
    }
    Ok(())
}

/// The search for one prime, which several threads take part in.
struct Search {
    bits: usize,
    exponent: u64,
    window: Mutex<Option<Window>>,
    found: OnceLock<Number>,
}

impl Search {
    fn new(bits: usize, exponent: u64) -> Self {
        Self { bits, exponent, window: Mutex::new(None), found: OnceLock::new() }
    }

    fn is_done(&self) -> bool {
        self.found.get().is_some()
    }

    /// Takes two numbers that may be prime.
    fn candidates(&self) -> Result<[Number; 2]> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(open) = window.as_mut()
                && let (Some(first), Some(second)) = (open.take()?, open.take()?)
            {
                return Ok([first, second]);
            }
            *window = Some(Window::new(beginning(self.bits)?, self.exponent)?);
        }
    }
}

/// Returns an odd random number of `bits` bits where a window of numbers large enough may begin.
fn beginning(bits: usize) -> Result<Number> {
    loop {
        let mut bytes = random::bytes(bits.div_ceil(8))?;
        *bytes.last_mut().expect("numbers have bytes") |= 1;
        let excess = bytes.len() * 8 - bits;
        bytes[0] &= u8::MAX >> excess;
        let number = Number::from_bytes(&bytes)?;
        let leading = number.shifted_right(bits - 64)?.to_bytes();
        let leading = leading.iter().fold(0, |leading, byte| leading << 8 | u64::from(*byte));
        // The last one is left out, so that no window reaches over the end.
        if (ROOT_OF_2..u64::MAX).contains(&leading) {
            return Ok(number);
        }
    }
}

/// The square root of 2, times 2^63, rounded up: with these leading bits the product of two primes has all its bits.
const ROOT_OF_2: u64 = 0xb504_f333_f9de_6485;

/// Tests each candidate once with Miller and Rabin's test, by a random base.
fn test(workspace: &mut Workspace, candidates: [&Number; 2]) -> Result<[bool; 2]> {
    let [first, second] = [Round::new(candidates[0])?, Round::new(candidates[1])?];
    let [first_power, second_power] = workspace.powers([first.power(), second.power()])?;
    Ok([first.passes(first_power, workspace)?, second.passes(second_power, workspace)?])
}

/// Says whether a number that passed one round of the test passes four more. For primes of a random search five are what
/// FIPS 186-5, table B.1, asks of 1024 bits (error below 2^-112); 1536 bits need four for 2^-128, 2048 for 2^-144.
fn is_prime(workspace: &mut Workspace, candidate: &Number) -> Result<bool> {
    for _ in 0..2 {
        if test(workspace, [candidate; 2])? != [true; 2] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One round of Miller and Rabin's test (FIPS 186-5, appendix B.3.1).
struct Round<'a> {
    candidate: &'a Number,
    /// The candidate less one, which is 2^`twos` times the odd `exponent`.
    minus_one: Number,
    twos: usize,
    exponent: Number,
    base: Number,
}

impl<'a> Round<'a> {
    fn new(candidate: &'a Number) -> Result<Self> {
        let minus_one = candidate.minus_word(1)?;
        let twos = minus_one.trailing_zeros();
        let exponent = minus_one.shifted_right(twos)?;
        Ok(Self { candidate, minus_one, twos, exponent, base: random::base(candidate)? })
    }

    fn power(&self) -> Power<'_> {
        Power { base: &self.base, exponent: &self.exponent, modulus: self.candidate }
    }

    fn passes(&self, mut power: Number, workspace: &mut Workspace) -> Result<bool> {
        if power.is_one() || power == self.minus_one {
            return Ok(true);
        }
        for _ in 1..self.twos {
            power = workspace.squared_modulo(&power, self.candidate)?;
            if power == self.minus_one {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    fn passes_five_rounds(number: &Number) -> bool {
        let mut workspace = Workspace::new().unwrap();
        test(&mut workspace, [number; 2]).unwrap()[0] && is_prime(&mut workspace, number).unwrap()
    }

    /// 2^`power` plus 2^`middle` (or minus it) plus or minus 1.
    fn near_power_of_2(power: usize, less: &[usize], add: u64) -> Number {
        let mut bytes = vec![0; power / 8 + 1];
        bytes[0] = 1 << (power % 8);
        let mut number = Number::from_bytes(&bytes).unwrap();
        for &bit in less {
            let mut bytes = vec![0; bit / 8 + 1];
            bytes[0] = 1 << (bit % 8);
            number = number.minus(&Number::from_bytes(&bytes).unwrap()).unwrap();
        }
        number.plus_word(add).unwrap()
    }

    #[test]
    fn primes_pass_however_often_2_divides_what_is_one_less() {
        let [mersenne, curve25519, p224] = [
            near_power_of_2(1279, &[0], 0),
            near_power_of_2(255, &[4, 1, 0], 0),
            near_power_of_2(224, &[96], 1),
        ];
        for (prime, twos) in [(mersenne, 1), (curve25519, 2), (p224, 96)] {
            assert_eq!(prime.minus_word(1).unwrap().trailing_zeros(), twos);
            assert!(passes_five_rounds(&prime), "{twos}");
        }
    }

    #[test]
    fn products_of_two_primes_and_carmichael_numbers_fail() {
        let mut workspace = Workspace::new().unwrap();
        let [p, q] = pair(512, 65537, &mut Silent).unwrap();
        assert!(!passes_five_rounds(&workspace.product(&p, &q).unwrap()));
        assert!(!passes_five_rounds(&workspace.product(&p, &p).unwrap()));
        // (6k + 1)(12k + 1)(18k + 1) with three primes: Fermat's test alone would pass every base without a common
        // divisor.
        let carmichael = [6_u64, 12, 18]
            .map(|factor| Number::from_bytes(&(factor * 25_831_241_271 + 1).to_be_bytes()).unwrap());
        for factor in &carmichael {
            assert!(passes_five_rounds(factor));
        }
        let [a, b, c] = carmichael;
        let product = workspace.product(&a, &b).unwrap();
        assert!(!passes_five_rounds(&workspace.product(&product, &c).unwrap()));
    }

    #[test]
    fn a_window_begins_with_an_odd_number_of_all_bits_that_is_at_least_the_root_of_2_times_the_power() {
        for bits in [512, 1024, 1028, 1532] {
            for _ in 0..64 {
                let number = beginning(bits).unwrap();
                let square = Workspace::new().unwrap().product(&number, &number).unwrap();
                assert_eq!((number.bits(), number.modulo_word(2), square.bits()), (bits, 1, 2 * bits));
            }
        }
    }

    #[test]
    fn both_primes_are_told_of_once() {
        struct Found(usize);
        impl Progress for Found {
            fn step(&mut self, step: Step) {
                self.0 += usize::from(step == Step::Prime);
            }
        }
        let mut found = Found(0);
        pair(512, 65537, &mut found).unwrap();
        assert_eq!(found.0, 2);
    }
}
