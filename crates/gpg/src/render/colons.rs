//! The records for programs (gpg's `list_keyblock_colon`; fields in GnuPG's `doc/DETAILS`).

use engine::cert::Fingerprint;
use engine::cert::effective::{KeyState, Usage, UserIdState};
use engine::cert::facts::{KeyFacts, Revoker, SignatureFacts};
use engine::certifications::CertificationStatus;
use engine::configuration::Compat;
use engine::listing::{
    IssuerName, KeyListing, ListedComponent, ListedItem, ListedSignature, SecretPart, UserTrust, Validity,
};
use engine::store::Origin;
use verify::naming;

use super::digits::{decimal, hex, lower_hex, seconds};
use super::text::field;
use super::{algorithm, attribute, material, screening, signature, subpacket, tofu, validity};
use crate::compat;
use crate::settings::ListSettings;

/// Appends the records of one certificate.
pub(super) fn listing(listing: &KeyListing<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    let mut writer = Writer { listing, settings };
    for listed in &listing.components {
        writer.component(listed, out);
        if settings.signatures {
            listed.signatures.iter().for_each(|signature| writer.signature(signature, out));
        }
    }
}

/// Appends the record of a revocation certificate.
pub(super) fn revocation(listed: &ListedSignature<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    let facts = listed.facts;
    out.extend(b"rvs:");
    out.extend(listed.status.map(signature::mark));
    out.extend(b"::");
    made_by(facts, out);
    field(signature::issuer_name(listed.issuer), out);
    out.push(b':');
    lower_hex(facts.kind.0, out);
    out.push(if facts.flags.exportable { b'x' } else { b'l' });
    end_of_signature(facts, facts.issuer.fingerprint, out);
    subpacket::records(listed, &settings.flags, out);
}

struct Writer<'a> {
    listing: &'a KeyListing<'a>,
    settings: &'a ListSettings,
}

impl Writer<'_> {
    fn component(&mut self, listed: &ListedComponent<'_>, out: &mut Vec<u8>) {
        match listed.item {
            ListedItem::Primary(key, state) => {
                self.primary(key, state, listed.body, out);
                self.listing.revokers.iter().for_each(|it| revoker(it, out));
                self.key_details(key, listed.body, out);
            }
            ListedItem::Subkey(key, state) => {
                self.subkey(key, state, listed.body, out);
                self.key_details(key, listed.body, out);
            }
            ListedItem::UserId(value, state, _) => {
                out.extend(b"uid:");
                self.user(listed.index, state, out);
                hex(&naming::ripemd160(value), out);
                out.extend(b"::");
                field(value, out);
                end_of_user(listed.origin, out);
                if let Some(first_use) = listed.first_use.filter(|_| !value.is_empty()) {
                    tofu::record(first_use, out);
                }
            }
            ListedItem::Attribute(facts, state, _) => {
                out.extend(b"uat:");
                self.user(listed.index, state, out);
                attribute::fields(facts, out);
                end_of_user(None, out);
            }
        }
    }

    fn primary(&mut self, key: &KeyFacts, state: &KeyState, body: Option<&[u8]>, out: &mut Vec<u8>) {
        out.extend(if self.settings.secret { b"sec:" } else { b"pub:" });
        self.key(key, state, out);
        out.extend(b"::");
        if self.settings.shows_validity_of_keys() {
            out.push(validity::owner_letter(self.listing.trust.owner));
        }
        out.extend(b":::");
        capabilities(state.usage, self.settings.compat, out);
        let usable = self.listing.usable();
        let whole = [
            (Usage::ENCRYPT, b'E'),
            (Usage::SIGN, b'S'),
            (Usage::CERTIFY, b'C'),
            (Usage::AUTHENTICATE, b'A'),
        ];
        out.extend(whole.into_iter().filter(|(usage, _)| usable.contains(*usage)).map(|(_, letter)| letter));
        out.extend(self.listing.trust.disabled.then_some(b'D'));
        self.end_of_key(key, body, out);
        origin(self.listing.origin, out);
        out.push(b'\n');
    }

    fn subkey(&mut self, key: &KeyFacts, state: &KeyState, body: Option<&[u8]>, out: &mut Vec<u8>) {
        let state = &compat::shown_subkey(self.settings.compat, self.listing.primary().1, state);
        out.extend(if self.settings.secret { b"ssb:" } else { b"sub:" });
        self.key(key, state, out);
        out.extend(b":::::");
        capabilities(state.usage, self.settings.compat, out);
        self.end_of_key(key, body, out);
        out.push(b'\n');
    }

    /// Fields 2 to 7 of a key.
    fn key(&mut self, facts: &KeyFacts, state: &KeyState, out: &mut Vec<u8>) {
        out.extend(validity_of_key(state, self.listing.trust, self.settings.shows_validity_of_keys()));
        out.push(b':');
        key(facts, state, out);
    }

    /// Fields 13 to 18 of a key, and the delimiters around them.
    fn end_of_key(&self, key: &KeyFacts, body: Option<&[u8]>, out: &mut Vec<u8>) {
        let trust = self.listing.trust;
        out.extend(b":::");
        match trust.secret_part(&key.fingerprint) {
            Some(SecretPart { card: Some(serial), .. }) => out.extend(serial.as_bytes()),
            Some(SecretPart { card: None, .. }) => out.extend((!self.settings.of_file).then_some(b'+')),
            None if self.has_secret() => out.push(b'#'),
            None => {}
        }
        out.extend(b"::");
        if let Some(name) = algorithm::curve_name(key, self.settings.compat) {
            out.extend(name.as_bytes());
        }
        out.push(b':');
        // The numbers are those of GnuPG's compliance modes: 8 is GnuPG itself, 23 VS-NfD.
        let gnupg = (key.fingerprint.version() == 5).then_some("8");
        let vs = algorithm::is_vs_compliant(key, self.settings.compat).then_some("23");
        // And 6001 is a key that is vulnerable by CVE-2017-15361.
        let is_screened = self.settings.with_key_screening && screening::is_vulnerable(key, body);
        let flags: Vec<&str> = gnupg.into_iter().chain(vs).chain(is_screened.then_some("6001")).collect();
        out.extend(flags.join(" ").as_bytes());
        out.push(b':');
    }

    /// Says whether the secret part of any of its keys is here, or in the file that is listed.
    fn has_secret(&self) -> bool {
        self.settings.secret || !self.listing.trust.secret_keys.is_empty()
    }

    fn key_details(&self, key: &KeyFacts, body: Option<&[u8]>, out: &mut Vec<u8>) {
        out.extend(b"fpr:::::::::");
        hex(key.fingerprint.as_bytes(), out);
        out.extend(b":\n");
        if let Some(fingerprint) = body.filter(|_| self.settings.with_v5_fingerprint).and_then(version_5) {
            out.extend(b"fp2:::::::::");
            hex(&fingerprint, out);
            out.extend(b":\n");
        }
        if self.settings.with_keygrip || self.settings.with_key_data || self.has_secret() {
            out.extend(b"grp:::::::::");
            // An empty record where there is no keygrip keeps a reader in step.
            hex(key.keygrip.as_ref().map_or(&[][..], |keygrip| &keygrip.0), out);
            out.extend(b":\n");
        }
        if self.settings.with_key_data {
            material::records(key, body, out);
        }
    }

    /// Fields 2 to 7 of a user ID or attribute, and the delimiter after them.
    fn user(&mut self, index: usize, state: &UserIdState, out: &mut Vec<u8>) {
        let (_, key) = self.listing.primary();
        let trust = self.listing.trust;
        let of_user = validity::letter(trust.of_component(index));
        match state {
            UserIdState { revoked: true, .. } => out.push(b'r'),
            UserIdState { expired: true, .. } => out.push(b'e'),
            _ if self.settings.without_validity => {}
            // All user IDs of the user's own key are the user's own.
            _ if key.is_usable() && !self.settings.fast && trust.key == Validity::Ultimate => out.push(b'u'),
            _ if key.is_usable() && !self.settings.fast => out.push(of_user),
            _ if key.revoked.is_some() => out.push(b'r'),
            _ if key.expired => out.push(b'e'),
            _ => out.push(of_user),
        }
        out.extend(b"::::");
        seconds(state.created, out);
        out.push(b':');
        seconds(state.expires, out);
        out.push(b':');
    }

    fn signature(&self, listed: &ListedSignature<'_>, out: &mut Vec<u8>) {
        let facts = listed.facts;
        let letter = if facts.flags.exportable { b'x' } else { b'l' };
        let Some(word) = signature::word(facts.kind) else {
            out.extend(b"sig::::::::::");
            lower_hex(facts.kind.0, out);
            return out.extend([letter, b':', b'\n']);
        };
        out.extend(word);
        out.push(b':');
        match listed.status {
            Some(standing) => out.push(signature::mark(standing)),
            None => out.extend((listed.issuer == IssuerName::NoKey).then_some(b'?')),
        }
        out.extend(b"::");
        made_by(facts, out);
        match (listed.status, listed.issuer) {
            (Some(CertificationStatus::Refused(refusal)), _) => {
                out.extend(format!("[{}] ", signature::code(refusal)).into_bytes());
            }
            (Some(CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_)), _) => {}
            (_, issuer) => field(signature::issuer_name(issuer), out),
        }
        out.push(b':');
        lower_hex(facts.kind.0, out);
        out.push(letter);
        let issuer = match listed.status {
            Some(CertificationStatus::Good(issuer)) if self.settings.no_sig_cache => Some(issuer),
            _ => facts.issuer.fingerprint,
        };
        end_of_signature(facts, issuer, out);
        subpacket::records(listed, &self.settings.flags, out);
    }
}

/// Returns the fingerprint that the body of a version 4 key would have as LibrePGP's version 5.
fn version_5(body: &[u8]) -> Option<[u8; 32]> {
    let [4, created_and_algorithm @ ..] = body.get(..6)? else { return None };
    let material = &body[6..];
    let size = u32::try_from(material.len()).ok()?;
    let length = u32::try_from(body.len() + 4).ok()?;
    Some(naming::sha256(&[
        &[0x9a],
        &length.to_be_bytes(),
        // gpg 2.4.9 hashes the version that the key has.
        &[4],
        created_and_algorithm,
        &size.to_be_bytes(),
        material,
    ]))
}

/// Returns field 2 of a key: whether it is valid by itself, else what the user thinks of it, if that `is_shown`.
pub(crate) fn validity_of_key(state: &KeyState, trust: &UserTrust, is_shown: bool) -> Option<u8> {
    ended(state).or_else(|| is_shown.then(|| validity::letter(trust.key)))
}

/// Returns field 2 of a key that is not valid, independent of trust.
fn ended(state: &KeyState) -> Option<u8> {
    match state {
        KeyState { valid: false, .. } => Some(b'i'),
        KeyState { revoked: Some(_), .. } => Some(b'r'),
        KeyState { expired: true, .. } => Some(b'e'),
        _ => None,
    }
}

/// Fields 3 to 7 of a key.
pub(crate) fn key(key: &KeyFacts, state: &KeyState, out: &mut Vec<u8>) {
    decimal(key.bits, out);
    out.push(b':');
    decimal(key.algorithm.0.into(), out);
    out.push(b':');
    hex(&key.fingerprint.key_id().0.to_be_bytes(), out);
    out.push(b':');
    decimal(key.created.0, out);
    out.push(b':');
    seconds(state.expires, out);
}

/// Appends a letter for each use of a key, as they stand in field 12.
pub(crate) fn capabilities(usage: Usage, compat: Compat, out: &mut Vec<u8>) {
    let letters = [
        (Usage::ENCRYPT, b'e'),
        (Usage::SIGN, b's'),
        (Usage::CERTIFY, b'c'),
        (Usage::AUTHENTICATE, b'a'),
        (Usage::ALSO_DECRYPT, b'r'),
        (Usage::OTHER, b'?'),
    ];
    let usage = compat::shown_usage(compat, usage);
    out.extend(letters.into_iter().filter(|(known, _)| usage.contains(*known)).map(|(_, letter)| letter));
}

/// Fields 19 and 20 of a primary key or user ID.
fn origin(origin: &Origin, out: &mut Vec<u8>) {
    seconds(origin.updated, out);
    out.push(b':');
    decimal(origin.kind.into(), out);
    if let Some(url) = &origin.url {
        out.push(b' ');
        field(url.as_bytes(), out);
    }
    out.push(b':');
}

/// Fields 11 to 20 of a user ID or attribute.
fn end_of_user(from: Option<&Origin>, out: &mut Vec<u8>) {
    out.extend(b":::::::::");
    match from {
        Some(from) => origin(from, out),
        None => out.extend(b":0:"),
    }
    out.push(b'\n');
}

pub(crate) fn revoker(revoker: &Revoker, out: &mut Vec<u8>) {
    out.extend(b"rvk:::");
    decimal(revoker.algorithm.0.into(), out);
    out.extend(b"::::::");
    hex(revoker.fingerprint.as_bytes(), out);
    out.push(b':');
    lower_hex(revoker.class, out);
    out.extend(revoker.is_sensitive().then_some(b's'));
    out.extend(b":\n");
}

/// Fields 4 to 9 of a signature, and the delimiter after them.
pub(super) fn made_by(facts: &SignatureFacts, out: &mut Vec<u8>) {
    decimal(facts.key_algorithm.0.into(), out);
    out.push(b':');
    hex(&facts.issuer.key_id.0.to_be_bytes(), out);
    out.push(b':');
    decimal(facts.created.0, out);
    out.push(b':');
    seconds(facts.expires, out);
    out.push(b':');
    if let Some(trust) = facts.trust.filter(|trust| trust.depth != 0 || trust.amount != 0) {
        decimal(trust.depth.into(), out);
        out.push(b' ');
        decimal(trust.amount.into(), out);
    }
    out.push(b':');
    field(facts.trust_regexp.as_deref().unwrap_or_default(), out);
    out.push(b':');
}

/// The rest of field 11 of a signature and all that follows.
fn end_of_signature(facts: &SignatureFacts, issuer: Option<Fingerprint>, out: &mut Vec<u8>) {
    if let Some(reason) = &facts.reason {
        out.push(b',');
        lower_hex(reason.code, out);
    }
    out.extend(b"::");
    if let Some(fingerprint) = issuer {
        hex(fingerprint.as_bytes(), out);
    }
    out.extend(b":::");
    decimal(facts.hash_algorithm.0.into(), out);
    out.push(b':');
    if let Some(reason) = facts.reason.as_ref().filter(|reason| !reason.comment.is_empty()) {
        out.extend(b"::::");
        field(&reason.comment, out);
        out.push(b':');
    }
    out.push(b'\n');
}
