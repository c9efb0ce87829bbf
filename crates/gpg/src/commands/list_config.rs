//! `--list-config`, for programs that ask what gpg can do.

use crate::algorithms::{self, Named};
use crate::render::{algorithm, text};
use crate::settings::{Group, Settings};
use crate::streams::Streams;

/// Writes the items named by the arguments, or all of them. Without `--with-colons` gpg writes nothing.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    if !settings.list.with_colons {
        return Ok(());
    }
    let names = arguments.join(&b' ');
    if arguments.is_empty() {
        for item in ITEMS.iter().filter(|item| item.always) {
            streams.out().write_all(&item.text(settings))?;
        }
        return Ok(());
    }
    for name in names.split(|&byte| byte == b' ') {
        match ITEMS.iter().find(|item| item.is_called(name)) {
            Some(item) => streams.out().write_all(&item.text(settings))?,
            None => {
                let name = String::from_utf8_lossy(name);
                streams.error(format_args!("unknown configuration item '{name}'"));
            }
        }
    }
    Ok(())
}

/// A configuration item.
struct Item {
    /// Its names, separated by `|`; the first one is written.
    names: &'static str,
    /// Written if no item is named.
    always: bool,
    value: Value,
}

enum Value {
    Groups,
    /// The version of gpg.
    Version,
    Numbers(&'static [Named]),
    Names(&'static [Named]),
    CurveNames,
    CurveIdentifiers,
    /// No value, for programs that ask gpg 1.4's questions.
    Nothing,
}

#[rustfmt::skip]
const ITEMS: &[Item] = &[
    Item { names: "group", always: true, value: Value::Groups },
    Item { names: "version", always: true, value: Value::Version },
    Item { names: "pubkey", always: true, value: Value::Numbers(algorithms::PUBLIC_KEY) },
    Item { names: "pubkeyname", always: true, value: Value::Names(algorithms::PUBLIC_KEY) },
    Item { names: "cipher", always: true, value: Value::Numbers(algorithms::CIPHER) },
    Item { names: "ciphername", always: true, value: Value::Names(algorithms::CIPHER) },
    Item { names: "digest|hash", always: true, value: Value::Numbers(algorithms::DIGEST) },
    Item { names: "digestname|hashname", always: true, value: Value::Names(algorithms::DIGEST) },
    Item { names: "compress", always: true, value: Value::Numbers(algorithms::COMPRESSION) },
    Item { names: "compressname", always: true, value: Value::Names(algorithms::COMPRESSION) },
    Item { names: "ccid-reader-id", always: true, value: Value::Nothing },
    Item { names: "curve", always: true, value: Value::CurveNames },
    Item { names: "curveoid", always: false, value: Value::CurveIdentifiers },
];

impl Item {
    fn is_called(&self, name: &[u8]) -> bool {
        self.names.split('|').any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }

    fn text(&self, settings: &Settings) -> Vec<u8> {
        let name = self.names.split('|').next().unwrap_or_default();
        let curves = || algorithms::curves(settings.compat);
        let joined = |values: Vec<String>| format!("cfg:{name}:{}\n", values.join(";")).into_bytes();
        match self.value {
            Value::Groups => settings.groups.iter().flat_map(group_line).collect(),
            Value::Version => joined(vec![settings.compat.version().to_owned()]),
            Value::Numbers(list) => joined(list.iter().map(|(number, _)| number.to_string()).collect()),
            Value::Names(list) => joined(list.iter().map(|(_, name)| (*name).to_owned()).collect()),
            Value::CurveNames => joined(curves().map(|(_, name)| name.to_owned()).collect()),
            Value::CurveIdentifiers => joined(curves().map(|(oid, _)| algorithm::dotted(oid)).collect()),
            Value::Nothing => Vec::new(),
        }
    }
}

fn group_line(group: &Group) -> Vec<u8> {
    let mut line = b"cfg:group:".to_vec();
    text::field(&group.name, &mut line);
    for (number, value) in group.values.iter().enumerate() {
        line.push(if number == 0 { b':' } else { b';' });
        text::escape(value, |byte| text::is_control(byte) || b":;\\".contains(&byte), &mut line);
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_inside_a_group_are_escaped() {
        let group = Group { name: b"a:b".to_vec(), values: vec![b"x;y".to_vec(), b"z".to_vec()] };
        assert_eq!(group_line(&group), b"cfg:group:a\\x3ab:x\\x3by;z\n");
    }

    #[test]
    fn an_item_goes_by_any_of_its_names_and_writes_the_first() {
        let item = ITEMS.iter().find(|item| item.is_called(b"HASH")).expect("known");
        assert_eq!(item.text(&Settings::default()), b"cfg:digest:2;3;8;9;10;11\n");
    }
}
