//! Tells data that Deflate makes no smaller: what was compressed or encrypted before, which would cost it the most time.

/// Bytes whose frequencies are looked at together: about what Deflate makes one code for.
const PART: usize = 16 << 10;

/// How far from even the frequencies in a part may be, as the chi-squared statistic: 255 is the mean of random bytes,
/// and a code for a thousand would save no more bytes than its own description takes.
const MAX_CHI_SQUARED: u64 = 1000;

/// Words of four bytes of which one is looked at, as the binary logarithm. Their values choose them, so that of two
/// equal stretches the same words are.
const SPARSENESS: u32 = 4;

/// The binary logarithm of the number of words that are remembered.
const REMEMBERED: u32 = 14;

/// Words that came before, in per cent: fewer are not worth the time.
const MAX_REPEATED: usize = 1;

/// Says whether neither the frequencies of bytes nor repetitions, also of what was before, make `data` any smaller.
pub(crate) fn is_dense(before: &[u8], data: &[u8]) -> bool {
    data.len() >= PART && data.chunks_exact(PART).all(is_even) && !repeats(before, data)
}

fn is_even(part: &[u8]) -> bool {
    // Four tables, since the same byte twice in a row would have to wait for itself.
    let mut tables = [[0u32; 256]; 4];
    for bytes in part.as_chunks::<4>().0 {
        for (table, &byte) in tables.iter_mut().zip(bytes) {
            table[usize::from(byte)] += 1;
        }
    }
    let expected = (part.len() / 256) as i64;
    let squares = (0..256).map(|byte| {
        let count: u32 = tables.iter().map(|table| table[byte]).sum();
        (i64::from(count) - expected).pow(2) as u64
    });
    squares.sum::<u64>() <= MAX_CHI_SQUARED * expected as u64
}

fn repeats(before: &[u8], data: &[u8]) -> bool {
    let mut remembered = [0; 1 << REMEMBERED];
    look(&mut remembered, before);
    let found = look(&mut remembered, data);
    (found << SPARSENESS) * 100 > MAX_REPEATED * data.len()
}

/// Counts the words that are remembered, among those looked at, and remembers them.
fn look(remembered: &mut [u32; 1 << REMEMBERED], data: &[u8]) -> usize {
    let mut found = 0;
    for bytes in data.windows(4) {
        let word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let hash = word.wrapping_mul(0x9e37_79b1);
        if hash >> (u32::BITS - SPARSENESS) == 0 {
            let place = &mut remembered[(hash >> (u32::BITS - SPARSENESS - REMEMBERED)) as usize];
            found += usize::from(*place == word);
            *place = word;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without any pattern that Deflate knows of.
    fn noise(count: usize, mut state: u64) -> Vec<u8> {
        let next = |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn noise_is_dense_and_text_is_not() {
        let noise = noise(128 << 10, 7);
        assert!(is_dense(&[], &noise));
        assert!(is_dense(&noise[..32 << 10], &noise[32 << 10..]));
        let text: Vec<u8> = noise.iter().map(|byte| b'a' + byte % 26).collect();
        assert!(!is_dense(&[], &text));
        assert!(!is_dense(&[], &vec![0; 128 << 10]));
    }

    #[test]
    fn noise_with_one_part_of_text_is_not_dense() {
        let mut data = noise(128 << 10, 1);
        data[40 << 10..56 << 10].iter_mut().for_each(|byte| *byte &= 0x7f);
        assert!(!is_dense(&[], &data));
    }

    #[test]
    fn noise_that_repeats_itself_or_what_was_before_is_not_dense() {
        let noise = noise(64 << 10, 2);
        let (before, data) = noise.split_at(32 << 10);
        assert!(!is_dense(data, data));
        assert!(!is_dense(&[], &[before, data, data].concat()));
        let mut partly = data.to_vec();
        partly[20_000..21_000].copy_from_slice(&before[10_000..11_000]);
        assert!(!is_dense(before, &partly));
    }

    #[test]
    fn what_is_too_short_to_tell_is_not_dense() {
        assert!(!is_dense(&[], &noise(1000, 3)));
    }
}
