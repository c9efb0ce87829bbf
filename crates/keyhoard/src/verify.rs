//! Verifying signatures.

use std::io::{self, Read, Write};

use engine::cert::ArmorRules;
use engine::decryption::PlaintextOutput;
use engine::message::{self, Allowed, DataSignature, DetachedSignatures, MessageVerifier, NoKeys};
use engine::store::Snapshot;
use engine::verification::{Examiner, examine_batch};

use crate::handle::{Handle, sources};
use crate::verdict::Verdicts;
use crate::{Error, Fingerprint, Keyhoard, Result};

/// Verifies signatures by the certificates of the database, and says how certain it is whose they are.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is verified before one of its methods is called"]
pub struct Verify<'k> {
    keyhoard: &'k Keyhoard,
}

impl<'k> Verify<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard) -> Self {
        Self { keyhoard }
    }

    /// Verifies detached signatures, with or without armor, over all of `data`.
    ///
    /// # Errors
    ///
    /// `malformed` for what is no signature; `io`, `database`. A signature that is not good is no error.
    pub fn detached(self, mut signature: impl Read + Send, mut data: impl Read) -> Result<Verdicts> {
        self.keyhoard.handle.check_process()?;
        let signatures = DetachedSignatures::read(&mut signature)?.over(&mut data)?;
        examine(&self.keyhoard.handle, signatures, Vec::new())
    }

    /// Verifies a signed message, or clear-signed text, and writes its content, if the signatures
    /// [are good](Verdicts::are_good); otherwise nothing is written.
    ///
    /// Content is kept until then: up to 12 MiB in memory, the rest in a temporary file.
    ///
    /// # Errors
    ///
    /// `not-signed`; `cannot-decrypt` for an encrypted message; `malformed`, also for clear-signed text with other text
    /// around it, if the content is not wanted; `io`, `database`.
    pub fn inline(self, mut message: impl Read + Send, output: impl Write) -> Result<Verdicts> {
        let mut content = PlaintextOutput::to_stream(Box::new(output), false).without_limit();
        let verdicts = self.read(&mut message, &mut content)?;
        if verdicts.are_good() {
            content.finish()?;
        }
        Ok(verdicts)
    }

    /// Verifies clear-signed text and returns what is signed, if the signatures are good.
    ///
    /// # Errors
    ///
    /// Those of [`Verify::inline`].
    pub fn cleartext(self, text: &str) -> Result<(Option<String>, Verdicts)> {
        let mut content = Vec::new();
        let verdicts = self.inline(text.as_bytes(), &mut content)?;
        let text = || String::from_utf8_lossy(&content).into_owned();
        Ok((verdicts.are_good().then(text), verdicts))
    }

    /// Verifies a signed message or clear-signed text, whose content is not wanted.
    ///
    /// # Errors
    ///
    /// Those of [`Verify::inline`].
    pub fn message(self, mut message: impl Read + Send) -> Result<Verdicts> {
        let mut content = PlaintextOutput::to_stream(Box::new(io::sink()), true);
        let verdicts = self.read(&mut message, &mut content)?;
        if content.has_text_around {
            return Err(Error::Malformed(
                "there is text around the signed text, which is not signed".to_owned(),
            ));
        }
        Ok(verdicts)
    }

    /// Verifies the detached signatures over many contents, on all cores; the results are in their order.
    ///
    /// `open` returns the signature and the data of an item.
    ///
    /// # Errors
    ///
    /// `database`; what is wrong with an item is its own result.
    pub fn many<T, S, D>(
        self,
        items: impl IntoIterator<Item = T>,
        open: impl Fn(&T) -> Result<(S, D)> + Sync,
    ) -> Result<Vec<Result<Verdicts>>>
    where
        T: Send + Sync,
        S: Read + Send,
        D: Read,
    {
        let read = |item: &T| {
            let (mut signature, mut data) = open(item)?;
            Ok::<_, Error>(DetachedSignatures::read(&mut signature)?.over(&mut data)?)
        };
        let mut results = Vec::new();
        let handle = &self.keyhoard.handle;
        handle.read(|snapshot| {
            let mut examiner = examiner(handle, snapshot);
            examine_batch(&mut examiner, items.into_iter().map(Ok::<T, Error>), read, |_, verdicts| {
                results.push(verdicts.map(|verdicts| Verdicts::of(&verdicts)));
                Ok(())
            })
        })?;
        Ok(results)
    }

    fn read(self, message: &mut (dyn Read + Send), content: &mut PlaintextOutput<'_>) -> Result<Verdicts> {
        self.keyhoard.handle.check_process()?;
        let armor = ArmorRules::Rfc9580;
        let allowed = Allowed { unencrypted: true, unknown_packets: true, armor, ..Allowed::default() };
        let mut verifier = MessageVerifier::new(content);
        let read = message::decrypt(message, allowed, &mut NoKeys, &mut verifier);
        let signatures = read.and_then(|()| verifier.finish())?;
        if signatures.is_empty() {
            return Err(Error::NotSigned);
        }
        examine(&self.keyhoard.handle, signatures, Vec::new())
    }
}

/// Examines signatures; nothing is read for none. Of a decrypted message, `recipients` are the primary keys of the
/// certificates that claim the key that opened it.
pub(crate) fn examine(
    handle: &Handle,
    signatures: Vec<DataSignature>,
    recipients: Vec<Fingerprint>,
) -> Result<Verdicts> {
    if signatures.is_empty() {
        return Ok(Verdicts::default());
    }
    handle.read(|snapshot| {
        let mut examiner = examiner(handle, snapshot);
        examiner.expect_recipients(recipients);
        Ok(Verdicts::of(&examiner.examine(signatures)?))
    })
}

fn examiner<'s>(handle: &Handle, snapshot: &'s dyn Snapshot) -> Examiner<'s> {
    Examiner::new(sources(snapshot), handle.trust(handle.now()))
}

impl Keyhoard {
    /// Verifies signatures.
    pub fn verify(&self) -> Verify<'_> {
        Verify::new(self)
    }
}
