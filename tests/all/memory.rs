//! Peak memory does not grow with the keyring.

use harness::{Home, Keyring, Run};

/// The most memory that any of these may take.
const MEMORY: u64 = 96 << 20;

#[test]
fn every_work_on_the_developers_keyring_stays_below_96_mib() {
    let home = Home::new();
    let import = ["--import".into(), Keyring::Developers.path().into_os_string()];
    let works: [&[std::ffi::OsString]; 6] = [
        &import,
        &import,
        &["--list-keys".into()],
        &["--list-sigs".into()],
        &["--export".into()],
        &["--list-keys".into(), "<tytso@debian.org>".into()],
    ];
    for work in works {
        let (done, cost) = Run::gpg_keyhoard(&home).args(work).measured();
        assert_eq!(done.code, Some(0), "{work:?}: {}", done.errors());
        assert!(cost.peak_memory < MEMORY, "{work:?}: {cost:?}");
    }
}
