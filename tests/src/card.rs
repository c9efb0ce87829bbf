//! OpenPGP cards in a reader: the firmware of a device (`scripts/card`) behind Debian's virtual reader and pcscd, in
//! namespaces of the test's own.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::gnupg::made_by;
use crate::web::Namespace;
use crate::{Gnupg, Home, Run};

/// How long pcscd and a card may take to start.
const START: Duration = Duration::from_secs(20);

/// How long pcscd may take to see that a card came, went or was let go: it looks every 400 ms.
const POLL: Duration = Duration::from_millis(1000);

/// The configuration of the reader: the port of its first slot in hexadecimal digits.
const READER: &str = "FRIENDLYNAME \"Virtual PCD\"\nDEVICENAME /dev/null:0x8C7B\n\
                      LIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\nCHANNELID 0x8C7B\n";
const PORT: &str = "35963";

/// A pinentry that answers with the PINs in the files `pin` and `admin-pin` beside it, and with `passphrase` for a key that is
/// on no card, and writes down what it is asked. Where there is no file, it cancels.
const PINENTRY: &str = r#"#!/bin/sh
directory=$(dirname "$0")
answer() {
    if [ -e "$directory/$1" ]; then
        [ -z "$repeat" ] || echo "S PIN_REPEATED"
        echo "D $(cat "$directory/$1")"
        echo OK
    else
        echo "ERR 83886179 Operation cancelled <Pinentry>"
    fi
}
echo OK
while read -r command rest; do
    case "$command" in
        SETDESC) description=$rest; echo "$rest" >>"$directory/questions"; echo OK ;;
        SETPROMPT) prompt=$rest; echo OK ;;
        SETREPEAT) repeat=yes; echo OK ;;
        GETPIN)
            case "$prompt$description" in
                *"New "* | *Repeat* | *"new key"*) answer new-pin ;;
                *"secret key can be unlocked"*) [ -e "$directory/passphrase" ] && answer passphrase || answer pin ;;
                *Admin*) answer admin-pin ;;
                *) answer pin ;;
            esac
            repeat= ;;
        CONFIRM) echo "ERR 83886179 Operation cancelled <Pinentry>" ;;
        BYE) echo OK; exit ;;
        *) echo OK ;;
    esac
done
"#;

/// Waits until the test's process ends, or says that it has tidied up itself. Agents are no children of the process, and
/// outlive it: one that has lost its reader keeps the processor busy.
const GUARD: &str = r#"
read -r _ && exit
gpgconf=$1 home=$2 directory=$3
shift 3
kill -KILL "$@" 2>/dev/null
"$gpgconf" --homedir "$home" --kill all
rm -rf "$home" "$directory"
"#;

/// A home directory whose agent sees a reader.
#[derive(Debug)]
pub struct CardHome {
    /// The home directory.
    pub home: Home,
    reader: Reader,
    guard: Guard,
}

impl CardHome {
    /// Makes a home with a reader that a new card is in.
    pub fn new() -> Self {
        let mut home = Self::without_card();
        home.insert_new_card();
        home
    }

    /// Makes a home with a reader and a card that has made an Ed25519 key that signs, one that authenticates, and an X25519
    /// key that decrypts; both programs have their certificate.
    pub fn with_keys() -> Self {
        let home = Self::new();
        let answers =
            "admin\nkey-attr\n2\n1\n2\n1\n2\n1\ngenerate\nn\n0\nJane Doe\njane@example.org\n\nquit\n";
        // In batch mode gpg makes no keys, and with the trust model of the home it has no file of trust to note them in.
        let words = ["--no-batch", "--no-tty", "--trust-model", "pgp", "--command-fd", "0", "--edit-card"];
        let made = home.gpg(Gnupg::V2_4).args(words).stdin(answers).succeed();
        let certificate = home.gpg(Gnupg::V2_4).args(["--export", "jane@example.org"]).succeed().stdout;
        assert!(!certificate.is_empty(), "{}", made.errors());
        Run::gpg_keyhoard(&home.home).arg("--import").stdin(certificate).succeed();
        let trust = home.gpg(Gnupg::V2_4).arg("--export-ownertrust").succeed().stdout;
        Run::gpg_keyhoard(&home.home).arg("--import-ownertrust").stdin(trust).succeed();
        home.restart_agent();
        home.questions();
        home
    }

    /// Makes a home with an empty reader.
    pub fn without_card() -> Self {
        let home = Home::new();
        let pinentry = home.write("pinentry", PINENTRY);
        fs::set_permissions(&pinentry, Permissions::from_mode(0o700)).expect("it is the test's own");
        home.write("gpg-agent.conf", format!("pinentry-program {}\n", pinentry.display()));
        let library = "libpcsclite.so.1";
        home.write("scdaemon.conf", format!("disable-ccid\npcsc-driver {}\n", installed(library).display()));
        home.write("pin", "123456");
        home.write("admin-pin", "12345678");
        let reader = Reader::new();
        let guard = Guard::of(&home, &reader);
        Self { home, reader, guard }
    }

    /// Ends as if the test's process were killed; returns once that was noticed.
    pub fn abandon(mut self) {
        drop(self.guard.shell.stdin.take());
        let _ = self.guard.shell.wait();
    }

    /// Puts another card into the reader, as it leaves the factory; every one has the same number, and makes the same keys.
    pub fn insert_new_card(&mut self) {
        self.reader.insert();
        self.restart_agent();
    }

    /// Takes the card out of the reader.
    pub fn remove_card(&mut self) {
        self.reader.remove();
    }

    /// Has the next program start an agent; the card is free for it.
    pub fn restart_agent(&self) {
        self.home.kill_agent();
        if self.reader.card.is_some() {
            until("the card in its reader", || self.is_card_free());
            sleep(POLL);
        }
    }

    /// Returns whether a program that wants the card for itself would get it.
    fn is_card_free(&self) -> bool {
        let command = format!(
            "echo SERIALNO | {}/../libexec/scdaemon --server --homedir {}",
            Gnupg::V2_2.programs().display(),
            self.home.path().display()
        );
        let output = Command::new("sh")
            .args(["-c", &command])
            .env("PCSCLITE_CSOCK_NAME", self.reader.socket())
            .stderr(Stdio::null())
            .output();
        let output = output.expect("a shell");
        String::from_utf8_lossy(&output.stdout).contains("S SERIALNO ")
    }

    /// A real gpg.
    pub fn gpg(&self, gnupg: Gnupg) -> Run {
        self.with_reader(Run::gpg_of_with_agent(gnupg, &self.home), gnupg)
    }

    /// `gpg-keyhoard` as this gpg, whose agent it uses.
    pub fn gpg_keyhoard(&self, gnupg: Gnupg) -> Run {
        self.with_reader(Run::gpg_keyhoard(&self.home).with_agent().like(gnupg), gnupg)
    }

    fn with_reader(&self, run: Run, gnupg: Gnupg) -> Run {
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [gnupg.programs()].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(path).expect("no directory's name has a colon");
        run.env("PATH", path).env("PCSCLITE_CSOCK_NAME", self.reader.socket())
    }

    /// Returns what pinentry was asked since the last call.
    pub fn questions(&self) -> String {
        let path = self.home.path().join("questions");
        let questions = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        questions
    }
}

impl Default for CardHome {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for CardHome {
    fn drop(&mut self) {
        self.home.kill_agent();
        self.guard.dismiss();
    }
}

/// A shell in a process group of its own, which ends what a killed test leaves behind.
#[derive(Debug)]
struct Guard {
    shell: Child,
}

impl Guard {
    fn of(home: &Home, reader: &Reader) -> Self {
        let processes = [reader.daemon.id(), reader.namespace.process()].map(|id| id.to_string());
        let shell = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(Gnupg::V2_2.program("gpgconf"))
            .args([home.path(), reader.directory.path()])
            .args(processes)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Self { shell: shell.expect("a shell") }
    }

    fn dismiss(&mut self) {
        if let Some(mut input) = self.shell.stdin.take() {
            let _ = input.write_all(b"done\n");
        }
        let _ = self.shell.wait();
    }
}

/// A reader, and the card that is in it.
#[derive(Debug)]
struct Reader {
    namespace: Namespace,
    directory: TempDir,
    daemon: Child,
    card: Option<Child>,
}

impl Reader {
    fn new() -> Self {
        let namespace = Namespace::with_hosts(&[]);
        let directory = tempfile::tempdir().expect("a directory for temporary files");
        let run = directory.path().join("run");
        fs::create_dir_all(run.join("pcscd")).expect("a new directory is writable");
        let configuration = directory.path().join("reader");
        fs::write(&configuration, READER).expect("a new directory is writable");
        let daemon = namespace
            .command("sh")
            .arg("-c")
            .arg("mount --bind \"$1\" /run && exec /usr/sbin/pcscd --foreground --critical --config \"$2\"")
            .arg("sh")
            .args([&run, &configuration])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nsenter is there");
        let reader = Self { namespace, directory, daemon, card: None };
        let socket = reader.socket();
        until("pcscd (scripts/setup cards)", || socket.exists());
        reader
    }

    /// Returns the socket by which programs speak to pcscd.
    fn socket(&self) -> PathBuf {
        self.directory.path().join("run/pcscd/pcscd.comm")
    }

    fn insert(&mut self) {
        self.remove();
        let log = self.directory.path().join("card");
        let _ = fs::remove_file(&log);
        let mut card = self.namespace.command(program());
        card.args([PORT, "0000000F"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut started = false;
        until("the card's reader", || {
            if !started {
                self.card = Some(card.spawn().expect("nsenter is there"));
                started = true;
            }
            // It ends at once where nobody listens yet.
            sleep(Duration::from_millis(50));
            let running = self.card.as_mut().is_some_and(|card| matches!(card.try_wait(), Ok(None)));
            started = running;
            running
        });
    }

    fn remove(&mut self) {
        if let Some(mut card) = self.card.take() {
            let _ = card.kill();
            let _ = card.wait();
            sleep(POLL);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.remove();
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Returns the program that is the card; the first call builds it where `make test-cards` has not.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| made_by("scripts/card"))
}

/// Finds an installed library.
fn installed(library: impl AsRef<OsStr>) -> PathBuf {
    let directories = fs::read_dir("/usr/lib").expect("libraries are in /usr/lib").flatten();
    let mut paths = directories.map(|entry| entry.path().join(library.as_ref()));
    paths.find(|path| path.exists()).expect("Debian's package pcscd is installed (scripts/setup cards)")
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < START, "{what}: not there after {START:?}");
        sleep(Duration::from_millis(20));
    }
}
