//! Writing packets and subpackets.

/// A packet's type (RFC 9580 section 5).
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    Signature = 2,
    PublicKey = 6,
    UserId = 13,
    PublicSubkey = 14,
    UserAttribute = 17,
}

/// Appends a packet (RFC 9580 section 4.2.1).
pub(super) fn packet(output: &mut Vec<u8>, tag: Tag, body: &[u8]) {
    output.push(0xC0 | tag as u8);
    match body.len() {
        length @ ..192 => output.push(length as u8),
        length @ 192..8384 => output.extend_from_slice(&((length - 192 + 0xC000) as u16).to_be_bytes()),
        length => {
            output.push(0xFF);
            output.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    output.extend_from_slice(body);
}

/// Appends a subpacket shorter than 192 bytes (RFC 9580 section 5.2.3.7).
pub(super) fn subpacket(area: &mut Vec<u8>, kind: u8, body: &[u8]) {
    assert!(body.len() < 191, "only short subpackets are made");
    area.extend_from_slice(&[body.len() as u8 + 1, kind]);
    area.extend_from_slice(body);
}

/// Appends a multiprecision integer (RFC 9580 section 3.2).
pub(super) fn mpi(output: &mut Vec<u8>, number: &[u8]) {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    let number = &number[zeros..];
    let bits = number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize);
    output.extend_from_slice(&(bits as u16).to_be_bytes());
    output.extend_from_slice(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_one_two_or_five_bytes() {
        for (length, header) in [
            (191, &[0xCD, 191][..]),
            (192, &[0xCD, 192, 0]),
            (8383, &[0xCD, 223, 255]),
            (8384, &[0xCD, 255, 0, 0, 0x20, 0xC0]),
        ] {
            let mut output = Vec::new();
            packet(&mut output, Tag::UserId, &vec![b'a'; length]);
            assert_eq!((&output[..header.len()], output.len()), (header, header.len() + length));
        }
    }

    #[test]
    fn an_integer_has_no_leading_zeros_and_counts_its_bits() {
        for (number, expected) in
            [(&[0, 1, 0xFF][..], &[0, 9, 1, 0xFF][..]), (&[0x40], &[0, 7, 0x40]), (&[0, 0], &[0, 0])]
        {
            let mut output = Vec::new();
            mpi(&mut output, number);
            assert_eq!(output, expected);
        }
    }
}
