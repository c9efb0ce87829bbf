//! Smartcards, as `--card-status` and `--edit-card` show them.

use agent::card::{Card, CardKey, KeyAlgorithm, PinDerivation, Salutation, is_openpgp_serial};
use engine::cert::Timestamp;
use engine::cert::effective::{ComponentState, Effective, KeyState};
use engine::cert::facts::{ComponentKind, Facts, KeyFacts};
use engine::configuration::Compat;
use engine::listing::SecretPart;
use engine::store::Fingerprint;

use super::algorithm;
use super::digits::{date, date_or_never, hex, lower_hex, time_of_day};
use super::identity::pad;
use super::text::{field, for_people, sanitized};
use crate::compat;
use crate::settings::ListSettings;

/// The keys of a card in the order of their numbers, as they are called.
const LABELS: [&str; 3] = ["Signature key ....:", "Encryption key....:", "Authentication key:"];

/// The names that libgcrypt has for curves, and those that OpenPGP programs have.
const CURVES: [(&str, &str); 10] = [
    ("Curve25519", "cv25519"),
    ("Ed25519", "ed25519"),
    ("X448", "cv448"),
    ("Ed448", "ed448"),
    ("NIST P-256", "nistp256"),
    ("NIST P-384", "nistp384"),
    ("NIST P-521", "nistp521"),
    ("brainpoolP256r1", "brainpoolP256r1"),
    ("brainpoolP384r1", "brainpoolP384r1"),
    ("brainpoolP512r1", "brainpoolP512r1"),
];

/// Returns the number of a card as people know it: of an OpenPGP card maker and number, else the whole serial number.
pub(crate) fn number(serial: &str) -> String {
    match (serial.get(16..20), serial.get(20..28)) {
        (Some(maker), Some(number)) if is_openpgp_serial(serial) => format!("{maker} {number}"),
        _ => serial.to_owned(),
    }
}

/// Appends the records of a card.
pub(crate) fn colons(card: &Card, settings: &ListSettings, out: &mut Vec<u8>) {
    let serial = card.serial.as_deref().unwrap_or_default();
    out.extend(b"Reader:");
    sanitized(card.reader.as_deref().unwrap_or_default(), out);
    out.extend(format!(":AID:{serial}:").into_bytes());
    if !card.is_openpgp() {
        return out.extend(format!("{}-card:\n", application(card).0).into_bytes());
    }
    out.extend(b"openpgp-card:\n");
    match card.application_version {
        0 => record("version", &[serial.get(12..16).unwrap_or_default()], out),
        version => record("version", &[&format!("{:02}{:02}", version >> 8 & 0xff, version & 0xff)], out),
    }
    out.extend(b"vendor:");
    let maker = u16::from_str_radix(serial.get(16..20).unwrap_or_default(), 16).unwrap_or_default();
    maker.to_be_bytes().iter().for_each(|&byte| lower_hex(byte, out));
    out.push(b':');
    vendor(card.manufacturer.as_deref().unwrap_or_default(), out);
    out.extend(b":\n");
    record("serial", &[serial.get(20..28).unwrap_or_default()], out);
    holder_record(card.holder.as_deref().unwrap_or_default(), out);
    text_record("lang", card.languages.as_deref(), out);
    let sex = match card.salutation {
        Salutation::None => "u",
        Salutation::Mr => "m",
        Salutation::Ms => "f",
    };
    record("sex", &[sex], out);
    text_record("url", card.url.as_deref(), out);
    text_record("login", card.login.as_deref(), out);
    numbers_record("forcepin", &[u32::from(!card.pin_is_remembered)], out);
    for (number, key) in (1..).zip(&card.keys) {
        match &key.algorithm {
            Some(KeyAlgorithm::Rsa(bits)) => out.extend(format!("keyattr:{number}:1:{bits}:\n").into_bytes()),
            Some(KeyAlgorithm::Curve(algorithm, curve)) => {
                out.extend(format!("keyattr:{number}:{}:", algorithm.0).into_bytes());
                field(curve.as_bytes(), out);
                out.extend(b":\n");
            }
            None => {}
        }
    }
    record("maxpinlen", &card.longest_pins.map(|length| length.to_string()), out);
    record("pinretry", &card.tries.map(|tries| tries.to_string()), out);
    out.extend(format!("sigcount:{}:::\n", card.signatures).into_bytes());
    if card.capabilities.derives_pins {
        record("kdf", &[derivation(card)], out);
    }
    if card.capabilities.has_button && settings.compat >= Compat::V2_4 {
        record("uif", &card.keys.each_ref().map(|key| u8::from(key.needs_touch).to_string()), out);
    }
    for (number, data) in (1..).zip(&card.private_data) {
        if let Some(data) = data {
            out.extend(format!("private_do:{number}:").into_bytes());
            field(data, out);
            out.extend(b":\n");
        }
    }
    let [first, second, third] = &card.authorities;
    // gpg writes of the first one as much as the second one is long.
    let first = &first[..first.len().min(second.len())];
    fingerprints_record("cafpr", [first, second, third], out);
    fingerprints_record("fpr", card.keys.each_ref().map(|key| key.fingerprint.as_slice()), out);
    record("fprtime", &card.keys.each_ref().map(|key| key.created.to_string()), out);
    let keygrips = card.keys.each_ref().map(|key| key.keygrip.map_or([0; 20], |keygrip| keygrip.0));
    fingerprints_record("grp", keygrips.each_ref().map(<[u8; 20]>::as_slice), out);
}

/// Appends a card for people, up to where its keys are named.
pub(crate) fn human(card: &Card, settings: &ListSettings, out: &mut Vec<u8>) {
    let serial = card.serial.as_deref();
    line("Reader ...........:", card.reader.as_deref().unwrap_or(b"[none]"), out);
    line("Application ID ...:", serial.unwrap_or("[none]").as_bytes(), out);
    if !card.is_openpgp() {
        return line("Application type .:", application(card).1.as_bytes(), out);
    }
    let serial = serial.unwrap_or_default();
    line("Application type .:", b"OpenPGP", out);
    line("Version ..........:", version(card, serial).as_bytes(), out);
    line("Manufacturer .....:", card.manufacturer.as_deref().unwrap_or(b"?"), out);
    line("Serial number ....:", serial.get(20..28).unwrap_or_default().as_bytes(), out);
    let holder = card.holder.as_deref().map(|holder| spoken(holder).join(&b' '));
    text_line("Name of cardholder:", holder.as_deref(), out);
    text_line("Language prefs ...:", card.languages.as_deref(), out);
    let salutation: &[u8] = match card.salutation {
        Salutation::None => b"",
        Salutation::Mr => b"Mr.",
        Salutation::Ms => b"Ms.",
    };
    line("Salutation .......:", salutation, out);
    text_line("URL of public key :", card.url.as_deref(), out);
    text_line("Login data .......:", card.login.as_deref(), out);
    for (number, data) in (1..).zip(&card.private_data) {
        if data.is_some() {
            text_line(&format!("Private DO {number} .....:"), data.as_deref(), out);
        }
    }
    for (number, authority) in (1..).zip(&card.authorities) {
        if !authority.is_empty() {
            out.extend(format!("CA fingerprint {number} .:").into_bytes());
            fingerprint(authority, out);
        }
    }
    line("Signature PIN ....:", if card.pin_is_remembered { b"not forced" } else { b"forced" }, out);
    if card.keys[0].algorithm.is_some() {
        let names: Vec<String> = card.keys.iter().filter_map(algorithm_name).collect();
        line("Key attributes ...:", names.join(" ").as_bytes(), out);
    }
    line("Max. PIN lengths .:", numbers(&card.longest_pins).as_bytes(), out);
    line("PIN retry counter :", numbers(&card.tries).as_bytes(), out);
    line("Signature counter :", card.signatures.to_string().as_bytes(), out);
    if card.capabilities.derives_pins {
        line("KDF setting ......:", derivation(card).as_bytes(), out);
    }
    if card.capabilities.has_button && settings.compat >= Compat::V2_4 {
        let [sign, decrypt, authenticate] =
            card.keys.each_ref().map(|key| if key.needs_touch { "on" } else { "off" });
        let text = format!("Sign={sign} Decrypt={decrypt} Auth={authenticate}");
        line("UIF setting ......:", text.as_bytes(), out);
    }
    for (label, key) in LABELS.iter().zip(&card.keys) {
        out.extend(label.as_bytes());
        fingerprint(&key.fingerprint, out);
        if !key.fingerprint.is_empty() && key.created != 0 {
            origin(key, settings, out);
        }
    }
    out.extend(b"General key info..: ");
}

/// The certificate of a card's key.
pub(crate) struct CardCertificate<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) effective: &'a Effective,
    /// The secret keys that are here.
    pub(crate) secret: &'a [SecretPart],
}

impl CardCertificate<'_> {
    /// Appends a line for the card's key, and one for each key of the certificate.
    pub(crate) fn write(&self, found: &Fingerprint, settings: &ListSettings, out: &mut Vec<u8>) {
        let name = self.effective.primary_name(self.facts).unwrap_or(b"[User ID not found]");
        if let Some(key) = self.facts.keys().find(|key| key.fingerprint == *found) {
            out.extend(if key.fingerprint == self.facts.primary().fingerprint { b"pub  " } else { b"sub  " });
            key_name(key, settings, out);
            out.push(b' ');
            date(key.created, out);
            out.push(b' ');
            for_people(name, out);
            out.push(b'\n');
        }
        for (index, (component, state)) in
            self.facts.components.iter().zip(&self.effective.components).enumerate()
        {
            if let (ComponentKind::Key(key), ComponentState::Key(state)) = (&component.kind, state) {
                self.key(index == 0, key, state, settings, out);
            }
        }
    }

    fn key(
        &self,
        is_primary: bool,
        key: &KeyFacts,
        state: &KeyState,
        settings: &ListSettings,
        out: &mut Vec<u8>,
    ) {
        let secret = self.secret.iter().find(|part| part.key == key.fingerprint);
        let card = secret.and_then(|part| part.card.as_deref());
        let state = match is_primary {
            true => *state,
            false => compat::shown_subkey(settings.compat, self.effective.primary(), state),
        };
        let start = out.len();
        out.extend(if is_primary { b"sec" } else { b"ssb" });
        out.push(match (secret, card) {
            (_, Some(_)) => b'>',
            (Some(_), None) => b' ',
            (None, _) => b'#',
        });
        out.extend(b"  ");
        key_name(key, settings, out);
        out.extend(b"  ");
        let indent = out.len() - start;
        out.extend(b"created: ");
        date(key.created, out);
        out.extend(b"  expires: ");
        date_or_never(state.expires, out);
        if let Some(card) = card {
            out.push(b'\n');
            pad(indent, out);
            out.extend(format!("card-no: {}", number(card)).into_bytes());
        }
        out.push(b'\n');
    }
}

fn key_name(key: &KeyFacts, settings: &ListSettings, out: &mut Vec<u8>) {
    algorithm::description(key, settings.legacy, settings.compat, out);
    out.push(b'/');
    settings.key_id_format.issuer(key.fingerprint.key_id(), out);
}

fn line(label: &str, text: &[u8], out: &mut Vec<u8>) {
    out.extend(label.as_bytes());
    out.push(b' ');
    for_people(text, out);
    out.push(b'\n');
}

fn text_line(label: &str, text: Option<&[u8]>, out: &mut Vec<u8>) {
    line(label, text.filter(|text| !text.is_empty()).unwrap_or(b"[not set]"), out);
}

fn record<T: AsRef<str>>(name: &str, fields: &[T], out: &mut Vec<u8>) {
    out.extend(name.as_bytes());
    out.push(b':');
    for text in fields {
        out.extend(text.as_ref().as_bytes());
        out.push(b':');
    }
    out.push(b'\n');
}

/// Appends a record with two empty fields at its end.
fn numbers_record(name: &str, numbers: &[u32], out: &mut Vec<u8>) {
    let mut fields: Vec<String> = numbers.iter().map(u32::to_string).collect();
    fields.extend([String::new(), String::new()]);
    record(name, &fields, out);
}

fn text_record(name: &str, text: Option<&[u8]>, out: &mut Vec<u8>) {
    out.extend(name.as_bytes());
    out.push(b':');
    field(text.unwrap_or_default(), out);
    out.extend(b":\n");
}

fn fingerprints_record(name: &str, fingerprints: [&[u8]; 3], out: &mut Vec<u8>) {
    out.extend(name.as_bytes());
    out.push(b':');
    for fingerprint in fingerprints {
        hex(fingerprint, out);
        out.push(b':');
    }
    out.push(b'\n');
}

/// Appends the name of the maker, in which percent signs and colons are escaped.
fn vendor(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        match byte {
            b'%' | b':' | ..0x20 => {
                out.push(b'%');
                lower_hex(byte, out);
            }
            byte => out.push(byte),
        }
    }
}

fn holder_record(holder: &[u8], out: &mut Vec<u8>) {
    out.extend(b"name:");
    match spoken(holder).as_slice() {
        [] => out.push(b':'),
        [surname] => field(surname, out),
        parts => {
            field(&parts[0], out);
            out.push(b':');
            field(&parts[1], out);
        }
    }
    out.extend(b":\n");
}

/// Turns `Doe<<Jane` into the parts of a name as it is spoken: `Jane`, `Doe`.
fn spoken(holder: &[u8]) -> Vec<Vec<u8>> {
    let spaced = |part: &[u8]| part.iter().map(|&byte| if byte == b'<' { b' ' } else { byte }).collect();
    let separator = holder.windows(2).position(|pair| pair == b"<<");
    match separator.map(|at| (&holder[..at], &holder[at + 2..])) {
        _ if holder.is_empty() => Vec::new(),
        Some((surname, given)) if !given.is_empty() => vec![spaced(given), spaced(surname)],
        _ => vec![spaced(holder)],
    }
}

/// Appends a fingerprint in groups of four digits.
fn fingerprint(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_empty() {
        out.extend(b" [none]");
    }
    for (number, group) in bytes.chunks(2).enumerate() {
        out.extend(if number == 5 { &b"  "[..] } else { b" " });
        hex(group, out);
    }
    out.push(b'\n');
}

fn origin(key: &CardKey, settings: &ListSettings, out: &mut Vec<u8>) {
    out.extend(b"      created ....: ");
    date(Timestamp(key.created), out);
    out.push(b' ');
    time_of_day(Timestamp(key.created), out);
    out.push(b'\n');
    if settings.with_keygrip {
        out.extend(b"      keygrip ....: ");
        hex(&key.keygrip.map_or([0; 20], |keygrip| keygrip.0), out);
        out.push(b'\n');
    }
}

fn version(card: &Card, serial: &str) -> String {
    let digits = |range| u32::from_str_radix(serial.get(range).unwrap_or_default(), 16).unwrap_or_default();
    match card.application_version.to_be_bytes() {
        // Each part is two digits of the number.
        [0, 0, 0, 0] => format!("{:x}.{:x}", digits(12..14), digits(14..16)),
        [0, 0, 0, last] => last.to_string(),
        [0, 0, major, minor] => format!("{major}.{minor}"),
        [0, rest @ ..] => rest.map(|part| part.to_string()).join("."),
        all => all.map(|part| part.to_string()).join("."),
    }
}

fn algorithm_name(key: &CardKey) -> Option<String> {
    Some(match key.algorithm.as_ref()? {
        KeyAlgorithm::Rsa(bits) => format!("rsa{bits}"),
        KeyAlgorithm::Curve(_, curve) => {
            let known = CURVES.iter().find(|(name, _)| name.eq_ignore_ascii_case(curve));
            known.map_or(curve.clone(), |(_, name)| (*name).to_owned())
        }
    })
}

fn numbers(numbers: &[u32; 3]) -> String {
    numbers.map(|number| number.to_string()).join(" ")
}

fn derivation(card: &Card) -> &'static str {
    match card.pin_derivation {
        PinDerivation::Off => "off",
        PinDerivation::OneSalt => "single",
        PinDerivation::Salted => "on",
    }
}

/// Returns what another application is called in records and for people.
fn application(card: &Card) -> (&'static str, &'static str) {
    let name = card.application.as_deref().unwrap_or_default().to_ascii_lowercase();
    match name.as_slice() {
        b"nks" => ("netkey", "NetKey"),
        b"dinsig" => ("dinsig", "DINSIG"),
        b"p15" => ("pkcs15", "PKCS#15"),
        b"geldkarte" => ("geldkarte", "Geldkarte"),
        b"piv" => ("piv", "PIV"),
        _ => ("unknown", "Unknown"),
    }
}
