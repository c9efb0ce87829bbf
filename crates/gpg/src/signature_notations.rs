//! Notations and policy URLs of options.

use engine::edit;
use engine::store::Fingerprint;
use sign::Subpacket;

/// A notation or policy URL for signatures, before the `%` sequences for keys are expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotationOrPolicy {
    what: What,
    /// Its subpacket is critical.
    critical: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Notation { name: Vec<u8>, value: Vec<u8> },
    Policy(Vec<u8>),
}

impl NotationOrPolicy {
    /// Reads a notation: `name@domain=value`, with `!` in front if it is critical.
    ///
    /// # Errors
    ///
    /// gpg's message; with `--expert` the domain may be left out.
    pub(crate) fn notation(text: &[u8], expert: bool) -> Result<Self, &'static str> {
        const NAME: &str =
            "a notation name must have only printable characters or spaces, and end with an '='";
        let (critical, text) = criticality(text);
        let end = text.iter().position(|&byte| byte == b'=').ok_or(NAME)?;
        let (name, value) = (&text[..end], &text[end + 1..]);
        if !name.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
            return Err(NAME);
        }
        match name.iter().filter(|&&byte| byte == b'@').count() {
            0 if !expert => return Err("a user notation name must contain the '@' character"),
            0 | 1 => {}
            _ => return Err("a notation name must not contain more than one '@' character"),
        }
        if value.iter().any(u8::is_ascii_control) {
            return Err("a notation value must not use any control characters");
        }
        Ok(Self { what: What::Notation { name: name.to_vec(), value: value.to_vec() }, critical })
    }

    /// Reads a policy URL, with `!` in front if it is critical; `None` if it is invalid.
    pub(crate) fn policy(text: &[u8]) -> Option<Self> {
        let (critical, url) = criticality(text);
        let is_text = !url.is_empty() && url.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_control());
        is_text.then(|| Self { what: What::Policy(url.to_vec()), critical })
    }

    fn between(&self, by: &Fingerprint, over: &Fingerprint) -> edit::CertificationSubpacket {
        let subpacket = match &self.what {
            What::Notation { name, value } => {
                Subpacket::Notation { readable: true, name: name.clone(), value: filled_in(value, by, over) }
            }
            What::Policy(url) => Subpacket::Policy(filled_in(url, by, over)),
        };
        edit::CertificationSubpacket { subpacket, critical: self.critical }
    }
}

/// Returns the subpackets of a signature by one primary key over another, in gpg's order: notations, then policies, the
/// last one first.
pub(crate) fn between(
    notations_and_policies: &[NotationOrPolicy],
    by: &Fingerprint,
    over: &Fingerprint,
) -> Vec<edit::CertificationSubpacket> {
    let (policies, notations): (Vec<&NotationOrPolicy>, Vec<&NotationOrPolicy>) =
        notations_and_policies.iter().rev().partition(|given| matches!(given.what, What::Policy(_)));
    notations.into_iter().chain(policies).map(|given| given.between(by, over)).collect()
}

fn criticality(text: &[u8]) -> (bool, &[u8]) {
    text.strip_prefix(b"!").map_or((false, text), |rest| (true, rest))
}

/// Expands the sequences for keys: `%k %K %f` for the signed key, `%s %S %g %p` for the signing key.
fn filled_in(text: &[u8], by: &Fingerprint, over: &Fingerprint) -> Vec<u8> {
    let mut filled = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let expanded =
            if byte == b'%' { after.first().and_then(|&letter| expansion(letter, by, over)) } else { None };
        match expanded {
            Some(expanded) => {
                filled.extend(expanded.into_bytes());
                rest = &after[1..];
            }
            None => {
                filled.push(byte);
                rest = after;
            }
        }
    }
    filled
}

fn expansion(letter: u8, by: &Fingerprint, over: &Fingerprint) -> Option<String> {
    let short = |key: &Fingerprint| key.key_id().to_string().split_off(8);
    Some(match letter {
        b'k' => short(over),
        b'K' => over.key_id().to_string(),
        b'f' => over.to_string(),
        b's' => short(by),
        b'S' => by.key_id().to_string(),
        b'g' | b'p' => by.to_string(),
        // The signature counter of a card.
        b'c' => "0".to_owned(),
        b'%' => "%".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: Fingerprint = Fingerprint::V4([0x11; 20]);
    const OVER: Fingerprint = Fingerprint::V4([0x22; 20]);

    #[test]
    fn what_stands_for_keys_is_filled_in() {
        let fill = |text: &str| String::from_utf8(filled_in(text.as_bytes(), &BY, &OVER)).expect("text");
        assert_eq!(fill("a%kb%S"), "a22222222b1111111111111111");
        assert_eq!(fill("%f"), OVER.to_string());
        assert_eq!(fill("100%%, %x %"), "100%, %x %");
    }

    #[test]
    fn a_notation_has_a_name_with_a_domain_and_a_value() {
        let remark = NotationOrPolicy::notation(b"!n@x=v=%S", false).expect("a notation").between(&BY, &OVER);
        let value = b"v=1111111111111111".to_vec();
        assert_eq!(remark.subpacket, Subpacket::Notation { readable: true, name: b"n@x".to_vec(), value });
        assert!(remark.critical);
        assert!(NotationOrPolicy::notation(b"n=v", false).is_err());
        assert!(NotationOrPolicy::notation(b"n=v", true).is_ok());
        assert!(NotationOrPolicy::notation(b"n@x", false).is_err());
        assert!(NotationOrPolicy::notation(b"n@x@y=v", false).is_err());
        assert!(NotationOrPolicy::notation(b"n@x=a\nb", false).is_err());
    }

    #[test]
    fn a_policy_is_text_without_control_characters() {
        assert!(NotationOrPolicy::policy(b"https://example.org/%k").is_some());
        assert_eq!(NotationOrPolicy::policy(b"!"), None);
        assert_eq!(NotationOrPolicy::policy("\u{fc}".as_bytes()), None);
    }
}
