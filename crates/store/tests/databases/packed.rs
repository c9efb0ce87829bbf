//! Facts survive being packed, whatever they are; and no blob can do harm.

use std::path::Path;

use crate::made;
use cert::facts::{
    AttributeFacts, AttributeSubpacket, Component, ComponentKind, Image, Issuer, KeyFacts, RevocationReason,
    Revoker, SelfSignature, SignatureFacts, SignatureFlags, SignatureType, TrustSignature,
};
use cert::packet::Span;
use cert::{Facts, Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
use keyhoard_store::packed::{self, Packed};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use verify::{HashAlgorithm, PublicKeyAlgorithm, Verdict};

/// What the facts of no certificate at all are checksummed over.
const BYTES: &[u8] = b"the bytes";

fn fingerprint() -> impl Strategy<Value = Fingerprint> {
    prop_oneof![
        any::<[u8; 20]>().prop_map(Fingerprint::V4),
        any::<[u8; 32]>().prop_map(Fingerprint::V5),
        any::<[u8; 32]>().prop_map(Fingerprint::V6),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

prop_compose! {
    fn key()(
        fingerprint in fingerprint(), created in any::<u32>(), algorithm in any::<u8>(), bits in any::<u32>(),
        curve in of(bytes()), keygrip in of(any::<[u8; 20]>()), subgroup_bits in any::<u16>(),
    ) -> ComponentKind {
        ComponentKind::Key(KeyFacts {
            fingerprint,
            created: Timestamp(created),
            algorithm: PublicKeyAlgorithm(algorithm),
            bits,
            curve,
            keygrip: keygrip.map(Keygrip),
            subgroup_bits,
        })
    }
}

prop_compose! {
    fn attribute()(
        subpackets in vec((any::<u8>(), any::<u32>(), of((any::<u8>(), any::<u32>()))), 0..4),
        name_hash in any::<[u8; 20]>(), length in any::<u32>(),
    ) -> ComponentKind {
        let image = |(encoding, length)| Image { encoding, length };
        let subpacket = |(kind, length, of): (u8, u32, Option<_>)| {
            AttributeSubpacket { kind, length, image: of.map(image) }
        };
        let subpackets = subpackets.into_iter().map(subpacket).collect();
        ComponentKind::Attribute(AttributeFacts { subpackets, name_hash, length })
    }
}

fn any_kind() -> impl Strategy<Value = ComponentKind> {
    prop_oneof![
        key(),
        bytes().prop_map(ComponentKind::UserId),
        attribute(),
        any::<u8>().prop_map(ComponentKind::Unknown),
    ]
}

prop_compose! {
    fn own()(
        verdict in prop_oneof![
            Just(None), Just(Some(Verdict::Good)), Just(Some(Verdict::Bad)), Just(Some(Verdict::Unsupported)),
        ],
        numbers in (of(any::<u32>()), of(any::<[u8; 2]>()), any::<bool>(), any::<bool>()),
        lists in (of(bytes()), of(bytes()), of(bytes()), of(bytes())),
        bytes in (of(any::<u8>()), of(any::<u8>())),
        revokers in vec((any::<u8>(), any::<u8>(), fingerprint()), 0..3),
    ) -> SelfSignature {
        let revoker = |(class, algorithm, fingerprint)| {
            Revoker { class, algorithm: PublicKeyAlgorithm(algorithm), fingerprint }
        };
        SelfSignature {
            verdict,
            key_expires: numbers.0,
            key_flags: numbers.1,
            primary_user_id: numbers.2,
            embedded_signature: numbers.3,
            cipher_preferences: lists.0,
            hash_preferences: lists.1,
            compression_preferences: lists.2,
            aead_preferences: lists.3,
            features: bytes.0,
            keyserver_preferences: bytes.1,
            revokers: revokers.into_iter().map(revoker).collect(),
        }
    }
}

prop_compose! {
    fn signature()(
        bytes in any::<[u8; 4]>(), created in any::<u32>(), expires in of(any::<u32>()),
        key_id in prop_oneof![Just(None), any::<u64>().prop_map(Some)], fingerprint in of(fingerprint()),
        flags in any::<[bool; 7]>(), trust in of(any::<(u8, u8)>()), trust_regexp in of(bytes()),
        reason in of((any::<u8>(), bytes())), content in of(any::<[u8; 16]>()), own in of(own()),
    ) -> SignatureFacts {
        let [version, kind, key_algorithm, hash_algorithm] = bytes;
        let [exportable, revocable, notations, policy, keyserver, unknown_critical, superseded] = flags;
        let implied = fingerprint.map_or(KeyId(0), |fingerprint| fingerprint.key_id());
        SignatureFacts {
            span: Span { start: 0, end: 0 },
            version,
            kind: SignatureType(kind),
            key_algorithm: PublicKeyAlgorithm(key_algorithm),
            hash_algorithm: HashAlgorithm(hash_algorithm),
            created: Timestamp(created),
            expires: expires.map(Timestamp),
            issuer: Issuer { key_id: key_id.map_or(implied, KeyId), fingerprint },
            flags: SignatureFlags {
                exportable, revocable, notations, policy, keyserver, unknown_critical, superseded,
            },
            trust: trust.map(|(depth, amount)| TrustSignature { depth, amount }),
            trust_regexp,
            reason: reason.map(|(code, comment)| Box::new(RevocationReason { code, comment })),
            content: content.map(SignatureDigest),
            own: own.map(Box::new),
        }
    }
}

prop_compose! {
    /// Facts whose packets follow each other, with gaps.
    fn facts()(
        first in key(),
        others in vec(any_kind(), 0..5),
        signatures in vec(vec((signature(), any::<bool>()), 0..5), 6),
        steps in vec(1_u32..300, 80),
    ) -> Facts {
        let mut steps = steps.into_iter().cycle();
        let mut position = 0;
        let mut span = || {
            let mut step = || steps.next().expect("it goes round");
            let start = position + step() % 3;
            position = start + step();
            Span { start, end: position }
        };
        let kinds = std::iter::once(first).chain(others);
        let components = kinds.zip(signatures).map(|(kind, signatures)| {
            let mut component = Component { span: span(), kind, signatures: Vec::new(), unread: Vec::new() };
            for (signature, readable) in signatures {
                match readable {
                    true => component.signatures.push(SignatureFacts { span: span(), ..signature }),
                    false => component.unread.push(span()),
                }
            }
            component
        });
        Facts { components: components.collect() }
    }
}

proptest! {
    #[test]
    fn what_is_unpacked_is_what_was_packed(facts in facts()) {
        let Packed { own, third_party } = packed::pack(&facts, BYTES);
        prop_assert_eq!(packed::unpack(&own, Some(&third_party)), Ok(facts));
    }

    #[test]
    fn the_first_blob_alone_lacks_what_others_signed(mut facts in facts()) {
        let Packed { own, .. } = packed::pack(&facts, BYTES);
        facts.components.iter_mut().for_each(|component| component.signatures.retain(|one| one.own.is_some()));
        prop_assert_eq!(packed::unpack(&own, None), Ok(facts));
    }

    #[test]
    fn names_and_fingerprints_are_found_without_unpacking(facts in facts()) {
        let Packed { own, .. } = packed::pack(&facts, BYTES);
        let mut fingerprints = Vec::new();
        packed::fingerprints(&own, |_, fingerprint| fingerprints.push(fingerprint)).expect("sound");
        prop_assert!(facts.keys().map(|key| key.fingerprint).eq(fingerprints));
    }

    #[test]
    fn a_blob_that_is_cut_short_is_an_error(facts in facts(), cut in any::<prop::sample::Index>()) {
        let Packed { own, .. } = packed::pack(&facts, BYTES);
        prop_assert!(packed::unpack(&own[..cut.index(own.len())], None).is_err());
    }

    #[test]
    fn a_checksum_tells_changed_bytes_and_not_a_changed_blob(
        facts in facts(), place in any::<prop::sample::Index>(), bit in 0..8_u32,
    ) {
        let own = packed::pack(&facts, BYTES).own;
        let fingerprint = Some(facts.primary().fingerprint);
        let is_other = |own: &[u8], bytes: &[u8]| packed::is_checksum_of_other_bytes(own, fingerprint, bytes);
        prop_assert!(!is_other(&own, BYTES));
        let mut bytes = BYTES.to_vec();
        bytes[place.index(BYTES.len())] ^= 1 << bit;
        prop_assert!(is_other(&own, &bytes));
        prop_assert!(!packed::is_checksum_of_other_bytes(&own, None, &bytes), "of another certificate");
        let mut blob = own.clone();
        blob[place.index(own.len())] ^= 1 << bit;
        prop_assert!(!is_other(&blob, BYTES) && !is_other(&blob, &bytes));
    }

    #[test]
    fn blobs_of_before_the_checksums_are_read_and_called_the_same(facts in facts()) {
        let Packed { own, third_party } = packed::pack(&facts, BYTES);
        let before = [&[packed::VERSION], &own[1..own.len() - 8]].concat();
        prop_assert!(packed::is_same(&before, &own) && packed::is_same(&own, &own));
        prop_assert!(!packed::is_same(&before[..before.len() - 1], &own));
        prop_assert!(!packed::is_checksum_of_other_bytes(&before, Some(facts.primary().fingerprint), b"others"));
        prop_assert_eq!(packed::unpack(&before, Some(&third_party)), Ok(facts));
    }

    #[test]
    fn changed_bytes_never_do_harm(
        facts in facts(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let Packed { mut own, mut third_party } = packed::pack(&facts, BYTES);
        for (place, byte) in changes {
            for blob in [&mut own, &mut third_party] {
                if !blob.is_empty() {
                    let place = place.index(blob.len());
                    blob[place] = byte;
                }
            }
        }
        // Either it fails in words, or facts come out that can be used: their first component is a key.
        if let Ok(facts) = packed::unpack(&own, Some(&third_party)) {
            facts.primary();
        }
    }

    #[test]
    fn random_bytes_never_do_harm(own in vec(any::<u8>(), 0..200), third_party in vec(any::<u8>(), 0..200)) {
        for version in [packed::VERSION, packed::WITH_CHECKSUM] {
            let _ = packed::unpack(&[&[version], own.as_slice()].concat(), Some(&third_party));
        }
        let _ = packed::unpack_positions(&own);
    }

    #[test]
    fn positions_survive(mut positions in vec(any::<u32>(), 0..50)) {
        positions.sort_unstable();
        prop_assert_eq!(packed::unpack_positions(&packed::pack_positions(&positions)), Ok(positions));
    }
}

#[test]
fn a_blob_of_another_version_is_refused() {
    let Packed { mut own, .. } = packed::pack(&made::Made::named(1, "Ann").facts, BYTES);
    own[0] = packed::WITH_CHECKSUM + 1;
    let error = packed::unpack(&own, None).expect_err("another version");
    assert_eq!(error.to_string(), "packed facts: an unknown version at byte 1");
}

#[test]
fn a_certification_takes_a_few_dozen_bytes() {
    let keyring = made::keyring(Path::new("/usr/share/keyrings/debian-keyring.gpg"));
    let (mut signatures, mut bytes) = (0, 0);
    for made in &keyring {
        let others = made.facts.components.iter().flat_map(|component| &component.signatures);
        signatures += others.filter(|signature| signature.own.is_none()).count();
        let Packed { own, third_party } = packed::pack(&made.facts, &made.bytes);
        bytes += third_party.len();
        assert_eq!(packed::unpack(&own, Some(&third_party)).as_ref(), Ok(&made.facts));
    }
    assert!(signatures > 30_000, "{signatures}");
    assert!(bytes < signatures * 36, "{bytes} bytes for {signatures} certifications");
}
