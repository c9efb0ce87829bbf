//! Signatures that follow each other in a blob.

use cert::KeyId;
use cert::facts::SignatureFacts;
use cert::packet::Span;

use super::component::read_span;
use super::reader::Reader;
use super::{Result, signature};

/// Signatures of one component, one after the other. Where the next one stands is read before the rest of it.
pub(super) struct Run<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// How many follow the next one; `None` if the reader's end says so.
    left: Option<usize>,
    pub(super) next: Option<Span>,
}

/// What a signature usually takes at least, which is only a guess about memory.
const USUAL: usize = 40;

impl<'r, 'a> Run<'r, 'a> {
    /// Reads `count` signatures, or those to the reader's end; the component's own packet ended at `end`.
    pub(super) fn new(reader: &'r mut Reader<'a>, count: Option<usize>, end: u32) -> Result<Self> {
        let mut run = Self { reader, left: count, next: None };
        run.advance(end)?;
        Ok(run)
    }

    /// Guesses how many signatures there are.
    pub(super) fn estimate(&self) -> usize {
        let others = self.left.unwrap_or_else(|| self.reader.remaining() / USUAL);
        others + usize::from(self.next.is_some())
    }

    /// Reads the next signature.
    #[inline]
    pub(super) fn read(&mut self) -> Result<SignatureFacts> {
        let Some(span) = self.next else { return Err(self.reader.error("the end")) };
        let signature = signature::read(self.reader, span)?;
        self.advance(span.end)?;
        Ok(signature)
    }

    /// Reads the next signature if its issuer is wanted, else moves past it.
    #[inline]
    pub(super) fn read_wanted(&mut self, wanted: impl Fn(KeyId) -> bool) -> Result<Option<SignatureFacts>> {
        if wanted(signature::issuer(self.reader)?) {
            return self.read().map(Some);
        }
        let Some(span) = self.next else { return Err(self.reader.error("the end")) };
        signature::skip(self.reader)?;
        self.advance(span.end)?;
        Ok(None)
    }

    fn advance(&mut self, end: u32) -> Result<()> {
        let more = match &mut self.left {
            Some(left) => {
                let more = *left > 0;
                *left = left.saturating_sub(1);
                more
            }
            None => self.reader.remaining() > 0,
        };
        self.next = if more { Some(read_span(self.reader, end)?) } else { None };
        Ok(())
    }
}

/// The groups of a third-party blob, in the order of the components.
pub(super) struct Groups<'a> {
    reader: Reader<'a>,
    /// The component of the next group, and how many signatures it has.
    next: Option<(u64, usize)>,
}

impl<'a> Groups<'a> {
    /// Begins at a blob's beginning; an empty one has no groups.
    pub(super) fn new(blob: &'a [u8]) -> Result<Self> {
        let reader = if blob.is_empty() { Reader::new(blob) } else { Reader::after_version(blob)? };
        Ok(Self { reader, next: None })
    }

    /// Returns the signatures of a component, whose packet ended at `end`; components come in their order.
    pub(super) fn of(&mut self, component: usize, end: u32) -> Result<Run<'_, 'a>> {
        if self.next.is_none() {
            self.advance()?;
        }
        let count = match self.next {
            Some((index, count)) if index == component as u64 => {
                self.next = None;
                count
            }
            _ => 0,
        };
        Run::new(&mut self.reader, Some(count), end)
    }

    /// Returns the next group and its component, as if that one's packet ended at 0.
    pub(super) fn following(&mut self) -> Result<Option<(usize, Run<'_, 'a>)>> {
        if self.next.is_none() {
            self.advance()?;
        }
        let Some((component, count)) = self.next.take() else { return Ok(None) };
        Ok(Some((component as usize, Run::new(&mut self.reader, Some(count), 0)?)))
    }

    /// Makes sure that every group had its component.
    pub(super) fn finish(&self) -> Result<()> {
        match self.next {
            None => self.reader.finish(),
            Some(_) => Err(self.reader.error("a component that is not there")),
        }
    }

    fn advance(&mut self) -> Result<()> {
        if self.reader.remaining() > 0 {
            let index = self.reader.number()?;
            self.next = Some((index, self.reader.count(signature::MIN)?));
        }
        Ok(())
    }
}
