//! Random certificates, as plain descriptions that can be made smaller, and the packets that they describe.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

use packet_builder::{Hash, Key, Signature as Draft, Signed, Subpacket, Value};

use crate::wire;

/// Seconds since 1970.
type Time = u32;

/// What a key can do. Only the first person has RSA keys, and no more than two; where there is none, it is Ed25519.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Signs only.
    Ed25519,
    /// Encrypts only.
    Cv25519,
    /// Signs and encrypts.
    Rsa,
}

/// The day on which everything begins: 2018-10-20. Three months later SHA-1 certifications end.
pub(crate) const BEGINNING: Time = 1_540_000_000;

/// A time on a day.
pub(crate) fn day(day: i16) -> Time {
    BEGINNING.saturating_add_signed(i32::from(day) * 86_400)
}

/// Somebody with a certificate; the number of a person tells the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) kind: Kind,
    /// The day on which the primary key was made.
    pub(crate) born: i16,
    /// What the first self-signature of each user ID says; `None` for a user ID without one.
    pub(crate) users: Vec<Option<Says>>,
    pub(crate) subkeys: Vec<Subkey>,
    /// Further signatures on this person's certificate.
    pub(crate) more: Vec<Statement>,
}

/// A subkey with its first binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subkey {
    pub(crate) key: Holder,
    /// Days after the primary key.
    pub(crate) born: i16,
    pub(crate) binding: Option<Says>,
}

/// Whose key a subkey is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// One of the person's own.
    Own(Kind),
    /// A key of somebody else, who was not asked: the number of the key among theirs.
    Other { person: usize, key: usize },
}

/// One more signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) kind: u8,
    /// The number of the user ID or subkey, of as many as there are.
    pub(crate) over: usize,
    /// Who makes it, with the primary key.
    pub(crate) by: usize,
    pub(crate) says: Says,
}

/// What a signature says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Says {
    /// Days after the primary key of the certificate that it is on.
    pub(crate) day: i16,
    pub(crate) hash: Hash,
    pub(crate) flags: Option<u8>,
    /// The key ends after so many days.
    pub(crate) key_days: Option<u16>,
    /// The signature ends after so many days.
    pub(crate) days: Option<u16>,
    pub(crate) demand: Demand,
    /// In a binding: the subkey's consent.
    pub(crate) back: Back,
    pub(crate) hint: Hint,
    /// In a revocation: the reason.
    pub(crate) reason: Option<u8>,
    /// In a direct-key signature: who may revoke the key.
    pub(crate) revoker: Option<usize>,
    /// It says that it cannot be revoked.
    pub(crate) irrevocable: bool,
}

/// A critical subpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    Nothing,
    /// Of a type that nobody knows.
    Subpacket,
    /// A notation that nobody knows.
    Notation,
    /// One that is understood.
    Known,
}

/// How a signature says who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// A hashed fingerprint and an unhashed key ID.
    Both,
    /// An unhashed key ID.
    KeyId,
}

/// A primary key binding signature (0x19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    Missing,
    /// Among the hashed subpackets.
    Hashed,
    /// Among the unhashed subpackets, as GnuPG writes it.
    Unhashed,
    /// By another key.
    Forged,
    Md5,
    Sha1,
    Demanding(Demand),
    /// It ends after so many days.
    Ending(u16),
}

/// The world: people, the first of them the one that cases are about.
pub(crate) type People = Vec<Person>;

impl Person {
    /// Somebody with an Ed25519 key, a user ID, and these subkeys and further signatures.
    pub(crate) fn with(subkeys: Vec<Subkey>, more: Vec<Statement>) -> Self {
        Self { kind: Kind::Ed25519, born: 0, users: vec![Some(Says::on(1))], subkeys, more }
    }
}

impl Subkey {
    /// A subkey of a person's own that signs.
    pub(crate) fn signing(back: Back) -> Self {
        let binding = Says { flags: Some(0x02), back, ..Says::on(2) };
        Self { key: Holder::Own(Kind::Ed25519), born: 1, binding: Some(binding) }
    }

    /// The primary key of somebody else who was not asked.
    pub(crate) fn adopted(person: usize) -> Self {
        let binding = Says { flags: Some(0x02), ..Says::on(2) };
        Self { key: Holder::Other { person, key: 0 }, born: 1, binding: Some(binding) }
    }
}

impl Statement {
    /// A signature over the first component that it can be over, by the person with a number counted from the one whose
    /// certificate it is on.
    pub(crate) fn new(kind: u8, by: usize, says: Says) -> Self {
        Self { kind, over: 0, by, says }
    }
}

impl Letter {
    /// A signature by a key of a person.
    pub(crate) fn by(person: usize, key: usize) -> Self {
        Self {
            person,
            key,
            day: 60,
            hash: Hash::SHA512,
            days: None,
            demand: Demand::Nothing,
            hint: Hint::Both,
            damaged: false,
        }
    }
}

impl Says {
    /// Says nothing out of the ordinary.
    pub(crate) fn on(day: i16) -> Self {
        Self {
            day,
            hash: Hash::SHA512,
            flags: None,
            key_days: None,
            days: None,
            demand: Demand::Nothing,
            back: Back::Missing,
            hint: Hint::Both,
            reason: None,
            revoker: None,
            irrevocable: false,
        }
    }
}

/// Random people: up to four.
pub(crate) fn people() -> impl Strategy<Value = People> {
    (person(true), vec(person(false), 0..=3)).prop_map(|(first, rest)| [vec![first], rest].concat())
}

fn person(is_first: bool) -> impl Strategy<Value = Person> {
    let (users, subkeys, more) = if is_first { (1..=3, 0..=3, 0..=7) } else { (1..=2, 0..=2, 0..=3) };
    let kind = prop_oneof![9 => Just(Kind::Ed25519), 1 => Just(Kind::Rsa)];
    (
        kind,
        0..20_i16,
        vec(weighted(0.95, says(Purpose::Certify)), users),
        vec(subkey(), subkeys),
        vec(statement(), more),
    )
        .prop_map(|(kind, born, users, subkeys, more)| Person { kind, born, users, subkeys, more })
}

fn subkey() -> impl Strategy<Value = Subkey> {
    let kind = prop_oneof![3 => Just(Kind::Ed25519), 3 => Just(Kind::Cv25519), 1 => Just(Kind::Rsa)];
    let holder = prop_oneof![
        6 => kind.prop_map(Holder::Own),
        1 => (0..4_usize, 0..3_usize).prop_map(|(person, key)| Holder::Other { person, key }),
    ];
    (holder, 0..10_i16, weighted(0.95, says(Purpose::Bind))).prop_map(|(key, born, binding)| Subkey {
        key,
        born,
        binding,
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let kind = prop_oneof![
        1 => Just(0x10), 1 => Just(0x11), 1 => Just(0x12), 1 => Just(0x13), 3 => Just(0x18), 3 => Just(0x1f),
        2 => Just(0x20), 2 => Just(0x28), 3 => Just(0x30)
    ];
    kind.prop_flat_map(|kind: u8| {
        let purpose = match kind {
            0x18 => Purpose::Bind,
            0x20 | 0x28 => Purpose::Revoke,
            _ => Purpose::Certify,
        };
        // Only user IDs and revocations of keys are anybody's business.
        let by = match kind {
            0x18 | 0x28 | 0x1f => Just(0_usize).boxed(),
            _ => prop_oneof![2 => Just(0_usize), 3 => 1..5_usize].boxed(),
        };
        (Just(kind), 0..3_usize, by, says(purpose)).prop_map(|(kind, over, by, says)| Statement {
            kind,
            over,
            by,
            says,
        })
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Certify,
    Bind,
    Revoke,
}

fn says(purpose: Purpose) -> impl Strategy<Value = Says> {
    let hash = prop_oneof![
        10 => Just(Hash::SHA512), 4 => Just(Hash::SHA256), 1 => Just(Hash::SHA1), 1 => Just(Hash::MD5)
    ];
    let flags = prop_oneof![
        1 => Just(0), 3 => Just(0x01), 3 => Just(0x02), 3 => Just(0x03), 2 => Just(0x0c), 1 => Just(0x20),
        1 => Just(0x2f)
    ];
    let demand = prop_oneof![
        14 => Just(Demand::Nothing), 1 => Just(Demand::Subpacket), 1 => Just(Demand::Notation),
        1 => Just(Demand::Known)
    ];
    let back = match purpose {
        Purpose::Bind => back().boxed(),
        _ => Just(Back::Missing).boxed(),
    };
    let hint = prop_oneof![3 => Just(Hint::Both), 1 => Just(Hint::KeyId)];
    let days = match purpose {
        Purpose::Revoke => weighted(0.1, 5..100_u16),
        _ => weighted(0.1, 5..100_u16),
    };
    let day = prop_oneof![12 => 0..60_i16, 3 => 60..180_i16, 1 => -3..0_i16];
    (
        (day, hash, weighted(0.6, flags), weighted(0.2, 5..150_u16), days),
        (
            demand,
            back,
            hint,
            weighted(0.5, 0..4_u8),
            weighted(0.5, 1..4_usize),
            proptest::bool::weighted(0.1),
        ),
    )
        .prop_map(
            |((day, hash, flags, key_days, days), (demand, back, hint, reason, revoker, irrevocable))| Says {
                day,
                hash,
                flags,
                key_days,
                days,
                demand,
                back,
                hint,
                reason,
                revoker,
                irrevocable,
            },
        )
}

fn back() -> impl Strategy<Value = Back> {
    prop_oneof![
        2 => Just(Back::Missing),
        5 => Just(Back::Hashed),
        3 => Just(Back::Unhashed),
        1 => Just(Back::Forged),
        1 => Just(Back::Md5),
        1 => Just(Back::Sha1),
        1 => Just(Back::Demanding(Demand::Subpacket)),
        1 => Just(Back::Demanding(Demand::Notation)),
        1 => (5..150_u16).prop_map(Back::Ending),
    ]
}

/// A certificate as packets: components, each with what stands behind it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) branches: Vec<Branch>,
}

/// A component, and what stands behind it.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) tag: u8,
    pub(crate) body: Vec<u8>,
    /// Signatures and other packets: type and body.
    pub(crate) packets: Vec<(u8, Vec<u8>)>,
}

/// Returns the key of a person: number 0 is the primary key. `None` for one that is nobody's own.
pub(crate) fn key(people: &People, person: usize, number: usize) -> Option<Key> {
    let one = people.get(person)?;
    let (kind, born) = match number.checked_sub(1) {
        None => (one.kind, one.born),
        Some(index) => match one.subkeys.get(index)? {
            Subkey { key: Holder::Own(kind), born, .. } => (*kind, one.born + born),
            _ => return None,
        },
    };
    let name = format!("person {person}, key {number}");
    let key = match (kind, person, number) {
        (Kind::Rsa, 0, 0) => Key::rsa2048(),
        (Kind::Rsa, 0, 1) => Key::rsa4096(),
        (Kind::Cv25519, ..) => cv25519(&name),
        _ => Key::ed25519(&name),
    };
    Some(key.created(day(born) + number as u32))
}

/// Returns a key of an algorithm that only encrypts (RFC 9580, 5.5.5.6): any 32 bytes are a point.
fn cv25519(name: &str) -> Key {
    const CURVE: &[u8] = &[10, 0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1];
    const KDF: &[u8] = &[3, 1, 8, 7];
    let point = [&[0x40], &Hash::SHA256.digest(name.as_bytes())[..]].concat();
    Key::of_material(ENCRYPTS_ONLY, [CURVE, &packet_builder::mpi(&point), KDF].concat())
}

/// The number of ECDH.
const ENCRYPTS_ONLY: u8 = 18;

/// The user ID of a person with a number.
pub(crate) fn user_id(person: usize, number: usize) -> Vec<u8> {
    format!("Person {person} <user{number}@person{person}.example>").into_bytes()
}

/// Makes everybody's certificates.
pub(crate) fn grow(people: &People) -> Vec<Tree> {
    // Two signatures of the same second are never made: which of them counts is the order of the packets in GnuPG.
    let mut second = 100;
    let mut clock = || {
        second += 1;
        second
    };
    (0..people.len()).map(|person| grow_one(people, person, &mut clock)).collect()
}

fn grow_one(people: &People, person: usize, clock: &mut dyn FnMut() -> u32) -> Tree {
    let primary = key(people, person, 0).expect("everybody has a primary key");
    let mut grower = Grower { people, person, primary, subkeys: Vec::new(), clock };
    grower.grow()
}

/// Makes the certificate of one person.
struct Grower<'a> {
    people: &'a People,
    person: usize,
    primary: Key,
    /// The subkeys that are in the certificate, and whether they are the person's own.
    subkeys: Vec<(Key, bool)>,
    clock: &'a mut dyn FnMut() -> u32,
}

/// A component of the certificate.
#[derive(Clone, Copy)]
enum Component {
    Primary,
    User(usize),
    Subkey(usize),
}

impl Grower<'_> {
    fn grow(&mut self) -> Tree {
        let one = &self.people[self.person];
        let mut branches = vec![Branch::new(wire::PUBLIC_KEY, self.primary.body())];
        for (number, says) in one.users.iter().enumerate() {
            let mut branch = Branch::new(wire::USER_ID, user_id(self.person, number));
            branch.packets.extend(says.as_ref().map(|says| self.own(0x13, Component::User(number), says)));
            branches.push(branch);
        }
        for (index, subkey) in one.subkeys.iter().enumerate() {
            let Some(key) = self.subkey(index, subkey.key) else { continue };
            let mut branch = Branch::new(wire::PUBLIC_SUBKEY, key.body());
            let place = Component::Subkey(self.subkeys.len());
            self.subkeys.push((key, matches!(subkey.key, Holder::Own(_))));
            branch.packets.extend(subkey.binding.as_ref().map(|says| self.own(0x18, place, says)));
            branches.push(branch);
        }
        for statement in &one.more {
            let users = one.users.len();
            let Some(place) = self.place(statement) else { continue };
            let by = (self.person + statement.by) % self.people.len();
            let by = key(self.people, by, 0).expect("everybody has a primary key");
            let packet = self.sign(statement.kind, place, &statement.says, &by);
            let branch = match place {
                Component::Primary => 0,
                Component::User(number) => 1 + number,
                Component::Subkey(number) => 1 + users + number,
            };
            branches[branch].packets.push(packet);
        }
        Tree { branches }
    }

    /// Returns the key of a subkey; nothing has the same one twice.
    fn subkey(&self, index: usize, holder: Holder) -> Option<Key> {
        let key = match holder {
            Holder::Own(_) => key(self.people, self.person, index + 1),
            Holder::Other { person, key: number } if person != self.person => {
                key(self.people, person, number)
            }
            Holder::Other { .. } => None,
        };
        key.filter(|key| self.subkeys.iter().all(|(known, _)| known.body() != key.body()))
    }

    fn place(&self, statement: &Statement) -> Option<Component> {
        let (users, subkeys) = (self.people[self.person].users.len(), self.subkeys.len());
        match statement.kind {
            0x1f | 0x20 => Some(Component::Primary),
            0x18 | 0x28 => statement.over.checked_rem(subkeys).map(Component::Subkey),
            _ => statement.over.checked_rem(users).map(Component::User),
        }
    }

    fn own(&mut self, kind: u8, place: Component, says: &Says) -> (u8, Vec<u8>) {
        let primary = self.primary.clone();
        self.sign(kind, place, says, &primary)
    }

    fn sign(&mut self, kind: u8, place: Component, says: &Says, by: &Key) -> (u8, Vec<u8>) {
        let created = day(self.people[self.person].born + says.day) + (self.clock)();
        let mut draft = Draft::new(kind).at(created).hash(possible(says.hash, by));
        draft.hashed.extend(says.days.map(|days| Subpacket::expires(seconds(days))));
        if matches!(kind, 0x20 | 0x28 | 0x30) {
            draft.hashed.extend(says.reason.map(|code| Subpacket::reason(code, "")));
        } else {
            draft.hashed.extend(says.flags.map(Subpacket::key_flags));
            draft.hashed.extend(says.key_days.map(|days| Subpacket::key_expires(seconds(days))));
        }
        if let Some(revoker) = says.revoker.and_then(|revoker| key(self.people, revoker, 0))
            && kind == 0x1f
        {
            draft.hashed.push(Subpacket::revoker(&revoker));
        }
        if says.irrevocable {
            draft.hashed.push(Subpacket::revocable(false));
        }
        draft.hashed.extend(says.demand.subpacket());
        if let Component::Subkey(number) = place
            && kind == 0x18
            && let Some(consent) = self.consent(number, says.back, created)
        {
            let area = if says.back == Back::Unhashed { &mut draft.unhashed } else { &mut draft.hashed };
            area.push(Subpacket::new(32, consent));
        }
        named(&mut draft, by, says.hint);
        let user;
        let over = match place {
            Component::Primary => Signed::Key(&self.primary),
            Component::User(number) => {
                user = user_id(self.person, number);
                Signed::UserId(&self.primary, &user)
            }
            Component::Subkey(number) => Signed::Subkey(&self.primary, &self.subkeys[number].0),
        };
        (wire::SIGNATURE, draft.sign(by, &over).body)
    }

    /// Returns the body of a subkey's consent. Who does not have the secret key cannot make it.
    fn consent(&self, number: usize, back: Back, created: Time) -> Option<Vec<u8>> {
        let (subkey, is_own) = &self.subkeys[number];
        let mut draft = Draft::new(0x19).at(created).hash(Hash::SHA512);
        match back {
            Back::Missing => return None,
            Back::Hashed | Back::Unhashed => {}
            Back::Forged => draft = draft.forged(1),
            Back::Md5 => draft.hash = Hash::MD5,
            Back::Sha1 => draft.hash = Hash::SHA1,
            Back::Demanding(demand) => draft.hashed.extend(demand.subpacket()),
            Back::Ending(days) => draft.hashed.push(Subpacket::expires(seconds(days))),
        }
        draft.hash = possible(draft.hash, subkey);
        let can_be_made = *is_own && subkey.algorithm != ENCRYPTS_ONLY;
        can_be_made.then(|| draft.sign(subkey, &Signed::Subkey(&self.primary, subkey)).body)
    }
}

impl Branch {
    fn new(tag: u8, body: Vec<u8>) -> Self {
        Self { tag, body, packets: Vec::new() }
    }
}

impl Demand {
    fn subpacket(self) -> Option<Subpacket> {
        match self {
            Self::Nothing => None,
            Self::Subpacket => Some(Subpacket::new(101, [1]).critical()),
            Self::Notation => Some(Subpacket::notation("nobody@knows.example", "x").critical()),
            Self::Known => Some(Subpacket::notation("preferred-email-encoding@pgp.com", "x").critical()),
        }
    }
}

/// Returns a digest that a key can make signatures with: the RSA keys here make none with weak ones.
fn possible(hash: Hash, by: &Key) -> Hash {
    let is_weak = hash == Hash::MD5 || hash == Hash::SHA1;
    if is_weak && by.algorithm == 1 { Hash::SHA512 } else { hash }
}

fn seconds(days: u16) -> u32 {
    u32::from(days) * 86_400
}

/// Has a signature say who made it.
fn named(draft: &mut Draft, by: &Key, hint: Hint) {
    draft.names_issuer = hint == Hint::Both;
    if hint == Hint::KeyId {
        draft.unhashed.push(Subpacket::issuer(by));
    }
}

/// A signature over content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) person: usize,
    pub(crate) key: usize,
    /// A day, from the beginning.
    pub(crate) day: i16,
    pub(crate) hash: Hash,
    pub(crate) days: Option<u16>,
    pub(crate) demand: Demand,
    pub(crate) hint: Hint,
    /// Its value is changed.
    pub(crate) damaged: bool,
}

/// Random signatures over content.
pub(crate) fn letters() -> impl Strategy<Value = Vec<Letter>> {
    let hash = prop_oneof![12 => Just(Hash::SHA512), 1 => Just(Hash::SHA1), 1 => Just(Hash::MD5)];
    let demand = prop_oneof![12 => Just(Demand::Nothing), 1 => Just(Demand::Subpacket)];
    let hint = prop_oneof![2 => Just(Hint::Both), 1 => Just(Hint::KeyId)];
    let person = prop_oneof![3 => Just(0_usize), 1 => 1..4_usize];
    let day = prop_oneof![1 => 0..20_i16, 4 => 20..150_i16];
    let days = weighted(0.1, 5..100_u16);
    let letter = (person, 0..4_usize, day, hash, days, demand, hint, proptest::bool::weighted(0.05));
    let letter = letter.prop_map(|(person, key, day, hash, days, demand, hint, damaged)| Letter {
        person,
        key,
        day,
        hash,
        days,
        demand,
        hint,
        damaged,
    });
    vec(letter, 2..=6)
}

/// Returns the body of a letter's signature over content; `None` if nobody has the key.
pub(crate) fn write(people: &People, letter: &Letter, content: &[u8]) -> Option<Vec<u8>> {
    let by = key(people, letter.person, letter.key).filter(|by| by.algorithm != ENCRYPTS_ONLY)?;
    let mut draft = Draft::new(0x00).at(day(letter.day) + 50).hash(possible(letter.hash, &by));
    draft.hashed.extend(letter.days.map(|days| Subpacket::expires(seconds(days))));
    draft.hashed.extend(letter.demand.subpacket());
    named(&mut draft, &by, letter.hint);
    if letter.damaged {
        draft.value = Value::Damaged;
    }
    Some(draft.sign(&by, &Signed::Bytes(content)).body)
}
