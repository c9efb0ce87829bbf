//! The programs that attacks are run through.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Engine, Home, NOW, Output, Run};

use super::{Attack, Input, MadeFiles, Outcome, PASSWORD};

/// The command line that a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// That of gpg.
    Gpg,
    /// That of gpgv.
    Gpgv,
    /// That of `keyhoard`.
    Keyhoard,
    /// The Stateless OpenPGP interface.
    Sop,
    /// That of rnp.
    Rnp,
}

/// A program, and the words that start it.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its command line.
    pub kind: Kind,
    /// The words that start it: empty for ours.
    start: Vec<PathBuf>,
}

impl Program {
    /// Returns our programs; for PostgreSQL those that have a database.
    pub fn ours(engine: Engine) -> Vec<Program> {
        let ours = |name: &str, kind| Program { name: name.to_owned(), kind, start: Vec::new() };
        let mut programs = vec![ours("gpg-keyhoard", Kind::Gpg), ours("keyhoard", Kind::Keyhoard)];
        if engine == Engine::Sqlite {
            programs.push(ours("gpgv-keyhoard", Kind::Gpgv));
            programs.push(ours("keyhoard sop", Kind::Sop));
        }
        programs
    }

    /// Returns another program.
    pub fn other(name: impl Into<String>, kind: Kind, start: Vec<PathBuf>) -> Program {
        Program { name: name.into(), kind, start }
    }

    /// Imports files of certificates, one after the other, into the database of a home.
    pub fn import(home: &Home, files: &[Vec<u8>]) {
        for (number, certificates) in files.iter().enumerate() {
            let file = home.write(&format!("known{number}.pgp"), certificates);
            // Some of these files are damaged: errors are expected, crashes are not.
            let done = match number % 2 {
                0 => Run::keyhoard(home).arg("import").arg(file).output(),
                _ => Run::gpg_keyhoard(home).arg("--import").arg(file).output(),
            };
            assert!(done.code.is_some_and(|code| code < 100), "{}", done.errors());
        }
    }

    /// Prepares a home for the program: programs with a keyring of their own import the certificates.
    pub fn prepare(&self, home: &Home, files: &[Vec<u8>]) {
        if self.start.is_empty() {
            return Program::import(home, files);
        }
        for (number, certificates) in files.iter().enumerate() {
            let file = home.write(&format!("known{number}.pgp"), certificates);
            if matches!(self.kind, Kind::Gpg | Kind::Rnp) {
                self.start(home).arg("--import").arg(file).output();
            }
        }
    }

    /// Runs an attack in a home with its certificates, by each command that takes such input.
    pub fn run(&self, home: &Home, attack: &Attack) -> Vec<Outcome> {
        home.write("password", PASSWORD);
        let directory = RunDirectory { home, certificate_files: attack.certificates.len() };
        let input = match &attack.input {
            Input::Detached { signature, data } => {
                home.write("data", data);
                home.write("signature", signature)
            }
            Input::Signed(message) | Input::Encrypted(message) | Input::Named(message) => {
                home.write("message", message)
            }
            Input::Listing => PathBuf::new(),
        };
        let commands = match &attack.input {
            Input::Detached { .. } => self.verify_detached(&directory, &input),
            Input::Signed(_) => self.verify_signed(&directory, &input),
            Input::Encrypted(_) => self.decrypt(&directory, &input),
            Input::Named(_) => self.write_named(&directory, &input),
            Input::Listing => self.list(&directory),
        };
        commands.into_iter().map(|command| self.outcome(command)).collect()
    }

    fn outcome(&self, command: Command) -> Outcome {
        let done = command.run.output();
        let output = match &command.output {
            Destination::None => None,
            Destination::Stdout => Some(done.stdout.clone()),
            Destination::File(path) => {
                let output = fs::read(path).unwrap_or_default();
                let _ = fs::remove_file(path);
                Some(output)
            }
            Destination::Person => Some(shown(&done)),
        };
        let mut outcome = Outcome::new(format!("{} {}", self.name, command.words), self.kind, &done, output);
        outcome.files = command.files;
        if let Some(path) = &command.verifications {
            let verified = fs::read(path).is_ok_and(|lines| !lines.is_empty());
            let _ = fs::remove_file(path);
            outcome.good &= verified;
            outcome.has_good_status &= verified;
        }
        outcome
    }

    /// Returns the program as a run in a home.
    fn start(&self, home: &Home) -> Run {
        match (self.start.split_first(), self.kind) {
            (None, Kind::Gpg) => Run::gpg_keyhoard(home).args(["--status-fd", "2"]),
            (None, Kind::Gpgv) => {
                let run = Run::new(&Run::program_path("gpgv-keyhoard"), home.path());
                run.args(["--status-fd", "2"])
            }
            (None, Kind::Sop) => Run::keyhoard(home).arg("sop"),
            (None, _) => Run::keyhoard(home).args(["--faked-system-time", NOW]),
            (Some((program, words)), Kind::Gpg) => {
                let run = Run::new(program, home.path()).args(words).args(["--status-fd", "2", "--batch"]);
                run.arg("--homedir").arg(home.path())
            }
            (Some((program, words)), Kind::Gpgv) => {
                Run::new(program, home.path()).args(words).args(["--status-fd", "2"])
            }
            (Some((program, words)), Kind::Rnp) => {
                Run::new(program, home.path()).args(words).arg("--homedir").arg(home.path())
            }
            (Some((program, words)), _) => Run::new(program, home.path()).args(words),
        }
    }

    fn verify_detached(&self, directory: &RunDirectory<'_>, signature: &Path) -> Vec<Command> {
        let data = directory.file("data");
        let content = || fs::read(&data).expect("it was written");
        let run = || self.start(directory.home);
        match self.kind {
            Kind::Gpg => vec![
                Command::new("--verify SIGNATURE DATA", run().arg("--verify").arg(signature).arg(&data)),
                Command::new(
                    "--verify SIGNATURE - < DATA",
                    run().arg("--verify").arg(signature).arg("-").stdin(content()),
                ),
                Command::new(
                    "-o OUT --verify SIGNATURE DATA",
                    run().arg("-o").arg(directory.out()).arg("--verify").arg(signature).arg(&data),
                )
                .writing_to(directory.out()),
            ],
            Kind::Gpgv => {
                vec![Command::new("SIGNATURE DATA", directory.keyrings(run()).arg(signature).arg(&data))]
            }
            Kind::Keyhoard => {
                vec![Command::new("verify SIGNATURE DATA", run().arg("verify").arg(signature).arg(&data))]
            }
            Kind::Sop => {
                let run = run().arg("verify").arg(signature).args(directory.certificates());
                vec![Command::new("verify SIGNATURE CERTS < DATA", run.stdin(content()))]
            }
            Kind::Rnp => {
                let run = run().arg("--verify").arg(signature).arg("--source").arg(&data);
                vec![Command::new("--verify SIGNATURE --source DATA", run)]
            }
        }
    }

    fn verify_signed(&self, directory: &RunDirectory<'_>, message: &Path) -> Vec<Command> {
        let content = || fs::read(message).expect("it was written");
        let run = || self.start(directory.home);
        match self.kind {
            Kind::Gpg => vec![
                Command::new("--verify MESSAGE", run().arg("--verify").arg(message)),
                Command::new("-d MESSAGE", run().arg("-d").arg(message)).writing_to_stdout(),
                Command::new(
                    "-o OUT -d MESSAGE",
                    run().arg("-o").arg(directory.out()).arg("-d").arg(message),
                )
                .writing_to(directory.out()),
                Command::new("-o OUT < MESSAGE", run().arg("-o").arg(directory.out()).stdin(content()))
                    .writing_to(directory.out()),
            ],
            Kind::Gpgv => {
                let run = directory.keyrings(run()).args(["-o", "-"]).arg(message);
                vec![Command::new("-o - MESSAGE", run).writing_to_stdout()]
            }
            Kind::Keyhoard => vec![
                Command::new("verify MESSAGE", run().arg("verify").arg(message)),
                Command::new(
                    "verify --output OUT MESSAGE",
                    run().args(["verify", "--output"]).arg(directory.out()).arg(message),
                )
                .writing_to(directory.out()),
            ],
            Kind::Sop => {
                let run = run().arg("inline-verify").args(directory.certificates()).stdin(content());
                vec![Command::new("inline-verify CERTS < MESSAGE", run).writing_to_stdout()]
            }
            Kind::Rnp => {
                let run = run().arg("--verify").arg(message).arg("--output").arg(directory.out());
                vec![Command::new("--verify MESSAGE --output OUT", run).writing_to(directory.out())]
            }
        }
    }

    fn decrypt(&self, directory: &RunDirectory<'_>, message: &Path) -> Vec<Command> {
        let content = || fs::read(message).expect("it was written");
        let run = || self.start(directory.home);
        let password = directory.file("password");
        match self.kind {
            Kind::Gpg => {
                let run = || run().args(["--pinentry-mode", "loopback", "--passphrase-file"]).arg(&password);
                vec![
                    Command::new("-d MESSAGE", run().arg("-d").arg(message)).writing_to_stdout(),
                    Command::new(
                        "-o OUT -d MESSAGE",
                        run().arg("-o").arg(directory.out()).arg("-d").arg(message),
                    )
                    .writing_to(directory.out()),
                ]
            }
            Kind::Gpgv => Vec::new(),
            Kind::Keyhoard => {
                let run = || run().args(["decrypt", "--password-file"]).arg(&password);
                vec![
                    Command::new("decrypt MESSAGE", run().arg(message)).writing_to_stdout(),
                    Command::new(
                        "decrypt --output OUT MESSAGE",
                        run().arg("--output").arg(directory.out()).arg(message),
                    )
                    .writing_to(directory.out()),
                ]
            }
            Kind::Sop => {
                let option = format!("--with-password={}", password.display());
                let run = run().args(["decrypt", &option]).stdin(content());
                let verify = |run: Run| {
                    let names = directory.certificates().into_iter();
                    let with = names.map(|file| format!("--verify-with={}", file.display()));
                    run.arg(format!("--verifications-out={}", directory.verifications().display())).args(with)
                };
                match directory.certificate_files {
                    0 => vec![Command::new("decrypt < MESSAGE", run).writing_to_stdout()],
                    _ => vec![
                        Command::new("decrypt --verify-with CERTS < MESSAGE", verify(run))
                            .writing_to_stdout()
                            .good_if_written(directory.verifications()),
                    ],
                }
            }
            Kind::Rnp => {
                let run = run().args(["--password", PASSWORD, "--decrypt"]).arg(message);
                let run = run.arg("--output").arg(directory.out());
                vec![Command::new("--decrypt MESSAGE --output OUT", run).writing_to(directory.out())]
            }
        }
    }

    fn write_named(&self, directory: &RunDirectory<'_>, message: &Path) -> Vec<Command> {
        if self.kind != Kind::Gpg {
            return Vec::new();
        }
        let files = MadeFiles::below(directory.home.path());
        let run = self.start(directory.home).current_dir(&files.current_directory());
        let run = run.arg("--use-embedded-filename").arg(message);
        vec![Command { files: Some(files), ..Command::new("--use-embedded-filename MESSAGE", run) }]
    }

    fn list(&self, directory: &RunDirectory<'_>) -> Vec<Command> {
        let run = || self.start(directory.home);
        let options = ["--list-options", "show-notations,show-policy-urls,show-unusable-uids"];
        match self.kind {
            Kind::Gpg => {
                let run = run().args(["--no-auto-check-trustdb"]).args(options).arg("--list-sigs");
                vec![Command::new("--list-sigs", run).showing_a_person()]
            }
            Kind::Keyhoard => {
                let run = run().args(["list", "--signatures"]);
                vec![Command::new("list --signatures", run).showing_a_person()]
            }
            Kind::Gpgv | Kind::Sop | Kind::Rnp => Vec::new(),
        }
    }

    /// Returns the program's name with the version that it prints; `None` if it cannot be started.
    pub fn title(&self, home: &Home) -> Option<String> {
        let word = if self.kind == Kind::Sop { "version" } else { "--version" };
        let (program, words) = self.start.split_first()?;
        let done = Run::new(program, home.path()).args(words).arg(word).output();
        let text = done.text();
        let is_version = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
        let version = text.split_whitespace().find(is_version).unwrap_or_default();
        (done.code == Some(0)).then(|| format!("{} {version}", self.name))
    }
}

/// A home with the files of an attack.
struct RunDirectory<'a> {
    home: &'a Home,
    /// The number of files of certificates.
    certificate_files: usize,
}

impl RunDirectory<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn out(&self) -> PathBuf {
        self.file("out")
    }

    fn verifications(&self) -> PathBuf {
        self.file("verifications")
    }

    fn certificates(&self) -> Vec<PathBuf> {
        (0..self.certificate_files).map(|number| self.file(&format!("known{number}.pgp"))).collect()
    }

    fn keyrings(&self, run: Run) -> Run {
        self.certificates().iter().fold(run, |run, file| run.arg("--keyring").arg(file))
    }
}

/// One command of a program.
struct Command {
    words: &'static str,
    run: Run,
    output: Destination,
    /// The file that lists good signatures, if the exit code does not depend on them.
    verifications: Option<PathBuf>,
    /// Where it may make files.
    files: Option<MadeFiles>,
}

/// Where a command writes the content of its input.
enum Destination {
    /// Nowhere.
    None,
    /// On standard output.
    Stdout,
    /// In a file.
    File(PathBuf),
    /// On both streams, for a person.
    Person,
}

impl Command {
    fn new(words: &'static str, run: Run) -> Command {
        Command { words, run, output: Destination::None, verifications: None, files: None }
    }

    fn writing_to_stdout(self) -> Command {
        Command { output: Destination::Stdout, ..self }
    }

    fn showing_a_person(self) -> Command {
        Command { output: Destination::Person, ..self }
    }

    fn good_if_written(self, path: PathBuf) -> Command {
        Command { verifications: Some(path), ..self }
    }

    fn writing_to(self, path: PathBuf) -> Command {
        Command { output: Destination::File(path), ..self }
    }
}

/// Returns what a person sees: status lines are for programs, and keep to GnuPG's escapes.
fn shown(done: &Output) -> Vec<u8> {
    let lines = [&done.stdout[..], b"\n", &done.stderr].concat();
    let lines = lines.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| !line.starts_with(b"[GNUPG:] ")).flatten().copied().collect()
}
