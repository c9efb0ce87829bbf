//! Messages exchanged with gpg, gpg 1.4, sqop (Sequoia) and rnp: every cipher, compression and kind of key, and every form of
//! signature, both ways.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{CIPHERS, COMPRESSIONS, Home, Output, Run, scale};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

const PASSWORD: &str = "open sesame";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Gpg,
    Gpg1,
    Sqop,
    Rnp,
}

const PROGRAMS: [Program; 4] = [Program::Gpg, Program::Gpg1, Program::Sqop, Program::Rnp];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageKey {
    Password,
    Rsa,
    Curve25519,
}

const MESSAGE_KEYS: [MessageKey; 3] = [MessageKey::Password, MessageKey::Rsa, MessageKey::Curve25519];

/// Text that compresses, longer than one part of a packet.
fn text() -> Vec<u8> {
    (0..3_000).flat_map(|line: u32| format!("line {line} of {}\n", line % 977).into_bytes()).collect()
}

/// Keys that all programs have which can read them, and where they have them.
struct Exchange {
    ours: Home,
    gpg: Home,
    gpg1: Home,
    rnp: Home,
}

impl Exchange {
    fn new() -> Self {
        let exchange = Self { ours: Home::new(), gpg: Home::new(), gpg1: Home::new(), rnp: Home::new() };
        for (message_key, algorithm) in [(MessageKey::Rsa, "rsa2048"), (MessageKey::Curve25519, "ed25519")] {
            exchange.make(message_key, algorithm);
        }
        fs::write(exchange.ours.path().join("password"), PASSWORD).expect("a new directory is writable");
        exchange
    }

    /// Makes a key with gpg, and gives it to all.
    fn make(&self, message_key: MessageKey, algorithm: &str) {
        let name = format!("{message_key:?} <{}>", address(message_key));
        let run = |arguments: &[&str]| {
            let run =
                Run::gpg_with_agent(&self.gpg).args(["--passphrase", "", "--pinentry-mode", "loopback"]);
            run.args(arguments).succeed().stdout
        };
        run(&["--quick-generate-key", &name, algorithm, "default", "never"]);
        let listing = String::from_utf8(run(&["--with-colons", "--list-keys", &name])).expect("text");
        let fingerprint = listing.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("a key");
        let subkey = if algorithm == "ed25519" { "cv25519" } else { algorithm };
        run(&["--quick-add-key", fingerprint.trim_end_matches(':'), subkey, "encr", "never"]);
        let key = self.ours.write(&file(message_key, "key"), run(&["--export-secret-keys", &name]));
        let certificate = self.ours.write(&file(message_key, "cert"), run(&["--export", &name]));
        let done = run_in(&self.rnp, "rnpkeys", b"").arg("--import-keys").arg(&key).output();
        assert_eq!(done.code, Some(0), "{}", done.errors());
        if message_key == MessageKey::Rsa {
            for file in [&key, &certificate] {
                let done = self.gpg1(b"").arg("--import").arg(file).output();
                assert_eq!(done.code, Some(0), "{}", done.errors());
            }
        }
    }

    fn gpg1(&self, input: &[u8]) -> Run {
        let run = Run::new(Path::new("gpg1"), self.gpg1.path()).stdin(input);
        let run = run.args(["--batch", "--no-tty", "--yes", "--no-permission-warning", "--homedir"]);
        run.arg(self.gpg1.path()).args(["--trust-model", "always", "--passphrase", PASSWORD])
    }

    fn gpg(&self, input: &[u8]) -> Run {
        let run = Run::gpg_with_agent(&self.gpg).args(["--pinentry-mode", "loopback"]);
        run.args(["--passphrase", PASSWORD, "--trust-model", "always", "--quiet"]).stdin(input)
    }

    fn rnp(&self, input: &[u8]) -> Run {
        run_in(&self.rnp, "rnp", input).args(["--password", PASSWORD])
    }

    fn path(&self, message_key: MessageKey, kind: &str) -> PathBuf {
        self.ours.path().join(file(message_key, kind))
    }

    fn encrypt_here(&self, case: Case) -> Vec<u8> {
        let run = Run::keyhoard(&self.ours).args(["encrypt", "--allow-old-cipher", "--aead", "none"]);
        let run = run.args(["--cipher", case.cipher, "--compress", case.compression]).stdin(text());
        let run = match case.message_key {
            MessageKey::Password => run.arg("--password-file").arg(self.ours.path().join("password")),
            message_key => run.arg("--to-file").arg(self.path(message_key, "cert")),
        };
        run.succeed().stdout
    }

    fn decrypt_here(&self, message_key: MessageKey, message: &[u8]) -> Output {
        let run = Run::keyhoard(&self.ours).args(["sop", "decrypt"]).stdin(message);
        match message_key {
            MessageKey::Password => {
                let file = self.ours.path().join("password");
                run.arg(format!("--with-password={}", file.display())).output()
            }
            message_key => run.arg(self.path(message_key, "key")).output(),
        }
    }

    /// Lets another program encrypt; `None` if it cannot.
    fn encrypt_there(&self, case: Case) -> Option<Output> {
        let Case { program, cipher, compression, message_key } = case;
        let gpg = |run: Run| {
            let run = run.args(["--cipher-algo", cipher, "--compress-algo", compression]);
            let run = run.args(["--s2k-count", "65536"]);
            match message_key {
                MessageKey::Password => run.args(["-o", "-", "--symmetric"]).output(),
                message_key => {
                    run.args(["-o", "-", "--recipient", address(message_key), "--encrypt"]).output()
                }
            }
        };
        Some(match program {
            Program::Gpg => gpg(self.gpg(&text())),
            // It protects only what it encrypts with long blocks, if nobody asks for more.
            Program::Gpg1 => gpg(self.gpg1(&text()).arg("--force-mdc")),
            Program::Sqop if (cipher, compression) != ("AES256", "none") => return None,
            Program::Sqop => {
                let run = run_in(&self.ours, "sqop", &text()).arg("encrypt");
                match message_key {
                    MessageKey::Password => {
                        run.arg("--with-password").arg(self.ours.path().join("password")).output()
                    }
                    message_key => run.arg(self.path(message_key, "cert")).output(),
                }
            }
            Program::Rnp => {
                let cipher = match cipher {
                    "3DES" => "TRIPLEDES",
                    "AES" => "AES128",
                    cipher => cipher,
                };
                let run = self.rnp(&text()).args(["--cipher", cipher]);
                let run = match compression {
                    "none" => run.args(["-z", "0"]),
                    "bzip2" => run.arg("--bzip"),
                    name => run.arg(format!("--{name}")),
                };
                match message_key {
                    MessageKey::Password => run.arg("--symmetric").output(),
                    message_key => run.args(["--recipient", address(message_key), "--encrypt"]).output(),
                }
            }
        })
    }

    fn decrypt_there(&self, case: Case, message: &[u8]) -> Output {
        match case.program {
            Program::Gpg => self.gpg(message).arg("--decrypt").output(),
            Program::Gpg1 => self.gpg1(message).arg("--decrypt").output(),
            Program::Sqop => {
                let run = run_in(&self.ours, "sqop", message).arg("decrypt");
                match case.message_key {
                    MessageKey::Password => {
                        run.arg("--with-password").arg(self.ours.path().join("password")).output()
                    }
                    message_key => run.arg(self.path(message_key, "key")).output(),
                }
            }
            Program::Rnp => self.rnp(message).arg("--decrypt").output(),
        }
    }
}

fn run_in(home: &Home, program: &str, input: &[u8]) -> Run {
    let run = Run::new(Path::new(program), home.path()).stdin(input);
    if program.starts_with("rnp") { run.arg("--homedir").arg(home.path()) } else { run }
}

fn address(message_key: MessageKey) -> &'static str {
    match message_key {
        MessageKey::Password => "nobody@example.org",
        MessageKey::Rsa => "rsa@example.org",
        MessageKey::Curve25519 => "curve@example.org",
    }
}

fn file(message_key: MessageKey, kind: &str) -> String {
    format!("{message_key:?}.{kind}")
}

#[derive(Clone, Copy, Debug)]
struct Case {
    program: Program,
    cipher: &'static str,
    compression: &'static str,
    message_key: MessageKey,
}

impl Case {
    /// All that the programs know.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for program in PROGRAMS {
            for cipher in CIPHERS {
                for compression in COMPRESSIONS {
                    let cases =
                        MESSAGE_KEYS.map(|message_key| Self { program, cipher, compression, message_key });
                    all.extend(cases.into_iter().filter(Self::is_known));
                }
            }
        }
        all
    }

    fn is_known(&self) -> bool {
        match self.program {
            Program::Gpg | Program::Rnp => true,
            Program::Gpg1 => self.message_key != MessageKey::Curve25519,
            // Nettle has no IDEA, and Sequoia's policy no 3DES.
            Program::Sqop => !matches!(self.cipher, "IDEA" | "3DES"),
        }
    }
}

#[test]
fn oracle_keyhoard_and_other_programs_read_each_others_messages_with_every_cipher_compression_and_key() {
    let exchange = Exchange::new();
    let mut cases = Case::all();
    let count = cases.len();
    cases.shuffle(&mut StdRng::seed_from_u64(scale::seed()));
    let mut theirs = 0;
    for case in cases.into_iter().take(scale::choose(count, 32)) {
        let message = exchange.encrypt_here(case);
        let read = exchange.decrypt_there(case, &message);
        assert!(read.stdout == text(), "{case:?}: {}", read.errors());
        let Some(written) = exchange.encrypt_there(case) else { continue };
        theirs += 1;
        assert_eq!(written.code, Some(0), "{case:?}: {}", written.errors());
        let read = exchange.decrypt_here(case.message_key, &written.stdout);
        assert!(read.stdout == text(), "from {case:?}: {}", read.errors());
    }
    assert!(theirs > 0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Binary,
    Text,
    Clear,
    DetachedBinary,
    DetachedText,
}

const FORMS: [Form; 5] = [Form::Binary, Form::Text, Form::Clear, Form::DetachedBinary, Form::DetachedText];
const LETTER: &[u8] = b"- a dash\nFrom me\n\nthe end\n";

impl Exchange {
    /// Lets another program sign; `None` if it cannot.
    fn sign_there(&self, program: Program, message_key: MessageKey, form: Form) -> Option<Output> {
        let gpg = |run: Run| {
            let run = run.args(["-u", address(message_key), "-o", "-"]);
            match form {
                Form::Binary => run.arg("--sign"),
                Form::Text => run.args(["--textmode", "--sign"]),
                Form::Clear => run.arg("--clearsign"),
                Form::DetachedBinary => run.arg("--detach-sign"),
                Form::DetachedText => run.args(["--textmode", "--detach-sign"]),
            }
            .output()
        };
        match program {
            Program::Gpg => Some(gpg(self.gpg(LETTER))),
            Program::Gpg1 if message_key == MessageKey::Curve25519 => None,
            Program::Gpg1 => Some(gpg(self.gpg1(LETTER).args(["--digest-algo", "SHA256"]))),
            Program::Sqop => {
                let run = run_in(&self.ours, "sqop", LETTER);
                let run = match form {
                    Form::Binary => run.args(["inline-sign", "--as", "binary"]),
                    Form::Text => run.args(["inline-sign", "--as", "text"]),
                    Form::Clear => run.args(["inline-sign", "--as", "clearsigned"]),
                    Form::DetachedBinary => run.args(["sign", "--as", "binary"]),
                    Form::DetachedText => run.args(["sign", "--as", "text"]),
                };
                Some(run.arg(self.path(message_key, "key")).output())
            }
            Program::Rnp => {
                let run = self.rnp(LETTER).args(["--userid", address(message_key)]);
                Some(match form {
                    Form::Binary => run.arg("--sign").output(),
                    Form::Clear => run.arg("--clearsign").output(),
                    Form::DetachedBinary => run.args(["--sign", "--detach"]).output(),
                    // It makes no text signatures but those of clear text.
                    Form::Text | Form::DetachedText => return None,
                })
            }
        }
    }

    /// Lets another program judge; says whether the signature is good there.
    fn is_good_there(&self, program: Program, message_key: MessageKey, form: Form, signed: &[u8]) -> bool {
        let files = match form {
            Form::DetachedBinary | Form::DetachedText => {
                vec![self.ours.write("letter.sig", signed), self.ours.write("letter", LETTER)]
            }
            _ => vec![self.ours.write("letter.asc", signed)],
        };
        let done = match program {
            Program::Gpg => self.gpg(b"").arg("--verify").args(&files).output(),
            Program::Gpg1 => self.gpg1(b"").arg("--verify").args(&files).output(),
            Program::Rnp => self.rnp(b"").arg("--verify").arg(&files[0]).output(),
            Program::Sqop => match &files[..] {
                [signature, _] => run_in(&self.ours, "sqop", LETTER)
                    .arg("verify")
                    .arg(signature)
                    .arg(self.path(message_key, "cert"))
                    .output(),
                _ => run_in(&self.ours, "sqop", signed)
                    .arg("inline-verify")
                    .arg(self.path(message_key, "cert"))
                    .output(),
            },
        };
        done.code == Some(0)
    }

    fn sign_here(&self, message_key: MessageKey, form: Form) -> Vec<u8> {
        // Gpg's clock stands at that time; the others' go on.
        let run = Run::keyhoard(&self.ours).args(["sop", "--faked-system-time", "20260101T000000"]);
        let run = run.stdin(LETTER);
        let run = match form {
            Form::Binary => run.args(["inline-sign", "--as=binary"]),
            Form::Text => run.args(["inline-sign", "--as=text"]),
            Form::Clear => run.args(["inline-sign", "--as=clearsigned"]),
            Form::DetachedBinary => run.args(["sign", "--as=binary"]),
            Form::DetachedText => run.args(["sign", "--as=text"]),
        };
        run.arg(self.path(message_key, "key")).succeed().stdout
    }

    fn verify_here(&self, message_key: MessageKey, form: Form, signed: &[u8], data: &[u8]) -> Output {
        let run = Run::keyhoard(&self.ours).arg("sop");
        let run = match form {
            Form::DetachedBinary | Form::DetachedText => {
                run.arg("verify").arg(self.ours.write("letter.sig", signed)).stdin(data)
            }
            _ => run.arg("inline-verify").stdin(signed),
        };
        run.arg(self.path(message_key, "cert")).output()
    }
}

#[test]
fn keyhoard_and_other_programs_verify_each_others_signatures_in_every_form() {
    let exchange = Exchange::new();
    for program in PROGRAMS {
        for message_key in [MessageKey::Rsa, MessageKey::Curve25519] {
            for form in FORMS {
                let what = format!("{program:?}, {message_key:?}, {form:?}");
                if program != Program::Gpg1 || message_key == MessageKey::Rsa {
                    let ours = exchange.sign_here(message_key, form);
                    assert!(exchange.is_good_there(program, message_key, form, &ours), "to {what}");
                }
                let Some(theirs) = exchange.sign_there(program, message_key, form) else { continue };
                assert_eq!(theirs.code, Some(0), "{what}: {}", theirs.errors());
                let done = exchange.verify_here(message_key, form, &theirs.stdout, LETTER);
                assert_eq!(done.code, Some(0), "from {what}: {}", done.errors());
                let is_detached = matches!(form, Form::DetachedBinary | Form::DetachedText);
                assert!(is_detached || done.stdout.trim_ascii_end() == LETTER.trim_ascii_end(), "{what}");
                if is_detached {
                    let done = exchange.verify_here(message_key, form, &theirs.stdout, b"another letter\n");
                    assert_eq!(done.code, Some(3), "from {what}: {}", done.errors());
                }
            }
        }
    }
}
