//! Compressed packets, and the certificates that come out of them.

#[path = "../../../tests/src/gnupg.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with the harness, which exports it")]
mod gnupg;

use flate2::Compression;
use gnupg::Gnupg;
use keyhoard_cert::packet::{self, Packets, Tag};
use keyhoard_cert::split::{Piece, Splitter};
use keyhoard_cert::{Error, Flaw};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

const COMPRESSED: Tag = Tag(8);
const MARKER: &[u8] = b"\xca\x03PGP";
const ALGORITHMS: [u8; 4] = [0, 1, 2, 3];

fn compress(algorithm: u8, data: &[u8]) -> Vec<u8> {
    let mut body = vec![algorithm];
    let read = match algorithm {
        0 => { data }.read_to_end(&mut body),
        1 => flate2::read::DeflateEncoder::new(data, Compression::best()).read_to_end(&mut body),
        2 => flate2::read::ZlibEncoder::new(data, Compression::best()).read_to_end(&mut body),
        _ => bzip2::read::BzEncoder::new(data, bzip2::Compression::best()).read_to_end(&mut body),
    };
    read.expect("a slice can be read");
    body
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Definite,
    Parts,
    /// As GnuPG writes it.
    Open,
}

fn compressed(algorithm: u8, form: Form, data: &[u8]) -> Vec<u8> {
    let body = compress(algorithm, data);
    match form {
        Form::Definite => packet::write(COMPRESSED, &body),
        Form::Open => [&[0xa3], body.as_slice()].concat(),
        Form::Parts => {
            let (parts, rest) = body.as_chunks::<512>();
            let mut written = vec![0xc0 | COMPRESSED.0];
            parts.iter().for_each(|part| {
                written.push(224 + 9);
                written.extend(part);
            });
            packet::write_new_length(&mut written, rest.len() as u32);
            [written.as_slice(), rest].concat()
        }
    }
}

/// A certificate or what is wrong, each with its position.
type Outcome = Result<(u64, Vec<u8>), (u64, Flaw)>;

fn outcomes(stream: impl Read) -> Vec<Outcome> {
    Splitter::new(stream)
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Ok((raw.position, raw.bytes)),
            Ok(other) => panic!("no certificate: {other:?}"),
            Err(Error::Malformed { position, flaw }) => Err((position, flaw)),
            Err(error) => panic!("{error}"),
        })
        .collect()
}

fn taken(stream: &[u8]) -> Vec<Vec<u8>> {
    outcomes(stream).into_iter().filter_map(|outcome| Some(outcome.ok()?.1)).collect()
}

/// Real certificates, the smallest ones.
fn real() -> Vec<Vec<u8>> {
    let keyring =
        std::fs::read("/usr/share/keyrings/debian-nonupload.gpg").expect("debian-keyring is installed");
    let mut all = taken(&keyring);
    all.sort_by_key(Vec::len);
    all
}

#[test]
fn the_same_certificates_come_out_however_they_are_compressed() {
    let certificates = real();
    for algorithm in ALGORITHMS {
        for form in [Form::Definite, Form::Parts, Form::Open] {
            let stream = compressed(algorithm, form, &certificates.concat());
            assert!(taken(&stream) == certificates, "{algorithm}, {form:?}");
        }
    }
}

#[test]
fn certificates_stand_before_between_and_after_compressed_packets_and_halfway_in_them() {
    let certificates = real();
    let [one, two, three, four, five, ..] = &certificates[..] else { unreachable!("there are more") };
    let primary = Packets::new(four).next().expect("a packet").expect("a sound one").span.end as usize;
    for algorithm in ALGORITHMS {
        for form in [Form::Definite, Form::Parts, Form::Open] {
            // What is stored without a length goes on to the stream's end.
            let between = if algorithm == 0 && form == Form::Open { Form::Parts } else { form };
            let stream = [
                one.as_slice(),
                &compressed(algorithm, between, two),
                &compressed(algorithm, between, three),
                &compressed(algorithm, between, b""),
                &four[..primary],
                &compressed(algorithm, between, &four[primary..]),
                five,
            ];
            let expected = [one, two, three, four, five];
            assert!(taken(&stream.concat()).iter().eq(expected), "{algorithm}, {form:?}");
        }
    }
}

#[test]
fn what_comes_out_of_a_compressed_packet_has_the_position_of_that() {
    let certificates = real();
    let [one, two, three, four, ..] = &certificates[..] else { unreachable!("there are more") };
    let old = packet::write(Tag::PUBLIC_KEY, &[3; 50]);
    let packet = compressed(2, Form::Definite, &[two.as_slice(), &old, three].concat());
    let stream = [one.as_slice(), &packet, four].concat();
    let inside = one.len() as u64;
    let expected = [
        Ok((0, one.clone())),
        Ok((inside, two.clone())),
        Err((inside, Flaw::ObsoleteKey(3))),
        Ok((inside, three.clone())),
        Ok((inside + packet.len() as u64, four.clone())),
    ];
    assert!(outcomes(stream.as_slice()) == expected);
}

#[test]
fn a_compressed_packet_in_another_one_is_not_unpacked() {
    let certificates = real();
    // Deflate leaves numbers that cannot be compressed as they are, so that a key may be found in them.
    let nested = compressed(2, Form::Definite, &compressed(3, Form::Definite, &certificates[0]));
    let stream = [nested.as_slice(), &certificates[1]].concat();
    let flaw = Flaw::Compressed("another compressed packet");
    assert_eq!(outcomes(stream.as_slice())[0], Err((0, flaw)));
    assert_eq!(taken(&stream), [certificates[1].clone()]);
}

#[test]
fn a_compressed_packet_found_in_a_damaged_key_before_another_one_is_not_unpacked() {
    let certificates = real();
    let primary = Packets::new(&certificates[0]).next().expect("a packet").expect("a sound one").span;
    // The modulus of the key contains a primary key and the beginning of a compressed packet.
    let swallowed = [&certificates[0][..primary.end as usize], &[0xc8, 200, 0, 0], MARKER].concat();
    let bits = (swallowed.len() * 8) as u16;
    let key = [&[4, 0, 0, 0, 0, 1], &bits.to_be_bytes()[..], &swallowed, &[0, 2, 3]].concat();
    let stream = [
        packet::write(Tag::PUBLIC_KEY, &key),
        compressed(2, Form::Definite, &[MARKER, &[0; 100_000]].concat()),
        certificates[1].clone(),
    ];
    assert_eq!(taken(&stream.concat()), [certificates[1].clone()]);
}

#[test]
fn damaged_data_are_named_and_what_is_before_and_after_them_is_taken() {
    let certificates = real();
    let (inside, after) = (&certificates[..30], &certificates[30..32]);
    for algorithm in [1, 2, 3] {
        for form in [Form::Definite, Form::Parts, Form::Open] {
            let mut packet = compressed(algorithm, form, &inside.concat());
            let middle = packet.len() * 3 / 4;
            packet[middle..middle + 16].fill(0xff);
            let found = outcomes([packet.as_slice(), &after.concat()].concat().as_slice());
            // Wrong bytes may come out before the damage shows.
            let named = found.iter().any(|outcome| matches!(outcome, Err((0, _))));
            assert!(named, "{algorithm}, {form:?}");
            let taken: Vec<_> = found.into_iter().filter_map(|outcome| Some(outcome.ok()?.1)).collect();
            assert!(taken.ends_with(after), "{algorithm}, {form:?}");
            // A block of BZip2 comes out whole or not at all.
            let before = if algorithm == 3 { 0 } else { 15 };
            assert!(taken.starts_with(&inside[..before]), "{algorithm}, {form:?}");
        }
    }
}

#[test]
fn data_that_are_cut_short_give_what_is_complete() {
    let certificates = real()[..4].to_vec();
    for algorithm in [1, 2] {
        let stream = compressed(algorithm, Form::Definite, &certificates.concat());
        for cut in (10..stream.len()).step_by(97) {
            let found = outcomes(&stream[..cut]);
            assert_eq!(
                found.last(),
                Some(&Err((0, Flaw::CutShort("a compressed packet")))),
                "{algorithm}, {cut}"
            );
            let complete = found.iter().flatten().map(|(_, bytes)| bytes);
            assert!(complete.zip(&certificates).all(|(found, whole)| found == whole));
        }
    }
}

/// A compressed packet of a padding packet that never ends, in front of a certificate.
fn bomb(algorithm: u8, certificate: &[u8]) -> Vec<u8> {
    let zeros = packet::write(Tag::PADDING, &vec![0; 1 << 20]);
    let data = std::iter::repeat_n(zeros, 40).flatten().collect::<Vec<_>>();
    [compressed(algorithm, Form::Definite, &data), certificate.to_vec()].concat()
}

#[test]
fn a_bomb_is_given_up_at_the_limit_and_what_follows_it_is_taken() {
    let certificate = &real()[0];
    for algorithm in [1, 2, 3] {
        let stream = bomb(algorithm, certificate);
        assert!(stream.len() < 1 << 20);
        let found = outcomes(stream.as_slice());
        assert_eq!(found[0], Err((0, Flaw::Compressed("more data than the limit"))), "{algorithm}");
        assert!(matches!(&found[1..], [Ok((_, bytes))] if bytes == certificate), "{algorithm}");
    }
}

#[test]
fn many_small_bombs_share_one_limit() {
    let zeros = packet::write(Tag::PADDING, &vec![0; 1 << 20]);
    let stream = compressed(2, Form::Definite, &zeros).repeat(1000);
    let found = outcomes(stream.as_slice());
    assert!(matches!(found[..], [Err(_), Err(_)]), "{found:?}");
}

#[test]
fn many_packets_that_hold_nothing_cost_no_more_than_the_limit() {
    let certificate = &real()[0];
    for algorithm in [1, 2, 3] {
        let nothing = compressed(algorithm, Form::Definite, b"").repeat(100_000);
        let found = outcomes([nothing.as_slice(), certificate].concat().as_slice());
        // The packet at the limit, and the one after it.
        let errors = found.iter().filter(|outcome| outcome.is_err()).count();
        assert!((1..=2).contains(&errors), "{algorithm}: {errors}");
        assert!(matches!(found.last(), Some(Ok((_, bytes))) if bytes == certificate), "{algorithm}");
    }
}

/// Returns how many keys `gpg --import` takes.
fn taken_by_gpg(stream: &[u8]) -> usize {
    let home = tempfile::tempdir().expect("a directory");
    let gpg = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new(Gnupg::V2_2.program("gpg"));
        command
            .arg("--homedir")
            .arg(home.path())
            .args(["--batch", "--trust-model", "always"])
            .args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut gpg = command.spawn().expect("gpg is unpacked");
        // It may stop reading early.
        let _ = gpg.stdin.take().expect("it is piped").write_all(input);
        gpg.wait_with_output().expect("gpg ends").stdout
    };
    gpg(&["--import"], stream);
    let listing = gpg(&["--with-colons", "--list-keys"], b"");
    String::from_utf8_lossy(&listing).lines().filter(|line| line.starts_with("pub:")).count()
}

#[test]
fn gpg_takes_the_same_certificates() {
    let certificates = &real()[..3];
    let primary =
        Packets::new(&certificates[0]).next().expect("a packet").expect("a sound one").span.end as usize;
    for algorithm in ALGORITHMS {
        for form in [Form::Definite, Form::Parts, Form::Open] {
            let whole = compressed(algorithm, form, &certificates.concat());
            assert_eq!(taken_by_gpg(&whole), taken(&whole).len(), "{algorithm}, {form:?}");
        }
        let (primary, rest) = certificates[0].split_at(primary);
        let halfway = [primary, &compressed(algorithm, Form::Parts, rest)].concat();
        assert_eq!(taken_by_gpg(&halfway), taken(&halfway).len(), "{algorithm}");
    }
}
