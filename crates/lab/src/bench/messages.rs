//! Messages: random data encrypted with a password and decrypted, from and to files in memory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure;
use tempfile::TempDir;

use super::report::Row;
use crate::contender::Contender;
use crate::series::Series;

/// What is encrypted how; the names of ciphers and compressions are those of both programs.
struct Kind {
    encrypt: &'static str,
    decrypt: &'static str,
    cipher: &'static str,
    compression: &'static str,
    /// For keyhoard only: gpg 2.2 has no authenticated modes, and does its fastest instead.
    aead: &'static str,
}

const fn plain(encrypt: &'static str, decrypt: &'static str, cipher: &'static str) -> Kind {
    Kind { encrypt, decrypt, cipher, compression: "none", aead: "none" }
}

const KINDS: [Kind; 14] = [
    plain("encrypt, AES-256", "decrypt, AES-256", "AES256"),
    plain("encrypt, AES-192", "decrypt, AES-192", "AES192"),
    plain("encrypt, AES-128", "decrypt, AES-128", "AES"),
    plain("encrypt, Camellia-256", "decrypt, Camellia-256", "CAMELLIA256"),
    plain("encrypt, Camellia-192", "decrypt, Camellia-192", "CAMELLIA192"),
    plain("encrypt, Camellia-128", "decrypt, Camellia-128", "CAMELLIA128"),
    plain("encrypt, Twofish", "decrypt, Twofish", "TWOFISH"),
    plain("encrypt, IDEA", "decrypt, IDEA", "IDEA"),
    plain("encrypt, 3DES", "decrypt, 3DES", "3DES"),
    plain("encrypt, CAST5", "decrypt, CAST5", "CAST5"),
    plain("encrypt, Blowfish", "decrypt, Blowfish", "BLOWFISH"),
    Kind {
        encrypt: "encrypt, AES-256 in OCB (gpg: CFB)",
        decrypt: "decrypt, AES-256 in OCB (gpg: CFB)",
        cipher: "AES256",
        compression: "none",
        aead: "ocb",
    },
    Kind {
        encrypt: "encrypt, AES-256 in GCM (gpg: CFB)",
        decrypt: "decrypt, AES-256 in GCM (gpg: CFB)",
        cipher: "AES256",
        compression: "none",
        aead: "gcm",
    },
    Kind {
        encrypt: "encrypt, AES-256, ZLIB",
        decrypt: "decrypt, AES-256, ZLIB",
        cipher: "AES256",
        compression: "zlib",
        aead: "none",
    },
];

/// Measures both programs by turns; `mebibytes` is the size of the data.
pub(super) fn measure(mebibytes: u64, rounds: usize) -> Result<Vec<Row>> {
    let bench = Bench::new(mebibytes)?;
    let mut rows = Vec::new();
    for kind in &KINDS {
        let mut encrypting = [Series::default(), Series::default()];
        let mut decrypting = [Series::default(), Series::default()];
        for round in 1..=rounds {
            eprintln!("{}, {round} of {rounds}", kind.encrypt);
            for (is_gpg, (encrypting, decrypting)) in
                [true, false].into_iter().zip(encrypting.iter_mut().zip(&mut decrypting))
            {
                bench.turn(kind, is_gpg, encrypting, decrypting)?;
            }
        }
        for (work, [gpg, keyhoard]) in [(kind.encrypt, encrypting), (kind.decrypt, decrypting)] {
            rows.push(Row { work, gpg, keyhoard });
        }
    }
    Ok(rows)
}

/// The files, the programs, and gpg's home.
struct Bench {
    directory: TempDir,
    gpg: Contender,
    home: PathBuf,
    keyhoard: PathBuf,
}

impl Bench {
    fn new(mebibytes: u64) -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let directory = TempDir::with_prefix_in("keyhoard-lab-", place).context("making a directory")?;
        let random = File::open("/dev/urandom").context("/dev/urandom")?;
        let mut plain = File::create(directory.path().join("plain")).context("making a file")?;
        io::copy(&mut random.take(mebibytes << 20), &mut plain).context("writing random data")?;
        fs::write(directory.path().join("password"), "a password\n").context("making a file")?;
        let gpg = Contender::gpg()?;
        let home = gpg.home()?;
        let here = std::env::current_exe().context("finding keyhoard")?;
        Ok(Self { directory, gpg, home, keyhoard: here.with_file_name("keyhoard") })
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_string_lossy().into_owned()
    }

    /// Encrypts and decrypts once, and compares what came out with what went in.
    fn turn(
        &self,
        kind: &Kind,
        is_gpg: bool,
        encrypting: &mut Series,
        decrypting: &mut Series,
    ) -> Result<()> {
        for name in ["message", "content"] {
            // There is none before the first turn.
            let _ = fs::remove_file(self.file(name));
        }
        let [plain, message, content, password] =
            ["plain", "message", "content", "password"].map(|name| self.file(name));
        if is_gpg {
            let given =
                ["--pinentry-mode", "loopback", "--passphrase-file", &password, "--s2k-count", "65011712"];
            let choice = ["--cipher-algo", kind.cipher, "--compress-algo", kind.compression];
            let encrypt = [&given[..], &choice, &["-o", &message, "-c", &plain]].concat();
            encrypting.push(self.gpg.cost(&self.home, &encrypt)?);
            decrypting
                .push(self.gpg.cost(&self.home, &[&given[..], &["-o", &content, "-d", &message]].concat())?);
        } else {
            let given = ["--quiet", "--password-file", &password];
            let choice = ["--cipher", kind.cipher, "--compress", kind.compression, "--aead", kind.aead];
            let more = ["--allow-old-cipher", "--output", &message, &plain];
            encrypting.push(self.run(&[&["encrypt"], &given[..], &choice, &more].concat())?);
            decrypting
                .push(self.run(&[&["decrypt"], &given[..], &["--output", &content, &message]].concat())?);
        }
        ensure!(is_same(&plain, &content)?, "{}: what was decrypted is not what was encrypted", kind.decrypt);
        Ok(())
    }

    fn run(&self, arguments: &[&str]) -> Result<measure::Cost> {
        let mut command = Command::new(&self.keyhoard);
        command.env("KEYHOARD_DB", self.file("keyhoard.db")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let cost = measure::run(&mut command).with_context(|| self.keyhoard.display().to_string())?;
        ensure!(cost.code == Some(0), "keyhoard {} failed", arguments.join(" "));
        Ok(cost)
    }
}

/// Compares two files piece by piece: the peak of memory of a child is never below that of its parent.
fn is_same(one: &str, other: &str) -> Result<bool> {
    let open = |path: &str| File::open(path).with_context(|| path.to_owned());
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        (&mut one).take(1 << 16).read_to_end(&mut left)?;
        (&mut other).take(1 << 16).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}
