//! What an import keeps, rule by rule.

use crate::laws::assert_sound;
use crate::made::{BIRTH, Draft, Maker, Over, SIGNED, damaged, packet, raw, user_id};
use keyhoard_cert::clean::{CleanOptions, Cleaned, CleaningNote, clean};
use keyhoard_cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use keyhoard_cert::facts::{ComponentKind, SignatureFacts};
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::signed::{Digester, Subject};
use keyhoard_cert::split::RawCertificate;
use keyhoard_cert::{Certificate, Error, RemovedSignatures, Timestamp, key, signature};
use verify::{HashAlgorithm, Verdict, limits};

const NOW: Timestamp = Timestamp(BIRTH + 100_000_000);
const ANNA: &str = "Anna <anna@example.org>";
const BERT: &str = "Bert <bert@example.org>";

fn cleaned(raw: &RawCertificate) -> Cleaned {
    cleaned_with(raw, &CleanOptions::default())
}

fn cleaned_with(raw: &RawCertificate, options: &CleanOptions) -> Cleaned {
    let cleaned = clean(raw, options, NOW).expect("a certificate that is taken");
    assert_sound(&cleaned.certificate);
    cleaned
}

fn signatures(certificate: &Certificate) -> impl Iterator<Item = &SignatureFacts> {
    certificate.facts.components.iter().flat_map(|component| &component.signatures)
}

/// The packets that a cleaned certificate shows, superseded ones left out.
fn shown(cleaned: &Cleaned) -> Vec<Vec<u8>> {
    let hidden: Vec<u32> = signatures(&cleaned.certificate)
        .filter(|signature| signature.flags.superseded)
        .map(|signature| signature.span.start)
        .collect();
    let packets = Packets::new(&cleaned.certificate.bytes).map(|packet| packet.expect("a packet"));
    packets
        .filter(|packet| !hidden.contains(&packet.span.start))
        .map(|packet| cleaned.certificate.packet(packet.span).to_vec())
        .collect()
}

#[test]
fn a_sound_certificate_is_kept_byte_for_byte() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let raw = raw(&[
        &anna.key(),
        &user_id(ANNA),
        &anna.certify(ANNA),
        &subkey.subkey(),
        &anna.bind(&subkey, SIGNED),
    ]);
    let cleaned = cleaned(&raw);
    assert_eq!(cleaned.certificate.bytes, raw.bytes);
    assert_eq!(cleaned.notes, []);
    assert!(cleaned.has_user_ids);
    assert!(
        signatures(&cleaned.certificate).all(|signature| {
            signature.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good))
        })
    );
}

#[test]
fn a_user_id_goes_only_when_no_self_signature_on_it_is_good() {
    let (anna, other) = (Maker::new(), Maker::new());
    let bad = damaged(&anna.certify(ANNA));
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId(BERT));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &bad, &anna.certify(ANNA), &user_id(BERT), &by_other]);
    let cleaned = cleaned(&raw);
    assert_eq!(shown(&cleaned), [anna.key(), user_id(ANNA), bad, anna.certify(ANNA)]);
    assert!(cleaned.notes.contains(&CleaningNote::UserIdSkipped(BERT.as_bytes().to_vec())));
    assert!(cleaned.notes.contains(&CleaningNote::BadSignatures(1)));
}

#[test]
fn a_revocation_vouches_for_its_user_id_as_a_certification_does() {
    let anna = Maker::new();
    let revocation = Draft::new(0x30).sign(&anna, &anna, Over::UserId(ANNA));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &revocation]);
    assert_eq!(cleaned(&raw).certificate.bytes, raw.bytes);
}

#[test]
fn user_ids_without_self_signature_are_kept_on_demand() {
    let anna = Maker::new();
    let raw = raw(&[&anna.key(), &user_id(ANNA)]);
    assert!(!cleaned(&raw).has_user_ids);
    let options = CleanOptions { accept_unsigned_user_ids: true, ..CleanOptions::default() };
    assert!(cleaned_with(&raw, &options).has_user_ids);
}

#[test]
fn of_several_bindings_the_newest_is_shown_and_the_others_are_superseded() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let [oldest, newest, middle] = [0, 20, 10].map(|later| anna.bind(&subkey, SIGNED + later));
    let raw =
        raw(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA), &subkey.subkey(), &oldest, &newest, &middle]);
    let cleaned = cleaned(&raw);
    assert_eq!(cleaned.certificate.bytes, raw.bytes, "all of them are kept");
    assert_eq!(shown(&cleaned), [anna.key(), user_id(ANNA), anna.certify(ANNA), subkey.subkey(), newest]);
}

#[test]
fn of_bindings_of_the_same_second_the_last_one_is_shown() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let binding = |flags| {
        let draft = Draft { hashed: vec![(27, vec![flags])], ..Draft::new(0x18) };
        draft.sign(&anna, &anna, Over::Subkey(&subkey))
    };
    let raw = raw(&[&anna.key(), &subkey.subkey(), &binding(4), &binding(8)]);
    assert_eq!(shown(&cleaned(&raw)), [anna.key(), subkey.subkey(), binding(8)]);
}

#[test]
fn a_subkey_without_good_binding_goes_unless_a_revocation_vouches_for_it() {
    let (anna, unbound, revoked) = (Maker::new(), Maker::new(), Maker::new());
    let bad = damaged(&anna.bind(&unbound, SIGNED));
    let revocation = Draft::new(0x28).sign(&anna, &anna, Over::Subkey(&revoked));
    let raw = raw(&[&anna.key(), &unbound.subkey(), &bad, &revoked.subkey(), &revocation]);
    let cleaned = cleaned(&raw);
    assert_eq!(shown(&cleaned), [anna.key(), revoked.subkey(), revocation]);
    assert!(cleaned.notes.contains(&CleaningNote::SubkeySkipped));
}

#[test]
fn copies_are_one_signature_whatever_their_unhashed_subpackets_say() {
    let anna = Maker::new();
    let one = anna.certify(ANNA);
    let other = Draft { unhashed: vec![(100, vec![7])], ..Draft::new(0x13) };
    let other = other.sign(&anna, &anna, Over::UserId(ANNA));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &one, &one, &other]);
    let cleaned = cleaned(&raw);
    assert_eq!(shown(&cleaned), [anna.key(), user_id(ANNA), other], "GnuPG keeps the last copy");
    assert_eq!(cleaned.notes, [CleaningNote::CopiesDropped(2)]);
}

#[test]
fn a_copy_that_names_another_issuer_does_not_push_aside_the_one_that_names_the_key() {
    let anna = Maker::new();
    let unnamed = Draft { names_issuer: false, ..Draft::new(0x13) };
    let named = Draft {
        unhashed: vec![(16, anna.fingerprint().as_bytes()[12..].to_vec())],
        names_issuer: false,
        ..Draft::new(0x13)
    };
    let misnamed = Draft { unhashed: vec![(16, vec![1; 8])], names_issuer: false, ..Draft::new(0x13) };
    let [unnamed, named, misnamed] =
        [unnamed, named, misnamed].map(|draft| draft.sign(&anna, &anna, Over::UserId(ANNA)));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &unnamed, &named, &misnamed]);
    assert_eq!(shown(&cleaned(&raw)), [anna.key(), user_id(ANNA), named]);
}

#[test]
fn a_forged_copy_of_a_certification_hides_the_genuine_one_from_gpg_and_drops_nothing() {
    let (anna, other) = (Maker::new(), Maker::new());
    let genuine = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let forged = {
        let mut forged = genuine.clone();
        let created = forged.windows(4).position(|bytes| bytes == SIGNED.to_be_bytes()).expect("a time");
        forged[created + 3] ^= 1;
        forged
    };
    let self_signature = anna.certify(ANNA);
    let before = [anna.key(), user_id(ANNA), self_signature];
    for [first, last] in [[&genuine, &forged], [&forged, &genuine]] {
        let packets = [&before[..], &[first.clone(), last.clone()]].concat();
        let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
        let cleaned = cleaned(&raw(&packets));
        assert_eq!(shown(&cleaned), [&before[..], std::slice::from_ref(last)].concat());
        assert_eq!(cleaned.certificate.bytes, packets.concat());
    }
}

#[test]
fn user_ids_that_occur_again_are_joined_with_the_first_one() {
    let (anna, other) = (Maker::new(), Maker::new());
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let raw = raw(&[
        &anna.key(),
        &user_id(ANNA),
        &anna.certify(ANNA),
        &user_id(BERT),
        &anna.certify(BERT),
        &user_id(ANNA),
        &by_other,
    ]);
    let cleaned = cleaned(&raw);
    let joined = [anna.key(), user_id(ANNA), by_other, anna.certify(ANNA), user_id(BERT), anna.certify(BERT)];
    assert_eq!(shown(&cleaned), joined, "GnuPG puts the later one's signatures in front");
    assert_eq!(cleaned.notes, [CleaningNote::UserIdsJoined(1)]);
}

#[test]
fn misplaced_self_signatures_go_behind_their_component_and_those_of_others_stay() {
    let (anna, subkey, other) = (Maker::new(), Maker::new(), Maker::new());
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let raw = raw(&[
        &anna.key(),
        &anna.bind(&subkey, SIGNED),
        &user_id(ANNA),
        &user_id(BERT),
        &anna.certify(BERT),
        &by_other,
        &anna.certify(ANNA),
        &subkey.subkey(),
    ]);
    let cleaned = cleaned(&raw);
    let in_place = [
        anna.key(),
        user_id(ANNA),
        anna.certify(ANNA),
        user_id(BERT),
        anna.certify(BERT),
        by_other,
        subkey.subkey(),
        anna.bind(&subkey, SIGNED),
    ];
    assert_eq!(shown(&cleaned), in_place);
    assert_eq!(cleaned.notes, [CleaningNote::SignaturesMoved(2)]);
}

#[test]
fn without_repair_nothing_is_moved_and_copies_stay() {
    let anna = Maker::new();
    let raw = raw(&[
        &anna.key(),
        &user_id(ANNA),
        &anna.certify(ANNA),
        &anna.certify(ANNA),
        &user_id(BERT),
        &anna.certify(BERT),
        &Draft::new(0x1f).sign(&anna, &anna, Over::Primary),
    ]);
    let options = CleanOptions { no_repair: true, ..CleanOptions::default() };
    assert_eq!(cleaned_with(&raw, &options).certificate.bytes, raw.bytes);
}

#[test]
fn a_forged_self_signature_before_any_user_id_is_dropped_and_nothing_else() {
    let anna = Maker::new();
    let bad = damaged(&anna.certify(ANNA));
    let raw = raw(&[&anna.key(), &bad, &user_id(ANNA), &anna.certify(ANNA)]);
    let cleaned = cleaned(&raw);
    assert!(cleaned.notes.contains(&CleaningNote::WithoutUserId(1)));
    assert_eq!(cleaned.certificate.bytes, [anna.key(), user_id(ANNA), anna.certify(ANNA)].concat());
}

#[test]
fn an_update_without_user_ids_is_taken_and_says_so() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let raw = raw(&[&anna.key(), &subkey.subkey(), &anna.bind(&subkey, SIGNED)]);
    let cleaned = cleaned(&raw);
    assert!(!cleaned.has_user_ids);
    assert_eq!(cleaned.certificate.bytes, raw.bytes);
}

#[test]
fn local_signatures_are_taken_on_demand_only() {
    let (anna, other) = (Maker::new(), Maker::new());
    let local = Draft { hashed: vec![(4, vec![0])], ..Draft::new(0x10) };
    let local = local.sign(&other, &anna, Over::UserId(ANNA));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA), &local]);
    let dropped = cleaned(&raw);
    assert_eq!(shown(&dropped), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
    assert_eq!(dropped.notes, [CleaningNote::LocalSignaturesSkipped(1)]);
    let options = CleanOptions { keep_local: true, ..CleanOptions::default() };
    assert_eq!(cleaned_with(&raw, &options).certificate.bytes, raw.bytes);
}

#[test]
fn a_local_revocation_that_is_dropped_supersedes_none() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let revocation = |created, hashed| {
        let draft = Draft { created, hashed, ..Draft::new(0x28) };
        draft.sign(&anna, &anna, Over::Subkey(&subkey))
    };
    let (older, local) = (revocation(SIGNED, vec![]), revocation(SIGNED + 1, vec![(4, vec![0])]));
    let binding = anna.bind(&subkey, SIGNED);
    let raw = raw(&[&anna.key(), &subkey.subkey(), &binding, &older, &local]);
    assert_eq!(shown(&cleaned(&raw)), [anna.key(), subkey.subkey(), binding.clone(), older]);
    let options = CleanOptions { keep_local: true, ..CleanOptions::default() };
    assert_eq!(shown(&cleaned_with(&raw, &options)), [anna.key(), subkey.subkey(), binding, local]);
}

#[test]
fn signatures_of_others_are_dropped_on_demand() {
    let (anna, other) = (Maker::new(), Maker::new());
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &by_other, &anna.certify(ANNA)]);
    let options = CleanOptions { self_signatures_only: true, ..CleanOptions::default() };
    assert_eq!(shown(&cleaned_with(&raw, &options)), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
}

#[test]
fn bad_direct_key_signatures_and_revocations_are_dropped() {
    let anna = Maker::new();
    let direct = Draft::new(0x1f).sign(&anna, &anna, Over::Primary);
    let revocation = Draft::new(0x20).sign(&anna, &anna, Over::Primary);
    let raw = raw(&[&anna.key(), &damaged(&direct), &direct, &damaged(&revocation), &revocation]);
    assert_eq!(shown(&cleaned(&raw)), [anna.key(), direct, revocation]);
}

#[test]
fn a_revocation_by_another_key_stays_in_front_of_the_user_ids_only() {
    let (anna, revoker) = (Maker::new(), Maker::new());
    let revocation = Draft::new(0x20).sign(&revoker, &anna, Over::Primary);
    let front = raw(&[&anna.key(), &revocation, &user_id(ANNA), &anna.certify(ANNA)]);
    assert_eq!(cleaned(&front).certificate.bytes, front.bytes);
    let behind = raw(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA), &revocation]);
    assert_eq!(shown(&cleaned(&behind)), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
}

#[test]
fn a_signature_of_a_type_that_no_certificate_holds_is_dropped() {
    let anna = Maker::new();
    let binary = Draft::new(0x00).sign(&anna, &anna, Over::Primary);
    let raw = raw(&[&anna.key(), &binary, &user_id(ANNA), &anna.certify(ANNA)]);
    assert_eq!(shown(&cleaned(&raw)), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
}

#[test]
fn nothing_vouches_that_was_made_before_the_key_or_with_md5_or_asks_for_what_is_not_understood() {
    let anna = Maker::new();
    let drafts = [
        Draft { created: BIRTH - 1, ..Draft::new(0x13) },
        Draft { hash: HashAlgorithm::MD5, ..Draft::new(0x13) },
        Draft { hashed: vec![(0x80 | 101, vec![0])], ..Draft::new(0x13) },
    ];
    for draft in drafts {
        let certification = draft.sign(&anna, &anna, Over::UserId(ANNA));
        let raw = raw(&[&anna.key(), &user_id(ANNA), &certification]);
        assert!(!cleaned(&raw).has_user_ids);
    }
}

#[test]
fn a_key_from_the_future_has_no_self_signatures_yet() {
    let anna = Maker::born(NOW.0 + 1);
    let certification = Draft { created: NOW.0 + 1, ..Draft::new(0x13) };
    let certification = certification.sign(&anna, &anna, Over::UserId(ANNA));
    let raw = raw(&[&anna.key(), &user_id(ANNA), &certification]);
    assert!(!cleaned(&raw).has_user_ids);
}

#[test]
fn bindings_and_revocations_are_tried_against_the_key_whatever_their_issuer_says() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let unnamed = |kind, over| {
        let draft = Draft { names_issuer: false, unhashed: vec![(16, vec![1; 8])], ..Draft::new(kind) };
        draft.sign(&anna, &anna, over)
    };
    let raw = raw(&[
        &anna.key(),
        &unnamed(0x20, Over::Primary),
        &user_id(ANNA),
        &anna.certify(ANNA),
        &subkey.subkey(),
        &unnamed(0x18, Over::Subkey(&subkey)),
    ]);
    let cleaned = cleaned(&raw);
    assert_eq!(cleaned.certificate.bytes, raw.bytes);
    assert!(signatures(&cleaned.certificate).all(SignatureFacts::verifies));
}

#[test]
fn a_certification_without_issuer_is_tried_against_the_key() {
    let anna = Maker::new();
    let unnamed = Draft { names_issuer: false, ..Draft::new(0x13) };
    let raw = raw(&[&anna.key(), &user_id(ANNA), &unnamed.sign(&anna, &anna, Over::UserId(ANNA))]);
    assert!(cleaned(&raw).has_user_ids);
}

#[test]
fn packets_of_unknown_types_and_unreadable_signatures_survive() {
    let anna = Maker::new();
    let unknown = packet(Tag(60), b"from the future");
    let unreadable = packet(Tag::SIGNATURE, &[99, 1, 2, 3]);
    let raw = raw(&[&anna.key(), &user_id(ANNA), &anna.certify(ANNA), &unreadable, &unknown]);
    let cleaned = cleaned(&raw);
    assert_eq!(cleaned.certificate.bytes, raw.bytes);
    assert_eq!(cleaned.certificate.facts.components[1].unread.len(), 1);
    assert_eq!(cleaned.certificate.facts.components[2].kind, ComponentKind::Unknown(60));
}

#[test]
fn what_is_no_certificate_is_refused() {
    let anna = Maker::new();
    for packets in [&[][..], &[&user_id(ANNA)[..]], &[&anna.key()[..20]], &[&anna.key(), b"\xcd\x7f"]] {
        let refused = clean(&raw(packets), &CleanOptions::default(), NOW);
        assert!(matches!(refused, Err(Error::Malformed { .. })), "{packets:?}");
    }
}

#[test]
fn a_binding_that_a_key_server_put_behind_the_last_subkey_is_given_back_on_demand() {
    let (anna, first, second) = (Maker::new(), Maker::new(), Maker::new());
    let binding = anna.bind(&first, SIGNED);
    let raw = raw(&[&anna.key(), &first.subkey(), &second.subkey(), &binding]);
    let options = CleanOptions { repair_pks_subkey_bug: true, no_repair: true, ..CleanOptions::default() };
    let repaired = cleaned_with(&raw, &options);
    assert_eq!(shown(&repaired), [anna.key(), first.subkey(), binding]);
}

/// Certifications that name the key and whose digests begin as they should, but that do not verify.
fn forgeries(anna: &Maker, count: u32) -> Vec<Vec<u8>> {
    let forge = |later| {
        let draft = Draft { created: SIGNED + 1 + later, ..Draft::new(0x13) };
        damaged(&draft.sign(anna, anna, Over::UserId(ANNA)))
    };
    (0..count).map(forge).collect()
}

#[test]
fn the_good_self_signature_among_many_newer_forgeries_is_found() {
    let anna = Maker::new();
    let mut packets = vec![anna.key(), user_id(ANNA), anna.certify(ANNA)];
    packets.extend(forgeries(&anna, 3 * limits::MAX_CHECKS_PER_COMPONENT as u32));
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    assert!(cleaned(&raw(&packets)).has_user_ids);
}

#[test]
fn forgeries_over_other_user_ids_leave_each_its_share_of_the_budget() {
    let anna = Maker::new();
    let forgery = damaged(&anna.certify(ANNA));
    let mut packets = vec![anna.key()];
    let per_user_id = limits::MAX_CHECKS_PER_COMPONENT;
    for made_up in 0..200 {
        packets.push(user_id(&format!("made up {made_up}")));
        packets.extend((0..per_user_id).map(|number| {
            let mut another = forgery.clone();
            *another.last_mut().expect("a packet has bytes") ^= (number as u8) << 1;
            another
        }));
    }
    packets.extend([user_id(ANNA), anna.certify(ANNA)]);
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    assert_eq!(shown(&cleaned(&raw(&packets))), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
}

#[test]
fn forged_self_signatures_are_found_out_also_where_a_good_one_is_newer() {
    let anna = Maker::new();
    let older = forgeries(&anna, 2 * limits::MAX_CHECKS_PER_COMPONENT as u32);
    let newest = Draft { created: SIGNED + 1_000_000, ..Draft::new(0x13) };
    let mut packets = vec![anna.key(), user_id(ANNA)];
    packets.extend(older);
    packets.push(newest.sign(&anna, &anna, Over::UserId(ANNA)));
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    let cleaned = cleaned(&raw(&packets));
    assert!(cleaned.has_user_ids);
    assert!(cleaned.notes.contains(&CleaningNote::BadSignatures(2 * limits::MAX_CHECKS_PER_COMPONENT)));
    assert_eq!(cleaned.certificate.bytes, packets.concat(), "over user IDs they are kept, as in GnuPG");
}

#[test]
fn a_key_that_takes_long_to_verify_with_has_a_smaller_budget() {
    let anna = Maker::new();
    let number = |bits: usize| [&(bits as u16).to_be_bytes()[..], &vec![0xff; bits / 8]].concat();
    // DSA: p, q, g, y.
    let key = [vec![4, 0, 0, 0, 0, 17], number(9992), number(256), number(9984), number(9984)].concat();
    let nameless = |later| {
        let draft = Draft { names_issuer: false, created: SIGNED + later, ..Draft::new(0x13) };
        with_likely_digest(&key, ANNA, &draft.sign(&anna, &anna, Over::UserId(ANNA)))
    };
    let mut packets = vec![packet(Tag::PUBLIC_KEY, &key), user_id(ANNA)];
    packets.extend((0..1000).map(nameless));
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    let affordable = limits::MAX_LIKELY_CHECKS.div_ceil(180);
    assert!(cleaned(&raw(&packets)).notes.contains(&CleaningNote::Unchecked(1000 - affordable)));
}

/// A signature packet whose digest over a user ID of another key begins as it says.
fn with_likely_digest(key: &[u8], user_id: &str, signature: &[u8]) -> Vec<u8> {
    let body = Packets::new(signature).next().expect("a packet").expect("a signature").body;
    let parsed = signature::parse(body).expect("a signature");
    let mut digester = Digester::new(key::parse_public(key).expect("a key"));
    let digest = digester.over(Subject::UserId(user_id.as_bytes())).digest(&parsed).expect("a digest");
    let mut body = body.to_vec();
    let at = body.len() - parsed.material.len() - 2;
    body[at..at + 2].copy_from_slice(&digest.prefix());
    packet(Tag::SIGNATURE, &body)
}

#[test]
fn revocations_have_a_budget_of_their_own() {
    let anna = Maker::new();
    let revocation = Draft::new(0x30).sign(&anna, &anna, Over::UserId(ANNA));
    let mut packets = vec![anna.key(), user_id(ANNA), anna.certify(ANNA), revocation];
    packets.extend(forgeries(&anna, 2 * limits::MAX_CHECKS_PER_COMPONENT as u32));
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    let cleaned = cleaned(&raw(&packets));
    assert!(cleaned.certificate.facts.components[1].signatures[1].verifies());
}

#[test]
fn above_the_limit_only_self_signatures_and_revocations_are_kept() {
    let (anna, other) = (Maker::new(), Maker::new());
    let by_other = Draft::new(0x10).sign(&other, &anna, Over::UserId(ANNA));
    let revoked_by_other = Draft::new(0x30).sign(&other, &anna, Over::UserId(ANNA));
    let mut packets = vec![anna.key(), user_id(ANNA)];
    let flood = limits::MAX_CERTIFICATE / by_other.len() + 1;
    packets.extend(std::iter::repeat_n(by_other, flood));
    packets.extend([anna.certify(ANNA), revoked_by_other.clone(), damaged(&anna.certify(ANNA))]);
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    let cleaned = cleaned(&raw(&packets));
    assert_eq!(shown(&cleaned), [anna.key(), user_id(ANNA), anna.certify(ANNA), revoked_by_other]);
    let removed = RemovedSignatures { by_others: flood, own: 0 };
    assert!(cleaned.notes.contains(&CleaningNote::TooLarge(removed)));
}

#[test]
fn a_flood_of_forged_self_signatures_leaves_the_good_one() {
    let anna = Maker::new();
    let forgeries = forgeries(&anna, 50);
    let mut packets = vec![anna.key(), user_id(ANNA), anna.certify(ANNA)];
    // Forgeries whose digests do not even begin as they say cost nothing to make.
    let size: usize = forgeries.iter().map(Vec::len).sum();
    for round in 0..limits::MAX_CERTIFICATE / size + 1 {
        packets.extend(forgeries.iter().map(|forgery| {
            let mut cheaper = forgery.clone();
            let time = cheaper.len() - 100;
            cheaper[time..time + 8].copy_from_slice(&round.to_be_bytes());
            cheaper
        }));
    }
    let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
    let cleaned = cleaned(&raw(&packets));
    assert_eq!(shown(&cleaned), [anna.key(), user_id(ANNA), anna.certify(ANNA)]);
}

#[test]
fn a_revocation_or_newer_binding_of_a_subkey_counts_for_all_its_occurrences() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let (binding, newer) = (anna.bind(&subkey, SIGNED), anna.bind(&subkey, SIGNED + 1));
    let revocation = Draft::new(0x28).sign(&anna, &anna, Over::Subkey(&subkey));
    let states = |first: &[u8], second: &[u8]| {
        let user = [user_id(ANNA), anna.certify(ANNA)].concat();
        let raw = raw(&[&anna.key(), &user, &subkey.subkey(), first, &subkey.subkey(), second]);
        let certificate = cleaned(&raw).certificate;
        let state = evaluate(&certificate.facts, EvaluationContext::new(NOW, PacketView::Full));
        match &state.components[..] {
            [_, _, ComponentState::Key(first), ComponentState::Key(second)] => [*first, *second],
            other => panic!("{other:?}"),
        }
    };
    let revoked = [binding.clone(), revocation].concat();
    for states in [states(&revoked, &newer), states(&newer, &revoked)] {
        assert!(states.iter().all(|state| state.revoked.is_some() && !state.is_usable()), "{states:?}");
    }
    let [first, second] = states(&binding, &newer);
    assert!(first.is_usable() && second.is_usable());
}

#[test]
fn a_misplaced_revocation_goes_to_the_first_of_equal_subkeys() {
    let (anna, subkey) = (Maker::new(), Maker::new());
    let revocation = Draft::new(0x28).sign(&anna, &anna, Over::Subkey(&subkey));
    let binding = anna.bind(&subkey, SIGNED);
    let raw = raw(&[
        &anna.key(),
        &user_id(ANNA),
        &revocation,
        &anna.certify(ANNA),
        &subkey.subkey(),
        &binding,
        &subkey.subkey(),
        &binding,
    ]);
    let user = [user_id(ANNA), anna.certify(ANNA)];
    let [first, second] =
        [vec![subkey.subkey(), revocation, binding.clone()], vec![subkey.subkey(), binding]];
    assert_eq!(shown(&cleaned(&raw)), [&[anna.key()][..], &user, &first, &second].concat());
}
