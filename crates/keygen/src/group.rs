//! The numbers of DSA and Elgamal keys.
//!
//! New keys should not use these algorithms (RFC 9580, 9.1); they are generated as GnuPG 2.2 does, for compatibility.

use crate::error::{Error, Result};
use crate::prime::{self, Factor};
use crate::progress::Progress;
use crate::random;
use libcrypto::bignum::{Number, Power, Workspace};
use zeroize::Zeroizing;

/// The size of a DSA key, which is that of its prime: a multiple of 64 bits from 768 to 3072.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DsaSize(u16);

impl DsaSize {
    /// Checks a size in bits.
    ///
    /// # Errors
    ///
    /// [`Error::GroupSize`] if the size is not supported.
    pub fn new(bits: u32) -> Result<Self> {
        match u16::try_from(bits) {
            Ok(bits @ 768..=3072) if bits % 64 == 0 => Ok(Self(bits)),
            _ => Err(Error::GroupSize(bits)),
        }
    }

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// Returns the size of the subgroup's order, in bits, as GnuPG chooses it.
    pub fn subgroup_bits(self) -> u32 {
        match self.0 {
            2048.. => 256,
            1025.. => 224,
            _ => 160,
        }
    }
}

/// The size of an Elgamal key, which is that of its prime: a multiple of 32 bits from 1024 to 4096.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElgamalSize(u16);

impl ElgamalSize {
    /// Checks a size in bits.
    ///
    /// # Errors
    ///
    /// [`Error::GroupSize`] if the size is not supported.
    pub fn new(bits: u32) -> Result<Self> {
        match u16::try_from(bits) {
            Ok(bits @ 1024..=4096) if bits % 32 == 0 => Ok(Self(bits)),
            _ => Err(Error::GroupSize(bits)),
        }
    }

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// Returns the least size in bits of the prime factors of the prime minus one. Computing a discrete logarithm in
    /// the subgroups then costs as much as in the whole group: M. Wiener's estimates, as in GnuPG.
    fn factor_bits(self) -> usize {
        const ESTIMATES: [(u16, usize); 13] = [
            (1024, 165),
            (1280, 183),
            (1536, 198),
            (1792, 212),
            (2048, 225),
            (2304, 237),
            (2560, 249),
            (2816, 259),
            (3072, 269),
            (3328, 279),
            (3584, 288),
            (3840, 296),
            (4096, 305),
        ];
        let estimate = ESTIMATES.iter().find(|(bits, _)| self.0 <= *bits);
        estimate.expect("no size is larger").1
    }
}

/// The numbers of a key, the most significant byte first, without leading zeros.
pub(crate) struct Numbers {
    /// The public numbers in the order of the packet (RFC 9580, 5.5.5.2 and 5.5.5.3).
    pub(crate) public: Vec<Vec<u8>>,
    /// The secret exponent.
    pub(crate) x: Zeroizing<Vec<u8>>,
}

/// Generates a DSA key: p is 1 modulo the prime q, g has the order q, x is below q (FIPS 186-4, A.1.1.2 without its
/// seed, A.2.1 and B.1.2).
pub(crate) fn dsa(size: DsaSize, progress: &mut dyn Progress) -> Result<Numbers> {
    let q = prime::any(size.subgroup_bits() as usize, progress)?;
    let p = prime::above_multiple(usize::from(size.0), &q, Factor::Any, progress)?;
    let mut workspace = Workspace::new()?;
    let cofactor = workspace.quotient(&p, &q)?;
    let g = loop {
        let base = random::base(&p)?;
        let g = workspace.power(Power { base: &base, exponent: &cofactor, modulus: &p })?;
        if !g.is_one() {
            break g;
        }
    };
    let x = random::base(&q)?;
    let y = workspace.power(Power { base: &g, exponent: &x, modulus: &p })?;
    Ok(Numbers { public: [p, q, g, y].map(|number| number.to_bytes().to_vec()).to_vec(), x: x.to_bytes() })
}

/// Generates an Elgamal key: p - 1 is twice a product of large primes (C. Lim and P. Lee), so that no small subgroup
/// reveals bits of the secret exponent; g is a square, whose order is that product; x is half as long again as the
/// primes.
pub(crate) fn elgamal(size: ElgamalSize, progress: &mut dyn Progress) -> Result<Numbers> {
    const SQUARE: [u8; 1] = [4];
    let factor_bits = size.factor_bits();
    let mut workspace = Workspace::new()?;
    let mut product = prime::any(factor_bits, progress)?;
    // The search below adds the last factor, which has to be large as well.
    while usize::from(size.0) - product.bits() > 2 * factor_bits + 2 {
        product = workspace.product(&product, &prime::any(factor_bits, progress)?)?;
    }
    let p = prime::above_multiple(usize::from(size.0), &product, Factor::Prime, progress)?;
    let g = Number::from_bytes(&SQUARE)?;
    let x = random::of_bits(factor_bits * 3 / 2)?;
    let y = workspace.power(Power { base: &g, exponent: &x, modulus: &p })?;
    Ok(Numbers { public: [p, g, y].map(|number| number.to_bytes().to_vec()).to_vec(), x: x.to_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    fn numbers<const N: usize>(made: &Numbers) -> [Number; N] {
        let read = made.public.iter().map(|bytes| Number::from_bytes(bytes).unwrap());
        read.collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{N} numbers"))
    }

    #[test]
    fn the_generator_of_a_dsa_key_has_the_order_of_the_subgroup() {
        for (bits, subgroup) in [(768, 160), (1024, 160), (1088, 224), (2048, 256)] {
            let size = DsaSize::new(bits).unwrap();
            let made = dsa(size, &mut Silent).unwrap();
            let [p, q, g, y] = numbers(&made);
            assert_eq!((p.bits(), q.bits()), (bits as usize, subgroup));
            let mut workspace = Workspace::new().unwrap();
            assert!(workspace.remainder(&p, &q).unwrap().is_one());
            for element in [&g, &y] {
                let power = workspace.power(Power { base: element, exponent: &q, modulus: &p }).unwrap();
                assert!(power.is_one() && !element.is_one());
            }
            assert!(Number::from_bytes(&made.x).unwrap() < q);
        }
    }

    #[test]
    fn the_powers_of_an_elgamal_generator_are_of_no_small_order() {
        for bits in [1024, 1056, 2048] {
            let size = ElgamalSize::new(bits).unwrap();
            let made = elgamal(size, &mut Silent).unwrap();
            let [p, g, y] = numbers(&made);
            assert_eq!((p.bits(), made.x.len()), (bits as usize, (size.factor_bits() * 3 / 2).div_ceil(8)));
            let mut workspace = Workspace::new().unwrap();
            let half = p.shifted_right(1).unwrap();
            for element in [&g, &y] {
                assert!(
                    workspace.power(Power { base: element, exponent: &half, modulus: &p }).unwrap().is_one()
                );
            }
            // No small prime divides the half of p less one.
            assert!((3..10_000).all(|divisor| half.modulo_word(divisor) != 0));
        }
    }

    #[test]
    fn sizes_are_those_of_gnupg() {
        assert!([768, 1024, 2048, 3072].iter().all(|bits| DsaSize::new(*bits).is_ok()));
        assert!([512, 1000, 3136, 4096].iter().all(|bits| DsaSize::new(*bits).is_err()));
        assert!([1024, 2080, 4096].iter().all(|bits| ElgamalSize::new(*bits).is_ok()));
        assert!([992, 2050, 4128].iter().all(|bits| ElgamalSize::new(*bits).is_err()));
    }
}
