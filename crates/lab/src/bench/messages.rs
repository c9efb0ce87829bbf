//! Encryption and decryption of random data, from and to files in memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lab::measure::Cost;

use super::homes::run;
use super::report::Row;
use super::same_key::{SameKey, USER_ID};
use crate::files::{is_same, random_file};
use crate::series::Series;

/// A kind of message. Both programs have the same names of ciphers and compressions.
struct Kind {
    /// The end of the rows' names.
    name: &'static str,
    cipher: &'static str,
    compression: &'static str,
    /// For keyhoard only: gpg 2.2 has no authenticated modes, and uses CFB instead.
    aead: &'static str,
    /// Whether to encrypt with a password (whose key derivation is slow) instead of to a key.
    is_password: bool,
}

const fn plain(name: &'static str, cipher: &'static str) -> Kind {
    Kind { name, cipher, compression: "none", aead: "none", is_password: false }
}

const KINDS: [Kind; 15] = [
    plain("AES-256", "AES256"),
    plain("AES-192", "AES192"),
    plain("AES-128", "AES"),
    plain("Camellia-256", "CAMELLIA256"),
    plain("Camellia-192", "CAMELLIA192"),
    plain("Camellia-128", "CAMELLIA128"),
    plain("Twofish", "TWOFISH"),
    plain("IDEA", "IDEA"),
    plain("3DES", "3DES"),
    plain("CAST5", "CAST5"),
    plain("Blowfish", "BLOWFISH"),
    Kind { aead: "ocb", ..plain("AES-256 in OCB (gpg: CFB)", "AES256") },
    Kind { aead: "gcm", ..plain("AES-256 in GCM (gpg: CFB)", "AES256") },
    Kind { compression: "zlib", ..plain("AES-256, ZLIB", "AES256") },
    Kind { is_password: true, ..plain("AES-256, with a password", "AES256") },
];

/// Measures both programs alternately; `mebibytes` is the size of the data.
pub(super) fn measure(mebibytes: u64, rounds: usize) -> Result<Vec<Row>> {
    let both = prepare(mebibytes)?;
    let mut rows = Vec::new();
    for kind in &KINDS {
        let mut decrypting = [Series::default(), Series::default()];
        rows.push(Row::measure(&format!("encrypt, {}", kind.name), [rounds, rounds], |program| {
            let [encrypted, decrypted] = turn(&both, kind, program == 0)?;
            decrypting[program].push(decrypted);
            Ok(encrypted)
        })?);
        let [gpg, keyhoard] = decrypting;
        rows.push(Row { task: format!("decrypt, {}", kind.name), gpg, keyhoard });
    }
    Ok(rows)
}

/// Makes the files of the measurement: data, key and password.
fn prepare(mebibytes: u64) -> Result<SameKey> {
    let both = SameKey::new()?;
    random_file(Path::new(&both.file("plain")), mebibytes << 20)?;
    fs::write(both.file("password"), "a password\n").context("making a file")?;
    Ok(both)
}

/// Encrypts and decrypts once, and compares the result with the data.
fn turn(both: &SameKey, kind: &Kind, is_gpg: bool) -> Result<[Cost; 2]> {
    let files = ["plain", "message", "content"].map(|name| both.file(name));
    let [plain, message, content] = files.each_ref().map(String::as_str);
    for old in [message, content] {
        // The file does not exist in the first round.
        let _ = fs::remove_file(old);
    }
    let [mut encrypt, mut decrypt] = if is_gpg {
        gpg(both, kind, plain, message, content)
    } else {
        keyhoard(both, kind, plain, message, content)
    };
    let costs = [run(&mut encrypt)?, run(&mut decrypt)?];
    let is_same = is_same(Path::new(plain), Path::new(content))?;
    ensure!(is_same, "{}: what was decrypted is not what was encrypted", kind.name);
    Ok(costs)
}

fn gpg(both: &SameKey, kind: &Kind, plain: &str, message: &str, content: &str) -> [Command; 2] {
    let password = both.file("password");
    let loopback = ["--pinentry-mode", "loopback", "--passphrase-file", &password];
    let (given, to): (&[&str], &[&str]) = if kind.is_password {
        (&loopback, &["--s2k-count", "65011712", "--symmetric"])
    } else {
        (&[], &["--recipient", USER_ID, "--encrypt"])
    };
    let choice = ["--cipher-algo", kind.cipher, "--compress-algo", kind.compression, "--output", message];
    let encrypt = [given, &choice, to, &[plain]].concat();
    let decrypt = [given, &["--output", content, "--decrypt", message]].concat();
    [encrypt, decrypt].map(|arguments| both.gpg(&arguments))
}

fn keyhoard(both: &SameKey, kind: &Kind, plain: &str, message: &str, content: &str) -> [Command; 2] {
    let password = both.file("password");
    let with_password = ["--password-file", &password];
    let (given, to): (&[&str], &[&str]) = if kind.is_password {
        (&with_password, &with_password)
    } else {
        (&[], &["--to", USER_ID, "--trust-model", "always"])
    };
    let choice = ["--cipher", kind.cipher, "--compress", kind.compression, "--aead", kind.aead];
    let encrypt =
        [&["encrypt", "--allow-old-cipher", "--force", "--output", message], to, &choice, &[plain]].concat();
    let decrypt = [&["decrypt", "--force", "--output", content], given, &[message]].concat();
    [encrypt, decrypt].map(|arguments| both.keyhoard(&arguments))
}
