//! New packets of an edit, which are imported together.

use std::collections::HashSet;

use cert::clean::CleanOptions;
use cert::facts::SignatureFacts;

use super::{Edited, Editor, Target};
use crate::Result;
use crate::import::{ImportOptions, import};

/// New packets for a certificate, as a certificate of their own.
pub(super) struct Change<'a> {
    target: &'a Target,
    bytes: Vec<u8>,
    signatures: usize,
    /// Where the signatures of the certificate begin that are superseded, or become so.
    superseded: HashSet<u32>,
}

impl<'a> Change<'a> {
    /// Begins with the primary key and its own signatures.
    pub(super) fn new(target: &'a Target) -> Self {
        let mut change = Self { target, bytes: Vec::new(), signatures: 0, superseded: HashSet::new() };
        change.known(0);
        change
    }

    /// Adds signature packets after the last component that was added, or after the primary key.
    pub(super) fn signed(&mut self, signature: &[u8]) {
        self.bytes.extend_from_slice(signature);
        self.signatures += 1;
    }

    /// Adds a self-signature in place of an older one, the signature `older` of the component `index`: that becomes
    /// superseded. The primary key itself comes before other components.
    pub(super) fn renewed(&mut self, index: usize, older: usize, signature: &[u8]) {
        if index > 0 {
            self.known(index);
        }
        self.superseded.insert(self.target.component(index).signatures[older].span.start);
        self.signed(signature);
    }

    /// Adds a component that the certificate has, with the signatures that bind it.
    pub(super) fn known(&mut self, index: usize) {
        let component = self.target.component(index);
        self.bytes.extend_from_slice(self.target.certificate.packet(component.span));
        for signature in component.signatures.iter().filter(|signature| SignatureFacts::verifies(signature)) {
            self.bytes.extend_from_slice(self.target.certificate.packet(signature.span));
            if signature.flags.superseded {
                self.superseded.insert(signature.span.start);
            }
        }
    }

    /// Adds a component that the certificate does not have.
    pub(super) fn new_component(&mut self, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
    }

    /// Says whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.signatures == 0
    }
}

impl Editor<'_> {
    /// Merges new packets into the draft of the certificate, if there is one, else into the database, under one entry of
    /// the journal.
    pub(super) fn write(&mut self, change: Change<'_>) -> Result<Edited> {
        let Change { target, bytes, signatures, superseded } = change;
        if signatures == 0 {
            return Ok(Edited::default());
        }
        let superseded = target.certificate.digests_at(|start| superseded.contains(&start));
        if let Some(draft) =
            self.draft.as_deref_mut().filter(|draft| draft.fingerprint() == target.fingerprint())
        {
            draft.add(&bytes, &superseded, self.now)?;
            return Ok(Edited { signatures, journal: None });
        }
        let options = ImportOptions {
            command: self.command.clone(),
            clean: CleanOptions { keep_local: true, ..CleanOptions::default() },
            merge_only: true,
            superseded,
            ..ImportOptions::default()
        };
        let summary = import(self.store, bytes.as_slice(), &options, self.now, &mut |_| {})?;
        Ok(Edited { signatures, journal: summary.journal })
    }
}
