//! What is told of signatures over content: whose they are, whether they are good, and how certain it is whose the key
//! is.

mod certainty;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use keyhoard::cert::BoundAddress;
use keyhoard::cert::effective::{Moment, State, View};
use keyhoard::cert::facts::{ComponentKind, SignatureType};
use keyhoard::listing::Trust;
use keyhoard::message::{Announced, DataSignature};
use keyhoard::recipients;
use keyhoard::store::Fingerprint;
use keyhoard::trust::Validity;
use keyhoard::validity::Appraisal;
use keyhoard::verification::{Examined, Maker, Makers, Notation, Outcome, Statement, remember};
use keyhoard::verify::HashAlgorithm;
use keyhoard::verify::hash::Hasher;

use super::{Session, first_use};
use crate::algorithms::{digest_name, public_key_name};
use crate::code::Code;
use crate::keyrings::Keyrings;
use crate::render::algorithm::description;
use crate::settings::Program;
use crate::status::{SignatureStatus, Status, Valid};
use crate::{clock, trust};

/// Examines signatures and tells what came of them, but with `--list-only`. After a bad one gpg ends with `--batch`;
/// says whether to go on.
///
/// `announced` are the digests that the headers of clear text name: as in gpg, a signature over clear text with another
/// one is not checked, nor any if they name one that is not known.
pub(super) fn tell(
    session: &mut Session<'_>,
    signatures: Vec<DataSignature>,
    announced: Option<&Announced>,
) -> anyhow::Result<bool> {
    if session.settings.message.list_only {
        return Ok(true);
    }
    let keyrings = Keyrings::open(session)?;
    let mut settings = trust::settings(&session.settings, session.now);
    settings.tofu.with_info = settings.model.remembers();
    let outside = match session.settings.program {
        Program::Gpg => trust::outside(&session.home, &keyrings)?,
        Program::Gpgv => None,
    };
    let outside = outside.as_ref().map(|store| store.snapshot()).transpose()?;
    let snapshots = keyrings.snapshots()?;
    let sources = trust::sources(&session.home, &snapshots, outside.as_deref())?;
    let moment = Moment::new(session.now, View::Gnupg);
    let examined = Makers::new(sources.certificates.clone(), moment).examine(signatures)?;
    let store = keyrings.store().filter(|_| settings.model.remembers());
    let remembered = store.map_or(Ok(()), |store| {
        let good: Vec<&Examined> = examined.iter().filter(|one| is_announced(one, announced)).collect();
        remember(store, &good, "", "gpg-keyhoard --verify", session.now)
    });
    // What is remembered now counts already.
    let snapshots = keyrings.snapshots()?;
    let sources = trust::sources(&session.home, &snapshots, outside.as_deref())?;
    let makers: Vec<&Maker> = examined.iter().filter_map(|one| one.outcome.maker()).collect();
    let keys: Vec<Fingerprint> = makers.iter().map(|maker| maker.primary()).collect();
    let appraisal = Appraisal::of(&keys, &sources, &settings)?;
    for one in &examined {
        let is_bad = match &one.statement {
            Some(statement) => tell_one(session, one, statement, announced, &appraisal)?,
            None => {
                session.streams.error("Can't check signature: Unknown version");
                false
            }
        };
        session.has_bad_signature |= is_bad;
        if is_bad && session.settings.batch {
            session.streams.status_failure("gpg-exit", Code::General);
            return Ok(false);
        }
    }
    // Where nothing can be written, what the signatures are worth is told nevertheless.
    remembered?;
    Ok(true)
}

/// Tells of one signature; says whether it is bad.
fn tell_one(
    session: &mut Session<'_>,
    examined: &Examined,
    statement: &Statement,
    announced: Option<&Announced>,
    appraisal: &Appraisal<'_>,
) -> anyhow::Result<bool> {
    tell_statement(session, statement);
    // gpg looks for the key of no signature whose digest is not announced.
    if let Some(maker) = examined.outcome.maker().filter(|_| is_announced(examined, announced)) {
        session.considered(&maker.primary());
    }
    match (&examined.outcome, unchecked(session, examined, statement, announced)) {
        (_, Some(code)) => {
            tell_unchecked(session, statement, code);
            Ok(false)
        }
        (Outcome::Good(maker), None) if !demands_more(session, examined, statement) => {
            session.tell_end_of(maker);
            tell_id(session, examined, statement);
            session.considered(&maker.primary());
            let facts = &maker.certificate.facts;
            let trust = appraisal.trust((maker.source, maker.id), facts, &maker.effective)?;
            tell_good(session, maker, statement, &trust);
            tell_algorithms(session, maker, statement);
            Ok(statement.expires.is_some_and(|end| end <= session.now) || trust.key == Validity::Never)
        }
        (Outcome::Good(maker) | Outcome::Bad(maker), None) => {
            session.considered(&maker.primary());
            let trust =
                appraisal.trust((maker.source, maker.id), &maker.certificate.facts, &maker.effective)?;
            tell_result(session, maker, statement, &trust, Result::BAD);
            tell_algorithms(session, maker, statement);
            Ok(true)
        }
        (Outcome::NoKey | Outcome::Unsupported, None) => unreachable!("these have a code"),
    }
}

/// Says whether a signature demands what nobody understands here, nor the user.
fn demands_more(session: &Session<'_>, examined: &Examined, statement: &Statement) -> bool {
    let known = &session.settings.message.known_notations;
    statement.unknown_critical
        && examined.signature.parsed().is_none_or(|signature| signature.demands_more_than(known))
}

/// Returns gpg's code for why a signature cannot be checked.
fn unchecked(
    session: &mut Session<'_>,
    examined: &Examined,
    statement: &Statement,
    announced: Option<&Announced>,
) -> Option<Code> {
    match &examined.outcome {
        Outcome::NoKey => Some(Code::NoPublicKey),
        Outcome::Unsupported if HashAlgorithm::name(statement.hash).is_none() => Some(Code::InvalidDigest),
        Outcome::Unsupported => Some(Code::InvalidPublicKeyAlgorithm),
        _ if session.settings.digests.is_weak(statement.hash) => {
            let name = digest_name(statement.hash.0);
            session.streams.info(format_args!("Note: signatures using the {name} algorithm are rejected"));
            Some(Code::InvalidDigest)
        }
        _ if !is_announced(examined, announced) => {
            session.streams.error("WARNING: signature digest conflict in message");
            Some(Code::General)
        }
        Outcome::Good(maker) if statement.created < maker.key().created => Some(Code::TimeConflict),
        Outcome::Good(maker) if !maker.state().valid || !maker.is_cross_certified() => Some(Code::General),
        Outcome::Good(_) | Outcome::Bad(_) => None,
    }
}

/// Tells that the headers of clear text name a digest that is not known.
pub(super) fn tell_unknown_digest(session: &mut Session<'_>) {
    session.streams.error("invalid clearsig header");
}

/// Says whether a signature's digest is one of those that the headers of clear text name; all other content has none.
fn is_announced(examined: &Examined, announced: Option<&Announced>) -> bool {
    match (announced, &examined.statement) {
        (Some(announced), Some(statement)) => {
            !announced.has_unknown && announced.digests.contains(&statement.hash)
        }
        _ => true,
    }
}

/// Tells what the signature says of itself.
fn tell_statement(session: &mut Session<'_>, statement: &Statement) {
    let Statement { issuer, created, key_algorithm, user_id, .. } = statement;
    session.tell_signature(SignatureStatus::New { user_id: user_id.as_deref() });
    let algorithm = public_key_name(key_algorithm.0);
    let key = issuer.fingerprint.map_or_else(|| issuer.key_id.to_string(), |key| key.to_string());
    let streams = &mut session.streams;
    streams.info(format_args!("Signature made {}", clock::long_string(*created)));
    streams.info(format_args!("               using {algorithm} key {key}"));
    if let Some(user_id) = user_id {
        streams.info_bytes(&[b"               issuer \"", &user_id[..], b"\""].concat());
    }
}

fn tell_unchecked(session: &mut Session<'_>, statement: &Statement, code: Code) {
    let Statement { issuer, created, key_algorithm, hash, kind, .. } = statement;
    let key_id = issuer.key_id.to_string();
    session.tell_signature(SignatureStatus::Unchecked {
        key_id: key_id.clone(),
        algorithm: key_algorithm.0,
        digest: hash.0,
        kind: kind.0,
        time: created.0,
        code: code.bare(),
        key: issuer.fingerprint.map(|key| key.to_string()),
    });
    if code == Code::NoPublicKey {
        session.tell_signature(SignatureStatus::NoKey { key_id });
    }
    session.streams.error(format_args!("Can't check signature: {code}"));
}

/// Tells what tells this signature from all others: a hash of it.
fn tell_id(session: &mut Session<'_>, examined: &Examined, statement: &Statement) {
    let Some(signature) = examined.signature.parsed() else { return };
    let Some(mut hasher) = Hasher::new(HashAlgorithm::SHA1) else { return };
    hasher.update(&[statement.key_algorithm.0, statement.hash.0]);
    hasher.update(&statement.created.0.to_be_bytes());
    hasher.update(signature.material);
    let Some(digest) = hasher.finish() else { return };
    let text = STANDARD_NO_PAD.encode(digest.as_bytes());
    let day = clock::day_string(statement.created);
    session.tell_signature(SignatureStatus::Id { text, day, time: statement.created.0 });
}

/// How a result is called.
struct Result {
    keyword: &'static str,
    words: &'static str,
}

impl Result {
    const BAD: Self = Self { keyword: "BADSIG", words: "BAD signature from" };

    fn of_good(maker: &Maker, statement: &Statement, session: &Session<'_>) -> Self {
        let (keyword, words) = if statement.expires.is_some_and(|end| end <= session.now) {
            ("EXPSIG", "Expired signature from")
        } else if maker.expires().is_some_and(|end| end <= session.now) {
            ("EXPKEYSIG", "Good signature from")
        } else if maker.state().revoked.is_some() || maker.effective.primary().revoked.is_some() {
            ("REVKEYSIG", "Good signature from")
        } else {
            ("GOODSIG", "Good signature from")
        };
        Self { keyword, words }
    }
}

/// Tells what trust on first use knows of the user IDs that a signature was made as.
fn tell_first_use(session: &mut Session<'_>, maker: &Maker, statement: &Statement, trust: &Trust) {
    let signer = statement.user_id.as_deref().map(BoundAddress::of_user_id);
    let is_meant =
        |user_id: &[u8]| signer.as_ref().is_none_or(|signer| *signer == BoundAddress::of_user_id(user_id));
    let facts = &maker.certificate.facts;
    let known = recipients::first_uses(facts, &maker.effective, trust, &is_meant);
    first_use::tell(session, &maker.primary(), &known);
}

fn tell_good(session: &mut Session<'_>, maker: &Maker, statement: &Statement, trust: &Trust) {
    let result = Result::of_good(maker, statement, session);
    if tell_result(session, maker, statement, trust, result) && !session.settings.verify.primary_uid_only {
        tell_other_names(session, maker, trust);
    }
    for policy in &statement.policies {
        if session.settings.verify.policy_urls {
            session.streams.info_bytes(&[b"Signature policy: ", &policy[..]].concat());
            session.streams.owe_line();
        }
        session.tell_signature(SignatureStatus::Policy(policy));
    }
    for notation in &statement.notations {
        tell_notation(session, notation);
    }
    session.tell_signature(SignatureStatus::Valid(Valid {
        key: maker.key().fingerprint.to_string(),
        day: clock::day_string(statement.created),
        time: statement.created.0,
        expires: statement.expires.map_or(0, |end| end.0),
        version: statement.version,
        algorithm: statement.key_algorithm.0,
        digest: statement.hash.0,
        kind: statement.kind.0,
        primary: maker.primary().to_string(),
    }));
    if session.settings.program == Program::Gpg {
        session.considered(&maker.primary());
        if !trust.first_uses.is_empty() {
            tell_first_use(session, maker, statement, trust);
        }
        certainty::tell(session, maker, trust);
    }
    if let Some(end) = statement.expires {
        let word = if end <= session.now { "expired" } else { "expires" };
        session.streams.info(format_args!("Signature {word} {}", clock::long_string(end)));
    }
}

/// Returns what gpg shows of a value that is no text.
fn preview(value: &[u8]) -> Vec<u8> {
    const SHOWN: usize = 19;
    let shown =
        value.iter().take(SHOWN).map(|octet| if (b' '..=b'~').contains(octet) { *octet } else { b'?' });
    let dots = if value.len() > SHOWN { "..." } else { "" };
    let shown = String::from_utf8_lossy(&shown.collect::<Vec<u8>>()).into_owned();
    format!("[ not human readable ({} bytes: {shown}{dots}) ]", value.len()).into_bytes()
}

fn tell_notation(session: &mut Session<'_>, notation: &Notation) {
    let Notation { name, value, readable, critical } = notation;
    let flags = &session.settings.verify;
    // Users' notations name a domain.
    let is_shown = if name.contains(&b'@') { flags.user_notations } else { flags.std_notations };
    if is_shown {
        let what: &[u8] = match critical {
            true => b"Critical signature notation: ",
            false => b"Signature notation: ",
        };
        let shown = if *readable { value.clone() } else { preview(value) };
        session.streams.info_bytes(&[what, &name[..], b"=", &shown].concat());
    }
    session.tell_signature(SignatureStatus::NotationName(name));
    if *critical || *readable {
        session.tell_signature(SignatureStatus::NotationFlags { critical: *critical, readable: *readable });
    }
    session.tell_signature(SignatureStatus::NotationData(value));
}

/// Tells the result with the primary user ID; says whether there is one.
fn tell_result(
    session: &mut Session<'_>,
    maker: &Maker,
    statement: &Statement,
    trust: &Trust,
    result: Result,
) -> bool {
    let key_id = statement.issuer.key_id.to_string();
    let place = maker.effective.primary_user_id(&maker.certificate.facts);
    let user_id = maker.user_id().unwrap_or(b"[?]");
    let head = [result.words.as_bytes(), b" \"", user_id, b"\""].concat();
    let Result { keyword, .. } = result;
    session.tell_signature(SignatureStatus::Result { keyword, key_id, user_id });
    let shown = place.filter(|_| session.settings.verify.uid_validity);
    let validity = shown.map(|place| format!(" [{}]", word(trust, place))).unwrap_or_default();
    session.streams.info_bytes(&[&head, validity.as_bytes()].concat());
    place.is_some()
}

fn tell_other_names(session: &mut Session<'_>, maker: &Maker, trust: &Trust) {
    let facts = &maker.certificate.facts;
    let primary = maker.effective.primary_user_id(facts);
    for (place, (component, state)) in facts.components.iter().zip(&maker.effective.components).enumerate() {
        let (ComponentKind::UserId(user_id), State::User(state)) = (&component.kind, state) else { continue };
        let is_unusable = state.revoked || state.expired;
        if Some(place) == primary || (is_unusable && !session.settings.verify.unusable_uids) {
            continue;
        }
        let validity = match (state.revoked, state.expired) {
            (true, _) => "revoked",
            (false, true) => "expired",
            (false, false) => word(trust, place),
        };
        let end = match session.settings.verify.uid_validity {
            true => format!("\" [{validity}]"),
            false => "\"".to_owned(),
        };
        session.streams.info_bytes(&[b"                aka \"", &user_id[..], end.as_bytes()].concat());
    }
}

fn word(trust: &Trust, place: usize) -> &'static str {
    trust.user_ids.get(place).copied().unwrap_or_default().word()
}

/// Tells what the signature is made with, to who wants to know it.
fn tell_algorithms(session: &mut Session<'_>, maker: &Maker, statement: &Statement) {
    if session.settings.verbose == 0 {
        return;
    }
    let kind = match statement.kind {
        SignatureType::BINARY => "binary",
        SignatureType::TEXT => "textmode",
        _ => "unknown",
    };
    let digest = digest_name(statement.hash.0);
    let mut line = format!("{kind} signature, digest algorithm {digest}, key algorithm ").into_bytes();
    description(maker.key(), false, &mut line);
    session.streams.info_bytes(&line);
}

impl Session<'_> {
    /// Tells who runs gpgv that a key has ended.
    fn tell_end_of(&mut self, maker: &Maker) {
        let end = maker.expires().filter(|end| *end <= self.now && self.settings.program == Program::Gpgv);
        if let Some(end) = end {
            self.streams.status(&Status::KeyExpired { time: end.0 });
        }
    }

    /// Tells something about a signature to a program.
    pub(super) fn tell_signature(&mut self, status: SignatureStatus<'_>) {
        self.streams.status(&Status::Signature(status));
    }
}
