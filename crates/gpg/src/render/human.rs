//! The listing for people (gpg's `list_keyblock_print`).

use engine::cert::Timestamp;
use engine::cert::attribute;
use engine::cert::effective::{KeyState, Usage, UserIdState, can_be_primary};
use engine::cert::facts::{KeyFacts, Revoker, SignatureFacts};
use engine::cert::mailbox::mailbox;
use engine::certifications::CertificationStatus;
use engine::configuration::Compat;
use engine::listing::{KeyListing, ListedComponent, ListedItem, ListedSignature, SecretPart};
use engine::store::Origin;
use engine::trust::OwnerTrust;

use super::digits::{date, date_or_never, decimal, hex, lower_hex, time_of_day};
use super::identity::{fingerprint_line, pad};
use super::preferences::Shown;
use super::text::{for_people, sanitized};
use super::{algorithm, card, material, screening, signature, subpacket, validity, wkd};
use crate::compat;
use crate::settings::{KEY_ORIGINS, KeyIdFormat, ListFlags, ListSettings};

/// Columns of a user ID's validity.
const VALIDITY_COLUMNS: usize = 10;

/// Appends one certificate and an empty line.
pub(super) fn listing(listing: &KeyListing<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    let mut renderer = Renderer { listing, settings };
    for listed in &listing.components {
        if renderer.component(listed, out) && settings.signatures {
            for signature in signature::shown(listing, &listed.signatures, settings) {
                renderer.signature(signature, out);
            }
        }
    }
    out.push(b'\n');
}

/// Appends a revocation certificate.
pub(super) fn revocation(listed: &ListedSignature<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    out.extend(b"rvs");
    out.extend(marks(listed));
    settings.key_id_format.issuer(listed.facts.issuer.key_id, out);
    out.push(b' ');
    date(listed.facts.created, out);
    if !settings.fast {
        out.extend(b"  ");
        for_people(signature::issuer_name(listed.issuer), out);
    }
    out.push(b'\n');
    subpacket::lines(listed, &settings.flags, out);
    reason(listed.facts, out);
}

/// Says whether a component is hidden with its signatures, since it is unusable.
pub(super) fn is_hidden(item: ListedItem<'_>, flags: &ListFlags) -> bool {
    match item {
        ListedItem::Primary(..) => false,
        ListedItem::Subkey(_, state) => (state.revoked.is_some() || state.expired) && !flags.unusable_subkeys,
        ListedItem::UserId(_, state, _) | ListedItem::Attribute(_, state, _) => {
            (state.revoked || state.expired) && !flags.unusable_uids
        }
    }
}

struct Renderer<'a> {
    listing: &'a KeyListing<'a>,
    settings: &'a ListSettings,
}

impl Renderer<'_> {
    /// Appends a component, unless it is unusable and such ones are hidden; then returns `false`.
    fn component(&mut self, listed: &ListedComponent<'_>, out: &mut Vec<u8>) -> bool {
        if is_hidden(listed.item, &self.settings.flags) {
            return false;
        }
        match listed.item {
            ListedItem::Primary(key, state) => self.primary(key, state, listed.body, out),
            ListedItem::Subkey(key, state) => self.subkey(key, state, listed.body, out),
            ListedItem::UserId(value, state, _) => {
                let indent = self.user(listed.index, state, out);
                for_people(value, out);
                out.push(b'\n');
                self.preferences(listed, indent, out);
                self.web_key_directory(value, indent, out);
                if let Some(from) = listed.origin.filter(|_| self.settings.with_key_origin) {
                    origin(from, indent, out);
                }
            }
            ListedItem::Attribute(facts, state, _) => {
                let indent = self.user(listed.index, state, out);
                out.extend(attribute::name(facts).into_bytes());
                out.push(b'\n');
                self.preferences(listed, indent, out);
            }
        }
        true
    }

    fn primary(&self, key: &KeyFacts, state: &KeyState, body: Option<&[u8]>, out: &mut Vec<u8>) {
        self.key_line(if self.settings.secret { b"sec" } else { b"pub" }, key, state, true, out);
        if self.listing.trust.disabled && self.settings.compat >= Compat::V2_4 {
            out.extend(b"      *** This key has been disabled\n");
        }
        let brief = self.settings.fingerprint == 0;
        fingerprint_line(&key.fingerprint, brief, self.settings, out);
        self.keygrip(key, out);
        self.card(key, out);
        self.key_data(key, body, out);
        if self.settings.with_key_origin {
            origin(self.listing.origin, 3, out);
        }
        if self.settings.compat >= Compat::V2_4 {
            self.listing.revokers.iter().for_each(|it| revoker(it, out));
        }
    }

    fn subkey(&self, key: &KeyFacts, state: &KeyState, body: Option<&[u8]>, out: &mut Vec<u8>) {
        let state = compat::shown_subkey(self.settings.compat, self.listing.primary().1, state);
        self.key_line(if self.settings.secret { b"ssb" } else { b"sub" }, key, &state, false, out);
        if self.settings.fingerprint > 1 || self.settings.with_subkey_fingerprint {
            fingerprint_line(&key.fingerprint, false, self.settings, out);
            self.card(key, out);
        }
        self.keygrip(key, out);
        self.key_data(key, body, out);
    }

    fn key_line(&self, what: &[u8], key: &KeyFacts, state: &KeyState, primary: bool, out: &mut Vec<u8>) {
        out.extend(what);
        out.push(match self.listing.trust.secret_part(&key.fingerprint) {
            _ if !self.settings.secret => b' ',
            Some(SecretPart { card: None, .. }) => b' ',
            Some(SecretPart { card: Some(_), .. }) => b'>',
            None => b'#',
        });
        let owner = primary.then_some(self.listing.trust.owner);
        key_line(key, state, primary, owner, self.settings, out);
    }

    /// Appends the card that a secret key is on: of an OpenPGP card its maker and number, of others the whole serial
    /// number.
    fn card(&self, key: &KeyFacts, out: &mut Vec<u8>) {
        let part = self.listing.trust.secret_part(&key.fingerprint).filter(|_| self.settings.secret);
        let Some(serial) = part.and_then(|part| part.card.as_deref()) else { return };
        out.extend(format!("      Card serial no. = {}\n", card::number(serial)).into_bytes());
    }

    fn keygrip(&self, key: &KeyFacts, out: &mut Vec<u8>) {
        if let Some(keygrip) = key.keygrip.filter(|_| self.settings.with_keygrip) {
            out.extend(b"      Keygrip = ");
            hex(&keygrip.0, out);
            out.push(b'\n');
        }
    }

    fn key_data(&self, key: &KeyFacts, body: Option<&[u8]>, out: &mut Vec<u8>) {
        if self.settings.with_key_data {
            material::records(key, body, out);
        }
        if self.settings.with_key_screening && screening::is_vulnerable(key, body) {
            out.extend(b"      Screening: ROCA vulnerability detected\n");
        }
    }

    /// Appends the label before a user ID; returns its indentation.
    fn user(&mut self, index: usize, state: &UserIdState, out: &mut Vec<u8>) -> usize {
        let columns = self.settings.key_id_format.columns() + if self.settings.legacy { 9 } else { 11 };
        out.extend(b"uid");
        if !(state.revoked || state.expired || self.settings.flags.uid_validity) {
            pad(columns + 1, out);
            return columns + 1;
        }
        let indent = columns - VALIDITY_COLUMNS;
        pad(indent, out);
        match ended(self.listing, state) {
            Some(word) => out.extend(word.as_bytes()),
            None => out.extend(validity::word(self.listing.trust.of_component(index)).as_bytes()),
        }
        out.push(b' ');
        indent
    }

    fn preferences(&self, listed: &ListedComponent<'_>, indent: usize, out: &mut Vec<u8>) {
        let ListFlags { preferences, preference_names, .. } = self.settings.flags;
        if preferences || preference_names {
            let shown = Shown::of(listed.own);
            let text = if preference_names { shown.names(3 + indent) } else { shown.line(3 + indent) };
            out.extend(text.into_bytes());
        }
    }

    fn web_key_directory(&self, user_id: &[u8], indent: usize, out: &mut Vec<u8>) {
        if self.settings.with_wkd_hash
            && let Some(name) = mailbox(user_id).and_then(|mailbox| wkd::name(&mailbox))
        {
            pad(3 + indent, out);
            sanitized(&name, out);
            out.push(b'\n');
        }
    }

    fn signature(&self, listed: &ListedSignature<'_>, out: &mut Vec<u8>) {
        let facts = listed.facts;
        if let Some(CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_)) = listed.status {
            return;
        }
        let Some(word) = signature::word(facts.kind) else {
            out.extend(b"sig                             [unexpected signature class 0x");
            lower_hex(facts.kind.0, out);
            return out.extend(b"]\n");
        };
        out.extend(word);
        out.extend(marks(listed));
        self.settings.key_id_format.issuer(facts.issuer.key_id, out);
        out.push(b' ');
        moment(facts.created, self.settings, out);
        if self.settings.flags.sig_expire {
            out.push(b' ');
            moment_or_never(facts.expires, self.settings, out);
        }
        out.extend(b"  ");
        match (listed.status, listed.issuer) {
            (Some(CertificationStatus::Refused(refusal)), _) => {
                out.extend(format!("[{}] ", signature::code(refusal)).into_bytes());
            }
            _ if self.settings.compat >= Compat::V2_4 && signature::is_own(self.listing, facts) => {
                out.extend(b"[self-signature]");
            }
            (_, issuer) => for_people(signature::issuer_name(issuer), out),
        }
        out.push(b'\n');
        subpacket::lines(listed, &self.settings.flags, out);
        self.reason(facts, out);
    }

    /// Appends why a revocation was made; since 2.4 only where the revocation says more than that no reason is specified.
    fn reason(&self, facts: &SignatureFacts, out: &mut Vec<u8>) {
        let is_specified = facts.reason.as_ref().is_some_and(|it| it.code != 0 || !it.comment.is_empty());
        if is_specified || self.settings.compat < Compat::V2_4 {
            reason(facts, out);
        }
    }
}

/// Appends the line of a key behind the word and the mark that it begins with; `owner` is how far a primary key's owner is
/// trusted, where that is known.
pub(super) fn key_line(
    key: &KeyFacts,
    state: &KeyState,
    primary: bool,
    owner: Option<OwnerTrust>,
    settings: &ListSettings,
    out: &mut Vec<u8>,
) {
    out.extend(b"  ");
    algorithm::description(key, settings.legacy, settings.compat, out);
    if settings.key_id_format != KeyIdFormat::None {
        out.push(b'/');
        settings.key_id_format.key(key.fingerprint.key_id(), out);
    }
    out.push(b' ');
    moment(key.created, settings, out);
    if primary && !can_be_primary(key.algorithm) {
        out.extend(b" [INVALID_ALGO]");
    } else if settings.flags.usage {
        out.extend(b" [");
        out.extend(usage_letters(state.usage, settings.compat));
        out.push(b']');
    }
    if let Some(owner) = owner.filter(|_| settings.flags.owner_trust) {
        out.extend(format!(" [{}]", owner.word()).into_bytes());
    }
    end_of_key(state, settings, out);
    if key.algorithm.0 >= 100 {
        out.extend(b" [experimental algorithm ");
        decimal(key.algorithm.0.into(), out);
        out.push(b']');
    }
    out.push(b'\n');
}

/// The columns between the word `sig` and the issuer.
fn marks(listed: &ListedSignature<'_>) -> [u8; 10] {
    let SignatureFacts { kind, flags, trust, .. } = listed.facts;
    let mark = |set: bool, letter: u8| if set { letter } else { b' ' };
    let level = match kind.0 {
        0x11..=0x13 => b'0' + (kind.0 - 0x10),
        _ => b' ',
    };
    let depth = match trust.map_or(0, |trust| trust.depth) {
        0 => b' ',
        depth @ 1..=9 => b'0' + depth,
        _ => b'T',
    };
    [
        listed.status.map_or(b' ', signature::mark),
        level,
        b' ',
        mark(!flags.exportable, b'L'),
        mark(!flags.revocable, b'R'),
        mark(flags.policy, b'P'),
        mark(flags.notations, b'N'),
        mark(listed.expired, b'X'),
        depth,
        b' ',
    ]
}

/// Returns why a user ID is not valid, independent of trust.
pub(crate) fn ended(listing: &KeyListing<'_>, state: &UserIdState) -> Option<&'static str> {
    let (_, key) = listing.primary();
    match () {
        () if state.revoked || key.revoked.is_some() => Some("[ revoked]"),
        () if state.expired || key.expired => Some("[ expired]"),
        () => None,
    }
}

/// Returns a letter for each use of a key.
pub(crate) fn usage_letters(usage: Usage, compat: Compat) -> impl Iterator<Item = u8> {
    let letters = [
        (Usage::SIGN, b'S'),
        (Usage::CERTIFY, b'C'),
        (Usage::ENCRYPT, b'E'),
        (Usage::AUTHENTICATE, b'A'),
        (Usage::ALSO_DECRYPT, b'R'),
    ];
    let usage = compat::shown_usage(compat, usage);
    letters.into_iter().filter(move |(known, _)| usage.contains(*known)).map(|(_, letter)| letter)
}

fn end_of_key(state: &KeyState, settings: &ListSettings, out: &mut Vec<u8>) {
    let (label, day): (&[u8], _) = match state {
        KeyState { revoked: Some(revocation), .. } => (b" [revoked: ", Some(revocation.date)),
        KeyState { expired: true, expires, .. } => (b" [expired: ", *expires),
        KeyState { expires: Some(day), .. } => (b" [expires: ", Some(*day)),
        _ => return,
    };
    out.extend(label);
    moment_or_never(day.filter(|day| day.0 != 0), settings, out);
    out.push(b']');
}

/// Appends a day, with `--full-timestrings` the time of day too.
fn moment(time: Timestamp, settings: &ListSettings, out: &mut Vec<u8>) {
    date(time, out);
    if settings.full_times {
        out.push(b' ');
        time_of_day(time, out);
    }
}

fn moment_or_never(time: Option<Timestamp>, settings: &ListSettings, out: &mut Vec<u8>) {
    match time {
        Some(time) => moment(time, settings, out),
        None => date_or_never(None, out),
    }
}

/// Appends why a revocation was made, a line of the comment at a time.
fn reason(signature: &SignatureFacts, out: &mut Vec<u8>) {
    let Some(reason) = &signature.reason else { return };
    out.extend(b"      reason for revocation: ");
    match reason.code {
        0x00 => out.extend(b"No reason specified"),
        0x01 => out.extend(b"Key is superseded"),
        0x02 => out.extend(b"Key has been compromised"),
        0x03 => out.extend(b"Key is no longer used"),
        0x20 => out.extend(b"User ID is no longer valid"),
        code => {
            out.extend(b"code=");
            lower_hex(code, out);
        }
    }
    out.push(b'\n');
    for line in reason.comment.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        out.extend(b"         revocation comment: ");
        sanitized(line, out);
        out.push(b'\n');
    }
}

fn revoker(revoker: &Revoker, out: &mut Vec<u8>) {
    out.extend(b"      Revocable by: ");
    hex(revoker.fingerprint.as_bytes(), out);
    out.extend(revoker.is_sensitive().then_some(b" (sensitive)").into_iter().flatten());
    out.push(b'\n');
}

/// Appends where a certificate or user ID came from, if that is known.
fn origin(origin: &Origin, indent: usize, out: &mut Vec<u8>) {
    if origin.kind == 0 && origin.updated.is_none() && origin.url.is_none() {
        return;
    }
    let kind = KEY_ORIGINS.get(usize::from(origin.kind)).copied();
    pad(indent + 3, out);
    out.extend(b"origin=");
    out.extend(kind.unwrap_or("?").as_bytes());
    out.extend(b" last=");
    date(origin.updated.unwrap_or_default(), out);
    out.push(b' ');
    if let Some(url) = &origin.url {
        out.extend(b"url=");
        for_people(url.as_bytes(), out);
    }
    out.push(b'\n');
}
