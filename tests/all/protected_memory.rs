//! The memory of the programs, which hold secrets: nobody reads it, and secrets do not leave it.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use harness::{Home, Keyring, Run};

/// An ordinary user, for whom the superuser can run programs.
const UNPRIVILEGED_USER: u32 = 65534;

/// A program that waits for its input, and is ended with the test.
struct Waiting(Child);

impl Waiting {
    fn start(command: &mut Command) -> Waiting {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Waiting(streams.spawn().expect("the program was built (make programs)"))
    }

    fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.0.id().to_string()).join(name)
    }

    /// Returns what the system says of the process, once that is so.
    fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if let Some(found) = look() {
                return found;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("{what}: still not so");
    }

    fn line(&self, file: &str, start: &str) -> Option<String> {
        let text = fs::read_to_string(self.proc(file)).ok()?;
        text.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the user that programs are run for: not the superuser, to whom all that is protected belongs anyway.
fn user() -> u32 {
    match fs::metadata("/proc/self").expect("a process").uid() {
        0 => UNPRIVILEGED_USER,
        own => own,
    }
}

/// Copies a program to where that user can start it: the directory in which it was built need not be open to others.
fn copy_of(name: &str, home: &Home) -> PathBuf {
    let copy = home.path().join(name);
    // Were it written by this process, other threads' children could have it open, and it could not be started.
    let status = Command::new("install").args(["-m", "755"]).arg(Run::program_path(name)).arg(&copy).status();
    assert!(status.expect("install (coreutils)").success());
    copy
}

#[test]
fn no_program_dumps_core_or_lets_others_read_its_memory() {
    let home = Home::new();
    let ring = home.write("ring.gpg", Keyring::Nonupload.bytes());
    let programs: [(&str, &[&str]); 3] = [
        ("keyhoard", &["import"]),
        ("gpg-keyhoard", &["--import"]),
        ("gpgv-keyhoard", &["--keyring", ring.to_str().expect("a name in ASCII"), "-"]),
    ];
    let user = user();
    for path in [home.path(), &home.path().join("gpg.conf"), &ring] {
        let _ = chown(path, Some(user), None);
    }
    for (name, arguments) in programs {
        let mut command = Command::new(copy_of(name, &home));
        command.args(arguments).env_clear().env("HOME", home.path()).env("GNUPGHOME", home.path());
        command.env("KEYHOARD_DB", home.database());
        if fs::metadata("/proc/self").expect("a process").uid() != user {
            command.uid(user);
        }
        let waiting = Waiting::start(&mut command);
        let protected = || Some(fs::metadata(waiting.proc("mem")).ok()?.uid()).filter(|owner| *owner == 0);
        waiting.until(&format!("{name}: its memory is the superuser's"), protected);
        assert_eq!(fs::metadata(waiting.proc("")).expect("a process").uid(), user, "{name}");
        let limit = waiting.line("limits", "Max core file size").expect("a limit");
        assert_eq!(limit.split_whitespace().next(), Some("0"), "{name}: {limit}");
        let locked = waiting.line("limits", "Max locked memory").expect("a limit");
        let mut limits = locked.split_whitespace();
        assert_eq!(limits.next(), limits.next(), "{name}: as much as allowed");
    }
}

#[test]
fn secret_keys_in_use_are_locked_into_memory_where_the_limit_allows_it() {
    let home = Home::new();
    Run::keyhoard(&home).args(["generate", "--no-passphrase", "Ann <ann@example.org>"]).succeed();
    let mut command = Command::new(Run::program_path("keyhoard"));
    command.arg("sign").env("KEYHOARD_DB", home.database()).env("HOME", home.path());
    let waiting = Waiting::start(&mut command);
    let allowed = waiting.until("started", || waiting.line("limits", "Max locked memory"));
    assert_ne!(
        allowed.split_whitespace().nth(1),
        Some("0"),
        "this test needs a limit above 0 (ulimit -H -l)"
    );
    let locked = || {
        let line = waiting.line("status", "VmLck:")?;
        line.split_whitespace().next()?.parse::<u64>().ok().filter(|kilobytes| *kilobytes > 0)
    };
    waiting.until("a secret key is locked into memory", locked);
}

#[test]
fn the_programs_work_for_users_who_cannot_read_their_own_protected_files() {
    // Files that appear under their name at the end are linked through /proc/self/fd, which is the superuser's then.
    let home = Home::new();
    let user = user();
    let program = copy_of("keyhoard", &home);
    let _ = chown(home.path(), Some(user), None);
    // The pipe of standard output has to be that user's as well.
    let shell = "set -o pipefail; \"$0\" \"$@\" | cat";
    let keyhoard = |arguments: &[&str]| {
        let mut command = Command::new("bash");
        command
            .args(["-c", shell])
            .arg(&program)
            .args(arguments)
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path());
        command.env("PATH", "/usr/bin:/bin");
        if fs::metadata("/proc/self").expect("a process").uid() != user {
            command.uid(user);
        }
        let done = command.output().expect("the program was built (make programs)");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    keyhoard(&["generate", "--no-passphrase", "Ann <ann@example.org>"]);
    keyhoard(&["export", "--output", "file"]);
    let exported = keyhoard(&["export"]);
    assert!(!exported.is_empty());
    assert_eq!(fs::read(home.path().join("file")).expect("it was written"), exported);
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert_eq!(keyhoard(&["export", "--output", name]), exported, "{name}");
    }
}
