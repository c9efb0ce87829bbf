//! Measures the store alone, on made certificates: `measure <database> <certificates> [<batch>]`.
//!
//! Prints what writing costs per certificate of each batch, then what a fresh connection needs for each kind of
//! question. The database is left behind; if it is there already, only the questions are asked.

#[path = "../tests/made/mod.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod made;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use keyhoard_store::sqlite::SqliteStore;
use keyhoard_store::{Detail, Query, Selection, Store};
use made::{Made, NOW, fingerprint};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, number, rest @ ..] = arguments.as_slice() else {
        return Err("measure <database> <number>".into());
    };
    let (path, number) = (Path::new(path), number.parse::<u32>()?);
    let batch = rest.first().map_or(Ok(50_000), |batch| batch.parse())?;
    if !path.exists() {
        write(path, number, batch)?;
    }
    ask(path, number)
}

fn write(path: &Path, number: u32, batch: u32) -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::create(path)?;
    let mut journal = None;
    for first in (0..number).step_by(batch as usize) {
        let made: Vec<Made> = (first..number.min(first + batch)).map(certificate).collect();
        let start = Instant::now();
        let mut transaction = store.begin("measure", journal, NOW)?;
        transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>())?;
        journal = Some(transaction.journal());
        transaction.commit()?;
        let elapsed = start.elapsed();
        println!(
            "{:>8} {:>6.1} us each",
            first as usize + made.len(),
            elapsed.as_secs_f64() * 1e6 / made.len() as f64
        );
    }
    println!("{} bytes", std::fs::metadata(path)?.len());
    Ok(())
}

fn ask(path: &Path, number: u32) -> Result<(), Box<dyn std::error::Error>> {
    let middle = number / 2;
    let questions = [
        ("key ID", Query::KeyId(fingerprint(middle, 1).key_id())),
        ("short key ID", Query::ShortKeyId(fingerprint(middle, 0).key_id().short())),
        ("fingerprint", Query::Fingerprint(fingerprint(middle, 0))),
        ("mail address", Query::Mail(format!("user{middle}@example.org").into_bytes())),
        ("exact", Query::Exact(format!("Zander{middle} <z{middle}@mail.example.com>").into_bytes())),
        ("substring, long", Query::Substring(format!("user{middle}@exam").into_bytes())),
        ("substring, short", Query::Substring(format!("{middle}").into_bytes())),
        ("substring, absent", Query::Substring(b"xyq".to_vec())),
        ("substring, frequent", Query::Substring(b"winter".to_vec())),
        ("substring, two octets", Query::Substring(b"x0".to_vec())),
    ];
    for (name, query) in questions {
        let start = Instant::now();
        let store = SqliteStore::open(path)?;
        let opened = start.elapsed();
        let found = store.snapshot()?.find(&query)?;
        let first = start.elapsed();
        store.snapshot()?.find(&query)?;
        println!(
            "{name:<22} opened {opened:>9.1?}, first {first:>9.1?}, again {:>9.1?}, {} found",
            start.elapsed() - first,
            found.len()
        );
    }
    for detail in [Detail::Name, Detail::Own, Detail::Full, Detail::Bytes] {
        let store = SqliteStore::open(path)?;
        let start = Instant::now();
        let (mut certificates, mut signatures) = (0, 0);
        store.snapshot()?.visit(Selection::All, detail, &mut |record| {
            certificates += 1;
            signatures += record
                .facts
                .iter()
                .flat_map(|facts| &facts.components)
                .map(|one| one.signatures.len())
                .sum::<usize>();
            ControlFlow::Continue(())
        })?;
        println!(
            "visit {detail:?}: {:.1?}, {certificates} certificates, {signatures} signatures",
            start.elapsed()
        );
    }
    Ok(())
}

fn certificate(number: u32) -> Made {
    const NAMES: [&str; 16] = [
        "Ann", "Bob", "Carla", "Dora", "Emil", "Frida", "Georg", "Hanna", "Ivan", "Jana", "Winter", "Lena",
        "Max", "Nora", "Otto", "Zander",
    ];
    let name = NAMES[number as usize * 7 % 16];
    let first =
        format!("{name} Keller <user{number}@example{}.org>", number % 1000).replace("example0.", "example.");
    let second = format!("{name}{number} <{}{number}@mail.example.com>", name[..1].to_ascii_lowercase());
    let certifiers: Vec<u64> = (1..=5)
        .map(|step| fingerprint(number.wrapping_mul(31).wrapping_add(step * 977) % 1_000_000, 0).key_id().0)
        .collect();
    Made::new(number, &[first.as_bytes(), second.as_bytes()], &certifiers)
}
