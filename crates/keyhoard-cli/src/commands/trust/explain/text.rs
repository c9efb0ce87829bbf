//! An explanation as text.

use std::io;

use engine::cert::Fingerprint;
use engine::listing::{OwnerTrust, Validity};
use engine::trust::pgp::{IntroducerStatus, WeighedCertification, Weight};
use engine::validity::{Certifier, ExplainedUser, Explanation, TrustSettings, UncountedCertifications};

use crate::hint::Hint;
use crate::output::Output;
use crate::printable::{counted, printable};
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::{naming, timestamp};

/// Writes the reasons for the validity of each user ID, and the certification paths.
pub(super) fn write(
    output: &mut Output,
    explanation: &Explanation,
    settings: &TrustSettings,
    lists_invalid: bool,
) -> io::Result<()> {
    let mut text = Text { output, explanation, settings, lists_invalid };
    let subject = explanation.subject();
    text.line(Style::Strong, "", &subject.key.to_string())?;
    subject.users.iter().try_for_each(|user| text.user(user))?;
    text.paths()
}

struct Text<'t> {
    output: &'t mut Output,
    explanation: &'t Explanation,
    settings: &'t TrustSettings,
    /// Whether certifications by keys that are not valid are listed.
    lists_invalid: bool,
}

impl Text<'_> {
    fn user(&mut self, user: &ExplainedUser) -> io::Result<()> {
        let validity = user.validity.word();
        let style = match user.validity {
            Validity::Full | Validity::Ultimate => Style::Good,
            Validity::Marginal => Style::Warning,
            Validity::Unknown | Validity::Undefined | Validity::Never => Style::Faint,
        };
        let validity = self.output.styled(style, format!("[{validity}]"));
        self.output.line(format_args!("  user    {}  {validity}", printable(&user.name)))?;
        let reason = self.reason(user);
        self.line(Style::Faint, INDENT, &reason)?;
        self.certifications(user)?;
        if user.validity < Validity::Full && self.is_worth_certifying(user) {
            self.missing(user)?;
        }
        Ok(())
    }

    /// Returns the reason for a validity as a sentence.
    fn reason(&self, user: &ExplainedUser) -> String {
        let TrustSettings { completes_needed, marginals_needed, .. } = self.settings;
        match user {
            ExplainedUser { validity: Validity::Ultimate, .. } if self.explanation.subject().is_by_option => {
                "The key is ultimately trusted, since --trusted-key names it or did in an earlier run of gpg."
                    .to_owned()
            }
            ExplainedUser { validity: Validity::Ultimate, .. } => "The key is ultimately trusted.".to_owned(),
            _ if !self.is_alive() => {
                "The key is revoked or has expired: none of its user IDs is valid.".to_owned()
            }
            ExplainedUser { revoked: true, .. } => "Its owner has revoked it.".to_owned(),
            ExplainedUser { expired: true, .. } => "It has expired.".to_owned(),
            ExplainedUser { validity: Validity::Unknown, .. } => "No valid key has certified it.".to_owned(),
            ExplainedUser { full, marginal, .. } => format!(
                "Certified by {full} of {completes_needed} needed fully trusted introducers, and by {marginal} of \
                 {marginals_needed} needed marginally trusted ones."
            ),
        }
    }

    fn certifications(&mut self, user: &ExplainedUser) -> io::Result<()> {
        let mut table = Table::default();
        let mut not_valid = 0;
        for certification in &user.certifications {
            if certification.weight == Weight::NotIntroduced && !self.lists_invalid {
                not_valid += 1;
            } else {
                table.push(self.cells(certification));
            }
        }
        self.output.table(&table)?;
        for line in remarks(not_valid, user.others) {
            self.line(Style::Faint, INDENT, &line)?;
        }
        Ok(())
    }

    fn cells(&self, certification: &WeighedCertification) -> Vec<Cell> {
        let style = match certification.weight {
            Weight::Counted(_) => Style::Good,
            _ => Style::Faint,
        };
        vec![
            Cell::new(format!("{INDENT}{}", timestamp::day(certification.created))).styled(Style::Faint),
            Cell::new(certification.issuer.key_id().to_string()).styled(Style::Name),
            Cell::new(self.name(&certification.issuer)),
            Cell::new(format!("[{}]", self.worth(certification))).styled(style),
        ]
    }

    /// Returns the weight of a certification as text, and if it does not count, why.
    fn worth(&self, certification: &WeighedCertification) -> String {
        let certifier = self.explanation.certifiers.get(&certification.issuer);
        let word = match certification.weight {
            Weight::Counted(trust) => return format!("counts: {}", naming::owner_trust_phrase(trust)),
            Weight::Untrusted => return format!("valid, but {}", untrusted(certifier)),
            Weight::Expired => {
                let end = certification.expires.map(timestamp::day).unwrap_or_default();
                return format!("expired {end}");
            }
            Weight::OutOfScope => "trusted for other user IDs only",
            Weight::ClaimsTooLittle => "its level is below the required one",
            Weight::Superseded => "a later one by the same key counts",
            Weight::Revokes => "revokes its earlier ones",
            Weight::NotIntroduced => not_introduced(certifier),
        };
        word.to_owned()
    }

    /// Writes what would make a user ID valid.
    fn missing(&mut self, user: &ExplainedUser) -> io::Result<()> {
        let TrustSettings { completes_needed, marginals_needed, .. } = self.settings;
        let full = completes_needed.saturating_sub(user.full);
        let marginal = marginals_needed.saturating_sub(user.marginal);
        let needed =
            format!("Missing: {full} more fully trusted or {marginal} more marginally trusted introducers.");
        self.line(Style::Warning, INDENT, &needed)?;
        let mut untrusted: Vec<Fingerprint> = user
            .certifications
            .iter()
            .filter(|certification| certification.weight == Weight::Untrusted)
            .map(|certification| certification.issuer)
            .collect();
        untrusted.dedup();
        for issuer in untrusted {
            let name = self.name(&issuer);
            let trust = Hint::TrustFully(issuer.to_string());
            let advice = format!("If you trust {name} to certify others: {trust}");
            self.line(Style::Faint, INDENT, &advice)?;
        }
        Ok(())
    }

    /// Writes the certification paths from the user's own keys to the introducers that count.
    fn paths(&mut self) -> io::Result<()> {
        let paths = self.explanation.paths();
        if paths.is_empty() {
            return Ok(());
        }
        self.output.line("  paths")?;
        for path in paths {
            let steps: Vec<String> = path.iter().map(|key| self.step(key)).collect();
            self.output.line(format_args!("{INDENT}{}", steps.join(" -> ")))?;
        }
        Ok(())
    }

    fn step(&self, key: &Fingerprint) -> String {
        let certifier = self.explanation.certifiers.get(key);
        let trust =
            certifier.and_then(|certifier| certifier.introducer.as_ref()).map(|introducer| introducer.trust);
        let by_option = certifier.is_some_and(|certifier| certifier.is_by_option);
        let source = if by_option { " by --trusted-key" } else { "" };
        let trust = trust.map(|trust| format!(" ({}{source})", naming::owner_trust_phrase(trust)));
        format!("{} {}{}", key.key_id(), self.name(key), trust.unwrap_or_default())
    }

    fn name(&self, key: &Fingerprint) -> String {
        match self.explanation.certifiers.get(key) {
            Some(Certifier { name: Some(name), .. }) => printable(name),
            Some(_) => "[no user ID]".to_owned(),
            None => "[not here]".to_owned(),
        }
    }

    fn is_alive(&self) -> bool {
        self.explanation.subject().status != IntroducerStatus::Dead
    }

    fn is_worth_certifying(&self, user: &ExplainedUser) -> bool {
        self.is_alive() && !user.revoked && !user.expired
    }

    fn line(&mut self, style: Style, indent: &str, text: &str) -> io::Result<()> {
        let text = self.output.styled(style, text);
        self.output.line(format_args!("{indent}{text}"))
    }
}

const INDENT: &str = "          ";

fn untrusted(certifier: Option<&Certifier>) -> &'static str {
    match certifier.map(|certifier| certifier.given) {
        Some(OwnerTrust::Never) => "you never trust its owner to certify others",
        Some(OwnerTrust::Undefined) => "you have no opinion of its owner",
        _ => "you have not said how far you trust its owner",
    }
}

fn not_introduced(certifier: Option<&Certifier>) -> &'static str {
    match certifier {
        None => "not here",
        Some(Certifier { status: IntroducerStatus::Dead, .. }) => "its key is revoked or has expired",
        Some(Certifier { status: IntroducerStatus::Unbound, .. }) => "no self-signature binds its key",
        Some(Certifier { validity: Validity::Full | Validity::Ultimate, .. }) => {
            "valid, but too many steps away"
        }
        Some(Certifier { validity: Validity::Marginal, .. }) => "only marginally valid itself",
        Some(_) => "not valid itself",
    }
}

/// Returns the counts of certifications that are not listed.
fn remarks(not_valid: usize, others: UncountedCertifications) -> Vec<String> {
    let UncountedCertifications { bad, by_unknown, unacceptable } = others;
    let counts = [
        (not_valid, "by keys that are not valid"),
        (by_unknown, "by keys that are not here"),
        (bad, "with a bad signature"),
        (unacceptable, "with a hash algorithm, time or critical subpacket that is not accepted"),
    ];
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, which)| format!("{} {which}", counted(count, "certification"))).collect()
}
