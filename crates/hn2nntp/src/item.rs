//! Items of Hacker News, as the API describes them: <https://github.com/HackerNews/API>.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use time::OffsetDateTime;

/// The number of an item. A reply has a higher number than its parent.
pub(crate) type Id = u64;

/// The longest accepted text of an item, in bytes.
const MAX_TEXT: usize = 128 * 1024;

/// Why something is not a valid item.
#[derive(Debug, Error)]
pub(crate) enum ItemError {
    #[error("not an item: {0}")]
    Form(#[from] serde_json::Error),
    #[error("item {id}: has no {field}")]
    Lacks { id: Id, field: &'static str },
    #[error("item {id}: unknown type {kind:?}")]
    Kind { id: Id, kind: String },
    #[error("item {id}: {time} is no time")]
    Time { id: Id, time: i64 },
    #[error("item {id}: says that it replies to the later item {parent}")]
    Parent { id: Id, parent: Id },
    #[error("item {id}: its text is longer than {MAX_TEXT} bytes")]
    Long { id: Id },
}

/// The position of an item in its thread, which `get` adds in the field `thread`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Thread {
    /// The ancestors, from the story to the parent.
    pub(crate) ancestors: Vec<Id>,
    /// The title of the story.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) id: Id,
    /// Its parent, or the poll of an option. Always a lower number.
    pub(crate) parent: Option<Id>,
    /// Its direct replies, best first. Always higher numbers.
    pub(crate) kids: Vec<Id>,
    /// The options of a poll. Always higher numbers.
    pub(crate) parts: Vec<Id>,
    pub(crate) thread: Option<Thread>,
    pub(crate) status: ItemStatus,
}

/// Whether the item can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemStatus {
    /// Its author removed it; its replies remain.
    Deleted,
    /// The site hides it.
    Dead,
    Live(Post),
}

/// The contents of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) by: String,
    pub(crate) time: OffsetDateTime,
    /// HTML.
    pub(crate) text: Option<String>,
    pub(crate) kind: Kind,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Submission(Submission),
    Comment,
    /// An option of the poll that is its parent.
    PollOption {
        score: i64,
    },
}

/// The first item of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    pub(crate) what: Top,
    pub(crate) title: String,
    pub(crate) link: Option<String>,
    pub(crate) score: Option<i64>,
    /// The number of comments in the thread.
    pub(crate) comments: Option<u64>,
}

/// The kinds of submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    Story,
    Job,
    Poll,
}

impl Top {
    /// Returns the API's name of it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Story => "story",
            Self::Job => "job",
            Self::Poll => "poll",
        }
    }
}

/// The fields that are read; the API may have others.
#[derive(Deserialize)]
struct Fields {
    id: Id,
    #[serde(rename = "type")]
    kind: Option<String>,
    by: Option<String>,
    time: Option<i64>,
    text: Option<String>,
    title: Option<String>,
    url: Option<String>,
    score: Option<i64>,
    descendants: Option<u64>,
    parent: Option<Id>,
    poll: Option<Id>,
    #[serde(default)]
    kids: Vec<Id>,
    #[serde(default)]
    parts: Vec<Id>,
    #[serde(default)]
    deleted: bool,
    #[serde(default)]
    dead: bool,
    thread: Option<Thread>,
}

impl Item {
    /// Reads an item. Returns `None` for the API's `null`, which means that there is no such item.
    ///
    /// # Errors
    ///
    /// If it is not JSON, lacks a field that an article needs, or contradicts the order of numbers.
    pub(crate) fn parse(json: &[u8]) -> Result<Option<Self>, ItemError> {
        serde_json::from_slice::<Option<Fields>>(json)?.map(Self::from_fields).transpose()
    }

    fn from_fields(fields: Fields) -> Result<Self, ItemError> {
        let id = fields.id;
        let parent = fields.parent.or(fields.poll);
        if let Some(parent) = parent.filter(|&parent| parent >= id) {
            return Err(ItemError::Parent { id, parent });
        }
        let later = |ids: &[Id]| ids.iter().copied().filter(|&kid| kid > id).collect();
        Ok(Self {
            id,
            parent,
            kids: later(&fields.kids),
            parts: later(&fields.parts),
            thread: fields.thread.clone().filter(|thread| thread.leads_to(id, parent)),
            status: match (fields.deleted, fields.dead) {
                (true, _) => ItemStatus::Deleted,
                (false, true) => ItemStatus::Dead,
                (false, false) => ItemStatus::Live(Post::from_fields(fields, parent)?),
            },
        })
    }

    /// Returns the title of a submission that can be read.
    pub(crate) fn title(&self) -> Option<&str> {
        match &self.status {
            ItemStatus::Live(Post { kind: Kind::Submission(submission), .. }) => Some(&submission.title),
            _ => None,
        }
    }
}

impl Thread {
    /// Returns whether the ancestors lead to this item: ascending numbers, the last one the parent's.
    fn leads_to(&self, id: Id, parent: Option<Id>) -> bool {
        self.ancestors.is_sorted_by(|a, b| a < b)
            && self.ancestors.last().is_none_or(|&last| last < id && Some(last) == parent)
    }
}

impl Post {
    fn from_fields(fields: Fields, parent: Option<Id>) -> Result<Self, ItemError> {
        let id = fields.id;
        let lacks = |field| ItemError::Lacks { id, field };
        let seconds = fields.time.ok_or(lacks("time"))?;
        if fields.text.as_ref().is_some_and(|text| text.len() > MAX_TEXT) {
            return Err(ItemError::Long { id });
        }
        let submission = |what| -> Result<Kind, ItemError> {
            Ok(Kind::Submission(Submission {
                what,
                title: fields.title.ok_or(lacks("title"))?,
                link: fields.url.filter(|url| !url.is_empty()),
                score: fields.score,
                comments: fields.descendants,
            }))
        };
        let kind = match fields.kind.as_deref().ok_or(lacks("type"))? {
            "story" => submission(Top::Story)?,
            "job" => submission(Top::Job)?,
            "poll" => submission(Top::Poll)?,
            "comment" => parent.map(|_| Kind::Comment).ok_or(lacks("parent"))?,
            "pollopt" => {
                parent.map(|_| Kind::PollOption { score: fields.score.unwrap_or(0) }).ok_or(lacks("poll"))?
            }
            other => return Err(ItemError::Kind { id, kind: other.chars().take(40).collect() }),
        };
        Ok(Self {
            by: fields.by.unwrap_or_else(|| "unknown".to_owned()),
            time: article_time(seconds).ok_or(ItemError::Time { id, time: seconds })?,
            text: fields.text,
            kind,
        })
    }
}

/// Returns the time, if it is valid for an article's `Date`: from 1970 to the end of the year 9999.
fn article_time(seconds: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(seconds).ok().filter(|time| (1970..=9999).contains(&time.year()))
}

/// Returns one line of JSON without its line end: the API's answer and the position in the thread.
pub(crate) fn line(mut answer: Value, thread: &Thread) -> String {
    if let (Value::Object(fields), false) = (&mut answer, thread.ancestors.is_empty()) {
        fields.insert("thread".to_owned(), serde_json::json!(thread));
    }
    answer.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(json: &str) -> Result<Option<Item>, ItemError> {
        Item::parse(json.as_bytes())
    }

    #[test]
    fn null_is_no_item() {
        assert_eq!(parse("null").unwrap(), None);
    }

    #[test]
    fn a_deleted_comment_needs_no_author_and_keeps_its_replies() {
        let item = parse(r#"{"id":5,"deleted":true,"type":"comment","parent":2,"kids":[7,6],"time":1}"#);
        let item = item.unwrap().unwrap();
        assert_eq!((item.parent, item.kids, item.status), (Some(2), vec![7, 6], ItemStatus::Deleted));
    }

    #[test]
    fn what_an_article_needs_must_be_there() {
        for (json, says) in [
            (r#"{"id":5,"type":"story","by":"a","time":1}"#, "item 5: has no title"),
            (r#"{"id":5,"type":"story","by":"a","title":"t"}"#, "item 5: has no time"),
            (r#"{"id":5,"type":"comment","by":"a","time":1}"#, "item 5: has no parent"),
            (r#"{"id":5,"type":"song","by":"a","time":1}"#, "item 5: unknown type \"song\""),
            (
                r#"{"id":5,"type":"comment","time":1,"parent":6}"#,
                "item 5: says that it replies to the later item 6",
            ),
            (r#"{"id":5,"type":"job","title":"t","time":253402300800}"#, "item 5: 253402300800 is no time"),
        ] {
            assert_eq!(parse(json).unwrap_err().to_string(), says);
        }
        assert!(parse("[1]").unwrap_err().to_string().starts_with("not an item: "));
    }

    #[test]
    fn a_reply_with_a_lower_number_is_no_reply() {
        let item = parse(r#"{"id":5,"type":"story","title":"t","time":1,"kids":[5,4,6]}"#).unwrap().unwrap();
        assert_eq!(item.kids, [6]);
    }

    #[test]
    fn a_thread_that_does_not_lead_to_the_parent_is_not_believed() {
        let with = |ancestors: &str| {
            let json = format!(
                r#"{{"id":9,"type":"comment","time":1,"parent":4,"thread":{{"ancestors":{ancestors},"title":"t"}}}}"#
            );
            parse(&json).unwrap().unwrap().thread
        };
        assert!(with("[1,4]").is_some());
        for wrong in ["[1]", "[4,1]", "[4,4]", "[1,4,9]"] {
            assert_eq!(with(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Item::parse(&bytes);
        }

        #[test]
        fn no_mixture_of_fields_panics(
            id: u64, time: Option<i64>, parent: Option<u64>, kids: Vec<u64>, ancestors: Vec<u64>,
            kind in "story|job|poll|comment|pollopt|x", deleted: bool, title: Option<String>, text: Option<String>,
        ) {
            let json = serde_json::json!({
                "id": id, "time": time, "parent": parent, "kids": kids, "type": kind, "deleted": deleted,
                "title": title, "text": text, "thread": { "ancestors": ancestors },
            });
            if let Ok(Some(item)) = Item::parse(json.to_string().as_bytes()) {
                prop_assert!(item.parent.is_none_or(|parent| parent < item.id));
                prop_assert!(item.kids.iter().all(|&kid| kid > item.id));
            }
        }
    }
}
