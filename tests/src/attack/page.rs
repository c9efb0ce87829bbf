//! The outcome of every attack in every program, as a page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Engine, Gnupg, Home};

use super::{Attack, Finding, Kind, Program, Rule};

/// How long another program may take, in seconds.
const SECONDS: &str = "120";

/// A column of the page: programs that are one product.
struct Column {
    title: String,
    programs: Vec<Program>,
    /// Homes with the certificates of earlier attacks.
    homes: Vec<(Vec<Vec<u8>>, Kind, Home)>,
}

/// Runs every attack through our programs, both gpgs, and those below `peers` (as `scripts/peers` unpacks them), and
/// returns a table for each rule, in Markdown.
pub fn tables(rules: &[Rule], peers: Option<&Path>) -> String {
    let mut columns = columns(peers);
    let mut page = String::new();
    for rule in rules {
        let titles: Vec<&str> = columns.iter().map(|column| &*column.title).collect();
        let _ = write!(page, "\n## {}\n\n{}\n\n| input | {} |\n", rule.title, rule.about, titles.join(" | "));
        let _ = writeln!(page, "|---|{}", "---|".repeat(titles.len()));
        for attack in &rule.attacks {
            let cells: Vec<String> = columns.iter_mut().map(|column| column.cell(attack)).collect();
            let _ = writeln!(page, "| {} | {} |", attack.name.replace('|', "\\|"), cells.join(" | "));
        }
    }
    page
}

fn columns(peers: Option<&Path>) -> Vec<Column> {
    let ours =
        Column { title: "Keyhoard".to_owned(), programs: Program::ours(Engine::Sqlite), homes: Vec::new() };
    let mut columns = vec![ours];
    for gnupg in Gnupg::ALL {
        let program = |name, kind| Program::other(name, kind, timed(&[&gnupg.program(name)]));
        columns.extend(Column::of(vec![program("gpg", Kind::Gpg), program("gpgv", Kind::Gpgv)]));
    }
    let others = [("sqop", Kind::Sop), ("rsop", Kind::Sop), ("gosop", Kind::Sop), ("rnp", Kind::Rnp)];
    for (name, kind) in others {
        let words = peers.map_or_else(|| timed(&[Path::new(name)]), |root| below(root, name));
        columns.extend(Column::of(vec![Program::other(name, kind, words)]));
    }
    columns
}

/// Returns the words that start a program under `timeout`.
fn timed(words: &[&Path]) -> Vec<PathBuf> {
    [Path::new("timeout"), Path::new(SECONDS)].iter().chain(words).map(|word| word.to_path_buf()).collect()
}

/// Returns the words that start a program below a root that is not the system's: by the root's own dynamic loader.
fn below(root: &Path, name: &str) -> Vec<PathBuf> {
    let program = root.join("usr/bin").join(name);
    let loader = files(&root.join("lib64")).chain(files(&root.join("usr/lib")));
    let loader = { loader }.find(|path| name_of(path).starts_with("ld-linux"));
    let Some(loader) = loader else { return timed(&[&program]) };
    let libraries = files(&root.join("usr/lib")).find(|path| name_of(path).ends_with("-linux-gnu"));
    let libraries = libraries.unwrap_or_else(|| root.join("usr/lib"));
    timed(&[&loader, Path::new("--library-path"), &libraries, &program])
}

fn files(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Column {
    /// Returns a column of programs, or nothing if the first of them cannot be started.
    fn of(programs: Vec<Program>) -> Option<Column> {
        let title = programs.first()?.title(&Home::new())?;
        Some(Column { title, programs, homes: Vec::new() })
    }

    fn cell(&mut self, attack: &Attack) -> String {
        let findings: Vec<Finding> =
            self.programs.clone().iter().flat_map(|program| self.findings(program, attack)).collect();
        let is_attack = !attack.name.starts_with("(no attack)");
        let broken: BTreeSet<&str> = findings.iter().filter_map(Finding::broken).collect();
        let kept: BTreeSet<&str> = findings.iter().filter_map(Finding::kept).collect();
        let joined = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join("; ");
        match (broken.is_empty(), kept.is_empty()) {
            (false, _) if is_attack => format!("**{}**", joined(broken)),
            (false, _) => joined(broken),
            (true, false) => joined(kept),
            (true, true) => "–".to_owned(),
        }
    }

    fn findings(&mut self, program: &Program, attack: &Attack) -> Vec<Finding> {
        let is_home = |(certificates, kind, _): &(Vec<Vec<u8>>, Kind, Home)| {
            *certificates == attack.certificates && *kind == program.kind
        };
        let index = self.homes.iter().position(is_home);
        let index = index.unwrap_or_else(|| {
            let home = Home::new();
            program.prepare(&home, &attack.certificates);
            self.homes.push((attack.certificates.clone(), program.kind, home));
            self.homes.len() - 1
        });
        let outcomes = program.run(&self.homes[index].2, attack);
        outcomes.iter().map(|outcome| outcome.judge(attack.expected_of(program.kind), program.kind)).collect()
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        let of_gpg = self.homes.iter().filter(|(_, kind, _)| *kind == Kind::Gpg);
        of_gpg.for_each(|(.., home)| home.kill_agent());
    }
}
