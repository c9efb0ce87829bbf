//! `--enarmor` and `--dearmor`: adds ASCII armor to a file, or removes it.

use std::io::{self, BufReader, Read, Write};

use keyhoard::cert::armor_writer::{ArmorWriter, Headers};
use keyhoard::cert::dearmor::DearmoredMessage;

use super::message_output;
use crate::failure::Failure;
use crate::input;
use crate::settings::Settings;
use crate::status::Status;
use crate::streams::Streams;

/// Adds ASCII armor to the file that the argument names, or to standard input.
pub(super) fn enarmor(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    run(arguments, settings, streams, "enarmor", b".asc", |input, output, headers| {
        let headers = headers.with("Comment", b"Use \"gpg --dearmor\" for unpacking");
        let mut armor = ArmorWriter::titled(output, "ARMORED FILE").with_headers(headers);
        let count = io::copy(input, &mut armor)?;
        armor.finish()?;
        Ok(count)
    })
}

/// Removes the ASCII armor from the file that the argument names, or from standard input.
pub(super) fn dearmor(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    run(arguments, settings, streams, "dearmor", b".gpg", |input, output, _| {
        io::copy(&mut DearmoredMessage::of_any_kind(input), output)
    })
}

/// A conversion of an input with the armor headers; returns the number of bytes.
type Change = fn(&mut dyn Read, &mut dyn Write, Headers) -> io::Result<u64>;

fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    command: &str,
    suffix: &[u8],
    change: Change,
) -> anyhow::Result<()> {
    let Some(name) = streams.at_most_one(arguments, &format!("--{command} [file]")) else { return Ok(()) };
    let opened = input::open(name, streams).map_err(Failure::of).and_then(|input| {
        let output = message_output::open(arguments, settings, streams, name, suffix)?;
        Ok((input, output))
    });
    let (input, mut output) = match opened {
        Ok(opened) => opened,
        Err(failure) => {
            let code = failure.coded()?.code;
            streams.status_failure(command, code);
            streams.error(format_args!("{command}ing failed: {code}"));
            return Ok(());
        }
    };
    let headers = settings.armor_headers.lines();
    let changed = change(&mut BufReader::new(input), &mut *output.writer(streams), headers);
    match changed {
        Ok(0) if command == "dearmor" => {
            streams.error("no valid OpenPGP data found.");
            streams.status(Status::NoData { what: 1 });
        }
        Ok(_) => {}
        Err(error) => {
            streams.error(format_args!("{command}ing failed: {error}"));
            return Ok(());
        }
    }
    output.commit()
}
