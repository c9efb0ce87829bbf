//! The numbers of certificates: their places in listings.
//!
//! No counter hands them out, which every writer of every machine would have to wait for. The upper half is when the
//! certificate was first seen, the lower one begins its fingerprint: so the order of the numbers is that of
//! (first seen, fingerprint). Where a number is taken, which can be had by making keys for it, the next one is used.

use cert::{Fingerprint, Timestamp};

/// Bits that the fingerprint has: with the 32 of the time a number stays positive.
const BITS: u32 = 31;

/// Returns the number that a certificate has unless it is taken.
pub(super) fn number(first_seen: Timestamp, fingerprint: &Fingerprint) -> i64 {
    let bytes = fingerprint.as_bytes();
    let beginning = u32::from_be_bytes(std::array::from_fn(|index| bytes[index]));
    i64::from(first_seen.0) << BITS | i64::from(beginning >> (32 - BITS))
}

/// Returns the number to try after one that is taken.
pub(super) fn next(number: i64) -> i64 {
    let lower = (1 << BITS) - 1;
    number & !lower | (number + 1) & lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_order_of_time_then_fingerprint() {
        let number = |time, first| number(Timestamp(time), &Fingerprint::V4([first; 20]));
        assert!(0 < number(1, 0) && number(1, 255) < number(2, 0) && number(2, 1) < number(2, 2));
        assert!(number(u32::MAX, 255) > number(u32::MAX, 254));
    }

    #[test]
    fn the_next_number_belongs_to_the_same_second() {
        assert_eq!(next(5 << 31 | 7), 5 << 31 | 8);
        assert_eq!(next((6 << 31) - 1), 5 << 31);
    }
}
