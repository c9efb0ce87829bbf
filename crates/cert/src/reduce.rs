//! What is kept of a certificate that is too large: its own signatures, and revocations.
//!
//! GnuPG does so above 5 MiB. Nothing is verified here, so what only pretends to be the certificate's own signature is
//! kept too, but of each component no more than its newest ones, those first whose digest begins as they say.

use crate::error::Flaw;
use crate::facts::SignatureType;
use crate::identity::{Fingerprint, Timestamp};
use crate::packet::{Packets, Tag};
use crate::signed::{Digester, Subject};
use crate::{key, signature};
use std::ops::Range;
use verify::limits;

/// A certificate being reduced, packet by packet.
#[derive(Debug)]
pub(crate) struct Reduction {
    primary: Fingerprint,
    bytes: Vec<u8>,
    /// Where the current component's packet begins.
    component: usize,
    /// The current component's own signatures other than revocations, in the order of the bytes.
    own: Vec<Own>,
    left_out: u64,
}

#[derive(Clone, Debug)]
struct Own {
    created: Timestamp,
    place: Range<usize>,
    /// Whether the digest begins as the signature says; `None` before it was asked.
    is_likely: Option<bool>,
}

impl Reduction {
    /// Begins with what a certificate consists of so far.
    ///
    /// # Errors
    ///
    /// If even that is too large.
    pub(crate) fn begin(primary: Fingerprint, bytes: &[u8]) -> Result<Self, Flaw> {
        let mut reduction = Self { primary, bytes: Vec::new(), component: 0, own: Vec::new(), left_out: 0 };
        for packet in Packets::new(bytes).map_while(Result::ok) {
            let whole = &bytes[packet.span.start as usize..packet.span.end as usize];
            reduction.add(packet.tag, packet.body, whole)?;
        }
        Ok(reduction)
    }

    /// Adds the next packet.
    pub(crate) fn add(&mut self, tag: Tag, body: &[u8], packet: &[u8]) -> Result<(), Flaw> {
        match tag {
            Tag::SIGNATURE => match self.judge(body) {
                Judgement::Keep => self.bytes.extend_from_slice(packet),
                Judgement::KeepNewest(created) => {
                    let place = self.bytes.len()..self.bytes.len() + packet.len();
                    self.bytes.extend_from_slice(packet);
                    self.own.push(Own { created, place, is_likely: None });
                    if self.own.len() > 2 * limits::MAX_OWN_SIGNATURES {
                        self.keep_newest();
                    }
                }
                Judgement::LeaveOut => self.left_out += 1,
            },
            _ => {
                self.keep_newest();
                self.own.clear();
                self.component = self.bytes.len();
                self.bytes.extend_from_slice(packet);
            }
        }
        if self.bytes.len() > limits::MAX_REDUCED_CERTIFICATE {
            Err(Flaw::CertificateTooLarge)
        } else {
            Ok(())
        }
    }

    /// Ends the certificate: its bytes, and how many signatures were left out.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64) {
        self.keep_newest();
        self.bytes.shrink_to_fit();
        (self.bytes, self.left_out)
    }

    fn judge(&self, body: &[u8]) -> Judgement {
        type Type = SignatureType;
        let Ok(signature) = signature::parse(body) else {
            return Judgement::LeaveOut;
        };
        match signature.kind {
            Type::KEY_REVOCATION | Type::SUBKEY_REVOCATION | Type::CERTIFICATION_REVOCATION => {
                Judgement::Keep
            }
            _ if signature.issuer().may_be(&self.primary) => Judgement::KeepNewest(signature.created()),
            _ => Judgement::LeaveOut,
        }
    }

    /// Takes the least likely and oldest of too many own signatures out of the bytes again.
    fn keep_newest(&mut self) {
        let surplus = self.own.len().saturating_sub(limits::MAX_OWN_SIGNATURES);
        if surplus == 0 {
            return;
        }
        self.ask_digests();
        let mut by_rank: Vec<usize> = (0..self.own.len()).collect();
        let rank = |own: &Own| (own.is_likely, own.created);
        by_rank.select_nth_unstable_by_key(surplus, |&index| (rank(&self.own[index]), index));
        let mut is_surplus = vec![false; self.own.len()];
        by_rank[..surplus].iter().for_each(|&index| is_surplus[index] = true);
        self.remove(&is_surplus);
        self.left_out += surplus as u64;
    }

    /// Finds out of which own signatures the digest begins as they say.
    fn ask_digests(&mut self) {
        let Self { bytes, component, own, .. } = self;
        let packet_at = |start: usize| Packets::new(&bytes[start..]).next().and_then(Result::ok);
        let primary = packet_at(0).and_then(|packet| key::parse_public(packet.body).ok());
        let (Some(primary), Some(subject)) = (primary, packet_at(*component).and_then(Subject::of)) else {
            return;
        };
        let mut digester = Digester::new(primary);
        let mut over = digester.over(subject);
        for own in own.iter_mut().filter(|own| own.is_likely.is_none()) {
            let signature = packet_at(own.place.start).and_then(|packet| signature::parse(packet.body).ok());
            own.is_likely = signature.map(|signature| {
                let digest = over.digest(&signature);
                digest.is_ok_and(|digest| digest.prefix() == signature.digest_prefix)
            });
        }
    }

    fn remove(&mut self, is_surplus: &[bool]) {
        let mut kept = Vec::with_capacity(self.own.len());
        let (mut from, mut to) = (self.own[0].place.start, self.own[0].place.start);
        for (own, &is_surplus) in self.own.iter().zip(is_surplus) {
            // Revocations may stand between own signatures.
            self.bytes.copy_within(from..own.place.start, to);
            to += own.place.start - from;
            from = own.place.end;
            if !is_surplus {
                let place = to..to + own.place.len();
                self.bytes.copy_within(own.place.clone(), to);
                to = place.end;
                kept.push(Own { place, ..own.clone() });
            }
        }
        self.bytes.copy_within(from.., to);
        self.bytes.truncate(to + self.bytes.len() - from);
        self.own = kept;
    }
}

enum Judgement {
    Keep,
    KeepNewest(Timestamp),
    LeaveOut,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet;

    const PRIMARY: Fingerprint = Fingerprint::V4([7; 20]);

    /// A signature of this type by the key with this ID, made at this time.
    fn signature(kind: SignatureType, issuer: [u8; 8], created: u32) -> Vec<u8> {
        let mut body = vec![4, kind.0, 1, 8, 0, 6, 5, 2];
        body.extend(created.to_be_bytes());
        body.extend([0, 10, 9, 16]);
        body.extend(issuer);
        body.extend([1, 2, 0, 8, 0xff]);
        packet::write(Tag::SIGNATURE, &body)
    }

    fn own(created: u32) -> Vec<u8> {
        signature(SignatureType::POSITIVE_CERTIFICATION, [7; 8], created)
    }

    fn reduced(packets: &[Vec<u8>]) -> (Vec<u8>, u64) {
        Reduction::begin(PRIMARY, &packets.concat()).expect("not too large").finish()
    }

    #[test]
    fn own_signatures_and_all_revocations_are_kept() {
        let other = [9; 8];
        let uid = packet::write(Tag::USER_ID, b"x");
        let kept = [
            uid.clone(),
            own(1),
            signature(SignatureType::KEY_REVOCATION, other, 2),
            signature(SignatureType::SUBKEY_REVOCATION, other, 3),
            signature(SignatureType::CERTIFICATION_REVOCATION, other, 4),
        ];
        let mut packets = kept.to_vec();
        packets.insert(1, signature(SignatureType::POSITIVE_CERTIFICATION, other, 9));
        packets.push(signature(SignatureType::GENERIC_CERTIFICATION, other, 9));
        assert_eq!(reduced(&packets), (kept.concat(), 2));
    }

    #[test]
    fn of_too_many_own_signatures_each_component_keeps_the_newest() {
        let uid = packet::write(Tag::USER_ID, b"x");
        let revocation = signature(SignatureType::CERTIFICATION_REVOCATION, [7; 8], 0);
        let many = 3 * limits::MAX_OWN_SIGNATURES as u32;
        let oldest_kept = many - limits::MAX_OWN_SIGNATURES as u32;
        // The times go up and down, and revocations (of no time here) stand between.
        let mut times: Vec<_> = (0..many).map(|i| Some(if i % 2 == 0 { i } else { many - i })).collect();
        times.insert(times.len() / 2, None);
        times.insert(1, None);
        let kept = times.iter().copied().filter(|time| time.is_none_or(|time| time >= oldest_kept));
        let component = |times: Vec<Option<u32>>| {
            let signatures = times.into_iter().map(|time| time.map_or_else(|| revocation.clone(), own));
            [uid.clone()].into_iter().chain(signatures).collect::<Vec<_>>()
        };
        let expected = [component(kept.collect()), component(vec![Some(5)])].concat().concat();
        let packets = [component(times), component(vec![Some(5)])].concat();
        assert_eq!(reduced(&packets), (expected, u64::from(oldest_kept)));
    }
}
