//! What trust on first use makes of keys and addresses: the bindings that imports made, or as in GnuPG those of keys that
//! were used, with the rules of [`trust::tofu`]. Only signatures that verified speak for a key.

mod evidence;
mod note;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use cert::effective::{ComponentState, Effective};
use cert::facts::ComponentKind;
use cert::{BoundAddress, Facts, Fingerprint};
use store::tofu::{Binding, BindingId, BindingSelection, Messages, sort_bindings};
use store::{Detail, Selection};
use trust::Validity;
use trust::tofu::{Claim, Contest, Evidence, Policy, validity};

use super::{BindingsBegin, Sources, TofuSettings, TrustAnchors, TrustSettings};
use crate::Result;
use crate::listing::FirstUse;
use crate::stored::bindings;
use evidence::BindingEvidence;
use note::note;

/// What is thought of bindings at one moment.
#[derive(Debug, Default)]
pub struct FirstUseResult {
    settings: TofuSettings,
    own: HashSet<Fingerprint>,
    evidences: BindingEvidence,
    decided: HashMap<(Fingerprint, BoundAddress), Policy>,
    contests: HashMap<BoundAddress, Contested>,
    /// Of those that messages were seen with.
    messages: HashMap<(Fingerprint, BoundAddress), Messages>,
}

/// An address that came with several keys.
#[derive(Debug)]
struct Contested {
    /// Ascending, as the claims of the contest.
    keys: Vec<Fingerprint>,
    contest: Contest,
}

impl FirstUseResult {
    /// Assesses the bindings of these keys, or of every key; of others nothing certain is known then.
    ///
    /// Where bindings [begin with their first use](BindingsBegin::AtFirstUse), this is one, and noted in the database of
    /// the sources' verdicts.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn new(
        keys: Option<&[Fingerprint]>,
        sources: &Sources<'_>,
        roots: &TrustAnchors,
        settings: &TrustSettings,
    ) -> Result<Self> {
        let asked = keys.map(|keys| addresses(keys, sources)).transpose()?;
        let (selection, used) = match &asked {
            Some(addresses) => {
                (BindingSelection::Addresses(addresses), BindingSelection::Addresses(addresses))
            }
            // Which addresses came with several keys, only one database can tell by itself.
            None if sources.certificates.len() == 1 => (BindingSelection::Contested, BindingSelection::Used),
            None => (BindingSelection::All, BindingSelection::Used),
        };
        let mut bindings = read(selection, sources)?;
        let mut first_used = match settings.tofu.begin {
            BindingsBegin::AtImport => Vec::new(),
            BindingsBegin::AtFirstUse => first_used(&mut bindings, keys, sources)?,
        };
        let messages = if settings.tofu.with_info { messages(used, sources)? } else { HashMap::new() };
        let mut by_address: BTreeMap<BoundAddress, Vec<Binding>> = BTreeMap::new();
        for binding in bindings {
            by_address.entry(binding.address.clone()).or_default().push(binding);
        }
        let own: Vec<Fingerprint> = roots.ultimate();
        let (contested, single): (Vec<_>, Vec<_>) =
            by_address.into_values().partition(|bindings| bindings.len() > 1);
        let evidences = evidence::gather(&contested, keys, &own, sources, settings)?;
        let mut assessment = Self {
            settings: settings.tofu,
            own: own.into_iter().collect(),
            evidences,
            decided: single.into_iter().flatten().filter_map(decision).collect(),
            contests: HashMap::new(),
            messages,
        };
        for bindings in contested {
            assessment.add_contest(bindings);
        }
        if let Some(store) = sources.verdict_store {
            first_used.sort_by_key(|binding| assessment.arrival(binding));
            note(store, &first_used, settings.now)?;
        }
        Ok(assessment)
    }

    /// Takes all bindings of one address, in the order of their fingerprints.
    fn add_contest(&mut self, mut bindings: Vec<Binding>) {
        let Some(Binding { address, .. }) = bindings.first() else { return };
        let address = address.clone();
        bindings.retain(|it| self.settings.with_info || !self.evidences.is_lapsed(&it.fingerprint, &address));
        let claims = bindings.iter().map(|binding| self.claim(binding)).collect();
        let keys: Vec<Fingerprint> = bindings.iter().map(|binding| binding.fingerprint).collect();
        let cross_signed = self.evidences.cross_signed(&keys, &address);
        let contest = Contest::new(claims, &cross_signed);
        self.contests.insert(address, Contested { keys, contest });
    }

    fn claim(&self, binding: &Binding) -> Claim {
        let Binding { fingerprint, address, policy, .. } = binding;
        Claim {
            policy: Policy::from_number(*policy).unwrap_or_default(),
            evidence: self.evidence(fingerprint, address),
            lapsed: self.evidences.is_lapsed(fingerprint, address),
            arrival: self.arrival(binding),
        }
    }

    /// Returns a binding's place in the order in which those of its address began.
    fn arrival(&self, binding: &Binding) -> i128 {
        match (self.settings.begin, binding.id) {
            // Before those that are used only now.
            (BindingsBegin::AtFirstUse, Some(BindingId(number))) => i128::from(number) - i128::from(i64::MAX),
            _ => self.evidences.arrival(&binding.fingerprint, &binding.address),
        }
    }

    /// Returns what speaks for a binding.
    pub fn evidence(&self, key: &Fingerprint, address: &BoundAddress) -> Evidence {
        if self.own.contains(key) {
            Evidence::Own
        } else if self.evidences.is_vouched(key, address) {
            Evidence::Vouched
        } else {
            Evidence::None
        }
    }

    /// Returns the policy that is in effect for a binding.
    pub fn policy(&self, key: &Fingerprint, address: &BoundAddress) -> Policy {
        if let Some((contested, index)) = self.contest(key, address) {
            return contested.contest.policy(index);
        }
        let policy = self.decided.get(&(*key, address.clone())).copied().unwrap_or_default();
        let evidence = self.evidence(key, address);
        Claim { policy, evidence, lapsed: false, arrival: 0 }.uncontested()
    }

    /// Returns the keys that are in conflict with a binding.
    pub fn rivals(&self, key: &Fingerprint, address: &BoundAddress) -> Vec<Fingerprint> {
        let Some((contested, index)) = self.contest(key, address) else { return Vec::new() };
        contested.contest.rivals(index).into_iter().map(|rival| contested.keys[rival]).collect()
    }

    fn contest(&self, key: &Fingerprint, address: &BoundAddress) -> Option<(&Contested, usize)> {
        let contested = self.contests.get(address)?;
        Some((contested, contested.keys.binary_search(key).ok()?))
    }

    /// Returns the validity of a certificate's components: of user IDs what their addresses make of them; attributes
    /// have none, which GnuPG takes as never.
    pub fn user_ids(&self, facts: &Facts) -> Vec<Validity> {
        let key = &facts.primary().fingerprint;
        let kinds = facts.components.iter().map(|component| &component.kind);
        let validity = |kind: &ComponentKind| match kind {
            ComponentKind::UserId(value) => self.user_id(key, value),
            ComponentKind::Attribute(_) => Validity::Never,
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => Validity::Unknown,
        };
        kinds.map(validity).collect()
    }

    fn user_id(&self, key: &Fingerprint, value: &[u8]) -> Validity {
        let address = BoundAddress::of_user_id(value);
        let policy = self.policy(key, &address);
        validity::of_user_id(self.evidence(key, &address), policy, self.settings.default_policy)
    }

    /// Returns what is known of a certificate's user IDs, by component, if that was asked for.
    pub fn first_uses(&self, facts: &Facts) -> Vec<Option<FirstUse>> {
        if !self.settings.with_info {
            return Vec::new();
        }
        let key = facts.primary().fingerprint;
        let known = |kind: &ComponentKind| {
            let ComponentKind::UserId(value) = kind else { return None };
            let address = BoundAddress::of_user_id(value);
            let messages = |key| self.messages.get(&(key, address.clone())).copied().unwrap_or_default();
            let rivals = self.rivals(&key, &address).into_iter().map(|rival| (rival, messages(rival)));
            Some(FirstUse {
                policy: self.policy(&key, &address),
                messages: messages(key),
                rivals: rivals.collect(),
            })
        };
        facts.components.iter().map(|component| known(&component.kind)).collect()
    }

    /// Returns the validity of a key from that of its components, the primary user ID first.
    pub fn key(facts: &Facts, effective: &Effective, user_ids: &[Validity]) -> Validity {
        let primary = effective.primary_user_id(facts);
        let others = (0..facts.components.len()).filter(|&index| Some(index) != primary);
        let in_order = primary.into_iter().chain(others);
        let holding = in_order.filter_map(|index| {
            match (&facts.components[index].kind, &effective.components[index]) {
                (ComponentKind::UserId(_), ComponentState::User(user)) if !user.revoked => {
                    Some((!user.expired).then_some(user_ids[index]))
                }
                _ => None,
            }
        });
        validity::of_key(holding)
    }
}

/// Takes away the bindings that have not begun yet, since their keys were never used and are not asked about now. Returns
/// those that are used for the first time.
fn first_used(
    bindings: &mut Vec<Binding>,
    keys: Option<&[Fingerprint]>,
    sources: &Sources<'_>,
) -> Result<Vec<Binding>> {
    let Some(keys) = keys else { return read(BindingSelection::Unnumbered, sources) };
    let keys: HashSet<&Fingerprint> = keys.iter().collect();
    bindings.retain(|binding| binding.id.is_some() || keys.contains(&binding.fingerprint));
    Ok(bindings.iter().filter(|binding| binding.id.is_none()).cloned().collect())
}

fn decision(binding: Binding) -> Option<((Fingerprint, BoundAddress), Policy)> {
    let policy = Policy::from_number(binding.policy)?;
    (policy != Policy::Auto).then_some(((binding.fingerprint, binding.address), policy))
}

/// Counts the messages that were seen with bindings.
fn messages(
    selection: BindingSelection<'_>,
    sources: &Sources<'_>,
) -> Result<HashMap<(Fingerprint, BoundAddress), Messages>> {
    let mut counted = HashMap::new();
    for source in &sources.certificates {
        let Some(trust) = source.trust() else { continue };
        for Binding { id, fingerprint, address, .. } in bindings(*source, selection)? {
            let Some(id) = id else { continue };
            let messages = trust.messages(id)?;
            counted.entry((fingerprint, address)).or_insert(messages);
        }
    }
    Ok(counted)
}

/// Reads bindings, ordered by address, then by fingerprint; of those that several databases have, the first one's.
fn read(selection: BindingSelection<'_>, sources: &Sources<'_>) -> Result<Vec<Binding>> {
    let mut all = Vec::new();
    for source in &sources.certificates {
        all.extend(bindings(*source, selection)?);
    }
    sort_bindings(&mut all);
    Ok(all)
}

/// Returns the addresses of some keys.
fn addresses(keys: &[Fingerprint], sources: &Sources<'_>) -> Result<Vec<BoundAddress>> {
    let mut addresses = Vec::new();
    for source in &sources.certificates {
        let ids: Vec<_> = source.by_fingerprint(keys)?.into_iter().flatten().collect();
        source.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            let user_ids = record.facts.iter().flat_map(Facts::user_ids);
            addresses.extend(user_ids.map(BoundAddress::of_user_id));
            ControlFlow::Continue(())
        })?;
    }
    Ok(addresses)
}
