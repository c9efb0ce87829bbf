//! Many certificates, read and handed out while the signatures of others are verified.

use std::collections::VecDeque;
use std::iter::once;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use cert::facts::Component;
use cert::packet::Span;
use store::{Detail, Record, Selection};
use verify::Verdict;

use super::checks::IssuerChecks;
use super::{Authenticities, CertificationVerifier, VerifyRequest, Wanted};
use crate::Result;
use crate::stored::try_visit;

/// Bytes of certificates in a batch: few, so that verifying begins soon, and all cores finish together.
const BATCH_BYTES: usize = 768 << 10;

/// Bytes of certificates in pending batches: enough to keep all cores busy while verdicts are stored.
const MAX_PENDING_BYTES: usize = 8 << 20;

/// The memory of a packet besides its bytes, roughly: its facts, its check and the verdict.
const BYTES_PER_PACKET: usize = 512;

impl CertificationVerifier<'_> {
    /// Calls `each` with every selected certificate and who made its signatures, in database order.
    ///
    /// Batches of certificates are verified in parallel; memory is bounded.
    ///
    /// # Errors
    ///
    /// The databases' errors, and those of `each`.
    pub(crate) fn visit(
        &mut self,
        selection: Selection<'_>,
        wanted: &Wanted<'_>,
        each: &mut dyn FnMut(Record, &Authenticities) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let certificates = self.certificates;
        let mut batches = Batches {
            verifier: self,
            wanted,
            each,
            records: Vec::new(),
            bytes: 0,
            pending: VecDeque::new(),
            pending_bytes: 0,
        };
        let mut flow = ControlFlow::Continue(());
        try_visit(certificates, selection, Detail::Verdicts, &mut |record| {
            flow = batches.add(record)?;
            Ok(flow)
        })?;
        if flow.is_continue() { batches.finish() } else { Ok(()) }
    }
}

/// The batch that is being read, and the pending ones, which other threads verify.
struct Batches<'b, 's> {
    verifier: &'b mut CertificationVerifier<'s>,
    wanted: &'b Wanted<'b>,
    each: &'b mut dyn FnMut(Record, &Authenticities) -> Result<ControlFlow<()>>,
    records: Vec<Record>,
    bytes: usize,
    /// The oldest one first. Their threads end by themselves if nobody joins them.
    pending: VecDeque<PendingBatch>,
    /// Bytes in `pending`.
    pending_bytes: usize,
}

struct PendingBatch {
    bytes: usize,
    thread: JoinHandle<VerifiedBatch>,
}

/// Certificates with their checks and the verdicts.
struct VerifiedBatch {
    records: Vec<Record>,
    checks: IssuerChecks,
    verdicts: Vec<Verdict>,
}

impl Batches<'_, '_> {
    /// Adds a certificate, and starts to verify a complete batch. Of too many pending batches the oldest ones are
    /// handed out.
    fn add(&mut self, record: Record) -> Result<ControlFlow<()>> {
        if let Some(facts) = &record.facts {
            let packets = facts.components.iter().flat_map(packets);
            self.bytes +=
                packets.map(|span| (span.end - span.start) as usize + BYTES_PER_PACKET).sum::<usize>();
            self.records.push(record);
        }
        if self.bytes < BATCH_BYTES { Ok(ControlFlow::Continue(())) } else { self.begin() }
    }

    /// Hands out what is left.
    fn finish(mut self) -> Result<()> {
        let mut flow = self.begin()?;
        while flow.is_continue()
            && let Some(oldest) = self.pending.pop_front()
        {
            if self.pending.is_empty() {
                // Verdicts are stored while the last batch is still being verified.
                self.verifier.keep()?;
            }
            flow = self.hand_out(oldest.join())?;
        }
        Ok(())
    }

    /// Starts to verify what was read.
    fn begin(&mut self) -> Result<ControlFlow<()>> {
        let bytes = std::mem::take(&mut self.bytes);
        let records = std::mem::take(&mut self.records);
        let checks = self.verifier.prepare(&requests(&records), self.wanted)?;
        if checks.is_settled() && self.pending.is_empty() {
            return self.hand_out(VerifiedBatch { records, checks, verdicts: Vec::new() });
        }
        let keys = self.verifier.keys.clone();
        let thread = thread::spawn(move || {
            let verdicts = checks.verify(&requests(&records), &keys);
            VerifiedBatch { records, checks, verdicts }
        });
        self.pending.push_back(PendingBatch { bytes, thread });
        self.pending_bytes += bytes;
        while self.pending_bytes > MAX_PENDING_BYTES
            && let Some(oldest) = self.pending.pop_front()
        {
            self.pending_bytes -= oldest.bytes;
            if self.hand_out(oldest.join())?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn hand_out(&mut self, batch: VerifiedBatch) -> Result<ControlFlow<()>> {
        let VerifiedBatch { records, checks, verdicts } = batch;
        let authenticities = self.verifier.finish(checks, &verdicts, &requests(&records))?;
        for (record, authenticities) in records.into_iter().zip(&authenticities) {
            if (self.each)(record, authenticities)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl PendingBatch {
    fn join(self) -> VerifiedBatch {
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Returns where a component's packets stand.
fn packets(component: &Component) -> impl Iterator<Item = Span> {
    once(component.span).chain(component.signatures.iter().map(|signature| signature.span))
}

fn requests(records: &[Record]) -> Vec<VerifyRequest<'_>> {
    records.iter().filter_map(VerifyRequest::record).collect()
}
