//! `keytocard`, `bkuptocard` and `addcardkey` of `--edit-key` beside the real gpg, each with a new card.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::OnceLock;

use harness::{AgentProxy, CardHome, Gnupg, Home, Output, Run, assert_same, mask};

/// The passphrase of the keys, which is also the PIN of a new card, so that pinentry gives it in both cases.
const PASSPHRASE: &str = "123456";

/// The card's number.
const CARD: &str = "D276000124010304FFFE0000000F0000";

/// A secret key that certifies and signs, with subkeys that decrypt (Curve25519), authenticate (Ed25519) and decrypt
/// (RSA).
pub(crate) fn secret_key() -> &'static [u8] {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    KEY.get_or_init(|| {
        let home = Home::new();
        let gpg = || {
            let words = ["--pinentry-mode", "loopback", "--passphrase", PASSPHRASE];
            Run::gpg_of_with_agent(Gnupg::V2_4, &home).args(words)
        };
        gpg().args(["--quick-generate-key", "jane@example.org", "ed25519", "sign", "0"]).succeed();
        let listed = gpg().args(["--with-colons", "--list-keys"]).succeed().text();
        let line = listed.lines().find(|line| line.starts_with("fpr:")).expect("a key");
        let key = line.split(':').nth(9).expect("a fingerprint");
        for (algorithm, usage) in [("cv25519", "encr"), ("ed25519", "auth"), ("rsa2048", "encr")] {
            gpg().args(["--quick-add-key", key, algorithm, usage, "0"]).succeed();
        }
        let exported = gpg().args(["--export-secret-keys", key]).succeed().stdout;
        home.kill_agent();
        exported
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Gpg,
    Ours,
}

/// A new card, and the key in the agent.
fn home_of(program: Program, gnupg: Gnupg) -> CardHome {
    let home = CardHome::new();
    run(program, gnupg, &home).arg("--import").stdin(secret_key()).succeed();
    home.questions();
    home
}

fn run(program: Program, gnupg: Gnupg, home: &CardHome) -> Run {
    match program {
        Program::Gpg => home.gpg(gnupg),
        Program::Ours => home.gpg_keyhoard(gnupg),
    }
}

/// The status lines that count, and the messages about cards and errors.
fn told(done: &Output) -> String {
    let errors = done.errors();
    let counts = |line: &&str| match line.strip_prefix("[GNUPG:] ") {
        Some(status) => !status.starts_with("KEY_CONSIDERED") && !status.starts_with("PINENTRY_LAUNCHED"),
        None => {
            line.starts_with("gpg: ")
                && ["card", "KEYTOCARD", "failed"].iter().any(|word| line.contains(word))
        }
    };
    errors.lines().filter(counts).map(|line| format!("{line}\n")).collect()
}

/// What is left: the secret keys as the program lists them, the card, and how many questions pinentry was asked.
fn left(program: Program, gnupg: Gnupg, home: &CardHome) -> String {
    let questions = home.questions().lines().count();
    let keys = run(program, gnupg, home).args(["--with-colons", "--list-secret-keys"]).output();
    let keys = mask(&keys.stdout, &home.home);
    let card = home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text();
    let lines = String::from_utf8_lossy(&keys).into_owned() + &card;
    let counts = |line: &&str| !line.starts_with("tru:");
    format!("{questions} questions\n{}", lines.split_inclusive('\n').filter(counts).collect::<String>())
}

/// Runs both with the answers, and asserts that they say the same and leave the same keys and the same card.
fn same(gnupg: Gnupg, answers: &str) -> CardHome {
    let done = [Program::Gpg, Program::Ours].map(|program| {
        let home = home_of(program, gnupg);
        let done = edit(program, gnupg, &home, answers);
        let left = left(program, gnupg, &home);
        (home, done, left)
    });
    let [(_, gpg, gpg_left), (home, ours, ours_left)] = done;
    let what = format!("{gnupg:?} {answers:?}");
    assert_same(&what, told(&gpg).as_bytes(), told(&ours).as_bytes());
    assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
    assert_same(&what, gpg_left.as_bytes(), ours_left.as_bytes());
    home
}

fn edit(program: Program, gnupg: Gnupg, home: &CardHome, answers: &str) -> Output {
    let words = ["--status-fd", "2", "--command-fd", "0", "--edit-key", "jane"];
    run(program, gnupg, home).args(words).stdin(answers).output()
}

#[test]
fn a_key_that_is_put_onto_a_card_works_there_and_is_deleted_here_when_it_is_saved() {
    for gnupg in Gnupg::ALL {
        let home = same(gnupg, "keytocard\ny\n1\nkey 1\nkeytocard\n2\nkey 1\nkey 2\nkeytocard\n3\nsave\n");
        let listed = home.gpg_keyhoard(gnupg).args(["--with-colons", "--list-secret-keys"]).succeed().text();
        assert_eq!(listed.matches(CARD).count(), 3, "{listed}");
        home.restart_agent();
        let signed =
            home.gpg_keyhoard(gnupg).args(["--local-user", "jane", "--sign"]).stdin("text").succeed();
        Run::gpg_keyhoard(&home.home).arg("--verify").stdin(signed.stdout).succeed();
    }
}

#[test]
fn without_saving_the_key_stays_here_and_on_the_card() {
    for gnupg in Gnupg::ALL {
        same(gnupg, "key 1\nkeytocard\n2\nquit\nn\n");
    }
}

#[test]
fn a_place_is_offered_for_what_the_key_is_for_and_what_is_there_is_replaced_only_on_request() {
    for gnupg in Gnupg::ALL {
        // No primary key, two keys at once, a wrong number, a place for other uses, none.
        same(gnupg, "keytocard\nn\nkey 1\nkey 2\nkeytocard\nkey 2\nkeytocard\n9\n1\n\nquit\n");
        // A place that is taken, by a key of another algorithm, which the older one cannot put there. The newer one would
        // delete both keys here when that is saved.
        let end = if gnupg == Gnupg::V2_2 { "save\n" } else { "quit\nn\n" };
        let answers = "key 1\nkeytocard\n2\nkeytocard\n2\nn\nkey 1\nkey 3\nkeytocard\n2\ny\n";
        same(gnupg, &format!("{answers}{end}"));
    }
}

#[test]
fn a_key_in_whose_place_on_the_card_another_one_was_put_stays_here() {
    let home = home_of(Program::Ours, Gnupg::V2_4);
    let answers = "key 1\nkeytocard\n2\nkey 1\nkey 3\nkeytocard\n2\ny\nsave\n";
    let saved = edit(Program::Ours, Gnupg::V2_4, &home, answers);
    assert_eq!(saved.code, Some(0), "{}", saved.errors());
    assert!(saved.errors().contains("is no longer on the card: its copy here stays"), "{}", saved.errors());
    let listed = run(Program::Ours, Gnupg::V2_4, &home).args(["--with-colons", "-K"]).succeed().text();
    let subkeys: Vec<&str> = listed
        .lines()
        .filter(|line| line.starts_with("ssb:"))
        .filter_map(|line| line.split(':').nth(14))
        .collect();
    assert_eq!(subkeys, ["+", "+", CARD], "gpg deletes the first");
}

#[test]
fn a_key_of_a_file_is_deleted_when_it_is_saved_and_the_card_has_it() {
    let home = CardHome::new();
    Run::gpg_keyhoard(&home.home).arg("--import").stdin(secret_key()).succeed();
    let listed = || Run::keyhoard(&home.home).args(["key", "list"]).succeed().text();
    let answers = "key 1\nkeytocard\n2\nquit\nn\n";
    edit(Program::Ours, Gnupg::V2_4, &home, answers);
    assert_eq!(listed().matches("card D276").count(), 0, "{}", listed());
    let saved = edit(Program::Ours, Gnupg::V2_4, &home, "key 1\nkeytocard\n2\ny\nsave\n");
    assert_eq!(saved.code, Some(0), "{}", saved.errors());
    assert_eq!(listed().matches("card D276").count(), 1, "{}", listed());
}

#[test]
fn without_a_card_no_key_is_moved() {
    for gnupg in Gnupg::ALL {
        let done = [Program::Gpg, Program::Ours].map(|program| {
            let mut home = home_of(program, gnupg);
            home.remove_card();
            let done = edit(program, gnupg, &home, "key 1\nkeytocard\nsave\n");
            (told(&done), done.code)
        });
        let [gpg, ours] = done;
        assert_same(&format!("{gnupg:?}"), gpg.0.as_bytes(), ours.0.as_bytes());
        assert_eq!(gpg.1, ours.1);
        assert!(!gpg.0.is_empty());
    }
}

#[test]
fn a_card_makes_a_subkey() {
    for gnupg in Gnupg::ALL {
        for answers in ["addcardkey\n3\n0\nsave\n", "addcardkey\n9\n2\n1y\naddcardkey\n2\nn\nsave\n"] {
            let home = same(gnupg, answers);
            let listed = home.gpg_keyhoard(gnupg).args(["--with-colons", "-K"]).succeed().text();
            assert_eq!(listed.matches("ssb:").count(), 4, "{listed}");
            assert_eq!(on_card(&listed), 1, "{listed}");
            let card = home.gpg(gnupg).args(["--with-colons", "--card-status"]).succeed().text();
            assert!(
                card.contains("forcepin:1:"),
                "it asks for the PIN with each signature as before: {card}"
            );
        }
    }
}

#[test]
fn a_key_of_a_backup_goes_onto_a_card() {
    // Whether the agent has the key as well.
    for (gnupg, is_in_agent) in Gnupg::ALL.into_iter().flat_map(|gnupg| [(gnupg, true), (gnupg, false)]) {
        let done = [Program::Gpg, Program::Ours].map(|program| {
            let home = CardHome::new();
            run(program, gnupg, &home).arg("--import").stdin(secret_key()).succeed();
            let packets = harness::packets::certificates(secret_key());
            let subkey = packets.iter().flatten().find(|packet| packet.tag == 7).expect("a subkey");
            let packet = harness::packets::bytes(std::slice::from_ref(subkey));
            home.home.write("sk", packet);
            if !is_in_agent {
                let listed = run(program, gnupg, &home).args(["--with-colons", "-K"]).succeed().text();
                let mut subkey = listed.lines().skip_while(|line| !line.starts_with("ssb:"));
                let keygrip = subkey.find_map(|line| line.strip_prefix("grp:")).expect("a keygrip");
                let file = format!("private-keys-v1.d/{}.key", keygrip.trim_matches(':'));
                std::fs::remove_file(home.home.path().join(file)).expect("the agent has the key");
            }
            home.questions();
            let done =
                edit(program, gnupg, &home, "bkuptocard\nbkuptocard missing\nbkuptocard sk\n2\nsave\n");
            (told(&done), done.code, left(program, gnupg, &home))
        });
        let [gpg, ours] = done;
        let what = format!("{gnupg:?} {is_in_agent}");
        assert_same(&what, gpg.0.as_bytes(), ours.0.as_bytes());
        assert_eq!(gpg.1, ours.1);
        assert_same(&what, gpg.2.as_bytes(), ours.2.as_bytes());
        // The note of an agent of 2.2 takes the place of the key that it has.
        let names_card = !is_in_agent || gnupg == Gnupg::V2_2;
        assert_eq!(on_card(&ours.2), usize::from(names_card), "{}", ours.2);
    }
}

#[test]
fn the_agent_still_knows_which_card_has_a_key_if_its_backup_does_not_get_onto_another() {
    for gnupg in Gnupg::ALL {
        let home = home_of(Program::Ours, gnupg);
        edit(Program::Ours, gnupg, &home, "key 1\nkeytocard\n2\nsave\n");
        let listed = || {
            run(Program::Ours, gnupg, &home).args(["--with-colons", "--list-secret-keys"]).succeed().text()
        };
        let before = listed();
        assert_eq!(on_card(&before), 1, "{before}");
        let packets = harness::packets::certificates(secret_key());
        let subkey = packets.iter().flatten().find(|packet| packet.tag == 7).expect("a subkey");
        home.home.write("sk", harness::packets::bytes(std::slice::from_ref(subkey)));
        let agent = AgentProxy::of(&home.home, |line| {
            line.starts_with("KEYTOCARD ").then_some("ERR 100663404 Card error <SCD>")
        });
        let refused = edit(Program::Ours, gnupg, &home, "bkuptocard sk\n2\ny\nquit\n");
        assert!(refused.errors().contains("KEYTOCARD failed: Card error"), "{}", refused.errors());
        assert!(agent.told().iter().any(|line| line.starts_with("IMPORT_KEY")));
        assert_eq!(listed(), before, "{gnupg:?}");
    }
}

#[test]
fn if_the_agent_cannot_note_what_the_card_has_the_session_goes_on_and_no_file_is_deleted() {
    const REFUSAL: &str = "ERR 100663404 Card error <SCD>";
    for gnupg in Gnupg::ALL {
        let done = [Program::Gpg, Program::Ours].map(|program| {
            let home = home_of(program, gnupg);
            let agent = AgentProxy::of(&home.home, |line| line.starts_with("LEARN ").then_some(REFUSAL));
            let done = edit(program, gnupg, &home, "key 1\nkeytocard\n2\nsave\nquit\nn\n");
            let refused = agent.told().iter().filter(|line| line.starts_with("LEARN ")).count();
            (told(&done), done.code, refused)
        });
        let [gpg, ours] = done;
        assert_same(&format!("{gnupg:?}"), gpg.0.as_bytes(), ours.0.as_bytes());
        assert_eq!(gpg.1, ours.1);
        assert_eq!((gpg.2, ours.2), (1, 1), "{}", gpg.0);
    }
    let home = CardHome::new();
    Run::gpg_keyhoard(&home.home).arg("--import").stdin(secret_key()).succeed();
    home.gpg(Gnupg::V2_4).arg("--card-status").succeed();
    let _agent = AgentProxy::of(&home.home, |line| line.starts_with("LEARN ").then_some(REFUSAL));
    let done = edit(Program::Ours, Gnupg::V2_4, &home, "key 1\nkeytocard\n2\nsave\nquit\nn\n");
    assert!(done.errors().contains("update failed: Card error"), "{}", done.errors());
    assert_eq!(subkeys_here(&home), 3);
}

/// A process that is told its commands one by one.
struct Dialogue {
    child: Child,
    input: File,
}

impl Dialogue {
    fn new(home: &CardHome) -> Self {
        let path = home.home.path().join("commands");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
        assert!(made.success());
        let words = ["--status-fd", "2", "--command-file", &path.to_string_lossy(), "--edit-key", "jane"];
        let child = run(Program::Ours, Gnupg::V2_4, home).args(words).spawn();
        Self { child, input: File::options().write(true).open(path).expect("the process reads it") }
    }

    /// Writes the commands, and waits until a line with this word was written.
    fn tell(&mut self, commands: &str, word: &str) -> String {
        self.input.write_all(commands.as_bytes()).expect("the process reads it");
        let mut told = String::new();
        let errors = self.child.stderr.as_mut().expect("it is a pipe");
        while !told.contains(word) {
            let mut byte = [0];
            assert_eq!(errors.read(&mut byte).expect("it is a pipe"), 1, "it ended: {told}");
            told.push(char::from(byte[0]));
        }
        told
    }

    fn end(self) -> Option<i32> {
        let Self { mut child, input } = self;
        drop(input);
        child.wait().expect("it is a child").code()
    }
}

/// How many subkeys a listing shows on the card.
fn on_card(listed: &str) -> usize {
    let is_on_card = |line: &&str| line.starts_with("ssb:") && line.split(':').nth(14) == Some(CARD);
    listed.lines().filter(is_on_card).count()
}

/// The subkeys of which a secret key is here and not only on a card.
fn subkeys_here(home: &CardHome) -> usize {
    let listed = run(Program::Ours, Gnupg::V2_4, home).args(["--with-colons", "-K"]).succeed().text();
    let is_here = |line: &&str| line.starts_with("ssb:") && line.split(':').nth(14) == Some("+");
    listed.lines().filter(is_here).count()
}

#[test]
fn no_copy_is_deleted_if_the_card_is_gone_when_it_is_saved() {
    let mut home = home_of(Program::Ours, Gnupg::V2_4);
    let mut dialogue = Dialogue::new(&home);
    dialogue.tell("key 1\nkeytocard\n2\nkey 1\nkey 2\nkeytocard\n3\ntrust\n", "edit_ownertrust.value");
    home.remove_card();
    dialogue.tell("m\nsave\n", "deleting copy of secret key failed");
    dialogue.tell("quit\nn\n", "keyedit.save.okay");
    assert_eq!(dialogue.end(), Some(2));
    assert_eq!(subkeys_here(&home), 3);
}

#[test]
fn the_agent_does_not_keep_the_key_of_a_file_when_the_answers_run_out() {
    let home = CardHome::new();
    Run::gpg_keyhoard(&home.home).arg("--import").stdin(secret_key()).succeed();
    let ended = edit(Program::Ours, Gnupg::V2_4, &home, "key 1\nkeytocard\n2\nkeytocard\n");
    assert_eq!(ended.code, Some(2), "{}", ended.errors());
    let files = std::fs::read_dir(home.home.path().join("private-keys-v1.d")).expect("the agent makes it");
    let of_agent: Vec<_> =
        files.flatten().filter(|file| file.path().extension().is_some_and(|end| end == "key")).collect();
    assert!(of_agent.is_empty(), "{of_agent:?}");
    assert_eq!(subkeys_here(&home), 3);
}

#[test]
fn a_key_that_is_put_onto_the_card_twice_is_deleted_once() {
    let home = home_of(Program::Ours, Gnupg::V2_4);
    let answers = "key 1\nkeytocard\n2\nkeytocard\n2\ny\nsave\n";
    let saved = edit(Program::Ours, Gnupg::V2_4, &home, answers);
    assert_eq!(saved.code, Some(0), "{}", saved.errors());
    assert_eq!(subkeys_here(&home), 2);
}

#[test]
fn a_dry_run_changes_no_card_and_no_key() {
    let home = home_of(Program::Ours, Gnupg::V2_4);
    let answers = "addcardkey\nkey 1\nkeytocard\nbkuptocard sk\nsave\n";
    let words = ["--dry-run", "--status-fd", "2", "--command-fd", "0", "--edit-key", "jane"];
    let done = run(Program::Ours, Gnupg::V2_4, &home).args(words).stdin(answers).output();
    let refused = "with --dry-run no key goes onto a card and none is made there";
    assert_eq!(done.errors().matches(refused).count(), 3, "{}", done.errors());
    assert_eq!(subkeys_here(&home), 3);
    let card = home.gpg(Gnupg::V2_4).args(["--with-colons", "--card-status"]).succeed().text();
    assert!(card.contains("fpr::::"), "{card}");
}
