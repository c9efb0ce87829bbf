//! `--list-trustdb`: the records that gpg's trust database would contain.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;

use engine::cert::Fingerprint;
use engine::cert::effective::{Effective, PacketView};
use engine::cert::facts::Facts;
use engine::listing::{self, KeyListing, ListOptions, ListedItem, Names};
use engine::store::{AssignedTrust, CertId, ReadTrust, Selection};
use engine::trust::{OwnerTrust, Validity};
use engine::validity::{Model, Sources, TrustSettings, ValidityResult, WebOfTrustSummary};
use engine::verify::naming;

use crate::clock;
use crate::render::digits::hex_text;
use crate::settings::TrustNumbers;

/// Returns the records as text: owner trust, and the validity of user IDs, as of now.
pub(super) fn listing(
    sources: &Sources<'_>,
    settings: &TrustSettings,
    options: (Model, TrustNumbers),
    check: &WebOfTrustSummary,
) -> engine::Result<String> {
    let validity_result = ValidityResult::all(sources, settings)?;
    let given = sources.owner_trust.map(ReadTrust::owner_trusts).transpose()?.unwrap_or_default();
    let mut records = Records {
        text: String::new(),
        count: 0,
        given: given.into_iter().collect(),
        validity_result: &validity_result,
    };
    records.version(options, check);
    let list_options = ListOptions::as_gnupg(settings.now, settings.digests);
    for (number, certificates) in sources.certificates.iter().enumerate() {
        let mut names = Names::new(Vec::new(), settings.now, PacketView::Gnupg);
        let mut trust = |id: CertId, facts: &Facts, effective: &Effective| {
            validity_result.trust((number, id), facts, effective)
        };
        listing::list(
            *certificates,
            Selection::All,
            list_options,
            &mut names,
            None,
            &mut trust,
            &mut |listing| {
                records.key(&listing);
                ControlFlow::Continue(())
            },
        )?;
    }
    for (key, assigned) in std::mem::take(&mut records.given) {
        records.trust(&key, assigned, 0);
    }
    Ok(records.text)
}

struct Records<'a> {
    text: String,
    count: usize,
    /// The owner trust of keys without a record yet.
    given: BTreeMap<Fingerprint, AssignedTrust>,
    validity_result: &'a ValidityResult<'a>,
}

impl Records<'_> {
    fn version(&mut self, (model, numbers): (Model, TrustNumbers), check: &WebOfTrustSummary) {
        let next = check.next.map_or(0, |next| next.0);
        let version = format!(
            "version, td=0, f=0, m/c/d={}/{}/{} tm={} mcl={} nc={next} ({})",
            numbers.marginals_needed,
            numbers.completes_needed,
            numbers.max_cert_depth,
            model_number(model),
            numbers.min_cert_level,
            clock::day_string(engine::cert::Timestamp(next)),
        );
        self.add(&version);
    }

    /// Adds the records of a key, if it has owner trust or a valid user ID.
    fn key(&mut self, listing: &KeyListing<'_>) {
        let key = listing.fingerprint();
        let valid: Vec<([u8; 20], Validity)> = listing
            .components
            .iter()
            .filter_map(|listed| match listed.item {
                ListedItem::UserId(value, _, validity) => Some((naming::ripemd160(value), validity)),
                ListedItem::Attribute(facts, _, validity) => Some((facts.name_hash, validity)),
                ListedItem::Primary(..) | ListedItem::Subkey(..) => None,
            })
            .filter(|(_, validity)| *validity > Validity::Unknown)
            .collect();
        let given = self.given.remove(key);
        if given.is_none() && valid.is_empty() {
            return;
        }
        let first = if valid.is_empty() { 0 } else { self.count + 1 };
        self.trust(key, given.unwrap_or_default(), first);
        let last = valid.len();
        for (index, (hash, validity)) in valid.into_iter().enumerate() {
            let next = if index + 1 == last { 0 } else { self.count + 1 };
            let hash = hex_text(&hash);
            self.add(&format!("valid {hash}, v={}, next={next}", validity_number(validity)));
        }
    }

    fn trust(&mut self, key: &Fingerprint, assigned: AssignedTrust, first_valid: usize) {
        let introducer = self.validity_result.outcome().introducers.get(key);
        let depth = introducer.map_or(0, |introducer| introducer.level);
        let delegated = introducer
            .map_or(OwnerTrust::Unknown, |introducer| OwnerTrust::from_amount(introducer.delegation.amount));
        self.add(&format!(
            "trust {key}, ot={}, d={depth}, vl={first_valid}, mo={}, f={:02}",
            assigned.number(),
            delegated.number(),
            u8::from(assigned.is_by_option())
        ));
    }

    fn add(&mut self, record: &str) {
        writeln!(self.text, "rec {:5}, {record}", self.count).expect("a string takes everything");
        self.count += 1;
    }
}

/// Returns the number by which GnuPG's trust database knows a model.
fn model_number(model: Model) -> u8 {
    match model {
        Model::Classic => 0,
        Model::Pgp => 1,
        Model::Always => 3,
        Model::Direct => 4,
        Model::Tofu => 6,
        Model::TofuPgp => 7,
    }
}

/// Returns GnuPG's number of a validity.
fn validity_number(validity: Validity) -> u8 {
    match validity {
        Validity::Unknown => 0,
        Validity::Undefined => 2,
        Validity::Never => 3,
        Validity::Marginal => 4,
        Validity::Full => 5,
        Validity::Ultimate => 6,
    }
}
