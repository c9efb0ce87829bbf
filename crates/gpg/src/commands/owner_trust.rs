//! `--export-ownertrust` and `--import-ownertrust`.

use std::collections::HashMap;

use engine::cert::Fingerprint;
use engine::owner_trust::{self, Assignment};
use engine::store::AssignedTrust;

use crate::clock;
use crate::settings::Settings;
use crate::streams::Streams;
use crate::{input, trust};

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
        .map(|store| store.snapshot().and_then(|snapshot| snapshot.decided_owner_trusts()))
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
    let Some(name) = streams.at_most_one(arguments, "--import-ownertrust [file]") else { return Ok(()) };
    let Some(text) = input::read(name, streams) else { return Ok(()) };
    let name = input::shown_name(name);
    let store = trust::database_to_write(settings, streams)?;
    let before = store.snapshot()?.owner_trusts()?;
    let mut assigned: HashMap<Fingerprint, AssignedTrust> = before.into_iter().collect();
    let mut given = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let complete = line.strip_suffix(b"\n").filter(|_| line.len() <= MAX_LINE);
        let Some(line) = complete.or_else(|| line.starts_with(b"#").then_some(line)) else {
            streams.error(format_args!("error in '{name}': line too long"));
            break;
        };
        match Assignment::read(line) {
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
    Ok(owner_trust::assign(store.as_ref(), &given, &command, settings.now)?)
}

fn report(settings: &Settings, streams: &mut Streams, new: Assignment, before: Option<AssignedTrust>) {
    let number = new.trust.unwrap_or_default().number();
    if settings.quiet {
        return;
    }
    match before.map(AssignedTrust::number) {
        Some(before) => streams.info(format_args!("changing ownertrust from {before} to {number}")),
        None => streams.info(format_args!("inserting ownertrust of {number}")),
    }
}
