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
