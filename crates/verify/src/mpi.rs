//! Multiprecision integers (RFC 9580, 3.2) of key and signature packets.

/// Reads the numbers of a key or a signature one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the next number, without leading zero bytes that the packet may have.
    pub(crate) fn mpi(&mut self) -> Option<&'a [u8]> {
        let value = self.octets()?;
        let zeros = value.iter().take_while(|&&byte| byte == 0).count();
        Some(&value[zeros..])
    }

    /// Returns the bytes of the next number as they stand, with the zeros before it: the point of a curve is no number, but
    /// GnuPG writes it as one.
    pub(crate) fn octets(&mut self) -> Option<&'a [u8]> {
        let (bits, rest) = self.0.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*bits)).div_ceil(8);
        let (octets, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(octets)
    }

    /// Returns the next curve's object identifier, without its length byte.
    pub(crate) fn oid(&mut self) -> Option<&'a [u8]> {
        let (&length, rest) = self.0.split_first()?;
        let (oid, rest) = rest.split_at_checked(usize::from(length))?;
        self.0 = rest;
        Some(oid)
    }

    /// Returns the next `N` bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(bytes)
    }
}

/// The object identifier 1.3.6.1.4.1.11591.15.1.
const ED25519_LEGACY_OID: &[u8] = &[0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1];

/// Reads the point of an Ed25519 key of version 4, in the form that GnuPG introduced; `None` for another curve.
pub(crate) fn ed25519_legacy_point<'a>(mut fields: Fields<'a>) -> Option<&'a [u8; 32]> {
    let curve = fields.oid()?;
    fields.mpi()?.strip_prefix(&[0x40])?.try_into().ok().filter(|_| curve == ED25519_LEGACY_OID)
}

/// The object identifier 1.3.101.113.
const ED448_OID: &[u8] = &[0x2b, 0x65, 0x71];

/// Reads the point of an Ed448 key of version 5 (LibrePGP), which has no prefix; `None` for another curve.
pub(crate) fn ed448_legacy_point<'a>(mut fields: Fields<'a>) -> Option<&'a [u8; 57]> {
    let curve = fields.oid()?;
    fields.octets()?.try_into().ok().filter(|_| curve == ED448_OID)
}

/// Returns the length of a number in bits; `value` has no leading zero bytes.
pub(crate) fn bits(value: &[u8]) -> usize {
    value.first().map_or(0, |first| value.len() * 8 - first.leading_zeros() as usize)
}

/// Writes a number into `N` bytes, with leading zeros; `None` if it is longer.
pub(crate) fn padded<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    bytes[N.checked_sub(value.len())?..].copy_from_slice(value);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_however_many_zeros_stand_before_it() {
        for material in [&[0, 9, 1, 2][..], &[0, 16, 1, 2], &[0, 32, 0, 0, 1, 2]] {
            let mut fields = Fields(material);
            assert_eq!(fields.mpi(), Some(&[1, 2][..]));
            assert_eq!(fields.mpi(), None);
        }
        assert_eq!(bits(&[1, 2]), 9);
        assert_eq!(padded(&[1, 2]), Some([0, 0, 1, 2]));
        assert_eq!(padded::<1>(&[1, 2]), None);
    }

    #[test]
    fn a_number_that_is_cut_short_is_none() {
        assert_eq!(Fields(&[0]).mpi(), None);
        assert_eq!(Fields(&[0, 17, 1, 2]).mpi(), None);
        assert_eq!(Fields(&[3, 1, 2]).oid(), None);
    }
}
