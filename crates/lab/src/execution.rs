//! Execution of plans. The programs take turns, so that a disturbance of the machine affects all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::call_records::CallRecords;
use crate::files::is_same;
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::Action;
use crate::progress::Progress;
use crate::records::{Records, Run};
use crate::subject::{Attempt, AttemptOutcome, Counts, Subject};
use crate::trace::{self, Calls};

/// Executes plans with programs and records the runs, until it is stopped.
#[derive(Debug)]
pub(crate) struct Execution<'a> {
    pub(crate) subjects: &'a [Subject],
    pub(crate) records: &'a mut Records,
    pub(crate) progress: &'a mut Progress,
    pub(crate) stop: &'a AtomicBool,
    /// A sequence whose first time takes more seconds than this is not run again.
    pub(crate) once_over: f64,
    /// The exact command of each task and program.
    pub(crate) commands: Vec<CommandLine>,
    pub(crate) calls: &'a mut CallRecords,
    /// Which alternative of its commands succeeded, by task and program.
    pub(crate) choices: BTreeMap<(String, String), usize>,
}

/// The exact command of a task and a program.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct CommandLine {
    #[serde(rename = "work")]
    pub(crate) task: String,
    pub(crate) subject: String,
    pub(crate) line: String,
    pub(crate) note: String,
}

/// A home that was filled.
struct Filled {
    home: PathBuf,
    /// Why it is empty, if filling it failed.
    problem: Option<String>,
}

impl<'a> Execution<'a> {
    /// Returns whether it was interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Executes everything that is not recorded yet, until it is interrupted.
    ///
    /// # Errors
    ///
    /// If files cannot be written or programs not be started; not if a program refuses a task.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<()> {
        for step in plan.sequences.iter().flat_map(|sequence| &sequence.steps) {
            for subject in self.subjects.iter().filter(|subject| subject.action(step.action).is_some()) {
                self.progress.expect(&step.task, subject.name(), plan.rounds + 1);
            }
        }
        let mut filled: Vec<Option<Filled>> = self.subjects.iter().map(|_| None).collect();
        for sequence in &plan.sequences {
            for round in 0..=plan.rounds {
                for (subject, filled) in self.subjects.iter().zip(&mut filled) {
                    if !self.is_stopped() {
                        self.sequence(plan, sequence, round, subject, filled)?;
                    }
                }
            }
        }
        if plan.trace && trace::is_here() {
            for sequence in &plan.sequences {
                for (subject, filled) in self.subjects.iter().zip(&mut filled) {
                    if !self.is_stopped() {
                        self.trace(plan, sequence, subject, filled)?;
                    }
                }
            }
        }
        for (subject, filled) in self.subjects.iter().zip(filled) {
            if let Some(filled) = filled {
                subject.remove_home(&filled.home);
            }
        }
        Ok(())
    }

    fn sequence(
        &mut self,
        plan: &Plan,
        sequence: &Sequence,
        round: u32,
        subject: &Subject,
        filled: &mut Option<Filled>,
    ) -> Result<()> {
        let steps: Vec<(&Step, &Action)> = known_steps(sequence, subject);
        let is_due = |records: &Records, step: &Step| {
            !records.has(&step.task, subject.name(), round) && !records.is_refused(&step.task, subject.name())
        };
        let is_repeated = round == 0 || !self.takes_long(&steps, subject);
        if !is_repeated || !steps.iter().any(|(step, _)| is_due(self.records, step)) {
            for (step, action) in steps {
                self.note_command(subject, step, action)?;
                self.progress.end(&step.task, subject.name(), None);
            }
            return Ok(());
        }
        let (home, missing) = self.home(plan, sequence, subject, filled)?;
        let mut problem: Option<String> = None;
        for (step, action) in &steps {
            if self.is_stopped() {
                break;
            }
            let run = match &problem {
                Some(problem) => Run::refused(&step.task, subject.name(), round, problem.clone()),
                None => {
                    self.progress.begin(&step.task, subject.name());
                    self.step(subject, step, action, &home, missing.as_deref(), round)?
                }
            };
            // An interrupt from the keyboard ends the measured program too.
            if self.is_stopped() {
                break;
            }
            self.note_command(subject, step, action)?;
            self.progress.end(&step.task, subject.name(), run.wall);
            problem.clone_from(&run.problem);
            self.records.record(run)?;
        }
        let is_last = round == plan.rounds || self.takes_long(&steps, subject);
        if round == 0 && is_last && !self.is_stopped() {
            self.records
                .count_first_runs(steps.iter().map(|(step, _)| step.task.as_str()), subject.name())?;
        }
        match sequence.start {
            Start::Filled => {}
            Start::Empty if steps[0].0.imports() && is_last && filled.is_none() => {
                *filled = Some(Filled { home, problem });
            }
            _ => subject.remove_home(&home),
        }
        Ok(())
    }

    /// Returns whether the first time of a program's steps took so long that they are not run again.
    fn takes_long(&self, steps: &[(&Step, &Action)], subject: &Subject) -> bool {
        let first = |(step, _): &(&Step, &Action)| self.records.first_wall(&step.task, subject.name());
        steps.iter().filter_map(first).sum::<f64>() > self.once_over
    }

    /// Returns the home in which a sequence starts, and why it is empty if filling it failed.
    fn home(
        &mut self,
        plan: &Plan,
        sequence: &Sequence,
        subject: &Subject,
        filled: &mut Option<Filled>,
    ) -> Result<(PathBuf, Option<String>)> {
        if sequence.start == Start::Empty {
            return Ok((subject.new_home()?, None));
        }
        if filled.is_none() {
            let home = subject.new_home()?;
            let problem = self.fill(plan, subject, &home)?;
            *filled = Some(Filled { home, problem });
        }
        let Filled { home, problem } = filled.as_ref().expect("it was made if it was not there");
        let home = if sequence.start == Start::Copy { subject.copy_of(home)? } else { home.clone() };
        Ok((home, problem.clone()))
    }

    /// Fills a home, unless the program has refused to before. Returns why it is empty if that failed.
    fn fill(&mut self, plan: &Plan, subject: &Subject, home: &Path) -> Result<Option<String>> {
        let Some(step) = &plan.fill else { return Ok(None) };
        if let Some(refusal) = self.records.refusal(&step.task, subject.name()) {
            return Ok(Some(refusal.to_owned()));
        }
        match subject.action(step.action) {
            Some(action) => Ok(self.step(subject, step, action, home, None, 1)?.problem),
            None => Ok(Some("it has no database to fill".to_owned())),
        }
    }

    /// Runs a task once, with the first of its commands that the program accepts; round 0 counts what comes out.
    /// `missing` is the reason why the home is empty, with which only a command that reads the file itself can succeed.
    fn step(
        &mut self,
        subject: &Subject,
        step: &Step,
        action: &Action,
        home: &Path,
        missing: Option<&str>,
        round: u32,
    ) -> Result<Run> {
        let choices = self.choice(step, subject).map_or(0..action.or.len() + 1, |choice| choice..choice + 1);
        let output = subject.file("stdout");
        let output = (round == 0).then_some(output.as_path());
        let mut refusal = None;
        for choice in choices {
            for file in &step.output_files {
                // The file does not exist the first time.
                let _ = fs::remove_file(file);
            }
            let Step { values, processes, limit, .. } = step;
            let attempt =
                Attempt { action, choice, home, values, processes: *processes, output, limit: *limit };
            let wrong = match subject.attempt(&attempt)? {
                AttemptOutcome::Done(cost) => {
                    let reads_file =
                        action.alternative(choice).iter().any(|argument| argument.contains("{file}"));
                    let counts = self.counts(subject, step, action, home, output)?;
                    match mistake(step, counts, missing.filter(|_| !reads_file))? {
                        Some(mistake) => mistake,
                        None => {
                            self.choices.insert((step.task.clone(), subject.name().to_owned()), choice);
                            let Counts { keys, signatures } = counts;
                            let bytes = if step.measures_size { Some(size(home)?) } else { None };
                            let run = Run::done(&step.task, subject.name(), round, &cost);
                            return Ok(Run { keys, signatures, bytes, ..run });
                        }
                    }
                }
                AttemptOutcome::Refused(message) => message,
            };
            refusal.get_or_insert(wrong);
        }
        let refusal = refusal.unwrap_or_else(|| "nothing was tried".to_owned());
        Ok(Run::refused(&step.task, subject.name(), round, refusal))
    }

    /// Returns the alternative command with which a program succeeded in a task.
    fn choice(&self, step: &Step, subject: &Subject) -> Option<usize> {
        self.choices.get(&(step.task.clone(), subject.name().to_owned())).copied()
    }

    /// Counts the keys and signatures in the output of a task, or after an import those in the home.
    fn counts(
        &self,
        subject: &Subject,
        step: &Step,
        action: &Action,
        home: &Path,
        output: Option<&Path>,
    ) -> Result<Counts> {
        let Some(output) = output else { return Ok(Counts::default()) };
        match subject.action("count") {
            Some(action) if step.imports() => {
                let values = &step.values;
                let attempt = Attempt {
                    action,
                    choice: 0,
                    home,
                    values,
                    processes: 1,
                    output: Some(output),
                    limit: None,
                };
                match subject.attempt(&attempt)? {
                    AttemptOutcome::Done(_) => Subject::count(action, output),
                    AttemptOutcome::Refused(_) => Ok(Counts::default()),
                }
            }
            _ => Subject::count(action, output),
        }
    }

    fn note_command(&mut self, subject: &Subject, step: &Step, action: &Action) -> Result<()> {
        let is_noted = |command: &CommandLine| command.task == step.task && command.subject == subject.name();
        if self.commands.iter().any(is_noted) {
            return Ok(());
        }
        let choice = self.choice(step, subject).unwrap_or(0);
        self.commands.push(CommandLine {
            task: step.task.clone(),
            subject: subject.name().to_owned(),
            line: subject.command_line(action, choice, &step.values)?,
            note: action.note.clone(),
        });
        Ok(())
    }

    /// Runs a sequence once more under strace, unless it takes long.
    fn trace(
        &mut self,
        plan: &Plan,
        sequence: &Sequence,
        subject: &Subject,
        filled: &mut Option<Filled>,
    ) -> Result<()> {
        let steps = known_steps(sequence, subject);
        let is_refused = |(step, _): &(&Step, &Action)| self.records.is_refused(&step.task, subject.name());
        let is_counted = |(step, _): &(&Step, &Action)| self.calls.has(&step.task, subject.name());
        if steps.iter().all(is_counted) || steps.iter().any(is_refused) || self.takes_long(&steps, subject) {
            return Ok(());
        }
        let (home, _) = self.home(plan, sequence, subject, filled)?;
        for (step, action) in steps {
            self.progress.begin(&format!("system calls of {}", step.task), subject.name());
            let choice = self.choice(step, subject).unwrap_or(0);
            let command = subject.command(action, choice, &home, &step.values)?;
            if let Some(calls) = trace::count(command, &subject.file("strace"), self.stop)? {
                let (task, subject) = (step.task.clone(), subject.name().to_owned());
                self.calls.record(Calls { task, subject, ..calls })?;
            }
        }
        if sequence.start != Start::Filled {
            subject.remove_home(&home);
        }
        Ok(())
    }
}

fn known_steps<'p>(sequence: &'p Sequence, subject: &'p Subject) -> Vec<(&'p Step, &'p Action)> {
    let known = |step: &'p Step| subject.action(step.action).map(|action| (step, action));
    sequence.steps.iter().filter_map(known).collect()
}

/// Returns why a task was not done, though the program ended as if it were.
fn mistake(step: &Step, counts: Counts, missing: Option<&str>) -> Result<Option<String>> {
    Ok(match missing {
        Some(missing) => Some(missing.to_owned()),
        None if differs(step)? => Some("what came out is not what went in".to_owned()),
        None if step.imports() && counts.keys == Some(0) => Some("it imported no certificate".to_owned()),
        None => None,
    })
}

/// Returns whether the files that must be equal are not.
fn differs(step: &Step) -> Result<bool> {
    Ok(matches!(&step.equal_files, Some([one, other]) if !is_same(one, other)?))
}

/// Returns how many bytes the files of a directory occupy.
fn size(directory: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let entry = entry.with_context(|| directory.display().to_string())?;
        // A temporary file of a program may have been removed meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}
