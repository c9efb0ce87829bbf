//! A certificate as text.

use std::io;

use engine::cert::effective::KeyState;
use engine::cert::facts::KeyFacts;
use engine::cert::{Fingerprint, Timestamp};
use engine::listing::{
    IssuerName, KeyListing, ListedComponent, ListedItem, ListedSignature, OwnerTrust, StatedPreferences,
    Validity,
};

use super::component_status::ComponentStatus;
use super::json::PreferencesJson;
use crate::hint::Hint;
use crate::output::Output;
use crate::printable::{counted, printable};
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::{naming, timestamp};

/// How much of a certificate is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    /// Keys and user IDs.
    Short,
    /// Keys and user IDs, each followed by its signatures.
    Signatures,
    /// Everything except the single signatures.
    Everything,
}

/// Writes one certificate.
pub(crate) fn write(output: &mut Output, listing: &KeyListing<'_>, details: Details) -> io::Result<()> {
    let mut text = Text { output, details };
    match details {
        Details::Everything => text.everything(listing),
        Details::Short | Details::Signatures => text.compact(listing),
    }
}

struct Text<'o> {
    output: &'o mut Output,
    details: Details,
}

impl Text<'_> {
    /// Writes a line for the primary key, then a line for each user ID and subkey.
    fn compact(&mut self, listing: &KeyListing<'_>) -> io::Result<()> {
        let (facts, state) = listing.primary();
        self.primary_line(facts, state)?;
        if !listing.fully_checked {
            let words = format!("not valid until all possible revocations are verified: run {}", Hint::Check);
            self.output.line(format_args!("  {}", self.output.styled(Style::Error, words)))?;
        }
        self.signatures(&listing.components[0].signatures)?;
        let with_signatures = self.details == Details::Signatures;
        let mut subkeys = Table::default();
        for listed in &listing.components[1..] {
            match listed.item {
                ListedItem::Subkey(facts, state) if !with_signatures => {
                    subkeys.push(subkey_cells(facts, state))
                }
                ListedItem::Subkey(facts, state) => {
                    let mut line = Table::default();
                    line.push(subkey_cells(facts, state));
                    self.output.table(&line)?;
                }
                _ => self.user_line(listing, listed)?,
            }
            self.signatures(&listed.signatures)?;
        }
        self.output.table(&subkeys)
    }

    fn primary_line(&mut self, facts: &KeyFacts, state: &KeyState) -> io::Result<()> {
        let status = ComponentStatus::of_key(state);
        let fingerprint = self.output.styled(Style::Strong, &facts.fingerprint);
        let line = format!("{fingerprint}  {}  {}", naming::algorithm(facts), timestamp::day(facts.created));
        let usage = naming::usage(state.usage).join(", ");
        let remark = self.remark(status, state.expires);
        self.output.line(format_args!("{line}  {usage}{remark}"))
    }

    fn user_line(&mut self, listing: &KeyListing<'_>, listed: &ListedComponent<'_>) -> io::Result<()> {
        let (text, state, validity) = match listed.item {
            ListedItem::UserId(value, state, validity) => (printable(value), state, validity),
            ListedItem::Attribute(facts, state, validity) => {
                (format!("[attribute of {} bytes]", facts.length), state, validity)
            }
            ListedItem::Primary(..) | ListedItem::Subkey(..) => return Ok(()),
        };
        let status = ComponentStatus::of_user_id(state);
        let counts = listing.primary().1.is_usable()
            && matches!(status, ComponentStatus::Good | ComponentStatus::Unbound);
        let validity = validity_remark(validity).filter(|_| counts);
        let validity = validity
            .map(|(word, style)| format!("  {}", self.output.styled(style, format!("[{word}]"))))
            .unwrap_or_default();
        let remark = self.remark(status, state.expires);
        self.output.line(format_args!("  user    {text}{validity}{remark}"))
    }

    /// Returns the remark on a status, in brackets and in colour.
    fn remark(&self, status: ComponentStatus, expires: Option<Timestamp>) -> String {
        match status.remark_with(expires) {
            Some(remark) => {
                format!("  {}", self.output.styled(status_style(status), format!("[{remark}]")))
            }
            None => String::new(),
        }
    }

    fn signatures(&mut self, signatures: &[ListedSignature<'_>]) -> io::Result<()> {
        let mut table = Table::default();
        signatures.iter().for_each(|signature| table.push(signature_cells(signature)));
        self.output.table(&table)
    }

    /// Writes a heading, the fields of the primary key, then user IDs and subkeys.
    fn everything(&mut self, listing: &KeyListing<'_>) -> io::Result<()> {
        let (facts, state) = listing.primary();
        let name = listing.components.iter().find_map(|listed| match listed.item {
            ListedItem::UserId(value, _, _) => Some(printable(value)),
            _ => None,
        });
        let heading = name.unwrap_or_else(|| "no user ID".to_owned());
        self.output.line(self.output.styled(Style::Strong, heading))?;
        self.key(facts, state, "  ")?;
        self.certificate(listing)?;
        for listed in &listing.components {
            if matches!(listed.item, ListedItem::UserId(..) | ListedItem::Attribute(..)) {
                self.user_line(listing, listed)?;
                self.output.line(format_args!("          {}", signature_counts(&listed.signatures)))?;
            }
        }
        for listed in &listing.components {
            if let ListedItem::Subkey(facts, state) = listed.item {
                self.output.line("  subkey")?;
                self.key(facts, state, "    ")?;
            }
        }
        Ok(())
    }

    fn key(&mut self, facts: &KeyFacts, state: &KeyState, indent: &str) -> io::Result<()> {
        let status = ComponentStatus::of_key(state);
        self.field(
            indent,
            "fingerprint",
            self.output.styled(Style::Name, grouped(&facts.fingerprint)).to_string(),
        )?;
        self.field(indent, "key ID", facts.fingerprint.key_id().to_string())?;
        if let Some(keygrip) = facts.keygrip {
            self.field(indent, "keygrip", keygrip.to_string())?;
        }
        let version = facts.fingerprint.version();
        self.field(indent, "algorithm", format!("{}, version {version}", naming::algorithm(facts)))?;
        self.field(indent, "created", timestamp::minute(facts.created))?;
        self.field(indent, "expires", state.expires.map_or_else(|| "never".to_owned(), timestamp::minute))?;
        self.field(indent, "usage", naming::usage(state.usage).join(", "))?;
        let word = match state.revoked {
            Some(revocation) => format!("revoked {}", timestamp::minute(revocation.date)),
            None => status.remark().unwrap_or("good").to_owned(),
        };
        self.field(indent, "standing", self.output.styled(status.style(), word).to_string())
    }

    fn certificate(&mut self, listing: &KeyListing<'_>) -> io::Result<()> {
        if listing.trust.owner != OwnerTrust::Unknown {
            self.field("  ", "owner trust", listing.trust.owner.word().to_owned())?;
        }
        if listing.trust.disabled {
            self.field("  ", "disabled", self.output.styled(Style::Warning, "yes").to_string())?;
        }
        self.preferences(&listing.preferences)?;
        for revoker in listing.revokers {
            self.field("  ", "revoker", grouped(&revoker.fingerprint))?;
        }
        if listing.origin.kind != 0 {
            let url = listing.origin.url.as_deref().map(|url| format!(" {}", printable(url.as_bytes())));
            let origin = format!("{}{}", naming::origin(listing.origin.kind), url.unwrap_or_default());
            self.field("  ", "origin", origin)?;
        }
        if let Some(stored) = listing.stored {
            self.field("  ", "first seen", timestamp::minute(stored.first_seen))?;
            self.field("  ", "changed", timestamp::minute(stored.changed))?;
        }
        Ok(())
    }

    fn preferences(&mut self, stated: &StatedPreferences<'_>) -> io::Result<()> {
        let preferences = PreferencesJson::new(stated);
        let pairs =
            preferences.ciphersuites.iter().map(|[cipher, mode]| format!("{cipher}-{mode}")).collect();
        self.names("ciphers", preferences.ciphers)?;
        self.names("digests", preferences.digests)?;
        self.names("compression", preferences.compressions)?;
        self.names("AEAD modes", preferences.modes)?;
        self.names("AEAD ciphers", pairs)?;
        self.names("features", preferences.features)
    }

    fn names(&mut self, label: &str, names: Vec<String>) -> io::Result<()> {
        if names.is_empty() { Ok(()) } else { self.field("  ", label, names.join(", ")) }
    }

    fn field(&mut self, indent: &str, label: &str, value: String) -> io::Result<()> {
        let label = self.output.styled(Style::Faint, format!("{label:<12}"));
        self.output.line(format_args!("{indent}{label}  {value}"))
    }
}

/// Returns the remark on a validity; `None` if it is not known.
fn validity_remark(validity: Validity) -> Option<(&'static str, Style)> {
    match validity {
        Validity::Unknown | Validity::Undefined => None,
        Validity::Never => Some(("not valid", Style::Error)),
        Validity::Marginal => Some(("marginally valid", Style::Warning)),
        Validity::Full => Some(("valid", Style::Good)),
        Validity::Ultimate => Some(("your own", Style::Good)),
    }
}

/// Returns the style of a status in a listing: most are good, and are not coloured.
fn status_style(status: ComponentStatus) -> Style {
    match status {
        ComponentStatus::Good => Style::Faint,
        other => other.style(),
    }
}

fn subkey_cells(facts: &KeyFacts, state: &KeyState) -> Vec<Cell> {
    let status = ComponentStatus::of_key(state);
    let remark = status.remark_with(state.expires);
    let mut cells = vec![
        Cell::new("  subkey"),
        Cell::new(facts.fingerprint.key_id().to_string()).styled(Style::Name),
        Cell::new(naming::algorithm(facts)),
        Cell::new(timestamp::day(facts.created)),
        Cell::new(naming::usage(state.usage).join(", ")),
    ];
    cells.extend(remark.map(|remark| Cell::new(format!("[{remark}]")).styled(status_style(status))));
    cells
}

fn signature_cells(signature: &ListedSignature<'_>) -> Vec<Cell> {
    let facts = signature.facts;
    let name = match signature.issuer {
        _ if facts.own.is_some() => "itself".to_owned(),
        IssuerName::UserId(name) => printable(name),
        IssuerName::NoUserId => "[no user ID]".to_owned(),
        IssuerName::NoKey => "[not here]".to_owned(),
        IssuerName::NotAsked => String::new(),
    };
    let remarks = remarks(signature);
    let mut cells = vec![
        Cell::new(format!("    {}", naming::signature_type(facts.kind))),
        Cell::new(timestamp::day(facts.created)).styled(Style::Faint),
        Cell::new(facts.issuer.key_id.to_string()).styled(Style::Name),
        Cell::new(name),
    ];
    if !remarks.is_empty() {
        cells.push(Cell::new(format!("[{}]", remarks.join(", "))).styled(Style::Warning));
    }
    cells
}

fn remarks(signature: &ListedSignature<'_>) -> Vec<String> {
    let facts = signature.facts;
    let mut remarks = Vec::new();
    if let Some(expires) = facts.expires {
        let word = if signature.expired { "expired" } else { "expires" };
        remarks.push(format!("{word} {}", timestamp::day(expires)));
    }
    remarks.extend(naming::is_superseded(facts).then(|| "superseded".to_owned()));
    remarks.extend((!facts.flags.exportable).then(|| "local".to_owned()));
    remarks.extend(facts.trust.map(|trust| format!("trust depth {}", trust.depth)));
    remarks
}

fn signature_counts(signatures: &[ListedSignature<'_>]) -> String {
    let own = signatures.iter().filter(|signature| signature.facts.own.is_some()).count();
    let others = signatures.len() - own;
    format!("{}, {}", counted(own, "self-signature"), counted(others, "certification") + " by others")
}

/// Returns a fingerprint in groups of four digits.
fn grouped(fingerprint: &Fingerprint) -> String {
    let digits = fingerprint.to_string();
    let groups: Vec<&str> = (0..digits.len()).step_by(4).map(|start| &digits[start..start + 4]).collect();
    let (left, right) = groups.split_at(groups.len() / 2);
    format!("{}  {}", left.join(" "), right.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_in_groups_of_four_with_a_gap_in_the_middle() {
        let fingerprint = Fingerprint::V4(std::array::from_fn(|index| index as u8));
        assert_eq!(grouped(&fingerprint), "0001 0203 0405 0607 0809  0A0B 0C0D 0E0F 1011 1213");
    }
}
