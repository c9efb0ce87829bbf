//! A model of verdicts, against which the library is compared: random certificates with random damage, floods of forged
//! signatures, and any order of imports.
//!
//! - [`model`]: the model, in the words of the rules, over the keys and signatures of [`signature`].
//! - [`certificates`], [`damage`], [`flood`], [`orders`]: what cases are made of, each as a value that can be made smaller.
//! - [`library`]: the same questions to the library; [`meaning`] and [`account`]: the form of the answers.
//! - [`compare`]: a case, and what differs; [`programs`]: a sample through the programs.
//! - [`regressions`]: cases that failed. Those that proptest finds are kept in `proptest-regressions.txt`.

mod account;
mod certificates;
mod compare;
mod damage;
mod flood;
mod library;
mod meaning;
mod model;
mod orders;
mod programs;
mod regressions;
mod signature;
mod wire;

use harness::{Engine, scale};
use proptest::strategy::Strategy;
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestCaseResult, TestError, TestRng,
    TestRunner,
};

use compare::{Case, cases, floods, no_flood};

#[test]
fn verdicts_equal_the_models_for_damaged_certificates_in_any_order() {
    check("verdicts", scale::choose(12_000, 400), cases(no_flood()), in_engine(Engine::Sqlite));
}

#[test]
fn floods_change_no_verdict() {
    check("floods", scale::choose(1_000, 20), cases(floods(65..500)), in_engine(Engine::Sqlite));
}

#[test]
fn verdicts_equal_the_models_in_postgresql() {
    check("postgresql", scale::choose(500, 15), cases(no_flood()), in_engine(Engine::Postgres));
}

#[test]
fn programs_report_the_verdicts_of_the_model() {
    check("programs", scale::choose(300, 12), cases(no_flood()), programs::compare);
}

fn in_engine(engine: Engine) -> impl Fn(&Case) -> TestCaseResult {
    move |case| case.compare(engine).map_err(TestCaseError::fail)
}

/// Compares so many cases, those that failed before first.
fn check(
    name: &str,
    count: u32,
    cases: impl Strategy<Value = Case>,
    compare: impl Fn(&Case) -> TestCaseResult,
) {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/model/proptest-regressions.txt");
    let config = Config {
        cases: count,
        max_shrink_iters: 1_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(kept))),
        ..Config::default()
    };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&scale::seed().to_le_bytes());
    seed[8..].iter_mut().zip(name.bytes()).for_each(|(byte, of_name)| *byte = of_name);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    match runner.run(&cases, |case| compare(&case)) {
        Ok(()) => println!("{name}: {count} cases"),
        Err(TestError::Fail(reason, case)) => panic!("{reason}\n{case:?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}
