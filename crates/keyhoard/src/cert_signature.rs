//! The signatures on a certificate.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::time::SystemTime;

use engine::cert::approvals::Approvals;
use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::cert::{Certificate, Fingerprint, SignatureFacts, Timestamp};
use engine::store::{CertId, Detail, Selection, Snapshot};

use crate::time::from_timestamp;
use crate::{KeyId, Result};

/// A signature on a key or user ID of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CertSignature {
    /// The type (RFC 9580, 5.2.1): 0x10 to 0x13 certify a user ID, 0x16 approves of such certifications, 0x18 binds a
    /// subkey, 0x20 to 0x30 revoke.
    pub kind: u8,
    /// The key that says to have made it.
    pub issuer: KeyId,
    /// The primary user ID of the certificate with that key, if it is here.
    pub issuer_name: Option<String>,
    /// When it was made, as it says.
    pub created: SystemTime,
    /// When it expires, as it says.
    pub expires: Option<SystemTime>,
    /// It says to be by the certificate's own primary key.
    pub is_own: bool,
    /// It is a certification by another key, and the owner of the certificate approves of it
    /// (draft-dkg-openpgp-1pa3pc).
    pub is_approved: bool,
}

/// Reads the signatures on a certificate; none if it is not here.
pub(crate) fn read_signatures(
    snapshot: &dyn Snapshot,
    id: CertId,
    now: Timestamp,
) -> Result<Vec<CertSignature>> {
    let mut signatures = Vec::new();
    snapshot.visit(Selection::Ids(&[id]), Detail::Bytes, &mut |record| {
        if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
            signatures = with_approval(Certificate { bytes, facts }, now);
        }
        ControlFlow::Break(())
    })?;
    let mut names: HashMap<KeyId, Option<String>> = HashMap::new();
    for (signature, _) in &signatures {
        let issuer = signature.issuer.key_id;
        if let Entry::Vacant(name) = names.entry(issuer) {
            name.insert(name_of(snapshot, issuer)?);
        }
    }
    let read = signatures.into_iter().map(|(signature, is_approved)| CertSignature {
        kind: signature.kind.0,
        issuer: signature.issuer.key_id,
        issuer_name: names.get(&signature.issuer.key_id).cloned().flatten(),
        created: from_timestamp(signature.created),
        expires: signature.expires.map(from_timestamp),
        is_own: signature.own.is_some(),
        is_approved,
    });
    Ok(read.collect())
}

/// Returns the signatures, and whether the owner of the certificate approves of them.
fn with_approval(certificate: Certificate, now: Timestamp) -> Vec<(SignatureFacts, bool)> {
    let mut signatures = Vec::new();
    for component in &certificate.facts.components {
        let approvals = Approvals::of(&certificate, component, now);
        for facts in &component.signatures {
            let is_by_another = facts.own.is_none() && facts.kind.is_certification();
            let body = certificate.body(facts.span).filter(|_| is_by_another);
            signatures.push((facts.clone(), body.is_some_and(|body| approvals.contain(body))));
        }
    }
    signatures
}

/// Returns the primary user ID of the first certificate with this primary key.
fn name_of(snapshot: &dyn Snapshot, issuer: KeyId) -> Result<Option<String>> {
    let Some(&(id, _)): Option<&(CertId, Fingerprint)> = snapshot.primaries_by_id(issuer)?.first() else {
        return Ok(None);
    };
    let Some(facts) = snapshot.own_facts(id)? else { return Ok(None) };
    // A name is shown whether it has expired or not.
    let context = EvaluationContext::new(Timestamp(u32::MAX), PacketView::Full);
    let name = evaluate(&facts, context).primary_name(&facts).map(<[u8]>::to_vec);
    let name = name.or_else(|| facts.user_ids().next().map(<[u8]>::to_vec));
    Ok(name.map(|name| String::from_utf8_lossy(&name).into_owned()))
}
