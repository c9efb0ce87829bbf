//! The order in which items are fetched and written: each thread from its story down, as the site shows it.
//!
//! Items are prefetched over several connections; the order of writing depends only on the items, not on the order of
//! answers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::item::{Id, Item, Thread};

/// The number of items that are prefetched while one slow answer delays writing.
const LOOK_AHEAD: usize = 1000;
/// The largest number of ancestors that is written of an item.
const MAX_ANCESTORS: usize = 500;

/// The requested items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// A list in this order; the set has the same numbers.
    Listed(Vec<Id>, HashSet<Id>),
    Range(RangeInclusive<Id>),
}

/// What is fetched in addition to the requested items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// All descendants.
    pub(crate) kids: bool,
    /// All ancestors.
    pub(crate) parents: bool,
}

/// Why an item is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It was requested.
    Root,
    /// It replies to an item, or is an option of a poll.
    Reply,
    /// It is the parent of an item.
    Ancestor,
}

/// The next item in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ready<T> {
    pub(crate) id: Id,
    pub(crate) role: Role,
    pub(crate) outcome: T,
}

/// The traversal of the threads. `T` is the result of fetching an item.
pub(crate) struct Walk<T> {
    roots: Roots,
    /// The number of roots that were queued.
    taken: usize,
    extent: Extent,
    queue: VecDeque<Slot<T>>,
    /// Every item that was ever queued.
    known: HashMap<Id, Link>,
}

struct Slot<T> {
    id: Id,
    role: Role,
    state: State<T>,
}

enum State<T> {
    Waiting,
    Fetching,
    Fetched(T),
}

#[derive(Clone, Default)]
struct Link {
    parent: Option<Id>,
    title: Option<Rc<str>>,
}

impl<T> Walk<T> {
    /// Starts a traversal.
    pub(crate) fn new(roots: Roots, extent: Extent) -> Self {
        Self { roots, taken: 0, extent, queue: VecDeque::new(), known: HashMap::new() }
    }

    /// Returns the number of the item to fetch next, or `None` while there is none.
    pub(crate) fn next_fetch(&mut self) -> Option<Id> {
        let waiting = |slot: &&mut Slot<T>| matches!(slot.state, State::Waiting);
        if let Some(slot) = self.queue.iter_mut().take(LOOK_AHEAD).find(waiting) {
            slot.state = State::Fetching;
            return Some(slot.id);
        }
        if self.queue.len() >= LOOK_AHEAD {
            return None;
        }
        let id = self.next_root()?;
        self.queue.push_back(Slot { id, role: Role::Root, state: State::Fetching });
        Some(id)
    }

    /// Records the result of fetching an item; `item` is `None` if it could not be read.
    pub(crate) fn fetched(&mut self, id: Id, item: Option<&Item>, outcome: T) {
        let fetching = |slot: &Slot<T>| slot.id == id && matches!(slot.state, State::Fetching);
        let Some(position) = self.queue.iter().position(fetching) else { return };
        let role = self.queue[position].role;
        self.queue[position].state = State::Fetched(outcome);
        let Some(item) = item else { return };
        self.known.insert(id, Link { parent: item.parent, title: item.title().map(Rc::from) });
        self.queue_replies(position, role, item);
        if let (Some(parent), true) = (item.parent, self.extent.parents && role != Role::Reply)
            && !self.roots.contain(parent)
            && self.is_new(parent)
        {
            self.queue.insert(position, Slot { id: parent, role: Role::Ancestor, state: State::Waiting });
        }
    }

    /// Returns the next item in order, once it has been fetched.
    pub(crate) fn next_ready(&mut self) -> Option<Ready<T>> {
        match self.queue.pop_front()? {
            Slot { id, role, state: State::Fetched(outcome) } => Some(Ready { id, role, outcome }),
            unfinished => {
                self.queue.push_front(unfinished);
                None
            }
        }
    }

    /// Returns the position of an item in its thread, by the ancestors that were fetched before it.
    pub(crate) fn thread(&self, id: Id) -> Thread {
        let parent_of = |id: Id| self.known.get(&id).and_then(|link| link.parent);
        let mut ancestors: Vec<Id> =
            std::iter::successors(parent_of(id), |&id| parent_of(id)).take(MAX_ANCESTORS).collect();
        ancestors.reverse();
        let story = ancestors.first().and_then(|story| self.known.get(story));
        let title = story.and_then(|story| story.title.as_deref().map(str::to_owned));
        Thread { ancestors, title }
    }

    /// Returns how many items are queued.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    fn queue_replies(&mut self, position: usize, role: Role, item: &Item) {
        let kids = if self.extent.kids && role != Role::Ancestor { item.kids.as_slice() } else { &[] };
        let parts = if role == Role::Ancestor { &[] } else { item.parts.as_slice() };
        let after = self.queue.split_off(position + 1);
        for &reply in parts.iter().chain(kids) {
            if !self.roots.contain(reply) && self.is_new(reply) {
                self.queue.push_back(Slot { id: reply, role: Role::Reply, state: State::Waiting });
            }
        }
        self.queue.extend(after);
    }

    fn next_root(&mut self) -> Option<Id> {
        loop {
            let id = match &mut self.roots {
                Roots::Listed(ids, _) => *ids.get(self.taken)?,
                Roots::Range(range) => range.clone().nth(self.taken)?,
            };
            self.taken += 1;
            if self.is_new(id) {
                return Some(id);
            }
        }
    }

    fn is_new(&mut self, id: Id) -> bool {
        let new = !self.known.contains_key(&id);
        if new {
            self.known.insert(id, Link::default());
        }
        new
    }
}

impl Roots {
    /// Returns these items, in this order.
    pub(crate) fn listed(ids: Vec<Id>) -> Self {
        let set = ids.iter().copied().collect();
        Self::Listed(ids, set)
    }

    /// Returns whether the item was requested itself, which gives it its own position in the order.
    fn contain(&self, id: Id) -> bool {
        match self {
            Self::Listed(_, set) => set.contains(&id),
            Self::Range(range) => range.contains(&id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a forest: item `i + 1` has the parent `parents[i]`.
    fn items(parents: &[Option<Id>]) -> Vec<Item> {
        (1..)
            .zip(parents)
            .map(|(id, &parent)| {
                let kids: Vec<Id> =
                    (1..).zip(parents).filter(|&(_, p)| *p == Some(id)).map(|(kid, _)| kid).collect();
                let json = match parent {
                    None => {
                        serde_json::json!({"id": id, "type": "story", "title": "T", "time": 1, "kids": kids})
                    }
                    Some(parent) => serde_json::json!(
                        {"id": id, "type": "comment", "parent": parent, "time": 1, "kids": kids}),
                };
                Item::parse(json.to_string().as_bytes()).unwrap().unwrap()
            })
            .collect()
    }

    /// Traverses with so many concurrent fetches, which are answered in the order of `choose`.
    fn walk(
        items: &[Item],
        roots: Roots,
        extent: Extent,
        width: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Id> {
        let mut walk = Walk::new(roots, extent);
        let (mut under_way, mut written) = (Vec::new(), Vec::new());
        loop {
            while under_way.len() < width
                && let Some(id) = walk.next_fetch()
            {
                under_way.push(id);
            }
            if under_way.is_empty() {
                return written;
            }
            let id = under_way.swap_remove(choose(under_way.len()));
            walk.fetched(id, items.get(id as usize - 1), ());
            while let Some(ready) = walk.next_ready() {
                written.push(ready.id);
            }
        }
    }

    const ALL: Extent = Extent { kids: true, parents: true };

    #[test]
    fn a_thread_is_written_from_the_story_down() {
        let items = items(&[None, Some(1), Some(1), Some(2), Some(4)]);
        let first = &mut |_| 0;
        assert_eq!(walk(&items, Roots::listed(vec![1]), ALL, 3, first), [1, 2, 4, 5, 3]);
        let alone = Extent { kids: false, parents: false };
        assert_eq!(walk(&items, Roots::listed(vec![4, 1]), alone, 3, first), [4, 1]);
    }

    #[test]
    fn ancestors_come_before_what_was_asked_for_and_bring_no_other_replies() {
        let items = items(&[None, Some(1), Some(1), Some(2), Some(4)]);
        assert_eq!(walk(&items, Roots::listed(vec![4]), ALL, 2, &mut |_| 0), [1, 2, 4, 5]);
    }

    #[test]
    fn the_thread_of_an_item_names_every_ancestor_and_the_title() {
        let items = items(&[None, Some(1), Some(2)]);
        let mut walk = Walk::new(Roots::listed(vec![1]), ALL);
        while let Some(id) = walk.next_fetch() {
            walk.fetched(id, items.get(id as usize - 1), ());
        }
        assert_eq!(walk.thread(3), Thread { ancestors: vec![1, 2], title: Some("T".to_owned()) });
        assert_eq!(walk.thread(1), Thread::default());
    }

    proptest! {
        #[test]
        fn every_item_is_written_once_after_its_parent_whatever_order_answers_come_in(
            seeds in proptest::collection::vec(any::<u16>(), 1..60),
            choices in proptest::collection::vec(any::<u16>(), 60..61),
            width in 1..9_usize, range: bool,
        ) {
            let parents: Vec<Option<Id>> =
                (0..).zip(&seeds).map(|(i, &seed)| Some(Id::from(seed) % (i + 1)).filter(|&p| p != 0)).collect();
            let items = items(&parents);
            let roots = || if range {
                Roots::Range(1..=items.len() as Id)
            } else {
                Roots::listed((1..).zip(&parents).filter(|(_, parent)| parent.is_none()).map(|(id, _)| id).collect())
            };
            let mut answers = choices.iter().cycle();
            let mut choose = |n| usize::from(*answers.next().unwrap()) % n;
            let written = walk(&items, roots(), ALL, width, &mut choose);
            prop_assert_eq!(&written, &walk(&items, roots(), ALL, 1, &mut |_| 0));
            prop_assert_eq!(written.len(), items.len());
            let position = |id| written.iter().position(|&other| other == id);
            for item in &items {
                prop_assert!(item.parent.is_none_or(|parent| position(parent) < position(item.id)));
            }
        }
    }
}
