//! `--store`: a message with content that is neither signed nor encrypted.

use std::io::Write;

use engine::message::{self, Signing};

use super::{literal, message_output};
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::progress::ReportedInput;
use crate::settings::Settings;
use crate::streams::Streams;

/// Writes the file that the argument names, or standard input, as a message.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let Some(name) = streams.at_most_one(arguments, "--store [filename]") else { return Ok(()) };
    if let Err(failure) = store(arguments, name, settings, streams) {
        let CodedFailure { code, value } = failure.coded()?;
        streams.status_failure_value("store", value);
        streams.error(format_args!("processing message failed: {code}"));
    }
    Ok(())
}

fn store(
    arguments: &[Vec<u8>],
    name: Option<&[u8]>,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let mut input = ReportedInput::new(input::open(name, streams)?, name, settings, streams);
    let suffix: &[u8] = if settings.armor { b".asc" } else { b".gpg" };
    let mut output = message_output::open(arguments, settings, streams, name, suffix)?;
    let content = literal::options(settings, streams, settings.message.signed_compression(), name);
    let nobody = Signing::new(Vec::new())?;
    let mut out = output.sender(streams)?;
    if settings.armor {
        let mut armored = settings.armor_headers.begin(out, "MESSAGE");
        message::sign(&mut input, &mut armored, &content, nobody)?;
        armored.finish()?.flush()?;
    } else {
        message::sign(&mut input, &mut out, &content, nobody)?;
        out.flush()?;
        drop(out);
    }
    Ok(output.commit()?)
}
