//! How large keys are.

use keygen::ElgamalSize;

use super::Family;

/// The sizes that keys of an algorithm may have, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: u32,
    pub(crate) usual: u32,
    pub(crate) most: u32,
}

impl Range {
    /// Returns what gpg offers for RSA, DSA or Elgamal keys.
    pub(crate) fn of(family: Family, expert: bool) -> Self {
        match family {
            Family::Dsa => Self { least: if expert { 768 } else { 1024 }, usual: 2048, most: 3072 },
            _ => Self { least: 1024, usual: 3072, most: 4096 },
        }
    }
}

/// Rounds a size up to one that the algorithm allows; for Elgamal, unlike gpg, to that of a group of RFC 7919.
pub(crate) fn rounded(bits: u32, family: Family) -> u32 {
    match family {
        Family::Elgamal => ElgamalSize::at_least(bits).map_or(bits, ElgamalSize::bits),
        Family::Dsa => bits.next_multiple_of(64),
        _ => bits.next_multiple_of(32),
    }
}

/// Returns the size of a key for which a parameter file requests `asked` bits, 0 for the default size, and gpg's notes if
/// it is another one.
///
/// Experts may have DSA keys between the sizes that FIPS 186 knows.
pub(crate) fn corrected(asked: u32, family: Family, large_rsa: bool, expert: bool) -> (u32, Vec<String>) {
    // Only here are smaller DSA keys allowed.
    let Range { least, usual, most } = Range::of(family, true);
    let most = if family == Family::Rsa && large_rsa { 8192 } else { most };
    let mut notes = Vec::new();
    let fitting = match asked {
        bits if bits < least => usual,
        bits => bits.min(most),
    };
    if asked != 0 && asked != fitting {
        notes.push(format!("keysize invalid; using {fitting} bits"));
    }
    let mut bits = rounded(fitting, family);
    if bits != fitting {
        notes.push(format!("keysize rounded up to {bits} bits"));
    }
    if family == Family::Dsa {
        if !expert && bits > 1024 && !bits.is_multiple_of(1024) {
            bits = bits.next_multiple_of(1024);
            notes.push(format!("keysize rounded up to {bits} bits"));
        }
        if bits > 1024 {
            notes.push(
                "WARNING: some OpenPGP programs can't handle a DSA key with this digest size".to_owned(),
            );
        }
    }
    (bits, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_cannot_be_are_replaced_and_others_rounded_up() {
        let rsa = |bits| corrected(bits, Family::Rsa, false, false);
        assert_eq!(corrected(0, Family::Rsa, false, false), (3072, vec![]));
        let dsa = |bits, expert| corrected(bits, Family::Dsa, false, expert);
        assert_eq!(dsa(1024, false), (1024, vec![]));
        assert_eq!((dsa(0, false).0, dsa(0, false).1.len()), (2048, 1));
        assert_eq!((dsa(1100, false).0, dsa(1100, true).0), (2048, 1152));
        assert_eq!(dsa(9000, false).1[0], "keysize invalid; using 3072 bits");
        assert_eq!(rsa(2048), (2048, vec![]));
        assert_eq!(rsa(500).1, ["keysize invalid; using 3072 bits"]);
        assert_eq!(rsa(9000).0, 4096);
        let elgamal = |bits| corrected(bits, Family::Elgamal, false, false);
        assert_eq!((elgamal(0), elgamal(2048)), ((3072, vec![]), (2048, vec![])));
        assert_eq!(elgamal(1056), (2048, vec!["keysize rounded up to 2048 bits".to_owned()]));
        assert_eq!(rsa(2050).1, ["keysize rounded up to 2080 bits"]);
        assert_eq!(corrected(9000, Family::Rsa, true, false).0, 8192);
    }
}
