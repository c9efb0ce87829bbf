//! Accounts of single keys.

use keyhoard_trust::pgp::{Purpose, Weight, spread, weigh_certifications};
use keyhoard_trust::{OwnerTrust, Validity};
use proptest::prelude::*;

use super::backward::{KEYS, rules, web};
use super::made::{Made, by, key, settings};

proptest! {
    #[test]
    fn an_account_comes_to_the_validity_that_spreading_gives(mut web in web(), rules in rules()) {
        let all = spread(&mut web, &[key(0), key(1)], Purpose::Summary, &rules).expect("no error");
        for number in 0..KEYS {
            let users = weigh_certifications(&mut web, &all, &key(number), rules.max_cert_depth, &rules).expect("no error");
            for user in users {
                prop_assert_eq!(user.validity, web.validity(&all, number, user.component));
            }
        }
    }

    #[test]
    fn every_introducer_is_fully_valid_because_of_those_before_it(mut web in web(), rules in rules()) {
        let all = spread(&mut web, &[key(0), key(1)], Purpose::Summary, &rules).expect("no error");
        for (introducer, known) in all.introducers.iter().filter(|(_, known)| known.level > 0) {
            let users = weigh_certifications(&mut web, &all, introducer, known.level, &rules).expect("no error");
            prop_assert!(users.iter().any(|user| user.validity == Validity::Full));
        }
    }
}

/// Key 0 is the user's own.
fn weights(mut web: Made, number: u8) -> Vec<Weight> {
    let all = spread(&mut web, &[key(0)], Purpose::Summary, &settings()).expect("no error");
    let users = weigh_certifications(&mut web, &all, &key(number), 5, &settings()).expect("no error");
    users.iter().flat_map(|user| &user.certifications).map(|certification| certification.weight).collect()
}

#[test]
fn an_account_says_what_each_certification_is_worth() {
    let web = Made::default()
        .with(0, &[])
        .with(1, &[by(0)])
        .with(2, &[by(0)])
        .with(3, &[])
        .with(4, &[by(0).until(2000), by(1), by(2), by(3), by(1).at(500)])
        .trusting(1, OwnerTrust::Full);
    let counted = Weight::Counted(OwnerTrust::Full);
    let expected = [Weight::Expired, counted, Weight::Untrusted, Weight::NotIntroduced, Weight::Superseded];
    assert_eq!(weights(web, 4), expected);
}
