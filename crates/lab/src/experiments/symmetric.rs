//! `bench symmetric`: the ciphers of all programs, to find the fastest for a backup.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::Experiment;
use crate::execution::Execution;
use crate::files::{directory_in_memory, random_file};
use crate::findings::Findings;
use crate::format::{bytes, rate, seconds};
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::values;
use crate::report::{Bar, Plot, PlotGroup, Scale, Section, comparison};

/// The experiment.
#[derive(Debug)]
pub(crate) struct Symmetric {
    /// Bytes that are encrypted.
    pub(crate) size: u64,
    /// Bytes of the backup that the conclusion is about.
    pub(crate) backup: u64,
    pub(crate) rounds: u32,
}

/// The ciphers of RFC 9580 in CFB with a check of integrity, and the authenticated modes.
const CIPHERS: [&str; 14] = [
    "IDEA",
    "3DES",
    "CAST5",
    "BLOWFISH",
    "AES128",
    "AES192",
    "AES256",
    "TWOFISH",
    "CAMELLIA128",
    "CAMELLIA192",
    "CAMELLIA256",
    "AES256 EAX",
    "AES256 OCB",
    "AES256 GCM",
];
/// The measurements with compression, and one without it for comparison, with AES256 for all ciphers.
const COMPRESSED: [(&str, &str, &str); 4] = [
    ("AES256, text", "text", "none"),
    ("AES256 with ZLIB, random data", "random", "zlib"),
    ("AES256 with ZLIB, text", "text", "zlib"),
    ("AES256 with ZIP, text", "text", "zip"),
];

impl Experiment for Symmetric {
    fn name(&self) -> &'static str {
        "symmetric"
    }

    fn measure(&self, execution: &mut Execution<'_>, _: &Path) -> Result<()> {
        // No time is spent waiting for a disk.
        let directory = directory_in_memory()?;
        let path = |name: &str| directory.path().join(name);
        random_file(&path("random"), self.size)?;
        text(&path("text"), self.size).context("writing text")?;
        fs::write(path("password"), "a password\n").context("writing a password")?;
        let sequence = |name: &str, plain: &str, cipher: &str, compression: &str| {
            let [plain, message, content] = [plain, "message", "content"].map(path);
            let values = values([
                ("plain", plain.display().to_string()),
                ("message", message.display().to_string()),
                ("content", content.display().to_string()),
                ("password-file", path("password").display().to_string()),
                ("cipher", cipher.to_owned()),
                ("compression", compression.to_owned()),
            ]);
            let encrypt = Step {
                output_files: vec![message],
                ..Step::new(format!("{ENCRYPT}{name}"), "encrypt", &values)
            };
            let decrypt = Step {
                output_files: vec![content.clone()],
                equal_files: Some([plain, content]),
                ..Step::new(format!("{DECRYPT}{name}"), "decrypt", &values)
            };
            Sequence { start: Start::Filled, steps: vec![encrypt, decrypt] }
        };
        let ciphers = CIPHERS.iter().map(|cipher| sequence(cipher, "random", cipher, "none"));
        let compressed =
            COMPRESSED.iter().map(|(name, plain, compression)| sequence(name, plain, "AES256", compression));
        let sequences = ciphers.chain(compressed).collect();
        let plan = Plan { fill: None, sequences, rounds: self.rounds, trace: false };
        execution.run(&plan)
    }

    fn section(&self, findings: &Findings, _: &Path) -> Result<Section> {
        let mut section = comparison("Encryption with a password", findings);
        section.question = format!(
            "Which cipher is the fastest for a backup? {} are encrypted with a password and decrypted, from memory to \
             memory; what comes out is compared with what went in. A time includes what the program spends on making a \
             key of the password. Random data without compression, unless the task says otherwise.",
            bytes(self.size)
        );
        section.conclusion = self.conclusion(findings);
        // Throughput replaces the times.
        section.plots.retain(|group| group.title != "Time");
        section.plots.insert(0, self.throughput(findings));
        Ok(section)
    }
}

const ENCRYPT: &str = "encrypt, ";
const DECRYPT: &str = "decrypt, ";

impl Symmetric {
    fn throughput(&self, findings: &Findings) -> PlotGroup {
        let plots = findings.rows.iter().filter(|row| !row.measured().is_empty()).map(|row| {
            let bars = row.measured().into_iter().map(|(subject, measured)| {
                let per_second = |seconds: f64| self.size as f64 / seconds;
                Bar {
                    label: subject.to_owned(),
                    value: per_second(measured.wall),
                    interval: Some([per_second(measured.interval.high), per_second(measured.interval.low)]),
                    text: rate(per_second(measured.wall)),
                }
            });
            Plot::Bars { title: row.task.clone(), scale: Scale::Rate, bars: bars.collect() }
        });
        PlotGroup { title: "Throughput".to_owned(), plots: plots.collect() }
    }

    fn conclusion(&self, findings: &Findings) -> String {
        let ciphers = findings.rows.iter().filter_map(|row| {
            let cipher = row.task.strip_prefix(ENCRYPT).filter(|cipher| CIPHERS.contains(cipher))?;
            let (subject, measured) = *row.measured().first()?;
            Some((cipher, subject, measured.wall))
        });
        let Some((cipher, subject, wall)) = ciphers.min_by(|one, other| one.2.total_cmp(&other.2)) else {
            return "Nothing was measured.".to_owned();
        };
        let back =
            findings.row(&format!("{DECRYPT}{cipher}")).and_then(|row| row.of(subject)).map(|back| back.wall);
        let scale = self.backup as f64 / self.size as f64;
        let decrypted =
            back.map_or_else(String::new, |back| format!(", and {} to decrypt", seconds(back * scale)));
        format!(
            "The fastest cipher here is {cipher}, with {subject}: a backup of {} takes {} to encrypt{decrypted}.",
            bytes(self.backup),
            seconds(wall * scale)
        )
    }
}

/// Writes lines of a log, which deflate compresses well.
fn text(path: &Path, size: u64) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    for number in 0_u64.. {
        let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = format!("{number} backup of host-{}: file {noise:016x} is unchanged\n", noise >> 58);
        let line = &line.as_bytes()[..line.len().min((size - written) as usize)];
        file.write_all(line)?;
        written += line.len() as u64;
        if written == size {
            break;
        }
    }
    file.flush()
}
