//! Setters of options whose values are parsed when they are read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use engine::cert::mailbox::mailbox;
use engine::configuration::Compat;
use engine::foreign_text::shown;
use engine::verify::HashAlgorithm;

use super::refusal::{Outcome, Refusal};
use crate::algorithms::digest;
use crate::filter::{Filter, FilterError};
use crate::settings::{
    Compliance, Group, KEY_ORIGINS, KeyIdFormat, KeyOrigin, PinentryMode, Settings, trust,
};
use crate::signature_notations::NotationOrPolicy;

/// Returns the value of a word in a list, ignoring case.
fn choose<T: Copy>(words: &[(&str, T)], text: &[u8]) -> Option<T> {
    words.iter().find(|(word, _)| word.as_bytes().eq_ignore_ascii_case(text)).map(|(_, value)| *value)
}

/// Returns the value of a word in a list; complains of any other one that it is an unknown or invalid `what`.
fn chosen<T: Copy>(words: &[(&str, T)], what: &str, text: &[u8]) -> Result<T, Refusal> {
    choose(words, text).map_or_else(|| complaint(format!("{what} '{}'", shown(text))), Ok)
}

fn complaint<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Complaint(text.into()))
}

/// Reads as much of a number as there is, as `strtoull` does.
pub(super) fn input_size_hint(settings: &mut Settings, text: &[u8]) -> Outcome {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).map(|&byte| char::from(byte));
    settings.input_size.hint = digits.collect::<String>().parse().ok();
    Ok(())
}

pub(super) fn comment(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.armor_headers.comments.extend((!text.is_empty()).then(|| text.to_vec()));
    Ok(())
}

pub(super) fn sender(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.signature.sender = mailbox(text);
    match &settings.signature.sender {
        Some(_) => Ok(()),
        None => complaint(format!("\"{}\" is not a proper mail address", shown(text))),
    }
}

/// Which signatures an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signatures {
    /// Those over content.
    Content,
    /// Certifications.
    Keys,
    Both,
}

fn add_notation(settings: &mut Settings, kind: Signatures, given: NotationOrPolicy) {
    if kind != Signatures::Content {
        settings.cert_notations.push(given.clone());
    }
    if kind != Signatures::Keys {
        settings.signature.notations.push(given);
    }
}

/// Adds a notation; nothing where a `-` removes one, of which a new signature has none.
pub(super) fn notation(settings: &mut Settings, kind: Signatures, text: &[u8]) -> Outcome {
    if !text.starts_with(b"-") {
        let read = NotationOrPolicy::notation(text, settings.expert);
        add_notation(settings, kind, read.or_else(complaint)?);
    }
    Ok(())
}

pub(super) fn policy(settings: &mut Settings, kind: Signatures, url: &[u8]) -> Outcome {
    let what = if kind == Signatures::Keys { "certification" } else { "signature" };
    let read = NotationOrPolicy::policy(url);
    let read = read.map_or_else(|| complaint(format!("the given {what} policy URL is invalid")), Ok);
    add_notation(settings, kind, read?);
    Ok(())
}

pub(super) fn trust_model(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.trust_model = chosen(&trust::MODELS, "unknown trust model", text)?;
    Ok(())
}

/// As in gpg, a value with a colon is invalid.
pub(super) fn default_new_key_algorithm(settings: &mut Settings, text: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(text).into_owned();
    if text.contains(':') {
        let note = "invalid value for option '--default-new-key-algo'";
        return Err(Refusal::Notes(vec![note.to_owned()]));
    }
    settings.default_new_key_algorithm = Some(text).filter(|text| !text.is_empty());
    Ok(())
}

pub(super) fn pinentry_mode(settings: &mut Settings, text: &[u8]) -> Outcome {
    const WORDS: [(&str, PinentryMode); 5] = [
        ("ask", PinentryMode::Ask),
        ("default", PinentryMode::Ask),
        ("cancel", PinentryMode::Cancel),
        ("error", PinentryMode::Error),
        ("loopback", PinentryMode::Loopback),
    ];
    settings.passphrase.pinentry = chosen(&WORDS, "invalid pinentry mode", text)?;
    Ok(())
}

pub(super) fn agent_program(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.agent.program = Some(OsStr::from_bytes(text).into());
    Ok(())
}

pub(super) fn trusted_key(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.names_trusted_keys = settings.compat >= Compat::V2_4;
    if settings.names_trusted_keys && text == b"none" {
        return Ok(());
    }
    match trust::trusted_key(text) {
        Some(key) => settings.trusted_keys.push(key),
        None => return complaint(format!("'{}' is not a valid long keyID", shown(text))),
    }
    Ok(())
}

pub(super) fn key_id_format(settings: &mut Settings, text: &[u8]) -> Outcome {
    const WORDS: [(&str, KeyIdFormat); 5] = [
        ("short", KeyIdFormat::Short),
        ("long", KeyIdFormat::Long),
        ("0xshort", KeyIdFormat::ShortWith0x),
        ("0xlong", KeyIdFormat::LongWith0x),
        ("none", KeyIdFormat::None),
    ];
    settings.list.key_id_format = chosen(&WORDS, "unknown keyid-format", text)?;
    Ok(())
}

/// Output is always UTF-8.
pub(super) fn display_charset(_: &mut Settings, text: &[u8]) -> Outcome {
    const NAMES: [(&str, ()); 4] = [("utf-8", ()), ("utf8", ()), ("us-ascii", ()), ("ascii", ())];
    match choose(&NAMES, text) {
        Some(()) => Ok(()),
        None => {
            let note = format!("character set '{}' ignored: output is UTF-8", shown(text));
            Err(Refusal::Notes(vec![note]))
        }
    }
}

pub(super) fn compliance(settings: &mut Settings, text: &[u8]) -> Outcome {
    type Set = fn(&mut Settings);
    const WORDS: [(&str, Set); 9] = [
        ("gnupg", |settings| settings.compliance = Compliance::Gnupg),
        ("openpgp", strict_openpgp),
        ("rfc4880bis", |settings| settings.compliance = Compliance::Gnupg),
        ("rfc4880", strict_openpgp),
        ("rfc2440", strict_openpgp),
        ("pgp6", older_pgp),
        ("pgp7", older_pgp),
        ("pgp8", older_pgp),
        ("de-vs", |settings| {
            strict_openpgp(settings);
            settings.compliance = Compliance::DeVs;
        }),
    ];
    match choose(&WORDS, text) {
        Some(set) => set(settings),
        None => {
            let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
            let text = format!("invalid value for option '--compliance'; valid are: {}", words.join(", "));
            return Err(Refusal::Fatal(text));
        }
    }
    Ok(())
}

pub(super) fn older_pgp(settings: &mut Settings) {
    settings.compliance = Compliance::OpenPgp;
}

/// The strict modes accept user IDs without a self-signature.
pub(super) fn strict_openpgp(settings: &mut Settings) {
    settings.compliance = Compliance::OpenPgp;
    settings.allow_non_selfsigned_uid = true;
}

pub(super) fn group(settings: &mut Settings, text: &[u8]) -> Outcome {
    let Some(at) = text.iter().position(|&byte| byte == b'=') else {
        return complaint(format!("no = sign found in group definition '{}'", shown(text)));
    };
    let name = text[..at].trim_ascii_end();
    let values = text[at + 1..].split(|byte| matches!(byte, b' ' | b'\t')).filter(|value| !value.is_empty());
    let known = settings.groups.iter_mut().find(|group| group.name.eq_ignore_ascii_case(name));
    let group = match known {
        Some(group) => group,
        None => {
            settings.groups.insert(0, Group { name: name.to_vec(), values: Vec::new() });
            &mut settings.groups[0]
        }
    };
    for value in values {
        group.values.insert(0, value.to_vec());
    }
    Ok(())
}

pub(super) fn ungroup(settings: &mut Settings, text: &[u8]) -> Outcome {
    let name = text.trim_ascii_end();
    settings.groups.retain(|group| !group.name.eq_ignore_ascii_case(name));
    Ok(())
}

pub(super) fn key_origin(settings: &mut Settings, text: &[u8]) -> Outcome {
    let (word, url) = match text.iter().position(|&byte| byte == b',') {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_ascii()).filter(|url| !url.is_empty())),
        None => (text, None),
    };
    match (0..).zip(KEY_ORIGINS).find(|(_, known)| known.as_bytes().eq_ignore_ascii_case(word)) {
        None if word.eq_ignore_ascii_case(b"help") => {
            let words: Vec<&str> = KEY_ORIGINS.into_iter().rev().collect();
            return Err(Refusal::Fatal(format!("valid values for --key-origin are: {}", words.join(", "))));
        }
        Some((kind, _)) => settings.key_origin = KeyOrigin { kind, url: url.map(shown) },
        None => return complaint("invalid argument for option \"--key-origin\""),
    }
    Ok(())
}

pub(super) fn import_filter(settings: &mut Settings, text: &[u8]) -> Outcome {
    let filters = &mut settings.import_filter;
    add_filter(text, &mut [("keep-uid=", &mut filters.keep_uid), ("drop-sig=", &mut filters.drop_sig)])
}

pub(super) fn list_filter(settings: &mut Settings, text: &[u8]) -> Outcome {
    add_filter(text, &mut [("select=", &mut settings.list.select)])
}

/// Adds algorithms as `--assert-pubkey-algo` names them, such as `rsa3072` or `>=rsa2048`.
pub(super) fn assert_algorithms(settings: &mut Settings, text: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(text);
    let names = text.split([' ', '\t', ',']).filter(|name| !name.is_empty());
    settings.assert_algorithms.extend(names.map(str::to_owned));
    Ok(())
}

/// Checks flags that bring old behaviour back, none of which means anything here.
pub(super) fn compatibility_flags(_: &mut Settings, text: &[u8]) -> Outcome {
    const FLAGS: [&str; 2] = ["compr-keys", "suggest-embedded-name"];
    if is_help(text) {
        let flags = FLAGS.iter().map(|name| format!(" {name}"));
        return help_in_messages("available compatibility flags:", flags);
    }
    unknown_flags("compatibility", text, |name| FLAGS.contains(&name))
}

/// Checks flags for messages about gpg's inner workings, none of which is written here. They may be given as a number.
pub(super) fn debug_flags(_: &mut Settings, text: &[u8]) -> Outcome {
    const FLAGS: [(u32, &str); 14] = [
        (1, "packet"),
        (2, "mpi"),
        (4, "crypto"),
        (8, "filter"),
        (16, "iobuf"),
        (32, "memory"),
        (64, "cache"),
        (128, "memstat"),
        (256, "trust"),
        (512, "hashing"),
        (1024, "ipc"),
        (4096, "clock"),
        (8192, "lookup"),
        (16384, "extprog"),
    ];
    if is_help(text) {
        let flags = FLAGS.iter().map(|(number, name)| format!(" {number:>5} {name}"));
        return help_in_messages("available debug flags:", flags);
    }
    if text.first().is_some_and(u8::is_ascii_digit) {
        return Ok(());
    }
    unknown_flags("debug", text, |name| FLAGS.iter().any(|(_, known)| *known == name))
}

fn is_help(text: &[u8]) -> bool {
    matches!(text, b"?" | b"help")
}

fn help_in_messages(title: &str, flags: impl Iterator<Item = String>) -> Outcome {
    Err(Refusal::HelpInMessages([title.to_owned()].into_iter().chain(flags).collect()))
}

/// Tells the names in a list of `kind` flags that are not known; as in gpg they are no error.
fn unknown_flags(kind: &str, text: &[u8], is_known: impl Fn(&str) -> bool) -> Outcome {
    let text = shown(text);
    let names = text.split([',', ' ', '\t']).filter(|name| !matches!(*name, "" | "none" | "all"));
    let unknown = names.filter(|name| !is_known(name));
    let notes: Vec<_> = unknown.map(|name| format!("unknown {kind} flag '{name}' ignored")).collect();
    if notes.is_empty() { Ok(()) } else { Err(Refusal::Notes(notes)) }
}

/// Adds fingerprints, each once; `clear` takes back what earlier options said.
pub(super) fn default_new_key_adsk(settings: &mut Settings, text: &[u8]) -> Outcome {
    let known = &mut settings.new_decryption_subkeys;
    if text == b"clear" {
        known.clear();
        return Ok(());
    }
    let names = text.split(|byte| matches!(byte, b' ' | b'\t' | b',')).filter(|name| !name.is_empty());
    for name in names.map(|name| name.strip_suffix(b"!").unwrap_or(name)) {
        if !known.iter().any(|other| other.eq_ignore_ascii_case(name)) {
            known.push(name.to_vec());
        }
    }
    Ok(())
}

/// `clear` takes back what earlier options said.
pub(super) fn add_designated_revoker(settings: &mut Settings, text: &[u8]) -> Outcome {
    match text {
        b"clear" => settings.new_revokers.clear(),
        _ => settings.new_revokers.push(text.to_vec()),
    }
    Ok(())
}

pub(super) fn export_filter(settings: &mut Settings, text: &[u8]) -> Outcome {
    let filters = &mut settings.export_filter;
    add_filter(text, &mut [("keep-uid=", &mut filters.keep_uid), ("drop-subkey=", &mut filters.drop_subkey)])
}

fn add_filter(text: &[u8], filters: &mut [(&str, &mut Option<Filter>)]) -> Outcome {
    for (name, filter) in filters {
        if let Some(expression) = text.strip_prefix(name.as_bytes()) {
            let complaint_of =
                |error: FilterError| Refusal::Complaint(format!("invalid filter option: {error}"));
            return Filter::add(filter, expression).map_err(complaint_of);
        }
    }
    complaint(format!("invalid filter option: no such filter in '{}'", shown(text)))
}

pub(super) fn weak_digest(settings: &mut Settings, text: &[u8]) -> Outcome {
    match digest(text) {
        Some(number) => {
            settings.digests = settings.digests.with_weak(HashAlgorithm(number));
            Ok(())
        }
        None => complaint(format!("unknown weak digest '{}'", shown(text))),
    }
}

/// Checks a word that has no effect yet.
pub(super) fn request_origin(_: &mut Settings, text: &[u8]) -> Outcome {
    const WORDS: [(&str, ()); 4] = [("none", ()), ("local", ()), ("remote", ()), ("browser", ())];
    chosen(&WORDS, "invalid request origin", text)
}

/// An invalid policy ends gpg with code 1.
pub(super) fn tofu_default_policy(settings: &mut Settings, text: &[u8]) -> Outcome {
    settings.tofu_default_policy = trust::tofu_policy(text).map_err(Refusal::Fatal)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_collects_its_values_last_first() {
        let mut settings = Settings::default();
        group(&mut settings, b"a = one  two").expect("good group");
        group(&mut settings, b"A=three").expect("good group");
        assert_eq!(settings.groups.len(), 1);
        assert_eq!(settings.groups[0].values, [b"three".to_vec(), b"two".to_vec(), b"one".to_vec()]);
        ungroup(&mut settings, b"a ").expect("always good");
        assert!(settings.groups.is_empty());
        assert!(group(&mut settings, b"a").is_err());
    }

    #[test]
    fn a_key_origin_may_have_an_address() {
        let mut settings = Settings::default();
        key_origin(&mut settings, b"URL, https://example.org ").expect("known origin");
        assert_eq!(settings.key_origin, KeyOrigin { kind: 5, url: Some("https://example.org".into()) });
        assert!(key_origin(&mut settings, b"moon").is_err());
    }

    #[test]
    fn a_filter_has_to_be_one_that_exists() {
        let mut settings = Settings::default();
        import_filter(&mut settings, b"keep-uid=mbox = a@b.c").expect("good filter");
        assert!(settings.import_filter.keep_uid.is_some());
        assert!(import_filter(&mut settings, b"drop-subkey=usage = e").is_err());
        export_filter(&mut settings, b"drop-subkey=usage = e").expect("good filter");
    }
}
