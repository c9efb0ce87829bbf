//! Many processes at once on one database: nobody waits in vain, nobody sees half an import, nothing is lost.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use harness::colons::records;
use harness::packets::{Packet, SIGNATURE, bytes, certificates, sorted};
use harness::{Home, Keyring, Run, scale};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const PROCESSES: usize = 8;

#[test]
fn stress_eight_imports_beside_eight_listings_end_as_one_import_after_the_other() {
    let keyring = Keyring::Developers.bytes();
    let home = Home::new();
    let parts = parts(&keyring, &home);
    let one_by_one = Home::new();
    let alone: Vec<_> = parts.iter().map(fingerprints_alone).collect();
    parts.iter().for_each(|part| import(&one_by_one, part));

    let together = Home::new();
    import(&together, &parts[0]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let importers: Vec<_> = (0..PROCESSES)
            .map(|first| (parts.iter().cycle().skip(first).take(scale::choose(PROCESSES, 2)), &together))
            .map(|(parts, home)| scope.spawn(move || parts.for_each(|part| import(home, part))))
            .collect();
        for _ in 0..PROCESSES {
            scope.spawn(|| list_until(&done, &together, &alone));
        }
        let ended: Vec<_> = importers.into_iter().map(|importer| importer.join()).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|end| end.expect("an import failed"));
    });

    let [expected, found] =
        [&one_by_one, &together].map(|home| Run::gpg_keyhoard(home).arg("--export").succeed().stdout);
    assert!(sorted(&expected) == sorted(&found), "the end state differs from that of one after the other");
    Run::keyhoard(&together).arg("doctor").succeed();
}

/// Writes overlapping keyrings: each with two in five certificates of `keyring`, every one of them with a
/// part of its third-party signatures only, so that importing one after the other has much to merge.
fn parts(keyring: &[u8], home: &Home) -> Vec<PathBuf> {
    let certificates = certificates(keyring);
    (0..PROCESSES)
        .map(|number| {
            let mut rng = StdRng::seed_from_u64(scale::seed() + number as u64);
            let chosen = certificates.iter().filter(|_| rng.random_bool(0.4)).collect::<Vec<_>>();
            let part: Vec<u8> =
                chosen.into_iter().flat_map(|packets| bytes(&thinned(packets, &mut rng))).collect();
            home.write(&format!("part-{number}.gpg"), part)
        })
        .collect()
}

/// Returns a certificate without half of its generic certifications (type 0x10), which are rarely its own.
fn thinned<'a>(certificate: &[Packet<'a>], rng: &mut StdRng) -> Vec<Packet<'a>> {
    let generic = |packet: &Packet<'_>| packet.tag == SIGNATURE && packet.body.starts_with(&[4, 0x10]);
    certificate.iter().filter(|packet| !generic(packet) || rng.random_bool(0.5)).copied().collect()
}

fn import(home: &Home, part: &PathBuf) {
    Run::gpg_keyhoard(home).arg("--import").arg(part).succeed();
}

fn fingerprints_alone(part: &PathBuf) -> BTreeSet<String> {
    let home = Home::new();
    import(&home, part);
    fingerprints(&home)
}

fn fingerprints(home: &Home) -> BTreeSet<String> {
    let listing = Run::gpg_keyhoard(home).args(["--with-colons", "--list-keys"]).succeed().stdout;
    let mut primary = false;
    let mut fingerprints = BTreeSet::new();
    for record in records(&listing) {
        if primary && record.kind() == "fpr" {
            fingerprints.insert(record.text(10));
        }
        primary = record.kind() == "pub";
    }
    fingerprints
}

/// Lists at least once and until told to stop, and asserts that each listing is that of some imports, each of them whole.
fn list_until(done: &AtomicBool, home: &Home, imports: &[BTreeSet<String>]) {
    loop {
        let is_last = done.load(Ordering::Relaxed);
        let seen = fingerprints(home);
        let whole: BTreeSet<String> =
            imports.iter().filter(|import| import.is_subset(&seen)).flatten().cloned().collect();
        assert!(whole == seen, "{} certificates seen, {} of them in whole imports", seen.len(), whole.len());
        if is_last {
            return;
        }
    }
}
