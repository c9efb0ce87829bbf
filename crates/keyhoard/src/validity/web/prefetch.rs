//! Reading ahead, on a connection and a thread of its own, while the levels of the web are counted.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, Scope};

use store::{CertId, MOST_READERS, ReadCertificates};
use trust::pgp::Certifier;

use super::issuer_set::IssuerSet;
use super::verified_certification::{Touched, join};
use crate::Result;
use crate::validity::TrustSettings;

/// What keys certified that nobody trusts.
#[derive(Default)]
pub(super) struct UntrustedCertifications {
    pub(super) touched: Touched,
    /// Certificates of which not everything is proven that was asked for, in no order, and several times.
    pub(super) open: Vec<CertId>,
}

impl UntrustedCertifications {
    /// Adds what those who are asked about certified.
    pub(super) fn read(
        &mut self,
        asked: &IssuerSet,
        source: &dyn ReadCertificates,
        settings: &TrustSettings,
    ) -> Result<()> {
        let mut parts: [Self; MOST_READERS] = Default::default();
        asked.visit_certified(source, &mut parts, &|part, id, _, proven| match proven {
            Some(proven) => part.touched.add(id, proven, settings),
            None => part.open.push(id),
        })?;
        for part in parts {
            self.touched.append(part.touched);
            join(&mut self.open, part.open);
        }
        Ok(())
    }
}

/// A thread that reads what is to be asked for in the end.
pub(super) struct Prefetcher {
    keys: Sender<Vec<Certifier>>,
    light: Receiver<Result<UntrustedCertifications>>,
}

impl Prefetcher {
    /// Starts the thread; `None` where none can be made.
    pub(super) fn begin<'s>(
        scope: &'s Scope<'s, '_>,
        source: Box<dyn ReadCertificates + Send + 's>,
        settings: &'s TrustSettings,
    ) -> Option<Self> {
        let (keys, coming) = mpsc::channel::<Vec<Certifier>>();
        let (sender, light) = mpsc::channel();
        let read = move || {
            let mut light = UntrustedCertifications::default();
            let mut batches = coming.iter();
            let outcome =
                batches.try_for_each(|batch| light.read(&IssuerSet::new(&batch, true), &*source, settings));
            // Nobody waits for it where something else went wrong.
            light.touched.finish();
            let _ = sender.send(outcome.map(|()| light));
        };
        Builder::new().spawn_scoped(scope, read).ok()?;
        Some(Self { keys, light })
    }

    /// Has what these keys certified read, none of which was named before.
    pub(super) fn read(&self, keys: &[Certifier]) {
        // A thread that ended says in the end why.
        let _ = self.keys.send(keys.to_vec());
    }

    /// Waits for what was read; `None` if the thread panicked, as its scope will.
    pub(super) fn finish(self) -> Option<Result<UntrustedCertifications>> {
        drop(self.keys);
        self.light.recv().ok()
    }
}
