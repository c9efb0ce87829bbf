//! The relations of items that articles need: ancestors, the story's title, the options of a poll.
//!
//! An item names only its parent. The rest is collected from all items of the input, in any order, and from the field
//! `thread` that `hn2nntp get` adds.

use std::collections::HashMap;

use crate::item::{Id, Item, ItemStatus, Kind, Post};

/// The longest chain of ancestors that is followed.
const MAX_ANCESTORS: usize = 500;

/// The relations of the items of the input.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    known: HashMap<Id, Link>,
    options: HashMap<Id, Vec<PollOption>>,
}

#[derive(Debug, Default)]
struct Link {
    parent: Option<Id>,
    title: Option<Box<str>>,
}

/// An option of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PollOption {
    pub(crate) id: Id,
    /// HTML.
    pub(crate) text: String,
    pub(crate) score: i64,
}

/// The position of an article in its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadPosition<'a> {
    /// The known ancestors, from the first of the thread.
    pub(crate) ancestors: Vec<Id>,
    /// The title of the thread, if it is known.
    pub(crate) title: Option<&'a str>,
}

impl Threads {
    /// Records the relations of an item.
    pub(crate) fn record(&mut self, item: &Item) {
        self.link(item.id, item.parent, item.title());
        if let Some(thread) = &item.thread {
            let mut parent = None;
            for &ancestor in &thread.ancestors {
                let title = if parent.is_none() { thread.title.as_deref() } else { None };
                self.link(ancestor, parent, title);
                parent = Some(ancestor);
            }
        }
        if let (ItemStatus::Live(Post { kind: Kind::PollOption { score }, text, .. }), Some(poll)) =
            (&item.status, item.parent)
        {
            let options = self.options.entry(poll).or_default();
            if options.iter().all(|option| option.id != item.id) {
                options.push(PollOption {
                    id: item.id,
                    text: text.clone().unwrap_or_default(),
                    score: *score,
                });
            }
        }
    }

    fn link(&mut self, id: Id, parent: Option<Id>, title: Option<&str>) {
        let link = self.known.entry(id).or_default();
        link.parent = link.parent.or(parent);
        if link.title.is_none() {
            link.title = title.map(Box::from);
        }
    }

    /// Returns the position of an item.
    pub(crate) fn position(&self, item: &Item) -> ThreadPosition<'_> {
        let parent_of = |&id: &Id| self.known.get(&id).and_then(|link| link.parent);
        let mut ancestors: Vec<Id> =
            std::iter::successors(item.parent, parent_of).take(MAX_ANCESTORS).collect();
        ancestors.reverse();
        let first = self.known.get(ancestors.first().unwrap_or(&item.id));
        ThreadPosition { title: first.and_then(|link| link.title.as_deref()), ancestors }
    }

    /// Returns the options of a poll that are in the input, in the order of the poll.
    pub(crate) fn options(&self, poll: &Item) -> Vec<&PollOption> {
        let mut options: Vec<&PollOption> = self.options.get(&poll.id).into_iter().flatten().collect();
        let position = |id| poll.parts.iter().position(|&part| part == id).unwrap_or(usize::MAX);
        options.sort_by_key(|option| (position(option.id), option.id));
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: serde_json::Value) -> Item {
        Item::parse(json.to_string().as_bytes()).unwrap().unwrap()
    }

    fn comment(id: Id, parent: Id) -> Item {
        item(serde_json::json!({"id": id, "type": "comment", "time": 1, "parent": parent}))
    }

    fn story(id: Id) -> Item {
        item(serde_json::json!({"id": id, "type": "story", "time": 1, "title": "T"}))
    }

    #[test]
    fn the_order_of_the_input_does_not_matter() {
        let mut threads = Threads::default();
        for item in [comment(4, 3), comment(3, 2), story(2)] {
            threads.record(&item);
        }
        assert_eq!(
            threads.position(&comment(4, 3)),
            ThreadPosition { ancestors: vec![2, 3], title: Some("T") }
        );
        assert_eq!(threads.position(&story(2)), ThreadPosition { ancestors: vec![], title: Some("T") });
    }

    #[test]
    fn a_deleted_comment_still_joins_its_replies_to_the_thread() {
        let mut threads = Threads::default();
        threads.record(&story(2));
        threads.record(&item(serde_json::json!({"id": 3, "type": "comment", "deleted": true, "parent": 2})));
        assert_eq!(threads.position(&comment(4, 3)).ancestors, [2, 3]);
    }

    #[test]
    fn without_its_ancestors_an_item_has_its_parent_only() {
        assert_eq!(
            Threads::default().position(&comment(4, 3)),
            ThreadPosition { ancestors: vec![3], title: None }
        );
    }

    #[test]
    fn what_get_says_of_the_thread_is_used() {
        let mut threads = Threads::default();
        let reply = item(serde_json::json!({"id": 9, "type": "comment", "time": 1, "parent": 4,
            "thread": {"ancestors": [2, 4], "title": "T"}}));
        threads.record(&reply);
        assert_eq!(threads.position(&reply), ThreadPosition { ancestors: vec![2, 4], title: Some("T") });
    }

    #[test]
    fn the_options_of_a_poll_are_in_its_order() {
        let mut threads = Threads::default();
        for id in [3, 4, 4] {
            threads.record(&item(
                serde_json::json!({"id": id, "type": "pollopt", "time": 1, "poll": 2, "score": id}),
            ));
        }
        let poll =
            item(serde_json::json!({"id": 2, "type": "poll", "time": 1, "title": "P", "parts": [4, 3]}));
        assert_eq!(threads.options(&poll).iter().map(|option| option.id).collect::<Vec<_>>(), [4, 3]);
    }
}
