//! `trustdb.gpg`: a file like that of a new home of gpg, for programs that look whether it is there. Nothing reads it.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use engine::validity::Model;

use crate::settings::Settings;

const NAME: &str = "trustdb.gpg";
/// Bytes of a record (GnuPG's `doc/DETAILS`, "Layout of the TrustDB").
const RECORD: usize = 40;
/// Records of the hash table of a new file.
const HASH_TABLE_RECORDS: usize = 29;

/// Makes the file in the home directory, if there is none. Where that is not possible, nothing depends on it.
pub(crate) fn place(settings: &Settings) {
    let directory = settings.home.directory();
    if settings.dry_run || !directory.is_dir() {
        return;
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(NAME));
    // If writing fails, the file is short: gpg says so, and makes another one once it is removed.
    let _ = made.and_then(|mut file| file.write_all(&content(settings)));
}

/// Returns the content of a new file: the version record, and an empty hash table.
fn content(settings: &Settings) -> Vec<u8> {
    const VERSION_RECORD: u8 = 1;
    const HASH_TABLE_RECORD: u8 = 10;
    const VERSION: u8 = 3;
    const HASH_TABLE: u8 = 1;
    let numbers = &settings.trust;
    let model = match settings.trust_model {
        Model::Classic => 0,
        Model::Tofu => 6,
        Model::TofuPgp => 7,
        Model::Pgp | Model::Always | Model::Direct => 1,
    };
    let [marginals, completes, depth, level] =
        [numbers.marginals_needed, numbers.completes_needed, numbers.max_cert_depth, numbers.min_cert_level]
            .map(|number| number as u8);
    let mut content = vec![VERSION_RECORD];
    content.extend(b"gpg");
    content.extend([VERSION, marginals, completes, depth, model, level, 0, 0]);
    content.extend(settings.now.0.to_be_bytes());
    content.resize(RECORD - 1, 0);
    content.push(HASH_TABLE);
    for _ in 0..HASH_TABLE_RECORDS {
        content.push(HASH_TABLE_RECORD);
        content.resize(content.len() + RECORD - 1, 0);
    }
    content
}
