//! Reports on signatures over content: who signed, whether the signature is good, and how certain it is whose the key
//! is.

mod certainty;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use keyhoard::cert::effective::objections::{BackSignatureFlaw, CrossCertification, Objection};
use keyhoard::cert::effective::{ComponentState, EvaluationContext, PacketView, Usage};
use keyhoard::cert::facts::{ComponentKind, SignatureType};
use keyhoard::cert::{BoundAddress, Timestamp};
use keyhoard::listing::UserTrust;
use keyhoard::message::{DataSignature, HashHeaders};
use keyhoard::recipients;
use keyhoard::store::Fingerprint;
use keyhoard::trust::Validity;
use keyhoard::validity::ValidityResult;
use keyhoard::verification::{
    CandidateSigner, ExaminedSignature, Notation, SignatureContents, SignaturePolicy, Signer, SignerSearch,
    remember,
};
use keyhoard::verify::HashAlgorithm;
use keyhoard::verify::hash::Hasher;

use super::first_use;
use crate::algorithms::{digest_name, public_key_name};
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::program::Program;
use crate::render::algorithm::description;
use crate::settings::Settings;
use crate::status::{SignatureStatus, Status, Valid};
use crate::streams::Streams;
use crate::{clock, trust};

/// Examines signatures and reports the results, unless `--list-only` is given. With `--batch` gpg ends after a bad one;
/// says whether to go on.
///
/// `announced` are the hash algorithms in the `Hash` headers of clear text. As in gpg, a signature with another hash
/// algorithm is not checked, and none is if a header names an unknown one.
pub(super) fn report(
    settings: &Settings,
    streams: &mut Streams,
    signatures: Vec<DataSignature>,
    announced: Option<&HashHeaders>,
) -> anyhow::Result<bool> {
    if settings.message.list_only {
        return Ok(true);
    }
    let keyrings = Keyrings::open(settings, streams)?;
    let mut trust_settings = trust::settings(settings);
    trust_settings.tofu.with_info = trust_settings.model.remembers();
    let outside = match settings.program {
        Program::Gpg => trust::outside(&settings.home, &keyrings)?,
        Program::Gpgv => None,
    };
    let outside = outside.as_ref().map(|store| store.snapshot()).transpose()?;
    let snapshots = keyrings.snapshots()?;
    let sources = trust::sources(&settings.home, &snapshots, outside.as_deref())?;
    let moment = EvaluationContext::new(settings.now, PacketView::Gnupg);
    let digests = settings.digests;
    let examined = SignerSearch::new(sources.certificates.clone(), moment, digests).examine(signatures)?;
    let store = keyrings.store().filter(|_| trust_settings.model.remembers());
    let remembered = store.map_or(Ok(()), |store| {
        let policy = SignaturePolicy {
            notations: &settings.message.known_notations,
            // gpg does not compare a signature's time with the clock.
            overlooked: &[Objection::FromFuture],
            ..SignaturePolicy::new(digests, settings.now)
        };
        let seen: Vec<&ExaminedSignature> =
            examined.iter().filter(|signature| is_announced(signature, announced)).collect();
        remember(store, &seen, "", "gpg-keyhoard --verify", &policy)
    });
    // What is remembered now counts already.
    let snapshots = keyrings.snapshots()?;
    let sources = trust::sources(&settings.home, &snapshots, outside.as_deref())?;
    let signers: Vec<&CandidateSigner> =
        examined.iter().filter_map(|signature| signature.outcome.maker()).collect();
    let keys: Vec<Fingerprint> = signers.iter().map(|signer| signer.primary()).collect();
    let validity_result = ValidityResult::of(&keys, &sources, &trust_settings)?;
    for signature in &examined {
        let is_bad = match &signature.statement {
            Some(statement) => {
                report_signature(settings, streams, signature, statement, announced, &validity_result)?
            }
            None => {
                streams.error("Can't check signature: Unknown version");
                false
            }
        };
        if is_bad {
            streams.count_bad_signature();
            if settings.batch {
                streams.status_failure("gpg-exit", Code::General);
                return Ok(false);
            }
        }
    }
    // The signatures are reported even if the database cannot be written to.
    remembered?;
    Ok(true)
}

/// Reports one signature; returns whether it is bad.
fn report_signature(
    settings: &Settings,
    streams: &mut Streams,
    examined: &ExaminedSignature,
    statement: &SignatureContents,
    announced: Option<&HashHeaders>,
    validity_result: &ValidityResult<'_>,
) -> anyhow::Result<bool> {
    report_statement(streams, statement);
    // gpg does not look for the key of a signature whose hash algorithm is not announced.
    if let Some(signer) = examined.outcome.maker().filter(|_| is_announced(examined, announced)) {
        report_flaw(streams, signer);
        streams.considered(&signer.primary());
    }
    match (&examined.outcome, unchecked(settings, streams, examined, statement, announced)) {
        (_, Some(code)) => {
            report_unchecked(streams, statement, code);
            Ok(false)
        }
        (Signer::Good(signer), None) if !examined.has_unknown_critical(&settings.message.known_notations) => {
            report_end_of(settings, streams, signer);
            report_id(streams, examined, statement);
            streams.considered(&signer.primary());
            let facts = &signer.certificate.facts;
            let trust = validity_result.trust((signer.source, signer.id), facts, &signer.effective)?;
            report_good(settings, streams, signer, statement, &trust);
            report_algorithms(settings, streams, signer, statement);
            Ok(statement.expires.is_some_and(|end| end <= settings.now) || trust.key == Validity::Never)
        }
        (Signer::Good(signer) | Signer::Bad(signer), None) => {
            // gpg looks the key up once more, but reports only once that an algorithm is rejected.
            if !matches!(
                signer.cross_certification,
                CrossCertification::Refused(BackSignatureFlaw::WeakDigest(_))
            ) {
                report_flaw(streams, signer);
            }
            streams.considered(&signer.primary());
            let trust = validity_result.trust(
                (signer.source, signer.id),
                &signer.certificate.facts,
                &signer.effective,
            )?;
            report_result(settings, streams, signer, statement, &trust, Result::BAD);
            report_algorithms(settings, streams, signer, statement);
            Ok(true)
        }
        (Signer::NoKey | Signer::Unsupported | Signer::Undecided, None) => {
            unreachable!("these have a code")
        }
    }
}

/// Returns gpg's code for why a signature cannot be checked, and writes the messages that gpg writes before it.
fn unchecked(
    settings: &Settings,
    streams: &mut Streams,
    examined: &ExaminedSignature,
    statement: &SignatureContents,
    announced: Option<&HashHeaders>,
) -> Option<Code> {
    let signer = match &examined.outcome {
        Signer::Good(signer) | Signer::Bad(signer) => signer,
        Signer::NoKey => return Some(Code::NoPublicKey),
        Signer::Undecided => {
            streams.info("too many certificates claim the key of this signature");
            return Some(Code::General);
        }
        Signer::Unsupported if HashAlgorithm::name(statement.hash).is_none() => {
            return Some(Code::InvalidDigest);
        }
        Signer::Unsupported => return Some(Code::InvalidPublicKeyAlgorithm),
    };
    if !is_announced(examined, announced) {
        streams.error("WARNING: signature digest conflict in message");
        return Some(Code::General);
    }
    let objections = signer.objections(statement, settings.now);
    if objections.contains(Objection::BeforeKey) {
        report_newer_key(streams, signer, statement.created);
        return Some(Code::TimeConflict);
    }
    if signer.certificate.facts.primary().created > settings.now {
        report_key_from_future(settings, streams, signer);
        return Some(Code::BadPublicKey);
    }
    if settings.digests.is_weak(statement.hash) {
        report_rejected(streams, statement.hash);
        return Some(Code::InvalidDigest);
    }
    if objections.contains(Objection::WrongUse) && !objections.contains(Objection::Unbound) {
        report_wrong_use(settings, streams, signer, statement);
        return Some(Code::WrongKeyUsage);
    }
    let is_good = matches!(examined.outcome, Signer::Good(_));
    if is_good && objections.contains(Objection::Unbound) {
        return Some(Code::General);
    }
    if is_good && objections.contains(Objection::NotCrossCertified) {
        report_not_cross_certified(streams, signer);
        return Some(Code::General);
    }
    None
}

/// Reports that a key is newer than its signature.
fn report_newer_key(streams: &mut Streams, signer: &CandidateSigner, signed: Timestamp) {
    let (key, later) = (signer.key().fingerprint.key_id(), later(signer.key().created, signed));
    streams.info(format_args!("public key {key} is {later} newer than the signature"));
}

/// Reports that a certificate's primary key has a creation time in the future.
fn report_key_from_future(settings: &Settings, streams: &mut Streams, signer: &CandidateSigner) {
    let primary = signer.certificate.facts.primary();
    let (key, later) = (primary.fingerprint.key_id(), later(primary.created, settings.now));
    let line = format_args!("key {key} was created {later} in the future (time warp or clock problem)");
    streams.info(line);
}

/// Returns the span between two times, in days, or in seconds if it is less than a day.
fn later(signature: Timestamp, other: Timestamp) -> String {
    const DAY: u32 = 86_400;
    let seconds = signature.0.saturating_sub(other.0);
    let (count, unit) = if seconds < DAY { (seconds, "second") } else { (seconds / DAY, "day") };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn report_rejected(streams: &mut Streams, hash: HashAlgorithm) {
    let name = digest_name(hash.0);
    streams.info(format_args!("Note: signatures using the {name} algorithm are rejected"));
}

/// Reports that a key is not for signing, with its uses as libgcrypt's numbers.
fn report_wrong_use(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    statement: &SignatureContents,
) {
    let numbers = [
        (Usage::SIGN, 1),
        (Usage::ENCRYPT, 2),
        (Usage::CERTIFY, 4),
        (Usage::AUTHENTICATE, 8),
        (Usage::OTHER, 128),
    ];
    let usage = signer.state().usage;
    let uses: u32 =
        numbers.iter().filter(|(signature, _)| usage.contains(*signature)).map(|(_, number)| number).sum();
    let (key, code, kind) = (signer.key().fingerprint.key_id(), Code::WrongKeyUsage, statement.kind.0);
    if !settings.quiet {
        let line = format_args!("bad data signature from key {key}: {code} ({kind:#04x}, {uses:#x})");
        streams.info(line);
    }
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
        let line = format_args!("WARNING: signing subkey {key} has an invalid cross-certification");
        streams.info(line);
    } else {
        streams.info(format_args!("WARNING: signing subkey {key} is not cross-certified"));
        streams.info(format_args!("please see {PAGE} for more information"));
    }
}

/// Reports that the `Hash` headers of clear text name an unknown hash algorithm.
pub(super) fn report_unknown_digest(streams: &mut Streams) {
    streams.error("invalid clearsig header");
}

/// Says whether the `Hash` headers of clear text name a signature's hash algorithm; `true` for all other content.
fn is_announced(examined: &ExaminedSignature, announced: Option<&HashHeaders>) -> bool {
    match (announced, &examined.statement) {
        (Some(announced), Some(statement)) => {
            !announced.has_unknown && announced.digests.contains(&statement.hash)
        }
        _ => true,
    }
}

/// Reports the contents of a signature: when it was made, and by which key.
fn report_statement(streams: &mut Streams, statement: &SignatureContents) {
    let SignatureContents { issuer, created, key_algorithm, user_id, .. } = statement;
    streams.status(SignatureStatus::New { user_id: user_id.as_deref() });
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
    let key_id = issuer.key_id.to_string();
    streams.status(SignatureStatus::Unchecked {
        key_id: key_id.clone(),
        algorithm: key_algorithm.0,
        digest: hash.0,
        kind: kind.0,
        time: created.0,
        code: code.bare(),
        key: issuer.fingerprint.map(|key| key.to_string()),
    });
    if code == Code::NoPublicKey {
        streams.status(SignatureStatus::NoKey { key_id });
    }
    streams.error(format_args!("Can't check signature: {code}"));
}

/// Writes a `SIG_ID` line: a hash that identifies the signature.
fn report_id(streams: &mut Streams, examined: &ExaminedSignature, statement: &SignatureContents) {
    let Some(signature) = examined.signature.parsed() else { return };
    let Some(mut hasher) = Hasher::new(HashAlgorithm::SHA1) else { return };
    hasher.update(&[statement.key_algorithm.0, statement.hash.0]);
    hasher.update(&statement.created.0.to_be_bytes());
    hasher.update(signature.material);
    let Some(digest) = hasher.finish() else { return };
    let text = STANDARD_NO_PAD.encode(digest.as_bytes());
    let day = clock::day_string(statement.created);
    streams.status(SignatureStatus::Id { text, day, time: statement.created.0 });
}

/// The keyword and the words for a result.
struct Result {
    keyword: &'static str,
    words: &'static str,
}

impl Result {
    const BAD: Self = Self { keyword: "BADSIG", words: "BAD signature from" };

    fn of_valid(signer: &CandidateSigner, statement: &SignatureContents, settings: &Settings) -> Self {
        let objections = signer.objections(statement, settings.now);
        let (keyword, words) = if statement.expires.is_some_and(|end| end <= settings.now) {
            ("EXPSIG", "Expired signature from")
        } else if objections.contains(Objection::Ended) {
            ("EXPKEYSIG", "Good signature from")
        } else if objections.contains(Objection::Revoked) {
            ("REVKEYSIG", "Good signature from")
        } else {
            ("GOODSIG", "Good signature from")
        };
        Self { keyword, words }
    }
}

/// Reports what trust on first use knows of the user IDs that the signature names as its signer's.
fn report_first_use(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    statement: &SignatureContents,
    trust: &UserTrust,
) {
    let address = statement.user_id.as_deref().map(BoundAddress::of_user_id);
    let is_meant =
        |user_id: &[u8]| address.as_ref().is_none_or(|address| *address == BoundAddress::of_user_id(user_id));
    let facts = &signer.certificate.facts;
    let known = recipients::first_uses(facts, &signer.effective, trust, &is_meant);
    first_use::report(settings, streams, &signer.primary(), &known);
}

fn report_good(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    statement: &SignatureContents,
    trust: &UserTrust,
) {
    let result = Result::of_valid(signer, statement, settings);
    if report_result(settings, streams, signer, statement, trust, result) && !settings.verify.primary_uid_only
    {
        report_other_names(settings, streams, signer, trust);
    }
    for policy in &statement.policies {
        if settings.verify.policy_urls {
            streams.info_bytes(&[b"Signature policy: ", &policy[..]].concat());
            streams.owe_line();
        }
        streams.status(SignatureStatus::Policy(policy));
    }
    for notation in &statement.notations {
        report_notation(settings, streams, notation);
    }
    streams.status(SignatureStatus::Valid(Valid {
        key: signer.key().fingerprint.to_string(),
        day: clock::day_string(statement.created),
        time: statement.created.0,
        expires: statement.expires.map_or(0, |end| end.0),
        version: statement.version,
        algorithm: statement.key_algorithm.0,
        digest: statement.hash.0,
        kind: statement.kind.0,
        primary: signer.primary().to_string(),
    }));
    if settings.program == Program::Gpg {
        streams.considered(&signer.primary());
        if !trust.first_uses.is_empty() {
            report_first_use(settings, streams, signer, statement, trust);
        }
        certainty::report(settings, streams, signer, trust);
    }
    if let Some(end) = statement.expires {
        let word = if end <= settings.now { "expired" } else { "expires" };
        streams.info(format_args!("Signature {word} {}", clock::long_string(end)));
    }
}

/// Returns what gpg shows of a binary notation value.
fn preview(value: &[u8]) -> Vec<u8> {
    const MAX_SHOWN: usize = 19;
    let shown =
        value.iter().take(MAX_SHOWN).map(|byte| if (b' '..=b'~').contains(byte) { *byte } else { b'?' });
    let dots = if value.len() > MAX_SHOWN { "..." } else { "" };
    let shown = String::from_utf8_lossy(&shown.collect::<Vec<u8>>()).into_owned();
    format!("[ not human readable ({} bytes: {shown}{dots}) ]", value.len()).into_bytes()
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
        let shown = if *readable { value.clone() } else { preview(value) };
        streams.info_bytes(&[what, &name[..], b"=", &shown].concat());
    }
    streams.status(SignatureStatus::NotationName(name));
    if *critical || *readable {
        streams.status(SignatureStatus::NotationFlags { critical: *critical, readable: *readable });
    }
    streams.status(SignatureStatus::NotationData(value));
}

/// Reports the result with the primary user ID; returns whether there is one.
fn report_result(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    statement: &SignatureContents,
    trust: &UserTrust,
    result: Result,
) -> bool {
    let key_id = statement.issuer.key_id.to_string();
    let index = signer.effective.primary_user_id(&signer.certificate.facts);
    let user_id = signer.user_id().unwrap_or(b"[?]");
    let head = [result.words.as_bytes(), b" \"", user_id, b"\""].concat();
    let Result { keyword, .. } = result;
    streams.status(SignatureStatus::Result { keyword, key_id, user_id });
    let shown = index.filter(|_| settings.verify.uid_validity);
    let validity = shown.map(|index| format!(" [{}]", word(signer, trust, index))).unwrap_or_default();
    streams.info_bytes(&[&head, validity.as_bytes()].concat());
    index.is_some()
}

fn report_other_names(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    trust: &UserTrust,
) {
    let facts = &signer.certificate.facts;
    let primary = signer.effective.primary_user_id(facts);
    for (index, (component, state)) in facts.components.iter().zip(&signer.effective.components).enumerate() {
        let (ComponentKind::UserId(user_id), ComponentState::User(state)) = (&component.kind, state) else {
            continue;
        };
        let is_unusable = state.revoked || state.expired;
        if Some(index) == primary || (is_unusable && !settings.verify.unusable_uids) {
            continue;
        }
        let validity = match (state.revoked, state.expired) {
            (true, _) => "revoked",
            (false, true) => "expired",
            (false, false) => word(signer, trust, index),
        };
        let end = match settings.verify.uid_validity {
            true => format!("\" [{validity}]"),
            false => "\"".to_owned(),
        };
        streams.info_bytes(&[b"                aka \"", &user_id[..], end.as_bytes()].concat());
    }
}

/// Returns the word for the validity of a user ID; as in gpg, none is valid on an expired key.
fn word(signer: &CandidateSigner, trust: &UserTrust, index: usize) -> &'static str {
    if signer.effective.primary().expired {
        return "expired";
    }
    trust.user_ids.get(index).copied().unwrap_or_default().word()
}

/// Reports the algorithms of a signature, with `--verbose`.
fn report_algorithms(
    settings: &Settings,
    streams: &mut Streams,
    signer: &CandidateSigner,
    statement: &SignatureContents,
) {
    if settings.verbose == 0 {
        return;
    }
    let kind = match statement.kind {
        SignatureType::BINARY => "binary",
        SignatureType::TEXT => "textmode",
        _ => "unknown",
    };
    let digest = digest_name(statement.hash.0);
    let mut line = format!("{kind} signature, digest algorithm {digest}, key algorithm ").into_bytes();
    description(signer.key(), false, &mut line);
    streams.info_bytes(&line);
}

/// Writes gpgv's `KEYEXPIRED` line for an expired key.
fn report_end_of(settings: &Settings, streams: &mut Streams, signer: &CandidateSigner) {
    let end = signer.expires().filter(|end| *end < settings.now && settings.program == Program::Gpgv);
    if let Some(end) = end {
        streams.status(Status::KeyExpired { time: end.0 });
    }
}
