//! How far the input of a message is read, in `PROGRESS` lines (GnuPG's `doc/DETAILS`).

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use crate::input;
use crate::settings::Settings;
use crate::status;
use crate::streams::{StatusLines, Streams};

/// How long nothing is reported while bytes are read.
const PAUSE: Duration = Duration::from_secs(1);
/// The largest number that is not written in a larger unit.
const LARGEST: u64 = 1024 * 1024;
/// Bytes of a name that are written.
const NAME: usize = 20;

/// Input whose reading is reported, with `--enable-progress-filter`.
pub(crate) struct ReportedInput<R> {
    input: R,
    progress: Option<Progress>,
}

impl ReportedInput<File> {
    /// Begins to report the reading of the file that an argument names, or of standard input.
    pub(crate) fn new(file: File, name: Option<&[u8]>, settings: &Settings, streams: &mut Streams) -> Self {
        let size = file.metadata().ok().filter(|_| !input::is_stream(name)).map(|file| file.len());
        let total = size.or(settings.input_size.of_stream()).unwrap_or(0);
        let special = name.filter(|_| settings.special_file_names).and_then(input::special_name);
        let name = special.as_deref().or(name);
        let progress = settings.progress.then(|| Progress::begin(name, total, streams.status_lines()));
        Self { input: file, progress }
    }
}

impl<R: Read> Read for ReportedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if let Some(progress) = self.progress.as_mut().filter(|_| !buffer.is_empty()) {
            progress.read(read);
        }
        Ok(read)
    }
}

struct Progress {
    lines: StatusLines,
    name: Vec<u8>,
    total: u64,
    done: u64,
    reported: u64,
    time: Instant,
}

impl Progress {
    fn begin(name: Option<&[u8]>, total: u64, lines: StatusLines) -> Self {
        let name = name.unwrap_or(b"stdin");
        let name = name[..name.len().min(NAME)].to_vec();
        let mut progress = Self { lines, name, total, done: 0, reported: 0, time: Instant::now() };
        progress.report();
        progress
    }

    fn read(&mut self, bytes: usize) {
        self.done += bytes as u64;
        let is_end = bytes == 0 && self.done != self.reported;
        if is_end || self.time.elapsed() > PAUSE {
            self.report();
        }
    }

    fn report(&mut self) {
        (self.reported, self.time) = (self.done, Instant::now());
        let [done, total, unit] = scaled(self.done, self.total);
        let name = status::with_text("PROGRESS", &self.name);
        self.lines.status([&name, format!(" ? {done} {total} {unit}").as_bytes()].concat());
    }
}

/// Returns both numbers of bytes and their unit; small ones, since programs may keep them in 32 bits.
fn scaled(done: u64, total: u64) -> [String; 3] {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let done = if total > 0 { done.min(total) } else { done };
    let largest = if total > 0 { total } else { done };
    let steps = (0..).find(|step| largest >> (10 * step) <= LARGEST).unwrap_or_default();
    let unit = UNITS.get(steps).copied().unwrap_or_default();
    [(done >> (10 * steps)).to_string(), (total >> (10 * steps)).to_string(), unit.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_above_a_mebi_are_written_in_larger_units() {
        assert_eq!(scaled(0, 0), ["0", "0", "B"]);
        assert_eq!(scaled(5, 1 << 20), ["5", "1048576", "B"]);
        assert_eq!(scaled(1 << 20, (1 << 20) + 1), ["1024", "1024", "KiB"]);
        assert_eq!(scaled(3 << 30, 0), ["3072", "0", "MiB"]);
        assert_eq!(scaled(u64::MAX, u64::MAX), ["16383", "16383", "PiB"]);
    }
}
