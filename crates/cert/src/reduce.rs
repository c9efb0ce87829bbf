//! What is kept of a certificate that is too large: its own signatures, and revocations.
//!
//! GnuPG does so above 5 MiB. Nothing is verified here, so what only pretends to be the certificate's own signature is
//! kept too, but of each component no more than its newest ones.

use crate::error::Flaw;
use crate::facts::SignatureType;
use crate::identity::{Fingerprint, Timestamp};
use crate::packet::{Packets, Tag};
use crate::signature;
use std::ops::Range;
use verify::limits;

/// A certificate being reduced, packet by packet.
#[derive(Debug)]
pub(crate) struct Reduction {
    primary: Fingerprint,
    bytes: Vec<u8>,
    /// The current component's own signatures other than revocations, in the order of the bytes.
    own: Vec<Own>,
    left_out: u64,
}

#[derive(Clone, Debug)]
struct Own {
    created: Timestamp,
    place: Range<usize>,
}

impl Reduction {
    /// Begins with what a certificate consists of so far.
    ///
    /// # Errors
    ///
    /// If even that is too large.
    pub(crate) fn begin(primary: Fingerprint, bytes: &[u8]) -> Result<Self, Flaw> {
        let mut reduction = Self { primary, bytes: Vec::new(), own: Vec::new(), left_out: 0 };
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
                    self.own.push(Own { created, place });
                    if self.own.len() > 2 * limits::MAX_OWN_SIGNATURES {
                        self.keep_newest();
                    }
                }
                Judgement::LeaveOut => self.left_out += 1,
            },
            _ => {
                self.keep_newest();
                self.own.clear();
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

    /// Takes the older ones of too many own signatures out of the bytes again.
    fn keep_newest(&mut self) {
        let surplus = self.own.len().saturating_sub(limits::MAX_OWN_SIGNATURES);
        if surplus == 0 {
            return;
        }
        let mut by_age: Vec<usize> = (0..self.own.len()).collect();
        by_age.select_nth_unstable_by_key(surplus, |&index| (self.own[index].created, index));
        let mut is_old = vec![false; self.own.len()];
        by_age[..surplus].iter().for_each(|&index| is_old[index] = true);
        self.remove(&is_old);
        self.left_out += surplus as u64;
    }

    fn remove(&mut self, is_old: &[bool]) {
        let mut kept = Vec::with_capacity(self.own.len());
        let (mut from, mut to) = (self.own[0].place.start, self.own[0].place.start);
        for (own, &is_old) in self.own.iter().zip(is_old) {
            // Revocations may stand between own signatures.
            self.bytes.copy_within(from..own.place.start, to);
            to += own.place.start - from;
            from = own.place.end;
            if !is_old {
                let place = to..to + own.place.len();
                self.bytes.copy_within(own.place.clone(), to);
                to = place.end;
                kept.push(Own { created: own.created, place });
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
