//! ECDSA and ECDH keys on the curves of NIST and Brainpool.

use libcrypto::Curve;
use openssl::bn::BigNumContext;
use openssl::derive::Deriver;
use openssl::ec::{EcKey, EcPoint, PointConversionForm};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::pkey::{PKey, Private, Public};
use zeroize::Zeroizing;

use crate::fields::{Fields, write_number};
use crate::montgomery::Agreed;
use crate::numbers;

/// The numbers of a key, public and secret.
pub(crate) struct Numbers<'a> {
    curve: Curve,
    point: &'a [u8],
    scalar: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts in the encoding of packets; `None` if they are cut short or the secret one is too long.
    pub(crate) fn read(curve: Curve, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let [scalar] = Fields(secret).numbers()?;
        Some(Self { curve, point: point(public)?, scalar })
    }

    /// Returns whether both parts belong together: the scalar is in the range of the curve's order, and the point is
    /// that multiple of the curve's generator.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        // An error is one of the point's encoding or of the check.
        Ok(self.private_key().is_ok_and(|key| key.check_key().is_ok()))
    }

    /// Signs a digest; returns the two numbers of the signature in the encoding of packets.
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let signature = EcdsaSig::sign(digest, &*self.private_key()?)?;
        Ok([signature.r(), signature.s()].map(|number| write_number(&number.to_vec()).to_vec()).concat())
    }

    /// Returns the secret that the key shares with an ephemeral key; `None` if that is no point of the curve.
    pub(crate) fn shared(&self, ephemeral: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        let Ok(partner) = public_key(self.curve, ephemeral) else { return Ok(None) };
        shared(self.private_key()?, partner).map(Some)
    }

    fn private_key(&self) -> Result<EcKey<Private>, ErrorStack> {
        let public = public_key(self.curve, self.point)?;
        EcKey::from_private_components(public.group(), &*numbers::secret(self.scalar)?, public.public_key())
    }
}

/// Makes an ephemeral key for a public one; returns its point, and the secret that they share. `None` if the public one
/// cannot be read.
pub(crate) fn agree(curve: Curve, public: &[u8]) -> Result<Option<Agreed>, ErrorStack> {
    let Some(partner) = point(public).and_then(|point| public_key(curve, point).ok()) else {
        return Ok(None);
    };
    let own = EcKey::generate(partner.group())?;
    let ephemeral = own.public_key().to_bytes(
        own.group(),
        PointConversionForm::UNCOMPRESSED,
        &mut *BigNumContext::new()?,
    )?;
    Ok(Some(Agreed { ephemeral, shared: shared(own, partner)? }))
}

/// Reads the point of a public key, which comes after the curve.
fn point(public: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields(public);
    fields.counted()?;
    fields.number()
}

/// Reads a point, which must be one of the curve and not the point at infinity.
fn public_key(curve: Curve, point: &[u8]) -> Result<EcKey<Public>, ErrorStack> {
    let group = curve.group()?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    let key = EcKey::from_public_key(&group, &point)?;
    key.check_key()?;
    Ok(key)
}

fn shared(own: EcKey<Private>, partner: EcKey<Public>) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
    let (own, partner) = (PKey::from_ec_key(own)?, PKey::from_ec_key(partner)?);
    let mut deriver = Deriver::new(&own)?;
    deriver.set_peer(&partner)?;
    deriver.derive_to_vec().map(Zeroizing::new)
}
