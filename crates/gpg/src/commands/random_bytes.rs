//! `--gen-random`: random bytes, for scripts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::number;
use crate::settings::Settings;
use crate::streams::Streams;

/// Bytes that are written at once; a multiple of 3, so that base64 goes on without padding.
const CHUNK: usize = 99;

/// Writes as many random bytes as the second argument says, without it for ever; with `--armor` as base64. The quality
/// that the first argument asks for is always the best.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let numbers: Vec<i64> = arguments.iter().map(|text| number::decimal(text).unwrap_or(-1)).collect();
    let (mut left, endless) = match numbers.as_slice() {
        [0..=2] => (0, true),
        [0..=2, count] if *count >= 0 => (*count as usize, *count == 0),
        _ => {
            streams.usage("--gen-random 0|1|2 [count]");
            return Ok(());
        }
    };
    while endless || left > 0 {
        let count = if endless { CHUNK } else { left.min(CHUNK) };
        let mut bytes = Zeroizing::new(vec![0; count]);
        getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random bytes: {error}"))?;
        match settings.armor {
            true => streams.out().write_all(STANDARD.encode(&bytes).as_bytes())?,
            false => streams.out().write_all(&bytes)?,
        }
        left = left.saturating_sub(count);
    }
    if settings.armor {
        streams.out().write_all(b"\n")?;
    }
    Ok(())
}
