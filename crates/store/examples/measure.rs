//! Measures the store alone: `measure <database> <number of made certificates | keyring> [<batch>]`.
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
    let [_, path, source, rest @ ..] = arguments.as_slice() else {
        return Err("measure <database> <number of made certificates | keyring> [<batch>]".into());
    };
    let path = Path::new(path);
    let batch = rest.first().map_or(Ok(50_000), |batch| batch.parse())?;
    match source.parse() {
        Ok(number) => {
            if !path.exists() {
                write(path, (0..number).map(certificate), batch)?;
            }
            ask(path, number)?;
        }
        Err(_) => {
            if !path.exists() {
                write(path, made::keyring(Path::new(source)).into_iter(), batch)?;
            }
        }
    }
    visit(path)
}

fn write(
    path: &Path,
    mut certificates: impl Iterator<Item = Made>,
    batch: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::create(path)?;
    let mut journal = None;
    let mut written = 0;
    loop {
        let made: Vec<Made> = certificates.by_ref().take(batch).collect();
        if made.is_empty() {
            break;
        }
        let start = Instant::now();
        let mut transaction = store.begin("measure", journal, NOW)?;
        transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>())?;
        let put = start.elapsed();
        journal = Some(transaction.journal());
        transaction.commit()?;
        let elapsed = start.elapsed();
        written += made.len();
        let each = elapsed.as_secs_f64() * 1e6 / made.len() as f64;
        println!("{written:>8} {each:>6.1} us each, put {put:.1?}, commit {:.1?}", elapsed - put);
    }
    let start = Instant::now();
    drop(store);
    println!("closed in {:.1?}, {} bytes", start.elapsed(), std::fs::metadata(path)?.len());
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
        ("substring, two bytes", Query::Substring(b"x0".to_vec())),
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
    Ok(())
}

fn visit(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
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
