//! Makes the listing of one certificate.

use cert::effective::{ComponentState, Effective};
use cert::facts::{ComponentKind, Facts, SignatureFacts};
use cert::packet::Packets;
use cert::packet::Span;
use store::Origin;

use super::{
    IssuerName, KeyListing, ListOptions, ListedComponent, ListedItem, ListedSignature, Names, Signatures,
    StatedPreferences, StoredTimes, UserTrust,
};
use crate::certifications::CertificationStatuses;

/// Makes listings: what they hold, and who issuers are.
#[derive(Clone, Copy)]
pub struct Lister<'a> {
    /// What a listing holds.
    pub options: ListOptions,
    /// The names of issuers; used for [`Signatures::Named`] only.
    pub names: &'a Names<'a>,
}

/// A certificate to be listed.
#[derive(Clone, Copy, Debug)]
pub struct ListingSource<'a> {
    /// What it holds.
    pub facts: &'a Facts,
    /// Its state now.
    pub effective: &'a Effective,
    /// Its bytes; without them a listing has no bodies of packets.
    pub bytes: Option<&'a [u8]>,
    /// The user's trust in it.
    pub trust: &'a UserTrust,
    /// Where it came from.
    pub origin: &'a Origin,
    /// Where its user IDs came from, as far as that is known.
    pub user_id_origins: &'a [(Vec<u8>, Origin)],
    /// Its times in the database.
    pub stored: Option<StoredTimes>,
    /// The status of its signatures, if they were checked.
    pub statuses: Option<&'a CertificationStatuses>,
}

impl<'a> Lister<'a> {
    /// Returns the listing of one certificate.
    pub fn listing(&self, source: ListingSource<'a>) -> KeyListing<'a> {
        let components = order(source.facts, source.effective);
        KeyListing {
            components: components.into_iter().filter_map(|index| self.component(index, &source)).collect(),
            preferences: StatedPreferences::of(source.facts, source.effective),
            revokers: &source.effective.revokers,
            fully_checked: source.effective.fully_checked,
            trust: source.trust,
            origin: source.origin,
            stored: source.stored,
        }
    }

    fn component(&self, index: usize, source: &ListingSource<'a>) -> Option<ListedComponent<'a>> {
        let component = &source.facts.components[index];
        let body = self.body(component.span, source);
        let signatures = self.signatures(index, source);
        let validity = source.trust.of_component(index);
        let item = match (&component.kind, &source.effective.components[index]) {
            (ComponentKind::Key(facts), ComponentState::Key(state)) if index == 0 => {
                ListedItem::Primary(facts, state)
            }
            (ComponentKind::Key(facts), ComponentState::Key(state)) => ListedItem::Subkey(facts, state),
            (ComponentKind::UserId(value), ComponentState::User(state)) => {
                ListedItem::UserId(value, state, validity)
            }
            (ComponentKind::Attribute(facts), ComponentState::User(state)) => {
                ListedItem::Attribute(facts, state, validity)
            }
            // A packet of an unknown type is not listed.
            _ => return None,
        };
        let origin = match item {
            ListedItem::UserId(value, ..) => {
                source.user_id_origins.iter().find(|(user_id, _)| user_id == value).map(|(_, origin)| origin)
            }
            _ => None,
        };
        let first_use = source.trust.first_uses.get(index).and_then(Option::as_ref);
        let own = match item {
            ListedItem::UserId(_, state, _) | ListedItem::Attribute(_, state, _) if !state.revoked => {
                state.binding.and_then(|binding| component.signatures[binding].own.as_deref())
            }
            _ => None,
        };
        Some(ListedComponent { index, item, origin, first_use, own, body, signatures })
    }

    fn signatures(&self, index: usize, source: &ListingSource<'a>) -> Vec<ListedSignature<'a>> {
        if self.options.signatures == Signatures::Without {
            return Vec::new();
        }
        let component = &source.facts.components[index];
        let statuses = source.statuses.map(|statuses| statuses.of(index));
        let mut signatures = Vec::with_capacity(component.signatures.len());
        for (index, facts) in component.signatures.iter().enumerate() {
            if self.options.view.shows(facts) {
                signatures.push(ListedSignature {
                    facts,
                    expired: facts.has_expired(self.options.now),
                    issuer: self.issuer(facts),
                    status: statuses.map(|statuses| statuses[index]),
                    body: self.body(facts.span, source),
                });
            }
        }
        signatures
    }

    fn issuer(&self, signature: &SignatureFacts) -> IssuerName<'a> {
        match self.options.signatures {
            Signatures::Named => self.names.issuer(signature.issuer.key_id),
            Signatures::Plain | Signatures::Without => IssuerName::NotAsked,
        }
    }

    fn body(&self, span: Span, source: &ListingSource<'a>) -> Option<&'a [u8]> {
        let bytes = source.bytes.filter(|_| self.options.bodies)?;
        let packet = bytes.get(span.start as usize..span.end as usize)?;
        Some(Packets::new(packet).next()?.ok()?.body)
    }
}

/// Returns the order in which components are listed: the primary user ID and the first primary attribute come before
/// the other user IDs and attributes.
fn order(facts: &Facts, effective: &Effective) -> Vec<usize> {
    let mut order: Vec<usize> = (0..facts.components.len()).collect();
    let is_attribute = |index: usize| matches!(facts.components[index].kind, ComponentKind::Attribute(_));
    let is_primary =
        |index: usize| matches!(&effective.components[index], ComponentState::User(user) if user.primary);
    let Some(first) = effective.components.iter().position(|state| matches!(state, ComponentState::User(_)))
    else {
        return order;
    };
    for attribute in [true, false] {
        let primary = order.iter().position(|&index| is_primary(index) && is_attribute(index) == attribute);
        if let Some(index) = primary {
            order[first..=index].rotate_right(1);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use cert::effective::{KeyState, UserIdState};
    use cert::facts::AttributeFacts;
    use cert::facts::Component;

    /// `A` and `U` are primary attributes and user IDs, small letters others, `k` a key.
    fn ordered(letters: &str) -> String {
        let span = Span { start: 0, end: 0 };
        let kind = |letter: char| match letter {
            'a' | 'A' => {
                ComponentKind::Attribute(AttributeFacts { subpackets: vec![], name_hash: [0; 20], length: 0 })
            }
            // Only the kind of state matters here.
            _ => ComponentKind::UserId(vec![]),
        };
        let facts = Facts {
            components: letters
                .chars()
                .map(|letter| Component { span, kind: kind(letter), signatures: vec![], unread: vec![] })
                .collect(),
        };
        let state = |letter: char| match letter {
            'k' => ComponentState::Key(KeyState::default()),
            _ => {
                ComponentState::User(UserIdState { primary: letter.is_uppercase(), ..UserIdState::default() })
            }
        };
        let effective = Effective {
            components: letters.chars().map(state).collect(),
            revokers: vec![],
            fully_checked: true,
        };
        let letters: Vec<char> = letters.chars().collect();
        order(&facts, &effective).into_iter().map(|index| letters[index]).collect()
    }

    #[test]
    fn the_primary_user_id_comes_first_and_the_primary_attribute_after_it() {
        assert_eq!(ordered("kuuUAukk"), "kUAuuukk");
        assert_eq!(ordered("kUuk"), "kUuk");
        assert_eq!(ordered("kauAk"), "kAauk");
        assert_eq!(ordered("kk"), "kk");
    }
}
