//! Detects data that Deflate cannot compress, such as compressed or encrypted data, on which it would spend the most
//! time.

/// The number of bytes whose frequencies are counted together: about as many as Deflate uses one code for.
const PART: usize = 16 << 10;

/// The largest chi-squared statistic of the byte frequencies of incompressible data. The mean for random bytes is 255;
/// at 1000, a code would save no more bytes than its description takes.
const MAX_CHI_SQUARED: u64 = 1000;

/// The binary logarithm of the fraction of four-byte words that are sampled. A hash of the word decides, so that the
/// same words are sampled of two equal sequences.
const SAMPLING_BITS: u32 = 4;

/// The binary logarithm of the size of the table of sampled words.
const TABLE_BITS: u32 = 14;

/// The percentage of repeated words up to which compression is not worth the time.
const MAX_REPEATED: usize = 1;

/// Returns whether neither byte frequencies nor repetitions, also of the data before, allow `data` to be compressed.
pub(crate) fn is_dense(before: &[u8], data: &[u8]) -> bool {
    data.len() >= PART && data.chunks_exact(PART).all(is_even) && !repeats(before, data)
}

fn is_even(part: &[u8]) -> bool {
    // Four tables, since counting the same byte twice in a row in one table would stall.
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
    let mut table = [0; 1 << TABLE_BITS];
    count_repeated(&mut table, before);
    let found = count_repeated(&mut table, data);
    (found << SAMPLING_BITS) * 100 > MAX_REPEATED * data.len()
}

/// Counts the sampled words that are in the table, and adds all sampled words to it.
fn count_repeated(table: &mut [u32; 1 << TABLE_BITS], data: &[u8]) -> usize {
    let mut found = 0;
    for bytes in data.windows(4) {
        let word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let hash = word.wrapping_mul(0x9e37_79b1);
        if hash >> (u32::BITS - SAMPLING_BITS) == 0 {
            let entry = &mut table[(hash >> (u32::BITS - SAMPLING_BITS - TABLE_BITS)) as usize];
            found += usize::from(*entry == word);
            *entry = word;
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
