//! `keyhoard key move`: secret keys between files and a real gpg-agent.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use harness::{Home, Run};

use crate::agent_home::{AgentHome, key_files, places};

#[test]
fn a_key_moves_from_the_agent_into_files_and_back_and_works_at_both_places() {
    for (sign, encrypt) in
        [("rsa2048", "rsa2048"), ("ed25519", "cv25519"), ("nistp384", "nistp384"), ("dsa2048", "elg2048")]
    {
        let home = AgentHome::with_keys("abc", &[(sign, encrypt)]);
        let name = format!("{sign}@example.org");
        home.answer("abc");
        let passphrase = home.home.write("passphrase", "abc\n");
        let moved = |to: &str| {
            let run = Run::keyhoard(&home.home).args(["key", "move", "--to", to, "--passphrase-file"]);
            run.arg(&passphrase).arg(&name).succeed();
        };
        moved("file");
        assert_eq!(places(&home), ["file", "file"], "{sign}");
        assert_eq!(key_files(home.home.path()), 0, "{sign}");
        let options = ["--pinentry-mode", "loopback", "--passphrase", "abc"];
        home.assert_signs_and_decrypts(&options, &name);
        moved("agent");
        assert_eq!(places(&home), ["agent", "agent"], "{sign}");
        home.assert_signs_and_decrypts(&[], &name);
        Run::gpg_with_agent(&home.home).args(["--local-user", &name, "--sign"]).stdin("text").succeed();
    }
}

#[test]
fn a_key_without_passphrase_moves_both_ways() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    for name in ["ed25519@example.org", "rsa2048@example.org"] {
        Run::keyhoard(&home.home).args(["key", "move", "--to", "file", name]).succeed();
        home.assert_signs_and_decrypts(&["--no-autostart"], name);
        Run::keyhoard(&home.home).args(["key", "move", "--to", "agent", name]).succeed();
        home.assert_signs_and_decrypts(&[], name);
    }
    assert_eq!(places(&home), ["agent"; 4]);
    assert_eq!(home.questions(), "");
}

#[test]
fn a_key_that_ssh_uses_is_copied_and_stays_with_the_agent() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let keygrip = home.keygrip();
    home.home.write("sshcontrol", format!("{keygrip} 0\n"));
    let run = Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "ed25519@example.org"]);
    let done = run.output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("ssh uses it"), "{}", done.errors());
    assert_eq!(places(&home), ["file", "file"], "the file's copy is used");
    assert_eq!(key_files(home.home.path()), 1, "the subkey was moved, the primary key copied");
}

#[test]
fn a_key_that_gpgsm_uses_is_copied_and_stays_with_the_agent() {
    let home = AgentHome::with_keys("", &[("rsa2048", "rsa2048")]);
    let keygrip = home.keygrip();
    let request = format!(
        "Key-Type: RSA\nKey-Grip: {keygrip}\nKey-Usage: sign\nName-DN: CN=Ann\nSerial: random\n%commit\n"
    );
    let gpgsm = || {
        let run = Run::new(&harness::Gnupg::V2_2.program("gpgsm"), home.home.path());
        run.arg("--homedir").arg(home.home.path()).args(["--batch", "--disable-dirmngr"])
    };
    let certificate = gpgsm().args(["--generate-key"]).stdin(request).succeed().stdout;
    gpgsm().arg("--import").stdin(certificate).succeed();
    let done =
        Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "rsa2048@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("a certificate of gpgsm uses it"), "{}", done.errors());
    assert_eq!(key_files(home.home.path()), 1, "the subkey was moved, the primary key copied");
}

#[test]
fn a_key_that_another_certificate_has_is_copied_and_stays_with_the_agent() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let keygrip = home.keygrip();
    let parameters = format!(
        "%no-protection\nKey-Type: EDDSA\nKey-Grip: {keygrip}\nName-Email: other@example.org\n%commit\n"
    );
    let run = Run::gpg_with_agent(&home.home).at("20240101T000001!");
    run.arg("--generate-key").stdin(parameters).succeed();
    let certificate = Run::gpg(&home.home).args(["--export", "other@example.org"]).succeed().stdout;
    Run::gpg_keyhoard(&home.home).arg("--import").stdin(certificate).succeed();
    let done =
        Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "ed25519@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let other = home.fingerprints("other@example.org")[0].clone();
    assert!(done.errors().contains(&format!("the key {other} has the same numbers")), "{}", done.errors());
    assert_eq!(key_files(home.home.path()), 1, "the subkey was moved, the primary key copied");
}

#[test]
fn what_the_agent_notes_of_a_key_is_told_before_it_is_lost() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    for entry in fs::read_dir(home.home.path().join("private-keys-v1.d")).expect("keys").flatten() {
        let file = fs::read_to_string(entry.path()).expect("the extended format");
        fs::write(entry.path(), format!("Label: my laptop\n{file}")).expect("it is the test's own");
    }
    let moved = Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "ed25519@example.org"]);
    let moved = moved.succeed();
    assert_eq!(moved.errors().matches("not kept in files: Label").count(), 2, "{}", moved.errors());
}

#[test]
fn a_key_on_a_card_cannot_be_moved() {
    let home = AgentHome::on_card();
    let done =
        Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "rsa2048@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert_eq!(done.errors().matches("is on a card, and was not moved").count(), 2, "{}", done.errors());
    assert_eq!(key_files(home.home.path()), 2);
}

#[test]
fn without_a_home_directory_of_gnupg_the_error_says_what_makes_one() {
    let home = Home::new();
    Run::keyhoard(&home).args(["generate", "--quiet", "--no-passphrase", "Ann <ann@example.org>"]).succeed();
    let done = Run::keyhoard(&home).args(["key", "move", "--to", "agent", "ann@example.org"]).output();
    let errors = done.errors();
    assert_eq!(done.code, Some(2), "{errors}");
    let end = "in the directory of the database; `gpg -k` makes the home directory\n";
    assert!(errors.ends_with(end), "{errors}");
}

/// Stands between programs and the agent of a home, and counts the commands that may change something.
struct Relay {
    /// How many of them are still passed on.
    left: Arc<AtomicUsize>,
    /// Is told when the next one came.
    stopped: mpsc::Receiver<()>,
}

impl Relay {
    fn before_agent_of(home: &AgentHome) -> Self {
        home.listed(Run::gpg_with_agent(&home.home));
        let (socket, agent) = (home.home.path().join("S.gpg-agent"), home.home.path().join("S.real"));
        fs::rename(&socket, &agent).expect("an agent runs");
        let listener = UnixListener::bind(&socket).expect("the home is the test's own");
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let (stop, stopped) = mpsc::channel();
        let relay = Self { left: left.clone(), stopped };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = UnixStream::connect(&agent).expect("the agent runs");
                let (left, stop) = (left.clone(), stop.clone());
                thread::spawn(move || pass_on(&client, &server, &left, &stop));
            }
        });
        relay
    }

    /// Runs a program and kills it before its command of this number is passed on; says whether it came so far.
    fn kills(&self, run: Run, commands: usize) -> bool {
        self.left.store(commands, Ordering::SeqCst);
        let mut child = run.spawn();
        let is_killed = loop {
            if self.stopped.recv_timeout(Duration::from_millis(5)).is_ok() {
                break true;
            }
            if child.try_wait().expect("a child").is_some() {
                break false;
            }
        };
        let _ = child.kill();
        child.wait().expect("a child");
        self.left.store(usize::MAX, Ordering::SeqCst);
        is_killed
    }
}

fn pass_on(client: &UnixStream, server: &UnixStream, left: &AtomicUsize, stop: &mpsc::Sender<()>) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::copy(&mut { server }, &mut { client });
            let _ = client.shutdown(Shutdown::Both);
        });
        for line in BufReader::new(client).split(b'\n').map_while(Result::ok) {
            let word = String::from_utf8_lossy(&line);
            let word = word.split(' ').next().unwrap_or_default();
            if !matches!(word, "OPTION" | "RESET" | "D" | "SETKEYDESC" | "SIGKEY" | "SETKEY" | "SETHASH") {
                let counted =
                    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
                if counted.is_err() {
                    let _ = stop.send(());
                    break;
                }
            }
            if { server }.write_all(&[line, b"\n".to_vec()].concat()).is_err() {
                break;
            }
        }
        // A killed program hears nothing more; neither does the agent.
        let _ = server.shutdown(Shutdown::Both);
    });
}

#[test]
fn a_move_that_is_killed_at_any_step_leaves_a_key_that_works_and_can_be_completed() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let name = "ed25519@example.org";
    let relay = Relay::before_agent_of(&home);
    let move_to = |to: &str| Run::keyhoard(&home.home).args(["key", "move", "--to", to, name]);
    for (to, other) in [("file", "agent"), ("agent", "file")] {
        let mut commands = 0;
        while relay.kills(move_to(to), commands) {
            home.assert_signs_and_decrypts(&[], name);
            move_to(to).succeed();
            assert_eq!(places(&home), [to, to], "killed after {commands} commands");
            move_to(other).succeed();
            assert_eq!(places(&home), [other, other], "killed after {commands} commands");
            commands += 1;
        }
        assert!(commands >= 6, "only {commands} commands on the way to {to}");
        assert_eq!(places(&home), [to, to]);
    }
}

#[test]
fn a_key_is_made_in_the_agent_where_that_is_asked_for() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let passphrase = home.home.write("passphrase", "abc\n");
    let passphrase = passphrase.to_str().expect("a path in UTF-8");
    let generate = ["generate", "--to", "agent"];
    for (options, name) in [
        (&["--no-passphrase"][..], "open@example.org"),
        (&["--passphrase-file", passphrase], "locked@example.org"),
    ] {
        Run::keyhoard(&home.home).args(generate).args(options).arg(name).succeed();
        home.answer("abc");
        Run::keyhoard(&home.home).args(["sign", "--by", name]).stdin("text").succeed();
    }
    assert_eq!(places(&home), ["agent"; 6]);
    Run::keyhoard(&home.home).args(["generate", "--no-passphrase", "file@example.org"]).succeed();
    assert_eq!(places(&home).iter().filter(|place| *place == "file").count(), 2, "files are the default");
    let without = harness::Home::new();
    let refused = Run::keyhoard(&without).args(generate).args(["--no-passphrase", "Ann"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("there is no gpg-agent"), "{}", refused.errors());
}

#[test]
fn without_a_terminal_for_the_agents_question_the_error_says_what_to_set() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
    let pinentry = fs::read_to_string(home.home.path().join("pinentry")).expect("a script");
    let failing = pinentry.replace(
        "ERR 83886179 Operation cancelled <Pinentry>",
        "ERR 83918950 Inappropriate ioctl for device <Pinentry>",
    );
    home.home.write("pinentry", failing);
    let done = Run::keyhoard(&home.home).args(["key", "export", "ed25519@example.org"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("GPG_TTY"), "{}", done.errors());
}
