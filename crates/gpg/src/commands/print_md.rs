//! `--print-md` and `--print-mds`: digests of files.

use std::io::{self, Read};

use engine::configuration::Compat;
use engine::verify::HashAlgorithm;
use engine::verify::hash::{Digest, Hasher};

use crate::render::digits::hex_text;
use crate::render::text::for_people;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::system_error::system_words;
use crate::{algorithms, input};

/// The hash algorithms of `--print-mds`, in gpg's order.
const ALGORITHMS: [u8; 7] = [1, 2, 3, 11, 8, 9, 10];
/// Columns of a line.
const WIDTH: usize = 79;

/// Prints one digest of each file, with the hash algorithm that the first argument names.
pub(super) fn one_algorithm(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    let [name, files @ ..] = arguments else {
        streams.usage("--print-md algo [files]");
        return Ok(());
    };
    if name == b"*" {
        return each_file(settings, streams, files, &ALGORITHMS, true);
    }
    let Some(number) = named(name) else {
        let name = engine::foreign_text::shown(name);
        streams.error(format_args!("invalid hash algorithm '{name}'"));
        return Ok(());
    };
    each_file(settings, streams, files, &[number], false)
}

/// Returns the number of the hash algorithm with this name in libgcrypt.
fn named(name: &[u8]) -> Option<u8> {
    let is_name = |number: &u8| algorithms::digest_name(*number).as_bytes().eq_ignore_ascii_case(name);
    ALGORITHMS.into_iter().find(is_name)
}

/// Prints all digests of each file.
pub(super) fn all_algorithms(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    each_file(settings, streams, arguments, &ALGORITHMS, true)
}

fn each_file(
    settings: &Settings,
    streams: &mut Streams,
    files: &[Vec<u8>],
    numbers: &[u8],
    named: bool,
) -> anyhow::Result<()> {
    if files.is_empty() {
        return print(settings, streams, None, numbers, named);
    }
    files.iter().try_for_each(|file| print(settings, streams, Some(file), numbers, named))
}

fn print(
    settings: &Settings,
    streams: &mut Streams,
    file: Option<&[u8]>,
    numbers: &[u8],
    named: bool,
) -> anyhow::Result<()> {
    let digests = input::open_silently(file).and_then(|file| digests(file, numbers));
    let digests = match digests {
        Ok(digests) => digests,
        Err(error) => {
            let name = input::shown_name(file);
            streams.error(format_args!("{name}: {}", system_words(&error)));
            return Ok(());
        }
    };
    let mut out = Vec::new();
    for (number, digest) in numbers.iter().zip(digests) {
        let Some(digest) = digest else {
            let name = input::shown_name(file);
            streams.error(format_args!("{name}: made to collide with another file's SHA1"));
            continue;
        };
        if settings.list.with_colons {
            colons(file.unwrap_or_default(), *number, digest.as_bytes(), &mut out);
        } else {
            let label = named.then(|| if *number == 3 { "RMD160" } else { algorithms::digest_name(*number) });
            shown(file, label, digest.as_bytes(), settings.compat, &mut out);
        }
    }
    streams.out().write_all(&out)?;
    Ok(())
}

/// Reads a file once, for all digests; `None` for SHA-1 of a file that was made to collide.
fn digests(mut file: impl Read, numbers: &[u8]) -> io::Result<Vec<Option<Digest>>> {
    let mut hashers: Vec<Option<Hasher>> =
        numbers.iter().map(|number| Hasher::new(HashAlgorithm(*number))).collect();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hashers.iter_mut().flatten().for_each(|hasher| hasher.update(&buffer[..count]));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hashers.into_iter().map(|hasher| hasher.and_then(Hasher::finish)).collect())
}

fn colons(file: &[u8], number: u8, digest: &[u8], out: &mut Vec<u8>) {
    for &byte in file {
        if byte <= 32 || byte > 127 || matches!(byte, b':' | b'%') {
            out.extend(format!("%{byte:02X}").into_bytes());
        } else {
            out.push(byte);
        }
    }
    out.extend(format!(":{number}:{}:\n", hex_text(digest)).into_bytes());
}

/// Writes a digest as text: in groups, with a gap in the middle of short ones, wrapped at [`WIDTH`]. 2.2 lets a line with
/// groups of four bytes be longer by a column, and begins one without a name with a space.
fn shown(file: Option<&[u8]>, label: Option<&str>, digest: &[u8], compat: Compat, out: &mut Vec<u8>) {
    const MAX_NAME_COLUMNS: usize = 40;
    let mut indent = 0;
    if let Some(file) = file {
        for_people(file, out);
        out.extend(b": ");
        indent = file.len() + 2;
        if indent > MAX_NAME_COLUMNS {
            out.push(b'\n');
            indent = 0;
        }
    }
    if let Some(label) = label {
        out.extend(format!("{label:>6} = ").into_bytes());
        indent += 9;
    }
    let (group, columns, middle) = match digest.len() {
        16 => (1, 2, Some(8)),
        20 => (2, 4, Some(10)),
        _ if compat < Compat::V2_4 => (4, 8, None),
        _ => (4, 9, None),
    };
    let margin = if compat < Compat::V2_4 { indent.max(1) } else { indent };
    let mut column = indent;
    for (number, bytes) in digest.chunks(group).enumerate() {
        if number > 0 {
            if column + columns > WIDTH {
                out.extend(format!("\n{:margin$}", "").into_bytes());
                column = indent;
            } else {
                out.push(b' ');
                column += 1;
            }
            if middle == Some(number * group) {
                out.push(b' ');
                column += 1;
            }
        }
        out.extend(hex_text(bytes).into_bytes());
        column += 2 * bytes.len();
    }
    out.push(b'\n');
}
