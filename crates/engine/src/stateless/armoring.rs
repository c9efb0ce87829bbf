//! Packets as text, and back.

use std::io::{self, Read, Write};

use cert::armor_writer::ArmorWriter;
use cert::dearmor::DearmoredMessage;
use cert::packet::{Packets, Tag};
use zeroize::Zeroizing;

use super::{Failure, Result};

/// So many bytes tell what packets are about.
const BEGINNING: u64 = 64 << 10;

/// Writes packets with armor; what has armor stays as it is.
///
/// # Errors
///
/// [`BadData`](super::Kind::BadData) if the input is not OpenPGP.
pub fn armor(input: &mut dyn Read, out: &mut dyn Write) -> Result<()> {
    let mut beginning = Zeroizing::new(Vec::with_capacity(BEGINNING as usize));
    Read::take(&mut *input, BEGINNING).read_to_end(&mut beginning)?;
    let mut all = (&beginning[..]).chain(input);
    if beginning.trim_ascii_start().starts_with(b"-----BEGIN PGP ") {
        io::copy(&mut all, out)?;
        return Ok(());
    }
    let mut armored = ArmorWriter::titled(out, title(&beginning)?);
    io::copy(&mut all, &mut armored)?;
    armored.finish()?;
    Ok(())
}

/// Returns what the first line says of packets.
fn title(packets: &[u8]) -> Result<&'static str> {
    let first = packets.first().and_then(|first| Tag::of(*first));
    Ok(match first.ok_or_else(|| Failure::bad_data("the input is not OpenPGP"))? {
        Tag::PUBLIC_KEY => "PUBLIC KEY BLOCK",
        Tag::SECRET_KEY => "PRIVATE KEY BLOCK",
        // Old programs write signatures before what they are over.
        Tag::SIGNATURE if only_signatures(packets) => "SIGNATURE",
        _ => "MESSAGE",
    })
}

fn only_signatures(packets: &[u8]) -> bool {
    Packets::new(packets).map_while(std::result::Result::ok).all(|packet| packet.tag == Tag::SIGNATURE)
}

/// Writes packets without armor; what has none stays as it is.
///
/// # Errors
///
/// [`BadData`](super::Kind::BadData) if the input is not OpenPGP, or its armor is damaged.
pub fn dearmor(input: &mut dyn Read, out: &mut dyn Write) -> Result<()> {
    let mut packets = DearmoredMessage::of_any_kind(input);
    let mut buffer = Zeroizing::new(vec![0; BEGINNING as usize]);
    let mut bytes = 0;
    loop {
        let count = packets.read(&mut buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => Failure::bad_data(&error),
            _ => error.into(),
        })?;
        if count == 0 {
            break;
        }
        out.write_all(&buffer[..count])?;
        bytes += count;
    }
    if bytes == 0 { Err(Failure::bad_data("the input is not OpenPGP")) } else { Ok(()) }
}
