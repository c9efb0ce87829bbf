use super::*;
use crate::packet::Packets;
use crate::split::{Piece, Splitter};
use crate::{key, signature};
use std::io::Read;

/// The certificates of a stream.
fn certificates(stream: impl Read) -> Vec<Vec<u8>> {
    let pieces = Splitter::new(stream).map(|piece| piece.expect("a sound stream"));
    pieces
        .filter_map(|piece| match piece {
            Piece::Certificate(raw) => Some(raw.bytes),
            Piece::Revocation(_) | Piece::Ignored(_) => None,
        })
        .collect()
}

fn keyring(name: &str) -> Vec<Vec<u8>> {
    let path = format!("/usr/share/keyrings/{name}.gpg");
    certificates(std::fs::File::open(path).expect("the Debian package debian-keyring is installed"))
}

/// Hands out each signature of a certificate with its digest and the subject it follows.
fn for_each_signature(bytes: &[u8], mut each: impl FnMut(&Key<'_>, &Signature<'_>, Result<Digest, Verdict>)) {
    let packets: Vec<Packet<'_>> = Packets::new(bytes).map(|packet| packet.expect("a packet")).collect();
    let primary = key::parse_public(packets[0].body).expect("a primary key");
    let mut digester = Digester::new(primary);
    let mut over = digester.over(Subject::Primary);
    for packet in &packets[1..] {
        if let Some(subject) = Subject::of(*packet) {
            over = digester.over(subject);
        } else {
            let signature = signature::parse(packet.body).expect("a signature");
            each(&primary, &signature, over.digest(&signature));
        }
    }
}

#[test]
fn the_digests_of_debians_keyrings_begin_as_the_signatures_say() {
    for name in ["debian-keyring", "debian-maintainers", "debian-nonupload"] {
        let (mut same, mut different) = (0, 0);
        for bytes in keyring(name) {
            for_each_signature(&bytes, |_, signature, digest| {
                if digest.expect("a digest").prefix() == signature.digest_prefix {
                    same += 1;
                } else {
                    different += 1;
                }
            });
        }
        // Some certifications of the keyrings stand under the wrong user ID.
        assert!(same > 1000 && different * 100 < same, "{name}: {same} are the same, {different} differ");
    }
}

#[test]
fn signatures_of_versions_5_and_6_verify_on_the_sample_certificates_of_the_standards() {
    let samples = [
        (&include_bytes!("../../tests/data/librepgp-v5-secret.pgp")[..], 2),
        (include_bytes!("../../tests/data/rfc9580-v6.pgp"), 2),
    ];
    for (sample, count) in samples {
        let mut verdicts = Vec::new();
        for bytes in certificates(sample) {
            for_each_signature(&bytes, |primary, signature, digest| {
                let check = question(primary, signature, digest.expect("a digest")).expect("a question");
                verdicts.extend(verify::verify(&[check]));
            });
        }
        assert_eq!(verdicts, vec![Verdict::Good; count]);
    }
}

#[test]
fn a_salt_of_the_wrong_length_is_bad() {
    for bytes in certificates(&include_bytes!("../../tests/data/rfc9580-v6.pgp")[..]) {
        let packet = Packets::new(&bytes).nth(1).expect("a signature").expect("a packet");
        let primary = Packets::new(&bytes).next().expect("a key").expect("a packet");
        let mut digester = Digester::new(key::parse_public(primary.body).expect("a primary key"));
        let mut signature = signature::parse(packet.body).expect("a signature");
        assert!(digester.over(Subject::Primary).digest(&signature).is_ok());
        signature.salt = &signature.salt[1..];
        assert_eq!(digester.over(Subject::Primary).digest(&signature), Err(Verdict::Bad));
    }
}

#[test]
fn behind_a_salt_only_so_much_is_hashed_for_each_signature() {
    let [v6] = &certificates(&include_bytes!("../../tests/data/rfc9580-v6.pgp")[..])[..] else {
        panic!("one certificate");
    };
    let mut packets = Packets::new(v6).map(|packet| packet.expect("a packet").body);
    let primary = key::parse_public(packets.next().expect("a key")).expect("a key");
    let signature = signature::parse(packets.next().expect("a signature")).expect("a signature");
    let most = vec![0; limits::MAX_SALTED - primary.public.len() + 1];
    let digest = |body| Digester::new(primary).over(Subject::Attribute(body)).digest(&signature);
    assert!(digest(&most[1..]).is_ok());
    assert_eq!(digest(&most), Err(Verdict::Unsupported));
}

#[test]
fn only_version_6_keys_make_version_6_signatures_and_they_make_no_others() {
    let [v5] = &certificates(&include_bytes!("../../tests/data/librepgp-v5-secret.pgp")[..])[..] else {
        panic!("one certificate");
    };
    let [v6] = &certificates(&include_bytes!("../../tests/data/rfc9580-v6.pgp")[..])[..] else {
        panic!("one certificate");
    };
    let body = |bytes, index| {
        let mut packets = Packets::new(bytes);
        packets.nth(index).expect("a packet there").expect("a packet").body
    };
    let digest = Hasher::new(HashAlgorithm::SHA256).and_then(Hasher::finish).expect("a digest");
    let (v5_key, v6_key) = (key::parse_public(body(v5, 0)), key::parse_public(body(v6, 0)));
    let (v5_key, v6_key) = (v5_key.expect("a key"), v6_key.expect("a key"));
    let v5_signature = signature::parse(body(v5, 2)).expect("a signature");
    let v6_signature = signature::parse(body(v6, 1)).expect("a signature");
    assert!(question(&v5_key, &v5_signature, digest).is_ok());
    assert!(question(&v6_key, &v6_signature, digest).is_ok());
    assert_eq!(question(&v6_key, &v5_signature, digest).err(), Some(Verdict::Bad));
    assert_eq!(question(&v5_key, &v6_signature, digest).err(), Some(Verdict::Bad));
}

#[test]
fn a_digest_that_is_not_known_is_unsupported() {
    let [v5] = &certificates(&include_bytes!("../../tests/data/librepgp-v5-secret.pgp")[..])[..] else {
        panic!("one certificate");
    };
    for_each_signature(v5, |primary, signature, _| {
        let mut signature = *signature;
        signature.hash_algorithm = HashAlgorithm(99);
        let digest = Digester::new(*primary).over(Subject::Primary).digest(&signature);
        assert_eq!(digest, Err(Verdict::Unsupported));
    });
}
