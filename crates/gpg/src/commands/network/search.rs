//! `--search-keys`: what a keyserver has for a text, and a choice of it.

use engine::cert::{KeyId, Timestamp};
use engine::foreign_text::harmless;
use engine::network::hkp::IndexedKey;
use engine::network::{Client, Keyserver};

use super::{answers, servers};
use crate::algorithms::public_key_name;
use crate::clock;
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::prompt::{self, Question};
use crate::render::text::for_people;
use crate::settings::Settings;
use crate::streams::Streams;

/// The lines of a terminal, after which gpg asks before it goes on.
const SCREEN_LINES: usize = 24;

/// Shows the keys for a text, asks which to take, and imports these.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if arguments.is_empty() {
        return Ok(());
    }
    let (server, client) = (servers::keyserver(settings)?, servers::client(settings)?);
    let text = String::from_utf8_lossy(&arguments.join(&b' ')).into_owned();
    let search = Search { text: &text, server: &server, client: &client, settings };
    if let Some(CodedFailure { code, value }) = search.run(streams).err().map(Failure::coded).transpose()? {
        streams.status_failure_value("search-keys", value);
        streams.error(format_args!("keyserver search failed: {code}"));
    }
    Ok(())
}

struct Search<'a> {
    text: &'a str,
    server: &'a Keyserver,
    client: &'a Client,
    settings: &'a Settings,
}

/// What the user answered.
enum Choice {
    More,
    Taken,
}

impl Search<'_> {
    fn run(&self, streams: &mut Streams) -> Result<(), Failure> {
        let index = match self.server.index(self.client, self.text) {
            Ok(index) => index,
            Err(error) => return Err(servers::failure(&error, self.settings, streams)),
        };
        streams.info(format_args!("data source: {}", answers::base(self.server.url())));
        if index.keys.is_empty() {
            streams.info(format_args!("key \"{}\" not found on keyserver", harmless(self.text)));
            return Err(Code::NOT_FOUND.into());
        }
        if self.settings.list.with_colons {
            return self.write_records(&index.text, streams);
        }
        self.choose(&index.keys, streams)
    }

    /// Writes the answer for a program.
    fn write_records(&self, text: &[u8], streams: &mut Streams) -> Result<(), Failure> {
        for line in String::from_utf8_lossy(text).lines() {
            if ["info:", "pub:", "uid:"].iter().any(|kind| line.starts_with(kind)) {
                streams.out().write_all(harmless(line.trim_end()).as_bytes())?;
                streams.out().write_all(b"\n")?;
            }
        }
        Ok(())
    }

    /// Shows the keys, a screen at a time, and asks which to take.
    fn choose(&self, keys: &[IndexedKey], streams: &mut Streams) -> Result<(), Failure> {
        let (mut lines, mut first) = (0, 0);
        for (number, key) in keys.iter().enumerate() {
            let height = key.user_ids.len().max(1) + 1;
            if number > 0 && lines + height > SCREEN_LINES {
                if let Choice::Taken = self.ask(keys, first, number, streams)? {
                    return Ok(());
                }
                (lines, first) = (0, number);
            }
            streams.out().write_all(&self.described(number + 1, key))?;
            lines += height;
        }
        self.ask(keys, first, keys.len(), streams).map(drop)
    }

    /// Asks about the keys that were shown last, of the first `shown`.
    fn ask(
        &self,
        keys: &[IndexedKey],
        first: usize,
        shown: usize,
        streams: &mut Streams,
    ) -> Result<Choice, Failure> {
        streams.out().flush()?;
        let context =
            format!("Keys {}-{shown} of {} for \"{}\".  ", first + 1, keys.len(), harmless(self.text));
        let question = Question {
            keyword: "keysearch.prompt",
            context: context.as_bytes(),
            text: "Enter number(s), N)ext, or Q)uit > ",
        };
        let answer = prompt::line(&question, self.settings, streams)?;
        let answer = String::from_utf8_lossy(&answer).trim().to_ascii_lowercase();
        if answer.starts_with('q') {
            streams.error(format_args!("error searching keyserver: {}", Code::CANCELLED));
            return Err(Code::CANCELLED.into());
        }
        let numbers = answer.split([' ', ',']).filter_map(|word| word.parse::<usize>().ok());
        let chosen: Vec<&IndexedKey> =
            numbers.filter_map(|number| keys[..shown].get(number.checked_sub(1)?)).collect();
        for key in &chosen {
            if let Some(key) = answers::of_key(key.id.as_bytes()) {
                answers::get("search-keys", &[key], self.server, self.client, self.settings, streams)?;
            }
        }
        Ok(if chosen.is_empty() { Choice::More } else { Choice::Taken })
    }

    /// Returns the text about a key.
    fn described(&self, number: usize, key: &IndexedKey) -> Vec<u8> {
        let mut text = format!("({number})").into_bytes();
        for user_id in &key.user_ids {
            text.push(b'\t');
            for_people(&user_id.value, &mut text);
            text.push(b'\n');
        }
        text.extend_from_slice(b"\t  ");
        if let Some(bits) = key.bits.filter(|bits| *bits > 0) {
            text.extend(format!("{bits} bit ").bytes());
        }
        if let Some(algorithm) = key.algorithm {
            text.extend(format!("{} ", public_key_name(algorithm)).bytes());
        }
        text.extend_from_slice(b"key ");
        match key_id(&key.id) {
            Some(key_id) => self.settings.list.key_id_format.issuer(key_id, &mut text),
            None => text.extend(key.id.bytes()),
        }
        for (label, time) in [("created", key.created), ("expires", key.expires)] {
            if let Some(time) = time.and_then(|time| u32::try_from(time).ok()).filter(|time| *time > 0) {
                text.extend(format!(", {label}: {}", clock::day_string(Timestamp(time))).bytes());
            }
        }
        let flags = [(key.is_revoked, "revoked"), (key.is_disabled, "disabled"), (key.is_expired, "expired")];
        for (_, word) in flags.iter().filter(|(is_set, _)| *is_set) {
            text.extend(format!(" ({word})").bytes());
        }
        text.push(b'\n');
        text
    }
}

/// Returns the key ID of a fingerprint or key ID in hexadecimal.
fn key_id(id: &str) -> Option<KeyId> {
    let digits = if id.len() == 40 { &id[24..] } else { id.get(..16)? };
    u64::from_str_radix(digits, 16).ok().map(KeyId)
}
