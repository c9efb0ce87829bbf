//! The rules of GnuPG's web of trust, one by one.

use keyhoard_trust::pgp::{IntroducerStatus, Level, Outcome, Purpose, Settings, TrustSignatures, spread};
use keyhoard_trust::{OwnerTrust, Validity};

use crate::made::{Made, NOW, by, key, settings};
use OwnerTrust::{Full, Marginal, Never};

/// The user's own key.
const ME: u8 = 0;

/// A web with the user's own key.
fn web() -> Made {
    Made::default().with(ME, &[])
}

fn outcome(web: &mut Made, settings: &Settings) -> Outcome<u8> {
    spread(web, &[key(ME)], Purpose::Summary, settings).expect("no error")
}

fn validity(web: Made, number: u8) -> Validity {
    validity_by(web, number, &settings())
}

fn validity_by(web: Made, number: u8, settings: &Settings) -> Validity {
    validity_of_user(web, (number, 1), settings)
}

/// Returns the validity of a component of a certificate.
fn validity_of_user(mut web: Made, (number, component): (u8, usize), settings: &Settings) -> Validity {
    let outcome = outcome(&mut web, settings);
    web.validity(&outcome, number, component)
}

#[test]
fn what_my_key_certified_is_fully_valid() {
    assert_eq!(validity(web().with(1, &[by(ME)]), 1), Validity::Full);
    assert_eq!(validity(web(), ME), Validity::Ultimate);
}

#[test]
fn a_valid_key_introduces_others_as_far_as_its_owner_is_trusted() {
    let web = |trust| web().with(1, &[by(ME)]).with(2, &[by(1)]).trusting(1, trust);
    assert_eq!(validity(web(Full), 2), Validity::Full);
    assert_eq!(validity(web(Marginal), 2), Validity::Marginal);
    assert_eq!(validity(web(Never), 2), Validity::Undefined);
    assert_eq!(validity(web(OwnerTrust::Unknown), 2), Validity::Undefined);
}

#[test]
fn owner_trust_in_a_key_that_is_not_valid_is_worth_nothing() {
    assert_eq!(validity(web().with(1, &[]).with(2, &[by(1)]).trusting(1, Full), 2), Validity::Unknown);
}

#[test]
fn three_marginally_trusted_introducers_are_enough() {
    let mut some = web();
    for number in 1..=3 {
        some = some.with(number, &[by(ME)]).trusting(number, Marginal);
    }
    assert_eq!(validity(some.clone().with(9, &[by(1), by(2)]), 9), Validity::Marginal);
    assert_eq!(validity(some.clone().with(9, &[by(1), by(2), by(3)]), 9), Validity::Full);
    // Each of them counts once.
    assert_eq!(validity(some.with(9, &[by(1), by(1), by(1)]), 9), Validity::Marginal);
}

#[test]
fn full_and_marginal_introducers_are_counted_apart() {
    let rules = Settings { completes_needed: 2, ..settings() };
    let some = || web().with(1, &[by(ME)]).with(2, &[by(ME)]).with(3, &[by(ME)]);
    let some = || some().trusting(1, Full).trusting(2, Marginal).trusting(3, Marginal);
    assert_eq!(validity_by(some().with(9, &[by(1), by(2), by(3)]), 9, &rules), Validity::Marginal);
    // My own certification is enough by itself.
    assert_eq!(validity_by(some().with(9, &[by(ME)]), 9, &rules), Validity::Full);
}

#[test]
fn counts_add_up_over_levels_for_each_user_id() {
    let rules = Settings { marginals_needed: 2, ..settings() };
    let some = web().with(1, &[by(ME)]).with(2, &[by(1)]).with(3, &[by(ME)]);
    let some = some.trusting(1, Full).trusting(2, Marginal).trusting(3, Marginal);
    // 3 introduces on level 1, and 2 on level 2.
    let together = some.clone().with_users(9, &[&[by(2), by(3)], &[by(3)]]);
    let apart = some.with_users(9, &[&[by(2)], &[by(3)]]);
    assert_eq!(validity_by(together.clone(), 9, &rules), Validity::Full);
    assert_eq!(validity_of_user(together, (9, 2), &rules), Validity::Marginal);
    assert_eq!(validity_by(apart, 9, &rules), Validity::Marginal);
}

#[test]
fn introducers_are_followed_for_so_many_levels() {
    let chain = || {
        let chain = web().with(1, &[by(ME)]).with(2, &[by(1)]).with(3, &[by(2)]);
        (1..=3).fold(chain, |chain, number| chain.trusting(number, Full))
    };
    let validity = |max_cert_depth| validity_by(chain(), 3, &Settings { max_cert_depth, ..settings() });
    assert_eq!([2, 3].map(validity), [Validity::Unknown, Validity::Full]);
}

#[test]
fn certifications_that_claim_too_little_are_none_but_those_that_claim_nothing_are() {
    let validity = |kind| validity(web().with(1, &[by(ME).of_kind(kind)]), 1);
    assert_eq!(validity(0x11), Validity::Unknown);
    assert_eq!([0x10, 0x12, 0x13].map(validity), [Validity::Full; 3]);
    let strict = Settings { min_cert_level: 3, ..settings() };
    assert_eq!(validity_by(web().with(1, &[by(ME).of_kind(0x12)]), 1, &strict), Validity::Unknown);
}

#[test]
fn the_newest_of_several_by_one_key_counts() {
    let revocation = || by(ME).of_kind(0x30);
    assert_eq!(validity(web().with(1, &[by(ME).at(5), revocation().at(6)]), 1), Validity::Unknown);
    assert_eq!(validity(web().with(1, &[revocation().at(5), by(ME).at(6)]), 1), Validity::Full);
    // In the same second the last packet is the newest.
    assert_eq!(validity(web().with(1, &[by(ME), revocation()]), 1), Validity::Unknown);
    assert_eq!(validity(web().with(1, &[revocation(), by(ME)]), 1), Validity::Full);
}

#[test]
fn no_older_certification_takes_the_place_of_one_that_has_ended() {
    let ended = by(ME).at(6).until(NOW.0);
    assert_eq!(validity(web().with(1, &[by(ME).at(5), ended]), 1), Validity::Unknown);
    assert_eq!(validity(web().with(1, &[by(ME).at(6).until(NOW.0 + 1)]), 1), Validity::Full);
}

#[test]
fn what_cannot_be_revoked_stays_until_it_ends() {
    let revocation = by(ME).of_kind(0x30).at(9);
    assert_eq!(validity(web().with(1, &[by(ME).for_ever(), revocation]), 1), Validity::Full);
    let ended = by(ME).for_ever().until(NOW.0 - 1);
    assert_eq!(validity(web().with(1, &[ended, revocation.at(2000)]), 1), Validity::Unknown);
}

#[test]
fn revoked_and_expired_user_ids_count_for_nothing() {
    let some =
        web().with_users(1, &[&[by(ME)], &[by(ME)]]).dead_user(1, 0).with(2, &[by(1)]).trusting(1, Full);
    let validity = |user| validity_of_user(some.clone(), user, &settings());
    assert_eq!([(1, 1), (1, 2)].map(validity), [Validity::Unknown, Validity::Full]);
    // One valid user ID makes the key an introducer.
    assert_eq!(validity((2, 1)), Validity::Full);
}

#[test]
fn revoked_and_expired_keys_neither_become_valid_nor_introduce_others() {
    let dead = web().with(1, &[by(ME)]).status(1, IntroducerStatus::Dead).with(2, &[by(1)]).trusting(1, Full);
    assert_eq!(validity(dead.clone(), 1), Validity::Unknown);
    assert_eq!(validity(dead, 2), Validity::Unknown);
    let mine = web().status(ME, IntroducerStatus::Dead).with(1, &[by(ME)]);
    assert_eq!(validity(mine.clone(), 1), Validity::Unknown);
    assert_eq!(validity(mine, ME), Validity::Ultimate);
}

#[test]
fn a_key_that_nothing_binds_becomes_valid_and_introduces_nobody() {
    let some =
        web().with(1, &[by(ME)]).status(1, IntroducerStatus::Unbound).with(2, &[by(1)]).trusting(1, Full);
    assert_eq!(validity(some.clone(), 1), Validity::Full);
    assert_eq!(validity(some, 2), Validity::Unknown);
}

#[test]
fn a_trust_signature_makes_an_introducer() {
    let some = |amount| web().with(1, &[by(ME).trusting(1, amount)]).with(2, &[by(1)]);
    assert_eq!(validity(some(120), 2), Validity::Full);
    assert_eq!(validity(some(60), 2), Validity::Marginal);
    assert_eq!(validity(some(59), 2), Validity::Undefined);
    let classic = Settings { trust_signatures: TrustSignatures::Ignored, ..settings() };
    assert_eq!(validity_by(some(120), 2, &classic), Validity::Undefined);
}

#[test]
fn a_trust_signature_reaches_as_deep_as_it_says() {
    let chain = |first: u8, second: u8| {
        let chain = web().with(1, &[by(ME).trusting(first, 120)]).with(2, &[by(1).trusting(second, 120)]);
        chain.with(3, &[by(2)])
    };
    assert_eq!(validity(chain(2, 1), 3), Validity::Full);
    // Whoever has one level left cannot give it away, and nobody more than they have.
    assert_eq!(validity(chain(1, 5), 3), Validity::Undefined);
    let longer = chain(2, 255)
        .with(2, &[by(1).trusting(255, 120)])
        .with(3, &[by(2).trusting(9, 120)])
        .with(4, &[by(3)]);
    assert_eq!(validity(longer, 4), Validity::Undefined);
}

#[test]
fn owner_trust_gives_no_right_to_give_trust_away() {
    let some =
        web().with(1, &[by(ME)]).trusting(1, Full).with(2, &[by(1).trusting(1, 120)]).with(3, &[by(2)]);
    assert_eq!(validity(some, 3), Validity::Undefined);
}

#[test]
fn the_greater_of_owner_trust_and_trust_signature_counts() {
    let some = |trust| web().with(1, &[by(ME).trusting(1, 60)]).with(2, &[by(1)]).trusting(1, trust);
    assert_eq!(validity(some(Full), 2), Validity::Full);
    assert_eq!(validity(some(OwnerTrust::Undefined), 2), Validity::Marginal);
}

#[test]
fn a_trust_signature_overrides_never_as_in_gnupg_or_respects_it() {
    let some = || web().with(1, &[by(ME).trusting(1, 120)]).with(2, &[by(1)]).trusting(1, Never);
    assert_eq!(validity(some(), 2), Validity::Full);
    let respecting = Settings { trust_signatures: TrustSignatures::RespectNever, ..settings() };
    assert_eq!(validity_by(some(), 2, &respecting), Validity::Undefined);
}

#[test]
fn an_expression_limits_what_an_introducer_may_introduce() {
    let scoped = by(ME).trusting(1, 120).within(r"<[^>]+[@.]a\.org>$");
    let some = |name| web().with(1, &[scoped]).with(2, &[by(1)]).named(2, name);
    assert_eq!(validity(some("Ann <ann@a.org>"), 2), Validity::Full);
    // What is out of scope is not even undefined.
    assert_eq!(validity(some("Ann <ann@b.org>"), 2), Validity::Unknown);
    let classic = Settings { trust_signatures: TrustSignatures::Ignored, ..settings() };
    assert_eq!(validity_by(some("Ann <ann@b.org>"), 2, &classic), Validity::Undefined);
}

#[test]
fn the_last_trust_signature_in_the_order_of_packets_counts_and_an_expression_stays() {
    let first = [by(ME).trusting(1, 120).within("ann")];
    let second = [by(ME).trusting(1, 60)];
    let some = |users: &[&[_]]| web().with_users(1, users).with(2, &[by(1)]);
    assert_eq!(validity(some(&[&first, &second]).named(2, "Ann"), 2), Validity::Marginal);
    assert_eq!(validity(some(&[&second, &first]).named(2, "Ann"), 2), Validity::Full);
    for users in [[&first[..], &second], [&second[..], &first]] {
        assert_eq!(validity(some(&users).named(2, "Bob"), 2), Validity::Unknown);
    }
}

#[test]
fn a_summary_counts_keys_by_level_and_trust() {
    let mut some =
        web().with(1, &[by(ME)]).with(2, &[by(ME)]).with(3, &[by(1)]).trusting(1, Full).trusting(2, Never);
    let mut trusts = [[0; 6]; 3];
    let mut count = |level: usize, trust| {
        trusts[level][OwnerTrust::ALL.iter().position(|known| *known == trust).expect("one of them")] += 1;
    };
    count(0, OwnerTrust::Ultimate);
    count(1, Full);
    count(1, Never);
    count(2, OwnerTrust::Unknown);
    let levels = [(1, 2), (2, 1), (1, 0)].into_iter().zip(trusts);
    let levels: Vec<Level> =
        levels.map(|((valid, certified), trusts)| Level { valid, certified, trusts }).collect();
    assert_eq!(outcome(&mut some, &settings()).levels, levels);
}

#[test]
fn an_ultimate_key_that_is_not_here_is_named_and_counted() {
    let outcome = outcome(&mut Made::default(), &settings());
    assert_eq!(outcome.missing, [key(ME)]);
    assert_eq!(outcome.levels[0].valid, 1);
}
