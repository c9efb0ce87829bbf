//! Which back-signatures are accepted, where they may stand, and what becomes of them in copies of a certificate.

use crate::laws::{assert_idempotent, merged};
use crate::made::{BIRTH, Draft, Maker, Over, SIGNED, raw, user_id};
use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::cross_certification::cross_certification;
use keyhoard_cert::effective::objections::{BackSignatureFlaw, CrossCertification};
use keyhoard_cert::packet::Packets;
use keyhoard_cert::{Certificate, Timestamp};
use verify::HashAlgorithm;
use verify::policy::DigestPolicy;

const NOW: Timestamp = Timestamp(BIRTH + 1_000_000);
const EMBEDDED: u8 = 32;

/// A primary key with a user ID, and a subkey that signs.
struct Family {
    primary: Maker,
    subkey: Maker,
}

impl Family {
    fn new() -> Self {
        Self { primary: Maker::new(), subkey: Maker::born(BIRTH + 100) }
    }

    /// Lets the subkey make a back-signature and returns its body.
    fn back(&self, draft: &Draft) -> Vec<u8> {
        self.back_by(&self.subkey, draft)
    }

    fn back_by(&self, maker: &Maker, draft: &Draft) -> Vec<u8> {
        let packet = draft.sign(maker, &self.primary, Over::Subkey(&self.subkey));
        let packet = Packets::new(&packet).next().expect("a packet").expect("that is whole");
        packet.body.to_vec()
    }

    /// Binds the subkey, with these embedded signatures.
    fn binding(&self, created: u32, hashed: &[Vec<u8>], unhashed: &[Vec<u8>]) -> Vec<u8> {
        let embedded = |bodies: &[Vec<u8>]| bodies.iter().map(|body| (EMBEDDED, body.clone())).collect();
        let mut draft = Draft { created, unhashed: embedded(unhashed), ..Draft::new(0x18) };
        draft.hashed = embedded(hashed);
        draft.hashed.push((27, vec![2]));
        draft.sign(&self.primary, &self.primary, Over::Subkey(&self.subkey))
    }

    fn certificate(&self, bindings: &[&[u8]]) -> Certificate {
        let (key, name, subkey) = (self.primary.key(), user_id("a"), self.subkey.subkey());
        let own = self.primary.certify("a");
        let raw = raw(&[&[&key[..], &name, &own, &subkey], bindings].concat());
        clean(&raw, &CleanOptions::default(), NOW).expect("a sound certificate").certificate
    }

    fn judge(&self, bindings: &[&[u8]]) -> CrossCertification {
        judge(&self.certificate(bindings))
    }

    /// What becomes of the subkey with this one back-signature.
    fn with(&self, draft: &Draft) -> CrossCertification {
        self.judge(&[&self.binding(SIGNED, &[], &[self.back(draft)])])
    }
}

fn judge(certificate: &Certificate) -> CrossCertification {
    cross_certification(certificate, 2, DigestPolicy::GNUPG, NOW)
}

fn draft() -> Draft {
    Draft::new(0x19)
}

#[test]
fn a_back_signature_may_stand_among_the_hashed_and_the_unhashed_subpackets() {
    let family = Family::new();
    let back = [family.back(&draft())];
    assert_eq!(family.judge(&[&family.binding(SIGNED, &back, &[])]), CrossCertification::Holds);
    assert_eq!(family.judge(&[&family.binding(SIGNED, &[], &back)]), CrossCertification::Holds);
    assert_eq!(family.judge(&[&family.binding(SIGNED, &[], &[])]), CrossCertification::Missing);
}

#[test]
fn a_back_signature_is_held_to_what_every_signature_is_held_to() {
    let family = Family::new();
    let critical = |kind: u8, body: &[u8]| Draft { hashed: vec![(0x80 | kind, body.to_vec())], ..draft() };
    let expiring = |seconds: u32| Draft { hashed: vec![(3, seconds.to_be_bytes().to_vec())], ..draft() };
    let refused = CrossCertification::Refused;
    let early = BIRTH + 99;
    for (rule, draft, expected) in [
        (
            "MD5",
            Draft { hash: HashAlgorithm::MD5, ..draft() },
            refused(BackSignatureFlaw::WeakDigest(HashAlgorithm::MD5)),
        ),
        ("an unknown critical subpacket", critical(100, b"x"), refused(BackSignatureFlaw::UnknownDemand)),
        (
            "a critical notation",
            critical(20, b"\x80\0\0\0\0\x03\0\x01a@bx"),
            refused(BackSignatureFlaw::UnknownDemand),
        ),
        ("expired", expiring(10), refused(BackSignatureFlaw::Expired)),
        ("expires later", expiring(2_000_000), CrossCertification::Holds),
        (
            "older than the subkey",
            Draft { created: early, ..draft() },
            refused(BackSignatureFlaw::BeforeKey(Timestamp(early))),
        ),
        ("as old as the subkey", Draft { created: early + 1, ..draft() }, CrossCertification::Holds),
        ("SHA-1", Draft { hash: HashAlgorithm::SHA1, ..draft() }, CrossCertification::Holds),
        ("no back-signature", Draft::new(0x18), CrossCertification::Missing),
    ] {
        assert_eq!(family.with(&draft), expected, "{rule}");
    }
    let certificate = {
        let back = family.back(&Draft { hash: HashAlgorithm::SHA1, ..draft() });
        family.certificate(&[&family.binding(SIGNED, &[], &[back])])
    };
    let weak = DigestPolicy::GNUPG.with_weak(HashAlgorithm::SHA1);
    let judged = cross_certification(&certificate, 2, weak, NOW);
    assert_eq!(
        judged,
        refused(BackSignatureFlaw::WeakDigest(HashAlgorithm::SHA1)),
        "SHA-1 where it is called weak"
    );
}

#[test]
fn only_the_subkey_itself_makes_its_back_signature() {
    let family = Family::new();
    for other in [&Maker::new(), &family.primary] {
        let bad = family.back_by(other, &draft());
        let judged = family.judge(&[&family.binding(SIGNED, &[], &[bad])]);
        assert_eq!(judged, CrossCertification::Refused(BackSignatureFlaw::Bad));
    }
}

#[test]
fn one_good_back_signature_is_enough_wherever_the_bad_ones_stand() {
    let family = Family::new();
    let (good, bad) = (family.back(&draft()), family.back_by(&Maker::new(), &draft()));
    for embedded in [[bad.clone(), good.clone()], [good.clone(), bad.clone()]] {
        assert_eq!(family.judge(&[&family.binding(SIGNED, &[], &embedded)]), CrossCertification::Holds);
    }
    let expired = family.back(&Draft { hashed: vec![(3, 10u32.to_be_bytes().to_vec())], ..draft() });
    assert_eq!(family.judge(&[&family.binding(SIGNED, &[expired], &[good])]), CrossCertification::Holds);
}

#[test]
fn a_newer_binding_signature_without_a_back_signature_takes_none_back() {
    let family = Family::new();
    let old = family.binding(SIGNED, &[], &[family.back(&draft())]);
    let new = family.binding(SIGNED + 10, &[], &[]);
    assert_eq!(family.judge(&[&old, &new]), CrossCertification::Holds);
    assert_eq!(family.judge(&[&new, &old]), CrossCertification::Holds);
}

#[test]
fn a_back_signature_in_a_binding_signature_that_is_bad_is_none() {
    let family = Family::new();
    let stolen = Draft { unhashed: vec![(EMBEDDED, family.back(&draft()))], ..Draft::new(0x18) };
    let foreign = stolen.sign(&Maker::new(), &family.primary, Over::Subkey(&family.subkey));
    let own = family.binding(SIGNED, &[], &[]);
    assert_eq!(family.judge(&[&own, &foreign]), CrossCertification::Missing);
}

#[test]
fn a_copy_that_lost_its_back_signature_does_not_push_out_the_one_that_has_it() {
    let family = Family::new();
    let (good, bad) = (family.back(&draft()), family.back_by(&Maker::new(), &draft()));
    let whole = family.binding(SIGNED, &[], &[good]);
    for poor in [family.binding(SIGNED, &[], &[]), family.binding(SIGNED, &[], &[bad])] {
        let [whole, poor] = [&whole, &poor].map(|binding| family.certificate(&[binding]));
        for union in [merged(&poor, &whole), merged(&whole, &poor)] {
            assert_eq!(judge(&union), CrossCertification::Holds);
            assert_idempotent(&union, &whole);
            assert_idempotent(&union, &poor);
        }
    }
    let stripped = family.binding(SIGNED, &[], &[]);
    for bindings in [[&whole[..], &stripped], [&stripped, &whole]] {
        assert_eq!(family.judge(&bindings), CrossCertification::Holds, "in one certificate");
    }
}

#[test]
fn however_many_damaged_copies_come_one_of_them_is_kept() {
    let family = Family::new();
    let whole = family.certificate(&[&family.binding(SIGNED, &[], &[family.back(&draft())])]);
    let mut union = whole.clone();
    for _ in 0..20 {
        let bad = family.back_by(&Maker::new(), &draft());
        union = merged(&union, &family.certificate(&[&family.binding(SIGNED, &[], &[bad])]));
    }
    assert_eq!(union.facts.components[2].signatures.len(), 2);
    assert_eq!(judge(&union), CrossCertification::Holds);
}

#[test]
fn a_copy_made_worthless_by_an_unhashed_subpacket_does_not_push_out_the_sound_one() {
    let maker = Maker::new();
    let certified = |unhashed: Vec<(u8, Vec<u8>)>| {
        Draft { unhashed, ..Draft::new(0x13) }.sign(&maker, &maker, Over::UserId("a"))
    };
    let certificate = |own: &[u8]| {
        let raw = raw(&[&maker.key(), &user_id("a"), own]);
        clean(&raw, &CleanOptions::default(), NOW).map(|it| it.certificate)
    };
    let sound = certificate(&certified(Vec::new())).expect("a sound certificate");
    let worthless = certified(vec![(0x80 | 100, vec![0])]);
    // It comes beside another self-signature, without which nothing of it would be kept.
    let other = Draft { created: SIGNED - 1, ..Draft::new(0x13) }.sign(&maker, &maker, Over::UserId("a"));
    let poor = certificate(&[worthless, other].concat()).expect("a sound certificate");
    for union in [merged(&poor, &sound), merged(&sound, &poor)] {
        let newest = union.facts.components[1].signatures.iter().filter(|one| one.created.0 == SIGNED);
        assert!(newest.into_iter().any(|one| one.verifies()), "the sound copy is there");
    }
}

#[test]
fn more_back_signatures_than_are_verified_are_refused_and_not_overlooked() {
    let family = Family::new();
    let bad = family.back_by(&Maker::new(), &draft());
    // About 500 fit into one signature.
    let many = vec![bad; 450];
    let bindings: Vec<Vec<u8>> = (0..12).map(|age| family.binding(SIGNED + age, &[], &many)).collect();
    let bindings: Vec<&[u8]> = bindings.iter().map(Vec::as_slice).collect();
    assert_eq!(family.judge(&bindings), CrossCertification::Refused(BackSignatureFlaw::Unchecked));
}
