//! User attributes (RFC 9580, 5.12): photos, mostly.

use crate::facts::{AttributeFacts, AttributeSubpacket, Image};
use crate::subpacket;
use verify::naming;

/// Reads the facts of an attribute from the body of its packet.
pub fn facts(body: &[u8]) -> AttributeFacts {
    AttributeFacts {
        subpackets: subpackets(body).map(subpacket_facts).collect(),
        name_hash: naming::ripemd160(body),
        length: body.len() as u32,
    }
}

/// Walks the subpackets of a user attribute's body, types and data, up to the first one that is cut short or empty
/// (GnuPG's rule).
pub fn subpackets(body: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = body;
    std::iter::from_fn(move || match subpacket::split_first(rest) {
        Some(([kind, data @ ..], after)) => {
            rest = after;
            Some((*kind, data))
        }
        _ => None,
    })
}

/// Returns the text that GnuPG shows for an attribute in place of a user ID.
pub fn name(attribute: &AttributeFacts) -> String {
    let sized = |what: &str, length: u32| format!("[{what} of size {length}]");
    match attribute.subpackets.as_slice() {
        [] => sized("bad attribute packet", attribute.length),
        [AttributeSubpacket { image: Some(image), .. }] => {
            let what = if image.encoding == 1 { "jpeg image" } else { "unknown image" };
            sized(what, image.length)
        }
        [AttributeSubpacket { kind: AttributeSubpacket::IMAGE, .. }] => "[invalid image]".to_owned(),
        [other] => sized("unknown attribute", other.length),
        several => sized(&format!("{} attributes", several.len()), attribute.length),
    }
}

fn subpacket_facts((kind, data): (u8, &[u8])) -> AttributeSubpacket {
    let image = if kind == AttributeSubpacket::IMAGE { image(data) } else { None };
    AttributeSubpacket { kind, length: data.len() as u32, image }
}

/// Reads an image's header, whose length is little-endian for historical reasons.
fn image(data: &[u8]) -> Option<Image> {
    let [low, high, version, ..] = *data else {
        return None;
    };
    let length = data.len().checked_sub(u16::from_le_bytes([low, high]).into())?;
    let encoding = if version == 1 { data.get(3).copied().unwrap_or(0) } else { 0 };
    (length > 0).then_some(Image { encoding, length: length as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_measured_without_its_header() {
        let mut body = vec![22, 1, 16, 0, 1, 1];
        body.extend([0; 12]);
        body.extend(b"jpegs");
        let image = Image { encoding: 1, length: 5 };
        assert_eq!(facts(&body).subpackets, [AttributeSubpacket { kind: 1, length: 21, image: Some(image) }]);
    }

    #[test]
    fn an_image_that_is_all_header_is_none() {
        let subpackets = facts(&[5, 1, 4, 0, 1, 1, 3, 100, 9, 9]).subpackets;
        let kinds: Vec<_> = subpackets.iter().map(|subpacket| (subpacket.kind, subpacket.image)).collect();
        assert_eq!(kinds, [(1, None), (100, None)]);
    }

    #[test]
    fn what_follows_a_subpacket_that_is_cut_short_is_not_counted() {
        assert_eq!(facts(&[2, 9, 9, 7, 1, 1]).subpackets.len(), 1);
    }

    #[test]
    fn an_attribute_is_called_by_what_it_holds() {
        let subpacket = |kind, length, image| AttributeSubpacket { kind, length, image };
        let jpeg = subpacket(1, 116, Some(Image { encoding: 1, length: 100 }));
        let odd = subpacket(1, 116, Some(Image { encoding: 0, length: 100 }));
        let named = |subpackets: &[AttributeSubpacket]| {
            name(&AttributeFacts { subpackets: subpackets.to_vec(), name_hash: [0; 20], length: 300 })
        };
        assert_eq!(named(&[]), "[bad attribute packet of size 300]");
        assert_eq!(named(&[jpeg]), "[jpeg image of size 100]");
        assert_eq!(named(&[odd]), "[unknown image of size 100]");
        assert_eq!(named(&[subpacket(1, 2, None)]), "[invalid image]");
        assert_eq!(named(&[subpacket(100, 7, None)]), "[unknown attribute of size 7]");
        assert_eq!(named(&[jpeg, odd]), "[2 attributes of size 300]");
    }
}
