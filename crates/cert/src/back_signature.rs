//! Back-signatures, with which a subkey confirms that it belongs to a primary key (type 0x19; RFC 9580, 5.2.1.9).
//!
//! They are embedded in the subkey's binding signatures. Everybody can change the unhashed subpackets of a binding
//! signature, so that a back-signature there can be removed, and others added. This module finds the back-signatures
//! that verify; [`crate::cross_certification`] decides whether they are accepted.

use crate::facts::SignatureType;
use crate::key::Key;
use crate::signature::{self, Signature};
use crate::signed::{Digester, Subject, question};
use std::cell::Cell;
use std::cmp::Reverse;
use verify::limits::MAX_BACK_SIGNATURES;
use verify::{Check, Verdict};

/// The back-signatures of a subkey.
#[derive(Debug, Default)]
pub(crate) struct BackSignatures<'a> {
    /// The back-signatures that verify.
    pub(crate) good: Vec<Signature<'a>>,
    /// Whether others do not verify.
    pub(crate) has_bad: bool,
    /// Whether some were not verified, since there are more than [`MAX_BACK_SIGNATURES`].
    pub(crate) is_cut: bool,
}

/// Verifies the back-signatures that are embedded in binding signatures of a subkey.
pub(crate) fn verified<'a>(
    primary: Key<'a>,
    subkey: Key<'a>,
    bindings: &[Signature<'a>],
) -> BackSignatures<'a> {
    let mut found = BackSignatures::default();
    let share = (MAX_BACK_SIGNATURES / bindings.len().max(1)).max(1);
    let mut digester = Digester::new(primary);
    let mut over = digester.over(Subject::Subkey(subkey));
    let mut candidates = Vec::new();
    for binding in bindings.iter().take(MAX_BACK_SIGNATURES) {
        let embedded = binding.embedded().filter_map(|body| signature::parse(body).ok());
        let mut embedded = embedded.filter(|made| made.kind == SignatureType::PRIMARY_KEY_BINDING);
        for made in embedded.by_ref().take(share) {
            let check = over.digest(&made).and_then(|digest| question(&subkey, &made, digest));
            match check {
                Ok(check) => candidates.push((made, check)),
                Err(_) => found.has_bad = true,
            }
        }
        found.is_cut |= embedded.next().is_some();
    }
    found.is_cut |= bindings.len() > MAX_BACK_SIGNATURES;
    // Those whose digest prefix matches first: all others are damaged or forged.
    candidates.sort_by_key(|(made, check)| Reverse(check.digest.prefix() == made.digest_prefix));
    let budget = MAX_BACK_SIGNATURES.div_ceil(subkey.public_key().cost());
    found.is_cut |= candidates.len() > budget;
    candidates.truncate(budget);
    let checks: Vec<Check<'_>> = candidates.iter().map(|(_, check)| *check).collect();
    for ((made, _), verdict) in candidates.into_iter().zip(verify::verify(&checks)) {
        match verdict {
            Verdict::Good => found.good.push(made),
            Verdict::Bad | Verdict::Unsupported => found.has_bad = true,
        }
    }
    found
}

/// Looks for back-signatures in binding signatures one by one, within a budget for a whole certificate.
#[derive(Debug)]
pub(crate) struct BackSignatureSearch<'a> {
    primary: Key<'a>,
    /// The number of checks that are left, of keys with a [cost](verify::PublicKey::cost) of one.
    checks: Cell<usize>,
}

impl<'a> BackSignatureSearch<'a> {
    pub(crate) fn new(primary: Key<'a>) -> Self {
        Self { primary, checks: Cell::new(MAX_BACK_SIGNATURES) }
    }

    /// Returns whether a signature over a subject is a binding signature with a back-signature that the subkey made;
    /// `None` if the budget is spent.
    pub(crate) fn is_in(&self, binding: &Signature<'_>, subject: Option<Subject<'_>>) -> Option<bool> {
        let is_binding = binding.kind == SignatureType::SUBKEY_BINDING;
        let Some(Subject::Subkey(subkey)) = subject.filter(|_| is_binding) else { return Some(false) };
        let embedded = binding.embedded().count();
        if embedded == 0 {
            return Some(false);
        }
        let left = self.checks.get().checked_sub(embedded.saturating_mul(subkey.public_key().cost()))?;
        self.checks.set(left);
        Some(!verified(self.primary, subkey, &[*binding]).good.is_empty())
    }
}
