//! Searching the key of a signature that is not here: in the signature, then wherever `--auto-key-retrieve` looks.

use engine::message::{DataSignature, HashHeaders};
use engine::validity::{Sources, TrustSettings};
use engine::verification::{
    Examiner, GnupgVerdict, IncludedKey, SignatureContents, SignaturePolicy, SignatureVerdict,
};

use super::signature_id;
use crate::keyrings::Keyrings;
use crate::settings::Settings;
use crate::streams::Streams;

/// Imports keys of signatures that are not here. gpgv has no importer, so that nothing of the network is in its executable.
pub(crate) trait KeyImporter {
    /// Asks the network for the key of a signature; returns whether something was imported.
    fn retrieve(
        &self,
        statement: &SignatureContents,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<bool>;

    /// Imports the key in a signature that is good with it.
    fn import_included(
        &self,
        key: &IncludedKey,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<()>;
}

/// What a search for the key of a signature brought.
pub(super) enum Search {
    /// Nothing.
    NoKey,
    /// The key is here now, and this is what it says of the signature.
    Found(Box<SignatureVerdict>),
    /// The same; it was in the signature.
    Included(Box<SignatureVerdict>),
    /// The key in the signature did not make the signature over this content.
    Contradicted,
}

/// The most keys in the signatures of one message that are examined.
const MAX_INCLUDED_KEYS: usize = 16;

/// How signatures are examined.
pub(super) struct Examination<'a> {
    settings: &'a Settings,
    trust: &'a TrustSettings,
    policy: &'a SignaturePolicy<'a>,
    /// The `Hash` headers of clear text.
    announced: Option<&'a HashHeaders>,
    importer: Option<&'a dyn KeyImporter>,
    /// How many keys in signatures may still be examined.
    included_keys: usize,
}

impl<'a> Examination<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        trust: &'a TrustSettings,
        policy: &'a SignaturePolicy<'a>,
        announced: Option<&'a HashHeaders>,
        importer: Option<&'a dyn KeyImporter>,
    ) -> Self {
        Self { settings, trust, policy, announced, importer, included_keys: MAX_INCLUDED_KEYS }
    }

    /// Says whether a signature was not checked since its key is not here.
    pub(super) fn lacks_key(verdict: &SignatureVerdict, gnupg: GnupgVerdict) -> bool {
        let has_reason = matches!(
            gnupg,
            GnupgVerdict::UnknownDigest
                | GnupgVerdict::UnsupportedAlgorithm
                | GnupgVerdict::Undecided
                | GnupgVerdict::DigestConflict
        );
        verdict.examined.signer.candidate().is_none() && !has_reason
    }

    /// Searches the key of a signature.
    pub(super) fn search(
        &mut self,
        signature: &DataSignature,
        statement: &SignatureContents,
        streams: &mut Streams,
    ) -> anyhow::Result<Search> {
        let settings = self.settings;
        match self.included(signature, streams)? {
            Search::NoKey => {}
            found => return Ok(found),
        }
        report_preferred_keyserver(settings, streams, statement);
        if settings.network.auto_key_retrieve
            && let Some(importer) = self.importer
            && importer.retrieve(statement, settings, streams)?
            && let Some(again) = self.again(signature, streams)?
        {
            return Ok(Search::Found(again));
        }
        Ok(Search::NoKey)
    }

    /// Takes the key from the signature, if the signature is good with it. If it cannot be imported, that is reported, and
    /// the key is missing as before.
    fn included(&mut self, signature: &DataSignature, streams: &mut Streams) -> anyhow::Result<Search> {
        let settings = self.settings;
        let importer = self.importer.filter(|_| settings.signature.imports_key && self.included_keys > 0);
        let Some(importer) = importer else { return Ok(Search::NoKey) };
        let Some(key) = IncludedKey::of(signature) else { return Ok(Search::NoKey) };
        self.included_keys -= 1;
        let keyring = key.keyring().snapshot();
        let sources = Sources { certificates: vec![keyring.as_ref()], ..Sources::default() };
        let mut examiner = Examiner::new(sources, self.trust.clone());
        let found = examiner.search(vec![signature.clone()], self.policy)?;
        let Some(SignatureVerdict { examined, .. }) = found.first() else { return Ok(Search::NoKey) };
        match (examined.gnupg(self.announced, self.policy), &examined.statement) {
            (GnupgVerdict::Valid(_) | GnupgVerdict::Expired, Some(statement)) => {
                signature_id::report(streams, examined, statement);
            }
            (GnupgVerdict::Bad, _) => return Ok(Search::Contradicted),
            _ => return Ok(Search::NoKey),
        }
        if settings.verbose > 0 {
            streams.info("checked signature using included key block: Success");
        }
        if let Err(error) = importer.import_included(&key, settings, streams) {
            streams.error(format_args!("key in the signature not imported: {error:#}"));
            return Ok(Search::NoKey);
        }
        let again = self.again(signature, streams)?;
        let again = again.filter(|again| again.examined.signer.candidate().is_some());
        Ok(again.map_or(Search::NoKey, Search::Included))
    }

    /// Examines a signature again, whose key may be here now.
    fn again(
        &self,
        signature: &DataSignature,
        streams: &mut Streams,
    ) -> anyhow::Result<Option<Box<SignatureVerdict>>> {
        let keyrings = Keyrings::open(self.settings, streams)?;
        let snapshots = keyrings.snapshots()?;
        let mut examiner = Examiner::new(snapshots.sources()?, self.trust.clone());
        let mut verdicts = examiner.search(vec![signature.clone()], self.policy)?;
        examiner.compute_validities(&mut verdicts)?;
        Ok(verdicts.pop().map(Box::new))
    }
}

/// Says where the key is, as the signature says.
fn report_preferred_keyserver(settings: &Settings, streams: &mut Streams, statement: &SignatureContents) {
    let Some(preferred) = &statement.preferred_keyserver else { return };
    streams.info_bytes(&[b"Key available at: ", &preferred.url[..]].concat());
    let network = &settings.network;
    if network.auto_key_retrieve && !network.honor_keyserver_url {
        streams.info("Note: Use '--keyserver-option honor-keyserver-url' to make use of this info");
    }
}
