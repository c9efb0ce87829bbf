//! The ways to name a certificate: GnuPG's "how to specify a user ID".
//!
//! [`Name::parse`] decides as `classify_user_id` of GnuPG 2.2.40 does, byte for byte, with one addition: 64
//! hexadecimal digits are a fingerprint of a version 5 or 6 key.

use cert::{Facts, Fingerprint, KeyId, Keygrip, mailbox};

use crate::user_id;

/// A question by which certificates are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Every certificate.
    All,
    /// A key, primary or subkey, with these low 32 bits of its key ID.
    ShortKeyId(u32),
    /// A key, primary or subkey, with this key ID.
    KeyId(KeyId),
    /// A key, primary or subkey, with this fingerprint.
    Fingerprint(Fingerprint),
    /// A key, primary or subkey, with this keygrip.
    Keygrip(Keygrip),
    /// A user ID that is equal to this.
    Exact(Vec<u8>),
    /// A user ID with this mail address, but for the case of ASCII letters.
    Mail(Vec<u8>),
    /// A user ID whose mail address contains this, but for the case of ASCII letters.
    MailPart(Vec<u8>),
    /// A user ID that contains this, but for the case of ASCII letters.
    Substring(Vec<u8>),
}

impl Query {
    /// Says whether a certificate is an answer: the rule that every index follows.
    pub fn matches(&self, facts: &Facts) -> bool {
        let any_key =
            |wanted: &dyn Fn(&Fingerprint) -> bool| facts.keys().any(|key| wanted(&key.fingerprint));
        match self {
            Self::All => true,
            Self::ShortKeyId(short) => any_key(&|fingerprint| fingerprint.key_id().short() == *short),
            Self::KeyId(key_id) => any_key(&|fingerprint| fingerprint.key_id() == *key_id),
            Self::Fingerprint(wanted) => any_key(&|fingerprint| fingerprint.has_digits_of(wanted)),
            Self::Keygrip(keygrip) => facts.keys().any(|key| key.keygrip.as_ref() == Some(keygrip)),
            Self::Exact(_) | Self::Mail(_) | Self::MailPart(_) | Self::Substring(_) => {
                facts.user_ids().any(|user_id| self.matches_user_id(user_id))
            }
        }
    }

    /// Says whether this is the key ID or fingerprint of a key.
    pub fn names_key(&self, key: &Fingerprint) -> bool {
        match self {
            Self::ShortKeyId(short) => key.key_id().short() == *short,
            Self::KeyId(key_id) => key.key_id() == *key_id,
            Self::Fingerprint(fingerprint) => key.has_digits_of(fingerprint),
            _ => false,
        }
    }

    /// Says whether a user ID is an answer, as GnuPG's keybox decides; an empty one never is, nor is an empty address.
    pub fn matches_user_id(&self, user_id: &[u8]) -> bool {
        let address = || mailbox::mail_address(user_id);
        match self {
            Self::Exact(name) => !name.is_empty() && user_id == name,
            Self::Mail(wanted) => {
                !wanted.is_empty() && address().is_some_and(|own| own.eq_ignore_ascii_case(wanted))
            }
            Self::MailPart(part) => {
                !part.is_empty() && address().is_some_and(|own| user_id::contains(own, part))
            }
            Self::Substring(part) => !user_id.is_empty() && user_id::contains(user_id, part),
            Self::All | Self::ShortKeyId(_) | Self::KeyId(_) | Self::Fingerprint(_) | Self::Keygrip(_) => {
                false
            }
        }
    }
}

/// A name as a user gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it asks for.
    pub query: Query,
    /// It ended with `!`: this very key is meant, not the certificate's best one.
    pub exact_key: bool,
}

/// Why a name asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It follows no form; GnuPG says "Invalid user ID".
    #[error("not a valid way to name a key")]
    Invalid,
    /// A version 3 fingerprint; GnuPG says "Invalid value".
    #[error("fingerprints of version 3 keys cannot be searched for")]
    Version3,
    /// A form that GnuPG takes and never finds anything by.
    #[error("searching by {0} is not possible")]
    Unsearchable(&'static str),
}

impl Name {
    /// Says whether a key is named by itself and not by its user.
    pub fn is_of_key(&self) -> bool {
        use Query::{Fingerprint, KeyId, Keygrip, ShortKeyId};
        matches!(self.query, ShortKeyId(_) | KeyId(_) | Fingerprint(_) | Keygrip(_))
    }

    /// Says whether a key of a certificate that was found may be meant: with a `!` only the one that is named.
    pub fn means_key(&self, key: &Fingerprint) -> bool {
        !self.exact_key || self.query.names_key(key)
    }

    /// Reads a name.
    ///
    /// # Errors
    ///
    /// [`NameError`] if it asks for nothing that could be found.
    pub fn parse(name: &[u8]) -> Result<Self, NameError> {
        let name = trim(name);
        let Some((&first, rest)) = name.split_first() else { return Err(NameError::Invalid) };
        let query = match first {
            b'.' => return Err(NameError::Unsearchable("the end of a mail address")),
            b'+' => return Err(NameError::Unsearchable("words")),
            b'/' if is_distinguished_name(rest) => return Err(NameError::Unsearchable("an X.509 subject")),
            b'#' if is_serial_number(rest) => return Err(NameError::Unsearchable("an X.509 serial number")),
            b'/' | b'#' => return Err(NameError::Invalid),
            b'<' => Query::Mail(address(name)),
            b'@' => Query::MailPart(address(rest)),
            b'=' => Query::Exact(rest.to_vec()),
            b'*' => Query::Substring(rest.to_vec()),
            b':' => unified_fingerprint(rest).ok_or(NameError::Invalid)?,
            b'&' => Query::Keygrip(keygrip(rest).ok_or(NameError::Invalid)?),
            _ => return parse_number_or_text(name),
        };
        Ok(Self { query, exact_key: false })
    }
}

/// Removes leading blanks; and if the name ends with a blank, all trailing white space (C's `isspace`).
fn trim(name: &[u8]) -> &[u8] {
    let start = name.iter().take_while(|&&byte| is_blank(byte)).count();
    let name = &name[start..];
    match name.last() {
        Some(&last) if is_blank(last) => {
            &name[..name.iter().rposition(|&byte| !is_space(byte)).map_or(0, |last| last + 1)]
        }
        _ => name,
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The angles around an address are not part of it; GnuPG takes the opening one off only once.
fn address(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"<").unwrap_or(text);
    text.strip_suffix(b">").unwrap_or(text).to_vec()
}

fn is_distinguished_name(text: &[u8]) -> bool {
    text.first().is_some_and(|&first| !is_blank(first))
}

/// `#/issuer`, `#hex` or `#hex/issuer`.
fn is_serial_number(text: &[u8]) -> bool {
    let digits = hex_digits(text);
    match text[digits..].split_first() {
        None => true,
        Some((b'/', issuer)) => is_distinguished_name(issuer),
        Some(_) => false,
    }
}

/// `:hex:`, whatever follows.
fn unified_fingerprint(text: &[u8]) -> Option<Query> {
    let digits = hex_digits(text);
    if text.get(digits) != Some(&b':') || !matches!(digits, 32 | 40) {
        return None;
    }
    let mut fingerprint = [0; 20];
    decode_hex(&text[..digits], &mut fingerprint[..digits / 2])?;
    Some(Query::Fingerprint(Fingerprint::V4(fingerprint)))
}

/// Forty digits, then the end or something that is no digit.
fn keygrip(text: &[u8]) -> Option<Keygrip> {
    let mut keygrip = [0; 20];
    decode_hex(text.get(..40)?, &mut keygrip)?;
    match text.get(40) {
        None => Some(Keygrip(keygrip)),
        Some(&next) if is_space(next) => Some(Keygrip(keygrip)),
        Some(_) => None,
    }
}

/// Key IDs and fingerprints in digits; whatever is none is text to look for.
fn parse_number_or_text(name: &[u8]) -> Result<Name, NameError> {
    let (prefixed, text) = match name.strip_prefix(b"0x") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let digits = hex_digits(text);
    let bang = digits >= 8 && text.get(digits) == Some(&b'!');
    let terminated = text.get(digits + usize::from(bang)).is_none_or(|&next| is_blank(next));
    let digits = match (terminated || digits + usize::from(bang) == 0, prefixed) {
        (true, _) => digits,
        (false, true) => return Err(NameError::Invalid),
        (false, false) => 0,
    };
    if let Some(query) = number(text, digits, prefixed)? {
        return Ok(Name { query, exact_key: bang });
    }
    if prefixed {
        return Err(NameError::Invalid);
    }
    let fingerprint = colon_fingerprint(text).or_else(|| spaced_fingerprint(text));
    let query = fingerprint.map_or_else(|| Query::Substring(text.to_vec()), Query::Fingerprint);
    Ok(Name { query, exact_key: false })
}

/// A number of a fitting length; one digit more is taken if the first is 0 and there was no `0x`.
///
/// A number of the plain length must be the whole name (but for `!`); after one with a leading 0, a blank and anything
/// else may follow.
fn number(text: &[u8], digits: usize, prefixed: bool) -> Result<Option<Query>, NameError> {
    let padded = !prefixed && text.first() == Some(&b'0');
    let ends = matches!(text.get(digits..), Some(b"" | b"!"));
    let hex = match digits {
        8 | 16 | 32 | 40 | 64 if ends => &text[..digits],
        9 | 17 | 33 | 41 | 65 if padded => &text[1..digits],
        _ => return Ok(None),
    };
    let query = match hex.len() {
        8 => Query::ShortKeyId(parse_u64(hex) as u32),
        16 => Query::KeyId(KeyId(parse_u64(hex))),
        32 => return Err(NameError::Version3),
        40 => Query::Fingerprint(Fingerprint::V4(fingerprint(hex))),
        _ => Query::Fingerprint(Fingerprint::V6(fingerprint(hex))),
    };
    Ok(Some(query))
}

/// Twenty pairs with colons between them, as X.509 listings write fingerprints.
fn colon_fingerprint(text: &[u8]) -> Option<Fingerprint> {
    let length = text.iter().take_while(|&&byte| byte == b':' || byte.is_ascii_hexdigit()).count();
    if text.get(length).is_some_and(|&next| !is_blank(next)) {
        return None;
    }
    grouped_fingerprint(&text[..length].split(|&byte| byte == b':').collect::<Vec<_>>(), 2)
}

/// Ten groups of four digits, one space between them and one or two in the middle.
fn spaced_fingerprint(text: &[u8]) -> Option<Fingerprint> {
    let mut groups: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
    if groups.len() == 11 && groups[5].is_empty() {
        groups.remove(5);
    }
    grouped_fingerprint(&groups, 4)
}

/// Forty digits in groups of so many.
fn grouped_fingerprint(groups: &[&[u8]], length: usize) -> Option<Fingerprint> {
    let mut bytes = [0; 20];
    let is_whole = groups.len() * length == 40 && groups.iter().all(|group| group.len() == length);
    decode_hex(&groups.concat(), &mut bytes).filter(|()| is_whole)?;
    Some(Fingerprint::V4(bytes))
}

fn hex_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
}

fn parse_u64(hex: &[u8]) -> u64 {
    hex.iter().fold(0, |value, &digit| value << 4 | u64::from(digit_value(digit).unwrap_or(0)))
}

fn fingerprint<const N: usize>(hex: &[u8]) -> [u8; N] {
    std::array::from_fn(|index| parse_u64(&hex[index * 2..index * 2 + 2]) as u8)
}

fn digit_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Decodes as many bytes as `out` holds.
fn decode_hex(hex: &[u8], out: &mut [u8]) -> Option<()> {
    for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit_value(pair[0])? << 4 | digit_value(pair[1])?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: &str = "80615870F5BAD690333686D0F2AD85AC1E42B367";

    fn parse(name: &str) -> Query {
        let parsed = Name::parse(name.as_bytes()).expect(name);
        assert!(!parsed.exact_key, "{name}");
        parsed.query
    }

    fn error(name: &str) -> NameError {
        Name::parse(name.as_bytes()).expect_err(name)
    }

    fn substring(text: &str) -> Query {
        Query::Substring(text.as_bytes().to_vec())
    }

    fn v4() -> Query {
        Query::Fingerprint(Fingerprint::V4(fingerprint(V4.as_bytes())))
    }

    #[test]
    fn eight_or_sixteen_hex_digits_are_a_key_id() {
        assert_eq!(parse("1E42B367"), Query::ShortKeyId(0x1e42_b367));
        assert_eq!(parse("0x1e42b367"), Query::ShortKeyId(0x1e42_b367));
        assert_eq!(parse(" 1E42B367\t"), Query::ShortKeyId(0x1e42_b367));
        assert_eq!(parse("F2AD85AC1E42B367"), Query::KeyId(KeyId(0xf2ad_85ac_1e42_b367)));
        assert_eq!(parse("0xF2AD85AC1E42B367"), Query::KeyId(KeyId(0xf2ad_85ac_1e42_b367)));
    }

    #[test]
    fn one_digit_more_is_taken_if_it_is_a_zero_in_front_and_there_is_no_0x() {
        assert_eq!(parse("01E42B367"), Query::ShortKeyId(0x1e42_b367));
        assert_eq!(parse("0F2AD85AC1E42B367"), Query::KeyId(KeyId(0xf2ad_85ac_1e42_b367)));
        assert_eq!(parse(&format!("0{V4}")), v4());
        assert_eq!(parse("11E42B367"), substring("11E42B367"));
        assert_eq!(error("0x01E42B367"), NameError::Invalid);
    }

    #[test]
    fn behind_a_blank_anything_may_follow_a_number_with_a_zero_in_front_only() {
        assert_eq!(parse("01E42B367 and more"), Query::ShortKeyId(0x1e42_b367));
        assert_eq!(parse("1E42B367 and more"), substring("1E42B367 and more"));
        assert_eq!(error("0x1E42B367 and more"), NameError::Invalid);
    }

    #[test]
    fn forty_hex_digits_are_a_fingerprint_however_they_are_grouped() {
        assert_eq!(parse(V4), v4());
        assert_eq!(parse(&format!("0x{}", V4.to_lowercase())), v4());
        assert_eq!(parse("8061 5870 F5BA D690 3336  86D0 F2AD 85AC 1E42 B367"), v4());
        assert_eq!(parse("8061 5870 F5BA D690 3336 86D0 F2AD 85AC 1E42 B367"), v4());
        assert_eq!(parse("80:61:58:70:F5:BA:D6:90:33:36:86:D0:F2:AD:85:AC:1E:42:B3:67"), v4());
        assert_eq!(parse(&format!(":{V4}:whatever")), v4());
    }

    #[test]
    fn a_fingerprint_grouped_in_another_way_is_text() {
        for text in [
            "8061 5870 F5BA D690  3336 86D0 F2AD 85AC 1E42 B367",
            "8061 5870 F5BA D690 3336  86D0 F2AD 85AC 1E42 B36",
            "80:61:58:70:F5:BA:D6:90:33:36:86:D0:F2:AD:85:AC:1E:42:B3 67",
        ] {
            assert_eq!(parse(text), substring(text));
        }
    }

    #[test]
    fn sixty_four_hex_digits_are_a_fingerprint_of_a_newer_key() {
        let digits = "0123456789abcdef".repeat(4);
        let expected = Query::Fingerprint(Fingerprint::V6(fingerprint(digits.as_bytes())));
        assert_eq!(parse(&digits), expected);
        assert_eq!(parse(&format!("0x{digits}")), expected);
    }

    #[test]
    fn thirty_two_hex_digits_are_what_nobody_has_any_more() {
        assert_eq!(error(&V4[..32]), NameError::Version3);
        assert_eq!(error(&format!("0{}", &V4[..32])), NameError::Version3);
    }

    #[test]
    fn an_exclamation_mark_asks_for_the_very_key() {
        for (name, query) in [
            ("1E42B367!", Query::ShortKeyId(0x1e42_b367)),
            ("0xF2AD85AC1E42B367!", Query::KeyId(KeyId(0xf2ad_85ac_1e42_b367))),
            (&format!("{V4}!"), v4()),
        ] {
            assert_eq!(Name::parse(name.as_bytes()), Ok(Name { query, exact_key: true }));
        }
        assert_eq!(parse("1E42B367! x"), substring("1E42B367! x"));
        assert_eq!(parse("1E42B3!"), substring("1E42B3!"));
        assert_eq!(error("0x1E42B3!"), NameError::Invalid);
    }

    #[test]
    fn a_first_character_says_how_text_is_compared() {
        assert_eq!(parse("=Ann <ann@example.org>"), Query::Exact(b"Ann <ann@example.org>".to_vec()));
        assert_eq!(parse("<ann@example.org>"), Query::Mail(b"ann@example.org".to_vec()));
        assert_eq!(parse("<ann@example.org"), Query::Mail(b"ann@example.org".to_vec()));
        assert_eq!(parse("@example.org"), Query::MailPart(b"example.org".to_vec()));
        assert_eq!(parse("@<example>"), Query::MailPart(b"example".to_vec()));
        assert_eq!(parse("*1E42B367"), substring("1E42B367"));
        assert_eq!(parse("ann@example.org"), substring("ann@example.org"));
        assert_eq!(parse("  two  words \t"), substring("two  words"));
        assert_eq!(parse("*"), substring(""));
    }

    #[test]
    fn a_keygrip_has_forty_digits_and_nothing_behind_them() {
        let keygrip = Query::Keygrip(Keygrip(fingerprint(V4.as_bytes())));
        assert_eq!(parse(&format!("&{V4}")), keygrip);
        assert_eq!(parse(&format!("&{V4} x")), keygrip);
        for wrong in [format!("&{}", &V4[1..]), format!("&{V4}0"), "&".into(), "&ann".into()] {
            assert_eq!(error(&wrong), NameError::Invalid);
        }
    }

    #[test]
    fn forms_of_x509_and_forms_that_gnupg_never_built_are_told_from_nonsense() {
        for unsearchable in [".org", "+two words", "/CN=Ann", "#/CN=Ann", "#4F03", "#4f03/CN=Ann", "#"] {
            assert!(matches!(error(unsearchable), NameError::Unsearchable(_)), "{unsearchable}");
        }
        for invalid in ["", "  ", "/", "/ CN", "#/", "#4G", "#4f/ CN", ":12:", ":zz", "0x", "0xyz", "0x123"] {
            assert_eq!(error(invalid), NameError::Invalid, "{invalid:?}");
        }
    }

    #[test]
    fn names_are_bytes() {
        let name = Name::parse(b"\xff\xfe Ann").expect("text");
        assert_eq!(name.query, Query::Substring(b"\xff\xfe Ann".to_vec()));
    }
}
