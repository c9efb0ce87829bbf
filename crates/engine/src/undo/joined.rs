//! Several successive changes that a command made to the same thing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cert::{BoundAddress, Fingerprint};
use store::{Change, ChangeKind};

/// Joins successive changes of the same owner trust, or of the same binding, at the position of the first one: only the
/// first one knows the state before, and only the last one the state now.
pub(super) fn joined(changes: Vec<Change>) -> Vec<Change> {
    let mut joined: Vec<Change> = Vec::with_capacity(changes.len());
    let mut places: HashMap<(Fingerprint, Option<BoundAddress>), usize> = HashMap::new();
    for change in changes {
        let address = match &change.kind {
            ChangeKind::OwnerTrust { .. } => None,
            ChangeKind::Binding(Some(binding)) => Some(binding.address.clone()),
            _ => {
                joined.push(change);
                continue;
            }
        };
        match places.entry((change.fingerprint, address)) {
            Entry::Occupied(entry) => join(&mut joined[*entry.get()].kind, change.kind),
            Entry::Vacant(entry) => {
                entry.insert(joined.len());
                joined.push(change);
            }
        }
    }
    joined
}

fn join(earlier: &mut ChangeKind, later: ChangeKind) {
    match (earlier, later) {
        (ChangeKind::OwnerTrust { after, .. }, ChangeKind::OwnerTrust { after: last, .. }) => *after = last,
        (ChangeKind::Binding(Some(earlier)), ChangeKind::Binding(Some(later))) => {
            earlier.after = later.after;
            for (seen, more) in [(&mut earlier.added, later.added), (&mut earlier.removed, later.removed)] {
                seen.verified.extend(more.verified);
                seen.encrypted.extend(more.encrypted);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use store::AssignedTrust;

    use super::*;

    #[test]
    fn of_several_changes_to_one_owner_trust_the_first_before_and_the_last_after_count() {
        let [one, other] = [1, 2].map(|number| Fingerprint::V4([number; 20]));
        let trust = |value| Some(AssignedTrust::new(value, false));
        let change = |fingerprint, before, after| Change {
            fingerprint,
            kind: ChangeKind::OwnerTrust { before, after },
        };
        let changes = vec![
            change(one, None, trust(4)),
            Change { fingerprint: one, kind: ChangeKind::Added },
            change(other, trust(3), None),
            change(one, trust(4), trust(5)),
        ];
        let kinds: Vec<_> =
            joined(changes).into_iter().map(|change| (change.fingerprint, change.kind)).collect();
        let owner_trust = |before, after| ChangeKind::OwnerTrust { before, after };
        assert_eq!(
            kinds,
            [
                (one, owner_trust(None, trust(5))),
                (one, ChangeKind::Added),
                (other, owner_trust(trust(3), None))
            ]
        );
    }
}
