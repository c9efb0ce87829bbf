//! Encryption and decryption of random data, from and to files in memory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::homes::run;
use super::report::Row;
use super::same_key::{SameKey, USER_ID};
use crate::series::Series;

/// A kind of message. Both programs have the same names of ciphers and compressions.
struct Kind {
    encrypt: &'static str,
    decrypt: &'static str,
    cipher: &'static str,
    compression: &'static str,
    /// For keyhoard only: gpg 2.2 has no authenticated modes, and uses CFB instead.
    aead: &'static str,
    /// Whether to encrypt with a password (whose key derivation is slow) instead of to a key.
    is_password: bool,
}

const fn plain(encrypt: &'static str, decrypt: &'static str, cipher: &'static str) -> Kind {
    Kind { encrypt, decrypt, cipher, compression: "none", aead: "none", is_password: false }
}

const KINDS: [Kind; 15] = [
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
        is_password: false,
    },
    Kind {
        encrypt: "encrypt, AES-256 in GCM (gpg: CFB)",
        decrypt: "decrypt, AES-256 in GCM (gpg: CFB)",
        cipher: "AES256",
        compression: "none",
        aead: "gcm",
        is_password: false,
    },
    Kind {
        encrypt: "encrypt, AES-256, ZLIB",
        decrypt: "decrypt, AES-256, ZLIB",
        cipher: "AES256",
        compression: "zlib",
        aead: "none",
        is_password: false,
    },
    Kind {
        encrypt: "encrypt, AES-256, with a password",
        decrypt: "decrypt, AES-256, with a password",
        cipher: "AES256",
        compression: "none",
        aead: "none",
        is_password: true,
    },
];

/// Measures both programs alternately; `mebibytes` is the size of the data.
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
        for (task, [gpg, keyhoard]) in [(kind.encrypt, encrypting), (kind.decrypt, decrypting)] {
            rows.push(Row { task, gpg, keyhoard });
        }
    }
    Ok(rows)
}

/// The files of the measurement: data, key and password.
struct Bench {
    both: SameKey,
}

impl Bench {
    fn new(mebibytes: u64) -> Result<Self> {
        let both = SameKey::new()?;
        let random = File::open("/dev/urandom").context("/dev/urandom")?;
        let mut plain = File::create(both.file("plain")).context("making a file")?;
        io::copy(&mut random.take(mebibytes << 20), &mut plain).context("writing random data")?;
        fs::write(both.file("password"), "a password\n").context("making a file")?;
        Ok(Self { both })
    }

    /// Encrypts and decrypts once, and compares the result with the data.
    fn turn(
        &self,
        kind: &Kind,
        is_gpg: bool,
        encrypting: &mut Series,
        decrypting: &mut Series,
    ) -> Result<()> {
        let files = ["plain", "message", "content"].map(|name| self.both.file(name));
        let [plain, message, content] = files.each_ref().map(String::as_str);
        for old in [message, content] {
            // The file does not exist in the first round.
            let _ = fs::remove_file(old);
        }
        let [mut encrypt, mut decrypt] = if is_gpg {
            self.gpg(kind, plain, message, content)
        } else {
            self.keyhoard(kind, plain, message, content)
        };
        encrypting.push(run(&mut encrypt)?);
        decrypting.push(run(&mut decrypt)?);
        ensure!(is_same(plain, content)?, "{}: what was decrypted is not what was encrypted", kind.decrypt);
        Ok(())
    }

    fn gpg(&self, kind: &Kind, plain: &str, message: &str, content: &str) -> [Command; 2] {
        let password = self.both.file("password");
        let loopback = ["--pinentry-mode", "loopback", "--passphrase-file", &password];
        let (given, to): (&[&str], &[&str]) = if kind.is_password {
            (&loopback, &["--s2k-count", "65011712", "--symmetric"])
        } else {
            (&[], &["--recipient", USER_ID, "--encrypt"])
        };
        let choice = ["--cipher-algo", kind.cipher, "--compress-algo", kind.compression, "--output", message];
        let encrypt = [given, &choice, to, &[plain]].concat();
        let decrypt = [given, &["--output", content, "--decrypt", message]].concat();
        [encrypt, decrypt].map(|arguments| self.both.gpg(&arguments))
    }

    fn keyhoard(&self, kind: &Kind, plain: &str, message: &str, content: &str) -> [Command; 2] {
        let password = self.both.file("password");
        let with_password = ["--password-file", &password];
        let (given, to): (&[&str], &[&str]) = if kind.is_password {
            (&with_password, &with_password)
        } else {
            (&[], &["--to", USER_ID, "--trust-model", "always"])
        };
        let choice = ["--cipher", kind.cipher, "--compress", kind.compression, "--aead", kind.aead];
        let encrypt =
            [&["encrypt", "--allow-old-cipher", "--force", "--output", message], to, &choice, &[plain]]
                .concat();
        let decrypt = [&["decrypt", "--force", "--output", content], given, &[message]].concat();
        [encrypt, decrypt].map(|arguments| self.both.keyhoard(&arguments))
    }
}

/// Compares two files in chunks: this process's peak memory would count as that of the programs it measures.
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
