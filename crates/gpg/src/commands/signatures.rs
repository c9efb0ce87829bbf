//! Reports on signatures over content: who signed, whether the signature is good, and how certain it is whose the key
//! is.

mod assertions;
mod certainty;
mod missing_key;
mod signature_id;

use engine::cert::effective::objections::{BackSignatureFlaw, CrossCertification, Objection};
use engine::cert::effective::{ComponentState, Usage};
use engine::cert::facts::{ComponentKind, SignatureType};
use engine::cert::{BoundAddress, Timestamp};
use engine::configuration::Compat;
use engine::listing::UserTrust;
use engine::message::{DataSignature, HashHeaders};
use engine::recipients;
use engine::verification::{
    CandidateSigner, ExaminedSignature, Examiner, GnupgVerdict, Notation, PreferredKeyserver,
    SignatureContents, SignaturePolicy, SignatureVerdict, remember,
};

use super::first_use;
use super::signature_messages::{report_rejected, time_between};
use crate::algorithms::{digest_name, public_key_name};
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::program::Program;
use crate::render::algorithm::description;
use crate::render::subpacket::binary_value;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;
use crate::{clock, trust};
pub(crate) use missing_key::KeyImporter;
use missing_key::{Examination, Search};

/// Examines signatures and reports the verdicts, unless `--list-only` is given; returns whether one is bad. With
/// `--batch` gpg ends after that.
///
/// `announced` are the hash algorithms in the `Hash` headers of clear text. As in gpg, a signature with another hash
/// algorithm is not checked, and none is if a header names an unknown one. `importer` imports the keys that are not here.
pub(super) fn report(
    settings: &Settings,
    streams: &mut Streams,
    signatures: Vec<DataSignature>,
    announced: Option<&HashHeaders>,
    importer: Option<&dyn KeyImporter>,
) -> anyhow::Result<bool> {
    if settings.message.list_only {
        return Ok(false);
    }
    let keyrings = Keyrings::open(settings, streams)?;
    let mut trust_settings = trust::settings(settings);
    trust_settings.tofu.with_info = trust_settings.model.remembers();
    let policy = SignaturePolicy {
        notations: &settings.message.known_notations,
        overlooked: overlooked(settings),
        ..SignaturePolicy::new(settings.digests, settings.now)
    };
    let mut verdicts = {
        // Ends before the next snapshot begins, which uses the same connection then.
        let snapshots = keyrings.snapshots()?;
        let mut examiner = Examiner::new(snapshots.sources()?, trust_settings.clone());
        if settings.ignore_time_conflict {
            examiner = examiner.with_keys_from_the_future();
        }
        examiner.search(signatures, &policy)?
    };
    let store = keyrings.working_database().filter(|_| trust_settings.model.remembers());
    let remembered = store.map_or(Ok(()), |store| {
        let seen = verdicts.iter().filter(|verdict| verdict.examined.is_announced(announced));
        remember(store, seen, "", "gpg-keyhoard --verify", settings.now)
    });
    {
        // What is remembered now counts already. Ends before a missing key is imported: without a log, that waits for readers.
        let snapshots = keyrings.snapshots()?;
        Examiner::new(snapshots.sources()?, trust_settings.clone()).compute_validities(&mut verdicts)?;
    }
    let mut has_bad = false;
    let mut examination = Examination::new(settings, &trust_settings, &policy, announced, importer);
    for verdict in &mut verdicts {
        let mut gnupg = verdict.examined.gnupg(announced, &policy);
        let mut is_included = false;
        if let Some(statement) = &verdict.examined.statement {
            report_statement(streams, statement);
            if Examination::lacks_key(verdict, gnupg) {
                let searched = examination.search(&verdict.examined.signature, statement, streams)?;
                is_included = matches!(searched, Search::Included(_));
                match searched {
                    Search::NoKey => {}
                    Search::Found(again) | Search::Included(again) => {
                        *verdict = *again;
                        gnupg = verdict.examined.gnupg(announced, &policy);
                    }
                    Search::Contradicted => gnupg = GnupgVerdict::Bad,
                }
            }
        }
        report_one(settings, streams, verdict, gnupg, is_included);
        if gnupg.counts_as_bad(verdict.trust.key) {
            has_bad = true;
            streams.count_bad_signature();
            if settings.batch && !settings.all_signatures {
                streams.status_failure("gpg-exit", Code::GENERAL);
                return Ok(true);
            }
        }
    }
    // The signatures are reported even if the database cannot be written to.
    remembered?;
    Ok(has_bad)
}

/// Reports the result of one signature, after what it says; `is_included` says that its key was in it.
fn report_one(
    settings: &Settings,
    streams: &mut Streams,
    verdict: &SignatureVerdict,
    gnupg: GnupgVerdict,
    is_included: bool,
) {
    let SignatureVerdict { examined, trust, .. } = verdict;
    let Some(statement) = &examined.statement else {
        return streams.error("Can't check signature: Unknown version");
    };
    // gpg does not look for the key of a signature whose hash algorithm is not announced.
    let signer = examined.signer.candidate().filter(|_| gnupg != GnupgVerdict::DigestConflict);
    let Some(signer) = signer else {
        let code = match gnupg {
            GnupgVerdict::Bad => {
                streams.status(format!("BADSIG {} [?]", statement.issuer.key_id));
                return streams.info("BAD signature from \"[?]\"");
            }
            GnupgVerdict::UnknownDigest => Code::INVALID_DIGEST,
            GnupgVerdict::UnsupportedAlgorithm => Code::INVALID_PUBLIC_KEY_ALGORITHM,
            GnupgVerdict::Undecided => {
                streams.info("too many certificates claim the key of this signature");
                Code::GENERAL
            }
            GnupgVerdict::DigestConflict => {
                streams.error("WARNING: signature digest conflict in message");
                Code::GENERAL
            }
            _ => Code::NO_PUBLIC_KEY,
        };
        return report_unchecked(streams, statement, code);
    };
    report_flaw(streams, signer);
    let report = Report { settings, statement, signer, trust, is_included };
    if signer.certificate.facts.primary().created > settings.now {
        report_key_from_future(streams, signer, settings.now);
    }
    if let Some(flags) = report.passed_over(gnupg) {
        let considered = format!("KEY_CONSIDERED {} {flags}", signer.primary());
        streams.status(&considered);
        streams.status(considered);
        return report_unchecked(streams, statement, Code::NO_PUBLIC_KEY);
    }
    if !report.is_checked_before() {
        streams.considered(&signer.primary());
    }
    if let Some(code) = report.unchecked(streams, gnupg) {
        return report_unchecked(streams, statement, code);
    }
    if settings.ignore_time_conflict && statement.created < signer.key().created {
        report_newer_key(streams, signer, statement.created);
    }
    if gnupg == GnupgVerdict::Bad {
        use CrossCertification::Refused;
        // gpg 2.2 looks the key up once more, but reports only once that an algorithm is rejected.
        if settings.compat < Compat::V2_4 {
            if !matches!(signer.cross_certification, Refused(BackSignatureFlaw::WeakDigest(_))) {
                report_flaw(streams, signer);
            }
            streams.considered(&signer.primary());
        }
        report.result(streams, "BADSIG", "BAD signature from");
    } else {
        report.valid(streams, examined, gnupg);
    }
    if settings.verbose > 0 {
        report.algorithms(streams);
    }
}

/// A signature whose key was found.
struct Report<'a> {
    settings: &'a Settings,
    statement: &'a SignatureContents,
    signer: &'a CandidateSigner,
    trust: &'a UserTrust,
    /// Its key was in it, and is imported.
    is_included: bool,
}

impl Report<'_> {
    /// Says whether the signature was checked with the key in it, and is not checked again: gpg 2.2 remembers it.
    fn is_checked_before(&self) -> bool {
        self.is_included && self.settings.compat < Compat::V2_4
    }

    /// Returns the flags that gpg 2.4 tells a key with that cannot have made the signature; it counts as missing then.
    fn passed_over(&self, gnupg: GnupgVerdict) -> Option<u8> {
        let Self { settings, signer, .. } = *self;
        let signs = signer.state().usage.contains(Usage::SIGN);
        let is_passed_over = match gnupg {
            GnupgVerdict::KeyFromFuture | GnupgVerdict::Refused(Objection::WrongUse) => true,
            GnupgVerdict::Refused(Objection::BeforeKey) | GnupgVerdict::WeakDigest => !signs,
            _ => false,
        };
        let flags = if signer.key().fingerprint == signer.primary() { 1 } else { 3 };
        (is_passed_over && settings.compat >= Compat::V2_4).then_some(flags)
    }

    /// Returns gpg's code for why the signature is not checked, and writes the messages that gpg writes before it.
    fn unchecked(&self, streams: &mut Streams, gnupg: GnupgVerdict) -> Option<Code> {
        let Self { settings, statement, signer, .. } = *self;
        Some(match gnupg {
            GnupgVerdict::Refused(Objection::BeforeKey) => {
                report_newer_key(streams, signer, statement.created);
                Code::TIME_CONFLICT
            }
            GnupgVerdict::KeyFromFuture => Code::BAD_PUBLIC_KEY,
            GnupgVerdict::WeakDigest => {
                report_rejected(streams, statement.hash);
                Code::INVALID_DIGEST
            }
            GnupgVerdict::Refused(Objection::WrongUse) => {
                if !settings.quiet {
                    let (key, code) = (signer.key().fingerprint.key_id(), Code::WRONG_KEY_USAGE);
                    let (kind, uses) = (statement.kind.0, gcrypt_usage(signer.state().usage));
                    streams.info(format_args!(
                        "bad data signature from key {key}: {code} ({kind:#04x}, {uses:#x})"
                    ));
                }
                Code::WRONG_KEY_USAGE
            }
            GnupgVerdict::Refused(Objection::Unbound) => Code::GENERAL,
            GnupgVerdict::Refused(Objection::NotCrossCertified) => {
                report_not_cross_certified(streams, signer);
                Code::GENERAL
            }
            _ => return None,
        })
    }

    fn valid(&self, streams: &mut Streams, examined: &ExaminedSignature, gnupg: GnupgVerdict) {
        let Self { settings, statement, signer, trust, .. } = *self;
        let key_end = signer.expires().filter(|end| *end < settings.now);
        if let Some(end) = key_end.filter(|_| settings.program == Program::Gpgv) {
            streams.status(format!("KEYEXPIRED {}", end.0));
        }
        if !self.is_checked_before() {
            signature_id::report(streams, examined, statement);
            if settings.compat < Compat::V2_4 {
                streams.considered(&signer.primary());
            }
        }
        let (keyword, words) = match gnupg {
            GnupgVerdict::Expired => ("EXPSIG", "Expired signature from"),
            GnupgVerdict::Valid(Some(Objection::Expired)) => ("EXPKEYSIG", "Good signature from"),
            GnupgVerdict::Valid(Some(_)) => ("REVKEYSIG", "Good signature from"),
            _ => ("GOODSIG", "Good signature from"),
        };
        self.result(streams, keyword, words);
        if signer.user_id().is_some() && !settings.verify.primary_uid_only {
            self.other_names(streams);
        }
        for policy in &statement.policies {
            if settings.verify.policy_urls {
                streams.info_bytes(&[b"Signature policy: ", &policy[..]].concat());
                streams.blank_line_before_next();
            }
            streams.status(status::with_word("POLICY_URL", policy));
        }
        if let Some(PreferredKeyserver { url, critical }) = &statement.preferred_keyserver {
            if settings.verify.keyserver_urls {
                let label =
                    if *critical { &b"Critical preferred keyserver: "[..] } else { b"Preferred keyserver: " };
                streams.info_bytes(&[label, url.as_slice()].concat());
                streams.blank_line_before_next();
            }
            let flags = 1 + 2 * u8::from(*critical);
            streams.status(status::with_word(format_args!("SIG_SUBPACKET 24 {flags} {}", url.len()), url));
        }
        for notation in &statement.notations {
            report_notation(settings, streams, notation);
        }
        let SignatureContents { version, created, .. } = statement;
        let (key, primary, day) = (signer.key().fingerprint, signer.primary(), clock::day_string(*created));
        let (time, expires) = (created.0, statement.expires.map_or(0, |end| end.0));
        let (algorithm, digest, kind) = (statement.key_algorithm.0, statement.hash.0, statement.kind.0);
        streams.status(format!(
            "VALIDSIG {key} {day} {time} {expires} {version} 0 {algorithm} {digest} {kind:02X} {primary}"
        ));
        assertions::check(settings, streams, signer.key(), &primary);
        if settings.program == Program::Gpg {
            if settings.compat < Compat::V2_4 {
                streams.considered(&signer.primary());
            }
            if !trust.first_uses.is_empty() {
                self.first_use(streams);
            }
            certainty::report(settings, streams, statement, signer, trust);
        }
        if let Some(end) = statement.expires {
            let word = if gnupg == GnupgVerdict::Expired { "expired" } else { "expires" };
            streams.info(format_args!("Signature {word} {}", clock::long_string(end)));
        }
    }

    /// Reports the result with the primary user ID.
    fn result(&self, streams: &mut Streams, keyword: &str, words: &str) {
        let Self { settings, statement, signer, .. } = self;
        let key_id = statement.issuer.key_id;
        let user_id = signer.user_id().unwrap_or(b"[?]");
        streams.status(status::with_escaped_text(format_args!("{keyword} {key_id}"), user_id));
        let index = signer.effective.primary_user_id(&signer.certificate.facts);
        let shown = index.filter(|_| settings.verify.uid_validity);
        let validity = shown.map(|index| format!(" [{}]", self.word(index))).unwrap_or_default();
        streams.info_bytes(&[words.as_bytes(), b" \"", user_id, b"\"", validity.as_bytes()].concat());
    }

    /// Reports what trust on first use knows of the user IDs that the signature names as its signer's.
    fn first_use(&self, streams: &mut Streams) {
        let Self { settings, statement, signer, trust, .. } = *self;
        let address = statement.user_id.as_deref().map(BoundAddress::of_user_id);
        let is_meant = |user_id: &[u8]| {
            address.as_ref().is_none_or(|address| *address == BoundAddress::of_user_id(user_id))
        };
        let facts = &signer.certificate.facts;
        let known = recipients::first_uses(facts, &signer.effective, trust, &is_meant);
        first_use::report(settings, streams, &signer.primary(), &known);
    }

    fn other_names(&self, streams: &mut Streams) {
        let Self { settings, signer, .. } = self;
        let facts = &signer.certificate.facts;
        let primary = signer.effective.primary_user_id(facts);
        let components = facts.components.iter().zip(&signer.effective.components);
        for (index, (component, state)) in components.enumerate() {
            let (ComponentKind::UserId(user_id), ComponentState::User(state)) = (&component.kind, state)
            else {
                continue;
            };
            let validity = match (state.revoked, state.expired) {
                (true, _) => "revoked",
                (false, true) => "expired",
                (false, false) => self.word(index),
            };
            let is_unusable = state.revoked || state.expired;
            if Some(index) == primary || (is_unusable && !settings.verify.unusable_uids) {
                continue;
            }
            let end = match settings.verify.uid_validity {
                true => format!("\" [{validity}]"),
                false => "\"".to_owned(),
            };
            streams.info_bytes(&[b"                aka \"", &user_id[..], end.as_bytes()].concat());
        }
    }

    /// Returns the word for the validity of a user ID; as in gpg, none is valid on an expired key.
    fn word(&self, index: usize) -> &'static str {
        match self.signer.effective.primary().expired {
            true => "expired",
            false => self.trust.of_component(index).word(),
        }
    }

    fn algorithms(&self, streams: &mut Streams) {
        let kind = match self.statement.kind {
            SignatureType::BINARY => "binary",
            SignatureType::TEXT => "textmode",
            _ => "unknown",
        };
        let digest = digest_name(self.statement.hash.0);
        let mut line = format!("{kind} signature, digest algorithm {digest}, key algorithm ").into_bytes();
        description(self.signer.key(), false, self.settings.compat, &mut line);
        streams.info_bytes(&line);
    }
}

/// Reports that a key is newer than its signature.
/// Returns what gpg does not object to: it does not compare a signature's time with the clock.
fn overlooked(settings: &Settings) -> &'static [Objection] {
    match settings.ignore_time_conflict {
        true => &[Objection::FromFuture, Objection::BeforeKey],
        false => &[Objection::FromFuture],
    }
}

fn report_key_from_future(streams: &mut Streams, signer: &CandidateSigner, now: Timestamp) {
    let primary = signer.certificate.facts.primary();
    let (key, later) = (primary.fingerprint.key_id(), time_between(primary.created, now));
    streams.info(format_args!("key {key} was created {later} in the future (time warp or clock problem)"));
}

fn report_newer_key(streams: &mut Streams, signer: &CandidateSigner, signed: Timestamp) {
    let (key, later) = (signer.key().fingerprint.key_id(), time_between(signer.key().created, signed));
    streams.info(format_args!("public key {key} is {later} newer than the signature"));
}

/// Returns the uses of a key as libgcrypt's numbers.
fn gcrypt_usage(usage: Usage) -> u32 {
    let numbers = [
        (Usage::SIGN, 1),
        (Usage::ENCRYPT, 2),
        (Usage::CERTIFY, 4),
        (Usage::AUTHENTICATE, 8),
        (Usage::OTHER, 128),
    ];
    numbers.iter().filter(|(single, _)| usage.contains(*single)).map(|(_, number)| number).sum()
}

/// Reports what is wrong with a back-signature; gpg finds it when it looks the key up.
fn report_flaw(streams: &mut Streams, signer: &CandidateSigner) {
    let CrossCertification::Refused(flaw) = signer.cross_certification else { return };
    let key = signer.key().fingerprint.key_id();
    match flaw {
        BackSignatureFlaw::WeakDigest(hash) => report_rejected(streams, hash),
        BackSignatureFlaw::BeforeKey(signed) => report_newer_key(streams, signer, signed),
        BackSignatureFlaw::UnknownDemand => {
            let line = format_args!("assuming bad signature from key {key} due to an unknown critical bit");
            streams.info(line);
        }
        BackSignatureFlaw::Expired => {
            streams.info(format_args!("cross-certification of subkey {key} has expired"))
        }
        BackSignatureFlaw::Unchecked => {
            streams.info(format_args!("subkey {key} has too many cross-certifications"));
        }
        BackSignatureFlaw::Bad => {}
    }
}

/// Reports that a signing subkey has no valid back-signature.
fn report_not_cross_certified(streams: &mut Streams, signer: &CandidateSigner) {
    const PAGE: &str = "https://gnupg.org/faq/subkey-cross-certify.html";
    let key = signer.key().fingerprint.key_id();
    if let CrossCertification::Refused(_) = signer.cross_certification {
        streams.info(format_args!("WARNING: signing subkey {key} has an invalid cross-certification"));
    } else {
        streams.info(format_args!("WARNING: signing subkey {key} is not cross-certified"));
        streams.info(format_args!("please see {PAGE} for more information"));
    }
}

/// Reports the contents of a signature: when it was made, and by which key.
fn report_statement(streams: &mut Streams, statement: &SignatureContents) {
    let SignatureContents { issuer, created, key_algorithm, user_id, .. } = statement;
    match user_id {
        Some(user_id) => streams.status(status::with_word("NEWSIG", user_id)),
        None => streams.status("NEWSIG"),
    }
    let algorithm = public_key_name(key_algorithm.0);
    let key = issuer.fingerprint.map_or_else(|| issuer.key_id.to_string(), |key| key.to_string());
    streams.info(format_args!("Signature made {}", clock::long_string(*created)));
    streams.info(format_args!("               using {algorithm} key {key}"));
    if let Some(user_id) = user_id {
        streams.info_bytes(&[b"               issuer \"", &user_id[..], b"\""].concat());
    }
}

fn report_unchecked(streams: &mut Streams, statement: &SignatureContents, code: Code) {
    let SignatureContents { issuer, created, key_algorithm, hash, kind, .. } = statement;
    let (key_id, algorithm, digest, kind) = (issuer.key_id, key_algorithm.0, hash.0, kind.0);
    let (time, number) = (created.0, code.bare());
    let key = issuer.fingerprint.map_or_else(|| "-".to_owned(), |key| key.to_string());
    streams.status(format!("ERRSIG {key_id} {algorithm} {digest} {kind:02x} {time} {number} {key}"));
    if code == Code::NO_PUBLIC_KEY {
        streams.status(format!("NO_PUBKEY {key_id}"));
    }
    streams.error(format_args!("Can't check signature: {code}"));
}

fn report_notation(settings: &Settings, streams: &mut Streams, notation: &Notation) {
    let Notation { name, value, readable, critical } = notation;
    let flags = &settings.verify;
    // Users' notations name a domain.
    let is_shown = if name.contains(&b'@') { flags.user_notations } else { flags.std_notations };
    if is_shown {
        let what: &[u8] = match critical {
            true => b"Critical signature notation: ",
            false => b"Signature notation: ",
        };
        let mut line = [what, &name[..], b"="].concat();
        match readable {
            true => line.extend(value),
            false => binary_value(value, &mut line),
        }
        streams.info_bytes(&line);
    }
    streams.status(status::with_word("NOTATION_NAME", name));
    if *critical || *readable {
        streams.status(format!("NOTATION_FLAGS {} {}", u8::from(*critical), u8::from(*readable)));
    }
    streams.status(status::with_word("NOTATION_DATA", value));
}
