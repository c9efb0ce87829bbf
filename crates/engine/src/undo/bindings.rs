//! Undoing changes of a binding.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::{BoundAddress, Fingerprint};
use store::tofu::{BindingChange, BindingSelection, KeptBinding, policy_of};
use store::{Change, ChangeKind, ReadTrust};

use crate::Result;

/// What is stored of bindings now.
pub(super) type KeptBindings = HashMap<(Fingerprint, BoundAddress), KeptBinding>;

/// How a change is undone.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TakenBack {
    /// Nothing: it is as it was before.
    Nothing,
    /// A later command decided otherwise.
    Decided,
    /// This change.
    By(BindingChange),
}

/// Reads what is stored of the bindings that these changes are about.
pub(super) fn read(snapshot: &dyn ReadTrust, changes: &[Change]) -> Result<KeptBindings> {
    let addresses = changes.iter().filter_map(|change| match &change.kind {
        ChangeKind::Binding(Some(change)) => Some(change.address.clone()),
        _ => None,
    });
    let addresses: Vec<BoundAddress> = addresses.collect();
    let mut kept = HashMap::new();
    snapshot.bindings(BindingSelection::Addresses(&addresses), &mut |binding| {
        let of = (binding.fingerprint, binding.address.clone());
        kept.extend(binding.into_kept().map(|binding| (of, binding)));
        ControlFlow::Continue(())
    })?;
    Ok(kept)
}

/// Computes how a binding, of which `now` is stored, becomes what it was before a change. Unless forced, a binding with
/// a later decision stays as it is.
pub(super) fn take_back(change: BindingChange, now: Option<&KeptBinding>, force: bool) -> TakenBack {
    let BindingChange { address, before, after, added, removed } = change;
    let policy = policy_of(now);
    if !force && policy != policy_of(after.as_ref()) && policy != policy_of(before.as_ref()) {
        return TakenBack::Decided;
    }
    let mut back = before;
    if let (Some(back), Some(now), Some(after)) = (&mut back, now, &after)
        && now.since < after.since
    {
        // A later migration has seen it earlier.
        back.since = now.since;
    }
    let change = BindingChange { address, before: now.cloned(), after: back, added: removed, removed: added };
    if change.is_none() { TakenBack::Nothing } else { TakenBack::By(change) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cert::Timestamp;
    use store::tofu::{AUTO, SeenMessages};

    const GOOD: u8 = 2;
    const BAD: u8 = 4;

    fn kept(since: u32, policy: u8) -> Option<KeptBinding> {
        Some(KeptBinding { user_id: b"Ann <ann@example.org>".to_vec(), since: Timestamp(since), policy })
    }

    fn change(before: Option<KeptBinding>, after: Option<KeptBinding>) -> BindingChange {
        let address = BoundAddress::of_user_id(b"Ann <ann@example.org>");
        let [added, removed] = [SeenMessages::default(), SeenMessages::default()];
        BindingChange { address, before, after, added, removed }
    }

    #[test]
    fn a_decision_is_taken_back_to_what_it_was() {
        let decided = change(None, kept(5, GOOD));
        let back = TakenBack::By(change(kept(5, GOOD), None));
        assert_eq!(take_back(decided, kept(5, GOOD).as_ref(), false), back);
    }

    #[test]
    fn what_is_as_it_was_stays() {
        let decided = change(kept(5, AUTO), kept(5, GOOD));
        assert_eq!(take_back(decided, kept(5, AUTO).as_ref(), false), TakenBack::Nothing);
    }

    #[test]
    fn a_later_decision_stays_unless_forced() {
        let decided = || change(kept(5, AUTO), kept(5, GOOD));
        let now = kept(5, BAD);
        assert_eq!(take_back(decided(), now.as_ref(), false), TakenBack::Decided);
        let forced = TakenBack::By(change(now.clone(), kept(5, AUTO)));
        assert_eq!(take_back(decided(), now.as_ref(), true), forced);
    }

    #[test]
    fn a_time_that_became_older_since_stays() {
        let decided = change(kept(5, AUTO), kept(5, GOOD));
        let back = TakenBack::By(change(kept(3, GOOD), kept(3, AUTO)));
        assert_eq!(take_back(decided, kept(3, GOOD).as_ref(), false), back);
    }

    #[test]
    fn messages_that_went_come_back_and_those_that_came_go() {
        let [old, new] =
            [1, 2].map(|time| SeenMessages { encrypted: vec![Timestamp(time)], ..Default::default() });
        let seen =
            BindingChange { added: new.clone(), removed: old.clone(), ..change(kept(5, 1), kept(5, 1)) };
        let TakenBack::By(back) = take_back(seen, kept(5, AUTO).as_ref(), false) else {
            panic!("there is something to take back");
        };
        assert_eq!((back.added, back.removed), (old, new));
    }
}
