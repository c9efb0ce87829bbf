//! Encrypts and decrypts a file with every cipher, and says how long that took.
//!
//! `cargo run --release -p keyhoard-message --example speed -- FILE WORKING-FILE`

use std::fs::File;
use std::time::Instant;

use keyhoard_message::{
    Aead, Allowed, Authenticity, Cipher, Compression, DataProtection, Encryption, Error, Event,
    LiteralOptions, MessageRecipients, NoSigner, Result, S2k, Sink, decrypt, encrypt,
};
use zeroize::Zeroizing;

struct ToFile(File);

impl Sink for ToFile {
    fn event(&mut self, _: Event<'_>) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, data: &[u8], _: Authenticity) -> Result<()> {
        std::io::Write::write_all(&mut self.0, data).map_err(Error::Write)
    }
}

/// Returns the seconds that all threads have had so far, in their own code and the system's, as Linux counts them.
fn processors() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [plain, sealed] = &files[..] else { return Err(Error::Options("two files are needed")) };
    let opened = format!("{sealed}.opened");
    let open = |path: &str| File::open(path).map_err(Error::Read);
    let create = |path: &str| {
        let _ = std::fs::remove_file(path);
        File::create(path).map_err(Error::Write)
    };
    let run = |encryption: Encryption, name: &str| -> Result<()> {
        let s2k = S2k::iterated(keyhoard_message::DEFAULT_HASH, 1024)?;
        let encrypted_keys = MessageRecipients {
            passwords: vec![(Zeroizing::new(b"x".to_vec()), s2k)],
            recipients: Vec::new(),
        };
        let before = processors();
        let begin = Instant::now();
        let mut key =
            encrypt(&mut open(plain)?, &mut create(sealed)?, &encrypted_keys, &encryption, &mut NoSigner)?;
        let encrypted = begin.elapsed().as_secs_f64();
        let between = processors() - before;
        let begin = Instant::now();
        decrypt(&mut open(sealed)?, Allowed::default(), &mut key, &mut ToFile(create(&opened)?))?;
        let decrypted = begin.elapsed().as_secs_f64();
        println!(
            "{name:16} encrypt {encrypted:.3} s ({between:.2} of processors), decrypt {decrypted:.3} s ({:.2})",
            processors() - before - between
        );
        Ok(())
    };
    for cipher in Cipher::ALL {
        run(Encryption { cipher, ..Encryption::default() }, cipher.name())?;
    }
    for mode in [Aead::Eax, Aead::Ocb, Aead::Gcm] {
        let protection = DataProtection::Aead { mode, chunk: keyhoard_message::DEFAULT_CHUNK };
        run(Encryption { protection, ..Encryption::default() }, &format!("AES256 {mode}"))?;
    }
    for compression in [Compression::Zip, Compression::Zlib] {
        let content = LiteralOptions { compression, ..LiteralOptions::default() };
        run(Encryption { content, ..Encryption::default() }, &format!("AES256 {}", compression.name()))?;
    }
    let _ = (std::fs::remove_file(sealed), std::fs::remove_file(&opened));
    Ok(())
}
