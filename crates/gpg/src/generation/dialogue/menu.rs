//! Which algorithm, for which uses, on which curve, how large.

use engine::cert::effective::Usage;
use engine::configuration::Compat;

use self::Offered::{ToAll, ToAllSince2_4, ToExperts, ToExpertsSince2_4};
use super::asker::Asker;
use crate::generation::algorithm::Pair;
use crate::generation::size::{Range, rounded};
use crate::generation::{Curve, Family, Kind, Material, keygrip};
use crate::settings::Settings;
use crate::terminal::tell;

/// The keys that a row of the menu selects.
#[derive(Clone, Copy)]
enum What {
    /// A primary key, and a subkey for encryption.
    Both(Sort, Sort),
    Signing(Sort),
    /// A primary key with selected uses.
    Chosen(Sort),
    /// An existing key as the primary key.
    Existing,
    /// An existing key of a card.
    OnCard,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Rsa,
    Dsa,
    Elgamal,
    Ecc,
}

/// To whom a row of a menu is offered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offered {
    ToAll,
    /// With `--expert`.
    ToExperts,
    /// In gpg 2.4 to all, before with `--expert`.
    ToAllSince2_4,
    /// In gpg 2.4 with `--expert`, before to nobody.
    ToExpertsSince2_4,
}

/// A row of a menu: its number, its keyword, its text, what it selects, and to whom it is offered.
type Row<T> = (i64, &'static str, &'static str, T, Offered);

/// The menu of keys.
const ROWS: [Row<What>; 11] = [
    (1, "rsa+rsa", "RSA and RSA", What::Both(Sort::Rsa, Sort::Rsa), ToAll),
    (2, "dsa+elg", "DSA and Elgamal", What::Both(Sort::Dsa, Sort::Elgamal), ToAll),
    (3, "dsa", "DSA (sign only)", What::Signing(Sort::Dsa), ToAll),
    (4, "rsa/s", "RSA (sign only)", What::Signing(Sort::Rsa), ToAll),
    (7, "dsa/*", "DSA (set your own capabilities)", What::Chosen(Sort::Dsa), ToExperts),
    (8, "rsa/*", "RSA (set your own capabilities)", What::Chosen(Sort::Rsa), ToExperts),
    (9, "ecc+ecc", "ECC (sign and encrypt)", What::Both(Sort::Ecc, Sort::Ecc), ToAllSince2_4),
    (10, "ecc/s", "ECC (sign only)", What::Signing(Sort::Ecc), ToAllSince2_4),
    (11, "ecc/*", "ECC (set your own capabilities)", What::Chosen(Sort::Ecc), ToExperts),
    (13, "keygrip", "Existing key", What::Existing, ToExperts),
    (14, "cardkey", "Existing key from card", What::OnCard, ToAll),
];

/// The menu of curves.
const CURVES: [(i64, Curve, [&str; 2], Offered); 9] = [
    (1, Curve::Curve25519, ["Curve25519", "Curve 25519"], ToAll),
    (2, Curve::X448, ["X448", "Curve 448"], ToExpertsSince2_4),
    (3, Curve::NistP256, ["NIST P-256", "NIST P-256"], ToExperts),
    (4, Curve::NistP384, ["NIST P-384", "NIST P-384"], ToAll),
    (5, Curve::NistP521, ["NIST P-521", "NIST P-521"], ToExperts),
    (6, Curve::BrainpoolP256r1, ["brainpoolP256r1", "Brainpool P-256"], ToAllSince2_4),
    (7, Curve::BrainpoolP384r1, ["brainpoolP384r1", "Brainpool P-384"], ToExperts),
    (8, Curve::BrainpoolP512r1, ["brainpoolP512r1", "Brainpool P-512"], ToExperts),
    (9, Curve::Secp256k1, ["secp256k1", "secp256k1"], ToExperts),
];

/// The subkey that a row of the menu selects.
#[derive(Clone, Copy)]
enum WhatSubkey {
    For(Sort, Usage),
    /// A subkey with selected uses.
    Chosen(Sort),
    Existing,
    OnCard,
}

/// The menu of subkeys.
const SUBKEY_ROWS: [Row<WhatSubkey>; 11] = [
    (3, "dsa", "DSA (sign only)", WhatSubkey::For(Sort::Dsa, Usage::SIGN), ToAll),
    (4, "rsa/s", "RSA (sign only)", WhatSubkey::For(Sort::Rsa, Usage::SIGN), ToAll),
    (5, "elg", "Elgamal (encrypt only)", WhatSubkey::For(Sort::Elgamal, Usage::ENCRYPT), ToAll),
    (6, "rsa/e", "RSA (encrypt only)", WhatSubkey::For(Sort::Rsa, Usage::ENCRYPT), ToAll),
    (7, "dsa/*", "DSA (set your own capabilities)", WhatSubkey::Chosen(Sort::Dsa), ToExperts),
    (8, "rsa/*", "RSA (set your own capabilities)", WhatSubkey::Chosen(Sort::Rsa), ToExperts),
    (10, "ecc/s", "ECC (sign only)", WhatSubkey::For(Sort::Ecc, Usage::SIGN), ToAllSince2_4),
    (11, "ecc/*", "ECC (set your own capabilities)", WhatSubkey::Chosen(Sort::Ecc), ToExperts),
    (12, "ecc/e", "ECC (encrypt only)", WhatSubkey::For(Sort::Ecc, Usage::ENCRYPT), ToAllSince2_4),
    (13, "keygrip", "Existing key", WhatSubkey::Existing, ToExperts),
    (14, "cardkey", "Existing key from card", WhatSubkey::OnCard, ToAll),
];

const INVALID: &str = "Invalid selection.\n";

/// Asks for everything about the algorithm.
pub(super) fn ask(asker: &mut Asker<'_>) -> anyhow::Result<Pair> {
    let (what, sort, usage) = loop {
        let what = asker.row(&ROWS)?;
        break match what {
            What::Both(sort, _) | What::Signing(sort) => (what, sort, Usage::SIGN),
            What::Chosen(sort) => (what, sort, asker.usage(sort.family().usage(), None, true)?),
            What::Existing => return Ok(Pair { primary: asker.existing(true)?, subkey: None }),
            What::OnCard => match asker.on_card(true)? {
                Some(primary) => return Ok(Pair { primary, subkey: None }),
                None => continue,
            },
        };
    };
    let primary = Kind { material: asker.material(sort)?, usage: usage | Usage::CERTIFY };
    let subkey = match what {
        What::Both(_, sort) => Some(asker.subkey(sort, primary.material)?),
        _ => None,
    };
    Ok(Pair { primary, subkey })
}

/// Asks for the algorithm and the uses of a subkey.
pub(super) fn ask_subkey(asker: &mut Asker<'_>) -> anyhow::Result<Kind> {
    let (sort, usage) = loop {
        break match asker.row(&SUBKEY_ROWS)? {
            WhatSubkey::For(sort, usage) => (sort, usage),
            WhatSubkey::Chosen(sort) => (sort, asker.usage(sort.family().usage(), None, false)?),
            WhatSubkey::Existing => return asker.existing(false),
            WhatSubkey::OnCard => match asker.on_card(false)? {
                Some(kind) => return Ok(kind),
                None => continue,
            },
        };
    };
    let material = match sort {
        Sort::Ecc => match (asker.curve()?, usage) {
            (curve, Usage::ENCRYPT) => Material::Ecdh(curve),
            (Curve::Curve25519, _) => Material::Eddsa(Curve::Ed25519),
            (Curve::X448, _) => Material::Eddsa(Curve::Ed448),
            (curve, _) => Material::Ecdsa(curve),
        },
        sort => sort.sized(asker.size(sort.family())?),
    };
    Ok(Kind { material, usage })
}

impl Asker<'_> {
    fn offers(&self, offered: Offered) -> bool {
        let Settings { expert, compat, .. } = self.settings;
        let is_2_4 = *compat >= Compat::V2_4;
        match offered {
            ToAll => true,
            ToExperts => *expert,
            ToAllSince2_4 => *expert || is_2_4,
            ToExpertsSince2_4 => *expert && is_2_4,
        }
    }

    fn row<T: Copy>(&mut self, rows: &[Row<T>]) -> anyhow::Result<T> {
        let usual = if self.settings.compat >= Compat::V2_4 { 9 } else { 1 };
        let offered: Vec<_> = rows.iter().filter(|(.., offered)| self.offers(*offered)).collect();
        let row = |(number, _, text, ..): &&Row<T>| {
            let mark = if *number == usual { " *default*" } else { "" };
            format!("  ({number:2}) {text}{mark}\n")
        };
        let menu: String = offered.iter().map(row).collect();
        let mut context = format!("Please select what kind of key you want:\n{menu}");
        loop {
            let answer = self.line("keygen.algo", &context, "Your selection? ")?;
            let number = if answer.is_empty() { usual } else { number(&answer) };
            match offered.iter().find(|(known, word, ..)| *known == number || *word == answer) {
                Some((.., selected, _)) => return Ok(*selected),
                None => context = INVALID.to_owned(),
            }
        }
    }

    /// Asks for the keygrip of an existing key, and for its uses.
    fn existing(&mut self, is_primary: bool) -> anyhow::Result<Kind> {
        let mut context = "";
        loop {
            let answer = self.line("keygen.keygrip", context, "Enter the keygrip: ")?;
            context = match keygrip(answer.as_bytes()) {
                _ if answer.is_empty() => "",
                None => "Not a valid keygrip (expecting 40 hex digits)\n",
                Some(keygrip) => match (self.held.family)(keygrip) {
                    None => "No key with this keygrip\n",
                    Some(family) => {
                        let usage = self.usage(family.usage(), None, is_primary)?;
                        return Ok(Kind { material: Material::Existing(keygrip, family), usage });
                    }
                },
            };
        }
    }

    /// Asks for a key of the card in the reader, and experts for its uses; `None`, and says why, if there is none.
    fn on_card(&mut self, is_primary: bool) -> anyhow::Result<Option<Kind>> {
        let (serial, keys) = match (self.held.on_card)(self.settings, self.streams) {
            Ok((serial, keys)) if !keys.is_empty() => (serial, keys),
            read => {
                let reason = read.err().unwrap_or_else(|| "No data".to_owned());
                tell(self.settings, format!("error reading the card: {reason}\n").as_bytes());
                return Ok(None);
            }
        };
        let mut context = format!("Serial number of the card: {serial}\nAvailable keys:\n");
        for (number, kind) in (1..).zip(&keys) {
            let Material::Existing(keygrip, family) = kind.material else { continue };
            let (family, uses) = (family.name(), named(kind.usage));
            context.push_str(&format!("   ({number}) {keygrip} {family} ({uses})\n"));
        }
        loop {
            let answer = self.line("keygen.cardkey", &context, "Your selection? ")?;
            let index = usize::try_from(number(&answer)).unwrap_or(0).wrapping_sub(1);
            let Some(kind) = keys.get(index) else { continue };
            let usage = self.usage_of_card_key(kind.material.family(), kind.usage, is_primary)?;
            return Ok(Some(Kind { material: kind.material, usage }));
        }
    }

    /// Returns the uses of a key of the card: those that the card has it for, of which experts take some away. A primary key
    /// without any is for all that its algorithm allows, as in gpg.
    fn usage_of_card_key(
        &mut self,
        family: Family,
        on_card: Usage,
        is_primary: bool,
    ) -> anyhow::Result<Usage> {
        let chosen = match self.settings.expert {
            true => self.usage(on_card, Some(on_card), is_primary)?,
            false if is_primary => on_card | Usage::CERTIFY,
            false => uses_without_certifying(on_card),
        };
        let has_none = is_primary && chosen == Usage::CERTIFY && !on_card.contains(Usage::CERTIFY);
        Ok(if has_none { family.usage() | Usage::CERTIFY } else { chosen })
    }

    /// Asks for the uses of a key among the `possible` ones: toggles one at a time, or sets all after an equals sign. The key
    /// is for `current` now, or for all but authentication; only a primary key certifies.
    pub(super) fn usage(
        &mut self,
        possible: Usage,
        current: Option<Usage>,
        is_primary: bool,
    ) -> anyhow::Result<Usage> {
        let always = if is_primary { Usage::CERTIFY } else { Usage::default() };
        let letters: Vec<(char, Usage)> =
            [('s', Usage::SIGN), ('e', Usage::ENCRYPT), ('a', Usage::AUTHENTICATE)]
                .into_iter()
                .filter(|(_, usage)| possible.contains(*usage))
                .collect();
        let usage_of =
            |letter: char| letters.iter().find(|it| it.0 == letter.to_ascii_lowercase()).map(|it| it.1);
        let is_chosen = |usage| match current {
            Some(current) => current.contains(usage),
            None => usage != Usage::AUTHENTICATE,
        };
        let mut chosen: Vec<Usage> =
            letters.iter().map(|it| it.1).filter(|usage| is_chosen(*usage)).collect();
        let mut complaint = "";
        loop {
            let now = chosen.iter().fold(always, |all, usage| all | *usage);
            let toggles: String = letters.iter().map(|(letter, _)| format!("{letter}, ")).collect();
            let context = format!(
                "{complaint}Possible actions: {}\nCurrent allowed actions: {}\nToggle one with {toggles}end with q\n",
                named(possible),
                named(now)
            );
            let answer = self.line("keygen.flags", &context, "Your selection? ")?;
            if let Some(letters) = answer.strip_prefix('=') {
                return Ok(letters.chars().filter_map(usage_of).fold(always, |all, it| all | it));
            }
            complaint = match answer.as_str() {
                "" | "q" | "Q" => return Ok(now),
                letter => match letter.chars().next().filter(|_| letter.len() == 1).and_then(usage_of) {
                    Some(usage) if chosen.contains(&usage) => {
                        chosen.retain(|it| *it != usage);
                        ""
                    }
                    Some(usage) => {
                        chosen.push(usage);
                        ""
                    }
                    None => INVALID,
                },
            };
        }
    }

    fn material(&mut self, sort: Sort) -> anyhow::Result<Material> {
        Ok(match sort {
            Sort::Ecc => match self.curve()? {
                Curve::Curve25519 => Material::Eddsa(Curve::Ed25519),
                Curve::X448 => Material::Eddsa(Curve::Ed448),
                curve => Material::Ecdsa(curve),
            },
            sort => sort.sized(self.size(sort.family())?),
        })
    }

    /// Returns the subkey for a primary key; with `--expert` asks for its size.
    fn subkey(&mut self, sort: Sort, primary: Material) -> anyhow::Result<Kind> {
        let material = match primary {
            Material::Eddsa(Curve::Ed448) => Material::Ecdh(Curve::X448),
            Material::Eddsa(_) => Material::Ecdh(Curve::Curve25519),
            Material::Ecdsa(curve) | Material::Ecdh(curve) => Material::Ecdh(curve),
            _ if self.settings.expert => sort.sized(self.size(sort.family())?),
            Material::Existing(..) => unreachable!("a key that is there brings no subkey"),
            Material::Rsa { bits } | Material::Dsa { bits } | Material::Elgamal { bits } => sort.sized(bits),
        };
        Ok(Kind { material, usage: Usage::ENCRYPT })
    }

    pub(super) fn curve(&mut self) -> anyhow::Result<Curve> {
        let offered: Vec<_> = CURVES.iter().filter(|(.., offered)| self.offers(*offered)).collect();
        let rows = offered.iter().map(|(number, _, [_, name], _)| format!("   ({number}) {name}\n"));
        let rows: String = rows.collect();
        let mut context = format!("Please select which elliptic curve you want:\n{rows}");
        loop {
            let answer = self.line("keygen.curve", &context, "Your selection? ")?;
            let number = if answer.is_empty() { 1 } else { number(&answer) };
            let is_named = |names: &[&str; 2]| names.iter().any(|name| name.eq_ignore_ascii_case(&answer));
            let chosen = offered
                .iter()
                .find(|(known, _, names, _)| *known == number || (number == 0 && is_named(names)));
            match chosen {
                Some((_, curve, ..)) => return Ok(*curve),
                None => context = INVALID.to_owned(),
            }
        }
    }

    fn size(&mut self, family: Family) -> anyhow::Result<u32> {
        let Range { least, usual, most } = Range::of(family, self.settings.expert);
        let name = family.name();
        let mut context = format!("{name} keys may be between {least} and {most} bits long.\n");
        loop {
            let answer =
                self.line("keygen.size", &context, &format!("What keysize do you want? ({usual}) "))?;
            let bits = if answer.is_empty() { i64::from(usual) } else { number(&answer) };
            match u32::try_from(bits) {
                Ok(bits) if (least..=most).contains(&bits) => return Ok(rounded(bits, family)),
                _ => context = format!("{name} keysizes must be in the range {least}-{most}\n"),
            }
        }
    }
}

impl Sort {
    fn family(self) -> Family {
        match self {
            Self::Rsa => Family::Rsa,
            Self::Dsa => Family::Dsa,
            Self::Elgamal => Family::Elgamal,
            Self::Ecc => Family::Ecdsa,
        }
    }

    /// Returns a key of a size; curves have none to choose.
    fn sized(self, bits: u32) -> Material {
        match self {
            Self::Dsa => Material::Dsa { bits },
            Self::Elgamal => Material::Elgamal { bits },
            Self::Rsa | Self::Ecc => Material::Rsa { bits },
        }
    }
}

/// Returns the uses that a subkey can have.
fn uses_without_certifying(usage: Usage) -> Usage {
    let every = [Usage::SIGN, Usage::ENCRYPT, Usage::AUTHENTICATE];
    every.into_iter().filter(|one| usage.contains(*one)).fold(Usage::default(), |all, one| all | one)
}

fn number(text: &str) -> i64 {
    crate::number::decimal(text.as_bytes()).unwrap_or(i64::MAX)
}
/// Returns the names of uses.
fn named(usage: Usage) -> String {
    let names = [
        (Usage::SIGN, "Sign "),
        (Usage::CERTIFY, "Certify "),
        (Usage::ENCRYPT, "Encrypt "),
        (Usage::AUTHENTICATE, "Authenticate "),
    ];
    names.iter().filter(|(named, _)| usage.contains(*named)).map(|(_, name)| *name).collect()
}
