//! Values on status lines, where line ends and spaces would break the line.

use std::io::{self, Write};

/// Writes text with its line ends as `\n` and `\r`.
pub(super) fn write_escaped(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    for &byte in text {
        match byte {
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            other => out.write_all(&[other])?,
        }
    }
    Ok(())
}

/// Writes bytes up to `last_control`, the delete character and the percent sign as `%XX`.
pub(super) fn write_percent_escaped(out: &mut dyn Write, text: &[u8], last_control: u8) -> io::Result<()> {
    for &byte in text {
        if byte <= last_control || byte == 127 || byte == b'%' {
            write!(out, "%{byte:02X}")?;
        } else {
            out.write_all(&[byte])?;
        }
    }
    Ok(())
}
