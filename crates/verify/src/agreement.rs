//! Differential tests on good and on damaged signatures: aws-lc against OpenSSL, and both against sequoia-openpgp with
//! RustCrypto.

use crate::mpi::{Fields, bits, padded};
use crate::{
    Check, HashAlgorithm, PublicKey, PublicKeyAlgorithm, SignatureValue, Verdict, Verifier, fast,
    hash::Digest, hash::Hasher, reference, verify,
};
use openssl::bn::BigNumContext;
use openssl::ec::{EcKey, EcPoint, PointConversionForm};
use openssl::error::ErrorStack;
use openssl::pkey::Public;
use sequoia_openpgp::crypto::Signer;
use sequoia_openpgp::crypto::mpi::{self, MPI};
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{Key4, PublicParts, SecretParts, UnspecifiedRole};
use sequoia_openpgp::serialize::MarshalInto;
use sequoia_openpgp::types::Curve;
use std::process::Command;
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

/// A signature, in the pieces that a check takes.
#[derive(Clone)]
struct Made {
    algorithm: PublicKeyAlgorithm,
    key: Vec<u8>,
    hash: HashAlgorithm,
    digest: Digest,
    signature: Vec<u8>,
}

impl Made {
    fn check(&self) -> Check<'_> {
        Check {
            issuer: PublicKey { algorithm: self.algorithm, material: &self.key },
            hash: self.hash,
            digest: self.digest,
            signature: SignatureValue { algorithm: self.algorithm, material: &self.signature },
        }
    }

    /// What aws-lc says; `None` where it does not know or cannot read the pieces.
    fn fast(&self) -> Option<bool> {
        let check = self.check();
        fast::Issuer::new(check.issuer, check.hash)?.verifies(&check.digest, check.signature)
    }

    /// Returns the verdict of the whole, after making sure that it is the reference's.
    fn verdict(&self, what: &str) -> Verdict {
        let reference = reference::verify(&self.check());
        if self.fast() == Some(true) {
            assert_eq!(reference, Verdict::Good, "aws-lc is alone in calling this good: {what}");
        }
        let verdict = verify(&[self.check()])[0];
        assert_eq!(verdict, reference, "{what}");
        if let Some(theirs) = self.is_good_to_sequoia() {
            assert_eq!(verdict == Verdict::Good, theirs, "{what}");
        }
        verdict
    }

    /// Returns whether sequoia-openpgp verifies the signature; `None` for what it cannot read, and for curves and sizes
    /// that RustCrypto does not support.
    fn is_good_to_sequoia(&self) -> Option<bool> {
        let (key, signature) = (self.key_of_sequoia()?, self.signature_of_sequoia()?);
        let key: Key4<PublicParts, UnspecifiedRole> =
            Key4::new(UNIX_EPOCH, self.algorithm.0.into(), key).ok()?;
        Some(Key::from(key).verify(&signature, self.hash.0.into(), self.digest.as_bytes()).is_ok())
    }

    fn key_of_sequoia(&self) -> Option<mpi::PublicKey> {
        let mut fields = Fields(&self.key);
        Some(match self.algorithm {
            PublicKeyAlgorithm::RSA => {
                let (n, e) = (fields.mpi()?, fields.mpi()?);
                let fits = (2048..=4096).contains(&bits(n)) && bits(e) <= 32;
                fits.then(|| mpi::PublicKey::RSA { n: MPI::new(n), e: MPI::new(e) })?
            }
            PublicKeyAlgorithm::DSA => {
                let [p, q, g, y] = [fields.mpi()?, fields.mpi()?, fields.mpi()?, fields.mpi()?].map(MPI::new);
                mpi::PublicKey::DSA { p, q, g, y }
            }
            PublicKeyAlgorithm::ECDSA => {
                let (curve, q) = (Curve::from_oid(fields.oid()?), fields.mpi()?);
                // RustCrypto takes no digest that is shorter than half of the curve's order.
                let is_short = curve == Curve::NistP521 && self.digest.as_bytes().len() < 33;
                let fits = curve.is_supported() && !is_short;
                fits.then(|| mpi::PublicKey::ECDSA { curve, q: MPI::new(q) })?
            }
            PublicKeyAlgorithm::EDDSA_LEGACY => {
                let (curve, q) = (Curve::from_oid(fields.oid()?), fields.mpi()?);
                mpi::PublicKey::EdDSA { curve, q: MPI::new(q) }
            }
            PublicKeyAlgorithm::ED25519 => mpi::PublicKey::Ed25519 { a: *fields.bytes()? },
            PublicKeyAlgorithm::ED448 => mpi::PublicKey::Ed448 { a: Box::new(*fields.bytes()?) },
            _ => return None,
        })
    }

    fn signature_of_sequoia(&self) -> Option<mpi::Signature> {
        let mut fields = Fields(&self.signature);
        Some(match self.algorithm {
            PublicKeyAlgorithm::RSA => mpi::Signature::RSA { s: MPI::new(fields.mpi()?) },
            PublicKeyAlgorithm::DSA => {
                mpi::Signature::DSA { r: MPI::new(fields.mpi()?), s: MPI::new(fields.mpi()?) }
            }
            PublicKeyAlgorithm::ECDSA => {
                mpi::Signature::ECDSA { r: MPI::new(fields.mpi()?), s: MPI::new(fields.mpi()?) }
            }
            PublicKeyAlgorithm::EDDSA_LEGACY => {
                let (r, s) = (padded::<32>(fields.mpi()?)?, padded::<32>(fields.mpi()?)?);
                mpi::Signature::EdDSA { r: MPI::new(&r), s: MPI::new(&s) }
            }
            PublicKeyAlgorithm::ED25519 => mpi::Signature::Ed25519 { s: Box::new(*fields.bytes()?) },
            PublicKeyAlgorithm::ED448 => mpi::Signature::Ed448 { s: Box::new(*fields.bytes()?) },
            _ => return None,
        })
    }

    fn name(&self) -> String {
        format!("{:?} {:?}", self.algorithm, self.hash)
    }
}

fn digest(hash: HashAlgorithm, message: &[u8]) -> Digest {
    let mut hasher = Hasher::new(hash).expect("a known hash");
    hasher.update(message);
    hasher.finish().expect("no collision")
}

fn sign(key: Key4<SecretParts, UnspecifiedRole>, hash: HashAlgorithm) -> Made {
    let key = Key::from(key);
    let digest = digest(hash, b"message");
    let mut pair = key.clone().into_keypair().expect("a key that is not encrypted");
    let signature = pair.sign(hash.0.into(), digest.as_bytes()).expect("a signature");
    Made {
        algorithm: PublicKeyAlgorithm(key.pk_algo().into()),
        key: key.mpis().to_vec().expect("public key material"),
        hash,
        digest,
        signature: signature.to_vec().expect("signature material"),
    }
}

fn rsa(bits: usize, hash: HashAlgorithm) -> Made {
    sign(Key4::generate_rsa(bits).expect("an RSA key"), hash)
}

fn ecc(curve: Curve, hash: HashAlgorithm) -> Made {
    sign(Key4::generate_ecc(true, curve).expect("an elliptic key"), hash)
}

/// What aws-lc knows; always the same, since RustCrypto makes keys slowly.
fn of_the_fast_kinds() -> Vec<Made> {
    static MADE: LazyLock<Vec<Made>> = LazyLock::new(make_the_fast_kinds);
    MADE.clone()
}

/// What only the reference knows; always the same.
fn of_the_other_kinds() -> Vec<Made> {
    static MADE: LazyLock<Vec<Made>> = LazyLock::new(make_the_other_kinds);
    MADE.clone()
}

fn make_the_fast_kinds() -> Vec<Made> {
    vec![
        rsa(2048, HashAlgorithm::SHA256),
        rsa(2048, HashAlgorithm::SHA1),
        rsa(2048, HashAlgorithm::SHA384),
        rsa(3072, HashAlgorithm::SHA512),
        ecc(Curve::NistP256, HashAlgorithm::SHA256),
        ecc(Curve::NistP256, HashAlgorithm::SHA512),
        ecc(Curve::NistP384, HashAlgorithm::SHA384),
        ecc(Curve::NistP384, HashAlgorithm::SHA256),
        ecc(Curve::NistP521, HashAlgorithm::SHA512),
        ecdsa_from(HashAlgorithm::SHA256, include_str!("testdata/nistp521-sha256.hex")),
        ecc(Curve::Ed25519, HashAlgorithm::SHA512),
        ecc(Curve::Ed25519, HashAlgorithm::SHA256),
        sign(Key4::generate_ed25519().expect("an Ed25519 key"), HashAlgorithm::SHA256),
    ]
}

fn make_the_other_kinds() -> Vec<Made> {
    vec![
        rsa(1024, HashAlgorithm::SHA384),
        rsa(2048, HashAlgorithm::SHA224),
        rsa(2048, HashAlgorithm::MD5),
        rsa(2048, HashAlgorithm::RIPEMD160),
        ecc(Curve::NistP256, HashAlgorithm::SHA1),
        ecc(Curve::NistP384, HashAlgorithm::SHA224),
        ecdsa_from(HashAlgorithm::SHA256, include_str!("testdata/brainpoolP256r1-sha256.hex")),
        ecdsa_from(HashAlgorithm::SHA384, include_str!("testdata/brainpoolP384r1-sha384.hex")),
        ecdsa_from(HashAlgorithm::SHA512, include_str!("testdata/brainpoolP512r1-sha512.hex")),
        sign(Key4::generate_dsa(2048).expect("a DSA key"), HashAlgorithm::SHA256),
        sign(Key4::generate_ed448().expect("an Ed448 key"), HashAlgorithm::SHA512),
        in_form_of_librepgp(sign(Key4::generate_ed448().expect("an Ed448 key"), HashAlgorithm::SHA512)),
        rsa_from(include_str!("testdata/rsa-8448.hex")),
        rsa_from(include_str!("testdata/rsa-2048-long-exponent.hex")),
    ]
}

/// Writes the point of an Ed448 key and both halves of a signature as GnuPG does, as numbers with the zeros before them.
fn in_form_of_librepgp(made: Made) -> Made {
    let octets = |bytes: &[u8]| [&(bytes.len() as u16 * 8).to_be_bytes(), bytes].concat();
    let (r, s) = made.signature.split_at(57);
    Made {
        algorithm: PublicKeyAlgorithm::EDDSA_LEGACY,
        key: [&[3, 0x2b, 0x65, 0x71][..], &octets(&made.key)].concat(),
        signature: [octets(r), octets(s)].concat(),
        ..made
    }
}

/// Reads RSA material that [`made_elsewhere`].
fn rsa_from(hex: &str) -> Made {
    made_elsewhere(PublicKeyAlgorithm::RSA, HashAlgorithm::SHA256, hex)
}

/// Reads ECDSA material that [`made_elsewhere`].
fn ecdsa_from(hash: HashAlgorithm, hex: &str) -> Made {
    made_elsewhere(PublicKeyAlgorithm::ECDSA, hash, hex)
}

/// Reads public key material and signature material over a digest of "message", made with another OpenSSL.
fn made_elsewhere(algorithm: PublicKeyAlgorithm, hash: HashAlgorithm, hex: &str) -> Made {
    let mut lines = hex.lines().map(|line| {
        let bytes = line.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).expect("hex digits"));
        bytes.map(|pair| u8::from_str_radix(pair, 16).expect("hex digits")).collect::<Vec<u8>>()
    });
    Made {
        algorithm,
        key: lines.next().expect("a key"),
        hash,
        digest: digest(hash, b"message"),
        signature: lines.next().expect("a signature"),
    }
}

#[test]
fn good_signatures_of_the_usual_kinds_need_no_second_opinion() {
    for made in of_the_fast_kinds() {
        assert_eq!(made.fast(), Some(true), "{}", made.name());
        assert_eq!(made.verdict(&made.name()), Verdict::Good);
        assert_ne!(made.is_good_to_sequoia(), Some(false), "{}", made.name());
    }
}

#[test]
fn the_reference_verifies_what_aws_lc_does_not_know() {
    let mut verified_by_sequoia = 0;
    for made in of_the_other_kinds() {
        assert_ne!(made.fast(), Some(true), "{}", made.name());
        assert_eq!(made.verdict(&made.name()), Verdict::Good, "{}", made.name());
        verified_by_sequoia += usize::from(made.is_good_to_sequoia() == Some(true));
    }
    assert!(verified_by_sequoia >= 7, "{verified_by_sequoia}");
}

#[test]
fn a_flipped_bit_anywhere_in_the_digest_or_the_signature_is_seen_by_both() {
    for made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        let mut other = made.clone();
        other.digest = digest(made.hash, b"another message");
        assert_eq!(other.verdict("another digest"), Verdict::Bad);
        for position in (0..made.signature.len()).step_by(7) {
            let mut damaged = made.clone();
            damaged.signature[position] ^= 1 << (position % 8);
            let what = format!("{} with byte {position} of the signature damaged", made.name());
            let harmless = damaged.signature_numbers() == made.signature_numbers();
            let expected = if harmless { Verdict::Good } else { Verdict::Bad };
            assert_eq!(damaged.verdict(&what), expected, "{what}");
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_in_the_key_is_seen_by_both() {
    for made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        for position in (0..made.key.len()).step_by(made.key.len() / 24) {
            let mut damaged = made.clone();
            damaged.key[position] ^= 1 << (position % 8);
            let what = format!("{} with byte {position} of the key damaged", made.name());
            damaged.verdict(&what);
        }
    }
}

#[test]
fn material_cut_short_is_never_good() {
    for made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        for length in [0, 1, 2, 3, 31, made.signature.len() - 1] {
            let mut cut = made.clone();
            cut.signature.truncate(length);
            assert_eq!(cut.verdict("a signature cut short"), Verdict::Bad);
        }
        for length in [0, 1, 2, 3, 31, made.key.len() - 1] {
            let mut cut = made.clone();
            cut.key.truncate(length);
            assert_eq!(cut.verdict("a key cut short"), Verdict::Unsupported);
        }
    }
}

impl Made {
    fn is_made_of_numbers(&self) -> bool {
        !matches!(self.algorithm, PublicKeyAlgorithm::ED25519 | PublicKeyAlgorithm::ED448)
    }

    fn signature_numbers(&self) -> Vec<&[u8]> {
        if !self.is_made_of_numbers() {
            return vec![&self.signature];
        }
        let mut fields = crate::mpi::Fields(&self.signature);
        std::iter::from_fn(|| fields.mpi()).collect()
    }

    fn with_numbers(&self, numbers: &[Vec<u8>]) -> Self {
        let mut made = self.clone();
        made.signature.clear();
        for number in numbers {
            made.signature.extend((number.len() as u16 * 8).to_be_bytes());
            made.signature.extend(number);
        }
        made
    }
}

#[test]
fn a_number_written_with_zeros_in_front_is_the_same_number() {
    for made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        if made.is_made_of_numbers() {
            let numbers = made.signature_numbers();
            let zeros = numbers.iter().map(|number| [&[0, 0, 0][..], number].concat()).collect::<Vec<_>>();
            let what = format!("{} with zeros in front", made.name());
            assert_eq!(made.with_numbers(&zeros).verdict(&what), Verdict::Good, "{what}");
        }
    }
}

impl Made {
    /// Encodes the point of an ECDSA key in another way.
    fn with_point(&self, encode: impl Fn(&EcKey<Public>) -> Vec<u8>) -> Self {
        let mut fields = Fields(&self.key);
        let (oid, point) = (fields.oid().expect("a curve"), fields.mpi().expect("a point"));
        libcrypto::initialise();
        let group = libcrypto::Curve::by_oid(oid).and_then(|curve| curve.group().ok()).expect("a curve");
        let mut context = BigNumContext::new().expect("memory");
        let point = EcPoint::from_bytes(&group, point, &mut context).expect("a point");
        let encoded = encode(&EcKey::from_public_key(&group, &point).expect("a key"));
        let bits = (8 * encoded.len() as u16).to_be_bytes();
        Self { key: [&[oid.len() as u8], oid, &bits, &encoded].concat(), ..self.clone() }
    }

    fn compressed(&self) -> Self {
        self.with_point(|key| {
            let mut context = BigNumContext::new().expect("memory");
            let point = key.public_key().to_bytes(key.group(), PointConversionForm::COMPRESSED, &mut context);
            point.expect("memory")
        })
    }
}

fn on_nist_curves() -> Vec<Made> {
    let is_ecdsa = |made: &Made| made.algorithm == PublicKeyAlgorithm::ECDSA;
    of_the_fast_kinds().into_iter().filter(is_ecdsa).collect()
}

#[test]
fn a_compressed_point_is_a_point_to_both() {
    for made in on_nist_curves() {
        let compressed = made.compressed();
        assert!(compressed.key.len() < made.key.len() * 2 / 3, "{}", made.name());
        assert_eq!(compressed.fast(), Some(true), "{}", made.name());
        assert_eq!(reference::verify(&compressed.check()), Verdict::Good, "{}", made.name());
    }
}

#[test]
fn a_key_in_the_form_of_x_509_is_no_point_to_either() {
    for made in on_nist_curves() {
        let x509 = made.with_point(|key| key.public_key_to_der().expect("memory"));
        assert_eq!(x509.fast(), None, "{}", made.name());
        assert_eq!(x509.verdict(&made.name()), Verdict::Bad, "{}", made.name());
    }
}

#[test]
fn a_rejection_leaves_no_errors_behind() {
    for made in on_nist_curves() {
        let zeros = made.with_numbers(&[vec![], vec![]]);
        assert_eq!(reference::verify(&zeros.check()), Verdict::Bad);
        assert_eq!(ErrorStack::get().errors().len(), 0, "{}", made.name());
    }
}

/// Names the variable with the key and the signature that a child process of the test verifies.
const MADE: &str = "KEYHOARD_TEST_WITHOUT_ALGORITHMS";

/// With this configuration OpenSSL has no algorithms at all.
const NO_ALGORITHMS: &str = "openssl_conf = start\n[start]\nproviders = providers\n[providers]\nnull = null\n\
                             [null]\nactivate = 1\n";

/// OpenSSL is initialised once in a process, so that the test runs itself in another one.
#[test]
fn a_signature_that_could_not_be_verified_is_not_bad() {
    if let Ok(hex) = std::env::var(MADE) {
        openssl::init();
        let dsa = made_elsewhere(PublicKeyAlgorithm::DSA, HashAlgorithm::SHA256, &hex);
        assert_eq!(reference::verify(&dsa.check()), Verdict::Unsupported);
        return;
    }
    let mut made = of_the_other_kinds().into_iter();
    let dsa = made.find(|made| made.algorithm == PublicKeyAlgorithm::DSA).expect("a DSA key");
    let hex =
        [&dsa.key, &dsa.signature].map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect());
    let hex: [String; 2] = hex;
    let file = std::env::temp_dir().join(format!("keyhoard-verify-{}.cnf", std::process::id()));
    std::fs::write(&file, NO_ALGORITHMS).expect("a temporary file");
    let name = "agreement::a_signature_that_could_not_be_verified_is_not_bad";
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let child = child.args(["--exact", name]).env(MADE, hex.join("\n")).env("OPENSSL_CONF", &file);
    let output = child.output().expect("it starts");
    std::fs::remove_file(&file).expect("it was written");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("running 1 test") && output.status.success(), "{printed}");
}

#[test]
fn what_follows_the_numbers_does_not_count() {
    for mut made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        made.signature.extend(b"more");
        assert_eq!(made.verdict(&made.name()), Verdict::Good);
    }
}

#[test]
fn a_zero_is_no_signature() {
    for made in of_the_fast_kinds().into_iter().chain(of_the_other_kinds()) {
        let count = made.signature_numbers().len();
        let zeros = made.with_numbers(&vec![vec![]; count]);
        assert_eq!(zeros.verdict(&format!("{} of zeros", made.name())), Verdict::Bad);
    }
}

/// 2^252 + 27742317777372353535851937790883648493, the order of Ed25519's group, little-endian.
const ED25519_ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

#[test]
fn an_ed25519_s_that_is_not_reduced_is_refused_by_both() {
    let mut made = sign(Key4::generate_ed25519().expect("an Ed25519 key"), HashAlgorithm::SHA256);
    let mut carry = 0;
    for (byte, order) in made.signature[32..].iter_mut().zip(ED25519_ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    assert_eq!(made.verdict("S + order"), Verdict::Bad);
}

#[test]
fn an_algorithm_nobody_knows_is_unsupported() {
    let mut made = rsa(2048, HashAlgorithm::SHA256);
    for algorithm in [PublicKeyAlgorithm::ELGAMAL, PublicKeyAlgorithm::ELGAMAL_BOTH, PublicKeyAlgorithm(99)] {
        made.algorithm = algorithm;
        assert_eq!(made.verdict("a key of an unknown kind"), Verdict::Unsupported);
    }
    let mut curve = ecc(Curve::NistP256, HashAlgorithm::SHA256);
    curve.key[3] ^= 1;
    assert_eq!(curve.verdict("an unknown curve"), Verdict::Unsupported);
}

#[test]
fn a_signature_of_another_algorithm_than_the_key_is_bad() {
    let made = rsa(2048, HashAlgorithm::SHA256);
    let mut check = made.check();
    check.signature.algorithm = PublicKeyAlgorithm::EDDSA_LEGACY;
    assert_eq!(verify(&[check]), [Verdict::Bad]);
    check.signature.algorithm = PublicKeyAlgorithm::RSA_SIGN;
    assert_eq!(verify(&[check]), [Verdict::Good], "RSA has three numbers");
}

#[test]
fn a_key_that_takes_long_to_verify_with_costs_more() {
    let cost = |made: &Made| made.check().issuer.cost();
    assert_eq!(cost(&rsa(2048, HashAlgorithm::SHA256)), 1);
    assert_eq!(cost(&ecc(Curve::Ed25519, HashAlgorithm::SHA512)), 1);
    let large_curve = ecc(Curve::NistP521, HashAlgorithm::SHA512);
    assert!(cost(&large_curve) > 30);
    assert_eq!(cost(&large_curve.compressed()), cost(&large_curve), "the point is the same");
    let mut long_exponent = rsa(3072, HashAlgorithm::SHA256);
    let modulus = long_exponent.key[..2 + 384].to_vec();
    long_exponent.key = [&modulus[..], &modulus].concat();
    assert!(cost(&long_exponent) > 100);
    let hashing = PublicKey { algorithm: PublicKeyAlgorithm::SLH_DSA_SHAKE_128F, material: &[7; 32] };
    assert_eq!(hashing.cost(), 40);
    long_exponent.key.clear();
    assert_eq!(cost(&long_exponent), 1, "what cannot be read is not verified with");
}

#[test]
fn a_batch_is_answered_in_its_order() {
    let made = of_the_fast_kinds();
    let mut bad = made.clone();
    bad.iter_mut().for_each(|made| made.digest = digest(made.hash, b"another message"));
    let checks: Vec<Check<'_>> = (0..20)
        .flat_map(|_| made.iter().zip(&bad))
        .flat_map(|(good, bad)| [good.check(), bad.check()])
        .collect();
    let verdicts = verify(&checks);
    assert_eq!(verdicts.len(), checks.len());
    for pair in verdicts.chunks(2) {
        assert_eq!(pair, [Verdict::Good, Verdict::Bad]);
    }
    assert_eq!(verify(&[]), []);
}

#[test]
fn a_verifier_that_has_met_the_keys_before_answers_as_one_that_has_not() {
    let made = [of_the_fast_kinds(), of_the_other_kinds()].concat();
    // The same key, of which it is said that another one made it, and that it is of another kind.
    let mut checks: Vec<Check<'_>> = made.iter().map(Made::check).collect();
    for (check, other) in made.iter().zip(made.iter().cycle().skip(1)) {
        checks.push(Check { issuer: other.check().issuer, ..check.check() });
        checks.push(Check { hash: other.hash, digest: other.digest, ..check.check() });
        let issuer = PublicKey { algorithm: PublicKeyAlgorithm::RSA_SIGN, ..check.check().issuer };
        checks.push(Check { issuer, ..check.check() });
    }
    let alone: Vec<Verdict> = checks.iter().flat_map(|check| verify(&[*check])).collect();
    assert!(alone.contains(&Verdict::Good) && alone.contains(&Verdict::Bad));
    let verifier = Verifier::default();
    for _ in 0..3 {
        assert_eq!(verifier.verify(&checks), alone);
    }
}
