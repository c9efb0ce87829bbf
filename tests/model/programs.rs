//! The same through the programs, on a sample.

use harness::{Engine, Run};
use proptest::test_runner::{TestCaseError, TestCaseResult};

use crate::certificates::day;
use crate::compare::{CONTENT, Case, IMPORTED};
use crate::library::Database;
use crate::model::{Judgement, Proven, World};
use crate::orders::Cut;
use crate::wire::{self, Signature};

/// Compares what the programs say of a case's letters with the model.
///
/// `keyhoard verify` says what the model says. `gpg-keyhoard` and `gpgv-keyhoard` follow GnuPG in more, and never say
/// GOODSIG where the model objects.
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
    let keyring = home.write("keyring.gpg", inputs.concat());
    let content = home.write("content", CONTENT);
    for (letter, signature) in case.write_letters() {
        let is_good = is_good(&world, &signature);
        let file = home.write("signature", wire::packet(wire::SIGNATURE, &signature.body()));
        let verify = ["--faked-system-time", &clock, "verify"];
        let said = Run::keyhoard(home).args(verify).arg(&file).arg(&content).output();
        if (said.code == Some(0)) != is_good {
            return Err(TestCaseError::fail(format!("{letter:?}: keyhoard says {}", said.errors())));
        }
        let gpg = Run::gpg_keyhoard(home).at(&clock).args(["--status-fd", "2", "--verify"]);
        let gpgv = Run::with_default_database("gpgv-keyhoard", home)
            .args(["--status-fd", "2", "--keyring"])
            .arg(&keyring);
        for run in [gpg, gpgv] {
            let said = run.arg(&file).arg(&content).output();
            if said.status_lines().contains("GOODSIG") && !is_good {
                return Err(TestCaseError::fail(format!("{letter:?}: gpg says {}", said.errors())));
            }
        }
    }
    Ok(())
}

fn is_good(world: &World, signature: &Signature) -> bool {
    match world.judge(signature, CONTENT, day(IMPORTED)) {
        Judgement::Made(objections) => objections.iter().any(Vec::is_empty),
        Judgement::NoKey | Judgement::Bad => false,
    }
}
