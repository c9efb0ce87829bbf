//! Limits for what a foreign certificate may cost.

/// The largest single packet that is read; a longer one counts as damage.
pub const MAX_PACKET: usize = 16 << 20;
/// The largest key packet that is read (GnuPG's limit).
pub const MAX_KEY_PACKET: usize = 256 << 10;
/// The largest user ID packet that is kept; a longer one is dropped with its signatures, as GnuPG does.
pub const MAX_USER_ID: usize = 2 << 10;
/// The most user IDs, attributes and subkeys of one certificate; above that, those without a self-signature are
/// dropped.
pub const MAX_COMPONENTS: usize = 16 << 10;
/// The size in bytes above which only self-signatures and revocations of a certificate are kept, as in GnuPG.
pub const MAX_CERTIFICATE: usize = 5 << 20;
/// The most bytes of one certificate that are read before it is reduced in this way during reading.
pub const MAX_WHOLE_CERTIFICATE: usize = 8 << 20;
/// The most signatures of one certificate that are read before it is reduced during reading.
pub const MAX_WHOLE_SIGNATURES: usize = 64 << 10;
/// The most bytes of a reduced certificate.
pub const MAX_REDUCED_CERTIFICATE: usize = 16 << 20;
/// The most self-signatures that are kept of each component of a reduced certificate, the newest ones.
pub const MAX_OWN_SIGNATURES: usize = 1 << 10;
/// The most bytes of one certificate that are buffered.
pub const MAX_BUFFERED_CERTIFICATE: usize = 64 << 20;
/// The bytes of possible revocations that are collected during the reduction of a certificate and then verified in one
/// batch, which is large enough to use all cores.
pub const MAX_UNVERIFIED_BATCH: usize = 4 << 20;
/// The most signatures of one certificate that one command verifies, of those that revoke something or name a
/// designated revoker and whose digest prefix matches, divided by the [cost](crate::PublicKey::cost) of the key. If
/// some are left unchecked, which happens only with slow algorithms, the certificate is not valid, and the next command
/// continues.
pub const MAX_IRREVOCABLE_CHECKS: usize = 256 << 10;
/// The most bytes of possible revocations of a reduced certificate that [`MAX_IRREVOCABLE_CHECKS`] leaves unchecked, or
/// that can only be verified with the key of a designated revoker.
pub const MAX_PENDING: usize = 32 << 20;
/// The most bytes of revocations of a reduced certificate by keys that may not revoke it.
pub const MAX_REVOCATIONS_BY_OTHERS: usize = 4 << 20;
/// The most bytes of revocations of a reduced certificate whose digest prefix does not match.
pub const MAX_UNLIKELY_REVOCATIONS: usize = 1 << 20;
/// The most self-signatures of one certificate that are verified, of those that neither revoke something nor name a
/// designated revoker and whose digest prefix matches, divided by the [cost](crate::PublicKey::cost) of the key.
pub const MAX_LIKELY_CHECKS: usize = 128 << 10;
/// The most bytes that the compressed packets of a stream may decompress to, in addition to [`MAX_EXPANSION`] for each
/// compressed byte. Keyrings are hardly compressible.
pub const MAX_UNPACKED: u64 = 16 << 20;
/// The number of bytes that a compressed byte may decompress to, see [`MAX_UNPACKED`].
pub const MAX_EXPANSION: u64 = 16;
/// The number of self-signatures of one component that are verified even if their digest prefix does not match.
pub const MAX_CHECKS_PER_COMPONENT: usize = 64;
/// The most bytes of a primary key and a component over which signatures of version 6 are verified: since the salt
/// comes first, each signature hashes all of them again.
pub const MAX_SALTED: usize = 64 << 10;
/// The size in bits of the largest RSA modulus under which signatures are verified (OpenSSL's limit).
pub const MAX_RSA_BITS: usize = 16384;
/// The size in bits of the largest DSA prime under which signatures are verified (OpenSSL's limit).
pub const MAX_DSA_BITS: usize = 10000;
/// The most back-signatures of one subkey that are verified, divided by the [cost](crate::PublicKey::cost) of the key;
/// those whose digest prefix matches come first. A subkey needs only one.
pub const MAX_BACK_SIGNATURES: usize = 4 << 10;
/// The most certificates that are examined for one to which the key with a key ID belongs, in a second or two.
pub const MAX_HOLDERS: usize = 64 << 10;
/// The most bytes of such certificates that are read; the small ones come first.
pub const MAX_HOLDER_BYTES: usize = 256 << 20;
/// The most keys with one key ID that are tried as the issuer.
pub const MAX_ISSUER_CANDIDATES: usize = 8;
/// The most signatures of one certificate by other keys that are verified at once, divided by the
/// [cost](crate::PublicKey::cost) of each key.
pub const MAX_CERTIFICATION_CHECKS: usize = 32 << 10;
/// The most digests that are computed to find the components over which misplaced signatures of one certificate are
/// made.
pub const MAX_SEARCHED_DIGESTS: usize = 16 << 10;
/// The same for signatures that revoke something or name a designated revoker, over the components that a good
/// self-signature binds; computing them takes a few seconds.
pub const MAX_SEARCHED_IRREVOCABLE_DIGESTS: usize = 8 << 20;
/// The same over the other components, which are not kept unless one of these signatures is made over them.
pub const MAX_SEARCHED_UNBOUND_DIGESTS: usize = 1 << 20;
/// The most checks in that search whose digest prefix does not match, divided by the [cost](crate::PublicKey::cost) of
/// the key.
pub const MAX_UNLIKELY_CHECKS: usize = 512;
