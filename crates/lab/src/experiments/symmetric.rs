//! `bench symmetric`: the ciphers of all programs, to find the fastest for a backup.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::Experiment;
use crate::execution::Execution;
use crate::findings::Findings;
use crate::format::{bytes, rate, seconds};
use crate::plan::{Plan, Sequence, Start, Step};
use crate::programs::Values;
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
const COMPRESSED: [(&str, Data, &str); 4] = [
    ("AES256, text", Data::Text, "none"),
    ("AES256 with ZLIB, random data", Data::Random, "zlib"),
    ("AES256 with ZLIB, text", Data::Text, "zlib"),
    ("AES256 with ZIP, text", Data::Text, "zip"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Random,
    Text,
}

impl Experiment for Symmetric {
    fn name(&self) -> &'static str {
        "symmetric"
    }

    fn measure(&self, execution: &mut Execution<'_>, _: &Path) -> Result<()> {
        // In memory, so that no time is spent waiting for a disk.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let directory = TempDir::with_prefix_in("kh-", place).context("making a directory")?;
        let path = |name: &str| directory.path().join(name);
        random(&path("random"), self.size).context("writing random data")?;
        text(&path("text"), self.size).context("writing text")?;
        fs::write(path("password"), "a password\n").context("writing a password")?;
        let files = |data| Files {
            plain: path(if data == Data::Random { "random" } else { "text" }),
            message: path("message"),
            content: path("content"),
            password: path("password"),
        };
        let mut sequences: Vec<Sequence> =
            CIPHERS.iter().map(|cipher| files(Data::Random).sequence(cipher, cipher, "none")).collect();
        for (name, data, compression) in COMPRESSED {
            sequences.push(files(data).sequence(name, "AES256", compression));
        }
        let plan = Plan { fill: None, sequences, rounds: self.rounds, trace: false };
        execution.expect(&plan);
        execution.run(&plan)
    }

    fn section(&self, findings: &Findings<'_>, _: &Path) -> Result<Section> {
        let mut section = comparison("Encryption with a password", findings);
        section.question = format!(
            "Which cipher is the fastest for a backup? {} are encrypted with a password and decrypted, from memory to \
             memory; what comes out is compared with what went in. A time includes what the program spends on making a \
             key of the password. Random data without compression, unless the work says otherwise.",
            bytes(self.size)
        );
        section.conclusion = self.conclusion(findings);
        // Throughput replaces the times.
        section.plots.retain(|group| group.title != "Time");
        section.plots.insert(0, self.throughput(findings));
        Ok(section)
    }
}

struct Files {
    plain: PathBuf,
    message: PathBuf,
    content: PathBuf,
    password: PathBuf,
}

impl Files {
    fn sequence(self, name: &str, cipher: &str, compression: &str) -> Sequence {
        let text = |path: &Path| path.display().to_string();
        let values: Values = [
            ("plain", text(&self.plain)),
            ("message", text(&self.message)),
            ("content", text(&self.content)),
            ("password-file", text(&self.password)),
            ("cipher", cipher.to_owned()),
            ("compression", compression.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let encrypt = Step {
            output_files: vec![self.message],
            ..Step::new(format!("{ENCRYPT}{name}"), "encrypt", &values)
        };
        let decrypt = Step {
            output_files: vec![self.content.clone()],
            equal_files: Some([self.plain, self.content]),
            ..Step::new(format!("{DECRYPT}{name}"), "decrypt", &values)
        };
        Sequence { start: Start::Filled, steps: vec![encrypt, decrypt] }
    }
}

const ENCRYPT: &str = "encrypt, ";
const DECRYPT: &str = "decrypt, ";

impl Symmetric {
    fn throughput(&self, findings: &Findings<'_>) -> PlotGroup {
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

    fn conclusion(&self, findings: &Findings<'_>) -> String {
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

fn random(path: &Path, size: u64) -> io::Result<()> {
    io::copy(&mut File::open("/dev/urandom")?.take(size), &mut File::create(path)?)?;
    Ok(())
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
