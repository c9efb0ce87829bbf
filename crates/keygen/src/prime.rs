//! Searches primes on all cores: the two primes of an RSA key in parallel, and primes of groups.
//!
//! FIPS 186-5, appendix A.1.3 (random probable primes) and B.3.1 (Miller-Rabin test). Instead of independent random
//! numbers, the numbers of a sieved window after a random number are tested in a random order, two at a time, since
//! some processors compute two powers in the time of one.

use crate::error::Result;
use crate::progress::{Progress, Step};
use crate::random;
use crate::sieve::{Multiples, Window, may_be_prime};
use libcrypto::bignum::{Number, Power, Workspace};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// Returns two primes of `bits` bits each, neither 1 modulo `exponent` (a prime), both at least the square root of 2
/// times 2^(`bits` - 1).
pub(crate) fn pair(bits: usize, exponent: u64, progress: &mut dyn Progress) -> Result<[Number; 2]> {
    let searches = [Search::new(bits, exponent), Search::new(bits, exponent)];
    let progress = Mutex::new(progress);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failure = thread::scope(|scope| {
        let search = |preferred: usize| search_pair(&searches, preferred, &progress);
        let threads: Vec<_> = (1..threads).map(|number| scope.spawn(move || search(number))).collect();
        let mut failure = search(0).err();
        for thread in threads {
            failure = failure.or(thread.join().expect("a search does not panic").err());
        }
        failure
    });
    match searches.map(|search| search.found.into_inner()) {
        [Some(first), Some(second)] => Ok([first, second]),
        _ => Err(failure.expect("a search ends only when both primes are found, or with an error")),
    }
}

/// What the cofactor of a prime minus one must be.
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

/// Returns a random prime of `bits` bits of the form 2 * `factor` * cofactor + 1.
pub(crate) fn above_multiple(
    bits: usize,
    factor: &Number,
    cofactor: Factor,
    progress: &mut dyn Progress,
) -> Result<Number> {
    let progress = Mutex::new(progress);
    let twice = factor.times_word(2)?;
    let multiples = Multiples::of(&twice);
    // One bit more than the shortest cofactor: about half of the candidates have the right length.
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
        let is_prime = candidate.bits() == bits
            && (cofactor == Factor::Any || passes(workspace, &k, &progress)?)
            && passes(workspace, &candidate, &progress)?;
        Ok(is_prime.then_some(candidate))
    })
}

/// Runs `attempt` on all cores until one of them returns a prime.
fn search(
    progress: &Mutex<&mut dyn Progress>,
    attempt: impl Fn(&mut Workspace) -> Result<Option<Number>> + Sync,
) -> Result<Number> {
    let found = OnceLock::new();
    let run = || -> Result<()> {
        let mut workspace = Workspace::new()?;
        while found.get().is_none() {
            if let Some(prime) = attempt(&mut workspace)? {
                // Only the first prime is needed.
                let _ = found.set(prime);
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failure = thread::scope(|scope| {
        let threads: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let first = run().err();
        threads
            .into_iter()
            .fold(first, |failure, thread| failure.or(thread.join().expect("a search does not panic").err()))
    });
    match found.into_inner() {
        Some(prime) => {
            report(progress, Step::Prime);
            Ok(prime)
        }
        None => Err(failure.expect("a search ends only when a prime is found, or with an error")),
    }
}

/// Returns whether a number passes all rounds of the Miller-Rabin test.
fn passes(
    workspace: &mut Workspace,
    candidate: &Number,
    progress: &Mutex<&mut dyn Progress>,
) -> Result<bool> {
    let round = Round::new(candidate)?;
    let power = workspace.power(round.power())?;
    if !round.passes(power, workspace)? {
        report(progress, Step::Composite);
        return Ok(false);
    }
    // Short primes need more rounds than those of FIPS 186-5, table B.1, for the same error probability.
    const SHORT: usize = 512;
    let rounds = if candidate.bits() < SHORT { 32 } else { 4 };
    for _ in 0..rounds / 2 {
        if test(workspace, [candidate; 2])? != [true; 2] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn report(progress: &Mutex<&mut dyn Progress>, step: Step) {
    progress.lock().unwrap_or_else(PoisonError::into_inner).step(step);
}

/// Searches both primes, the preferred one first, until both are found.
fn search_pair(searches: &[Search; 2], preferred: usize, progress: &Mutex<&mut dyn Progress>) -> Result<()> {
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
                    report(progress, Step::Prime);
                }
                break;
            }
            report(progress, Step::Composite);
        }
    }
    Ok(())
}

/// The search for one prime, which several threads share.
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

    /// Takes two candidates from the window, and sieves a new window when it is empty.
    fn candidates(&self) -> Result<[Number; 2]> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(window) = window.as_mut()
                && let (Some(first), Some(second)) = (window.take()?, window.take()?)
            {
                return Ok([first, second]);
            }
            *window = Some(Window::new(window_start(self.bits)?, self.exponent)?);
        }
    }
}

/// Returns an odd random number of `bits` bits that can begin a window of large enough numbers.
fn window_start(bits: usize) -> Result<Number> {
    loop {
        let mut bytes = random::bytes(bits.div_ceil(8))?;
        *bytes.last_mut().expect("numbers have bytes") |= 1;
        let excess = bytes.len() * 8 - bits;
        bytes[0] &= u8::MAX >> excess;
        let number = Number::from_bytes(&bytes)?;
        let leading = number.shifted_right(bits - 64)?.to_bytes();
        let leading = leading.iter().fold(0, |leading, byte| leading << 8 | u64::from(*byte));
        // Without the largest value, so that no window exceeds `bits` bits.
        if (ROOT_OF_2..u64::MAX).contains(&leading) {
            return Ok(number);
        }
    }
}

/// The square root of 2, times 2^63, rounded up. The product of two primes with at least these leading bits has twice
/// as many bits.
const ROOT_OF_2: u64 = 0xb504_f333_f9de_6485;

/// Runs one round of the Miller-Rabin test on each candidate, with a random base.
fn test(workspace: &mut Workspace, candidates: [&Number; 2]) -> Result<[bool; 2]> {
    let [first, second] = [Round::new(candidates[0])?, Round::new(candidates[1])?];
    let [first_power, second_power] = workspace.powers([first.power(), second.power()])?;
    Ok([first.passes(first_power, workspace)?, second.passes(second_power, workspace)?])
}

/// Returns whether a number that passed one round of the test passes four more. For random candidates of 1024 bits,
/// FIPS 186-5, table B.1, requires five rounds (error below 2^-112); four rounds suffice for 1536 bits (2^-128) and
/// 2048 bits (2^-144).
fn is_prime(workspace: &mut Workspace, candidate: &Number) -> Result<bool> {
    for _ in 0..2 {
        if test(workspace, [candidate; 2])? != [true; 2] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One round of the Miller-Rabin test (FIPS 186-5, appendix B.3.1).
struct Round<'a> {
    candidate: &'a Number,
    /// The candidate minus one, which is 2^`twos` times the odd `exponent`.
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
                let number = window_start(bits).unwrap();
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
