//! The way back from one key gives what the way to all keys gives.

use std::collections::BTreeSet;

use crate::made::{Made, MadeCertificate, MadeCertification, MadeUser, key, settings};
use keyhoard_trust::pgp::{IntroducerStatus, Purpose, Settings, TrustSignatures, spread, trace};
use keyhoard_trust::{OwnerTrust, Validity};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

pub(crate) const KEYS: u8 = 24;

fn certification() -> impl Strategy<Value = MadeCertification> {
    (
        0..KEYS,
        select(vec![0x10, 0x11, 0x12, 0x13, 0x13, 0x13, 0x30]),
        select(vec![900u32, 1000, 1100]),
        select(vec![None, None, None, Some(500), Some(2_000_000)]),
        select(vec![true, true, true, false]),
        select(vec![
            None,
            None,
            Some((0, 120)),
            Some((1, 60)),
            Some((1, 120)),
            Some((2, 120)),
            Some((3, 30)),
        ]),
        select(vec![None, None, Some("0"), Some("1")]),
    )
        .prop_map(|(issuer, kind, created, expires, revocable, trust, regexp)| MadeCertification {
            issuer,
            kind,
            created,
            expires,
            revocable,
            trust,
            regexp: regexp.filter(|_| trust.is_some()),
        })
}

pub(crate) fn certificate() -> impl Strategy<Value = MadeCertificate> {
    let user = (select(vec![true, true, true, false]), vec(certification(), 0..6));
    let status = select(vec![
        IntroducerStatus::Usable,
        IntroducerStatus::Usable,
        IntroducerStatus::Usable,
        IntroducerStatus::Usable,
        IntroducerStatus::Unbound,
        IntroducerStatus::Dead,
    ]);
    (status, vec(user, 0..3)).prop_map(|(status, users)| MadeCertificate {
        status,
        users: users
            .into_iter()
            .enumerate()
            .map(|(place, (live, certifications))| MadeUser { live, name: place.to_string(), certifications })
            .collect(),
    })
}

fn trust() -> impl Strategy<Value = OwnerTrust> {
    use OwnerTrust::{Full, Marginal, Never, Undefined, Unknown};
    select(vec![Unknown, Unknown, Undefined, Never, Marginal, Marginal, Full, Full])
}

pub(crate) fn web() -> impl Strategy<Value = Made> {
    let numbers = usize::from(KEYS);
    (vec(certificate(), numbers), vec(trust(), numbers)).prop_map(|(certificates, trusts)| {
        Made::of((0..).zip(certificates).collect(), (0..).zip(trusts).collect())
    })
}

pub(crate) fn rules() -> impl Strategy<Value = Settings> {
    use TrustSignatures::{Ignored, OverrideNever, RespectNever};
    (1..4u32, 1..3u32, 1..6u8, 1..4u8, select(vec![Ignored, OverrideNever, RespectNever])).prop_map(
        |(marginals_needed, completes_needed, max_cert_depth, min_cert_level, trust_signatures)| Settings {
            marginals_needed,
            completes_needed,
            max_cert_depth,
            min_cert_level,
            trust_signatures,
            ..settings()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn tracing_keys_gives_what_spreading_gives(mut web in web(), rules in rules(), few in vec(0..KEYS, 1..3)) {
        let ultimate = [key(0), key(1), key(99)];
        let all = spread(&mut web, &ultimate, Purpose::Summary, &rules).expect("no error");
        let asked: Vec<_> = few.iter().map(|&number| key(number)).collect();
        let traced = trace(&mut web, &ultimate, &asked, &rules).expect("no error");
        for number in few {
            for component in 1..4 {
                let [traced, spread] = [&traced, &all].map(|outcome| web.validity(outcome, number, component));
                prop_assert_eq!(traced, spread);
            }
        }
    }

    #[test]
    fn a_summary_is_the_same_without_certifications_by_untrusted_keys_that_change_nothing(
        mut web in web(),
        rules in rules(),
    ) {
        let ultimate = [key(0), key(1), key(99)];
        web.rules = Some(rules);
        let all = spread(&mut web, &ultimate, Purpose::Summary, &rules).expect("no error");
        web.is_sparing = true;
        let spared = spread(&mut web, &ultimate, Purpose::Summary, &rules).expect("no error");
        prop_assert_eq!(&spared.introducers, &all.introducers);
        prop_assert_eq!(&spared.levels, &all.levels);
        prop_assert_eq!(spared.first_expiry, all.first_expiry);
        for number in 0..KEYS {
            for component in 1..4 {
                let [spared, all] = [&spared, &all].map(|outcome| web.validity(outcome, number, component));
                prop_assert_eq!(spared, all);
            }
        }
    }

    #[test]
    fn validity_is_the_same_without_a_summary(mut web in web(), rules in rules()) {
        let ultimate = [key(0), key(1), key(99)];
        web.rules = Some(rules);
        let summed = spread(&mut web, &ultimate, Purpose::Summary, &rules).expect("no error");
        let unsummed = spread(&mut web, &ultimate, Purpose::Validity, &rules).expect("no error");
        prop_assert_eq!(&unsummed.introducers, &summed.introducers);
        for number in 0..KEYS {
            for component in 1..4 {
                let [unsummed, summed] =
                    [&unsummed, &summed].map(|outcome| web.validity(outcome, number, component));
                prop_assert_eq!(unsummed, summed);
            }
        }
    }
}

#[test]
fn the_random_webs_have_every_validity_and_introducers_on_several_levels() {
    let mut runner = TestRunner::deterministic();
    let (mut validities, mut levels) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..300 {
        let mut web = web().new_tree(&mut runner).expect("a web").current();
        let all = spread(&mut web, &[key(0), key(1)], Purpose::Summary, &settings()).expect("no error");
        validities.extend((0..KEYS).map(|number| web.validity(&all, number, 1)));
        levels.extend(all.introducers.values().map(|introducer| introducer.level));
    }
    use Validity::{Full, Marginal, Ultimate, Undefined, Unknown};
    assert_eq!(validities.into_iter().collect::<Vec<_>>(), [Unknown, Undefined, Marginal, Full, Ultimate]);
    assert!(levels.len() > 3, "{levels:?}");
}
