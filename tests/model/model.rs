//! The model: who made a signature, and may they? Plain, slow, and without caps, caches or budgets.
//!
//! It works on the list of everything that was ever imported. [`Proven::by`] tries every signature of an input over every
//! component that it could be over; [`World::of`] adds up what inputs prove; the rest are questions about that as of a
//! clock. The bare equation is Sequoia's. Each rule is a sentence with its source; where `keyhoard` follows RFC 9580 and
//! `gpg-keyhoard` GnuPG 2.2, the model knows both ([`Rules`]).
//!
//! Two rules make verdicts independent of who sends what in which order:
//!
//! - What a certificate's owner or a designated revoker signed counts, whatever else is there, wherever it stands, and
//!   whatever the unhashed subpackets say about its maker: an issuer is a hint (ARCHITECTURE.md, "Invariants", 5).
//!   Only a certification that names another key is taken for that key's, as in GnuPG: who changes it could as well leave
//!   it out.
//! - Of several copies of a signature that differ in their unhashed subpackets, each is judged alone: another copy takes
//!   nothing from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::signature::{Over, PublicKey, SHA1, Time, Usage, digest_of_content};
use crate::wire::{self, Signature};

/// What one input says about one certificate, proven.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    primary: PublicKey,
    users: BTreeSet<Vec<u8>>,
    subkeys: BTreeSet<PublicKey>,
    /// Made by the primary key over the component.
    own: Vec<(Over, Signature)>,
    /// Made by somebody else, over the component that they stand behind if at all.
    others: Vec<(Over, Signature)>,
}

impl Proven {
    /// Reads an input. It must not be imported before its keys were made.
    pub(crate) fn by(input: &[u8]) -> Vec<Self> {
        let mut certificates: Vec<Vec<(u8, Vec<u8>)>> = Vec::new();
        for (tag, body) in wire::packets(input) {
            match tag {
                wire::PUBLIC_KEY => certificates.push(vec![(tag, body)]),
                // Nobody else's trust packets mean anything (RFC 9580, 5.10).
                wire::TRUST => {}
                _ => certificates.last_mut().expect("an input begins with a key").push((tag, body)),
            }
        }
        certificates.iter().map(|packets| Self::of_one(packets)).collect()
    }

    fn of_one(packets: &[(u8, Vec<u8>)]) -> Self {
        let primary = PublicKey(packets[0].1.clone());
        let component = |(tag, body): &(u8, Vec<u8>)| match *tag {
            wire::PUBLIC_KEY => Some(Over::Primary),
            wire::USER_ID => Some(Over::User(body.clone())),
            wire::PUBLIC_SUBKEY => Some(Over::Subkey(PublicKey(body.clone()))),
            _ => None,
        };
        let components: BTreeSet<Over> = packets.iter().filter_map(component).collect();
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut place = Over::Primary;
        for packet in packets {
            if let Some(component) = component(packet) {
                place = component;
                continue;
            }
            let signature = Signature::read(&packet.1);
            let certifies = matches!(signature.kind, 0x10..=0x13);
            let may_be_own = !certifies || signature.names(&primary) || signature.names_nobody();
            let made_over = |over: &&Over| {
                may_be_own
                    && over.suits(signature.kind)
                    && primary.made(&signature, &over.digest(&primary, &signature))
            };
            let over = components.iter().find(made_over);
            match over {
                // A signature by the owner is moved to what it is over (GnuPG 2.2, `key_check_all_keysigs`).
                Some(over) => own.push((over.clone(), signature)),
                // A signature by somebody else means something where it stands, or nothing.
                None if place.suits(signature.kind) => others.push((place.clone(), signature)),
                None => {}
            }
        }
        let mut proven = Self { primary, users: BTreeSet::new(), subkeys: BTreeSet::new(), own, others };
        proven.keep_vouched(components);
        proven
    }

    /// User IDs and subkeys without a self-signature are not taken, nor what stands behind them; a revocation is a
    /// self-signature (GnuPG 2.2 with Debian's patches, `delete_inv_parts`). Neither are local signatures.
    fn keep_vouched(&mut self, components: BTreeSet<Over>) {
        let binds = |kind| matches!(kind, 0x10..=0x13 | 0x18 | 0x28 | 0x30);
        let vouched = |over: &Over| {
            *over == Over::Primary
                || self.own.iter().any(|(on, one)| on == over && binds(one.kind) && self.counts(one))
        };
        let kept: BTreeSet<Over> = components.into_iter().filter(vouched).collect();
        self.own.retain(|(over, signature)| kept.contains(over) && !signature.is_local(true));
        self.others.retain(|(over, signature)| kept.contains(over) && !signature.is_local(false));
        for over in kept {
            match over {
                Over::Primary => {}
                Over::User(user) => drop(self.users.insert(user)),
                Over::Subkey(subkey) => drop(self.subkeys.insert(subkey)),
            }
        }
    }

    /// A signature by the owner counts unless its digest is weak, it has an unknown critical subpacket, or it is older than
    /// the primary key (GnuPG 2.2, `check_signature_end`).
    fn counts(&self, signature: &Signature) -> bool {
        !signature.is_weak()
            && !signature.has_unknown_critical()
            && signature.created() >= self.primary.created()
    }

    fn add(&mut self, other: &Self) {
        self.users.extend(other.users.iter().cloned());
        self.subkeys.extend(other.subkeys.iter().cloned());
        self.own.extend(other.own.iter().cloned());
        self.others.extend(other.others.iter().cloned());
    }
}

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rules {
    /// RFC 9580: a certificate is what it was at a moment.
    #[default]
    Rfc9580,
    /// GnuPG 2.2: it is what it became, whenever that was signed.
    Gnupg,
}

/// Everything that was imported.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) rules: Rules,
    pub(crate) certificates: BTreeMap<PublicKey, Certificate>,
}

/// A certificate: all that was ever proven of it.
#[derive(Clone, Debug)]
pub(crate) struct Certificate(Proven);

/// What a key means at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyState {
    pub(crate) valid: bool,
    pub(crate) revoked: bool,
    pub(crate) expires: Option<Time>,
    pub(crate) expired: bool,
    pub(crate) usage: Usage,
}

/// What a user ID means at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserState {
    pub(crate) bound: bool,
    pub(crate) revoked: bool,
    pub(crate) expired: bool,
}

impl World {
    /// Adds up what inputs prove. A certificate of which an input brings no user ID is taken only if it is here already
    /// (GnuPG 2.2, `import_one_real`: "no valid user IDs").
    pub(crate) fn of<'p>(inputs: impl Iterator<Item = &'p Vec<Proven>>) -> Self {
        let mut world = Self::default();
        for proven in inputs.flatten() {
            match world.certificates.get_mut(&proven.primary) {
                Some(known) => known.0.add(proven),
                None if proven.users.is_empty() => {}
                None => {
                    world.certificates.insert(proven.primary.clone(), Certificate(proven.clone()));
                }
            }
        }
        world
    }

    /// Returns the same by GnuPG's rules.
    pub(crate) fn by_gnupg(self) -> Self {
        Self { rules: Rules::Gnupg, ..self }
    }

    /// Adds up what a keyring file proves that is read as it is: no certificate is left out for want of a user ID.
    pub(crate) fn of_file<'p>(inputs: impl Iterator<Item = &'p Vec<Proven>>) -> Self {
        let mut world = Self::default();
        for proven in inputs.flatten() {
            let known = world.certificates.entry(proven.primary.clone());
            known.and_modify(|known| known.0.add(proven)).or_insert_with(|| Certificate(proven.clone()));
        }
        world
    }

    /// A key is revoked by a designated revoker that a direct-key signature of the owner names, however old that one is
    /// (RFC 9580, 5.2.3.23). The revoker's certificate has to be here and bound today, whatever moment is asked for, so
    /// that no renewed certificate takes a revocation back; as in GnuPG it may be revoked or expired itself, and its user
    /// IDs revoked. Soft revocations count from the oldest one until a self-signature newer than all.
    fn is_revoked_by_others(&self, certificate: &Certificate, now: Time, today: Time) -> bool {
        let Certificate(proven) = certificate;
        let revokers: Vec<&[u8]> = certificate
            .own(&Over::Primary, now, Rules::Gnupg)
            .filter(|signature| signature.kind == 0x1f)
            .flat_map(|signature| &signature.hashed)
            .filter(|(kind, body)| kind & 0x7f == 12 && body[0] & 0x80 != 0)
            .map(|(_, body)| &body[2..22])
            .collect();
        let by = |revoker: &Certificate, signature: &Signature| {
            let primary = &revoker.0.primary;
            revokers.contains(&primary.fingerprint().as_slice())
                && primary.created() <= signature.created()
                && revoker.is_self_signed(today, self.rules)
                && primary.made(signature, &Over::Primary.digest(&proven.primary, signature))
        };
        let made = proven.others.iter().filter(|(over, signature)| {
            *over == Over::Primary
                && signature.kind == 0x20
                && !signature.is_weak()
                && !signature.has_unknown_critical()
                && self.certificates.values().any(|revoker| by(revoker, signature))
        });
        let made: Vec<&Signature> = made.map(|(_, signature)| signature).collect();
        let bound = certificate.bound(now);
        let dates = || made.iter().map(|signature| signature.created());
        match self.rules {
            Rules::Gnupg => !made.is_empty(),
            Rules::Rfc9580 => {
                made.iter().any(|signature| signature.is_hard())
                    || dates().any(|date| date <= now)
                        && dates().any(|date| bound.is_none_or(|bound| bound <= date))
            }
        }
    }

    /// Returns what the primary key means.
    pub(crate) fn primary(&self, certificate: &Certificate, now: Time) -> KeyState {
        self.primary_at(certificate, now, now)
    }

    /// Returns what it meant at a moment, as is known today.
    fn primary_at(&self, certificate: &Certificate, now: Time, today: Time) -> KeyState {
        let alone = certificate.alone(now, self.rules);
        KeyState { revoked: alone.revoked || self.is_revoked_by_others(certificate, now, today), ..alone }
    }

    /// Returns what a subkey means: the newest binding that has not expired counts, and for GnuPG any revocation, however
    /// old (`merge_selfsigs_subkey`). What befalls the primary key befalls its subkeys. By RFC 9580 (5.2.3.10) it has the
    /// key flags of a direct-key signature if it has none of its own, and without any no usage.
    pub(crate) fn subkey(&self, certificate: &Certificate, subkey: &PublicKey, now: Time) -> KeyState {
        self.subkey_at(certificate, subkey, now, now)
    }

    /// Returns what it meant at a moment, as is known today.
    fn subkey_at(&self, certificate: &Certificate, subkey: &PublicKey, now: Time, today: Time) -> KeyState {
        let primary = self.primary_at(certificate, now, today);
        let over = Over::Subkey(subkey.clone());
        let own: Vec<&Signature> = certificate.own(&over, now, self.rules).collect();
        let bindings = own.iter().filter(|one| one.kind == 0x18 && !one.has_expired(now)).copied();
        let binding = newest(bindings);
        let expires = binding.and_then(|binding| binding.key_end(subkey));
        let said = |binding: &Signature| match self.rules {
            Rules::Gnupg => binding.usage(),
            Rules::Rfc9580 => {
                let direct = || certificate.direct(now, self.rules).and_then(Signature::usage);
                Some(binding.usage().or_else(direct).unwrap_or_default())
            }
        };
        KeyState {
            valid: binding.is_some() && primary.valid,
            revoked: primary.revoked
                || is_revoked(&own, 0x28, binding.map(Signature::created), now, self.rules),
            expires,
            expired: primary.expired || has_ended(expires, now, self.rules),
            usage: binding.map_or(Usage::default(), |binding| Usage::of(said(binding), subkey)),
        }
    }

    /// Returns the key that messages are encrypted to: the newest usable subkey that encrypts, else the primary key
    /// (GnuPG 2.2, `finish_lookup`).
    pub(crate) fn encryption_key(&self, certificate: &Certificate, now: Time) -> Option<PublicKey> {
        let usable = |state: &KeyState| state.valid && !state.revoked && !state.expired;
        let primary = self.primary(certificate, now);
        if !usable(&primary) {
            return None;
        }
        let subkeys = certificate.0.subkeys.iter().filter(|subkey| {
            let state = self.subkey(certificate, subkey, now);
            usable(&state) && state.usage.encrypt
        });
        let primary = Some(&certificate.0.primary).filter(|_| primary.usage.encrypt);
        subkeys.max_by_key(|subkey| subkey.created()).or(primary).cloned()
    }

    /// Says whether a certificate's primary key certifies a user ID of another certificate, so that both are in force: of
    /// what it signed of the user ID the newest decides, unless one that cannot be revoked has not ended (GnuPG 2.2,
    /// `mark_usable_uid_certs`).
    pub(crate) fn certifies(
        &self,
        by: &Certificate,
        certificate: &Certificate,
        user: &[u8],
        now: Time,
    ) -> bool {
        let state = certificate.user(user, now, self.rules);
        let (maker, subject) = (self.primary(by, now), self.primary(certificate, now));
        if !maker.valid || maker.revoked || maker.expired || subject.revoked || subject.expired {
            return false;
        }
        if state.revoked || state.expired {
            return false;
        }
        let over = Over::User(user.to_vec());
        let primary = &certificate.0.primary;
        let made: Vec<&Signature> = certificate
            .0
            .others
            .iter()
            .filter(|(on, signature)| *on == over && signature.names(&by.0.primary))
            .map(|(_, signature)| signature)
            .filter(|signature| is_accepted(signature, primary, now))
            // A claim of 0x11 is too little (GnuPG 2.2, `--min-cert-level 2`).
            .filter(|signature| signature.kind != 0x11)
            .filter(|signature| by.0.primary.made(signature, &over.digest(primary, signature)))
            .collect();
        let lasts = |one: &&&Signature| one.kind != 0x30 && one.is_irrevocable() && !one.has_expired(now);
        let decides = newest(made.iter().filter(lasts).copied()).or_else(|| newest(made.iter().copied()));
        decides.is_some_and(|one| one.kind != 0x30 && !one.has_expired(now))
    }

    /// Judges a signature over content.
    pub(crate) fn judge(&self, signature: &Signature, content: &[u8], now: Time) -> Judgement {
        let holders = self.certificates.values().flat_map(|certificate| {
            let keys = std::iter::once(&certificate.0.primary).chain(&certificate.0.subkeys);
            keys.filter(|key| match self.rules {
                Rules::Gnupg => signature.names(key),
                Rules::Rfc9580 => signature.hints_at(key),
            })
            .map(move |key| (certificate, key))
        });
        let holders: Vec<(&Certificate, &PublicKey)> = holders.collect();
        if holders.is_empty() {
            return Judgement::NoKey;
        }
        let digest = digest_of_content(content, signature);
        let makers = holders.into_iter().filter(|(_, key)| key.made(signature, &digest));
        let objections: Vec<Vec<Objection>> =
            makers.map(|(certificate, key)| self.objections(certificate, key, signature, now)).collect();
        if objections.is_empty() { Judgement::Bad } else { Judgement::Made(objections) }
    }

    /// Returns everything that speaks against a signature that a key of a certificate made.
    fn objections(
        &self,
        certificate: &Certificate,
        key: &PublicKey,
        signature: &Signature,
        now: Time,
    ) -> Vec<Objection> {
        let then = if self.rules == Rules::Gnupg { now } else { signature.created() };
        let primary = self.primary_at(certificate, then, now);
        let is_primary = *key == certificate.0.primary;
        let state = if is_primary { primary } else { self.subkey_at(certificate, key, then, now) };
        let agrees = is_primary || certificate.is_agreed(key, then, self.rules);
        let ends = [state.expires, primary.expires].into_iter().flatten().min();
        let is_over =
            |created| ends.is_some_and(|end| end < created) || self.rules == Rules::Rfc9580 && state.expired;
        let created = signature.created();
        let objections = [
            (
                signature.is_weak() || self.rules == Rules::Rfc9580 && signature.hash == SHA1,
                Objection::WeakDigest,
            ),
            (signature.has_unknown_critical(), Objection::UnknownDemand),
            // Whoever has a secret key can date a signature back: a revocation counts from the beginning, unless it is soft.
            (state.revoked, Objection::KeyRevoked),
            (!state.valid || !state.usage.sign || !agrees, Objection::KeyUnusable),
            (created > now || created < key.created(), Objection::WrongTime),
            (is_over(created), Objection::KeyExpired),
            (signature.has_expired(now), Objection::Expired),
        ];
        objections.into_iter().filter(|(holds, _)| *holds).map(|(_, objection)| objection).collect()
    }
}

/// A certification by somebody else is accepted unless its digest is weak, SHA-1 after the 19th of January 2019 (GnuPG
/// 2.2, `check_key_signature2`) included, it has an unknown critical subpacket, or the key is newer or from the future.
fn is_accepted(signature: &Signature, primary: &PublicKey, now: Time) -> bool {
    let is_late = signature.hash == SHA1 && signature.created() > 1_547_856_000;
    !signature.is_weak()
        && !is_late
        && !signature.has_unknown_critical()
        && primary.created() <= now
        && signature.created() >= primary.created()
}

/// A revocation of a key is for all time in GnuPG (`merge_selfsigs_subkey`). By RFC 9580 (5.2.3.31) a soft one counts until it
/// expires or a newer self-signature is made.
fn is_revoked(own: &[&Signature], kind: u8, bound: Option<Time>, now: Time, rules: Rules) -> bool {
    own.iter().filter(|one| one.kind == kind).any(|one| {
        rules == Rules::Gnupg
            || one.is_hard()
            || !one.has_expired(now) && bound.is_none_or(|bound| bound <= one.created())
    })
}

/// A key has expired in the second of its end, for GnuPG in the one after it.
fn has_ended(expires: Option<Time>, now: Time, rules: Rules) -> bool {
    expires.is_some_and(|end| if rules == Rules::Gnupg { end < now } else { end <= now })
}

fn newest<'s>(signatures: impl Iterator<Item = &'s Signature>) -> Option<&'s Signature> {
    signatures.max_by_key(|signature| signature.created())
}

impl Certificate {
    pub(crate) fn primary_key(&self) -> &PublicKey {
        &self.0.primary
    }

    pub(crate) fn users(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.0.users.iter()
    }

    pub(crate) fn subkeys(&self) -> impl Iterator<Item = &PublicKey> {
        self.0.subkeys.iter()
    }

    /// The owner's signatures over a component that count. A key from the future has none (GnuPG 2.2). By RFC 9580 those
    /// from the future are not there yet, other than hard revocations.
    fn own(&self, over: &Over, now: Time, rules: Rules) -> impl Iterator<Item = &Signature> {
        let own = self.0.own.iter().filter(move |(on, signature)| on == over && self.0.counts(signature));
        let own = own.map(|(_, signature)| signature).filter(move |_| self.0.primary.created() <= now);
        own.filter(move |one| rules == Rules::Gnupg || one.created() <= now || one.is_hard())
    }

    /// Returns what a user ID means. For GnuPG the newest self-signature decides (`merge_selfsigs_main`), by RFC 9580 the
    /// newest one that has not expired, a revocation before a certification of the same second.
    pub(crate) fn user(&self, user: &[u8], now: Time, rules: Rules) -> UserState {
        match self.deciding(user, now, rules) {
            None => UserState::default(),
            Some(one) if one.kind == 0x30 => UserState { revoked: true, ..UserState::default() },
            Some(one) if one.has_expired(now) => UserState { expired: true, ..UserState::default() },
            Some(_) => UserState { bound: true, ..UserState::default() },
        }
    }

    fn deciding(&self, user: &[u8], now: Time, rules: Rules) -> Option<&Signature> {
        let over = Over::User(user.to_vec());
        let all = || self.own(&over, now, rules);
        if rules == Rules::Gnupg {
            return newest(all());
        }
        let revoked = newest(all().filter(|one| one.kind == 0x30 && !one.has_expired(now)));
        let certified = self.certification(user, now);
        let newer = certified.filter(|one| revoked.is_none_or(|revoked| one.created() > revoked.created()));
        newer.or(revoked).or_else(|| newest(all().filter(|one| one.kind != 0x30)))
    }

    /// Returns the newest certification of a user ID that has not expired.
    fn certification(&self, user: &[u8], now: Time) -> Option<&Signature> {
        let over = Over::User(user.to_vec());
        let all = self.own(&over, now, Rules::Rfc9580);
        newest(all.filter(|one| one.kind != 0x30 && !one.has_expired(now)))
    }

    /// Returns the newest direct-key signature that has not expired.
    fn direct(&self, now: Time, rules: Rules) -> Option<&Signature> {
        newest(self.own(&Over::Primary, now, rules).filter(|one| one.kind == 0x1f && !one.has_expired(now)))
    }

    /// Returns the newest certification of the primary user ID, which may be revoked: the one with the newest
    /// self-signature among those marked as primary, or else among all that are bound, then the longest, then the last in
    /// the alphabet.
    fn of_primary_user(&self, now: Time) -> Option<&Signature> {
        let order = |user: &&Vec<u8>| {
            let bound = self
                .deciding(user, now, Rules::Rfc9580)
                .filter(|_| self.user(user, now, Rules::Rfc9580).bound);
            let is_primary = bound.is_some_and(|one| one.says(25).is_some_and(|says| says == [1]));
            (is_primary, bound.map(Signature::created), user.len(), (*user).clone())
        };
        self.certification(self.0.users.iter().max_by_key(order)?, now)
    }

    /// Returns when the self-signature was made that says last what the certificate is, by RFC 9580.
    fn bound(&self, now: Time) -> Option<Time> {
        let newest = self.direct(now, Rules::Rfc9580).into_iter().chain(self.of_primary_user(now));
        newest.map(Signature::created).max()
    }

    /// Says whether the owner bound the primary key, directly or with a user ID, which may be revoked.
    fn is_self_signed(&self, now: Time, rules: Rules) -> bool {
        let over = |user: &Vec<u8>| Over::User(user.clone());
        self.direct(now, rules).is_some()
            || self.0.users.iter().any(|user| match rules {
                Rules::Gnupg => self.own(&over(user), now, rules).next().is_some(),
                Rules::Rfc9580 => self.certification(user, now).is_some(),
            })
    }

    /// Returns what the primary key means as far as the owner says so. For GnuPG the newest direct-key signature that has
    /// not expired goes before the user IDs, for usage and for expiry separately; of these the newest self-signature that
    /// says anything (`merge_selfsigs_main`). By RFC 9580 (5.2.3.10) the primary user ID goes before a direct-key signature.
    fn alone(&self, now: Time, rules: Rules) -> KeyState {
        let primary = &self.0.primary;
        let over_key: Vec<&Signature> = self.own(&Over::Primary, now, rules).collect();
        let direct = self.direct(now, rules);
        let of_users = || {
            let of_users = self.0.users.iter().filter_map(|user| {
                self.deciding(user, now, rules).filter(|_| self.user(user, now, rules).bound)
            });
            let mut of_users: Vec<&Signature> = of_users.collect();
            of_users.sort_by_key(|one| std::cmp::Reverse(one.created()));
            of_users
        };
        let (said, bound) = match rules {
            Rules::Gnupg => (direct.into_iter().chain(of_users()).collect::<Vec<_>>(), None),
            Rules::Rfc9580 => {
                (self.of_primary_user(now).into_iter().chain(direct).collect(), self.bound(now))
            }
        };
        let usage = said.iter().find_map(|one| one.usage());
        let expires = match rules {
            Rules::Gnupg => said.iter().find_map(|one| one.key_end(primary)),
            Rules::Rfc9580 => {
                said.iter().find(|one| one.number(9).is_some()).and_then(|one| one.key_end(primary))
            }
        };
        // By RFC 9580 a user ID that is revoked binds nothing.
        let valid = match rules {
            Rules::Gnupg => self.is_self_signed(now, rules),
            Rules::Rfc9580 => {
                direct.is_some() || self.0.users.iter().any(|user| self.user(user, now, rules).bound)
            }
        };
        let usage = if rules == Rules::Gnupg { usage } else { Some(usage.unwrap_or_default()) };
        KeyState {
            valid,
            revoked: is_revoked(&over_key, 0x20, bound, now, rules),
            expires,
            expired: has_ended(expires, now, rules),
            // A primary key always certifies.
            usage: Usage { certify: true, ..Usage::of(usage, primary) },
        }
    }

    /// A subkey that signs has to say itself that it belongs to the certificate, in a signature that one of its bindings
    /// carries, whichever (RFC 9580, 5.2.1.9). The same rules apply to that as to every other signature.
    fn is_agreed(&self, subkey: &PublicKey, now: Time, rules: Rules) -> bool {
        let over = Over::Subkey(subkey.clone());
        let bindings = self.own(&over, now, rules).filter(|one| one.kind == 0x18);
        bindings.flat_map(Signature::embedded).any(|back| {
            back.kind == 0x19
                && !back.is_weak()
                && !back.has_unknown_critical()
                && !back.has_expired(now)
                && back.created() <= now
                && back.created() >= subkey.created()
                && subkey.made(&back, &over.digest(&self.0.primary, &back))
        })
    }
}

/// What a signature over content is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// No key that it names is here.
    NoKey,
    /// No key that it names made it.
    Bad,
    /// Made by a key that these certificates hold: what speaks against it, by each of them. It is good if by one of them
    /// nothing does.
    Made(Vec<Vec<Objection>>),
}

/// What speaks against a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objection {
    WeakDigest,
    UnknownDemand,
    KeyRevoked,
    KeyUnusable,
    WrongTime,
    KeyExpired,
    Expired,
}
