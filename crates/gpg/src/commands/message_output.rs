//! Where a new message goes.

use crate::failure::Failure;
use crate::input;
use crate::output::{Holds, Output};
use crate::settings::Settings;
use crate::streams::Streams;

/// Opens the output of a message: `--output`, else a file beside the input.
pub(super) fn open(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    name: Option<&[u8]>,
    suffix: &[u8],
) -> Result<Output, Failure> {
    let beside = name.filter(|_| !input::is_stream(name)).map(|name| [name, suffix].concat());
    let named = settings.output.as_deref().or(beside.as_deref());
    let read = input::ids(arguments.iter().map(Vec::as_slice).chain(name));
    let output = Output::named(named, Holds::Packets, &read, settings, streams)?;
    if settings.verbose > 0 && matches!(output, Output::Standard) {
        let to = if settings.output.is_some() { "'-'" } else { "stdout" };
        streams.info(format_args!("writing to {to}"));
    }
    Ok(output)
}
