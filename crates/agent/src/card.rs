//! OpenPGP cards, which the agent's scdaemon reads: the status lines that describe a card (GnuPG's manual, "Scdaemon
//! Protocol"; the functional specification of the OpenPGP application on ISO smart card operating systems, 4.4).

use cert::Keygrip;
use verify::PublicKeyAlgorithm;

use crate::connection::unescaped;

/// What is known of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The name of the reader.
    pub reader: Option<Vec<u8>>,
    /// The serial number, in hexadecimal digits; of an OpenPGP card the identifier of its application.
    pub serial: Option<String>,
    /// The name of the application.
    pub application: Option<Vec<u8>>,
    /// The version of the application, a byte for each part; 0 if it is unknown.
    pub application_version: u32,
    /// The name of the maker.
    pub manufacturer: Option<Vec<u8>>,
    /// The name of the holder as ISO 7501-1 has it: `Doe<<Jane`.
    pub holder: Option<Vec<u8>>,
    /// The languages that the holder prefers, two letters each.
    pub languages: Option<Vec<u8>>,
    /// How the holder is addressed.
    pub salutation: Salutation,
    /// Where the holder's certificate is.
    pub url: Option<Vec<u8>>,
    /// The holder's account.
    pub login: Option<Vec<u8>>,
    /// The four data objects for any use.
    pub private_data: [Option<Vec<u8>>; 4],
    /// The fingerprints of certification authorities; empty where there is none.
    pub authorities: [Vec<u8>; 3],
    /// How many signatures the card has made.
    pub signatures: u64,
    /// The PIN is asked for once, not for each signature.
    pub pin_is_remembered: bool,
    /// The greatest lengths of PIN, Reset Code and Admin PIN.
    pub longest_pins: [u32; 3],
    /// How often each may still be wrong.
    pub tries: [u32; 3],
    /// What the card can do.
    pub capabilities: Capabilities,
    /// The card's life cycle status (ISO 7816-4, 7.4.10): 5 for a card that can be reset.
    pub life_cycle: u32,
    /// How PINs are turned into what the card compares.
    pub pin_derivation: PinDerivation,
    /// The keys that sign, decrypt and authenticate.
    pub keys: [CardKey; 3],
    /// The creation time of the key that the last `SCD GENKEY` made, in seconds since 1970.
    pub key_created_at: Option<u32>,
}

/// What a card can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Keys can be put onto it.
    pub imports_keys: bool,
    /// The algorithms of its keys can be changed.
    pub changes_algorithms: bool,
    /// It can ask for a touch of its button.
    pub has_button: bool,
    /// PINs can be derived.
    pub derives_pins: bool,
}

/// How the holder is addressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Salutation {
    /// Nothing is said.
    #[default]
    None,
    /// "Mr."
    Mr,
    /// "Ms."
    Ms,
}

/// How PINs are turned into what the card compares (specification 4.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinDerivation {
    /// Not at all.
    #[default]
    Off,
    /// With one salt for all.
    OneSalt,
    /// With a salt for each.
    Salted,
}

/// A key of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardKey {
    /// The fingerprint; empty if there is no key.
    pub fingerprint: Vec<u8>,
    /// When it was made, in seconds since 1970; 0 if unknown.
    pub created: u32,
    /// The keygrip, once the key was read.
    pub keygrip: Option<Keygrip>,
    /// The algorithm.
    pub algorithm: Option<KeyAlgorithm>,
    /// A touch of the button is asked for.
    pub needs_touch: bool,
}

/// The algorithm of a card's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// RSA with a modulus of so many bits.
    Rsa(u32),
    /// An algorithm, and libgcrypt's name of a curve.
    Curve(PublicKeyAlgorithm, String),
}

impl Card {
    /// Returns whether it has the OpenPGP application.
    pub fn is_openpgp(&self) -> bool {
        let by_number = self.serial.as_deref().is_some_and(is_openpgp_serial);
        by_number || self.application.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(b"openpgp"))
    }

    /// Returns whether the application has version 2 or later; of a YubiKey the number says 0.
    pub fn is_version_2(&self) -> bool {
        let version = self.serial.as_deref().and_then(|serial| serial.get(12..14));
        version.is_some_and(|version| version != "01")
    }

    /// Takes in what a status line says; others than those of cards are left alone.
    pub fn take(&mut self, keyword: &str, text: &[u8]) {
        let words =
            || std::str::from_utf8(text).unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let value = || Some(unescaped(text));
        match keyword {
            "READER" => self.reader = value(),
            "SERIALNO" => {
                let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit());
                self.serial = Some(digits.map(|byte| char::from(*byte)).collect());
            }
            "APPTYPE" => self.application = value(),
            "APPVERSION" => self.application_version = hexadecimal(words().next()),
            "MANUFACTURER" => {
                let name = text.iter().position(|&byte| byte == b' ').and_then(|space| text.get(space + 1..));
                self.manufacturer = name.map(<[u8]>::to_vec).filter(|name| !name.is_empty());
            }
            "DISP-NAME" => self.holder = value(),
            "DISP-LANG" => self.languages = value(),
            "DISP-SEX" => {
                self.salutation = match text.first() {
                    Some(b'1') => Salutation::Mr,
                    Some(b'2') => Salutation::Ms,
                    _ => Salutation::None,
                }
            }
            "PUBKEY-URL" => self.url = value(),
            "LOGIN-DATA" => self.login = value(),
            "KEY-CREATED-AT" => self.key_created_at = words().next().and_then(|word| word.parse().ok()),
            "SIG-COUNTER" => self.signatures = decimal(words().next()),
            "CHV-STATUS" => self.take_pins(&unescaped(text)),
            "EXTCAP" => self.take_capabilities(&unescaped(text)),
            "KDF" => self.pin_derivation = pin_derivation(&unescaped(text)),
            "KEY-FPR" | "KEY-TIME" | "CA-FPR" | "KEY-ATTR" | "KEYPAIRINFO" => {
                let words: Vec<&str> = words().collect();
                self.take_key(keyword, &words);
            }
            _ => self.take_numbered(keyword, text),
        }
    }

    /// Takes in a line whose keyword ends with a number.
    fn take_numbered(&mut self, keyword: &str, text: &[u8]) {
        let Some((name, number)) = keyword.rsplit_once('-') else { return };
        let Some(index) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            return;
        };
        match name {
            "PRIVATE-DO" => {
                if let Some(place) = self.private_data.get_mut(index) {
                    *place = Some(unescaped(text));
                }
            }
            "UIF" => {
                if let Some(key) = self.keys.get_mut(index) {
                    key.needs_touch = unescaped(text).first().is_some_and(|first| *first != 0);
                }
            }
            _ => {}
        }
    }

    /// Takes in a line about one of the keys.
    fn take_key(&mut self, keyword: &str, words: &[&str]) {
        let index = |text: &str| text.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < 3);
        match (keyword, words) {
            ("KEYPAIRINFO", [keygrip, reference, ..]) => {
                if let (Some(index), Ok(bytes)) = (
                    reference.strip_prefix("OPENPGP.").and_then(index),
                    <[u8; 20]>::try_from(fingerprint(keygrip)),
                ) {
                    self.keys[index].keygrip = Some(Keygrip(bytes));
                }
            }
            (_, [number, rest @ ..]) => {
                let Some(index) = index(number) else { return };
                match keyword {
                    "KEY-FPR" => self.keys[index].fingerprint = fingerprint(rest.first().unwrap_or(&"")),
                    "KEY-TIME" => self.keys[index].created = decimal(rest.first().copied()),
                    "CA-FPR" => self.authorities[index] = fingerprint(rest.first().unwrap_or(&"")),
                    _ => self.keys[index].algorithm = key_algorithm(rest),
                }
            }
            _ => {}
        }
    }

    fn take_pins(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let mut numbers = text.split_whitespace();
        self.pin_is_remembered = numbers.next().is_some_and(|word| word != "0");
        self.longest_pins = std::array::from_fn(|_| decimal(numbers.next()));
        self.tries = std::array::from_fn(|_| decimal(numbers.next()));
    }

    fn take_capabilities(&mut self, text: &[u8]) {
        for word in String::from_utf8_lossy(text).split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let capable = value.starts_with('1');
            match name {
                "ki" => self.capabilities.imports_keys = capable,
                "aac" => self.capabilities.changes_algorithms = capable,
                "bt" => self.capabilities.has_button = capable,
                "kdf" => self.capabilities.derives_pins = capable,
                "si" => self.life_cycle = decimal(Some(value)),
                _ => {}
            }
        }
    }
}

/// Returns whether a card's serial number is that of the OpenPGP application (specification 4.2.1).
pub fn is_openpgp_serial(serial: &str) -> bool {
    serial.len() == 32 && serial.starts_with("D27600012401")
}

fn pin_derivation(object: &[u8]) -> PinDerivation {
    match (object.get(2), object.get(22)) {
        (Some(3), Some(0x85)) => PinDerivation::Salted,
        (Some(3), _) => PinDerivation::OneSalt,
        _ => PinDerivation::Off,
    }
}

/// Reads `1 rsa2048 32 1` or `18 Curve25519`.
fn key_algorithm(words: &[&str]) -> Option<KeyAlgorithm> {
    let [number, rest @ ..] = words else { return None };
    match PublicKeyAlgorithm(number.parse().ok()?) {
        PublicKeyAlgorithm::RSA => {
            let digits = rest.first()?.strip_prefix("rsa")?;
            Some(KeyAlgorithm::Rsa(digits.parse().ok()?))
        }
        algorithm @ (PublicKeyAlgorithm::ECDH
        | PublicKeyAlgorithm::ECDSA
        | PublicKeyAlgorithm::EDDSA_LEGACY) => Some(KeyAlgorithm::Curve(algorithm, rest.join(" "))),
        _ => None,
    }
}

/// Reads a fingerprint or keygrip of 20 or 32 bytes; nothing of what is none.
fn fingerprint(digits: &str) -> Vec<u8> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect();
    bytes.filter(|bytes| odd.is_empty() && matches!(bytes.len(), 20 | 32)).unwrap_or_default()
}

fn decimal<T: std::str::FromStr + Default>(word: Option<&str>) -> T {
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn hexadecimal(word: Option<&str>) -> u32 {
    word.and_then(|word| u32::from_str_radix(word, 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[(&str, &[u8])]) -> Card {
        let mut card = Card::default();
        lines.iter().for_each(|(keyword, text)| card.take(keyword, text));
        card
    }

    #[test]
    fn a_card_is_what_its_status_lines_say() {
        let card = told(&[
            ("READER", b"Virtual+PCD"),
            ("SERIALNO", b"D276000124010304FFFE0000000F0000 openpgp"),
            ("APPVERSION", b"304"),
            ("MANUFACTURER", b"65534 unmanaged S/N range"),
            ("DISP-NAME", b"Doe<<J%C3%A4ne"),
            ("DISP-SEX", b"2"),
            ("CHV-STATUS", b"+1+127+126+125+3+0+2"),
            ("EXTCAP", b"gc=0+ki=1+aac=1+si=5+bt=1+kdf=0"),
            ("KEY-FPR", b"2 5025777F5939BC1352FB5011F32CD37F9868B2B4"),
            ("KEY-TIME", b"2 1795536676"),
            ("KEY-ATTR", b"1 1 rsa2048 32 1"),
            ("KEY-ATTR", b"2 18 NIST P-256"),
            ("KEYPAIRINFO", b"081CF13CD62A95A95923A359D68EE427661A9034 OPENPGP.2"),
            ("UIF-1", b"%01 "),
            ("UIF-2", b"%00+"),
            ("KDF", b"\x81%01%03"),
            ("PRIVATE-DO-3", b"x%0Ay"),
        ]);
        assert!(card.is_openpgp() && card.is_version_2());
        assert_eq!(card.reader.as_deref(), Some(&b"Virtual PCD"[..]));
        assert_eq!(card.manufacturer.as_deref(), Some(&b"unmanaged S/N range"[..]));
        assert_eq!(card.holder.as_deref(), Some("Doe<<J\u{e4}ne".as_bytes()));
        assert_eq!((card.application_version, card.salutation), (0x304, Salutation::Ms));
        assert!(card.pin_is_remembered && card.capabilities.imports_keys && !card.capabilities.derives_pins);
        assert_eq!((card.longest_pins, card.tries, card.life_cycle), ([127, 126, 125], [3, 0, 2], 5));
        assert_eq!(card.keys[1].fingerprint.len(), 20);
        assert_eq!((card.keys[1].created, card.keys[1].keygrip.is_some()), (1_795_536_676, true));
        assert_eq!(card.keys[0].algorithm, Some(KeyAlgorithm::Rsa(2048)));
        assert_eq!(
            card.keys[1].algorithm,
            Some(KeyAlgorithm::Curve(PublicKeyAlgorithm::ECDH, "NIST P-256".to_owned()))
        );
        assert!(card.keys[0].needs_touch && !card.keys[1].needs_touch);
        assert_eq!(card.pin_derivation, PinDerivation::OneSalt);
        assert_eq!(card.private_data[2].as_deref(), Some(&b"x\ny"[..]));
    }

    #[test]
    fn lines_that_cannot_be_read_change_nothing() {
        let card = told(&[
            ("KEY-FPR", b"4 5025777F5939BC1352FB5011F32CD37F9868B2B4"),
            ("KEY-FPR", b"1 5025"),
            ("KEY-FPR", b""),
            ("KEY-ATTR", b"1 99 x"),
            ("KEYPAIRINFO", b"X OPENPGP.1"),
            ("UIF-9", b"%01"),
            ("PRIVATE-DO-0", b"x"),
            ("KDF", b"\x81"),
            ("\u{fffd}", b"\xff"),
        ]);
        assert_eq!(card, Card::default());
    }
}
