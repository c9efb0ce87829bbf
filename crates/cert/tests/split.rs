//! Streams of every form, sound and damaged, and the certificates that come out of them.

use keyhoard_cert::armor_writer::ArmorWriter;
use keyhoard_cert::packet::{self, Packet, Packets, Tag};
use keyhoard_cert::split::{LeftOut, Piece, RawCertificate, Splitter};
use keyhoard_cert::{Error, Flaw};
use std::io::{self, Read, Write};

fn pieces(stream: impl Read) -> Vec<Result<Piece, Error>> {
    Splitter::new(stream).collect()
}

fn sound(stream: impl Read) -> Vec<RawCertificate> {
    pieces(stream)
        .into_iter()
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => raw,
            other => panic!("no certificate: {other:?}"),
        })
        .collect()
}

/// What came out, in short: a certificate's position, or an error's position and flaw.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Certificate(u64),
    Other(u64),
    Flawed(u64, Flaw),
}

fn outcomes(stream: impl Read) -> Vec<Outcome> {
    pieces(stream)
        .into_iter()
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Outcome::Certificate(raw.position),
            Ok(Piece::Revocation(raw)) => Outcome::Other(raw.position),
            Ok(Piece::Ignored(LeftOut { position, flaw })) => Outcome::Flawed(position, flaw),
            Err(Error::Malformed { position, flaw }) => Outcome::Flawed(position, flaw),
            Err(error) => panic!("{error}"),
        })
        .collect()
}

/// Real certificates of a few kilobytes.
fn real() -> Vec<Vec<u8>> {
    let keyring = std::fs::File::open("/usr/share/keyrings/debian-nonupload.gpg");
    let mut all: Vec<_> =
        sound(keyring.expect("debian-keyring is installed")).into_iter().map(|raw| raw.bytes).collect();
    all.sort_by_key(Vec::len);
    all.truncate(4);
    all
}

fn armored(bytes: &[u8]) -> String {
    let mut writer = ArmorWriter::new(Vec::new());
    writer.write_all(bytes).expect("a vector takes everything");
    String::from_utf8(writer.finish().expect("a vector takes everything")).expect("armor is text")
}

/// A reader that hands out a few bytes at a time, and is interrupted in between.
struct Slow<'a> {
    rest: &'a [u8],
    step: usize,
    interrupts: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupts = !self.interrupts;
        if self.interrupts {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.step.min(out.len());
        self.rest.take(count as u64).read(out).inspect(|&read| self.rest = &self.rest[read..])
    }
}

#[test]
fn the_same_certificates_come_out_however_the_stream_is_read() {
    let certificates = real();
    let binary = certificates.concat();
    let text = certificates.iter().map(|bytes| armored(bytes)).collect::<String>();
    for stream in [binary.as_slice(), text.as_bytes()] {
        let expected = sound(stream);
        assert_eq!(
            expected.iter().map(|raw| &raw.bytes).collect::<Vec<_>>(),
            certificates.iter().collect::<Vec<_>>()
        );
        for step in [1, 7, 1000] {
            assert_eq!(sound(Slow { rest: stream, step, interrupts: false }), expected);
        }
    }
}

#[test]
fn armored_blocks_may_stand_in_text_and_have_headers() {
    let [one, two, ..] = &real()[..] else { unreachable!("there are four") };
    let block =
        armored(one).replacen("-----\n\n", "-----\nVersion: GnuPG v2\nComment: \nHash: SHA256\n\n", 1);
    let text = format!("Dear reader,\n\n{block}\nand between them -----\n{}bye", armored(two));
    let found = sound(text.as_bytes());
    assert_eq!(found.iter().map(|raw| &raw.bytes).collect::<Vec<_>>(), [one, two]);
    for raw in found {
        let line = text[raw.position as usize..].lines().next().unwrap_or_default();
        assert!(line.starts_with("mQ"), "the position is that of the first line of data, not of {line:?}");
    }
}

#[test]
fn armor_is_read_with_any_line_ends_and_without_checksum_title_or_empty_line() {
    let bytes = &real()[0];
    let text = armored(bytes);
    let checksum = text.lines().rev().nth(1).expect("a checksum line");
    let data: String =
        text.lines().filter(|line| line.len() <= 64 && !line.starts_with(['-', '='])).collect();
    let forms = [
        text.replace('\n', "\r\n"),
        text.replace('\n', " \t\n"),
        text.replace(&format!("{checksum}\n"), ""),
        text.replace("-----END PGP PUBLIC KEY BLOCK-----\n", ""),
        text.replacen("\n\n", "\n", 1),
        text.replace("-----BEGIN", "- -----BEGIN").replace("-----END", "- -----END"),
        text.replace(checksum, &checksum.replacen('=', "=3D", 1)),
        text.replace("PUBLIC", "PRIVATE"),
        format!("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{data}\n"),
    ];
    for form in forms {
        assert_eq!(
            sound(form.as_bytes()).iter().map(|raw| &raw.bytes).collect::<Vec<_>>(),
            [bytes],
            "{form}"
        );
    }
}

#[test]
fn a_block_with_a_wrong_checksum_is_refused_and_the_next_one_taken() {
    let [one, two, ..] = &real()[..] else { unreachable!("there are four") };
    let good = armored(two);
    let bad = armored(one);
    let checksum = bad.lines().rev().nth(1).expect("a checksum line");
    let text = format!("{}{good}", bad.replace(checksum, "=AAAA"));
    let title = text.find("=AAAA").expect("it was just written") as u64;
    let found = outcomes(text.as_bytes());
    assert!(
        matches!(found[..], [Outcome::Flawed(at, Flaw::Armor("a wrong checksum")), Outcome::Certificate(_)]
            if (title..title + 6).contains(&at)),
        "{found:?}"
    );
}

#[test]
fn armored_blocks_of_other_things_are_passed_over_and_named() {
    let bytes = &real()[0];
    let text =
        format!("x\n-----BEGIN PGP MESSAGE-----\n\nwcFM\n-----END PGP MESSAGE-----\n{}", armored(bytes));
    let found = outcomes(text.as_bytes());
    assert_eq!(found[0], Outcome::Flawed(2, Flaw::Armor("a block that holds no keys")));
    assert!(matches!(found[1..], [Outcome::Certificate(_)]));
    assert_eq!(outcomes(b"no certificate in here".as_slice()), []);
    assert_eq!(outcomes(io::empty()), []);
}

#[test]
fn marker_trust_and_padding_packets_are_left_out_and_unknown_ones_kept() {
    let bytes = &real()[0];
    let mut packets = Packets::new(bytes).map(|packet| packet.expect("a sound certificate"));
    let first = packets.next().expect("a primary key").span.end as usize;
    let void = [
        packet::write(Tag::MARKER, b"PGP"),
        packet::write(Tag::TRUST, &[0; 4]),
        packet::write(Tag::PADDING, &[7; 300]),
        packet::write(Tag(0), b"invalid"),
    ]
    .concat();
    let unknown = packet::write(Tag(60), b"private");
    let comment = packet::write(Tag::PUBLIC_SUBKEY, b"#a comment of PGP 2");
    let stream = [&void, &bytes[..first], &void, &unknown, &bytes[first..], &void, &comment].concat();
    let raw = &sound(stream.as_slice())[0];
    assert_eq!(raw.position, void.len() as u64);
    assert_eq!(raw.bytes, [&bytes[..first], &unknown, &bytes[first..]].concat());
    assert_eq!(raw.notes, []);
}

/// A packet whose body comes in parts of 512 bytes, as far as that goes.
fn in_parts(tag: Tag, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0xc0 | tag.0];
    let (parts, rest) = body.as_chunks::<512>();
    for part in parts {
        packet.push(224 + 9);
        packet.extend(part);
    }
    packet::write_new_length(&mut packet, rest.len() as u32);
    packet.extend(rest);
    packet
}

#[test]
fn partial_lengths_become_definite() {
    let bytes = real()[..2].concat();
    let packets: Vec<_> = Packets::new(&bytes).map(|packet| packet.expect("a sound certificate")).collect();
    let stream: Vec<u8> = packets.iter().flat_map(|packet| in_parts(packet.tag, packet.body)).collect();
    let found = sound(stream.as_slice());
    assert_eq!(found.len(), 2);
    let definite = |packet: &Packet<'_>| match packet.body.len() {
        512.. => {
            let mut whole = vec![0xc0 | packet.tag.0];
            packet::write_new_length(&mut whole, packet.body.len() as u32);
            whole.extend_from_slice(packet.body);
            whole
        }
        _ => in_parts(packet.tag, packet.body),
    };
    let found: Vec<u8> = found.into_iter().flat_map(|raw| raw.bytes).collect();
    assert_eq!(found, packets.iter().flat_map(definite).collect::<Vec<_>>());
}

#[test]
fn a_version_3_key_is_refused_by_name_and_the_next_certificate_taken() {
    let [one, two, ..] = &real()[..] else { unreachable!("there are four") };
    let old = [packet::write(Tag::PUBLIC_KEY, &[3; 50]), packet::write(Tag::USER_ID, b"old")].concat();
    let stream = [one.as_slice(), &old, two].concat();
    let start = one.len() as u64;
    assert_eq!(
        outcomes(stream.as_slice()),
        [
            Outcome::Certificate(0),
            Outcome::Flawed(start, Flaw::ObsoleteKey(3)),
            Outcome::Certificate(start + old.len() as u64)
        ]
    );
}

#[test]
fn a_key_revocation_may_stand_alone() {
    let bytes = &real()[0];
    let revocation = packet::write(Tag::SIGNATURE, &[4, 0x20, 1, 8, 0, 0, 0, 0, 1, 2, 0, 8, 0xff]);
    let stream = [revocation.as_slice(), bytes].concat();
    let found = pieces(stream.as_slice());
    assert!(matches!(&found[0], Ok(Piece::Revocation(raw)) if raw.bytes == revocation && raw.position == 0));
    assert!(matches!(&found[1], Ok(Piece::Certificate(raw)) if raw.bytes == *bytes));
    let certification = packet::write(Tag::SIGNATURE, &[4, 0x10, 1, 8, 0, 0, 0, 0, 1, 2, 0, 8, 0xff]);
    assert_eq!(outcomes(certification.as_slice()), [Outcome::Flawed(0, Flaw::Misplaced(2))]);
}

#[test]
fn a_certificate_that_is_cut_short_is_named_and_those_after_it_are_found() {
    let certificates = real();
    let [one, two, three, ..] = &certificates[..] else { unreachable!("there are four") };
    let cuts = 4..two.len();
    let mut lost = 0;
    for kept in cuts.clone() {
        let stream = [one.as_slice(), &two[..kept], three].concat();
        let found = outcomes(stream.as_slice());
        assert_eq!(found[0], Outcome::Certificate(0), "cut after {kept}: {found:?}");
        let boundary =
            Packets::new(two).any(|packet| packet.is_ok_and(|packet| packet.span.end as usize == kept));
        let is_next_found = found.contains(&Outcome::Certificate((one.len() + kept) as u64));
        let is_named = found.iter().any(|outcome| matches!(outcome, Outcome::Flawed(..)));
        assert!(boundary || is_named || !is_next_found, "cut after {kept}: {found:?}");
        lost += usize::from(!is_next_found);
    }
    // What follows the cut is taken for the rest of a packet; now and then a packet's end seems to be found there.
    assert!(lost * 100 < cuts.len(), "{lost} of {} are lost", cuts.len());
}

/// What is no certificate, and where it is found to be wrong.
fn junk() -> Vec<(Vec<u8>, usize)> {
    let long = |tag: Tag, length: &[u8]| [&[0xc0 | tag.0][..], length, &[b'x'; 30]].concat();
    vec![
        (vec![0; 20], 0),
        (vec![0xff; 20], 0),
        (b"some text between them".to_vec(), 0),
        (vec![0xb7; 20], 0),
        ([&[0xb6, 0x7f, 0xff, 0xff, 0xff][..], &[b'x'; 15]].concat(), 0),
        (long(Tag::USER_ID, &[0xff, 0x7f, 0, 0, 0]), 0),
        (long(Tag::SIGNATURE, &[100]), 0),
        (long(Tag::USER_ID, &[100]), 0),
        (long(Tag(60), &[0xff, 0, 0, 1, 0]), 0),
        ([packet::write(Tag::MARKER, b"PGP"), b"text".to_vec()].concat(), 5),
    ]
}

#[test]
fn a_certificate_in_front_of_what_is_none_is_taken_whole_and_so_is_the_one_after_it() {
    let [one, two, ..] = &real()[..] else { unreachable!("there are four") };
    for (junk, wrong) in junk() {
        let stream = [one.as_slice(), &junk, two].concat();
        let [Ok(Piece::Certificate(first)), Err(error), Ok(Piece::Certificate(last))] =
            &pieces(stream.as_slice())[..]
        else {
            panic!("{junk:x?}: {:?}", outcomes(stream.as_slice()));
        };
        assert_eq!([&first.bytes, &last.bytes], [one, two], "{junk:x?}");
        assert_eq!(error.position(), (one.len() + wrong) as u64, "{junk:x?}");
    }
}

#[test]
fn of_a_certificate_that_is_cut_short_every_packet_is_taken_that_is_whole() {
    let [one, two, ..] = &real()[..] else { unreachable!("there are four") };
    let ends: Vec<usize> =
        Packets::new(one).map(|packet| packet.expect("a sound certificate").span.end as usize).collect();
    let first_signature =
        Packets::new(one).position(|packet| packet.is_ok_and(|one| one.tag == Tag::SIGNATURE));
    for (index, &end) in ends.iter().enumerate().skip(first_signature.expect("it is signed")) {
        let Some(&next) = ends.get(index + 1) else { break };
        for kept in [end + 1, end + 12, next - 1] {
            for after in [&[][..], two] {
                let found = pieces([&one[..kept], after].concat().as_slice());
                let Ok(Piece::Certificate(raw)) = &found[0] else { panic!("cut after {kept}: {found:?}") };
                assert_eq!(raw.bytes, one[..end], "cut after {kept}");
                assert!(
                    matches!(&found[1], Err(error) if error.position() == end as u64),
                    "cut after {kept}"
                );
                assert_eq!(found.len(), if after.is_empty() { 2 } else { 3 }, "cut after {kept}");
            }
        }
    }
}

#[test]
fn of_a_certificate_without_any_signature_before_the_damage_nothing_is_taken() {
    let bytes = &real()[0];
    let user_id = Packets::new(bytes).flatten().find(|packet| packet.tag == Tag::USER_ID);
    let end = user_id.expect("a user ID").span.end as usize;
    let stream = [&bytes[..end], b"text"].concat();
    assert_eq!(outcomes(stream.as_slice()), [Outcome::Flawed(end as u64, Flaw::NotAPacket)]);
}

#[test]
fn every_truncated_stream_gives_what_is_complete() {
    let certificates = real();
    let stream = certificates[..2].concat();
    let complete = certificates[0].len();
    for length in complete..stream.len() {
        let found = outcomes(&stream[..length]);
        assert_eq!(found[0], Outcome::Certificate(0));
    }
    for length in 0..complete {
        let found = pieces(&stream[..length]);
        for raw in found.into_iter().flatten() {
            assert!(matches!(raw, Piece::Certificate(raw) if stream.starts_with(&raw.bytes)));
        }
    }
}

#[test]
fn a_hundred_megabytes_of_packet_are_refused_without_being_held() {
    let bytes = &real()[0];
    let length = 100 << 20;
    for tag in [Tag::USER_ID, Tag::ATTRIBUTE, Tag::SIGNATURE, Tag(60)] {
        let mut header = vec![0xc0 | tag.0, 255];
        header.extend(u32::to_be_bytes(length));
        let stream = bytes
            .as_slice()
            .chain(header.as_slice())
            .chain(io::repeat(0xaa).take(length.into()))
            .chain(bytes.as_slice());
        let end = bytes.len() as u64;
        assert_eq!(
            outcomes(stream),
            [
                Outcome::Certificate(0),
                Outcome::Flawed(end, Flaw::TooLarge { tag: tag.0, length }),
                Outcome::Certificate(end + 6 + u64::from(length))
            ]
        );
    }
}

#[test]
fn a_user_id_longer_than_gpg_takes_goes_with_its_signatures() {
    let bytes = &real()[0];
    let long = packet::write(Tag::USER_ID, &[b'x'; 2049]);
    let signature = packet::write(Tag::SIGNATURE, &[4, 0x10, 1, 8, 0, 0, 0, 0, 1, 2, 0, 8, 0xff]);
    let stream = [bytes.as_slice(), &long, &signature].concat();
    let raw = &sound(stream.as_slice())[0];
    assert_eq!(raw.bytes, *bytes);
    assert_eq!(
        raw.notes,
        [LeftOut { position: bytes.len() as u64, flaw: Flaw::TooLarge { tag: 13, length: 2049 } }]
    );
}
