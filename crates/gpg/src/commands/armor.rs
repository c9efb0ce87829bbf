//! `--enarmor` and `--dearmor`: adds ASCII armor to a file, or removes it.

use std::io::{self, BufReader, Read, Write};

use engine::cert::armor_writer::{ArmorWriter, Headers};
use engine::cert::dearmor::DearmoredMessage;

use super::message_output;
use crate::failure::Failure;
use crate::input;
use crate::settings::Settings;
use crate::streams::Streams;

/// Adds ASCII armor to the file that the argument names, or to standard input; or removes it.
pub(super) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    adds: bool,
) -> anyhow::Result<()> {
    let (command, suffix): (_, &[u8]) = if adds { ("enarmor", b".asc") } else { ("dearmor", b".gpg") };
    let Some(name) = streams.at_most_one(arguments, &format!("--{command} [file]")) else { return Ok(()) };
    let opened = input::open(name, streams).map_err(Failure::from).and_then(|input| {
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
    let mut input = BufReader::new(input);
    let mut writer = output.writer(streams);
    let changed = match adds {
        true => enarmor(&mut input, &mut *writer, settings.armor_headers.lines()),
        false => io::copy(&mut DearmoredMessage::of_any_kind(input), &mut *writer),
    };
    drop(writer);
    match changed {
        Ok(0) if !adds => {
            streams.error("no valid OpenPGP data found.");
            streams.status("NODATA 1");
        }
        Ok(_) => {}
        Err(error) => {
            streams.error(format_args!("{command}ing failed: {error}"));
            return Ok(());
        }
    }
    output.commit()
}

/// Adds armor; returns the number of bytes in it.
fn enarmor(input: &mut impl Read, output: &mut dyn Write, headers: Headers) -> io::Result<u64> {
    let headers = headers.with("Comment", b"Use \"gpg --dearmor\" for unpacking");
    let mut armor = ArmorWriter::titled(output, "ARMORED FILE").with_headers(headers);
    let count = io::copy(input, &mut armor)?;
    armor.finish()?;
    Ok(count)
}
