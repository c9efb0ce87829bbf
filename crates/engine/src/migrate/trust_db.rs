//! GnuPG's `trustdb.gpg` (its `doc/DETAILS`, "Layout of the TrustDB"): of its records only the owner trust is taken.
//!
//! Everything else in there can be computed.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use cert::Fingerprint;
use store::AssignedTrust;
use verify::naming::sha256;

use crate::owner_trust::{Assignment, lines};
use crate::{Error, Result};

/// Bytes in a record.
const RECORD: usize = 40;
/// What the file begins with: the type of the version record, and the name.
const MAGIC: &[u8; 4] = b"\x01gpg";
const VERSION: u8 = 3;
/// The type of a record with owner trust.
const TRUST: u8 = 12;
/// A flag of such a record: it only repeats an option.
const BY_OPTION: u8 = 1;

/// Says whether a file begins like a trust database.
pub(super) fn is_trust_db(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC)
}

/// Hands the owner trust of every key to `each`, in the order of the file; for what cannot be read the reason.
pub(super) fn read(
    mut reader: impl Read,
    path: &Path,
    each: &mut dyn FnMut(std::result::Result<Assignment, String>) -> Result<()>,
) -> Result<()> {
    let mut record = Vec::with_capacity(RECORD);
    let mut position = 0;
    loop {
        record.clear();
        let filled = reader.by_ref().take(RECORD as u64).read_to_end(&mut record);
        match filled.map_err(|source| Error::File { path: path.to_owned(), source })? {
            0 => return Ok(()),
            RECORD if position == 0 && record[4] != VERSION => {
                return each(Err(format!("version {} of the file is not known", record[4])));
            }
            RECORD => {
                if let Some(given) = owner_trust(&record) {
                    each(Ok(given))?;
                }
            }
            _ => return each(Err(format!("the record at byte {position} is cut short"))),
        }
        position += RECORD;
    }
}

/// Returns what changes with the owner trust in a file, and only with that: GnuPG writes its trust database anew whenever
/// it looks for what has expired.
pub(super) fn stamp(path: &Path) -> Result<(i64, u64)> {
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let mut given = Vec::new();
    read(BufReader::new(file), path, &mut |one| {
        given.extend(one.ok().and_then(|one| Some((one.key, one.trust?))));
        Ok(())
    })?;
    let digest = sha256(&[lines(&given).as_bytes()]);
    Ok((digest[..8].iter().fold(0, |all, byte| all << 8 | i64::from(*byte)), given.len() as u64))
}

fn owner_trust(record: &[u8]) -> Option<Assignment> {
    let [TRUST, _, fields @ ..] = record else { return None };
    let (fingerprint, [number, _depth, _minimum, flags, ..]) = fields.split_at(20) else { return None };
    let key = Fingerprint::new(4, fingerprint)?;
    let trust = AssignedTrust::from_number(*number).filter(|_| flags & BY_OPTION == 0)?;
    Some(Assignment { key, trust: Some(trust) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, fill: u8, number: u8, flags: u8) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[0] = kind;
        record[2..22].fill(fill);
        (record[22], record[25]) = (number, flags);
        record
    }

    fn version() -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..5].copy_from_slice(b"\x01gpg\x03");
        record
    }

    fn read_all(records: &[u8]) -> Vec<std::result::Result<Assignment, String>> {
        let mut found = Vec::new();
        read(records, Path::new("trustdb.gpg"), &mut |given| {
            found.push(given);
            Ok(())
        })
        .expect("memory can be read");
        found
    }

    #[test]
    fn owner_trust_is_taken_with_the_flag_of_a_disabled_key() {
        let given = |fill, number| {
            Ok(Assignment { key: Fingerprint::V4([fill; 20]), trust: AssignedTrust::from_number(number) })
        };
        let file = [version(), record(TRUST, 1, 6, 0), record(13, 9, 4, 0), record(TRUST, 2, 128 + 5, 0)];
        assert_eq!(read_all(&file.concat()), [given(1, 6), given(2, 133)]);
    }

    #[test]
    fn what_is_not_set_or_only_repeats_an_option_is_left_out() {
        let file = [version(), record(TRUST, 1, 0, 0), record(TRUST, 2, 6, 1)].concat();
        assert_eq!(read_all(&file), []);
    }

    #[test]
    fn a_file_that_cannot_be_read_says_where() {
        let file = [version(), record(TRUST, 1, 6, 0)].concat();
        assert_eq!(read_all(&file[..70]), [Err("the record at byte 40 is cut short".to_owned())]);
        let mut newer = version();
        newer[4] = 4;
        assert_eq!(read_all(&newer), [Err("version 4 of the file is not known".to_owned())]);
        assert_eq!(read_all(&[]), []);
    }
}
