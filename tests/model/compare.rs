//! A case, and the comparison of model and library on it.

use std::collections::BTreeSet;
use std::fmt::Write;

use engine::cert::effective::PacketView;
use engine::store::JournalId;
use engine::verification::SignatureStatus;
use harness::Engine;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::account::Accounts;
use crate::certificates::{self, Letter, People, Person, day};
use crate::damage::{self, Damage};
use crate::flood::{self, Flood};
use crate::library::Database;
use crate::model::{Judgement, Objection, Proven, World};
use crate::orders::{self, Cut, Step};
use crate::signature::Time;
use crate::wire::Signature;

/// Everything that a case consists of.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) people: People,
    pub(crate) damage: Vec<Damage>,
    pub(crate) flood: Vec<Flood>,
    pub(crate) cut: Cut,
    pub(crate) steps: Vec<Step>,
    pub(crate) letters: Vec<Letter>,
    /// The clocks at which everything is compared: days from the beginning.
    pub(crate) clocks: Vec<i16>,
}

/// Everything is imported on this day, when all keys have been made.
pub(crate) const IMPORTED: i16 = 400;
/// What letters are signatures over.
pub(crate) const CONTENT: &[u8] = b"Dear reader,\nthis is what was signed.\n";

/// Random cases, with so many forged signatures if any.
pub(crate) fn cases(flood: impl Strategy<Value = Vec<Flood>> + 'static) -> impl Strategy<Value = Case> {
    let clocks = vec(prop_oneof![1 => 0..30_i16, 4 => 30..220_i16], 1..=2);
    let parts = (
        certificates::people(),
        damage::damage(),
        flood,
        orders::cut(),
        orders::steps(),
        certificates::letters(),
        clocks,
    );
    parts.prop_map(|(people, damage, flood, cut, steps, letters, clocks)| Case {
        people,
        damage,
        flood,
        cut,
        steps,
        letters,
        clocks,
    })
}

/// No forgeries.
pub(crate) fn no_flood() -> impl Strategy<Value = Vec<Flood>> {
    Just(Vec::new())
}

/// One or two floods of so many forgeries each.
pub(crate) fn floods(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Flood>> {
    vec(flood::flood(count), 1..=2)
}

impl Case {
    /// Makes a case of people that are imported one after the other; each signs with all keys that could be theirs.
    pub(crate) fn of(people: People) -> Self {
        let keys = |(person, one): (usize, &Person)| {
            (0..=one.subkeys.len()).map(move |key| Letter::by(person, key)).collect::<Vec<_>>()
        };
        Self {
            letters: people.iter().enumerate().flat_map(keys).collect(),
            people,
            damage: Vec::new(),
            flood: Vec::new(),
            cut: Cut::whole(),
            steps: vec![Step::Rebuild],
            clocks: Vec::new(),
        }
    }

    /// Returns the inputs in the order in which they are imported.
    pub(crate) fn inputs(&self) -> Vec<Vec<u8>> {
        let mut trees = certificates::grow(&self.people);
        self.damage.iter().for_each(|damage| damage.apply(&mut trees[0]));
        self.flood.iter().for_each(|flood| flood.apply(&mut trees[0]));
        self.cut.inputs(&trees)
    }

    /// Compares the library with the model, verdict by verdict.
    ///
    /// # Errors
    ///
    /// How they differ.
    pub(crate) fn compare(&self, engine: Engine) -> Result<(), String> {
        let inputs = self.inputs();
        let mut run = Run {
            case: self,
            database: Database::new(engine),
            proven: inputs.iter().map(|input| Proven::by(input)).collect(),
            imported: Vec::new(),
            letters: self.write_letters(),
        };
        for (number, input) in inputs.iter().enumerate() {
            run.import(input, vec![number]);
        }
        run.compare("after the import")?;
        for (number, step) in self.steps.iter().enumerate() {
            run.step(*step, &inputs);
            run.compare(&format!("after step {number}, {step:?}"))?;
        }
        match run.database.findings() {
            none if none.is_empty() => Ok(()),
            findings => Err(format!("the doctor finds {findings:?}")),
        }
    }

    /// Writes the letters of those who have the keys.
    pub(crate) fn write_letters(&self) -> Vec<(Letter, Signature)> {
        let letters = self.letters.iter();
        letters
            .filter_map(|letter| {
                let body = certificates::write(&self.people, letter, CONTENT)?;
                Some((letter.clone(), Signature::read(&body)))
            })
            .collect()
    }
}

/// A case on its way.
struct Run<'c> {
    case: &'c Case,
    database: Database,
    /// What each input proves.
    proven: Vec<Vec<Proven>>,
    /// The numbers of the inputs that were imported together, with the journal's entry if they changed anything.
    imported: Vec<(Option<JournalId>, Vec<usize>)>,
    letters: Vec<(Letter, Signature)>,
}

impl Run<'_> {
    fn import(&mut self, input: &[u8], numbers: Vec<usize>) {
        let changed = self.database.import(input, day(IMPORTED));
        self.imported.push((changed, numbers));
    }

    fn step(&mut self, step: Step, inputs: &[Vec<u8>]) {
        match step {
            Step::Rebuild => self.database.rebuild(),
            Step::Undo => {
                // What was imported since brought nothing else.
                let last = self.imported.iter().rposition(|(changed, _)| changed.is_some());
                if let Some(last) = last
                    && let Some(entry) = self.imported[last].0
                {
                    self.database.undo(entry, day(IMPORTED));
                    self.imported.truncate(last);
                }
            }
            Step::AgainBackwards => {
                for (number, input) in inputs.iter().enumerate().rev() {
                    self.import(input, vec![number]);
                }
            }
            Step::AgainAsOne => self.import(&inputs.concat(), (0..inputs.len()).collect()),
        }
    }

    /// Returns what the model makes of everything that is imported and not undone.
    fn world(&self) -> World {
        let numbers = self.imported.iter().flat_map(|(_, numbers)| numbers);
        World::of(numbers.map(|&number| &self.proven[number]))
    }

    fn compare(&self, when: &str) -> Result<(), String> {
        let world = self.world();
        let clocks = self.case.clocks.iter().map(|&clock| day(clock) + 43_200);
        for now in clocks.chain([day(IMPORTED)]) {
            let when = format!("{when}, at {now}");
            let expected = world.accounts(now);
            same_accounts(&expected, &self.database.accounts(PacketView::Full, now), &when)?;
            let theirs = self.database.accounts(PacketView::Gnupg, now);
            let expected = world.clone().by_gnupg().accounts(now);
            same_revocations(&expected, &theirs, &format!("{when}, as GnuPG"))?;
            self.same_letters(&world, now, &when)?;
        }
        Ok(())
    }

    fn same_letters(&self, world: &World, now: Time, when: &str) -> Result<(), String> {
        for (letter, signature) in &self.letters {
            let expected = world.judge(signature, CONTENT, now);
            let found = self.database.judge(&signature.body(), CONTENT, PacketView::Full, now);
            if !agrees(&expected, found) {
                return Err(format!("{when}: {letter:?}\nis {found:?}, should be {expected:?}"));
            }
        }
        Ok(())
    }
}

/// Says whether the library's verdict is the model's. Of several things that speak against a signature any may be named.
fn agrees(expected: &Judgement, found: SignatureStatus) -> bool {
    let objections = match expected {
        Judgement::NoKey => return found == SignatureStatus::NoKey,
        Judgement::Bad => return found == SignatureStatus::Bad,
        Judgement::Made(objections) => objections,
    };
    if objections.iter().any(Vec::is_empty) {
        return found == SignatureStatus::Good;
    }
    objections.iter().flatten().any(|objection| {
        found
            == match objection {
                Objection::WeakDigest => SignatureStatus::WeakDigest,
                Objection::UnknownDemand => SignatureStatus::UnknownCriticalSubpacket,
                Objection::KeyRevoked => SignatureStatus::KeyRevoked,
                Objection::KeyUnusable => SignatureStatus::KeyUnusable,
                Objection::WrongTime => SignatureStatus::WrongTime,
                Objection::KeyExpired => SignatureStatus::KeyExpired,
                Objection::Expired => SignatureStatus::Expired,
            }
    })
}

fn same_accounts(expected: &Accounts, found: &Accounts, when: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let mut difference = format!("{when}:\n");
    let keys: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    for key in keys {
        if expected.get(key) != found.get(key) {
            let _ =
                writeln!(difference, "{key}\nis {:#?}\nshould be {:#?}", found.get(key), expected.get(key));
        }
    }
    Err(difference)
}

/// In GnuPG's view packets are invisible that GnuPG would have dropped, which depends on the order of imports; but what is
/// revoked is revoked there too.
fn same_revocations(expected: &Accounts, found: &Accounts, when: &str) -> Result<(), String> {
    for (primary, account) in expected {
        let theirs = found.get(primary).ok_or_else(|| format!("{when}: {primary} is not here"))?;
        for (key, state) in &account.keys {
            let found = theirs.keys.get(key).map(|found| found.revoked);
            if found != Some(state.revoked) {
                return Err(format!(
                    "{when}: key {key} of {primary}: revoked {found:?}, should be {state:?}"
                ));
            }
        }
        for (user, state) in &account.users {
            let found = theirs.users.get(user);
            if found != Some(state) {
                return Err(format!("{when}: {user} of {primary}: is {found:?}, should be {state:?}"));
            }
        }
    }
    Ok(())
}
