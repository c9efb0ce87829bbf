//! Checks of signatures over digests under public keys, and verdicts.

use crate::mpi::{Fields, bits};
use crate::{HashAlgorithm, PublicKeyAlgorithm, hash::Digest};
use libcrypto::Curve;

/// A public key, encoded as in its packet.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a> {
    /// The packet's algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// The algorithm-specific fields (MPIs, curve OID, ...), exactly as in the packet.
    pub material: &'a [u8],
}

impl PublicKey<'_> {
    /// Returns an estimate of the time of a verification under this key, as a multiple of the time under an RSA key of
    /// 4096 bits; at least 1.
    ///
    /// An attacker can choose keys that take a hundred times as long as others.
    pub fn cost(&self) -> usize {
        /// The bit operations of 17 multiplications of 4096 bits, for an exponent of 17 bits.
        const UNIT: u64 = 4096 * 4096 * 17;
        let mut fields = Fields(self.material);
        let mut number = || fields.mpi().map_or(0, |value| bits(value) as u64);
        let multiplications = match self.algorithm {
            algorithm if algorithm.is_rsa() => number().pow(2) * number().max(17),
            PublicKeyAlgorithm::DSA => number().pow(2) * 2 * number(),
            // Adding points takes many multiplications of the curve's size.
            PublicKeyAlgorithm::ECDSA => {
                let curve = Fields(self.material).oid().and_then(Curve::by_oid);
                curve.map_or(0, |curve| 68 * u64::from(curve.bits()).pow(3))
            }
            // As measured: hashing takes most of the time.
            PublicKeyAlgorithm::ML_DSA_65_ED25519 | PublicKeyAlgorithm::ML_DSA_87_ED448 => 4 * UNIT,
            PublicKeyAlgorithm::SLH_DSA_SHAKE_128S => 20 * UNIT,
            PublicKeyAlgorithm::SLH_DSA_SHAKE_128F | PublicKeyAlgorithm::SLH_DSA_SHAKE_256S => 40 * UNIT,
            _ => 0,
        };
        multiplications.div_ceil(UNIT).max(1) as usize
    }
}

/// The algorithm-specific fields of a signature, exactly as in the packet.
#[derive(Clone, Copy, Debug)]
pub struct SignatureValue<'a> {
    /// The signature's public-key algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// MPIs, or the fixed-length bytes of RFC 9580's algorithms.
    pub material: &'a [u8],
}

/// The question whether `issuer` made `signature` over `digest`.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The alleged issuer.
    pub issuer: PublicKey<'a>,
    /// The hash algorithm of the digest.
    pub hash: HashAlgorithm,
    /// The digest of the signed bytes.
    pub digest: Digest,
    /// The value of the signature.
    pub signature: SignatureValue<'a>,
}

/// The answer to a [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The equation holds.
    Good,
    /// The equation does not hold.
    Bad,
    /// The algorithm, the curve or the size is not supported, or memory was missing.
    Unsupported,
}
