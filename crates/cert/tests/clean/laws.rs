//! The laws of cleaning and merging; the property tests and the fuzz target hold certificates to them.

use keyhoard_cert::Certificate;
use keyhoard_cert::clean::rebuild;
use keyhoard_cert::facts::{Component, SignatureFacts};
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Joins two certificates, whether that changes anything or not.
pub(crate) fn merged(known: &Certificate, new: &Certificate) -> Certificate {
    merge(known, new).map_or_else(|| known.clone(), |merged| merged.certificate)
}

/// The spans tile the bytes, and the facts are those that the bytes tell.
pub(crate) fn assert_sound(certificate: &Certificate) {
    let mut spans: Vec<Span> = certificate.facts.components.iter().flat_map(spans).collect();
    spans.sort_by_key(|span| span.start);
    let ends = spans.iter().map(|span| span.end);
    assert!(spans.iter().map(|span| span.start).eq(std::iter::once(0).chain(ends).take(spans.len())));
    assert_eq!(spans.last().map(|span| span.end as usize), Some(certificate.bytes.len()));

    let signatures = certificate.facts.components.iter().flat_map(|component| &component.signatures);
    let superseded: Vec<u32> = signatures
        .filter(|signature| signature.flags.superseded)
        .map(|signature| signature.span.start)
        .collect();
    assert_eq!(rebuild(&certificate.bytes, &superseded).expect("a certificate"), *certificate);
}

fn spans(component: &Component) -> impl Iterator<Item = Span> {
    let signatures = component.signatures.iter().map(|signature| signature.span);
    std::iter::once(component.span).chain(signatures).chain(component.unread.iter().copied())
}

/// What is there cannot be joined once more.
pub(crate) fn assert_idempotent(known: &Certificate, new: &Certificate) {
    assert_eq!(merge(known, known), None);
    let both = merged(known, new);
    assert_eq!(merge(&both, known), None);
    assert_eq!(merge(&both, new), None);
}

/// A packet and what it says.
type Said = (Vec<u8>, String);

/// A certificate as a set: components with their signatures, packet and facts, whatever their order. What GnuPG hides
/// depends on the order of the imports and is left out.
pub(crate) fn as_set(certificate: &Certificate) -> BTreeMap<Said, BTreeSet<Said>> {
    let nowhere = Span { start: 0, end: 0 };
    let components = certificate.facts.components.iter().map(|component| {
        let signatures = component.signatures.iter().map(|signature| {
            let mut facts = SignatureFacts { span: nowhere, ..signature.clone() };
            facts.flags.superseded = false;
            (certificate.packet(signature.span).to_vec(), format!("{facts:?}"))
        });
        let said = (certificate.packet(component.span).to_vec(), format!("{:?}", component.kind));
        (said, signatures.collect())
    });
    components.collect()
}
