//! Lists or writes the keys of an input: `import-show` and `import-export`.

use std::io::{self, Write};

use engine::cert::certificate::Certificate;
use engine::cert::effective::{Effective, EvaluationContext, PacketView, evaluate};
use engine::cert::{Facts, Fingerprint};
use engine::designated_revocation::evaluate_certificate;
use engine::import::StandaloneRevocation;
use engine::listing::{ListOptions, ListedSignature, Lister, ListingSource, Names, Signatures, UserTrust};
use engine::output_file::FileId;
use engine::store::{Origin, ReadCertificates, Store};
use engine::validity::{Sources, TrustSettings, ValidityResult};
use engine::verify::policy::DigestPolicy;

use crate::commands::list;
use crate::output::{Holds, Output};
use crate::render;
use crate::secrets::Secrets;
use crate::settings::{ArmorHeaders, ListSettings, Settings};
use crate::streams::Streams;
use crate::trust;

/// Lists the keys of an input as they would be stored, with `import-show`.
pub(super) struct Show<'a> {
    settings: Option<ListSettings>,
    options: ListOptions,
    names: Names<'a>,
    /// Where issuers, designated revokers and the keys themselves are looked up.
    sources: Sources<'a>,
    trust: TrustSettings,
    /// The validity of the keys in the databases, computed for the first key that is in one.
    validity_result: Option<ValidityResult<'a>>,
    secrets: Secrets,
}

impl<'a> Show<'a> {
    /// Issuers, designated revokers and the keys themselves are looked up in `sources`.
    pub(super) fn new(
        settings: &Settings,
        streams: &mut Streams,
        sources: Sources<'a>,
        secrets: Secrets,
    ) -> Self {
        let &Settings { ref import, armor, ref output, ref list, digests, now, .. } = settings;
        // With import-export the keys go where the listing would go.
        let hidden = import.export && !armor && output.is_none();
        let trust = trust::settings(settings);
        let mut settings = (import.show && !hidden).then(|| list.clone());
        if let Some(settings) = &mut settings {
            settings.of_file = true;
            settings.flags.uid_validity = false;
            // gpg shows no fingerprints of subkeys here, however often it is asked.
            settings.fingerprint = settings.fingerprint.min(1);
        }
        let bare = ListOptions::as_gnupg(now, digests);
        let attributes = streams.attribute().is_some();
        let options = settings.as_ref().map_or(bare, |settings| render::needs(settings, attributes, bare));
        let names = Names::new(sources.certificates.clone(), now, PacketView::Gnupg);
        Self { settings, options, names, sources, trust, validity_result: None, secrets }
    }

    /// Lists one key; `secret`: the input has its secret part. Designated revokers are looked up in `store` too, as it
    /// is by then.
    pub(super) fn certificate(
        &mut self,
        certificate: &Certificate,
        secret: bool,
        store: Option<&dyn Store>,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let Some(settings) = &mut self.settings else { return Ok(()) };
        settings.secret = secret;
        let facts = &certificate.facts;
        if self.options.signatures == Signatures::Named {
            self.names.prepare(facts)?;
        }
        let moment =
            EvaluationContext::new(self.options.now, self.options.view).with_digests(self.options.digests);
        let names_revokers = || !evaluate(facts, moment).revokers.is_empty();
        let fresh = store.filter(|_| names_revokers()).map(Store::snapshot).transpose()?;
        let fresh = fresh.as_deref().map(|fresh| -> &dyn ReadCertificates { fresh });
        let revokers: Vec<_> = self.sources.certificates.iter().copied().chain(fresh).collect();
        let effective = evaluate_certificate(certificate, moment, &revokers)?;
        let trust = self.trust(facts, &effective)?;
        let Some(settings) = &self.settings else { return Ok(()) };
        let source = ListingSource {
            facts,
            effective: &effective,
            bytes: Some(&certificate.bytes),
            trust: &trust,
            origin: &Origin::default(),
            user_id_origins: &[],
            stored: None,
            statuses: None,
        };
        let listing = Lister { options: self.options, names: &self.names }.listing(source);
        let mut text = Vec::new();
        list::attributes(&listing, settings, streams)?;
        render::listing(&listing, settings, &mut text);
        Ok(streams.out().write_all(&text)?)
    }

    /// Returns the validity and owner trust of a key that is in a database too, and its secret keys.
    fn trust(&mut self, facts: &Facts, effective: &Effective) -> anyhow::Result<UserTrust> {
        let Some(ListSettings { with_colons, secret, .. }) = self.settings else {
            return Ok(UserTrust::default());
        };
        let secret_keys = if secret { self.secrets.parts(facts) } else { Vec::new() };
        if !with_colons || !self.is_here(&facts.primary().fingerprint)? {
            return Ok(UserTrust { secret_keys, ..UserTrust::default() });
        }
        let validity_result = match self.validity_result.take() {
            Some(validity_result) => validity_result,
            None => ValidityResult::all(&self.sources, &self.trust)?,
        };
        let validity_result = self.validity_result.insert(validity_result);
        Ok(UserTrust { secret_keys, ..validity_result.trust_of_copy(facts, effective)? })
    }

    fn is_here(&self, key: &Fingerprint) -> engine::Result<bool> {
        for keyring in &self.sources.certificates {
            if keyring.by_fingerprint(&[*key])?[0].is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists a revocation certificate; its key is looked up in `keyring`.
    pub(super) fn revocation(
        &self,
        &StandaloneRevocation { ref facts, status, body }: &StandaloneRevocation<'_>,
        keyring: Option<&dyn ReadCertificates>,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        let Some(settings) = &self.settings else { return Ok(()) };
        let now = self.options.now;
        let mut names = Names::new(keyring.into_iter().collect(), now, PacketView::Gnupg);
        names.prepare_issuers([facts.issuer.key_id].into_iter())?;
        let listed = ListedSignature {
            facts,
            expired: facts.has_expired(now),
            issuer: names.issuer(facts.issuer.key_id),
            status: Some(status),
            body: Some(body),
        };
        let mut text = Vec::new();
        render::revocation(&listed, settings, &mut text);
        Ok(streams.out().write_all(&text)?)
    }
}

/// Returns the listing of one key before a question about it.
pub(super) fn described(certificate: &Certificate, settings: &Settings) -> Vec<u8> {
    let now = settings.now;
    let options = ListOptions::as_gnupg(now, DigestPolicy::GNUPG);
    let effective = evaluate(&certificate.facts, EvaluationContext::new(now, PacketView::Gnupg));
    let source = ListingSource {
        facts: &certificate.facts,
        effective: &effective,
        bytes: None,
        trust: &UserTrust::default(),
        origin: &Origin::default(),
        user_id_origins: &[],
        stored: None,
        statuses: None,
    };
    let names = Names::new(Vec::new(), now, PacketView::Gnupg);
    let mut text = Vec::new();
    let mut settings = ListSettings::of(settings.compat);
    settings.flags.uid_validity = false;
    render::listing(&Lister { options, names: &names }.listing(source), &settings, &mut text);
    text
}

/// Writes the keys of an input out instead of importing them.
pub(super) struct Written {
    output: Output,
    /// The headers of each key's armor, if there is any.
    armor: Option<ArmorHeaders>,
}

impl Written {
    /// Opens the output, while the files in `read` are being read.
    pub(super) fn open(read: &[FileId], settings: &Settings, streams: &mut Streams) -> anyhow::Result<Self> {
        match Output::open(Holds::Packets, read, settings, streams) {
            Ok(output) => Ok(Self { output, armor: settings.armor.then(|| settings.armor_headers.clone()) }),
            Err(failure) => anyhow::bail!("{}", failure.coded()?.code),
        }
    }

    /// Writes one key, in an armor of its own.
    pub(super) fn add(&mut self, certificate: &Certificate, streams: &mut Streams) -> io::Result<()> {
        let shown = certificate.without_superseded();
        let mut writer = self.output.writer(streams);
        let Some(headers) = &self.armor else { return writer.write_all(&shown.bytes) };
        let mut armor = headers.begin(writer, "PUBLIC KEY BLOCK");
        armor.write_all(&shown.bytes)?;
        armor.finish().map(drop)
    }

    /// Makes a file appear.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.output.commit()
    }
}
