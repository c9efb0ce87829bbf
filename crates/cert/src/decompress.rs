//! Decompresses compressed packets (RFC 9580, 5.6 and 9.4).

use crate::error::Flaw;
use crate::packet::Tag;
use flate2::FlushDecompress;
use std::fmt;
use std::hint::black_box;

/// The number of bytes that decide whether a packet is a compressed packet.
pub(crate) const PROBE: usize = 1 << 10;

/// The output of one step in bytes; the output of a step that finds damage is lost.
const STEP: usize = 4 << 10;

const DAMAGED: Flaw = Flaw::Compressed("damaged data");

/// Decompresses the content of one packet step by step.
pub(crate) enum Decompressor {
    Stored,
    Deflate(flate2::Decompress),
    Bzip2(bzip2::Decompress),
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stored => "Stored",
            Self::Deflate(_) => "Deflate",
            Self::Bzip2(_) => "Bzip2",
        })
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) consumed: usize,
    pub(crate) produced: usize,
    /// Whether the compressed data end here.
    pub(crate) is_last: bool,
}

impl Decompressor {
    /// Begins with the first bytes of a packet's body, of which the first one is the algorithm.
    ///
    /// # Errors
    ///
    /// If the content does not begin with a packet: after a wrong length, bytes of a certificate can look like a
    /// compressed packet.
    pub(crate) fn begin(body: &[u8]) -> Result<Self, Flaw> {
        let (&algorithm, data) = body.split_first().ok_or(Flaw::CutShort("a compressed packet"))?;
        let mut probe = Self::of(algorithm).ok_or(Flaw::Compressed("an unknown algorithm"))?;
        let mut first = [0];
        match probe {
            // BZip2 has no output before a block of up to 900,000 bytes is complete.
            Self::Bzip2(_) if !begins_bzip2(data) => return Err(DAMAGED),
            Self::Bzip2(_) => return Ok(probe),
            _ => {}
        }
        match probe.step(data, &mut first)? {
            Step { produced: 1, .. } if !Tag::of(first[0]).is_some_and(Tag::is_known) => {
                Err(Flaw::Compressed("something other than packets"))
            }
            _ => Self::of(algorithm).ok_or(DAMAGED),
        }
    }

    fn of(algorithm: u8) -> Option<Self> {
        match algorithm {
            0 => Some(Self::Stored),
            1 => Some(Self::Deflate(flate2::Decompress::new(false))),
            2 => Some(Self::Deflate(flate2::Decompress::new(true))),
            3 => Some(Self::Bzip2(bzip2::Decompress::new(false))),
            _ => None,
        }
    }

    /// Decompresses `input` to `out`; empty input means the end of the input.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Flaw> {
        let most = out.len().min(STEP);
        let out = &mut out[..most];
        match self {
            Self::Stored => {
                let count = input.len().min(out.len());
                out[..count].copy_from_slice(&input[..count]);
                Ok(Step { consumed: count, produced: count, is_last: input.is_empty() })
            }
            Self::Deflate(inflate) => {
                let before = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(input, out, FlushDecompress::None);
                let is_last = status.map_err(|_| DAMAGED)? == flate2::Status::StreamEnd;
                let (consumed, produced) = (inflate.total_in() - before.0, inflate.total_out() - before.1);
                Ok(Step { consumed: consumed as usize, produced: produced as usize, is_last })
            }
            Self::Bzip2(bzip2) => {
                let before = (bzip2.total_in(), bzip2.total_out());
                let is_last = bzip2.decompress(input, out).map_err(|_| DAMAGED)? == bzip2::Status::StreamEnd;
                let (consumed, produced) = (bzip2.total_in() - before.0, bzip2.total_out() - before.1);
                Ok(Step { consumed: consumed as usize, produced: produced as usize, is_last })
            }
        }
    }
}

impl Drop for Decompressor {
    /// Wipes the window, which may contain a secret key. BZip2's state is left, since its bytes are permuted.
    fn drop(&mut self) {
        if let Self::Deflate(inflate) = self {
            inflate.reset(true);
            black_box(inflate);
        }
    }
}

/// Returns whether data begin with BZip2's magic number, and that of a block or the end.
fn begins_bzip2(data: &[u8]) -> bool {
    const BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const END: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    let after = data.strip_prefix(b"BZh").and_then(|rest| rest.get(1..));
    after.is_some_and(|rest| rest.starts_with(BLOCK) || rest.starts_with(END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_like_no_compressed_packets_is_told() {
        let refused = |body: &[u8]| Decompressor::begin(body).is_err();
        assert!(!refused(&[0, 0x99, 1]));
        assert!(!refused(b"\x03BZh9\x31\x41\x59\x26\x53\x59rest"));
        for body in [&b""[..], &[0, 7], &[1, 0xff], &[2, 0x78, 0x9b], b"\x03BZh9abcdef", &[4, 0x99], &[110]] {
            assert!(refused(body), "{body:?}");
        }
    }
}
