//! The reader on the keyrings of Debian, as the package `debian-keyring` installs them.

use keyhoard_cert::clean::read_facts;
use keyhoard_cert::split::{Piece, Splitter};
use std::fs::File;

const KEYRINGS: [(&str, usize); 3] =
    [("debian-keyring", 905), ("debian-maintainers", 231), ("debian-nonupload", 36)];

#[test]
fn every_certificate_of_every_keyring_is_read() {
    for (name, count) in KEYRINGS {
        let file =
            File::open(format!("/usr/share/keyrings/{name}.gpg")).expect("debian-keyring is installed");
        let mut certificates = 0;
        for piece in Splitter::new(file) {
            let Ok(Piece::Certificate(raw)) = piece else {
                panic!("{name}: {piece:?}");
            };
            assert_eq!(raw.notes, [], "{name} at {}", raw.position);
            let facts = read_facts(&raw.bytes).expect("a certificate of the keyring");
            assert!(facts.components.iter().all(|component| component.unread.is_empty()));
            certificates += 1;
        }
        assert_eq!(certificates, count, "{name}");
    }
}
