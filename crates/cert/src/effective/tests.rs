use super::*;
use crate::facts::{
    Component, ComponentKind, Facts, Issuer, KeyFacts, Revoker, SelfSignature, SignatureFacts,
    SignatureFlags, SignatureType,
};
use crate::identity::{Fingerprint, KeyId, Timestamp};
use crate::packet::Span;
use verify::Verdict;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

const BIRTH: u32 = 1_000_000;
const NOW: Timestamp = Timestamp(2_000_000);
const DAY: u32 = 86_400;

fn key(algorithm: PublicKeyAlgorithm, signatures: Vec<SignatureFacts>) -> Component {
    let fingerprint = Fingerprint::V4([7; 20]);
    let created = Timestamp(BIRTH);
    let key = KeyFacts {
        fingerprint,
        created,
        algorithm,
        bits: 3072,
        curve: None,
        keygrip: None,
        subgroup_bits: 0,
    };
    component(ComponentKind::Key(key), signatures)
}

fn primary(signatures: Vec<SignatureFacts>) -> Component {
    key(PublicKeyAlgorithm::RSA, signatures)
}

fn user(value: &str, signatures: Vec<SignatureFacts>) -> Component {
    component(ComponentKind::UserId(value.into()), signatures)
}

fn component(kind: ComponentKind, signatures: Vec<SignatureFacts>) -> Component {
    Component { span: Span { start: 0, end: 0 }, kind, signatures, unread: Vec::new() }
}

/// A good self-signature, `age` seconds after the key.
fn own(kind: SignatureType, age: u32, say: impl FnOnce(&mut SelfSignature)) -> SignatureFacts {
    let mut own = SelfSignature { verdict: Some(Verdict::Good), ..SelfSignature::default() };
    say(&mut own);
    SignatureFacts {
        span: Span { start: 0, end: 0 },
        version: 4,
        kind,
        key_algorithm: PublicKeyAlgorithm::RSA,
        hash_algorithm: HashAlgorithm::SHA256,
        created: Timestamp(BIRTH + age),
        expires: None,
        issuer: Issuer { key_id: KeyId(7), fingerprint: None },
        flags: SignatureFlags::default(),
        trust: None,
        trust_regexp: None,
        reason: None,
        content: None,
        own: Some(Box::new(own)),
    }
}

fn certify(age: u32) -> SignatureFacts {
    own(SignatureType::POSITIVE_CERTIFICATION, age, |_| {})
}

fn saying(age: u32, say: impl FnOnce(&mut SelfSignature)) -> SignatureFacts {
    own(SignatureType::POSITIVE_CERTIFICATION, age, say)
}

fn bind(age: u32, say: impl FnOnce(&mut SelfSignature)) -> SignatureFacts {
    own(SignatureType::SUBKEY_BINDING, age, say)
}

fn revoke(kind: SignatureType, age: u32) -> SignatureFacts {
    own(kind, age, |_| {})
}

fn at(now: Timestamp, components: Vec<Component>) -> Effective {
    evaluate(&Facts { components }, EvaluationContext::new(now, PacketView::Gnupg))
}

fn today(components: Vec<Component>) -> Effective {
    at(NOW, components)
}

impl Effective {
    fn key(&self, index: usize) -> &KeyState {
        let ComponentState::Key(state) = &self.components[index] else { panic!("no key at {index}") };
        state
    }

    fn user(&self, index: usize) -> &UserIdState {
        let ComponentState::User(state) = &self.components[index] else { panic!("no user ID at {index}") };
        state
    }
}

#[test]
fn a_user_id_with_a_good_self_signature_makes_the_key_valid() {
    let effective = today(vec![primary(vec![]), user("a", vec![certify(1)])]);
    assert!(effective.primary().valid);
    assert_eq!(effective.user(1).created, Some(Timestamp(BIRTH + 1)));
}

#[test]
fn only_good_verdicts_count() {
    for verdict in [None, Some(Verdict::Bad), Some(Verdict::Unsupported)] {
        let signature = saying(1, |own| own.verdict = verdict);
        let effective = today(vec![primary(vec![]), user("a", vec![signature])]);
        assert!(!effective.primary().valid, "{verdict:?}");
        assert_eq!(effective.user(1).created, None);
    }
}

#[test]
fn a_weak_digest_or_a_critical_subpacket_that_is_not_understood_makes_a_signature_worthless() {
    let mut weak = certify(1);
    weak.hash_algorithm = HashAlgorithm::MD5;
    let mut critical = certify(1);
    critical.flags.unknown_critical = true;
    for signature in [weak, critical] {
        assert!(!today(vec![primary(vec![]), user("a", vec![signature])]).primary().valid);
    }
}

#[test]
fn a_signature_older_than_the_key_does_not_count() {
    let mut early = certify(0);
    early.created = Timestamp(BIRTH - 1);
    assert!(!today(vec![primary(vec![]), user("a", vec![early])]).primary().valid);
}

#[test]
fn a_signature_from_the_future_counts_but_a_key_from_the_future_does_not() {
    let facts = || vec![primary(vec![]), user("a", vec![certify(10 * DAY)])];
    assert!(at(Timestamp(BIRTH), facts()).primary().valid);
    assert!(!at(Timestamp(BIRTH - 1), facts()).primary().valid);
}

#[test]
fn of_two_self_signatures_the_newer_counts_and_of_the_same_second_the_later() {
    let named = |age| saying(age, |own| own.primary_user_id = true);
    let older_last = today(vec![primary(vec![]), user("a", vec![named(5), certify(4)])]);
    assert_eq!(older_last.user(1).binding, Some(0));
    let same_second = today(vec![primary(vec![]), user("a", vec![named(5), certify(5)])]);
    assert_eq!(same_second.user(1).binding, Some(1));
}

#[test]
fn a_user_id_is_revoked_until_it_is_certified_again() {
    let revocation = revoke(SignatureType::CERTIFICATION_REVOCATION, 5);
    let revoked = today(vec![primary(vec![]), user("a", vec![certify(1), revocation.clone()])]);
    assert!(revoked.user(1).revoked);
    assert!(revoked.primary().valid, "the key itself stays valid");
    let again = today(vec![primary(vec![]), user("a", vec![certify(6), revocation])]);
    assert!(!again.user(1).revoked);
}

#[test]
fn a_user_id_ends_in_the_second_its_signature_ends() {
    let mut signature = certify(1);
    signature.expires = Some(NOW);
    let facts = || vec![primary(vec![]), user("a", vec![signature.clone()])];
    assert!(at(NOW, facts()).user(1).expired);
    assert!(!at(Timestamp(NOW.0 - 1), facts()).user(1).expired);
}

#[test]
fn a_key_ends_in_the_second_after_its_last() {
    let ending =
        |seconds| vec![primary(vec![]), user("a", vec![saying(1, |o| o.key_expires = Some(seconds))])];
    assert!(!today(ending(NOW.0 - BIRTH)).primary().expired);
    assert!(today(ending(NOW.0 - BIRTH - 1)).primary().expired);
    assert_eq!(today(ending(0)).primary().expires, None, "zero means never");
}

#[test]
fn an_end_beyond_the_last_second_wraps_around() {
    let ending = saying(1, |own| own.key_expires = Some(u32::MAX));
    let effective = today(vec![primary(vec![]), user("a", vec![ending])]);
    assert_eq!(effective.primary().expires, Some(Timestamp(BIRTH - 1)));
}

#[test]
fn the_newest_user_id_that_says_anything_decides_and_attributes_speak_too() {
    let quiet = certify(9);
    let speaking = saying(5, |own| own.key_expires = Some(77));
    let attribute = crate::facts::AttributeFacts { subpackets: vec![], name_hash: [0; 20], length: 1 };
    let certified = |age, flags| saying(age, |own: &mut SelfSignature| own.key_flags = Some([flags, 0]));
    let effective = today(vec![
        primary(vec![]),
        user("a", vec![quiet]),
        user("b", vec![speaking]),
        user("c", vec![certified(2, 0x03)]),
        component(ComponentKind::Attribute(attribute), vec![certified(3, 0x21)]),
    ]);
    assert_eq!(effective.primary().expires, Some(Timestamp(BIRTH + 77)));
    assert_eq!(effective.primary().usage, Usage::CERTIFY | Usage::AUTHENTICATE);
}

#[test]
fn a_direct_key_signature_goes_before_user_ids() {
    let direct = own(SignatureType::DIRECT_KEY, 1, |own| {
        own.key_flags = Some([0x01, 0]);
        own.key_expires = Some(5 * DAY);
    });
    let late = saying(9, |own| {
        own.key_flags = Some([0x03, 0]);
        own.key_expires = Some(6 * DAY);
    });
    let effective = today(vec![primary(vec![direct]), user("a", vec![late])]);
    assert_eq!(effective.primary().usage, Usage::CERTIFY);
    assert_eq!(effective.primary().expires, Some(Timestamp(BIRTH + 5 * DAY)));
}

#[test]
fn without_key_flags_the_algorithm_decides_and_flags_never_exceed_it() {
    let plain = |algorithm| {
        let certified = user("a", vec![certify(1)]);
        today(vec![key(algorithm, vec![]), certified]).primary().usage
    };
    let all = Usage::CERTIFY | Usage::SIGN | Usage::ENCRYPT | Usage::AUTHENTICATE;
    assert_eq!(plain(PublicKeyAlgorithm::RSA), all);
    assert_eq!(plain(PublicKeyAlgorithm::DSA), Usage::CERTIFY | Usage::SIGN | Usage::AUTHENTICATE);
    assert_eq!(plain(PublicKeyAlgorithm(99)), Usage::CERTIFY, "a primary key always certifies");

    let everything = bind(1, |own| own.key_flags = Some([0xff, 0]));
    let subkey = key(PublicKeyAlgorithm::ECDH, vec![everything]);
    let effective = today(vec![primary(vec![]), user("a", vec![certify(1)]), subkey]);
    assert_eq!(effective.key(2).usage, Usage::ENCRYPT);
}

#[test]
fn user_ids_behind_a_subkey_mean_nothing_to_gnupg_only() {
    let subkey = key(PublicKeyAlgorithm::RSA, vec![bind(1, |_| {})]);
    let facts = Facts { components: vec![primary(vec![]), subkey, user("a", vec![certify(1)])] };
    let is_valid =
        |view| evaluate(&facts, EvaluationContext::new(Timestamp(BIRTH + 1_000), view)).primary().valid;
    assert!(is_valid(PacketView::Full) && !is_valid(PacketView::Gnupg));
}

#[test]
fn key_flags_that_name_nothing_are_not_missing_key_flags() {
    let subkey = key(PublicKeyAlgorithm::RSA, vec![bind(1, |own| own.key_flags = Some([0, 0]))]);
    let effective = today(vec![primary(vec![]), user("a", vec![certify(1)]), subkey]);
    assert_eq!(effective.key(2).usage, Usage::default());
}

#[test]
fn a_revoked_subkey_stays_revoked_however_often_it_is_bound_again() {
    let signatures = vec![
        bind(1, |_| {}),
        revoke(SignatureType::SUBKEY_REVOCATION, 2),
        bind(3, |own| own.key_expires = Some(9)),
    ];
    let effective =
        today(vec![primary(vec![]), user("a", vec![certify(1)]), key(PublicKeyAlgorithm::RSA, signatures)]);
    let date = Timestamp(BIRTH + 2);
    assert_eq!(effective.key(2).revoked, Some(Revocation { date, designated: false }));
    assert_eq!(effective.key(2).expires, Some(Timestamp(BIRTH + 9)));
}

#[test]
fn an_expired_binding_leaves_the_floor_to_an_older_one() {
    let mut ended = bind(5, |_| {});
    ended.expires = Some(Timestamp(BIRTH + 6));
    let subkey = key(PublicKeyAlgorithm::RSA, vec![bind(1, |_| {}), ended]);
    let effective = today(vec![primary(vec![]), user("a", vec![certify(1)]), subkey]);
    assert_eq!(effective.key(2).binding, Some(0));
    assert!(effective.key(2).valid);
}

#[test]
fn a_subkey_without_binding_is_invalid_and_has_no_use() {
    let subkey = key(PublicKeyAlgorithm::RSA, vec![revoke(SignatureType::SUBKEY_REVOCATION, 2)]);
    let effective = today(vec![primary(vec![]), user("a", vec![certify(1)]), subkey]);
    assert!(!effective.key(2).valid);
    assert_eq!(effective.key(2).usage, Usage::default());
    assert!(effective.key(2).revoked.is_some());
}

#[test]
fn what_befalls_the_primary_key_befalls_its_subkeys() {
    let subkey = || key(PublicKeyAlgorithm::RSA, vec![bind(1, |_| {})]);
    let invalid = today(vec![primary(vec![]), subkey()]);
    assert!(!invalid.key(1).valid);

    let revocation = revoke(SignatureType::KEY_REVOCATION, 4);
    let revoked = today(vec![primary(vec![revocation]), user("a", vec![certify(5)]), subkey()]);
    assert_eq!(revoked.key(2).revoked, revoked.primary().revoked);
    assert!(revoked.primary().revoked.is_some());

    let ending = saying(1, |own| own.key_expires = Some(1));
    let expired = today(vec![primary(vec![]), user("a", vec![ending]), subkey()]);
    assert!(expired.key(2).expired);
    assert_eq!(expired.key(2).expires, None, "its own binding has no end");
}

#[test]
fn a_designated_revocation_counts_where_revokers_are_named() {
    let class = 0x80;
    let revoker =
        Revoker { class, algorithm: PublicKeyAlgorithm::RSA, fingerprint: Fingerprint::V4([9; 20]) };
    let naming = own(SignatureType::DIRECT_KEY, 1, |own| own.revokers = vec![revoker, revoker]);
    let date = Timestamp(BIRTH + 8);
    let moment = EvaluationContext {
        designated_revocation: Some(DesignatedRevocation { date, is_hard: true }),
        ..EvaluationContext::new(NOW, PacketView::Gnupg)
    };

    let facts = Facts { components: vec![primary(vec![naming])] };
    let effective = evaluate(&facts, moment);
    assert_eq!(effective.revokers, [revoker]);
    assert_eq!(effective.primary().revoked, Some(Revocation { date, designated: true }));

    let facts = Facts { components: vec![primary(vec![certify(1)])] };
    assert_eq!(evaluate(&facts, moment).primary().revoked, None);
}

fn primary_of(users: Vec<(&str, Vec<SignatureFacts>)>) -> String {
    let mut components = vec![primary(vec![])];
    components.extend(users.into_iter().map(|(value, signatures)| user(value, signatures)));
    let facts = Facts { components };
    let effective = evaluate(&facts, EvaluationContext::new(NOW, PacketView::Gnupg));
    let index = effective.primary_user_id(&facts).expect("there are user IDs");
    let flagged =
        effective.components.iter().filter(|s| matches!(s, ComponentState::User(user) if user.primary));
    assert_eq!(flagged.count(), 1);
    let ComponentKind::UserId(value) = &facts.components[index].kind else { panic!("no user ID") };
    String::from_utf8_lossy(value).into_owned()
}

#[test]
fn the_primary_user_id_is_the_newest_that_says_so_else_the_newest() {
    let flagged = |age| vec![saying(age, |own| own.primary_user_id = true)];
    assert_eq!(primary_of(vec![("a", flagged(1)), ("b", flagged(2)), ("c", vec![certify(3)])]), "b");
    assert_eq!(primary_of(vec![("a", vec![certify(3)]), ("b", vec![certify(2)])]), "a");
}

#[test]
fn between_equals_the_longest_user_id_then_the_last_in_the_alphabet_is_primary() {
    let signed = || vec![certify(1)];
    assert_eq!(primary_of(vec![("zz", signed()), ("aaa", signed())]), "aaa");
    assert_eq!(primary_of(vec![("b", signed()), ("a", signed())]), "b");
    assert_eq!(primary_of(vec![("b", vec![]), ("ab", vec![]), ("c", vec![])]), "ab");
}

#[test]
fn a_superseded_packet_is_visible_in_the_full_view_only() {
    let mut superseded = certify(1);
    superseded.flags.superseded = true;
    let facts = Facts { components: vec![primary(vec![]), user("a", vec![superseded])] };
    assert!(!evaluate(&facts, EvaluationContext::new(NOW, PacketView::Gnupg)).primary().valid);
    assert!(evaluate(&facts, EvaluationContext::new(NOW, PacketView::Full)).primary().valid);
}
