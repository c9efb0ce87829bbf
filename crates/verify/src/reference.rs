//! OpenSSL: verifies what aws-lc rejects or does not support.
//!
//! OpenSSL is initialised at the first check.

use crate::digest_info::digest_info;
use crate::limits::{MAX_DSA_BITS, MAX_RSA_BITS};
use crate::mpi::{Fields, bits, ed448_legacy_point, ed25519_legacy_point, padded};
use crate::{Check, PublicKeyAlgorithm, Verdict};
use libcrypto::Curve;
use openssl::bn::{BigNum, BigNumContext};
use openssl::dsa::{Dsa, DsaSig};
use openssl::ec::{EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::md_ctx::{MdCtx, MdCtxRef};
use openssl::pkey::{Id, PKey};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::{Padding, Rsa};

/// Verifies one signature, of an algorithm that [belongs](PublicKeyAlgorithm::verifies) to the key's.
pub(crate) fn verify(check: &Check<'_>) -> Verdict {
    libcrypto::initialise();
    let verified = match check.issuer.algorithm {
        algorithm if algorithm.is_rsa() => verify_rsa(check),
        PublicKeyAlgorithm::DSA => verify_dsa(check),
        PublicKeyAlgorithm::ECDSA => verify_ecdsa(check),
        PublicKeyAlgorithm::EDDSA_LEGACY => verify_eddsa_legacy(check),
        PublicKeyAlgorithm::ED25519 => verify_bytes::<32, 64>(check, Id::ED25519),
        PublicKeyAlgorithm::ED448 => verify_bytes::<57, 114>(check, Id::ED448),
        algorithm if algorithm.is_post_quantum() => verify_post_quantum(check),
        _ => None,
    };
    match verified {
        None => Verdict::Unsupported,
        Some(Ok(true)) => Verdict::Good,
        Some(Ok(false)) => Verdict::Bad,
        // OpenSSL fails where a number is out of range or a point is not on its curve.
        Some(Err(errors)) if libcrypto::is_about_input(&errors) => Verdict::Bad,
        // Without memory or an algorithm nothing was verified, and a signature that may be good must not be called bad.
        Some(Err(_)) => Verdict::Unsupported,
    }
}

/// Whether a signature verifies; `None` if the key or the hash algorithm is not supported, or the key is cut short.
type Verified = Option<Result<bool, ErrorStack>>;

/// A signature that is cut short, or has numbers that are too long.
const MALFORMED: Verified = Some(Ok(false));

/// OpenSSL's limits, like those in [`limits`](crate::limits). OpenSSL would reject good signatures beyond them.
const MAX_RSA_BITS_WITH_LONG_EXPONENT: usize = 3072;
const DSA_SUBGROUP_BITS: [usize; 3] = [160, 224, 256];

fn verify_rsa(check: &Check<'_>) -> Verified {
    let (mut key, mut signature) = (Fields(check.issuer.material), Fields(check.signature.material));
    let (n, e) = (key.mpi()?, key.mpi()?);
    if bits(n) > MAX_RSA_BITS || (bits(n) > MAX_RSA_BITS_WITH_LONG_EXPONENT && bits(e) > 64) {
        return None;
    }
    let signed = digest_info(check.hash, check.digest.as_bytes())?;
    let Some(s) = signature.mpi() else { return MALFORMED };
    Some(rsa_recovers(n, e, s, &signed))
}

/// Returns whether the signature `s` without its padding (RFC 8017, 8.2.2) is `signed`.
fn rsa_recovers(n: &[u8], e: &[u8], s: &[u8], signed: &[u8]) -> Result<bool, ErrorStack> {
    let key = Rsa::from_public_components(BigNum::from_slice(n)?, BigNum::from_slice(e)?)?;
    let mut recovered = vec![0; key.size() as usize];
    let length = key.public_decrypt(s, &mut recovered, Padding::PKCS1)?;
    Ok(recovered[..length] == *signed)
}

fn verify_dsa(check: &Check<'_>) -> Verified {
    let mut key = Fields(check.issuer.material);
    let [p, q, g, y] = [key.mpi()?, key.mpi()?, key.mpi()?, key.mpi()?];
    if bits(p) > MAX_DSA_BITS || !DSA_SUBGROUP_BITS.contains(&bits(q)) {
        return None;
    }
    let Some(signature) = two_numbers(check) else { return MALFORMED };
    Some(dsa_verifies([p, q, g, y], signature, check.digest.as_bytes()))
}

fn dsa_verifies(key: [&[u8]; 4], [r, s]: [&[u8]; 2], digest: &[u8]) -> Result<bool, ErrorStack> {
    let [p, q, g, y] = key.map(BigNum::from_slice);
    let key = PKey::from_dsa(Dsa::from_public_components(p?, q?, g?, y?)?)?;
    let signature = DsaSig::from_private_components(BigNum::from_slice(r)?, BigNum::from_slice(s)?)?;
    let mut context = PkeyCtx::new(&key)?;
    context.verify_init()?;
    context.verify(digest, &signature.to_der()?)
}

fn verify_ecdsa(check: &Check<'_>) -> Verified {
    let mut key = Fields(check.issuer.material);
    let (curve, point) = (Curve::by_oid(key.oid()?)?, key.mpi()?);
    let Some(signature) = two_numbers(check) else { return MALFORMED };
    Some(ecdsa_verifies(curve, point, signature, check.digest.as_bytes()))
}

fn ecdsa_verifies(curve: Curve, point: &[u8], [r, s]: [&[u8]; 2], digest: &[u8]) -> Result<bool, ErrorStack> {
    let group = curve.group()?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    let key = EcKey::from_public_key(&group, &point)?;
    let signature = EcdsaSig::from_private_components(BigNum::from_slice(r)?, BigNum::from_slice(s)?)?;
    let verified = signature.verify(digest, &key);
    // What OpenSSL says of a bad signature would be taken for the reason of a later error.
    ErrorStack::get();
    verified
}

/// Verifies a signature that GnuPG writes as two numbers.
fn verify_eddsa_legacy(check: &Check<'_>) -> Verified {
    let key = Fields(check.issuer.material);
    match ed25519_legacy_point(key) {
        Some(point) => verify_halves(check, Id::ED25519, point),
        None => verify_halves(check, Id::ED448, ed448_legacy_point(key)?),
    }
}

/// Verifies a signature of two numbers, each of which is as long as the point.
fn verify_halves<const N: usize>(check: &Check<'_>, id: Id, point: &[u8; N]) -> Verified {
    let Some([r, s]) = two_numbers(check) else { return MALFORMED };
    let (Some(r), Some(s)) = (padded::<N>(r), padded::<N>(s)) else { return MALFORMED };
    Some(eddsa_verifies(id, point, &[r, s].concat(), check.digest.as_bytes()))
}

/// Verifies a signature of `S` bytes under a key of `K` bytes, as RFC 9580 has them.
fn verify_bytes<const K: usize, const S: usize>(check: &Check<'_>, id: Id) -> Verified {
    let key: &[u8; K] = Fields(check.issuer.material).bytes()?;
    let Some(signature) = Fields(check.signature.material).bytes::<S>() else { return MALFORMED };
    Some(eddsa_verifies(id, key, signature, check.digest.as_bytes()))
}

/// The shortest digest that the algorithms of RFC 9980 sign (5.3.1 and 6.2.1), in bytes.
const MIN_POST_QUANTUM_DIGEST: usize = 32;

/// Verifies both parts of a signature of RFC 9980, or the only one of SLH-DSA.
fn verify_post_quantum(check: &Check<'_>) -> Verified {
    let algorithm = check.issuer.algorithm;
    let scheme = algorithm.signature_scheme()?;
    let (key, signature) = (check.issuer.material, check.signature.material);
    if algorithm.fixed_public_length() != Some(key.len()) {
        return None;
    }
    let digest = check.digest.as_bytes();
    if algorithm.fixed_signature_length() != Some(signature.len()) || digest.len() < MIN_POST_QUANTUM_DIGEST {
        return MALFORMED;
    }
    let (on_curve, key) = key.split_at(key.len() - scheme.public_length());
    let (by_curve, signature) = signature.split_at(signature.len() - scheme.signature_length());
    let verified_on_curve = match algorithm.curve_part() {
        Some(PublicKeyAlgorithm::ED25519) => eddsa_verifies(Id::ED25519, on_curve, by_curve, digest),
        Some(PublicKeyAlgorithm::ED448) => eddsa_verifies(Id::ED448, on_curve, by_curve, digest),
        _ => Ok(true),
    };
    Some(match verified_on_curve {
        Ok(true) => scheme.verifies(key, digest, signature),
        failed => failed,
    })
}

pub(crate) fn eddsa_verifies(
    id: Id,
    key: &[u8],
    signature: &[u8],
    digest: &[u8],
) -> Result<bool, ErrorStack> {
    let key = PKey::public_key_from_raw_bytes(key, id)?;
    let mut context = MdCtx::new()?;
    context.digest_verify_init(None, &key)?;
    signs(&mut context, signature, digest)
}

/// Returns whether a signature by the key of a context verifies.
///
/// OpenSSL returns the same for a wrong signature and for an error, of which only its errors tell: of a wrong signature
/// there is none, or that the provider's function failed (`EVP_R_PROVIDER_SIGNATURE_FAILURE`).
fn signs(context: &mut MdCtxRef, signature: &[u8], digest: &[u8]) -> Result<bool, ErrorStack> {
    const EVP: i32 = 6;
    const PROVIDER_SIGNATURE_FAILURE: i32 = 234;
    match context.digest_verify(digest, signature) {
        Err(errors)
            if errors.errors().iter().all(|error| {
                (error.library_code(), error.reason_code()) == (EVP, PROVIDER_SIGNATURE_FAILURE)
            }) =>
        {
            Ok(false)
        }
        verified => verified,
    }
}

/// Reads the two numbers of a signature.
fn two_numbers<'a>(check: &Check<'a>) -> Option<[&'a [u8]; 2]> {
    let mut fields = Fields(check.signature.material);
    Some([fields.mpi()?, fields.mpi()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::provider::Provider;
    use std::process::Command;

    /// Tells a child process of the test that it is one.
    const CHILD: &str = "KEYHOARD_TEST_WITHOUT_ALGORITHMS";

    /// The algorithms belong to the whole process, so that the test runs itself in another one.
    #[test]
    fn an_algorithm_that_cannot_be_fetched_makes_no_signature_bad() {
        if std::env::var_os(CHILD).is_some() {
            return verify_without_shake256();
        }
        let name = "reference::tests::an_algorithm_that_cannot_be_fetched_makes_no_signature_bad";
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        let output = child.args(["--exact", name]).env(CHILD, "1").output().expect("it starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains("running 1 test"), "{printed}");
        assert!(output.status.success(), "{printed}");
    }

    /// Takes OpenSSL's algorithms away after the one for the signature was fetched, and before the one for its digest.
    fn verify_without_shake256() {
        libcrypto::initialise();
        let none = Provider::load(None, "null").expect("the provider without algorithms");
        let all = Provider::load(None, "default").expect("the default provider");
        let key = PKey::generate_ed448().expect("a key");
        let signature = openssl::sign::Signer::new_without_digest(&key)
            .and_then(|mut it| it.sign_oneshot_to_vec(&[1; 64]));
        let signature = signature.expect("a signature");
        let mut context = MdCtx::new().expect("memory");
        for wrong in [false, true] {
            context.digest_verify_init(None, &key).expect("Ed448");
            let digest = [if wrong { 2 } else { 1 }; 64];
            assert_eq!(signs(&mut context, &signature, &digest).expect("no error"), !wrong);
        }
        context.digest_verify_init(None, &key).expect("Ed448");
        drop(all);
        let error = signs(&mut context, &signature, &[1; 64]).expect_err("there is no SHAKE256");
        assert!(!libcrypto::is_about_input(&error), "{error}");
        drop(none);
    }
}
