//! Key generation with every combination of preferences and size, and the effect of these factors on the time.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::execution::Execution;
use crate::format::{percent, seconds, times};
use crate::programs::values;
use crate::report::{BoxPlot, Plot, PlotGroup, Scale, Table};
use crate::statistics::{Effect, coefficient_of_variation, deviation, mean, median};
use crate::subject::{Attempt, AttemptOutcome, Subject};

/// The grid of combinations: which program makes how many keys.
#[derive(Debug)]
pub(crate) struct Grid {
    /// The program; by default gpg-keyhoard, or the first that supports preferences.
    pub(crate) program: Option<String>,
    /// How many keys of each combination.
    pub(crate) keys: u32,
    /// Whether to use only every sixth combination.
    pub(crate) sample: bool,
}

const HASHES: [&str; 4] = ["SHA224", "SHA256", "SHA384", "SHA512"];
const CIPHERS: [&str; 5] = ["3DES", "CAST5", "AES128", "AES192", "AES256"];
const COMPRESSIONS: [&str; 3] = ["None", "ZIP", "ZLIB"];
const LEVELS: [(&str, &str); 4] =
    [("NoCompression", "0"), ("BestSpeed", "1"), ("BestCompression", "9"), ("DefaultCompression", "-1")];
const SIZES: [u32; 2] = [2048, 4096];

/// The longest median of a suitable combination, in seconds.
const MAX_MEDIAN: f64 = 5.0;
/// The largest coefficient of variation of a suitable combination.
const MAX_VARIATION: f64 = 0.4;

const ACTION: &str = "generate-preferring";
const FILE: &str = "grid.csv";

/// One key, a row of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    /// Nanoseconds.
    duration: u64,
    #[serde(flatten)]
    combination: Combination,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Combination {
    hash: String,
    cipher: String,
    comp_algo: String,
    comp_level: String,
    rsa: u32,
}

/// A factor by which combinations are grouped.
type Factor = (&'static str, fn(&Combination) -> String);

const FACTORS: [Factor; 5] = [
    ("size", |combination| combination.rsa.to_string()),
    ("hash", |combination| combination.hash.clone()),
    ("cipher", |combination| combination.cipher.clone()),
    ("compression", |combination| combination.comp_algo.clone()),
    ("compression level", |combination| combination.comp_level.clone()),
];

impl Grid {
    fn combinations(&self) -> Vec<Combination> {
        let mut all = Vec::new();
        for (h, hash) in HASHES.iter().enumerate() {
            for (c, cipher) in CIPHERS.iter().enumerate() {
                for (a, algorithm) in COMPRESSIONS.iter().enumerate() {
                    for (l, (level, _)) in LEVELS.iter().enumerate() {
                        // Every level of each factor occurs equally often.
                        let is_left_out = self.sample && (h + c + 2 * a + 3 * l) % 6 != 0;
                        all.extend(SIZES.iter().filter(|_| !is_left_out).map(|&rsa| Combination {
                            hash: (*hash).to_owned(),
                            cipher: (*cipher).to_owned(),
                            comp_algo: (*algorithm).to_owned(),
                            comp_level: (*level).to_owned(),
                            rsa,
                        }));
                    }
                }
            }
        }
        all
    }

    fn subject<'a>(&self, subjects: &'a [Subject]) -> Result<Option<&'a Subject>> {
        let mut able = subjects.iter().filter(|subject| subject.action(ACTION).is_some());
        let Some(name) = &self.program else {
            // gpg-keyhoard, because the others may take hours.
            let ours = able.clone().find(|subject| subject.name() == "gpg-keyhoard");
            return Ok(ours.or_else(|| able.next()));
        };
        match able.find(|subject| subject.name() == name) {
            Some(subject) => Ok(Some(subject)),
            None => bail!("{name}: no such program is here that makes keys with preferences"),
        }
    }

    /// Adds the keys to the progress bar.
    pub(super) fn expect(&self, execution: &mut Execution<'_>) {
        if let Ok(Some(subject)) = self.subject(execution.subjects) {
            for combination in self.combinations() {
                execution.progress.expect(&task(&combination), subject.name(), self.keys);
            }
        }
    }

    /// Makes the keys that are missing in the file, round by round.
    pub(super) fn measure(&self, execution: &mut Execution<'_>, directory: &Path) -> Result<()> {
        let Some(subject) = self.subject(execution.subjects)? else { return Ok(()) };
        let path = directory.join(FILE);
        let mut made: BTreeMap<Combination, u32> = BTreeMap::new();
        for key in read(&path)? {
            *made.entry(key.combination).or_default() += 1;
        }
        let series = Series { subject, home: subject.new_home()?, path };
        // The first key is not measured: a program may start its agent with it.
        let mut is_begun = false;
        for round in 0..self.keys {
            for combination in self.combinations() {
                if execution.is_stopped() {
                    break;
                }
                let task = task(&combination);
                if made.get(&combination).copied().unwrap_or(0) > round {
                    execution.progress.end(&task, subject.name(), None);
                    continue;
                }
                execution.progress.begin(&task, subject.name());
                if !std::mem::replace(&mut is_begun, true) {
                    series.make(&combination)?;
                }
                let wall = series.make(&combination)?;
                if !execution.is_stopped() {
                    series.keep(combination, wall)?;
                }
                execution.progress.end(&task, subject.name(), Some(wall));
            }
        }
        subject.remove_home(&series.home);
        Ok(())
    }

    /// Reads the file. Returns `None` if it has no keys.
    pub(super) fn summary(&self, directory: &Path) -> Result<Option<Summary>> {
        let mut all: BTreeMap<Combination, Vec<f64>> = BTreeMap::new();
        for key in read(&directory.join(FILE))? {
            all.entry(key.combination).or_default().push(key.duration as f64 / 1e9);
        }
        Ok((!all.is_empty()).then_some(Summary { all }))
    }
}

fn task(combination: &Combination) -> String {
    format!("combinations of {} bits", combination.rsa)
}

struct Series<'a> {
    subject: &'a Subject,
    home: PathBuf,
    path: PathBuf,
}

impl Series<'_> {
    /// Makes a key and returns the seconds.
    fn make(&self, combination: &Combination) -> Result<f64> {
        let Combination { hash, cipher, comp_algo, comp_level, rsa } = combination;
        let cipher = if cipher == "AES128" { "AES" } else { cipher };
        let compression = if comp_algo == "None" { "Uncompressed" } else { comp_algo };
        let level = LEVELS.iter().find(|(name, _)| name == comp_level).map_or("-1", |(_, level)| level);
        let values = values([
            ("bits", rsa.to_string()),
            ("preferences", format!("{hash} {cipher} {compression}")),
            ("level", level.to_owned()),
        ]);
        let action = self.subject.action(ACTION).expect("only such programs are taken");
        let (home, values) = (self.home.as_path(), &values);
        let attempt = Attempt { action, choice: 0, home, values, processes: 1, output: None, limit: None };
        match self.subject.attempt(&attempt)? {
            AttemptOutcome::Done(cost) => Ok(cost.wall),
            AttemptOutcome::Refused(message) => bail!("{}: {message}", self.subject.name()),
        }
    }

    fn keep(&self, combination: Combination, wall: f64) -> Result<()> {
        let name = || self.path.display().to_string();
        let is_new = !self.path.exists();
        let file = OpenOptions::new().create(true).append(true).open(&self.path).with_context(name)?;
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(file);
        if is_new {
            writer
                .write_record(["duration", "hash", "cipher", "compAlgo", "compLevel", "rsa"])
                .with_context(name)?;
        }
        let Combination { hash, cipher, comp_algo, comp_level, rsa } = combination;
        let duration = (wall * 1e9).round() as u64;
        writer.serialize((duration, hash, cipher, comp_algo, comp_level, rsa)).with_context(name)?;
        writer.flush().with_context(name)
    }
}

/// Reads the complete lines of the file, if it exists.
fn read(path: &Path) -> Result<Vec<Key>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut reader = csv::Reader::from_path(path).with_context(|| path.display().to_string())?;
    Ok(reader.deserialize().map_while(|key| key.ok()).collect())
}

/// The contents of the file.
#[derive(Debug)]
pub(super) struct Summary {
    /// The seconds of each combination.
    all: BTreeMap<Combination, Vec<f64>>,
}

impl Summary {
    fn times(&self) -> impl Iterator<Item = (&Combination, f64)> {
        self.all.iter().flat_map(|(combination, walls)| walls.iter().map(move |&wall| (combination, wall)))
    }

    fn grouped(&self, by: impl Fn(&Combination) -> String) -> BTreeMap<String, Vec<f64>> {
        let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (combination, wall) in self.times() {
            groups.entry(by(combination)).or_default().push(wall);
        }
        groups
    }

    fn effects(&self) -> [(&'static str, Effect); 5] {
        FACTORS.map(|(name, level)| {
            (name, Effect::of(self.times().map(|(combination, wall)| (level(combination), wall))))
        })
    }

    /// Returns the combinations of 4096 bits with compression whose times are short and vary little.
    fn suitable(&self) -> Vec<(&Combination, &Vec<f64>)> {
        let compresses = |combination: &Combination| {
            combination.comp_algo != "None" && combination.comp_level != "NoCompression"
        };
        let is_suitable = |(combination, walls): &(&Combination, &Vec<f64>)| {
            combination.rsa == 4096
                && compresses(combination)
                && median(walls) < MAX_MEDIAN
                && walls.len() > 1
                && coefficient_of_variation(walls) < MAX_VARIATION
        };
        self.all.iter().filter(is_suitable).collect()
    }

    pub(super) fn conclusion(&self) -> Option<String> {
        let sizes = self.grouped(|combination| combination.rsa.to_string());
        let cost = median(sizes.get("4096")?) / median(sizes.get("2048")?);
        let [(_, size), others @ ..] = self.effects();
        let others: Vec<String> = others
            .iter()
            .map(|(name, effect)| {
                format!("{name} {} ({} by chance)", percent(effect.eta_squared), percent(effect.by_chance))
            })
            .collect();
        Some(format!(
            "Over all combinations a key of 4096 bits takes {} as long as one of 2048: the size explains {} of the variance. \
             Cipher, hash and compression are only preferences written into the key and cannot matter: {}; the rest is the \
             luck of finding primes.",
            times(cost),
            percent(size.eta_squared),
            others.join(", "),
        ))
    }

    pub(super) fn plots(&self) -> PlotGroup {
        let plots = FACTORS.map(|(name, level)| {
            let groups = self.grouped(level);
            let boxes = groups.iter().map(|(name, walls)| BoxPlot::of(name, walls)).collect();
            Plot::Boxes { title: format!("by {name}"), scale: Scale::Seconds, boxes }
        });
        PlotGroup { title: "Time of all combinations, by factor".to_owned(), plots: plots.into() }
    }

    pub(super) fn tables(&self) -> Vec<Table> {
        let effects = self.effects().map(|(name, effect)| {
            vec![name.to_owned(), percent(effect.eta_squared), percent(effect.by_chance)]
        });
        let suitable = self.suitable();
        let suitable =
            suitable.iter().map(|(combination, walls)| (describe(combination, true), (*walls).clone()));
        let by_factor = FACTORS.iter().flat_map(|(name, level)| {
            self.grouped(level).into_iter().map(move |(level, walls)| (format!("{name}: {level}"), walls))
        });
        vec![
            Table::new(
                "How much of the variance each factor explains (eta squared)",
                &["factor", "explains", "by chance alone"],
                effects.into(),
            ),
            statistics("Combinations, by factor", by_factor),
            statistics("4096 bits, compression on, median under 5 s, variation under 40 %", suitable),
            statistics(
                "Combinations without compression level",
                self.grouped(|combination| describe(combination, false)).into_iter(),
            ),
            statistics(
                "Combinations with compression level",
                self.grouped(|combination| describe(combination, true)).into_iter(),
            ),
        ]
    }
}

fn describe(combination: &Combination, with_level: bool) -> String {
    let Combination { hash, cipher, comp_algo, comp_level, rsa } = combination;
    let level = if with_level { format!(" {comp_level}") } else { String::new() };
    format!("{rsa} {hash} {cipher} {comp_algo}{level}")
}

fn statistics(title: &str, groups: impl Iterator<Item = (String, Vec<f64>)>) -> Table {
    let heads = ["combination", "keys", "median", "mean", "standard deviation", "variation"];
    let row = |(name, walls): (String, Vec<f64>)| {
        vec![
            name,
            walls.len().to_string(),
            seconds(median(&walls)),
            seconds(mean(&walls)),
            seconds(deviation(&walls)),
            percent(coefficient_of_variation(&walls)),
        ]
    };
    Table::new(title, &heads, groups.map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sample: bool) -> Grid {
        Grid { program: None, keys: 2, sample }
    }

    #[test]
    fn the_grid_has_480_combinations_and_the_sample_every_level_of_each_factor() {
        assert_eq!(grid(false).combinations().len(), 480);
        let sample = grid(true).combinations();
        assert_eq!(sample.len(), 80);
        for (name, level) in FACTORS {
            let levels: std::collections::BTreeSet<_> = sample.iter().map(level).collect();
            let all: std::collections::BTreeSet<_> = grid(false).combinations().iter().map(level).collect();
            assert_eq!(levels, all, "{name}");
        }
    }

    /// Times that depend only on the size, except one combination that varies much.
    fn summary() -> Summary {
        let walls = |combination: &Combination| match (combination.rsa, combination.cipher.as_str()) {
            (4096, "CAST5") => vec![0.1, 4.0],
            (4096, _) => vec![2.0, 2.5],
            _ => vec![0.2, 0.25],
        };
        Summary {
            all: grid(false).combinations().into_iter().map(|one| (one.clone(), walls(&one))).collect(),
        }
    }

    #[test]
    fn the_size_explains_what_preferences_do_not() {
        let [(_, size), (_, hash), ..] = summary().effects();
        assert!(size.eta_squared > 0.5 && hash.eta_squared < 1e-9, "{size:?} {hash:?}");
    }

    #[test]
    fn suitable_are_short_and_even_times_of_4096_bits_with_compression() {
        let summary = summary();
        let suitable = summary.suitable();
        // Four hashes, four ciphers, two algorithms, three levels.
        assert_eq!(suitable.len(), 4 * 4 * 2 * 3);
        assert!(
            suitable.iter().all(|(combination, _)| combination.cipher != "CAST5" && combination.rsa == 4096)
        );
    }

    #[test]
    fn the_file_has_a_line_for_each_key_in_nanoseconds() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let subject =
            crate::subject::find(crate::programs::descriptions(None).unwrap(), &[]).unwrap().0.remove(0);
        let series = Series { home: subject.new_home().unwrap(), subject: &subject, path: path.clone() };
        let combination = grid(false).combinations().remove(1);
        series.keep(combination.clone(), 0.5).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "duration,hash,cipher,compAlgo,compLevel,rsa\n500000000,SHA224,3DES,None,NoCompression,4096\n"
        );
        assert_eq!(read(&path).unwrap(), [Key { duration: 500_000_000, combination }]);
    }
}
