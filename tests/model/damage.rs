//! Random damage to certificates: what anybody can do who passes them on.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::certificates::{Branch, Tree};
use crate::signature::PublicKey;
use crate::wire::{self, Signature};

/// Something that is done to a packet, or to a copy of it that is put beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// The number of the signature among all of the certificate, of as many as there are.
    pub(crate) signature: usize,
    pub(crate) what: What,
    pub(crate) to: To,
}

/// What becomes of the packet itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// It is what is damaged.
    Itself,
    /// A damaged copy stands before it.
    CopyBefore,
    /// A damaged copy stands behind it.
    CopyBehind,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing: only a copy can come of it.
    Copy,
    /// A bit of its value changes.
    Value,
    /// A bit of the digest's first bytes changes.
    Prefix,
    /// A bit of the hashed subpackets changes: of the creation time.
    Hashed,
    /// The unhashed subpackets go, embedded signatures with them.
    NoUnhashed,
    /// Nothing unhashed says who made it.
    NoHint,
    /// Another key is named, unhashed.
    WrongHint,
    /// The certificate's own primary key is named, unhashed.
    OwnHint,
    /// Something critical that nobody knows stands among the unhashed subpackets.
    Demanding,
    /// It is not to be given to others, says an unhashed subpacket.
    Local,
    /// An embedded signature that is none stands before all that is unhashed.
    ForeignConsent,
    /// It stands there in the place of all that is unhashed.
    OnlyForeignConsent,
    /// The signature stands behind the component with this number, of as many as there are.
    Moved(usize),
    /// A trust packet stands before it.
    Trust,
}

/// Random damage: mostly a little.
pub(crate) fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let what = prop_oneof![
        1 => Just(What::Copy),
        2 => Just(What::Value),
        1 => Just(What::Prefix),
        1 => Just(What::Hashed),
        2 => Just(What::NoUnhashed),
        1 => Just(What::NoHint),
        2 => Just(What::WrongHint),
        1 => Just(What::OwnHint),
        2 => Just(What::Demanding),
        2 => Just(What::Local),
        1 => Just(What::ForeignConsent),
        1 => Just(What::OnlyForeignConsent),
        2 => (0..6_usize).prop_map(What::Moved),
        1 => Just(What::Trust),
    ];
    let to = prop_oneof![1 => Just(To::Itself), 2 => Just(To::CopyBefore), 2 => Just(To::CopyBehind)];
    let one = (0..16_usize, what, to).prop_map(|(signature, what, to)| Damage { signature, what, to });
    vec(one, 0..=4)
}

impl Damage {
    /// Damages a certificate.
    pub(crate) fn apply(&self, tree: &mut Tree) {
        let places: Vec<(usize, usize)> = tree
            .branches
            .iter()
            .enumerate()
            .flat_map(|(branch, it)| (0..it.packets.len()).map(move |packet| (branch, packet)))
            .filter(|&(branch, packet)| tree.branches[branch].may_be_damaged(packet))
            .collect();
        let Some(&(branch, packet)) = places.get(self.signature % places.len().max(1)) else { return };
        let (_, original) = tree.branches[branch].packets[packet].clone();
        let primary = PublicKey(tree.branches[0].body.clone());
        let damaged = self.what.on(&original, &primary);
        let (target, at) = match self.what {
            What::Moved(to) => (to % tree.branches.len(), 0),
            _ => (branch, packet),
        };
        match self.to {
            To::Itself if target != branch => {
                tree.branches[branch].packets.remove(packet);
                tree.branches[target].packets.push((wire::SIGNATURE, damaged));
            }
            To::Itself => tree.branches[branch].packets[packet] = (wire::SIGNATURE, damaged),
            To::CopyBehind if target == branch => {
                tree.branches[branch].packets.insert(packet + 1, (wire::SIGNATURE, damaged));
            }
            To::CopyBefore | To::CopyBehind => {
                tree.branches[target].packets.insert(at, (wire::SIGNATURE, damaged));
            }
        }
        if self.what == What::Trust {
            tree.branches[branch].packets.insert(packet, (wire::TRUST, vec![0, 0]));
        }
    }
}

impl Branch {
    /// Says whether a packet is a signature, and stands where it was made: what was moved once stays as it is.
    fn may_be_damaged(&self, packet: usize) -> bool {
        let (tag, body) = &self.packets[packet];
        *tag == wire::SIGNATURE
            && match self.tag {
                wire::PUBLIC_KEY => matches!(body[1], 0x1f | 0x20),
                wire::USER_ID => matches!(body[1], 0x10..=0x13 | 0x30),
                _ => matches!(body[1], 0x18 | 0x28),
            }
    }
}

impl What {
    fn on(self, body: &[u8], primary: &PublicKey) -> Vec<u8> {
        let mut signature = Signature::read(body);
        match self {
            Self::Copy | Self::Moved(_) | Self::Trust => {}
            Self::Value => *signature.value.last_mut().expect("a value has bytes") ^= 1,
            Self::Prefix => signature.prefix[1] ^= 1,
            Self::Hashed => {
                if let Some((_, time)) = signature.hashed.first_mut() {
                    time[3] ^= 1;
                }
            }
            Self::NoUnhashed => signature.unhashed.clear(),
            Self::NoHint => signature.unhashed.retain(|(kind, _)| *kind != 16),
            Self::WrongHint | Self::OwnHint => {
                let hint = if self == Self::OwnHint { primary.key_id() } else { vec![7; 8] };
                signature.unhashed.retain(|(kind, _)| *kind != 16);
                signature.unhashed.push((16, hint));
            }
            Self::Demanding => signature.unhashed.push((0x80 | 101, vec![1])),
            Self::Local => signature.unhashed.push((4, vec![0])),
            Self::ForeignConsent | Self::OnlyForeignConsent => {
                if self == Self::OnlyForeignConsent {
                    signature.unhashed.retain(|(kind, _)| *kind == 16);
                }
                let foreign = Signature {
                    kind: 0x19,
                    unhashed: Vec::new(),
                    hashed: signature.hashed.iter().filter(|(kind, _)| *kind == 2).cloned().collect(),
                    ..signature.clone()
                };
                signature.unhashed.insert(0, (32, foreign.body()));
            }
        }
        signature.body()
    }
}
