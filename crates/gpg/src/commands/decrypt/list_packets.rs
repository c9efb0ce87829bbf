//! `--list-packets`: the packets of a message or of keys, also inside encrypted data.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};

use engine::message::{self, EncryptedDataFormat, Error, Step};

use super::ending::Ending;
use super::unlock::{Unlocked, Unlocker};
use super::{report_failure, verify};
use crate::code::Code;
use crate::commands::guess;
use crate::failure::CodedFailure;
use crate::render;
use crate::settings::Settings;
use crate::streams::Streams;

/// Lists the packets in the file that the argument names, or in standard input.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let Some((input, _)) = guess::input(arguments, streams) else { return Ok(()) };
    let mut input = BufReader::new(input);
    let beginning = input.fill_buf()?.to_vec();
    let (outcome, unlocked) = list(settings, streams, &mut input)?;
    let error = match outcome {
        Ok(true) => return Ok(()),
        Ok(false) => Error::NoMessage,
        Err(error) => error,
    };
    let error = verify::of_lone_byte(error, &beginning);
    if !matches!(error, Error::NoMessage) || unlocked.is_asked() {
        report_failure(settings, streams, error, unlocked);
        return Ok(());
    }
    // gpg counts the text as packets, so only the missing end is an error.
    if holds_clear_text(&beginning) {
        verify::report_no_packets_behind_text(streams);
        return Ok(());
    }
    verify::report_no_packets(streams, beginning.is_empty());
    let code = Code::END_OF_INPUT;
    guess::report_failure(streams, CodedFailure { code, value: code.bare() });
    Ok(())
}

fn holds_clear_text(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|&byte| byte == b'\n');
    lines.any(|line| line.trim_ascii_end() == b"-----BEGIN PGP SIGNED MESSAGE-----")
}

/// Lists packets; returns the result, and that of the search for session keys.
fn list(
    settings: &Settings,
    streams: &mut Streams,
    input: &mut (dyn Read + Send),
) -> anyhow::Result<(message::Result<bool>, Unlocked)> {
    let shared = RefCell::new(streams);
    let mut unlocker = Unlocker::new(settings, &shared);
    let outcome =
        message::packets(input, &mut unlocker, &mut |step| show(step, settings, &mut shared.borrow_mut()));
    Ok((outcome, unlocker.end()?))
}

fn show(step: Step<'_>, settings: &Settings, streams: &mut Streams) -> message::Result<()> {
    let packet = match step {
        Step::Packet(packet) => packet,
        Step::Decrypted(format) => {
            let is_protected = *format != EncryptedDataFormat::Unprotected;
            let ending = if is_protected { Ending::Unchanged } else { Ending::Unprotected };
            ending.report(settings, streams);
            return Ok(());
        }
    };
    let mut text = Vec::new();
    let shown = render::packets::packet(&packet, settings.compat, &mut text);
    streams.out().write_all(&text).map_err(Error::Write)?;
    if let Err(complaint) = shown {
        streams.error(complaint);
    }
    Ok(())
}
