//! `--export-ownertrust` and `--import-ownertrust`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::cert::Fingerprint;
use keyhoard::owner_trust::{self, Given};
use keyhoard::store::AssignedTrust;

use crate::clock;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::system_error::system_words;
use crate::trust;

/// Maximum length in bytes of a line that gpg reads, its end included.
const MAX_LINE: usize = 254;

/// Writes the owner trust of all keys.
pub(super) fn export(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if !arguments.is_empty() {
        streams.usage("--export-ownertrust");
        return Ok(());
    }
    let given = trust::database(&settings.home)?
        .map(|store| store.snapshot().and_then(|snapshot| snapshot.owner_trusts()))
        .transpose()?;
    let head = format!(
        "# List of assigned trustvalues, created {}\n# (Use \"gpg --import-ownertrust\" to restore them)\n",
        clock::long_string(settings.now)
    );
    let lines = owner_trust::lines(&given.unwrap_or_default());
    streams.out().write_all(head.as_bytes())?;
    Ok(streams.out().write_all(lines.as_bytes())?)
}

/// Reads owner trust from the file that the argument names, or from standard input.
pub(super) fn import(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if arguments.len() > 1 {
        streams.usage("--import-ownertrust [file]");
        return Ok(());
    }
    let Some((name, text)) = input(arguments, streams)? else { return Ok(()) };
    let store = trust::database_to_write(&settings.home)?;
    let before = store.snapshot()?.owner_trusts()?;
    let mut assigned: HashMap<Fingerprint, AssignedTrust> = before.into_iter().collect();
    let mut given = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let complete = line.strip_suffix(b"\n").filter(|_| line.len() <= MAX_LINE);
        let Some(line) = complete.or_else(|| line.starts_with(b"#").then_some(line)) else {
            streams.error(format_args!("error in '{name}': line too long"));
            break;
        };
        match Given::read(line) {
            Ok(Some(new)) if new.trust != assigned.get(&new.key).copied() => {
                report(settings, streams, new, assigned.get(&new.key).copied());
                assigned.extend(new.trust.map(|trust| (new.key, trust)));
                given.push(new);
            }
            Ok(_) => {}
            Err(error) => streams.error(format_args!("error in '{name}': {error}")),
        }
    }
    let command = format!("gpg-keyhoard --import-ownertrust {name}");
    Ok(owner_trust::give(store.as_ref(), &given, &command, settings.now)?)
}

fn report(settings: &Settings, streams: &mut Streams, new: Given, before: Option<AssignedTrust>) {
    let number = new.trust.unwrap_or_default().number();
    if settings.quiet {
        return;
    }
    match before.map(AssignedTrust::number) {
        Some(before) => streams.info(format_args!("changing ownertrust from {before} to {number}")),
        None => streams.info(format_args!("inserting ownertrust of {number}")),
    }
}

/// Returns the input and its name; `None` for a file that cannot be opened, which is reported.
fn input(arguments: &[Vec<u8>], streams: &mut Streams) -> anyhow::Result<Option<(String, Vec<u8>)>> {
    let file = arguments.first().filter(|name| *name != b"-");
    let Some(file) = file else {
        let mut text = Vec::new();
        io::stdin().read_to_end(&mut text)?;
        return Ok(Some(("[stdin]".to_owned(), text)));
    };
    let path = Path::new(OsStr::from_bytes(file));
    match fs::read(path) {
        Ok(text) => Ok(Some((path.display().to_string(), text))),
        Err(error) => {
            let error = system_words(&error);
            streams.error(format_args!("can't open '{}': {error}", path.display()));
            Ok(None)
        }
    }
}
