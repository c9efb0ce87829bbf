//! `sign` and its relatives: certifies the selected user IDs, after everything about it was asked.

use std::num::NonZeroU32;

use engine::cert::facts::{SignatureFacts, TrustSignature};
use engine::edit::{Certification, CertifiedIdentity};
use engine::store::Fingerprint;

use super::session::{Identity, Session};
use crate::clock;
use crate::generation::dialogue;
use crate::interval;
use crate::render::edit_view::Names;
use crate::settings::Settings;
use crate::signature_notations;

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// The user wants to select user IDs first.
    ChooseFirst,
}

/// The kind of certifications, by the letters before `sign`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sort {
    local: bool,
    irrevocable: bool,
    trust: bool,
}

impl Sort {
    /// Reads the letters; `None` if there are others.
    fn read(prefix: &[u8]) -> Option<Self> {
        let lower = prefix.to_ascii_lowercase();
        let mut rest = lower.as_slice();
        let mut sort = Self::default();
        while !rest.is_empty() {
            rest = match rest {
                [b'l', rest @ ..] => {
                    sort.local = true;
                    rest
                }
                [b'n', b'r', rest @ ..] => {
                    sort.irrevocable = true;
                    rest
                }
                [b't', rest @ ..] => {
                    sort.trust = true;
                    rest
                }
                _ => return None,
            };
        }
        Some(sort)
    }
}

/// Certifies with each of the user's keys that `--local-user` names, else with the default key.
pub(super) fn run(session: &mut Session<'_>, prefix: &[u8]) -> anyhow::Result<Outcome> {
    if session.effective()?.primary().revoked.is_some() {
        session.tell("Key is revoked.");
        let question = "  Are you sure you still want to sign it? (y/N) ";
        if !session.settings().expert {
            session.tell("  Unable to sign.\n");
            return Ok(Outcome::Done);
        }
        if !session.confirm("keyedit.sign_revoked.okay", question)? {
            return Ok(Outcome::Done);
        }
    }
    let mut interactive = false;
    if session.identities()?.len() > 1 && session.selected.is_empty() {
        let all = match session.settings().only_sign_text_ids {
            true => "Really sign all text user IDs? (y/N) ",
            false => "Really sign all user IDs? (y/N) ",
        };
        if !session.confirm("keyedit.sign_all.okay", all)? {
            if !session.settings().interactive {
                session.tell("Hint: Select the user IDs to sign\n");
                return Ok(Outcome::ChooseFirst);
            }
            interactive = true;
        }
    }
    let Some(sort) = Sort::read(prefix) else {
        session
            .tell(format!("Unknown signature type '{}'\n", String::from_utf8_lossy(prefix).escape_debug()));
        return Ok(Outcome::Done);
    };
    for by in session.keys.certifiers()? {
        if !sign_with(session, &by, sort, interactive)? {
            break;
        }
    }
    Ok(Outcome::Done)
}

/// Certifies with one key; returns `false` if signing failed.
fn sign_with(
    session: &mut Session<'_>,
    by: &Fingerprint,
    sort: Sort,
    interactive: bool,
) -> anyhow::Result<bool> {
    let is_own = *by == session.key();
    let by_id = session.key_id(by.key_id());
    let Marked { wanted, replaced } = mark(session, by, sort.local, interactive)?;
    if wanted.is_empty() {
        session.tell(format!("Nothing to sign with key {by_id}\n"));
        return Ok(true);
    }
    session.tell("\n");
    let shown = session.view(Names::These(&wanted), false, false)?;
    session.tell(shown);
    session.tell("\n");
    let Some(expires) = lifetime(session, is_own)? else { return Ok(true) };
    let mut certification = Certification {
        local: sort.local,
        revocable: !sort.irrevocable,
        expires,
        subpackets: signature_notations::between(&session.settings().cert_notations, by, &session.key()),
        ..Certification::new(*by)
    };
    if !is_own {
        certification.level = level(session)?;
        if sort.trust {
            (certification.trust, certification.regexp) = trust_signature(session)?;
        }
    }
    let name = session.name_of(by.key_id())?;
    session
        .tell(format!("Are you sure that you want to sign this key with your\nkey \"{name}\" ({by_id})\n"));
    session.tell(claims(&certification, is_own));
    let Settings { batch, answer_yes, .. } = *session.settings();
    let is_answered = batch && answer_yes;
    if !is_answered && !session.confirm("sign_uid.okay", "Really sign? (y/N) ")? {
        return Ok(true);
    }
    let preferences = session.preferences();
    let key = session.key();
    let signed = session.edit(by, |editor| match is_own {
        true => editor.self_certify(&key, &wanted, &preferences),
        false => editor.certify_identities(&key, &wanted, &certification),
    });
    if let Err(failure) = signed {
        session.signing_failed(failure)?;
        return Ok(false);
    }
    session.modified = true;
    session.draft.retain(|packet| {
        !matches!(packet, engine::cert::certificate::Retained::Signature(_, signature)
        if replaced.iter().any(|old| is_same(old, signature)))
    });
    Ok(true)
}

/// Says whether two signatures of different versions of a certificate are one.
fn is_same(one: &SignatureFacts, other: &SignatureFacts) -> bool {
    (one.kind, one.created, one.issuer, one.content)
        == (other.kind, other.created, other.issuer, other.content)
        && one.content.is_some()
}

/// What is to be certified, and the certifications that are replaced.
struct Marked {
    wanted: Vec<CertifiedIdentity>,
    replaced: Vec<SignatureFacts>,
}

/// Finds what the key can certify; what it cannot is said, with `--expert` asked.
fn mark(
    session: &mut Session<'_>,
    by: &Fingerprint,
    local: bool,
    interactive: bool,
) -> anyhow::Result<Marked> {
    let is_own = *by == session.key();
    let mut marked = Marked { wanted: Vec::new(), replaced: Vec::new() };
    let candidates = if interactive { session.identities()? } else { session.selected_or_all()? };
    for found in candidates {
        if is_signable(session, &found, is_own, interactive)?
            && is_new(session, &found, by, local, &mut marked.replaced)?
        {
            marked.wanted.push(found.identity);
        }
    }
    Ok(marked)
}

fn is_signable(
    session: &mut Session<'_>,
    found: &Identity,
    is_own: bool,
    interactive: bool,
) -> anyhow::Result<bool> {
    let text = found.text();
    let expert = session.settings().expert;
    if session.settings().only_sign_text_ids && !found.is_text() {
        session.tell(format!("Skipping user ID \"{text}\", which is not a text ID.\n"));
        return Ok(false);
    }
    let obstacle = match &found.state {
        state if state.revoked => Some(("sign_uid.revoke_okay", "is revoked.")),
        state if state.expired => Some(("sign_uid.expire_okay", "is expired.")),
        state if state.created.is_none() && !is_own => Some(("sign_uid.nosig_okay", "is not self-signed.")),
        _ => None,
    };
    let mut is_confirmed = false;
    if let Some((keyword, what)) = obstacle {
        session.tell(format!("User ID \"{text}\" {what}"));
        if is_own {
            session.tell("\n");
        } else if expert {
            session.tell("\n");
            if !session.confirm(keyword, "Are you sure you still want to sign it? (y/N) ")? {
                return Ok(false);
            }
            is_confirmed = interactive;
        } else {
            session.tell("  Unable to sign.\n");
            return Ok(false);
        }
    }
    if interactive && !is_confirmed {
        session.tell(format!("User ID \"{text}\" is signable.  "));
        return session.confirm("sign_uid.sign_okay", "Sign it? (y/N) ");
    }
    Ok(true)
}

/// Says whether the key has not certified a user ID yet, or the user wants it again.
fn is_new(
    session: &mut Session<'_>,
    found: &Identity,
    by: &Fingerprint,
    local: bool,
    replaced: &mut Vec<SignatureFacts>,
) -> anyhow::Result<bool> {
    let text = found.text();
    let now = session.settings().now;
    let by_id = session.key_id(by.key_id());
    let signatures: Vec<SignatureFacts> = session
        .signatures(found.index)
        .map(|(_, signature)| signature)
        .filter(|signature| signature.kind.is_certification() && signature.issuer.key_id == by.key_id())
        .cloned()
        .collect();
    let mut is_new = true;
    for signature in signatures {
        if signature.has_expired(now) {
            session.tell(format!("Your current signature on \"{text}\"\nhas expired.\n"));
            let question = "Do you want to issue a new signature to replace the expired one? (y/N) ";
            if session.confirm("sign_uid.replace_expired_okay", question)? {
                replaced.push(signature);
                continue;
            }
        }
        if !signature.flags.exportable && !local {
            session.tell(format!("Your current signature on \"{text}\"\nis a local signature.\n"));
            let question = "Do you want to promote it to a full exportable signature? (y/N) ";
            if session.confirm("sign_uid.local_promote_okay", question)? {
                replaced.push(signature);
                continue;
            }
        }
        let locally = if !signature.flags.exportable && local { "locally " } else { "" };
        session.tell(format!("\"{text}\" was already {locally}signed by key {by_id}\n"));
        let again = "Do you want to sign it again anyway? (y/N) ";
        let Settings { force_sign_key, expert, .. } = *session.settings();
        if force_sign_key || (expert && session.confirm("sign_uid.dupe_okay", again)?) {
            continue;
        }
        session.keys.streams.status(format!("ALREADY_SIGNED {}", by.key_id()));
        is_new = false;
    }
    Ok(is_new)
}

/// Asks how long the certification is valid, if that is asked; `None` if the key has expired and is not signed.
fn lifetime(session: &mut Session<'_>, is_own: bool) -> anyhow::Result<Option<Option<NonZeroU32>>> {
    if is_own {
        return Ok(Some(None));
    }
    let Settings { now, expert, ask_cert_expire, .. } = *session.settings();
    let end = session.effective()?.primary().expires;
    let usual = session.settings().default_cert_expire.clone().unwrap_or_else(|| b"0".to_vec());
    if let Some(end) = end {
        if end <= now {
            session.tell("This key has expired!");
            let question = "  Are you sure you still want to sign it? (y/N) ";
            if !expert {
                session.tell("  Unable to sign.\n");
                return Ok(None);
            }
            if !session.confirm("sign_uid.expired_okay", question)? {
                return Ok(None);
            }
        } else {
            session.tell(format!("This key is due to expire on {}.\n", clock::day_string(end)));
            if ask_cert_expire {
                let question = "Do you want your signature to expire at the same time? (Y/n) ";
                let answer = session.line("sign_uid.expire", question)?;
                if !matches!(answer.first(), Some(b'n' | b'N')) {
                    return Ok(Some(NonZeroU32::new(end.0 - now.0)));
                }
            }
        }
    }
    let seconds = match ask_cert_expire {
        true => {
            let usual = String::from_utf8_lossy(&usual).into_owned();
            dialogue::signature_validity(&usual, session.settings(), session.keys.streams)?
        }
        false => interval::validity(&usual, now).unwrap_or_default(),
    };
    Ok(Some(NonZeroU32::new(seconds)))
}

/// Asks how well the key was checked, if that is asked.
fn level(session: &mut Session<'_>) -> anyhow::Result<u8> {
    let settings = session.settings();
    let usual = settings.trust.default_cert_level as u8;
    if settings.batch || !settings.ask_cert_level {
        return Ok(usual);
    }
    let mut text =
        "How well did you check that the key belongs to whom it names? Who does not know answers 0.\n\n"
            .to_owned();
    let choices = [
        "I will not answer.",
        "I have not checked at all.",
        "I have done casual checking.",
        "I have done very careful checking.",
    ];
    for (number, choice) in choices.iter().enumerate() {
        let mark = if usize::from(usual) == number { " (default)" } else { "" };
        text.push_str(&format!("   ({number}) {choice}{mark}\n"));
    }
    session.tell(text + "\n");
    loop {
        match session.line("sign_uid.class", "Your selection? (enter '?' for more information): ")?.as_slice()
        {
            [] => return Ok(usual),
            [digit @ b'0'..=b'3'] => return Ok(digit - b'0'),
            _ => session.tell("Invalid selection.\n"),
        }
    }
}

/// Asks how far the owner's certifications are to be trusted: how much, to which depth, for which domain.
fn trust_signature(session: &mut Session<'_>) -> anyhow::Result<(Option<TrustSignature>, Option<Vec<u8>>)> {
    const MARGINAL: u8 = 60;
    const FULL: u8 = 120;
    session.tell(
        "How far do you trust the owner to check the keys of others before certifying them?\n\n  1 = I trust \
         marginally\n  2 = I trust fully\n\n",
    );
    let amount = loop {
        match session.line("trustsig_prompt.trust_value", "Your selection? ")?.as_slice() {
            b"1" => break MARGINAL,
            b"2" => break FULL,
            _ => {}
        }
    };
    session.tell("\nHow deep is the trust? More than 1 lets the owner make trust signatures for you.\n\n");
    let depth = loop {
        let answer = session.line("trustsig_prompt.trust_depth", "Your selection? ")?;
        // As in gpg, only the low byte of the number counts.
        let depth = crate::number::decimal(&answer).unwrap_or(-1) as u8;
        if depth != 0 {
            break depth;
        }
    };
    session.tell("\nTo which domain is the trust limited? Nothing for no limit.\n\n");
    let domain = session.line("trustsig_prompt.trust_regexp", "Your selection? ")?;
    session.tell("\n");
    let regexp = (!domain.is_empty()).then(|| domain_expression(&domain));
    Ok((Some(TrustSignature { depth, amount }), regexp))
}

/// Returns the regular expression of mail addresses in a domain and its subdomains.
fn domain_expression(domain: &[u8]) -> Vec<u8> {
    let mut expression = b"<[^>]+[@.]".to_vec();
    for &byte in domain {
        expression.extend((!byte.is_ascii_alphanumeric()).then_some(b'\\'));
        expression.push(byte);
    }
    expression.extend(b">$");
    expression
}

/// Returns what the certification says, for the user.
fn claims(certification: &Certification, is_own: bool) -> String {
    let Certification { local, revocable, level, .. } = *certification;
    let mut text = String::new();
    if is_own {
        text.push_str("\nThis will be a self-signature.\n");
        let unmarked = [(local, "non-exportable"), (!revocable, "non-revocable")];
        for (_, what) in unmarked.iter().filter(|(wanted, _)| *wanted) {
            text.push_str(&format!("\nWARNING: the signature will not be marked as {what}.\n"));
        }
    } else {
        let marked = [(local, "non-exportable"), (!revocable, "non-revocable")];
        for (_, what) in marked.iter().filter(|(wanted, _)| *wanted) {
            text.push_str(&format!("\nThe signature will be marked as {what}.\n"));
        }
        text.push_str(match level {
            1 => "\nI have not checked this key at all.\n",
            2 => "\nI have checked this key casually.\n",
            3 => "\nI have checked this key very carefully.\n",
            _ => "",
        });
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_before_sign_combine() {
        let all = Sort { local: true, irrevocable: true, trust: true };
        assert_eq!(Sort::read(b"tNRl"), Some(all));
        assert_eq!(Sort::read(b""), Some(Sort::default()));
        assert_eq!(Sort::read(b"x"), None);
        assert_eq!(Sort::read(b"n"), None);
    }

    #[test]
    fn a_domain_limits_trust_to_its_addresses() {
        assert_eq!(domain_expression(b"a-b.org"), b"<[^>]+[@.]a\\-b\\.org>$");
    }
}
