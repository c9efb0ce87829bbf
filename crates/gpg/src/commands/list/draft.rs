//! Lists all keys of one database while their validity is still being computed: one thread renders them with gaps, and
//! the calling thread fills the gaps in.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, Scope};

use keyhoard::cert::effective::{Effective, PacketView};
use keyhoard::cert::facts::Facts;
use keyhoard::listing::{self, KeyListing, ListOptions, Names, UserTrust};
use keyhoard::store::{CertId, ReadCertificates, Selection};
use keyhoard::validity::{Subject, ValidityResult};

use crate::render;
use crate::render::gap::{self, Placed};
use crate::settings::{ListSettings, Settings};

/// Bytes of text at which a draft is sent: sending more often would wake the receiver too often.
const DRAFT_SIZE: usize = 256 * 1024;

/// Bytes of text that may wait to be completed; no further draft is begun while there are more.
const MAX_WAITING: usize = 16 << 20;

/// The listing of some certificates, with gaps where validity and owner trust belong.
#[derive(Default)]
struct Draft {
    text: Vec<u8>,
    gaps: Vec<Placed>,
    /// The certificates in order, each with the number of its gaps.
    subjects: Vec<(Subject, usize)>,
}

impl Draft {
    /// Appends the text, the gaps filled in.
    fn complete(&self, validity: &ValidityResult<'_>, out: &mut Vec<u8>) {
        let (mut gaps, mut written) = (self.gaps.as_slice(), 0);
        for (subject, count) in &self.subjects {
            let (own, others) = gaps.split_at(*count);
            written = gap::fill_in(own, &validity.trust_of(subject), &self.text, written, out);
            gaps = others;
        }
        out.extend(&self.text[written..]);
    }
}

/// The drafts of all certificates, rendered by a thread of their own.
pub(super) struct Drafts {
    drafts: Receiver<keyhoard::Result<Draft>>,
    /// Returns the buffers of completed drafts to the thread.
    used: Sender<Draft>,
}

impl Drafts {
    /// Starts the thread; `None` if the system cannot start one.
    pub(super) fn begin<'s>(
        settings: &Settings,
        reader: Box<dyn ReadCertificates + Send + 's>,
        scope: &'s Scope<'s, '_>,
    ) -> Option<Self> {
        let options = ListOptions::as_gnupg(settings.now, settings.self_signature_digests());
        let settings = settings.list.clone();
        let options = render::needs(&settings, false, options);
        let (sender, drafts) = mpsc::channel();
        let (used, back) = mpsc::channel();
        let drafter = Drafter { settings, options, drafts: sender, used: back, waiting: Cell::new(0) };
        Builder::new().spawn_scoped(scope, move || drafter.run(&*reader)).ok()?;
        Some(Self { drafts, used })
    }

    /// Writes `text`, and after it all certificates with their gaps filled in.
    pub(super) fn complete(
        &self,
        validity: &ValidityResult<'_>,
        text: &mut Vec<u8>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        for draft in &self.drafts {
            let mut draft = draft?;
            draft.complete(validity, text);
            out.write_all(text)?;
            text.clear();
            draft.gaps.clear();
            draft.subjects.clear();
            // The thread has ended if it has drafted everything.
            let _ = self.used.send(draft);
        }
        Ok(())
    }
}

/// Renders certificates before validity and owner trust are known.
struct Drafter {
    settings: ListSettings,
    options: ListOptions,
    drafts: Sender<keyhoard::Result<Draft>>,
    used: Receiver<Draft>,
    /// Bytes of text in drafts that were sent and not returned yet.
    waiting: Cell<usize>,
}

impl Drafter {
    fn run(&self, snapshot: &dyn ReadCertificates) {
        // The receiver is gone if it failed; it reports its own error.
        let _ = self.drafts.send(self.draft_all(snapshot));
    }

    /// Drafts all certificates; returns the last draft, which was not sent.
    fn draft_all(&self, snapshot: &dyn ReadCertificates) -> keyhoard::Result<Draft> {
        let Self { settings, options, .. } = self;
        let mut issuers =
            Names::new(vec![snapshot], options.now, PacketView::Gnupg).with_digests(options.digests);
        let draft = RefCell::new(Draft::default());
        let mut trust = |id: CertId, facts: &Facts, effective: &Effective| {
            draft.borrow_mut().subjects.push((Subject::new(id, facts, effective, options.now), 0));
            Ok(UserTrust::default())
        };
        let mut each = |listing: KeyListing<'_>| {
            let mut draft = draft.borrow_mut();
            let Draft { text, gaps, subjects } = &mut *draft;
            let before = gaps.len();
            render::draft(&listing, settings, gaps, text);
            if let Some((_, count)) = subjects.last_mut() {
                *count = gaps.len() - before;
            }
            if text.len() >= DRAFT_SIZE { self.hand_over(&mut draft) } else { ControlFlow::Continue(()) }
        };
        listing::list(snapshot, Selection::All, *options, &mut issuers, &mut trust, &mut each)?;
        Ok(draft.take())
    }

    fn hand_over(&self, draft: &mut Draft) -> ControlFlow<()> {
        self.waiting.update(|waiting| waiting + draft.text.len());
        if self.drafts.send(Ok(std::mem::take(draft))).is_err() {
            return ControlFlow::Break(());
        }
        while let Some(used) = self.next_used() {
            self.waiting.update(|waiting| waiting - used.text.len());
            *draft = used;
            draft.text.clear();
        }
        ControlFlow::Continue(())
    }

    /// Returns the buffer of a completed draft; waits for one while more than [`MAX_WAITING`] bytes are not completed.
    fn next_used(&self) -> Option<Draft> {
        if self.waiting.get() > MAX_WAITING { self.used.recv().ok() } else { self.used.try_recv().ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use keyhoard::cert::Timestamp;
    use keyhoard::verify::policy::DigestPolicy;

    use super::*;

    type Ends = (Receiver<keyhoard::Result<Draft>>, Sender<Draft>);

    /// A drafter with [`MAX_WAITING`] bytes waiting.
    fn drafter() -> (Drafter, Ends) {
        let (sender, drafts) = mpsc::channel();
        let (used, back) = mpsc::channel();
        let options = ListOptions::as_gnupg(Timestamp(0), DigestPolicy::GNUPG);
        let (settings, waiting) = (ListSettings::default(), Cell::new(MAX_WAITING));
        (Drafter { settings, options, drafts: sender, used: back, waiting }, (drafts, used))
    }

    fn draft() -> Draft {
        Draft { text: vec![b'-'; 9], ..Draft::default() }
    }

    #[test]
    fn no_further_draft_is_begun_until_enough_of_the_text_that_waits_came_back() {
        let (drafter, (drafts, used)) = drafter();
        let mut draft = draft();
        let drafting = thread::spawn(move || (drafter.hand_over(&mut draft), draft.text.len()));
        let waiting = drafts.recv().expect("it was handed over").expect("no error");
        assert!(!drafting.is_finished());
        used.send(waiting).expect("it is waited for");
        assert_eq!(drafting.join().expect("no panic"), (ControlFlow::Continue(()), 0));
    }

    #[test]
    fn drafting_ends_when_nobody_listens_any_more() {
        let (drafter, ends) = drafter();
        drop(ends);
        assert_eq!(drafter.hand_over(&mut draft()), ControlFlow::Break(()));
    }
}
