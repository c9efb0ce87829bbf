//! What holds for every merge, on real certificates cut into random parts.

use crate::laws::{as_set, assert_idempotent, assert_sound, merged};
use crate::made::{Draft, Maker, Over, SIGNED, raw, user_id};
use crate::mutated::{Numbers, Parts, keyring};
use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::facts::{Component, SignatureType};
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::Packets;
use keyhoard_cert::split::RawCertificate;
use keyhoard_cert::{Certificate, Timestamp};
use memchr::memmem;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use verify::{Verdict, limits};

const NOW: Timestamp = Timestamp(1_767_225_600);

static CERTIFICATES: LazyLock<Vec<RawCertificate>> = LazyLock::new(|| {
    let all = ["debian-nonupload", "debian-maintainers"].into_iter().flat_map(keyring);
    all.filter(|raw| Packets::new(&raw.bytes).count() < 200).collect()
});

/// Three parts of one certificate, each cleaned.
fn three_parts() -> impl Strategy<Value = [Certificate; 3]> {
    (0..CERTIFICATES.len(), any::<u64>()).prop_map(|(index, seed)| parts_of(&CERTIFICATES[index], seed))
}

fn parts_of(certificate: &RawCertificate, seed: u64) -> [Certificate; 3] {
    let mut numbers = Numbers::new(seed);
    std::array::from_fn(|_| {
        let mut parts = Parts::of(&certificate.bytes);
        parts.thin(&mut numbers, 2, 3);
        let raw = raw(&[&parts.bytes()]);
        let options = CleanOptions { keep_local: true, ..CleanOptions::default() };
        match clean(&raw, &options, NOW) {
            Ok(cleaned) => cleaned.certificate,
            // Certifications were left that lost their user ID: the whole certificate instead.
            Err(_) => clean(certificate, &options, NOW).expect("a sound one").certificate,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_commutative([a, b, _] in three_parts()) {
        prop_assert_eq!(as_set(&merged(&a, &b)), as_set(&merged(&b, &a)));
    }

    #[test]
    fn merging_is_associative([a, b, c] in three_parts()) {
        let left = merged(&merged(&a, &b), &c);
        let right = merged(&a, &merged(&b, &c));
        prop_assert_eq!(as_set(&left), as_set(&right));
    }

    #[test]
    fn merging_what_is_there_changes_nothing([a, b, _] in three_parts()) {
        assert_idempotent(&a, &b);
    }

    #[test]
    fn merging_what_is_there_changes_nothing_where_certifications_stand_behind_subkeys(seed: u64) {
        let is_his = |raw: &&RawCertificate| memmem::find(&raw.bytes, b"<meskio@sindominio.net>").is_some();
        let with_misplaced = CERTIFICATES.iter().find(is_his).expect("it is among Debian's maintainers");
        let [a, b, _] = parts_of(with_misplaced, seed);
        assert_idempotent(&a, &b);
    }

    #[test]
    fn the_facts_of_a_union_are_those_of_its_bytes([a, b, _] in three_parts()) {
        assert_sound(&merged(&a, &b));
    }

    #[test]
    fn a_merge_names_the_packets_it_adds([a, b, _] in three_parts()) {
        let packets = |certificate: &Certificate| -> BTreeSet<[u8; 32]> {
            certificate.packet_digests().map(|(_, digest)| digest).collect()
        };
        if let Some(merged) = merge(&a, &b) {
            let added: BTreeSet<[u8; 32]> = merged.added_packets.into_iter().collect();
            prop_assert_eq!(&packets(&a) | &added, packets(&merged.certificate));
        }
    }
}

#[test]
fn a_signature_that_stands_under_two_components_is_named_with_each() {
    let (anna, other) = (Maker::new(), Maker::new());
    let [one, two] = ["Anna", "Bert"].map(|name| [user_id(name), anna.certify(name)].concat());
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId("Anna"));
    let known = cleaned(&[&anna.key(), &one, &by_other]);
    let merged = merge(&known, &cleaned(&[&anna.key(), &two, &by_other])).expect("a user ID more");
    let known: Vec<_> = known.packet_digests().map(|(_, digest)| digest).collect();
    assert_eq!(merged.added_packets.len(), 3);
    assert!(merged.added_packets.iter().all(|added| !known.contains(added)));
}

fn cleaned(packets: &[&[u8]]) -> Certificate {
    clean(&raw(packets), &CleanOptions::default(), NOW).expect("a sound certificate").certificate
}

const ANNA: &str = "Anna <anna@example.org>";

#[test]
fn a_copy_of_a_signature_never_replaces_unhashed_data() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let draft = |unhashed| Draft { unhashed, ..Draft::new(0x18) };
    let [plain, with_data] = [vec![], vec![(100, vec![7])]]
        .map(|unhashed| draft(unhashed).sign(&anna, &anna, Over::Subkey(&subkey)));
    let known = cleaned(&[&anna.key(), &subkey.subkey(), &with_data]);
    let copy = cleaned(&[&anna.key(), &subkey.subkey(), &plain]);
    assert_eq!(merge(&known, &copy), None);
    assert_eq!(merge(&copy, &known), None);
}

#[test]
fn what_a_budget_left_unchecked_takes_the_verdict_of_the_copy() {
    let anna = Maker::new();
    let checked = cleaned(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA)]);
    let mut unchecked = checked.clone();
    let own = unchecked.facts.components[1].signatures[0].own.as_mut();
    own.expect("a self-signature").verdict = None;
    assert_eq!(merged(&unchecked, &checked), checked);
    assert_eq!(merge(&checked, &unchecked), None);
}

#[test]
fn a_packet_that_was_read_otherwise_before_is_not_stored_twice() {
    let anna = Maker::new();
    let revocation = Draft::new(0x30).sign(&anna, &anna, Over::UserId(ANNA));
    let read = cleaned(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA), &revocation]);
    let changed = |change: &dyn Fn(&mut Component)| {
        let mut certificate = read.clone();
        change(&mut certificate.facts.components[1]);
        certificate
    };
    let by_another = changed(&|component| component.signatures[1].own = None);
    let unread = changed(&|component| component.unread.extend(component.signatures.pop().map(|it| it.span)));
    let unchecked = changed(&|component| {
        component.signatures[1].own.as_mut().expect("a self-signature").verdict = None;
    });
    for (knows_more, knows_less) in [(&read, &by_another), (&read, &unread), (&by_another, &unchecked)] {
        assert_eq!(merged(knows_less, knows_more), *knows_more);
        assert_eq!(merge(knows_more, knows_less), None);
    }
}

#[test]
fn an_older_binding_that_comes_later_is_kept_and_superseded() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let newer = cleaned(&[&anna.key(), &subkey.subkey(), &anna.bind(&subkey, SIGNED + 1)]);
    let older = cleaned(&[&anna.key(), &subkey.subkey(), &anna.bind(&subkey, SIGNED)]);
    let is_superseded = |certificate: &Certificate| {
        let signatures = certificate.facts.components[1].signatures.iter();
        signatures.map(|signature| signature.flags.superseded).collect::<Vec<_>>()
    };
    assert_eq!(is_superseded(&merged(&newer, &older)), [false, true]);
    assert_eq!(is_superseded(&merged(&older, &newer)), [false, false], "GnuPG shows both");
}

#[test]
fn a_newer_revocation_by_another_key_supersedes_none_of_the_owner() {
    let (anna, other, subkey) = (Maker::new(), Maker::new(), Maker::new());
    let revoke = |by: &Maker, created| {
        let draft = Draft { created, names_issuer: false, ..Draft::new(0x28) };
        draft.sign(by, &anna, Over::Subkey(&subkey))
    };
    let parts = [anna.key(), subkey.subkey(), anna.bind(&subkey, SIGNED)];
    let with = |revocation: Vec<u8>| {
        let packets: Vec<&[u8]> = parts.iter().chain([&revocation]).map(Vec::as_slice).collect();
        cleaned(&packets)
    };
    let union = merged(&with(revoke(&other, SIGNED + 1)), &with(revoke(&anna, SIGNED)));
    let own = union.facts.components[1].signatures.iter().find(|signature| {
        signature.kind == SignatureType::SUBKEY_REVOCATION && signature.verdict() == Some(Verdict::Good)
    });
    assert!(!own.expect("the owner's revocation").flags.superseded);
}

#[test]
fn above_the_limit_only_self_signatures_and_revocations_are_joined() {
    let (anna, other) = (Maker::new(), Maker::new());
    let plain = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let mut flood = vec![anna.key(), user_id(ANNA), anna.certify(ANNA)];
    let mut size = 0;
    let mut serial = 0u32;
    while size < limits::MAX_CERTIFICATE - 10_000 {
        // Different values make different signatures; nobody verifies those of others here.
        let mut packet = plain.clone();
        let end = packet.len();
        packet[end - 8..end - 4].copy_from_slice(&serial.to_be_bytes());
        serial += 1;
        size += packet.len();
        flood.push(packet);
    }
    let flood: Vec<&[u8]> = flood.iter().map(Vec::as_slice).collect();
    let known = cleaned(&flood);
    let by_other =
        |kind| Draft { created: SIGNED + 1, ..Draft::new(kind) }.sign(&other, &anna, Over::UserId(ANNA));
    let direct = Draft::new(0x1f).sign(&anna, &anna, Over::Primary);
    let mut more =
        vec![anna.key(), direct, user_id(ANNA), anna.certify(ANNA), by_other(0x10), by_other(0x30)];
    more.extend(std::iter::repeat_n(plain, 1));
    let mut padding = by_other(0x10);
    for round in 0..200u8 {
        *padding.last_mut().expect("a packet has bytes") = round;
        more.push(padding.clone());
    }
    let more: Vec<&[u8]> = more.iter().map(Vec::as_slice).collect();
    let merged = merge(&known, &cleaned(&more)).expect("something new");
    assert_eq!(merged.new_signatures, 2, "the direct-key signature and the revocation");
}

#[test]
fn mutated_certificates_keep_the_laws() {
    let options = CleanOptions { accept_unsigned_user_ids: true, ..CleanOptions::default() };
    for round in 0..500 {
        let mut numbers = Numbers::new(5_000_000 + round);
        let original = Parts::of(&numbers.pick(&CERTIFICATES).bytes);
        let [known, new] = std::array::from_fn(|_| {
            let mut parts = original.clone();
            for _ in 0..=numbers.below(5) {
                parts.mutate(&mut numbers, &CERTIFICATES);
            }
            clean(&raw(&[&parts.bytes()]), &options, NOW).map(|cleaned| cleaned.certificate)
        });
        for certificate in [&known, &new].into_iter().flatten() {
            assert_sound(certificate);
        }
        if let (Ok(known), Ok(new)) = (known, new) {
            assert_idempotent(&known, &new);
            assert_sound(&merged(&known, &new));
        }
    }
}
