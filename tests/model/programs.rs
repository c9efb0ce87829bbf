//! The same through the programs, on a sample.

use std::path::Path;

use harness::{Engine, Gnupg, Home, Run};
use proptest::test_runner::{TestCaseError, TestCaseResult};

use crate::certificates::{Person, Says, Statement, day};
use crate::compare::{CONTENT, Case, IMPORTED};
use crate::library::Database;
use crate::model::{Judgement, Proven, World};
use crate::orders::Cut;
use crate::wire::{self, Signature};

/// Compares what the programs say of a case's letters with the model.
///
/// `keyhoard verify` says what the model says. `gpg-keyhoard` and `gpgv-keyhoard` follow GnuPG in more, and never say
/// GOODSIG where the model objects. `gpgv-keyhoard` reads the file itself, certificates without a user ID too.
pub(crate) fn compare(case: &Case) -> TestCaseResult {
    // gpgv takes the first of several copies of a certificate.
    let case = Case { cut: Cut::whole(), ..case.clone() };
    let inputs = case.inputs();
    let database = Database::new(Engine::Sqlite);
    let home = database.home();
    let now = day(IMPORTED);
    let clock = format!("{now}!");
    for input in &inputs {
        let import = ["--faked-system-time", &clock, "import", "-"];
        Run::keyhoard(home).args(import).stdin(input.clone()).output();
    }
    let proven: Vec<Vec<Proven>> = inputs.iter().map(|input| Proven::by(input)).collect();
    let world = World::of(proven.iter());
    let (gpgs, gpgvs) = (World::of(proven.iter()).by_gnupg(), World::of_file(proven.iter()).by_gnupg());
    let keyring = home.write("keyring.gpg", inputs.concat());
    let content = home.write("content", CONTENT);
    for (letter, signature) in case.write_letters() {
        let [is_good, is_gpgs, is_gpgvs] = [&world, &gpgs, &gpgvs].map(|world| is_good(world, &signature));
        let file = home.write("signature", wire::packet(wire::SIGNATURE, &signature.body()));
        let verify = ["--faked-system-time", &clock, "verify"];
        let said = Run::keyhoard(home).args(verify).arg(&file).arg(&content).output();
        // 4: good, and no trusted key certifies the key.
        if matches!(said.code, Some(0 | 4)) != is_good {
            return Err(TestCaseError::fail(format!("{letter:?}: keyhoard says {}", said.errors())));
        }
        let gpg = Run::gpg_keyhoard(home).at(&clock).args(["--status-fd", "2", "--verify"]);
        let gpgv = gpgv(Run::with_default_database("gpgv-keyhoard", home), &keyring);
        for (run, is_good) in [(gpg, is_gpgs), (gpgv, is_gpgvs)] {
            let said = run.arg(&file).arg(&content).output();
            if said.status_lines().contains("GOODSIG") && !is_good {
                return Err(TestCaseError::fail(format!("{letter:?}: gpg says {}", said.errors())));
            }
        }
    }
    Ok(())
}

fn gpgv(program: Run, keyring: &Path) -> Run {
    program.args(["--status-fd", "2", "--keyring"]).arg(keyring)
}

/// A direct-key signature makes the key valid, and nothing binds the user ID.
#[test]
fn gpgv_accepts_a_signature_by_a_certificate_whose_user_id_is_not_bound() {
    let direct = Statement::new(0x1f, 0, Says::on(0));
    let case = Case::of(vec![Person { users: vec![None], ..Person::with(Vec::new(), vec![direct]) }]);
    let home = Home::new();
    let keyring = home.write("keyring.gpg", case.inputs().concat());
    let content = home.write("content", CONTENT);
    let (_, signature) = case.write_letters().remove(0);
    let file = home.write("signature", wire::packet(wire::SIGNATURE, &signature.body()));
    let programs = [
        Run::new(&Gnupg::V2_2.program("gpgv"), home.path()),
        Run::with_default_database("gpgv-keyhoard", &home),
    ];
    for program in programs {
        let said = gpgv(program, &keyring).arg(&file).arg(&content).output();
        assert!(said.status_lines().contains("GOODSIG"), "{}", said.errors());
    }
    assert!(compare(&case).is_ok());
}

fn is_good(world: &World, signature: &Signature) -> bool {
    match world.judge(signature, CONTENT, day(IMPORTED)) {
        Judgement::Made(objections) => objections.iter().any(Vec::is_empty),
        Judgement::NoKey | Judgement::Bad => false,
    }
}
