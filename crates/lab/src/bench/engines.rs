//! Measures the SQLite and the PostgreSQL engine with the same keyrings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure;
use scratch_postgres::{Listen, Server};
use serde::Serialize;
use tempfile::TempDir;

use super::growth::make;
use crate::files::beside;
use crate::gpg_program::KEYRING;

/// The settings of the server that differ from the defaults.
const SETTINGS: [&str; 1] = ["max_wal_size=4GB"];

/// The number of partitions in the measurement of split tables.
const PARTITIONS: u32 = 16;

/// The location of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum DatabaseLocation {
    File,
    Server,
    /// On the server, in split tables.
    Partitions,
}

/// What was measured with a keyring in a database.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) keyring: String,
    pub(super) place: DatabaseLocation,
    /// The output of the example `measure_database`: numbers by name.
    pub(super) figures: HashMap<String, Vec<f64>>,
    /// The client's peak memory in bytes, and its processor time in seconds.
    pub(super) peak_memory: u64,
    pub(super) client: f64,
    /// The server's processor time in seconds.
    pub(super) server: f64,
    /// Rows in all tables of the server, and the size in bytes.
    pub(super) rows: f64,
    pub(super) bytes: f64,
}

/// Measures Debian's keyring and made ones of these sizes in a file, on a server, and the smallest in split tables.
pub(super) fn measure(sizes: &[u64]) -> Result<Vec<Measured>> {
    let bench = Bench::new()?;
    let mut measured = Vec::new();
    for place in [DatabaseLocation::File, DatabaseLocation::Server] {
        measured.push(bench.measure("Debian's keyring", Path::new(KEYRING), place)?);
    }
    for (position, &certificates) in sizes.iter().enumerate() {
        let keyring = make(certificates)?;
        let name = format!("{certificates} made");
        for place in [DatabaseLocation::File, DatabaseLocation::Server, DatabaseLocation::Partitions] {
            if place != DatabaseLocation::Partitions || position == 0 {
                measured.push(bench.measure(&name, keyring.path(), place)?);
            }
        }
    }
    Ok(measured)
}

struct Bench {
    server: Server,
    directory: TempDir,
    keyhoard: PathBuf,
    measure_database: PathBuf,
}

impl Bench {
    fn new() -> Result<Self> {
        let server = Server::start(Listen::Loopback, &SETTINGS).context("starting PostgreSQL")?;
        let directory = TempDir::with_prefix("keyhoard-lab-").context("making a directory")?;
        let measure_database = beside("examples")?.join("measure_database");
        Ok(Self { server, directory, keyhoard: beside("keyhoard")?, measure_database })
    }

    /// Measures one import into a new database, which is removed afterwards.
    fn measure(&self, name: &str, keyring: &Path, place: DatabaseLocation) -> Result<Measured> {
        eprintln!("{name}: {place:?}");
        let file = self.directory.path().join("keyhoard.db");
        let database = match place {
            DatabaseLocation::File => file.clone(),
            DatabaseLocation::Server | DatabaseLocation::Partitions => PathBuf::from(self.server.url("")),
        };
        if place == DatabaseLocation::Partitions {
            let mut init = Command::new(&self.keyhoard);
            init.arg("--db").arg(&database).args(["db", "init", "--partitions", &PARTITIONS.to_string()]);
            ensure!(init.stdout(Stdio::null()).status()?.success(), "making partitions failed");
        }
        let before = self.server.processor_time()?;
        let output = self.directory.path().join("figures");
        let mut command = Command::new(&self.measure_database);
        command.arg(&database).arg(keyring).stdin(Stdio::null()).stdout(std::fs::File::create(&output)?);
        let cost = measure::run(&mut command)
            .with_context(|| format!("{} (make bench builds it)", self.measure_database.display()))?;
        ensure!(cost.code == Some(0), "{command:?} failed");
        let server = (self.server.processor_time()? - before).as_secs_f64();
        let (rows, bytes) = match place {
            DatabaseLocation::File => (0.0, file.metadata()?.len() as f64),
            DatabaseLocation::Server | DatabaseLocation::Partitions => self.size()?,
        };
        self.clear(&file)?;
        Ok(Measured {
            keyring: name.to_owned(),
            place,
            figures: figures(&std::fs::read_to_string(&output)?),
            peak_memory: cost.peak_memory,
            client: cost.processor(),
            server,
            rows,
            bytes,
        })
    }

    /// Returns the number of rows and bytes on the server.
    fn size(&self) -> Result<(f64, f64)> {
        const SQL: &str = "ANALYZE; SELECT sum(reltuples) FILTER (WHERE relkind = 'r')::bigint,
            sum(pg_total_relation_size(oid)) FILTER (WHERE relkind = 'r') FROM pg_class
            WHERE relnamespace = 'keyhoard'::regnamespace";
        let said = self.server.psql(SQL)?;
        let (rows, bytes) = said.split_once('|').context("two numbers")?;
        Ok((rows.parse()?, bytes.parse()?))
    }

    fn clear(&self, file: &Path) -> Result<()> {
        if file.exists() {
            std::fs::remove_file(file)?;
        }
        // Pending writes must not disturb the next measurement.
        self.server.psql("DROP SCHEMA IF EXISTS keyhoard CASCADE")?;
        self.server.psql("CHECKPOINT")?;
        Ok(())
    }
}

fn figures(text: &str) -> HashMap<String, Vec<f64>> {
    let line = |line: &str| {
        let (name, numbers) = line.split_once('\t')?;
        let numbers: Option<Vec<f64>> = numbers.split('\t').map(|number| number.parse().ok()).collect();
        Some((name.to_owned(), numbers?))
    };
    text.lines().filter_map(line).collect()
}

impl Measured {
    /// Returns a figure; 0 where there is none.
    pub(super) fn figure(&self, name: &str, place: usize) -> f64 {
        self.figures.get(name).and_then(|numbers| numbers.get(place)).copied().unwrap_or(0.0)
    }

    pub(super) fn certificates(&self) -> f64 {
        self.figure("certificates", 0)
    }

    /// Returns the seconds of the import per certificate.
    pub(super) fn each(&self) -> f64 {
        self.figure("import", 0) / self.certificates()
    }
}
