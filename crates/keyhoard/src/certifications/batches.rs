//! Many certificates, read and handed out while the signatures of others are verified.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use store::Record;
use verify::Verdict;

use super::questions::Inquiry;
use super::{Asked, Findings, Verifier, Wanted};
use crate::Result;

/// Signatures, and octets of them, that are verified at once.
const SIGNATURES: usize = 12 << 10;
const OCTETS: usize = 16 << 20;

/// Is told of a certificate, and of the findings on its signatures.
type Each<'e> = dyn FnMut(Record, &Findings) -> Result<ControlFlow<()>> + 'e;

/// One batch that is being read, and one whose signatures another thread verifies meanwhile.
pub(super) struct Batches<'b, 's> {
    verifier: &'b mut Verifier<'s>,
    wanted: &'b Wanted<'b>,
    each: &'b mut Each<'b>,
    records: Vec<Record>,
    signatures: usize,
    octets: usize,
    /// Comes to its end by itself if nobody wants to know any more.
    pending: Option<JoinHandle<Answered>>,
}

/// Certificates, what was asked about them, and the answers.
struct Answered {
    records: Vec<Record>,
    inquiry: Inquiry,
    verdicts: Vec<Verdict>,
}

impl<'b, 's> Batches<'b, 's> {
    pub(super) fn new(
        verifier: &'b mut Verifier<'s>,
        wanted: &'b Wanted<'b>,
        each: &'b mut Each<'b>,
    ) -> Self {
        Self { verifier, wanted, each, records: Vec::new(), signatures: 0, octets: 0, pending: None }
    }

    /// Adds a certificate. If there are enough of them, verifying them begins, and those before are handed out.
    pub(super) fn add(&mut self, record: Record) -> Result<ControlFlow<()>> {
        if let Some(facts) = &record.facts {
            let packets = facts.components.iter().flat_map(|component| &component.signatures);
            let octets = packets.map(|signature| (signature.span.end - signature.span.start) as usize);
            self.octets += octets.sum::<usize>();
            self.signatures += facts.components.iter().map(|it| it.signatures.len()).sum::<usize>();
            self.records.push(record);
        }
        if self.signatures < SIGNATURES && self.octets < OCTETS {
            return Ok(ControlFlow::Continue(()));
        }
        let (records, inquiry) = self.inquire()?;
        if inquiry.is_settled() && self.pending.is_none() {
            return self.hand_out(Answered { records, inquiry, verdicts: Vec::new() });
        }
        let next = thread::spawn(|| Answered::new(records, inquiry));
        match self.pending.replace(next) {
            Some(before) => self.hand_out(join(before)),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Hands out all that is left.
    pub(super) fn finish(mut self) -> Result<()> {
        let (records, inquiry) = self.inquire()?;
        let Some(before) = self.pending.take() else {
            return self.hand_out(Answered::new(records, inquiry)).map(drop);
        };
        let last = thread::spawn(|| Answered::new(records, inquiry));
        match self.hand_out(join(before))? {
            ControlFlow::Continue(()) => self.hand_out(join(last)).map(drop),
            ControlFlow::Break(()) => Ok(()),
        }
    }

    fn inquire(&mut self) -> Result<(Vec<Record>, Inquiry)> {
        (self.signatures, self.octets) = (0, 0);
        let records = std::mem::take(&mut self.records);
        let inquiry = self.verifier.inquire(&asked(&records), self.wanted)?;
        Ok((records, inquiry))
    }

    fn hand_out(&mut self, answered: Answered) -> Result<ControlFlow<()>> {
        let Answered { records, inquiry, verdicts } = answered;
        let findings = self.verifier.conclude(inquiry, &verdicts, &asked(&records))?;
        for (record, findings) in records.into_iter().zip(&findings) {
            if (self.each)(record, findings)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Answered {
    fn new(records: Vec<Record>, inquiry: Inquiry) -> Self {
        let verdicts = inquiry.answer(&asked(&records));
        Self { records, inquiry, verdicts }
    }
}

fn asked(records: &[Record]) -> Vec<Asked<'_>> {
    records.iter().filter_map(Asked::record).collect()
}

fn join(thread: JoinHandle<Answered>) -> Answered {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
