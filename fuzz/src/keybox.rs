//! Keybox files: certificates come from where they stand in the file, and damage to one takes no other.

use keyhoard_cert::keybox::{Blob, Keybox, is_keybox};
use keyhoard_cert::{Error, Result};

use crate::pieces::Pieces;
use crate::script::Script;

/// The header of a file.
const HEADER: usize = 32;
/// The fixed fields of a blob: behind them everything is tables and the certificate.
const FIXED: usize = 16;

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    let size = script.below(40) + 1;
    let made: Vec<Made> = (0..script.below(5)).map(|_| Made::by(&mut script)).collect();
    let mut blobs: Vec<Vec<u8>> = made.iter().map(Made::bytes).collect();
    comes_as_made(&made, &file(&blobs), size);
    if !blobs.is_empty() {
        let number = script.below(blobs.len());
        damage_inside(&mut script, &mut blobs[number]);
        takes_no_other(&made, &file(&blobs), number);
    }
    let mut file = file(&blobs);
    file.extend_from_slice(script.bytes());
    while !script.is_over() {
        script.damage(&mut file);
    }
    stands_there(&file, size);
}

/// What a blob is made of.
struct Made {
    kind: u8,
    flags: u8,
    tables: [u16; 6],
    serial: u8,
    created: u32,
    keyblock: Vec<u8>,
}

impl Made {
    fn by(script: &mut Script<'_>) -> Self {
        Self {
            kind: script.one_of(&[2, 2, 2, 2, 3, 0, 9]),
            flags: script.below(4) as u8,
            tables: std::array::from_fn(|_| script.below(6) as u16),
            serial: script.below(9) as u8,
            created: script.number() as u32,
            keyblock: [&[0xc6][..], script.bytes()].concat(),
        }
    }

    /// Writes the blob as GnuPG lays it out.
    fn bytes(&self) -> Vec<u8> {
        let mut tables = Vec::new();
        let [keys, key, users, user, signatures, signature] = self.tables;
        tables.extend(table(keys, 28 + key));
        tables.extend([0, self.serial]);
        tables.extend(vec![0xaa; self.serial.into()]);
        tables.extend(table(users, 12 + user));
        tables.extend(table(signatures, 4 + signature));
        tables.extend([0; 12]);
        tables.extend(self.created.to_be_bytes());
        let start = FIXED + tables.len();
        let length = start + self.keyblock.len() + 20;
        let numbers = [length, start, self.keyblock.len()].map(|number| (number as u32).to_be_bytes());
        [
            &numbers[0][..],
            &[self.kind, 1, 0, self.flags],
            &numbers[1],
            &numbers[2],
            &tables,
            &self.keyblock,
            &[0xcc; 20],
        ]
        .concat()
    }
}

fn table(count: u16, size: u16) -> Vec<u8> {
    let content = vec![0xbb; usize::from(count) * usize::from(size)];
    [&count.to_be_bytes()[..], &size.to_be_bytes(), &content].concat()
}

fn file(blobs: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [&[0, 0, 0, HEADER as u8, 1, 1, 0, 2][..], b"KBXf"].concat();
    file.resize(HEADER, 0);
    file.extend(blobs.concat());
    assert!(is_keybox(&file));
    file
}

fn read(file: &[u8], size: usize) -> (Vec<Result<Blob>>, u64) {
    let mut keybox = Keybox::new(Pieces::new(file, size));
    let all = keybox.by_ref().collect();
    (all, keybox.x509_passed_over())
}

fn comes_as_made(made: &[Made], file: &[u8], size: usize) {
    let (read, x509) = read(file, size);
    assert_eq!(x509, made.iter().filter(|made| made.kind == 3).count() as u64);
    let expected: Vec<&Made> = made.iter().filter(|made| made.kind == 2).collect();
    assert_eq!(read.len(), expected.len());
    for (blob, made) in read.into_iter().zip(expected) {
        let blob = blob.expect("a sound blob");
        assert_eq!(blob.keyblock, made.keyblock);
        assert_eq!(blob.ephemeral, made.flags & 2 != 0);
        assert_eq!(blob.created.map_or(0, |time| time.0), made.created);
    }
}

/// Changes a blob anywhere but in its length and kind.
fn damage_inside(script: &mut Script<'_>, blob: &mut [u8]) {
    for _ in 0..=script.below(4) {
        let at = 5 + script.below(blob.len() - 5);
        blob[at] ^= script.byte();
    }
}

fn takes_no_other(made: &[Made], file: &[u8], number: usize) {
    let (read, _) = read(file, usize::MAX);
    let certificates = made.iter().enumerate().filter(|(_, made)| made.kind == 2);
    assert_eq!(read.len(), certificates.clone().count());
    for (blob, (index, made)) in read.into_iter().zip(certificates) {
        assert!(index == number || blob.expect("a sound blob").keyblock == made.keyblock);
    }
}

/// Whatever a file is, no more comes out of it than stands there, where the blob begins; in pieces the same.
fn stands_there(file: &[u8], size: usize) {
    let (whole, x509) = read(file, usize::MAX);
    assert_eq!(format!("{:?}", read(file, size)), format!("{:?}", (&whole, x509)));
    assert!(whole.len() + x509 as usize <= file.len() / 5 + 1);
    let mut end = 0;
    for blob in whole {
        match blob {
            Ok(blob) => {
                let at = blob.position as usize;
                assert!(at >= end, "blobs come one after the other");
                let length = u32::from_be_bytes(std::array::from_fn(|index| file[at + index])) as usize;
                end = at + length;
                let inside = &file[at..end];
                assert!(inside.windows(blob.keyblock.len()).any(|window| window == blob.keyblock));
            }
            Err(Error::Malformed { position, .. }) => assert!(position <= file.len() as u64),
            Err(error) => panic!("{error}"),
        }
    }
}
