//! The files that libpq reads: services and passwords.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use tokio_postgres::Config;
use tokio_postgres::config::Host;
use zeroize::Zeroizing;

/// Returns the settings of one section of a service file.
pub(super) fn section<'t>(text: &'t str, wanted: &str) -> Option<Vec<(&'t str, &'t str)>> {
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            if name == wanted {
                found = Some(Vec::new());
            }
        } else if let Some(settings) = &mut found
            && !line.starts_with('#')
            && let Some((name, value)) = line.split_once('=')
        {
            settings.push((name.trim(), value.trim()));
        }
    }
    found
}

/// Looks a password up in a file that nobody else can read (PostgreSQL's manual, 34.16).
pub(super) fn password(
    path: &Path,
    config: &Config,
    user: &str,
    database: &str,
) -> Option<Zeroizing<String>> {
    let mut file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || !is_private(&metadata) {
        return None;
    }
    // As long as the file: what grows leaves copies.
    let mut text = Zeroizing::new(String::with_capacity(metadata.len() as usize + 1));
    file.read_to_string(&mut text).ok()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first()?.to_string();
    let wanted = [host.as_str(), port.as_str(), database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = password_fields(line);
        let [fields @ .., password] = &fields[..] else { return None };
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        (fields.len() == 4 && fields.iter().zip(&wanted).all(fits)).then(|| Zeroizing::new(password.clone()))
    })
}

#[cfg(unix)]
fn is_private(file: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(file) & 0o077 == 0
}

/// Other systems have no such mode: the manual leaves it to the user's directory.
#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

/// Takes a line of a password file apart; `\` takes the meaning from a colon.
fn password_fields(line: &str) -> Zeroizing<Vec<String>> {
    let mut fields = Zeroizing::new(vec![String::with_capacity(line.len())]);
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            ':' if last < 4 => fields.push(String::with_capacity(line.len())),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}
