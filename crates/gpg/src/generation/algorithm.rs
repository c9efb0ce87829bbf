//! Algorithms as `--quick-generate-key` takes them: `ALGO[/FLAGS][+SUBALGO[/FLAGS]]`.

use engine::cert::effective::Usage;
use engine::configuration::Compat;

use super::size::{self, Range};
use super::{Curve, Family, Kind, Material};
use crate::code::Code;

/// The algorithm `default` of gpg 2.2.
pub(crate) const DEFAULT: &str = "rsa3072/cert,sign+rsa3072/encr";
/// The algorithm `future-default`.
const FUTURE_DEFAULT: &str = "ed25519/cert,sign+cv25519/encr";

/// Returns the algorithm `default` of one of GnuPG's versions.
pub(crate) fn default(compat: Compat) -> &'static str {
    match compat {
        Compat::V2_2 => DEFAULT,
        Compat::V2_4 => FUTURE_DEFAULT,
    }
}

/// A primary key and perhaps a subkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) primary: Kind,
    pub(crate) subkey: Option<Kind>,
}

/// The role of a key in its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyRole {
    Primary,
    Subkey,
}

/// Returns the algorithm specification for a word; `default` is that of `--default-new-key-algo`, else gpg's.
fn expanded<'a>(text: &'a str, default: &'a str) -> &'a str {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text {
        "" | "-" => default,
        _ if is("default") => default,
        _ if is("future-default") || is("futuredefault") => FUTURE_DEFAULT,
        other => other,
    }
}

/// Reads both parts.
///
/// # Errors
///
/// gpg's code for what is wrong.
pub(crate) fn pair(text: &str, default: &str, compat: Compat) -> Result<Pair, Code> {
    let (primary, subkey) = match expanded(text, default).split_once('+') {
        Some((primary, subkey)) => (primary, Some(subkey).filter(|subkey| !subkey.is_empty())),
        None => (expanded(text, default), None),
    };
    Ok(Pair {
        primary: kind(primary, KeyRole::Primary, compat)?,
        subkey: subkey.map(|subkey| kind(subkey, KeyRole::Subkey, compat)).transpose()?,
    })
}

/// Reads the uses of a primary key with the algorithm `card`, which is on one already; `None` for another algorithm.
///
/// # Errors
///
/// gpg's code for what is wrong.
pub(crate) fn usage_on_card(text: &str) -> Option<Result<Usage, Code>> {
    let primary = text.split_once('+').map_or(text, |(primary, _)| primary);
    let (name, flags) = primary.split_once('/').unwrap_or((primary, ""));
    name.eq_ignore_ascii_case("card").then(|| match usage_list(flags) {
        None => Err(Code::UNKNOWN_FLAG),
        Some(usage) if usage == Usage::default() => Ok(Usage::SIGN | Usage::CERTIFY),
        Some(usage) => Ok(usage | Usage::CERTIFY),
    })
}

/// Reads the part for the primary key.
///
/// # Errors
///
/// gpg's code for what is wrong.
pub(crate) fn primary(text: &str, default: &str, compat: Compat) -> Result<Kind, Code> {
    let text = expanded(text, default);
    kind(text.split_once('+').map_or(text, |(primary, _)| primary), KeyRole::Primary, compat)
}

fn kind(text: &str, role: KeyRole, compat: Compat) -> Result<Kind, Code> {
    let (name, flags) = text.split_once('/').unwrap_or((text, ""));
    if name.eq_ignore_ascii_case("card") {
        return Err(Code::NOT_SUPPORTED);
    }
    let named = Named::read(name, compat)?;
    let flags = Flags::read(flags, &named)?;
    let material = named.material(&flags, role);
    let family = material.family();
    let mut usage = flags.usage.map_or_else(|| usual(family, role), |usage| usage_of(usage, family));
    if role == KeyRole::Primary {
        usage |= Usage::CERTIFY;
    }
    let certifies_as_subkey = role == KeyRole::Subkey && usage.contains(Usage::CERTIFY);
    if certifies_as_subkey || !family.allows(usage) {
        return Err(Code::WRONG_KEY_USAGE);
    }
    Ok(Kind { material, usage })
}

/// An algorithm's name.
enum Named {
    Sized(Material),
    Curve(Curve),
}

impl Named {
    fn read(name: &str, compat: Compat) -> Result<Self, Code> {
        match with_size(name) {
            Some(material) => material.map(Self::Sized),
            None => Curve::named(name, compat).map(Self::Curve).ok_or(Code::UNKNOWN_CURVE),
        }
    }

    fn material(&self, flags: &Flags, role: KeyRole) -> Material {
        match *self {
            Self::Sized(material) => material,
            Self::Curve(curve @ (Curve::Ed25519 | Curve::Ed448)) => Material::Eddsa(curve),
            Self::Curve(curve @ (Curve::Curve25519 | Curve::X448)) if flags.family != Some(Family::Ecdsa) => {
                Material::Ecdh(curve)
            }
            Self::Curve(curve) => {
                let encrypts =
                    flags.usage.map_or(role == KeyRole::Subkey, |usage| usage.contains(Usage::ENCRYPT));
                match flags.family {
                    Some(Family::Ecdh) => Material::Ecdh(curve),
                    None if encrypts => Material::Ecdh(curve),
                    _ => Material::Ecdsa(curve),
                }
            }
        }
    }
}

/// Reads the name of an algorithm with key sizes, with or without a size; `None` for another name.
pub(crate) fn with_size(name: &str) -> Option<Result<Material, Code>> {
    let (word, digits) = name.split_at_checked(3)?;
    let family = match word.to_ascii_lowercase().as_str() {
        "rsa" => Family::Rsa,
        "dsa" => Family::Dsa,
        "elg" => Family::Elgamal,
        _ => return None,
    };
    let has_size = digits.is_empty() || digits.starts_with(|first: char| first.is_ascii_digit());
    has_size.then(|| sized(family, digits))
}

fn sized(family: Family, digits: &str) -> Result<Material, Code> {
    let range = Range::of(family, false);
    let bits = match digits {
        "" => range.usual,
        digits => {
            digits.parse().ok().filter(|bits| (512..=16384).contains(bits)).ok_or(Code::INVALID_VALUE)?
        }
    };
    let bits = size::rounded(bits.clamp(range.least, range.most), family);
    Ok(match family {
        Family::Dsa => Material::Dsa { bits },
        Family::Elgamal => Material::Elgamal { bits },
        _ => Material::Rsa { bits },
    })
}

/// The flags after the slash.
struct Flags {
    /// The uses of the key, if named.
    usage: Option<Usage>,
    /// The algorithm, if named.
    family: Option<Family>,
}

impl Flags {
    fn read(text: &str, named: &Named) -> Result<Self, Code> {
        let mut flags = Self { usage: None, family: None };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let word = word.to_ascii_lowercase();
            if let Some(usage) = usage_word(&word) {
                flags.usage = Some(flags.usage.unwrap_or_default() | usage);
                continue;
            }
            let eddsa = matches!(named, Named::Curve(Curve::Ed25519 | Curve::Ed448));
            let curve = matches!(named, Named::Curve(_));
            match word.as_str() {
                "ecdsa" if curve && !eddsa => flags.family = Some(Family::Ecdsa),
                "ecdh" if curve && !eddsa => flags.family = Some(Family::Ecdh),
                "eddsa" if eddsa => {}
                "ecdsa" | "ecdh" | "eddsa" => return Err(Code::INVALID_FLAG),
                _ => return Err(Code::UNKNOWN_FLAG),
            }
        }
        Ok(flags)
    }
}

/// Reads a use of a key.
fn usage_word(word: &str) -> Option<Usage> {
    match word.to_ascii_lowercase().as_str() {
        "sign" => Some(Usage::SIGN),
        "encrypt" | "encr" => Some(Usage::ENCRYPT),
        "auth" => Some(Usage::AUTHENTICATE),
        "cert" => Some(Usage::CERTIFY),
        _ => None,
    }
}

/// Reads a list of uses, separated by commas or white space; `None` if one of them is unknown.
pub(crate) fn usage_list(text: &str) -> Option<Usage> {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    words.map(usage_word).try_fold(Usage::default(), |all, usage| Some(all | usage?))
}

/// Returns the default uses of an algorithm's keys.
fn usual(family: Family, role: KeyRole) -> Usage {
    match family {
        Family::Rsa if role == KeyRole::Subkey => Usage::ENCRYPT,
        Family::Elgamal | Family::Ecdh => Usage::ENCRYPT,
        _ => Usage::SIGN,
    }
}

/// Returns the requested uses that the algorithm allows.
fn usage_of(asked: Usage, family: Family) -> Usage {
    match family {
        Family::Elgamal | Family::Ecdh => Usage::ENCRYPT,
        Family::Rsa => asked,
        _ => [Usage::SIGN, Usage::AUTHENTICATE, Usage::CERTIFY]
            .into_iter()
            .filter(|usage| asked.contains(*usage))
            .fold(Usage::default(), |all, usage| all | usage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_primary(text: &str) -> Result<Kind, Code> {
        primary(text, DEFAULT, Compat::V2_2)
    }

    fn parse_pair(text: &str) -> Result<Pair, Code> {
        pair(text, DEFAULT, Compat::V2_2)
    }

    fn made(material: Material, usage: Usage) -> Kind {
        Kind { material, usage }
    }

    fn sc() -> Usage {
        Usage::SIGN | Usage::CERTIFY
    }

    #[test]
    fn the_default_is_a_pair_of_rsa_keys_and_may_be_changed() {
        let rsa = Material::Rsa { bits: 3072 };
        for text in ["", "-", "default", "Default"] {
            let pair = parse_pair(text).expect("an algorithm");
            assert_eq!(pair.primary, made(rsa, sc()), "{text}");
            assert_eq!(pair.subkey, Some(made(rsa, Usage::ENCRYPT)), "{text}");
        }
        let other = pair("default", "nistp384", Compat::V2_2);
        assert_eq!(other.expect("an algorithm").subkey, None);
    }

    #[test]
    fn the_future_default_is_a_pair_on_curve25519() {
        let pair = parse_pair("future-default").expect("an algorithm");
        assert_eq!(pair.primary, made(Material::Eddsa(Curve::Ed25519), sc()));
        assert_eq!(pair.subkey, Some(made(Material::Ecdh(Curve::Curve25519), Usage::ENCRYPT)));
    }

    #[test]
    fn sizes_are_brought_into_the_range() {
        let bits = |bits| Ok(made(Material::Rsa { bits }, sc()));
        assert_eq!(parse_primary("rsa"), bits(3072));
        assert_eq!(parse_primary("RSA4096"), bits(4096));
        assert_eq!(parse_primary("rsa600"), bits(1024));
        assert_eq!(parse_primary("rsa2050"), bits(2080));
        assert_eq!(parse_primary("rsa8192"), bits(4096));
        assert_eq!(parse_primary("rsa100"), Err(Code::INVALID_VALUE));
        assert_eq!(parse_primary("rsa2048x"), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn a_curve_signs_or_encrypts_as_its_place_or_its_flags_say() {
        assert_eq!(parse_primary("nistp256"), Ok(made(Material::Ecdsa(Curve::NistP256), sc())));
        assert_eq!(
            parse_primary("nistp256/auth"),
            Ok(made(Material::Ecdsa(Curve::NistP256), Usage::AUTHENTICATE | Usage::CERTIFY))
        );
        let pair = parse_pair("nistp256+brainpoolP256r1").expect("an algorithm");
        let subkey = made(Material::Ecdh(Curve::BrainpoolP256r1), Usage::ENCRYPT);
        assert_eq!(pair.subkey, Some(subkey));
        assert_eq!(parse_primary("ed25519/encr").expect("an algorithm").usage, Usage::CERTIFY);
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_code() {
        assert_eq!(parse_primary("foo"), Err(Code::UNKNOWN_CURVE));
        assert_eq!(parse_primary("ED25519"), Err(Code::UNKNOWN_CURVE));
        assert_eq!(parse_primary("cv25519"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(parse_primary("nistp256/ecdh"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(parse_primary("rsa2048/ecdsa"), Err(Code::INVALID_FLAG));
        assert_eq!(parse_primary("rsa2048/foo"), Err(Code::UNKNOWN_FLAG));
        assert_eq!(parse_pair("rsa2048+rsa2048/cert"), Err(Code::WRONG_KEY_USAGE));
        assert_eq!(parse_primary("card"), Err(Code::NOT_SUPPORTED), "there it is found before");
    }

    #[test]
    fn a_key_on_a_card_signs_unless_its_flags_say_what_it_does() {
        assert_eq!(usage_on_card("card"), Some(Ok(sc())));
        assert_eq!(usage_on_card("CARD/auth"), Some(Ok(Usage::AUTHENTICATE | Usage::CERTIFY)));
        assert_eq!(usage_on_card("card/foo"), Some(Err(Code::UNKNOWN_FLAG)));
        assert_eq!(usage_on_card("rsa"), None);
    }

    #[test]
    fn a_list_of_uses_is_separated_by_commas_or_white_space() {
        assert_eq!(
            usage_list("sign, auth\tencrypt"),
            Some(Usage::SIGN | Usage::AUTHENTICATE | Usage::ENCRYPT)
        );
        assert_eq!(usage_list(""), Some(Usage::default()));
        assert_eq!(usage_list("sign foo"), None);
    }
}
