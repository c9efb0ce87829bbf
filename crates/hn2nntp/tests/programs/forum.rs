//! Items made for the tests: every kind, every defect, deep and wide threads.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A story with comments five levels deep, among them one that is deleted, one dead, one broken.
pub(crate) const STORY: u64 = 100;
/// A poll with three options.
pub(crate) const POLL: u64 = 200;
/// A job.
pub(crate) const JOB: u64 = 300;
/// A story with 2,000 comments.
pub(crate) const BIG: u64 = 1000;
/// Items that cannot be used: deleted, cut off, without a title, of an unknown type, another item's answer.
pub(crate) const UNUSABLE: [u64; 5] = [400, 401, 402, 403, 404];

/// What a forum answers: the text of each item, and the list of the top stories.
#[derive(Clone, Default)]
pub(crate) struct Forum {
    pub(crate) items: BTreeMap<u64, String>,
    pub(crate) top: Vec<u64>,
}

impl Forum {
    /// Returns the forum that most tests use. Its items are a few hours old: news servers refuse old ones.
    pub(crate) fn new() -> Self {
        let mut forum = Self { items: BTreeMap::new(), top: vec![STORY, POLL, JOB] };
        forum.add_story();
        forum.add_poll_and_job();
        forum.add_unusable();
        forum
    }

    /// Returns a forum with one story of 2,000 comments.
    pub(crate) fn with_a_big_story() -> Self {
        let mut forum = Self { items: BTreeMap::new(), top: vec![BIG] };
        let last = BIG + 2000;
        let parent = |id: u64| if id.is_multiple_of(7) { BIG } else { (id - BIG) / 2 + BIG };
        for id in BIG..=last {
            let kids: Vec<u64> = (id + 1..=last).filter(|&kid| parent(kid) == id).collect();
            if id == BIG {
                forum.put(json!({"id": id, "type": "story", "by": "big", "title": "Big", "kids": kids,
                    "descendants": 2000, "score": 9}));
            } else {
                forum.put(json!({"id": id, "type": "comment", "by": "u", "parent": parent(id), "kids": kids,
                    "text": format!("comment {id}")}));
            }
        }
        forum
    }

    /// Adds an item, with a time.
    pub(crate) fn put(&mut self, mut item: Value) {
        let id = item["id"].as_u64().unwrap();
        item["time"] = json!(hours_ago(6) + id);
        self.items.insert(id, item.to_string());
    }

    fn comment(&mut self, id: u64, parent: u64, kids: &[u64], text: &str) {
        self.put(
            json!({"id": id, "type": "comment", "by": format!("user-{id}"), "parent": parent, "kids": kids,
            "text": text}),
        );
    }

    fn add_story(&mut self) {
        self.put(json!({"id": STORY, "type": "story", "by": "alice", "title": "Ünï: a — “世界” story, <b>not</b> bold",
            "url": "https://example.org/?a=b&c=d", "score": 57, "descendants": 9, "kids": [101, 106, 107, 109, 110]}));
        self.comment(101, STORY, &[102], "First.<p>From here <i>on</i> &gt; all<p>.dots<p>..and more");
        self.comment(
            102,
            101,
            &[103],
            "&gt; First.<p>A quote, and <a href=\"https:&#x2F;&#x2F;x.org&#x2F;long\" \
                                        rel=\"nofollow\">https:&#x2F;&#x2F;x.org&#x2F;lo...</a>",
        );
        self.comment(
            103,
            102,
            &[104],
            "<pre><code>  fn main() {\n      println!(\"&lt;&gt;\");\n  }\n</code></pre>",
        );
        self.comment(104, 103, &[105], &format!("{}<p>ÄÖÜ 世界 🙂", "word ".repeat(60)));
        self.comment(105, 104, &[], "five levels deep");
        self.put(json!({"id": 106, "type": "comment", "deleted": true, "parent": STORY, "kids": [108]}));
        self.put(json!({"id": 107, "type": "comment", "dead": true, "parent": STORY, "text": "[flagged]"}));
        self.comment(108, 106, &[], "below a deleted one");
        self.items.insert(109, "{\"id\":109,\"type\":\"comm".to_owned());
        self.comment(110, STORY, &[], "");
    }

    fn add_poll_and_job(&mut self) {
        self.put(json!({"id": POLL, "type": "poll", "by": "bob", "title": "Which editor?", "score": 46,
            "descendants": 1, "text": "Be &quot;honest&quot;.", "parts": [201, 202, 203], "kids": [204]}));
        for (id, text) in [(201, "vi &amp; vim"), (202, "Emacs"), (203, "<i>ed</i>")] {
            self.put(json!({"id": id, "type": "pollopt", "by": "bob", "poll": POLL, "score": id - 200, "text": text}));
        }
        self.comment(204, POLL, &[], "cat");
        self.put(json!({"id": JOB, "type": "job", "by": "carol", "title": "Acme is hiring", "score": 1,
            "url": "https://example.org/jobs", "text": "Come &amp; join"}));
    }

    fn add_unusable(&mut self) {
        self.items.insert(400, json!({"id": 400, "deleted": true, "type": "story", "time": 1}).to_string());
        self.items.insert(401, "{\"id\":401,".to_owned());
        self.put(json!({"id": 402, "type": "story", "by": "x"}));
        self.put(json!({"id": 403, "type": "song", "by": "x", "title": "t"}));
        self.items
            .insert(404, json!({"id": 5, "type": "story", "by": "x", "title": "t", "time": 1}).to_string());
    }
}

/// The items of [`STORY`] that are written, in the site's order.
pub(crate) const STORY_IDS: [u64; 8] = [100, 101, 102, 103, 104, 105, 108, 110];
/// The items of [`POLL`] that are written.
pub(crate) const POLL_IDS: [u64; 5] = [200, 201, 202, 203, 204];

pub(crate) fn hours_ago(hours: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - hours * 3600
}
