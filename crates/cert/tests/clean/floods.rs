//! Floods of forged signatures: none hides what cannot be taken back, none makes a certificate worthless.

use crate::made::{Draft, Maker, Over, SIGNED, packet, user_id};
use keyhoard_cert::RemovedSignatures;
use keyhoard_cert::certificate::Certificate;
use keyhoard_cert::clean::{
    CleanOptions, Cleaned, clean, continue_verification, rebuild, rebuild_proven, rebuild_repaired,
};
use keyhoard_cert::compact::{CompactOptions, compact};
use keyhoard_cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, evaluate};
use keyhoard_cert::identity::Timestamp;
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::Tag;
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use verify::limits;

const NOW: Timestamp = Timestamp(SIGNED + 10_000_000);
const ANNA: &str = "Anna <anna@example.org>";

/// A certificate with a user ID and a subkey, and what revokes them.
struct Anna {
    key: Maker,
    subkey: Maker,
}

/// What a revocation revokes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Revoked {
    Key,
    Subkey,
    UserId,
}

const ALL: [Revoked; 3] = [Revoked::Key, Revoked::Subkey, Revoked::UserId];

impl Anna {
    fn new() -> Self {
        Self { key: Maker::new(), subkey: Maker::new() }
    }

    fn sign(&self, draft: &Draft, revoked: Revoked) -> Vec<u8> {
        draft.sign(&self.key, &self.key, self.over(revoked))
    }

    fn forge(&self, draft: &Draft, revoked: Revoked) -> Vec<u8> {
        draft.forge(&self.key, &self.key, self.over(revoked))
    }

    fn over(&self, revoked: Revoked) -> Over<'_> {
        match revoked {
            Revoked::Key => Over::Primary,
            Revoked::Subkey => Over::Subkey(&self.subkey),
            Revoked::UserId => Over::UserId(ANNA),
        }
    }

    fn revocation(&self, revoked: Revoked) -> Vec<u8> {
        self.sign(&Draft { created: SIGNED + 1, ..Draft::new(revoked.kind()) }, revoked)
    }

    /// So many newer revocations that the key did not make, although their digests begin as they say.
    fn forgeries(&self, revoked: Revoked, count: u32, padding: usize) -> Vec<Vec<u8>> {
        let forge = |number| {
            let unhashed = vec![(100, vec![0; 180]); padding];
            let draft = Draft { created: SIGNED + 2 + number, unhashed, ..Draft::new(revoked.kind()) };
            self.forge(&draft, revoked)
        };
        (0..count).map(forge).collect()
    }

    /// The certificate with signatures behind the component that they revoke.
    fn with(&self, revoked: Revoked, signatures: &[Vec<u8>]) -> Vec<u8> {
        let behind = |this| if this == revoked { signatures.concat() } else { Vec::new() };
        [
            self.key.key(),
            behind(Revoked::Key),
            user_id(ANNA),
            self.key.certify(ANNA),
            behind(Revoked::UserId),
            self.subkey.subkey(),
            self.key.bind(&self.subkey, SIGNED),
            behind(Revoked::Subkey),
        ]
        .concat()
    }
}

impl Revoked {
    fn kind(self) -> u8 {
        match self {
            Self::Key => 0x20,
            Self::Subkey => 0x28,
            Self::UserId => 0x30,
        }
    }

    fn is_revoked(self, effective: &Effective) -> bool {
        match (self, &effective.components[..]) {
            (Self::Key, _) => effective.primary().revoked.is_some(),
            (Self::UserId, [_, ComponentState::User(user), ..]) => user.revoked,
            (Self::Subkey, [_, _, ComponentState::Key(subkey), ..]) => subkey.revoked.is_some(),
            _ => false,
        }
    }
}

fn read(bytes: &[u8]) -> RawCertificate {
    let mut pieces = Splitter::new(bytes);
    match (pieces.next(), pieces.next()) {
        (Some(Ok(Piece::Certificate(raw))), None) => raw,
        other => panic!("{other:?}"),
    }
}

fn cleaned(bytes: &[u8]) -> Cleaned {
    clean(&read(bytes), &CleanOptions::default(), NOW).expect("a certificate")
}

fn means(certificate: &Certificate) -> Effective {
    evaluate(&certificate.facts, EvaluationContext::new(NOW, PacketView::Gnupg))
}

#[test]
fn made_up_components_go_where_there_are_too_many_and_a_revocation_behind_them_counts() {
    let anna = Anna::new();
    let bound = |made_up: &dyn Fn(u32) -> Vec<u8>, count| {
        let flood: Vec<u8> = (0..count).flat_map(made_up).collect();
        for revoked in ALL {
            let behind = [flood.clone(), anna.revocation(revoked)].concat();
            for around in [[behind.clone(), Vec::new()], [flood.clone(), anna.revocation(revoked)]] {
                let [before, after] = around;
                let bytes =
                    [anna.key.key(), before, anna.with(revoked, &[])[anna.key.key().len()..].to_vec(), after];
                let certificate = cleaned(&bytes.concat()).certificate;
                assert_eq!(certificate.facts.components.len(), 3, "{revoked:?}");
                assert!(revoked.is_revoked(&means(&certificate)), "{revoked:?}");
            }
        }
    };
    bound(&|number| user_id(&format!("made up {number}")), limits::MAX_COMPONENTS as u32 + 5_000);
    let forgeries: Vec<Vec<u8>> = anna.forgeries(Revoked::UserId, 4, 60);
    let attribute = packet(Tag::ATTRIBUTE, &vec![1; 60_000]);
    bound(&|_| [attribute.clone(), forgeries.concat()].concat(), 400);
    let attribute = packet(Tag::ATTRIBUTE, &vec![1; limits::MAX_PACKET - 10]);
    bound(&|_| attribute.clone(), 2);
}

#[test]
fn what_stands_behind_an_unknown_packet_disables_nothing_and_a_revocation_there_counts() {
    let anna = Anna::new();
    for revoked in ALL {
        let unknown = packet(Tag(60), b"of the future");
        let forged = [unknown.clone(), anna.forgeries(revoked, 1, 0).concat()].concat();
        let certificate = cleaned(&[anna.with(revoked, &[]), forged].concat()).certificate;
        assert!(certificate.facts.is_fully_checked(), "{revoked:?}");
        assert!(!revoked.is_revoked(&means(&certificate)), "{revoked:?}");
        let genuine = [unknown, anna.revocation(revoked)].concat();
        let certificate = cleaned(&[anna.with(revoked, &[]), genuine].concat()).certificate;
        assert!(revoked.is_revoked(&means(&certificate)), "{revoked:?}");
    }
}

#[test]
fn a_revocation_is_found_behind_more_forgeries_than_one_batch_holds() {
    let anna = Anna::new();
    for revoked in ALL {
        let mut signatures = anna.forgeries(revoked, 9000, 0);
        for place in [0, 4500, 9000] {
            signatures.insert(place, anna.revocation(revoked));
            let cleaned = cleaned(&anna.with(revoked, &signatures));
            assert!(revoked.is_revoked(&means(&cleaned.certificate)), "{revoked:?} at {place}");
            signatures.remove(place);
        }
    }
}

#[test]
fn a_revocation_is_found_in_20_megabytes_of_forgeries_and_after_the_facts_are_made_again() {
    let anna = Anna::new();
    for revoked in ALL {
        let mut signatures = anna.forgeries(revoked, 19_000, 6);
        signatures.insert(3000, anna.revocation(revoked));
        let bytes = anna.with(revoked, &signatures);
        assert!(bytes.len() > 20_000_000);
        let cleaned = cleaned(&bytes);
        assert!(revoked.is_revoked(&means(&cleaned.certificate)), "{revoked:?}");
        assert!(cleaned.certificate.bytes.len() < 100_000, "what is forged is not kept");
        let again = rebuild(&cleaned.certificate.bytes, &[]).expect("a certificate");
        assert!(revoked.is_revoked(&means(&again)), "{revoked:?}");
    }
}

#[test]
fn a_flood_neither_refuses_nor_disables_the_certificate() {
    let anna = Anna::new();
    for revoked in ALL {
        let forged = cleaned(&anna.with(revoked, &anna.forgeries(revoked, 19_000, 6)));
        let effective = means(&forged.certificate);
        assert!(effective.fully_checked && effective.primary().valid && forged.has_user_ids, "{revoked:?}");
        assert!(!revoked.is_revoked(&effective), "{revoked:?}");
    }
}

#[test]
fn revocations_whose_digests_do_not_begin_as_they_say_hide_nothing() {
    let anna = Anna::new();
    for revoked in ALL {
        let mut signatures = anna.forgeries(revoked, 9000, 0);
        for forgery in &mut signatures {
            let prefix = forgery.len() - 70;
            forgery[prefix] ^= 1;
            forgery[prefix + 1] ^= 1;
        }
        signatures.insert(0, anna.revocation(revoked));
        let effective = means(&cleaned(&anna.with(revoked, &signatures)).certificate);
        assert!(effective.fully_checked && revoked.is_revoked(&effective), "{revoked:?}");
    }
}

#[test]
fn a_revocation_counts_whatever_it_says_of_its_issuer() {
    let anna = Anna::new();
    for revoked in ALL {
        let draft = Draft { created: SIGNED + 1, names_issuer: false, ..Draft::new(revoked.kind()) };
        let stranger = (16, vec![7; 8]);
        for unhashed in [vec![], vec![stranger]] {
            let revocation = anna.sign(&Draft { unhashed, ..draft.clone() }, revoked);
            let mut signatures = anna.forgeries(revoked, 300, 0);
            signatures.insert(0, revocation);
            let effective = means(&cleaned(&anna.with(revoked, &signatures)).certificate);
            assert!(revoked.is_revoked(&effective), "{revoked:?}");
        }
    }
}

#[test]
fn a_revocation_that_names_another_key_in_its_hashed_part_counts_and_those_by_others_disable_nothing() {
    let (anna, other) = (Anna::new(), Maker::new());
    let stranger = vec![(33, [&[4][..], other.fingerprint().as_bytes()].concat())];
    let draft = Draft { created: SIGNED + 5000, names_issuer: false, hashed: stranger, ..Draft::new(0x30) };
    let revocation = anna.sign(&draft, Revoked::UserId);
    let by_other = |number| {
        Draft { created: SIGNED + number, ..Draft::new(0x30) }.sign(&other, &anna.key, Over::UserId(ANNA))
    };
    for count in [1, 3000] {
        let others: Vec<Vec<u8>> = (0..count).map(by_other).collect();
        let effective =
            |signatures: &[Vec<u8>]| means(&cleaned(&anna.with(Revoked::UserId, signatures)).certificate);
        let without = effective(&others);
        assert!(without.fully_checked && !Revoked::UserId.is_revoked(&without), "beside {count}");
        let with = effective(&[others, vec![revocation.clone()]].concat());
        assert!(with.fully_checked && Revoked::UserId.is_revoked(&with), "beside {count}");
    }
}

#[test]
fn a_misplaced_revocation_is_found_among_misplaced_forgeries() {
    let anna = Anna::new();
    for (revoked, stands) in
        [(Revoked::Key, Revoked::UserId), (Revoked::Subkey, Revoked::Key), (Revoked::UserId, Revoked::Subkey)]
    {
        let mut signatures = anna.forgeries(revoked, 9000, 0);
        signatures.push(anna.revocation(revoked));
        let effective = means(&cleaned(&anna.with(stands, &signatures)).certificate);
        assert!(revoked.is_revoked(&effective), "{revoked:?}");
    }
}

#[test]
fn a_certificate_is_not_repaired_if_misplaced_revocations_are_not_compared_with_every_component() {
    let anna = Anna::new();
    let misplaced = |number| {
        Draft { created: SIGNED + number, ..Draft::new(0x30) }.forge(&anna.key, &anna.key, Over::UserId(ANNA))
    };
    let flood: Vec<u8> = (0..30_000).flat_map(misplaced).collect();
    let named = |number| format!("Anna {number}");
    let bound = |number: u32| [user_id(&named(number)), anna.key.certify(&named(number))].concat();
    let repaired = |user_ids| {
        let user_ids: Vec<u8> = (0..user_ids).flat_map(bound).collect();
        rebuild_repaired(&[anna.key.key(), flood.clone(), user_ids].concat())
    };
    assert!(repaired(2).is_ok());
    let refused = repaired(limits::MAX_SEARCHED_IRREVOCABLE_DIGESTS as u32 / 30_000 + 1);
    assert!(refused.is_err_and(|error| error.to_string().contains("than are examined")));
}

/// The same revocation as somebody changed it: in the beginning of its digest, by a critical subpacket that nobody
/// understands, as one that is not to be given to others, and around its value.
fn spoiled(anna: &Anna, revoked: Revoked) -> Vec<Vec<u8>> {
    let draft = || Draft { created: SIGNED + 1, ..Draft::new(revoked.kind()) };
    let genuine = anna.revocation(revoked);
    let mut prefix = genuine.clone();
    let at = prefix.len() - 70;
    prefix[at] ^= 1;
    let critical = anna.sign(&Draft { unhashed: vec![(100 | 0x80, vec![1])], ..draft() }, revoked);
    let local = anna.sign(&Draft { unhashed: vec![(4, vec![0])], ..draft() }, revoked);
    let mut later = genuine;
    let created = (SIGNED + 1).to_be_bytes();
    let place = later.windows(4).position(|window| window == created).expect("the time is in there");
    later[place + 3] ^= 1;
    vec![prefix, critical, local, later]
}

#[test]
fn no_changed_copy_pushes_a_revocation_aside() {
    let anna = Anna::new();
    for revoked in ALL {
        for (number, copy) in spoiled(&anna, revoked).into_iter().enumerate() {
            for signatures in [[copy.clone(), anna.revocation(revoked)], [anna.revocation(revoked), copy]] {
                let effective = means(&cleaned(&anna.with(revoked, &signatures)).certificate);
                assert!(revoked.is_revoked(&effective), "{revoked:?}, copy {number}");
            }
        }
    }
}

#[test]
fn no_changed_copy_that_came_first_stands_for_the_revocation_that_comes_later() {
    let anna = Anna::new();
    for revoked in ALL {
        for (number, copy) in spoiled(&anna, revoked).into_iter().enumerate() {
            for flood in [0, 700] {
                let mut signatures = anna.forgeries(revoked, flood, 0);
                signatures.push(copy.clone());
                let known = cleaned(&anna.with(revoked, &signatures)).certificate;
                let genuine = cleaned(&anna.with(revoked, &[anna.revocation(revoked)])).certificate;
                for (one, other) in [(&known, &genuine), (&genuine, &known)] {
                    let joined = merge(one, other).map_or_else(|| one.clone(), |merged| merged.certificate);
                    assert!(revoked.is_revoked(&means(&joined)), "{revoked:?}, copy {number} of {flood}");
                    let again = rebuild(&joined.bytes, &superseded(&joined)).expect("a certificate");
                    assert!(revoked.is_revoked(&means(&again)), "{revoked:?}, copy {number} of {flood}");
                }
            }
        }
    }
}

fn superseded(certificate: &Certificate) -> Vec<u32> {
    let signatures = certificate.facts.components.iter().flat_map(|component| &component.signatures);
    signatures.filter(|signature| signature.flags.superseded).map(|signature| signature.span.start).collect()
}

#[test]
fn a_revocation_joins_a_certificate_that_is_full_of_forgeries() {
    let anna = Anna::new();
    for revoked in ALL {
        let flooded = cleaned(&anna.with(revoked, &anna.forgeries(revoked, 3000, 8))).certificate;
        let genuine = cleaned(&anna.with(revoked, &[anna.revocation(revoked)])).certificate;
        let joined = merge(&flooded, &genuine).expect("something new").certificate;
        assert!(revoked.is_revoked(&means(&joined)), "{revoked:?}");
        let again = merge(&joined, &flooded).map_or(joined, |merged| merged.certificate);
        assert!(revoked.is_revoked(&means(&again)), "{revoked:?}");
    }
}

#[test]
fn the_signature_that_names_a_revoker_is_found_behind_forged_direct_key_signatures() {
    let (anna, rita) = (Anna::new(), Maker::new());
    let revoker = [&[0x80, 22][..], rita.fingerprint().as_bytes()].concat();
    let draft = |created, hashed| Draft { created, hashed, ..Draft::new(0x1f) };
    let direct = |created, hashed| draft(created, hashed).sign(&anna.key, &anna.key, Over::Primary);
    let naming = direct(SIGNED, vec![(12, revoker.clone())]);
    for (count, hashed) in [(64, vec![]), (64, vec![(12, revoker)]), (9000, vec![])] {
        let forged = (0..count).map(|later| draft(SIGNED + 1 + later, hashed.clone()));
        let forge = |draft: Draft| draft.forge(&anna.key, &anna.key, Over::Primary);
        let mut signatures: Vec<Vec<u8>> = forged.map(forge).collect();
        signatures.push(direct(SIGNED + 20_000, vec![]));
        signatures.push(naming.clone());
        let effective = means(&cleaned(&anna.with(Revoked::Key, &signatures)).certificate);
        assert_eq!(effective.revokers.len(), 1, "behind {count}");
    }
}

#[test]
fn the_good_self_signature_is_found_behind_20000_forgeries() {
    let anna = Anna::new();
    let forge = |later| {
        let draft = Draft { created: SIGNED + 1 + later, ..Draft::new(0x13) };
        draft.forge(&anna.key, &anna.key, Over::UserId(ANNA))
    };
    let forgeries: Vec<Vec<u8>> = (0..20_000).map(forge).collect();
    for place in [0, 20_000] {
        let mut packets = forgeries.clone();
        packets.insert(place, anna.key.certify(ANNA));
        let bytes = [vec![anna.key.key(), user_id(ANNA)], packets].concat().concat();
        assert!(cleaned(&bytes).has_user_ids, "at {place}");
    }
}

#[test]
fn of_a_reduced_certificate_each_component_keeps_its_newest_own_signatures_and_others_revocations() {
    let (anna, other) = (Anna::new(), Maker::new());
    let by_other = |kind| Draft::new(kind).sign(&other, &anna.key, Over::UserId(ANNA));
    let good: Vec<Vec<u8>> = (0..3)
        .map(|later| {
            Draft { created: SIGNED + later, ..Draft::new(0x13) }.sign(
                &anna.key,
                &anna.key,
                Over::UserId(ANNA),
            )
        })
        .collect();
    let mut packets = vec![anna.key.key(), user_id(ANNA), by_other(0x30)];
    packets.extend(good.clone());
    let flood = limits::MAX_WHOLE_CERTIFICATE / by_other(0x10).len() + 1;
    packets.extend(std::iter::repeat_n(by_other(0x10), flood));
    let raw = read(&packets.concat());
    assert_eq!(raw.signatures_left_out, RemovedSignatures { by_others: flood, own: 0 });
    assert_eq!(raw.bytes, packets[..6].concat());
}

#[test]
fn a_subkey_revocation_that_is_older_than_a_forged_one_is_not_superseded_by_it() {
    let anna = Anna::new();
    let forged = Draft { created: SIGNED + 9_000_000, names_issuer: true, ..Draft::new(0x28) };
    let forged = anna.forge(&forged, Revoked::Subkey);
    let known = rebuild(&anna.with(Revoked::Subkey, &[forged]), &[]).expect("a certificate");
    let genuine = cleaned(&anna.with(Revoked::Subkey, &[anna.revocation(Revoked::Subkey)])).certificate;
    let joined = merge(&known, &genuine).expect("something new").certificate;
    assert!(Revoked::Subkey.is_revoked(&means(&joined)));
}

/// The certificate as it is where verifying its revocations took too long.
fn with_pending_revocations(anna: &Anna, revoked: Revoked, signatures: &[Vec<u8>]) -> Certificate {
    let mut certificate = rebuild(&anna.with(revoked, signatures), &[]).expect("a certificate");
    let signatures = certificate.facts.components.iter_mut().flat_map(|component| &mut component.signatures);
    for signature in signatures.filter(|signature| signature.kind.revokes()) {
        signature.own.get_or_insert_default().verdict = None;
    }
    certificate
}

#[test]
fn a_certificate_with_unchecked_revocations_is_not_valid_until_they_are_verified() {
    let anna = Anna::new();
    for revoked in ALL {
        let mut signatures = anna.forgeries(revoked, 5, 0);
        signatures.push(anna.revocation(revoked));
        let pending = with_pending_revocations(&anna, revoked, &signatures);
        let before = means(&pending);
        assert!(!before.fully_checked && !before.primary().valid && !revoked.is_revoked(&before));
        let checked = continue_verification(&pending).expect("a certificate").expect("something to do");
        let after = means(&checked);
        assert!(after.fully_checked && after.primary().valid && revoked.is_revoked(&after), "{revoked:?}");
        assert_eq!(checked.bytes, anna.with(revoked, &[anna.revocation(revoked)]), "forgeries are dropped");
        assert!(continue_verification(&checked).expect("a certificate").is_none());
    }
}

#[test]
fn unchecked_revocations_survive_a_merge_and_a_minimal_import() {
    let anna = Anna::new();
    for revoked in ALL {
        let pending = with_pending_revocations(&anna, revoked, &[anna.revocation(revoked)]);
        let plain = cleaned(&anna.with(revoked, &[])).certificate;
        let joined = merge(&plain, &pending).expect("something new").certificate;
        let options = CompactOptions {
            minimal: true,
            expired_subkeys: true,
            min_cert_level: 2,
            accept_unsigned_user_ids: false,
        };
        let is_good = |component: usize, signature: usize| {
            pending.facts.components[component].signatures[signature].counts(pending.facts.primary())
        };
        let minimal = compact(&pending, &is_good, &options, NOW);
        for certificate in [joined, minimal] {
            assert!(!means(&certificate).fully_checked, "{revoked:?}");
            let checked =
                continue_verification(&certificate).expect("a certificate").expect("something to do");
            assert!(revoked.is_revoked(&means(&checked)), "{revoked:?}");
        }
        let known = merge(&pending, &cleaned(&anna.with(revoked, &[anna.revocation(revoked)])).certificate);
        let known = known.expect("a verdict").certificate;
        assert!(means(&known).fully_checked, "a copy that was verified settles it");
    }
}

#[test]
fn what_was_proven_before_is_verified_first_when_facts_are_made_again() {
    let anna = Anna::new();
    let mut prefix = anna.revocation(Revoked::Key);
    let at = prefix.len() - 70;
    prefix[at] ^= 1;
    // Nobody could tell it from the forgeries by the beginning of its digest.
    let mut signatures = anna.forgeries(Revoked::Key, 2000, 0);
    for forgery in &mut signatures {
        let at = forgery.len() - 70;
        forgery[at] ^= 1;
    }
    signatures.push(prefix.clone());
    let bytes = anna.with(Revoked::Key, &signatures);
    let start = bytes.windows(prefix.len()).position(|window| window == prefix).expect("it is in there");
    let proven = rebuild_proven(&bytes, &[], &[start as u32]).expect("a certificate");
    assert!(Revoked::Key.is_revoked(&means(&proven)));
}
