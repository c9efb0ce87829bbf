//! What a foreign certificate may cost.

/// The largest single packet that is read; a longer one is taken for damage.
pub const MAX_PACKET: usize = 16 << 20;
/// The largest key packet that is read (GnuPG's limit).
pub const MAX_KEY_PACKET: usize = 256 << 10;
/// The largest user ID packet that is kept; a longer one is dropped with its signatures, as GnuPG does.
pub const MAX_USER_ID: usize = 2 << 10;
/// The most user IDs, attributes and subkeys of one certificate; where there are more, those go that the owner does not
/// bind.
pub const MAX_COMPONENTS: usize = 16 << 10;
/// Above this many bytes of one certificate only self-signatures and revocations are kept, as GnuPG does.
pub const MAX_CERTIFICATE: usize = 5 << 20;
/// The most bytes of one certificate that are read before it is reduced like that while reading.
pub const MAX_WHOLE_CERTIFICATE: usize = 8 << 20;
/// The most signatures of one certificate that are read before it is reduced while reading.
pub const MAX_WHOLE_SIGNATURES: usize = 64 << 10;
/// The most bytes that may be left of a reduced certificate.
pub const MAX_REDUCED_CERTIFICATE: usize = 16 << 20;
/// Of a reduced certificate's components, the own signatures that are kept, newest first.
pub const MAX_OWN_SIGNATURES: usize = 1 << 10;
/// The most bytes of one certificate that are buffered at all.
pub const MAX_BUFFERED_CERTIFICATE: usize = 64 << 20;
/// Possible revocations that are gathered while a certificate is being reduced before they are verified, in bytes:
/// enough of them to keep all cores busy.
pub const MAX_WAITING: usize = 4 << 20;
/// Signatures of one certificate that are verified at once, of those that revoke something or name a designated
/// revoker and whose digest begins as they say, divided by what each [costs](crate::PublicKey::cost). Where that leaves
/// some unchecked, which takes a key of a slow algorithm, the certificate is not valid, and the next command goes on.
pub const MAX_IRREVOCABLE_CHECKS: usize = 256 << 10;
/// Of a reduced certificate, the most bytes of possible revocations that [`MAX_IRREVOCABLE_CHECKS`] leaves unchecked, or
/// that only a designated revoker's key can settle.
pub const MAX_PENDING: usize = 32 << 20;
/// Of a reduced certificate, the most bytes of revocations by keys that have no say over it.
pub const MAX_REVOCATIONS_BY_OTHERS: usize = 4 << 20;
/// Of a reduced certificate, the most bytes of revocations whose digest does not begin as they say.
pub const MAX_UNLIKELY_REVOCATIONS: usize = 1 << 20;
/// Self-signatures of one certificate that are verified, of those that neither revoke something nor name a designated
/// revoker and whose digest begins as they say, divided by what each [costs](crate::PublicKey::cost).
pub const MAX_LIKELY_CHECKS: usize = 128 << 10;
/// The most bytes that the compressed packets of a stream unpack to, beyond [`MAX_EXPANSION`] for each byte that goes
/// in. Keyrings hardly shrink when they are compressed.
pub const MAX_UNPACKED: u64 = 16 << 20;
/// How many bytes a byte of compressed packets may unpack to, see [`MAX_UNPACKED`].
pub const MAX_EXPANSION: u64 = 16;
/// Self-signatures of one component that are verified whether or not their digest begins as they say.
pub const MAX_CHECKS_PER_COMPONENT: usize = 64;
/// The most bytes of a primary key and what follows it that signatures of version 6 are verified over: the salt comes
/// first, so that each of them hashes all of it again.
pub const MAX_SALTED: usize = 64 << 10;
/// The largest RSA modulus that signatures are verified under (OpenSSL's limit).
pub const MAX_RSA_BITS: usize = 16384;
/// The largest DSA prime that signatures are verified under (OpenSSL's limit).
pub const MAX_DSA_BITS: usize = 10000;
/// Back-signatures of one subkey that are verified, those whose digest begins as they say first, divided by what each
/// [costs](crate::PublicKey::cost). A subkey needs one; others can only be put there to hide it.
pub const MAX_BACK_SIGNATURES: usize = 4 << 10;
/// Certificates that are looked at for one that holds the key behind a key ID as its own: it takes a second or two.
pub const MAX_HOLDERS: usize = 64 << 10;
/// The most bytes of such certificates that are read, the small ones first.
pub const MAX_HOLDER_BYTES: usize = 256 << 20;
/// Keys that are tried as the issuer behind one key ID.
pub const MAX_ISSUER_CANDIDATES: usize = 8;
/// Signatures of one certificate by other keys that are verified at once, divided by what each
/// [costs](crate::PublicKey::cost).
pub const MAX_CERTIFICATION_CHECKS: usize = 32 << 10;
/// Digests that are made in search of the components that misplaced signatures of one certificate are made over.
pub const MAX_SEARCHED_DIGESTS: usize = 16 << 10;
/// The same for signatures that revoke something or name a designated revoker, about half a second.
pub const MAX_SEARCHED_IRREVOCABLE_DIGESTS: usize = 1 << 20;
/// Checks that are made in that search although the digest does not begin as the signature says, divided by what each
/// [costs](crate::PublicKey::cost).
pub const MAX_UNLIKELY_CHECKS: usize = 512;
