//! DSA keys.

use openssl::dsa::{Dsa, DsaSig};
use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::pkey_ctx::PkeyCtx;
use verify::limits::MAX_DSA_BITS;

use crate::fields::{Fields, write_number};
use crate::numbers;

/// The numbers of a key, public and secret, the most significant byte first (RFC 9580, 5.5.5.2).
pub(crate) struct Numbers<'a> {
    public: [&'a [u8]; 4],
    x: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts in the encoding of packets; `None` if they are cut short or too long.
    pub(crate) fn read(public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let [x] = Fields(secret).numbers()?;
        Some(Self { public: Fields(public).numbers()?, x })
    }

    /// Returns whether both parts belong together: y is g to the power of x modulo p, and x is below q.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        let [p, q, g, y] = self.public.map(numbers::public);
        let (p, q, g, y, x) = (p?, q?, g?, y?, numbers::secret(self.x)?);
        // What is larger takes longer than the numbers of any valid key.
        let is_sound = p.is_odd() && p.num_bits() as usize <= MAX_DSA_BITS && q < p && g < p;
        Ok(is_sound && numbers::is_within(&x, &q) && numbers::power(&g, &x, &p)? == y)
    }

    /// Signs a digest; returns the two numbers of the signature in the encoding of packets.
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let [p, q, g, y] = self.public.map(numbers::public);
        let key = Dsa::from_private_components(p?, q?, g?, numbers::secret(self.x)?, y?)?;
        let key = PKey::from_dsa(key)?;
        let mut context = PkeyCtx::new(&key)?;
        context.sign_init()?;
        let mut signature = Vec::new();
        context.sign_to_vec(digest, &mut signature)?;
        let signature = DsaSig::from_der(&signature)?;
        Ok([signature.r(), signature.s()].map(|number| write_number(&number.to_vec()).to_vec()).concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belongs(public: [u8; 4], x: u8) -> bool {
        let [x, public] = [&[x][..], &public].map(|numbers| {
            numbers.iter().flat_map(|number| write_number(&[*number]).to_vec()).collect::<Vec<_>>()
        });
        Numbers::read(&public, &x).expect("all numbers").belong().expect("memory")
    }

    #[test]
    fn a_secret_belongs_to_its_power_only_and_is_below_the_order() {
        // 4 has the order 11 modulo 23, and 4 to the power of 3 is 18.
        assert!(belongs([23, 11, 4, 18], 3));
        assert!(!belongs([23, 11, 4, 18], 4) && !belongs([23, 11, 4, 16], 3));
        assert!(!belongs([23, 11, 4, 18], 14), "3 plus the order");
        assert!(!belongs([23, 11, 4, 1], 0) && !belongs([22, 11, 4, 18], 3));
        assert!(!belongs([23, 29, 4, 18], 3), "an order above the prime");
    }
}
