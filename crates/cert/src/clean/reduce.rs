//! Bringing a flooded certificate down to a size that can be worked with, before anything is kept in memory for each
//! of its signatures.

use crate::error::{Error, Flaw, Result};
use crate::facts::Span;
use crate::identity::{Fingerprint, Timestamp};
use crate::key;
use crate::packet::{Packet, Packets, Tag};
use crate::signature;
use crate::signed::{Digester, Subject};
use std::cmp::Reverse;
use verify::limits;

/// Returns the packets of a certificate without its signatures, but for all revocations and, of each component, the
/// newest that name the primary key as issuer and whose digest begins as they say. Also returns how many are left
/// out.
pub(super) fn to_own_signatures(bytes: &[u8]) -> Result<(Vec<u8>, usize)> {
    let mut packets = Packets::new(bytes);
    let malformed = |flaw| Error::Malformed { position: 0, flaw };
    let first = packets.next().unwrap_or(Err(malformed(Flaw::CutShort("a certificate"))))?;
    let primary = key::parse_public(first.body).map_err(malformed)?;
    let mut reduction = Reduction {
        bytes,
        fingerprint: primary.fingerprint(),
        digester: Digester::new(primary),
        kept: vec![first.span],
        left_out: 0,
        subject: Subject::Primary,
        own: Vec::new(),
    };
    for packet in packets {
        reduction.add(packet?);
    }
    Ok(reduction.finish())
}

struct Reduction<'a> {
    bytes: &'a [u8],
    fingerprint: Fingerprint,
    digester: Digester<'a>,
    kept: Vec<Span>,
    left_out: usize,
    /// The component passed last.
    subject: Subject<'a>,
    /// The signatures over it that name the primary key as issuer.
    own: Vec<Packet<'a>>,
}

impl<'a> Reduction<'a> {
    fn add(&mut self, packet: Packet<'a>) {
        if packet.tag != Tag::SIGNATURE {
            self.end_component();
            self.subject = Subject::of(packet).unwrap_or(Subject::Primary);
            self.kept.push(packet.span);
            return;
        }
        match signature::parse(packet.body) {
            Ok(signature) if signature.kind.revokes() => self.kept.push(packet.span),
            Ok(signature) if signature.issuer().may_be(&self.fingerprint) => self.own.push(packet),
            _ => self.left_out += 1,
        }
    }

    fn end_component(&mut self) {
        let own = std::mem::take(&mut self.own);
        if own.len() <= limits::MAX_OWN_OF_FLOODED_COMPONENT {
            self.kept.extend(own.iter().map(|packet| packet.span));
            return;
        }
        self.left_out += own.len() - limits::MAX_OWN_OF_FLOODED_COMPONENT;
        let mut over = self.digester.over(self.subject);
        let mut ranked: Vec<(Reverse<(bool, Timestamp)>, Span)> = own
            .iter()
            .map(|packet| {
                let signature = signature::parse(packet.body).expect("it was read before");
                let digest = over.digest(&signature);
                let is_likely = digest.is_ok_and(|digest| digest.prefix() == signature.digest_prefix);
                (Reverse((is_likely, signature.created())), packet.span)
            })
            .collect();
        ranked.sort_by_key(|&(rank, _)| rank);
        ranked.truncate(limits::MAX_OWN_OF_FLOODED_COMPONENT);
        self.kept.extend(ranked.iter().map(|&(_, span)| span));
    }

    fn finish(mut self) -> (Vec<u8>, usize) {
        self.end_component();
        self.kept.sort_unstable_by_key(|span| span.start);
        let size = self.kept.iter().map(|span| span.of(self.bytes).len()).sum();
        let mut reduced = Vec::with_capacity(size);
        for span in &self.kept {
            reduced.extend_from_slice(span.of(self.bytes));
        }
        (reduced, self.left_out)
    }
}
