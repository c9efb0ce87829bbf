//! The programs on this machine, each with homes of its own.

use std::cell::Cell;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lab::measure::{self, Cost};
use regex::bytes::Regex;
use tempfile::TempDir;

use crate::files::{beside, copy_files, private_directory};
use crate::format::seconds;
use crate::programs::{Action, Description, Needs, Values};
use crate::records::NOT_MEASURED;
use crate::root::Root;

/// A program, with the directory of its homes.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) description: Description,
    pub(crate) version: String,
    program: PathBuf,
    /// Where it is, if it is not installed.
    root: Option<Root>,
    directory: TempDir,
    homes: Cell<usize>,
}

/// How an attempt to run an action ended.
#[derive(Clone, Debug)]
pub(crate) enum AttemptOutcome {
    /// The action was done. The costs are the time until the last process ended, the sum of processor times, and the
    /// highest peak memory.
    Done(Cost),
    /// The program refused, with this message.
    Refused(String),
}

/// Counts of the output of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) keys: Option<u64>,
    pub(crate) signatures: Option<u64>,
}

/// Searches for each program, installed and in each root; what is in a root has its name with the root's. The second list
/// names those that are missing.
///
/// # Errors
///
/// If no directory can be made for a program's homes.
pub(crate) fn find(descriptions: Vec<Description>, roots: &[Root]) -> Result<(Vec<Subject>, Vec<String>)> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for description in descriptions {
        let before = found.len();
        if let Some(program) = locate(&description.program).filter(|_| is_met(&description, None)) {
            found.push(Subject::new(description.clone(), program, None)?);
        }
        for root in roots.iter().filter(|root| is_met(&description, Some(root))) {
            if let Some(start) = root.start(&description.program) {
                found.push(Subject::in_root(description.clone(), start, root)?);
            }
        }
        if found.len() == before {
            missing.push(description.name);
        }
    }
    Ok((found, missing))
}

/// Returns the path of a program, beside this one or in the `PATH`.
fn locate(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|directory| directory.join(program));
    beside(program).into_iter().chain(in_path).find(|file| file.is_file())
}

fn is_met(description: &Description, root: Option<&Root>) -> bool {
    let Some(Needs { run, says }) = &description.needs else { return true };
    let run = started_in(root, run.clone());
    let output = Command::new(&run[0]).args(&run[1..]).stdin(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(says))
}

/// Returns a command line that starts a program of the root, if that has it.
fn started_in(root: Option<&Root>, mut command: Vec<String>) -> Vec<String> {
    if let Some(start) = root.and_then(|root| root.start(&command[0])) {
        command.splice(..1, start);
    }
    command
}

impl Subject {
    /// Returns a program that these words start, the last of which is its path.
    fn in_root(mut description: Description, start: Vec<String>, root: &Root) -> Result<Self> {
        description.name = format!("{} ({})", description.name, root.name);
        let program = start.last().cloned().unwrap_or_default();
        // `{program}` is filled with the path, which stands for all these words.
        description.words.insert(program.clone(), start);
        Self::new(description, program.into(), Some(root.clone()))
    }

    fn new(description: Description, program: PathBuf, root: Option<Root>) -> Result<Self> {
        // A short name, because the paths of sockets in a home must be short.
        let directory = TempDir::with_prefix("kh-").context("making a directory for homes")?;
        let start = started_in(root.as_ref(), vec![description.program.clone()]);
        let mut command = Command::new(if root.is_some() { Path::new(&start[0]) } else { &program });
        let output = command.args(&start[1..]).args(&description.version).stdin(Stdio::null()).output();
        let output = output.with_context(|| program.display().to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let is_wanted = |line: &&str| line.to_lowercase().contains(&description.version_line);
        let version = text.lines().find(is_wanted).unwrap_or("unknown").to_owned();
        Ok(Self { description, version, program, root, directory, homes: Cell::new(0) })
    }

    pub(crate) fn name(&self) -> &str {
        &self.description.name
    }

    /// Returns an action of this program, if it is described.
    pub(crate) fn action(&self, action: &str) -> Option<&Action> {
        self.description.actions.get(action)
    }

    /// Makes a new empty home.
    pub(crate) fn new_home(&self) -> Result<PathBuf> {
        let number = self.homes.replace(self.homes.get() + 1);
        let home = self.directory.path().join(number.to_string());
        private_directory(&home)?;
        for (name, text) in &self.description.files {
            let file = home.join(name);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
            }
            fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
        Ok(home)
    }

    /// Copies a home without derived files.
    pub(crate) fn copy_of(&self, home: &Path) -> Result<PathBuf> {
        let copy = self.new_home()?;
        self.stop(home);
        copy_files(home, &copy, &self.description.derived)
            .with_context(|| format!("copying {}", home.display()))?;
        Ok(copy)
    }

    /// Stops the servers of a home, and removes it.
    pub(crate) fn remove_home(&self, home: &Path) {
        self.stop(home);
        // A stopping server may remove its socket meanwhile.
        let _ = fs::remove_dir_all(home).or_else(|_| fs::remove_dir_all(home));
    }

    fn stop(&self, home: &Path) {
        if self.description.stop.is_empty() {
            return;
        }
        let values = self.values(home, &Values::new());
        if let Ok(stop) = self.filled(&self.description.stop, &values) {
            let _ = Command::new(&stop[0]).args(&stop[1..]).stdin(Stdio::null()).output();
        }
    }

    /// Returns a command line with its values.
    fn filled(&self, arguments: &[String], values: &Values) -> Result<Vec<String>> {
        Ok(started_in(self.root.as_ref(), self.description.fill(arguments, values)?))
    }

    fn values(&self, home: &Path, values: &Values) -> Values {
        let mut all = values.clone();
        all.insert("home".to_owned(), home.display().to_string());
        all.insert("program".to_owned(), self.program.display().to_string());
        all
    }

    /// Returns the command line, quoted for a shell, of one alternative of an action.
    pub(crate) fn command_line(&self, action: &Action, choice: usize, values: &Values) -> Result<String> {
        let mut all = self.values(Path::new("HOME"), values);
        all.insert("program".to_owned(), self.description.program.clone());
        let arguments = self.description.fill(action.alternative(choice), &all)?;
        let mut words: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        for (sign, file) in [("<", &action.from), (">", &action.to)] {
            if let Some(file) = file {
                words.extend([sign.to_owned(), quoted(&self.description.fill_text(file, &all)?)]);
            }
        }
        Ok(words.join(" "))
    }

    /// Returns the command of an action in a home, without its standard streams.
    pub(crate) fn command(
        &self,
        action: &Action,
        choice: usize,
        home: &Path,
        values: &Values,
    ) -> Result<Command> {
        let values = self.values(home, values);
        let arguments = self.filled(action.alternative(choice), &values)?;
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]).env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("HOME", home);
        for name in ["GNUPGHOME", "KEYHOARD_DB", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        for (name, value) in &self.description.environment {
            command.env(name, self.description.fill_text(value, &values)?);
        }
        Ok(command)
    }

    /// Runs an action in a home, in several concurrent processes.
    pub(crate) fn attempt(&self, attempt: &Attempt<'_>) -> Result<AttemptOutcome> {
        let Attempt { action, choice, home, values, processes, output, limit } = *attempt;
        let filled = |text: &str| self.description.fill_text(text, &self.values(home, values));
        let named = |file: &Option<String>| file.as_deref().map(filled).transpose();
        let (stdin, stdout) =
            (named(&action.from)?.map(PathBuf::from), named(&action.to)?.map(PathBuf::from));
        let stdin = stdin.unwrap_or_else(|| self.file("stdin"));
        fs::write(self.file("stdin"), filled(&action.stdin)?).context("writing what a program reads")?;
        // What is counted is nothing then.
        output.filter(|_| stdout.is_some()).map(create).transpose()?;
        let errors = |process| self.file(&format!("stderr{process}"));
        let mut commands = Vec::new();
        for process in 0..processes {
            let mut command = self.command(action, choice, home, values)?;
            command.stdin(open(&stdin)?);
            command.stderr(create(&errors(process))?);
            match stdout.as_deref().or(output) {
                Some(path) => command.stdout(create(path)?),
                None => command.stdout(Stdio::null()),
            };
            commands.push(command);
        }
        let Some((wall, costs)) = run_together(&mut commands, limit)? else {
            let limit = seconds(limit.unwrap_or_default().as_secs_f64());
            return Ok(AttemptOutcome::Refused(format!("{NOT_MEASURED} it was ended after {limit}")));
        };
        for (process, cost) in costs.iter().enumerate() {
            if !cost.code.is_some_and(|code| action.accept.contains(&code)) {
                let message = match (message(&errors(process), home), cost.code) {
                    (Some(message), Some(_)) => message,
                    (Some(message), None) => format!("ended by a signal: {message}"),
                    (None, Some(code)) => format!("exit code {code}, without a message"),
                    (None, None) => "ended by a signal".to_owned(),
                };
                return Ok(AttemptOutcome::Refused(message));
            }
        }
        Ok(AttemptOutcome::Done(Cost {
            wall,
            user: costs.iter().map(|cost| cost.user).sum(),
            system: costs.iter().map(|cost| cost.system).sum(),
            peak_memory: costs.iter().map(|cost| cost.peak_memory).max().unwrap_or(0),
            code: costs.first().and_then(|cost| cost.code),
        }))
    }

    /// Counts the keys and signatures in the output of an action.
    pub(crate) fn count(action: &Action, output: &Path) -> Result<Counts> {
        let pattern = |text: &Option<String>| text.as_deref().map(Regex::new).transpose();
        let [keys, signatures] = [pattern(&action.keys)?, pattern(&action.signatures)?];
        let mut counts =
            Counts { keys: keys.as_ref().map(|_| 0), signatures: signatures.as_ref().map(|_| 0) };
        let mut lines = BufReader::new(open(output)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).with_context(|| output.display().to_string())? > 0 {
            for (pattern, count) in [(&keys, &mut counts.keys), (&signatures, &mut counts.signatures)] {
                if let (Some(pattern), Some(count)) = (pattern, count) {
                    *count += u64::from(pattern.is_match(&line));
                }
            }
            line.clear();
        }
        Ok(counts)
    }

    /// Returns a file that no other program uses.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// An action with its arguments and home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) action: &'a Action,
    /// The index of the alternative.
    pub(crate) choice: usize,
    pub(crate) home: &'a Path,
    pub(crate) values: &'a Values,
    pub(crate) processes: usize,
    /// The output file; `None` discards the output.
    pub(crate) output: Option<&'a Path>,
    /// The time after which a process is ended.
    pub(crate) limit: Option<Duration>,
}

/// Runs commands concurrently; returns the seconds until the last one ended, and the costs of each; `None` if one of them
/// took longer than the limit.
fn run_together(commands: &mut [Command], limit: Option<Duration>) -> Result<Option<(f64, Vec<Cost>)>> {
    let failed = format!("starting {:?}", commands[0].get_program());
    let run = |command| match limit {
        Some(limit) => measure::run_within(command, limit),
        None => measure::run(command).map(Some),
    };
    if let [command] = commands {
        return Ok(run(command).context(failed)?.map(|cost| (cost.wall, vec![cost])));
    }
    let start = Instant::now();
    let costs: io::Result<Option<Vec<Cost>>> = thread::scope(|scope| {
        let threads: Vec<_> = commands.iter_mut().map(|command| scope.spawn(|| run(command))).collect();
        threads.into_iter().map(|thread| thread.join().expect("measuring does not panic")).collect()
    });
    let wall = start.elapsed().as_secs_f64();
    Ok(costs.context(failed)?.map(|costs| (wall, costs)))
}

/// Returns the error message of a program: of the lines that are no warnings the first with a word like `error`, or else
/// the first; a warning if there is nothing else.
fn message(errors: &Path, home: &Path) -> Option<String> {
    let bytes = fs::read(errors).ok()?;
    let text = String::from_utf8_lossy(&bytes).replace(&*home.to_string_lossy(), "HOME");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let has = |line: &str, words: &[&str]| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    };
    let others = || lines().filter(|line| !has(line, &["warning:"]));
    let is_error = |line: &&str| has(line, &["error:", "invalid", "unknown", "unrecognized", "not "]);
    let line = others().find(is_error).or_else(|| others().next()).or_else(|| lines().next())?;
    Some(line.chars().take(160).collect())
}

fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| path.display().to_string())
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::descriptions;

    /// A shell as a program, with a script as its action.
    fn shell(script: &str, more: &str) -> Subject {
        let text = format!(
            "[[program]]\nname = 'shell'\nprogram = 'sh'\nversion = ['-c', 'echo shell 7']\n\
             [program.actions]\nact = {{ run = ['{{program}}', '-c', '''{script}'''], {more} }}\n"
        );
        let descriptions = descriptions(Some(&text)).unwrap();
        let shell = descriptions.into_iter().filter(|description| description.name == "shell").collect();
        find(shell, &[]).unwrap().0.pop().unwrap()
    }

    fn attempt(subject: &Subject, output: Option<&Path>) -> AttemptOutcome {
        let home = subject.new_home().unwrap();
        let action = subject.action("act").unwrap();
        let values = Values::new();
        subject
            .attempt(&Attempt {
                action,
                choice: 0,
                home: &home,
                values: &values,
                processes: 2,
                output,
                limit: None,
            })
            .unwrap()
    }

    #[test]
    fn what_a_program_refuses_is_told_in_its_own_words() {
        let subject =
            shell("echo starting >&2; echo \"error: cannot, in {home}\" >&2; exit 3", "accept = [0]");
        let AttemptOutcome::Refused(message) = attempt(&subject, None) else { panic!("it is done") };
        assert_eq!(message, "error: cannot, in HOME");
    }

    #[test]
    fn a_warning_is_no_reason_to_refuse_if_there_is_another() {
        let refusal = |script: &str| {
            let subject = shell(&format!("{script}; exit 3"), "accept = [0]");
            let AttemptOutcome::Refused(message) = attempt(&subject, None) else { panic!("it is done") };
            message
        };
        let warning = "echo 'WARNING: this is not usual' >&2";
        assert_eq!(refusal(&format!("{warning}; echo 'encryption failed' >&2")), "encryption failed");
        assert_eq!(refusal(warning), "WARNING: this is not usual");
    }

    #[test]
    fn the_end_by_a_signal_is_told_with_the_last_words() {
        let subject = shell("echo importing >&2; kill -9 $$", "accept = [0]");
        let AttemptOutcome::Refused(message) = attempt(&subject, None) else { panic!("it is done") };
        assert_eq!(message, "ended by a signal: importing");
    }

    #[test]
    fn an_exit_code_that_is_accepted_means_done() {
        let subject = shell("exit 3", "accept = [0, 3]");
        assert!(matches!(attempt(&subject, None), AttemptOutcome::Done(_)));
    }

    #[test]
    fn lines_that_match_are_counted() {
        let subject = shell("printf \"pub 1\\nsig\\nsig\\npub 2\\n\"", "keys = '^pub', signatures = '^sig'");
        let output = subject.file("output");
        assert!(matches!(attempt(&subject, Some(&output)), AttemptOutcome::Done(_)));
        let counts = Subject::count(subject.action("act").unwrap(), &output).unwrap();
        assert_eq!(counts, Counts { keys: Some(2), signatures: Some(2) });
    }

    #[test]
    fn a_file_is_read_and_another_one_written_instead_of_the_standard_streams() {
        let subject = shell("cat", "from = '{home}/in', to = '{home}/out'");
        let home = subject.new_home().unwrap();
        fs::write(home.join("in"), "content").unwrap();
        let action = subject.action("act").unwrap();
        let (output, values) = (subject.file("output"), Values::new());
        let output = Some(output.as_path());
        let attempt =
            Attempt { action, choice: 0, home: &home, values: &values, processes: 1, output, limit: None };
        assert!(matches!(subject.attempt(&attempt).unwrap(), AttemptOutcome::Done(_)));
        assert_eq!(fs::read_to_string(home.join("out")).unwrap(), "content");
        assert!(subject.command_line(action, 0, &values).unwrap().ends_with("< HOME/in > HOME/out"));
    }

    #[test]
    fn a_program_in_a_root_is_another_one_beside_what_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("mine/bin")).unwrap();
        std::os::unix::fs::symlink("/bin/echo", folder.path().join("mine/bin/sh")).unwrap();
        let text = "[[program]]\nname = 'shell'\nprogram = 'sh'\nversion = ['-c', 'echo 7']\n\
                    [program.actions]\nact = { run = ['sh', '-c', 'exit 3'] }\n";
        let shell = descriptions(Some(text)).unwrap().into_iter().filter(|one| one.name == "shell").collect();
        let found = find(shell, &Root::all(folder.path()).unwrap()).unwrap().0;
        let names: Vec<_> = found.iter().map(|one| (one.name(), one.version.as_str())).collect();
        assert_eq!(names, [("shell", "7"), ("shell (mine)", "-c echo 7")]);
        assert!(matches!(attempt(&found[0], None), AttemptOutcome::Refused(_)));
        assert!(matches!(attempt(&found[1], None), AttemptOutcome::Done(_)));
    }

    #[test]
    fn a_program_that_is_not_here_is_named_as_missing() {
        let text = "[[program]]\nname = 'none'\nprogram = 'there-is-no-such-program'\n";
        let descriptions = descriptions(Some(text)).unwrap();
        assert!(find(descriptions, &[]).unwrap().1.contains(&"none".to_owned()));
    }

    #[test]
    fn the_version_is_what_the_program_says() {
        assert_eq!(shell("true", "accept = [0]").version, "shell 7");
    }
}
