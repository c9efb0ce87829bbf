//! The blocks of a parameter file, one for each key.

use engine::cert::effective::Usage;
use engine::cert::facts::Revoker;
use engine::cert::{Fingerprint, Timestamp};
use engine::configuration::Compat;
use engine::verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use super::parameter_file::Keyword;
use super::preferences::LibrePgp;
use super::{Curve, Family, Kind, Material, Part, Request, algorithm, preferences};
use crate::code::Code;
use crate::interval;
use crate::number;

/// The parameters of one key that were read so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
struct Parameter {
    line: usize,
    keyword: Keyword,
    value: Zeroizing<Vec<u8>>,
}

/// What a block is read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults<'a> {
    pub(crate) compat: Compat,
    pub(crate) now: Timestamp,
    /// The algorithm `default`.
    pub(crate) algorithm: &'a str,
    /// The preference list `default`.
    pub(crate) preferences: &'a str,
    pub(crate) librepgp: LibrePgp,
    /// How long a key is valid unless that is asked for.
    pub(crate) validity: &'static [u8],
}

/// What is wrong with a block: an invalid parameter with its line, or a missing one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) line: Option<usize>,
    pub(crate) complaint: String,
}

/// What a block asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedKey {
    /// What gpg says of the preferences, which are then left as they were.
    pub(crate) notes: Vec<String>,
    /// The key, or why it cannot be generated.
    pub(crate) request: Result<Request, Code>,
}

impl Block {
    /// Says whether nothing was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Adds a parameter.
    ///
    /// # Errors
    ///
    /// If it is repeated, or if the block does not begin with the key's type.
    pub(crate) fn add(
        &mut self,
        line: usize,
        keyword: Keyword,
        value: Zeroizing<Vec<u8>>,
    ) -> Result<(), &'static str> {
        if self.is_empty() && keyword != Keyword::KeyType {
            return Err("parameter block does not start with \"Key-Type\"");
        }
        if self.find(keyword).is_some() {
            return Err("duplicate keyword");
        }
        self.parameters.push(Parameter { line, keyword, value });
        Ok(())
    }

    /// Returns what status lines about this key end with.
    pub(crate) fn handle(&self) -> Option<&[u8]> {
        self.value(Keyword::Handle)
    }

    /// Returns the passphrase.
    pub(crate) fn passphrase(&self) -> Option<&[u8]> {
        self.value(Keyword::Passphrase)
    }

    /// Reads the parameters.
    ///
    /// # Errors
    ///
    /// The first that is wrong or missing.
    pub(crate) fn read(&self, defaults: &Defaults<'_>) -> Result<RequestedKey, Wrong> {
        let key_type = self.find(Keyword::KeyType).ok_or(missing("no Key-Type specified"))?;
        let (primary, is_default) = self.family(key_type, defaults)?;
        if !primary.allows(Usage::SIGN) {
            return Err(key_type.wrong("invalid algorithm"));
        }
        let usual = if is_default { Usage::CERTIFY | Usage::SIGN } else { primary.usage() };
        let usage = self.usage(Keyword::KeyUsage, "Key-Usage", primary)?.unwrap_or(usual);
        let subkey = self.subkey(defaults)?;
        let user_id = self.user_id().ok_or(missing("no User-ID specified"))?;
        let preferences = self.value(Keyword::Preferences).map(|list| {
            let Defaults { preferences, compat, librepgp, .. } = *defaults;
            preferences::read(&String::from_utf8_lossy(list), preferences, compat, librepgp)
        });
        let keyserver = self.keyserver()?;
        let revoker = self.revoker()?;
        let created = self.read_with(Keyword::CreationDate, "invalid creation date", interval::creation)?;
        let validity = |text: &[u8]| interval::validity(text, defaults.now);
        let valid_for = self.read_with(Keyword::ExpireDate, "invalid expire date", validity)?.unwrap_or(0);
        let part = |kind: Result<Material, Code>, usage| {
            Ok(Part { kind: Kind { material: kind?, usage }, valid_for })
        };
        let subkey_material =
            |family| self.material(family, Keyword::SubkeyLength, Keyword::SubkeyCurve, Keyword::SubkeyGrip);
        let request = || {
            Ok(Request {
                primary: part(
                    self.material(primary, Keyword::KeyLength, Keyword::KeyCurve, Keyword::KeyGrip),
                    usage | Usage::CERTIFY,
                )?,
                subkeys: subkey
                    .into_iter()
                    .map(|(family, usage)| part(subkey_material(family), usage))
                    .collect::<Result<_, _>>()?,
                user_id,
                created,
                preferences: preferences.as_ref().and_then(|read| read.clone().ok()),
                revoker,
                keyserver,
            })
        };
        Ok(RequestedKey { request: request(), notes: preferences.and_then(Result::err).unwrap_or_default() })
    }

    fn subkey(&self, defaults: &Defaults<'_>) -> Result<Option<(Family, Usage)>, Wrong> {
        let Some(key_type) = self.find(Keyword::SubkeyType) else { return Ok(None) };
        let (family, is_default) = self.family(key_type, defaults)?;
        let usual = if is_default { Usage::ENCRYPT } else { family.usage() };
        let usage = self.usage(Keyword::SubkeyUsage, "Subkey-Usage", family)?.unwrap_or(usual);
        // A subkey never certifies.
        let uses = [Usage::SIGN, Usage::ENCRYPT, Usage::AUTHENTICATE];
        let usage =
            uses.into_iter().filter(|it| usage.contains(*it)).fold(Usage::default(), |all, it| all | it);
        Ok(Some((family, usage)))
    }

    fn find(&self, keyword: Keyword) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.keyword == keyword)
    }

    fn value(&self, keyword: Keyword) -> Option<&[u8]> {
        self.find(keyword).map(|parameter| parameter.value.as_slice())
    }

    fn read_with<T>(
        &self,
        keyword: Keyword,
        complaint: &str,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Wrong> {
        let Some(parameter) = self.find(keyword) else { return Ok(None) };
        read(&parameter.value).map(Some).ok_or_else(|| parameter.wrong(complaint))
    }

    /// Reads an algorithm; returns also whether it is the default one.
    fn family(&self, parameter: &Parameter, defaults: &Defaults<'_>) -> Result<(Family, bool), Wrong> {
        let text = String::from_utf8_lossy(&parameter.value);
        if text.eq_ignore_ascii_case("default") {
            let default = algorithm::primary("", defaults.algorithm, defaults.compat);
            let kind = default.map_err(|_| parameter.wrong("invalid algorithm"))?;
            return Ok((kind.material.family(), true));
        }
        let family = match text.to_ascii_lowercase().as_str() {
            "rsa" | "openpgp-rsa" => Some(Family::Rsa),
            "dsa" | "openpgp-dsa" => Some(Family::Dsa),
            "eddsa" => Some(Family::Eddsa),
            "ecdsa" => Some(Family::Ecdsa),
            "ecdh" | "ecc" => Some(Family::Ecdh),
            _ if text == "ELG-E" || text == "ELG" => Some(Family::Elgamal),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Family::from_number(bits(&parameter.value))
            }
            _ => None,
        };
        family.map(|family| (family, false)).ok_or_else(|| parameter.wrong("invalid algorithm"))
    }

    fn usage(&self, keyword: Keyword, name: &str, family: Family) -> Result<Option<Usage>, Wrong> {
        let Some(parameter) = self.find(keyword) else { return Ok(None) };
        let usage = algorithm::usage_list(&String::from_utf8_lossy(&parameter.value))
            .ok_or_else(|| parameter.wrong("invalid usage list"))?;
        match family.allows(usage) {
            true => Ok(Some(usage)),
            false => {
                let number = family as u8;
                Err(parameter.wrong(&format!("specified {name} not allowed for algo {number}")))
            }
        }
    }

    fn material(
        &self,
        family: Family,
        length: Keyword,
        curve: Keyword,
        keygrip: Keyword,
    ) -> Result<Material, Code> {
        if let Some(text) = self.value(keygrip) {
            return Ok(Material::Existing(super::keygrip(text).ok_or(Code::IPC_PARAMETER)?, family));
        }
        let bits = self.value(length).map_or(0, bits);
        let curve = || {
            let name = self.value(curve).ok_or(Code::UNKNOWN_CURVE)?;
            Curve::in_parameter_file(&String::from_utf8_lossy(name)).ok_or(Code::UNKNOWN_CURVE)
        };
        Ok(match family {
            Family::Rsa => Material::Rsa { bits },
            Family::Dsa => Material::Dsa { bits },
            Family::Elgamal => Material::Elgamal { bits },
            Family::Eddsa => Material::Eddsa(curve()?),
            Family::Ecdsa => Material::Ecdsa(curve()?),
            Family::Ecdh => Material::Ecdh(curve()?),
        })
    }

    /// Puts the user ID together: `Name (comment) <address>`, or the bare address.
    fn user_id(&self) -> Option<Vec<u8>> {
        let [name, comment, mail] =
            [Keyword::NameReal, Keyword::NameComment, Keyword::NameEmail].map(|keyword| self.value(keyword));
        user_id(name.unwrap_or_default(), comment.unwrap_or_default(), mail.unwrap_or_default())
    }

    fn keyserver(&self) -> Result<Option<Vec<u8>>, Wrong> {
        self.read_with(Keyword::Keyserver, "invalid keyserver url", |url| {
            let scheme = url.split(|&byte| byte == b':').next().unwrap_or_default();
            (!scheme.is_empty()).then(|| url.to_vec())
        })
    }

    /// Reads the designated revoker (RFC 9580, 5.2.3.23).
    fn revoker(&self) -> Result<Option<Revoker>, Wrong> {
        const REVOKER: u8 = 0x80;
        const SENSITIVE: u8 = 0x40;
        self.read_with(Keyword::Revoker, "invalid revocation key", |text| {
            let text = std::str::from_utf8(text).ok()?;
            let (algorithm, rest) = text.split_once(':')?;
            let algorithm = u8::try_from(bits(algorithm.as_bytes())).ok().filter(|&number| number != 0)?;
            let (fingerprint, word) = rest.split_at_checked(40)?;
            let byte = |index: usize| u8::from_str_radix(fingerprint.get(index..index + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..20).map(|index| byte(2 * index)).collect();
            let sensitive = word.trim().eq_ignore_ascii_case("sensitive");
            Some(Revoker {
                class: REVOKER | if sensitive { SENSITIVE } else { 0 },
                algorithm: PublicKeyAlgorithm(algorithm),
                fingerprint: Fingerprint::V4(bytes?.try_into().ok()?),
            })
        })
    }
}

impl Parameter {
    fn wrong(&self, text: &str) -> Wrong {
        Wrong { line: Some(self.line), complaint: text.to_owned() }
    }
}

fn missing(text: &str) -> Wrong {
    Wrong { line: None, complaint: text.to_owned() }
}

/// Puts a user ID together; `None` of nothing.
pub(crate) fn user_id(name: &[u8], comment: &[u8], mail: &[u8]) -> Option<Vec<u8>> {
    let mut user_id = name.to_vec();
    if !comment.is_empty() {
        user_id.extend([b" (", comment, b")"].concat());
    }
    match mail.is_empty() {
        true => {}
        false if user_id.is_empty() => user_id.extend(mail),
        false => user_id.extend([b" <", mail, b">"].concat()),
    }
    Some(user_id).filter(|user_id| !user_id.is_empty())
}

fn bits(text: &[u8]) -> u32 {
    number::decimal(text).and_then(|value| u32::try_from(value).ok()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::parameter_file::{Statement, lines};

    const DEFAULTS: Defaults<'_> = Defaults {
        compat: Compat::V2_2,
        now: Timestamp(1_767_225_600),
        algorithm: algorithm::DEFAULT,
        preferences: crate::generation::preferences::DEFAULT,
        librepgp: crate::generation::preferences::LibrePgp::NotAnnounced,
        validity: b"2y",
    };

    fn block(text: &str) -> Block {
        let mut block = Block::default();
        for (number, statement) in lines(text.as_bytes()) {
            if let Statement::Parameter(keyword, value) = statement.expect("a line that can be read") {
                block.add(number, keyword, value).expect("a parameter that may stand here");
            }
        }
        block
    }

    fn request(text: &str) -> Request {
        block(text).read(&DEFAULTS).expect("parameters that are right").request.expect("a possible key")
    }

    fn wrong(text: &str) -> (Option<usize>, String) {
        match block(text).read(&DEFAULTS) {
            Err(Wrong { line, complaint }) => (line, complaint),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_parameter_finds_its_place() {
        let request = request(
            "Key-Type: eddsa\nKey-Curve: ed25519\nKey-Usage: sign\nSubkey-Type: ECDH\nSubkey-Curve: cv25519\n\
             Name-Real: Joe\nName-Comment: c\nName-Email: j@x\nExpire-Date: 1d\nCreation-Date: 2020-01-01\n\
             Preferences: S9 Z0\nRevoker: 1:00112233445566778899AABBCCDDEEFF00112233 sensitive\n\
             Keyserver: hkp://k",
        );
        assert_eq!(request.user_id, b"Joe (c) <j@x>");
        assert_eq!(request.primary.kind.usage, Usage::SIGN | Usage::CERTIFY);
        let [subkey] = request.subkeys.as_slice() else { panic!("a subkey") };
        assert_eq!(subkey.kind.material, Material::Ecdh(Curve::Curve25519));
        assert_eq!((request.primary.valid_for, subkey.valid_for), (86_400, 86_400));
        assert_eq!(request.created, Some(Timestamp(1_577_836_800)));
        assert_eq!(request.preferences.expect("preferences").ciphers, [9]);
        assert!(request.revoker.expect("a revoker").is_sensitive());
        assert_eq!(request.keyserver.as_deref(), Some(&b"hkp://k"[..]));
    }

    #[test]
    fn a_key_can_do_all_its_algorithm_can_unless_it_is_the_default_one() {
        let all = Usage::SIGN | Usage::CERTIFY | Usage::ENCRYPT | Usage::AUTHENTICATE;
        assert_eq!(request("Key-Type: 1\nName-Real: x").primary.kind.usage, all);
        let default = request("Key-Type: default\nSubkey-Type: default\nName-Real: x");
        assert_eq!(default.primary.kind.usage, Usage::SIGN | Usage::CERTIFY);
        assert_eq!(default.subkeys[0].kind.usage, Usage::ENCRYPT);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let line = |number, text: &str| (Some(number), text.to_owned());
        assert_eq!(wrong("Key-Type: foo"), line(1, "invalid algorithm"));
        assert_eq!(wrong("Key-Type: ecdh"), line(1, "invalid algorithm"));
        assert_eq!(wrong("Key-Type: rsa"), (None, "no User-ID specified".into()));
        assert_eq!(wrong(""), (None, "no Key-Type specified".into()));
        assert_eq!(wrong("Key-Type: rsa\nKey-Usage: foo"), line(2, "invalid usage list"));
        let usage = "specified Key-Usage not allowed for algo 22";
        assert_eq!(wrong("Key-Type: eddsa\nKey-Usage: encr"), line(2, usage));
        let named = |line: &str| format!("Key-Type: rsa\nName-Real: x\n{line}");
        assert_eq!(wrong(&named("Expire-Date: foo")), line(3, "invalid expire date"));
        assert_eq!(wrong(&named("Creation-Date: foo")), line(3, "invalid creation date"));
        assert_eq!(wrong(&named("Revoker: 1:zz")), line(3, "invalid revocation key"));
        assert_eq!(wrong(&named("Keyserver: ::")), line(3, "invalid keyserver url"));
    }

    #[test]
    fn a_key_by_keygrip_is_there_already() {
        let grip = "00112233445566778899AABBCCDDEEFF00112233";
        let named = request(&format!(
            "Key-Type: ecdsa\nKey-Grip: &{grip}\nSubkey-Type: rsa\nSubkey-Grip: {grip}\nName-Real: x"
        ));
        let keygrip = crate::generation::keygrip(grip.as_bytes()).expect("a keygrip");
        assert_eq!(named.primary.kind.material, Material::Existing(keygrip, Family::Ecdsa));
        assert_eq!(named.subkeys[0].kind.material, Material::Existing(keygrip, Family::Rsa));
    }

    #[test]
    fn a_key_on_no_curve_or_by_what_is_no_keygrip_cannot_be_made() {
        let impossible = |text: &str| block(text).read(&DEFAULTS).expect("parameters that are right").request;
        assert_eq!(impossible("Key-Type: eddsa\nName-Real: x"), Err(Code::UNKNOWN_CURVE));
        assert_eq!(impossible("Key-Type: rsa\nKey-Grip: 00\nName-Real: x"), Err(Code::IPC_PARAMETER));
    }

    #[test]
    fn wrong_preferences_are_told_and_the_default_stays() {
        let asked = block("Key-Type: rsa\nName-Real: x\nPreferences: foo").read(&DEFAULTS).expect("right");
        assert_eq!(asked.notes, ["invalid item 'foo' in preference string"]);
        assert_eq!(asked.request.expect("a possible key").preferences, None);
    }

    #[test]
    fn a_block_begins_with_the_type_and_says_nothing_twice() {
        let mut block = Block::default();
        assert_eq!(
            block.add(1, Keyword::KeyLength, b"1".to_vec().into()),
            Err("parameter block does not start with \"Key-Type\"")
        );
        assert_eq!(block.add(2, Keyword::KeyType, b"1".to_vec().into()), Ok(()));
        assert_eq!(block.add(3, Keyword::KeyLength, b"1".to_vec().into()), Ok(()));
        assert_eq!(block.add(4, Keyword::KeyLength, b"1".to_vec().into()), Err("duplicate keyword"));
    }

    #[test]
    fn a_user_id_without_a_name_is_the_bare_address() {
        assert_eq!(user_id(b"", b"", b"a@b").as_deref(), Some(&b"a@b"[..]));
        assert_eq!(user_id(b"", b"c", b"a@b").as_deref(), Some(&b" (c) <a@b>"[..]));
        assert_eq!(user_id(b"", b"", b""), None);
    }
}
