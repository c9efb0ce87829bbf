//! Measures a database of either engine: an import, the same again, a listing with signatures, and lookups over an open
//! connection. Each line of what it prints has fields between tabs; times are in seconds.
//!
//! ```sh
//! cargo run --release -p keyhoard --example measure_database -- postgres:///keys?schema=measure keyring.pgp
//! ```

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use cert::Facts;
use cert::mailbox::mail_address;
use keyhoard_engine::import::{ImportOptions, import};
use keyhoard_engine::store::{CertId, Detail, Query, ReadCertificates, Selection, Store, Timestamp};
use keyhoard_engine::{Result, database};

/// Certificates that are looked up, spread over all.
const LOOKED_UP: u64 = 200;

/// Lookups that find more count for nothing.
const MOST_HITS: usize = 100;

const NOW: Timestamp = Timestamp(1_767_225_600);

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(place), Some(keyring)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: measure_database DATABASE KEYRING");
        std::process::exit(2);
    };
    let store = database::create(Path::new(&place))?;
    let import_time = import_file(&*store, Path::new(&keyring))?;
    let snapshot = store.snapshot()?;
    println!("certificates\t{}", snapshot.count()?);
    println!("import\t{}", import_time.as_secs_f64());
    println!("import again, unchanged\t{}", import_file(&*store, Path::new(&keyring))?.as_secs_f64());
    let ids = list(&*snapshot)?;

    let mut certificates = Vec::new();
    snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
        certificates.extend(record.facts);
        ControlFlow::Continue(())
    })?;
    let user_id = |facts: &Facts| facts.user_ids().next().unwrap_or_default().to_vec();
    let key_ids = certificates.iter().map(|facts| Query::KeyId(facts.primary().fingerprint.key_id()));
    look_up(&*snapshot, "key ID", key_ids)?;
    let mails =
        certificates.iter().filter_map(|facts| Some(Query::Mail(mail_address(&user_id(facts))?.to_vec())));
    look_up(&*snapshot, "mail address", mails)?;
    let parts = certificates.iter().filter_map(|facts| {
        let user_id = user_id(facts);
        Some(Query::Substring(user_id.get(3..11)?.to_vec()))
    });
    look_up(&*snapshot, "substring", parts)
}

fn import_file(store: &dyn Store, keyring: &Path) -> Result<Duration> {
    let began = Instant::now();
    let options = ImportOptions { command: "measure".to_owned(), ..ImportOptions::default() };
    let file = File::open(keyring)
        .map_err(|source| keyhoard_engine::Error::File { path: keyring.to_owned(), source })?;
    import(store, file, &options, NOW, &mut |_| {})?;
    Ok(began.elapsed())
}

/// Reads all facts, and returns the certificates that are to be looked up.
fn list(snapshot: &dyn ReadCertificates) -> Result<Vec<CertId>> {
    let step = (snapshot.count()? / LOOKED_UP).max(1);
    let began = Instant::now();
    let (mut signatures, mut ids, mut number) = (0, Vec::new(), 0);
    snapshot.visit(Selection::All, Detail::Full, &mut |record| {
        let facts = record.facts.iter().flat_map(|facts| &facts.components);
        signatures += facts.map(|component| component.signatures.len()).sum::<usize>();
        if number % step == 0 {
            ids.push(record.id);
        }
        number += 1;
        ControlFlow::Continue(())
    })?;
    println!("signatures\t{signatures}");
    println!("read all facts\t{}", began.elapsed().as_secs_f64());
    Ok(ids)
}

/// Looks names up, and reads what is found.
fn look_up(snapshot: &dyn ReadCertificates, kind: &str, queries: impl Iterator<Item = Query>) -> Result<()> {
    let (mut costs, mut most) = (Vec::new(), 0);
    for query in queries {
        let began = Instant::now();
        let found = snapshot.find(&query)?;
        if found.len() > MOST_HITS {
            continue;
        }
        snapshot.visit(Selection::Ids(&found), Detail::Own, &mut |_| ControlFlow::Continue(()))?;
        costs.push(began.elapsed());
        most = most.max(found.len());
    }
    costs.sort_unstable();
    let at = |part: usize| costs.get(costs.len() * part / 100).copied().unwrap_or_default().as_secs_f64();
    println!("one key by {kind}\t{}\t{}\t{most}", at(50), at(95));
    Ok(())
}
