//! The programs that attacks are run through.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Engine, Home, NOW, Run};

use super::{Attack, Input, Outcome, PASSWORD};

/// How a program is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As gpg.
    Gpg,
    /// As gpgv.
    Gpgv,
    /// As `keyhoard`.
    Keyhoard,
    /// By the Stateless OpenPGP interface.
    Sop,
    /// As rnp.
    Rnp,
}

/// A program, and how it is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub kind: Kind,
    /// The words that start it: empty for ours.
    start: Vec<PathBuf>,
}

impl Program {
    /// Returns our programs; with a server those that have a database.
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
    pub fn import(home: &Home, known: &[Vec<u8>]) {
        for (number, certificates) in known.iter().enumerate() {
            let file = home.write(&format!("known{number}.pgp"), certificates);
            // Some of these files hold damage, which is told and is none of this function's business.
            let done = match number % 2 {
                0 => Run::keyhoard(home).arg("import").arg(file).done(),
                _ => Run::gpg_keyhoard(home).arg("--import").arg(file).done(),
            };
            assert!(done.code.is_some_and(|code| code < 100), "{}", done.errors());
        }
    }

    /// Prepares a home for the program: what has keys of its own imports the certificates.
    pub fn prepare(&self, home: &Home, known: &[Vec<u8>]) {
        if self.start.is_empty() {
            return Program::import(home, known);
        }
        for (number, certificates) in known.iter().enumerate() {
            let file = home.write(&format!("known{number}.pgp"), certificates);
            if matches!(self.kind, Kind::Gpg | Kind::Rnp) {
                self.start(home).arg("--import").arg(file).done();
            }
        }
    }

    /// Runs an attack in a home that has its certificates, with each command that takes such input.
    pub fn run(&self, home: &Home, attack: &Attack) -> Vec<Outcome> {
        home.write("password", PASSWORD);
        let place = RunDirectory { home, known: attack.known.len() };
        let input = match &attack.input {
            Input::Detached { signature, data } => {
                home.write("data", data);
                home.write("signature", signature)
            }
            Input::Signed(message) | Input::Encrypted(message) => home.write("message", message),
        };
        let commands = match &attack.input {
            Input::Detached { .. } => self.verify_detached(&place, &input),
            Input::Signed(_) => self.verify_signed(&place, &input),
            Input::Encrypted(_) => self.decrypt(&place, &input),
        };
        commands.into_iter().map(|command| self.done(command)).collect()
    }

    fn done(&self, command: Command) -> Outcome {
        let done = command.run.done();
        let output = match &command.output {
            Output::None => Vec::new(),
            Output::Stdout => done.stdout.clone(),
            Output::File(path) => {
                let output = fs::read(path).unwrap_or_default();
                let _ = fs::remove_file(path);
                output
            }
        };
        let mut outcome = Outcome::new(format!("{} {}", self.name, command.words), self.kind, &done, output);
        if let Some(path) = &command.verifications {
            let verified = fs::read(path).is_ok_and(|lines| !lines.is_empty());
            let _ = fs::remove_file(path);
            outcome.good &= verified;
            outcome.vouches &= verified;
        }
        outcome
    }

    /// Returns the program as a run in a home.
    fn start(&self, home: &Home) -> Run {
        match (self.start.split_first(), self.kind) {
            (None, Kind::Gpg) => Run::gpg_keyhoard(home).args(["--status-fd", "2"]),
            (None, Kind::Gpgv) => {
                let run = Run::of(&Run::program("gpgv-keyhoard"), home.path());
                run.args(["--status-fd", "2"])
            }
            (None, Kind::Sop) => Run::keyhoard(home).arg("sop"),
            (None, _) => Run::keyhoard(home).args(["--faked-system-time", NOW]),
            (Some((program, words)), Kind::Gpg) => {
                let run = Run::of(program, home.path()).args(words).args(["--status-fd", "2", "--batch"]);
                run.arg("--homedir").arg(home.path())
            }
            (Some((program, words)), Kind::Gpgv) => {
                Run::of(program, home.path()).args(words).args(["--status-fd", "2"])
            }
            (Some((program, words)), Kind::Rnp) => {
                Run::of(program, home.path()).args(words).arg("--homedir").arg(home.path())
            }
            (Some((program, words)), _) => Run::of(program, home.path()).args(words),
        }
    }

    fn verify_detached(&self, place: &RunDirectory<'_>, signature: &Path) -> Vec<Command> {
        let data = place.file("data");
        let content = || fs::read(&data).expect("it was written");
        let run = || self.start(place.home);
        match self.kind {
            Kind::Gpg => vec![
                Command::new("--verify SIGNATURE DATA", run().arg("--verify").arg(signature).arg(&data)),
                Command::new(
                    "--verify SIGNATURE - < DATA",
                    run().arg("--verify").arg(signature).arg("-").stdin(content()),
                ),
                Command::new(
                    "-o OUT --verify SIGNATURE DATA",
                    run().arg("-o").arg(place.out()).arg("--verify").arg(signature).arg(&data),
                )
                .writing_to(place.out()),
            ],
            Kind::Gpgv => {
                vec![Command::new("SIGNATURE DATA", place.keyrings(run()).arg(signature).arg(&data))]
            }
            Kind::Keyhoard => {
                vec![Command::new("verify SIGNATURE DATA", run().arg("verify").arg(signature).arg(&data))]
            }
            Kind::Sop => {
                let run = run().arg("verify").arg(signature).args(place.certificates());
                vec![Command::new("verify SIGNATURE CERTS < DATA", run.stdin(content()))]
            }
            Kind::Rnp => {
                let run = run().arg("--verify").arg(signature).arg("--source").arg(&data);
                vec![Command::new("--verify SIGNATURE --source DATA", run)]
            }
        }
    }

    fn verify_signed(&self, place: &RunDirectory<'_>, message: &Path) -> Vec<Command> {
        let content = || fs::read(message).expect("it was written");
        let run = || self.start(place.home);
        match self.kind {
            Kind::Gpg => vec![
                Command::new("--verify MESSAGE", run().arg("--verify").arg(message)),
                Command::new("-d MESSAGE", run().arg("-d").arg(message)).writing_to_stdout(),
                Command::new("-o OUT -d MESSAGE", run().arg("-o").arg(place.out()).arg("-d").arg(message))
                    .writing_to(place.out()),
                Command::new("-o OUT < MESSAGE", run().arg("-o").arg(place.out()).stdin(content()))
                    .writing_to(place.out()),
            ],
            Kind::Gpgv => {
                let run = place.keyrings(run()).args(["-o", "-"]).arg(message);
                vec![Command::new("-o - MESSAGE", run).writing_to_stdout()]
            }
            Kind::Keyhoard => vec![
                Command::new("verify MESSAGE", run().arg("verify").arg(message)),
                Command::new(
                    "verify --output OUT MESSAGE",
                    run().args(["verify", "--output"]).arg(place.out()).arg(message),
                )
                .writing_to(place.out()),
            ],
            Kind::Sop => {
                let run = run().arg("inline-verify").args(place.certificates()).stdin(content());
                vec![Command::new("inline-verify CERTS < MESSAGE", run).writing_to_stdout()]
            }
            Kind::Rnp => {
                let run = run().arg("--verify").arg(message).arg("--output").arg(place.out());
                vec![Command::new("--verify MESSAGE --output OUT", run).writing_to(place.out())]
            }
        }
    }

    fn decrypt(&self, place: &RunDirectory<'_>, message: &Path) -> Vec<Command> {
        let content = || fs::read(message).expect("it was written");
        let run = || self.start(place.home);
        let password = place.file("password");
        match self.kind {
            Kind::Gpg => {
                let run = || run().args(["--pinentry-mode", "loopback", "--passphrase-file"]).arg(&password);
                vec![
                    Command::new("-d MESSAGE", run().arg("-d").arg(message)).writing_to_stdout(),
                    Command::new(
                        "-o OUT -d MESSAGE",
                        run().arg("-o").arg(place.out()).arg("-d").arg(message),
                    )
                    .writing_to(place.out()),
                ]
            }
            Kind::Gpgv => Vec::new(),
            Kind::Keyhoard => {
                let run = || run().args(["decrypt", "--password-file"]).arg(&password);
                vec![
                    Command::new("decrypt MESSAGE", run().arg(message)).writing_to_stdout(),
                    Command::new(
                        "decrypt --output OUT MESSAGE",
                        run().arg("--output").arg(place.out()).arg(message),
                    )
                    .writing_to(place.out()),
                ]
            }
            Kind::Sop => {
                let option = format!("--with-password={}", password.display());
                let run = run().args(["decrypt", &option]).stdin(content());
                let verify = |run: Run| {
                    let names = place.certificates().into_iter();
                    let with = names.map(|file| format!("--verify-with={}", file.display()));
                    run.arg(format!("--verifications-out={}", place.verifications().display())).args(with)
                };
                match place.known {
                    0 => vec![Command::new("decrypt < MESSAGE", run).writing_to_stdout()],
                    _ => vec![
                        Command::new("decrypt --verify-with CERTS < MESSAGE", verify(run))
                            .writing_to_stdout()
                            .good_if_written(place.verifications()),
                    ],
                }
            }
            Kind::Rnp => {
                let run = run().args(["--password", PASSWORD, "--decrypt"]).arg(message);
                let run = run.arg("--output").arg(place.out());
                vec![Command::new("--decrypt MESSAGE --output OUT", run).writing_to(place.out())]
            }
        }
    }

    /// Returns the program's name with its version, as it says it; nothing if it cannot be started.
    pub fn title(&self, home: &Home) -> Option<String> {
        let word = if self.kind == Kind::Sop { "version" } else { "--version" };
        let (program, words) = self.start.split_first()?;
        let done = Run::of(program, home.path()).args(words).arg(word).done();
        let text = done.text();
        let is_version = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
        let version = text.split_whitespace().find(is_version).unwrap_or_default();
        (done.code == Some(0)).then(|| format!("{} {version}", self.name))
    }
}

/// A home with the files of an attack.
struct RunDirectory<'a> {
    home: &'a Home,
    /// How many files of certificates there are.
    known: usize,
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
        (0..self.known).map(|number| self.file(&format!("known{number}.pgp"))).collect()
    }

    fn keyrings(&self, run: Run) -> Run {
        self.certificates().iter().fold(run, |run, file| run.arg("--keyring").arg(file))
    }
}

/// One command of a program.
struct Command {
    words: &'static str,
    run: Run,
    output: Output,
    /// The file that tells of good signatures, where the exit code does not.
    verifications: Option<PathBuf>,
}

/// Where what is read comes out.
enum Output {
    /// Nowhere.
    None,
    /// On standard output.
    Stdout,
    /// In a file.
    File(PathBuf),
}

impl Command {
    fn new(words: &'static str, run: Run) -> Command {
        Command { words, run, output: Output::None, verifications: None }
    }

    fn writing_to_stdout(self) -> Command {
        Command { output: Output::Stdout, ..self }
    }

    fn good_if_written(self, path: PathBuf) -> Command {
        Command { verifications: Some(path), ..self }
    }

    fn writing_to(self, path: PathBuf) -> Command {
        Command { output: Output::File(path), ..self }
    }
}
