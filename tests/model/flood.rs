//! Floods: forged signatures, as many as somebody cares to upload, with digests that begin as they say.

use proptest::prelude::*;

use packet_builder::{Key, Signature, Signed};

use crate::certificates::{Tree, day};
use crate::wire;

/// Forged signatures on one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flood {
    /// The number of the component, of as many as there are.
    pub(crate) component: usize,
    /// Revocations, or bindings and certifications.
    pub(crate) revoking: bool,
    pub(crate) count: usize,
    /// When they say to have been made: days from the beginning.
    pub(crate) day: i16,
    pub(crate) place: FloodPosition,
    /// They name the certificate's own key.
    pub(crate) named: bool,
}

/// Where forged signatures stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloodPosition {
    /// Before the genuine signatures of the component.
    Before,
    /// Behind them.
    Behind,
    /// Half and half.
    Around,
}

/// A random flood of so many forgeries.
pub(crate) fn flood(count: std::ops::Range<usize>) -> impl Strategy<Value = Flood> {
    let place =
        prop_oneof![Just(FloodPosition::Before), Just(FloodPosition::Behind), Just(FloodPosition::Around)];
    let days = prop_oneof![0..20_i16, 20..150_i16, 200..300_i16];
    (0..7_usize, any::<bool>(), count, days, place, proptest::bool::weighted(0.8)).prop_map(
        |(component, revoking, count, day, place, named)| Flood {
            component,
            revoking,
            count,
            day,
            place,
            named,
        },
    )
}

impl Flood {
    /// Puts the forged signatures into a certificate.
    pub(crate) fn apply(&self, tree: &mut Tree) {
        let primary = Key::of_body(&tree.branches[0].body);
        let number = self.component % tree.branches.len();
        let branch = &mut tree.branches[number];
        let body = branch.body.clone();
        let subkey;
        let (over, kinds) = match branch.tag {
            wire::PUBLIC_KEY => (Signed::Key(&primary), [0x1f, 0x20]),
            wire::USER_ID => (Signed::UserId(&primary, &body), [0x13, 0x30]),
            _ => {
                subkey = Key::of_body(&body);
                (Signed::Subkey(&primary, &subkey), [0x18, 0x28])
            }
        };
        let kind = kinds[usize::from(self.revoking)];
        let forge = |number| (wire::SIGNATURE, self.forge(number, kind, &over, &primary));
        let forged: Vec<_> = (0..self.count).map(forge).collect();
        let behind = match self.place {
            FloodPosition::Before => forged.len(),
            FloodPosition::Behind => 0,
            FloodPosition::Around => forged.len() / 2,
        };
        let (before, behind) = forged.split_at(behind);
        branch.packets.splice(0..0, before.iter().cloned());
        branch.packets.extend_from_slice(behind);
    }

    /// Forges a signature that names the primary key, or a stranger.
    fn forge(&self, number: usize, kind: u8, over: &Signed<'_>, primary: &Key) -> Vec<u8> {
        let created = day(self.day) + number as u32;
        let mut draft = Signature::new(kind).at(created).forged(number as u64);
        draft.names_issuer = self.named;
        draft.sign(primary, over).body
    }
}
