//! `hn2nntp get`: what it writes, and in which order.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::certificate::Certificate;
use crate::forum::{BIG, Forum, JOB, POLL, POLL_IDS, STORY, STORY_IDS};
use crate::program::{Ran, command, hn2nntp, path, run};
use crate::site::Site;

/// Runs `get` as fast as it can.
pub(crate) fn get(site: &Site, arguments: &[&str]) -> Ran {
    let url = site.url();
    hn2nntp(&[&["get", "--rate", "0", "--api", &url], arguments].concat(), b"")
}

#[test]
fn top_stories_come_with_their_comments_in_the_order_of_the_site() {
    let site = Site::new(Forum::new());
    let ran = get(&site, &["top"]).ok();
    assert_eq!(ran.ids(), [&STORY_IDS[..], &POLL_IDS, &[JOB]].concat());
    assert_eq!(get(&site, &["top", "1"]).ok().ids(), STORY_IDS);
}

#[test]
fn each_line_says_what_the_api_said_and_where_the_item_stands() {
    let site = Site::new(Forum::new());
    let items = get(&site, &["exact", "100"]).ok().items();
    let mut deep = items.iter().find(|item| item["id"] == 105).unwrap().clone();
    let thread = deep.as_object_mut().unwrap().remove("thread").unwrap();
    assert_eq!(thread["ancestors"], json!([100, 101, 102, 103, 104]));
    assert_eq!(thread["title"], "Ünï: a — “世界” story, <b>not</b> bold");
    let said: serde_json::Value = serde_json::from_str(&site.state().forum.items[&105]).unwrap();
    assert_eq!(deep, said);
    // Also through a comment that is deleted, and so not written itself.
    let below = items.iter().find(|item| item["id"] == 108).unwrap();
    assert_eq!(below["thread"]["ancestors"], json!([100, 106]));
}

#[test]
fn without_kids_only_what_was_asked_for_is_fetched() {
    let site = Site::new(Forum::new());
    assert_eq!(get(&site, &["top", "--no-kids"]).ok().ids(), [100, 200, 201, 202, 203, 300]);
    assert_eq!(site.asked("/v0/item/101.json"), 0);
}

#[test]
fn parents_are_followed_up_to_the_story() {
    let site = Site::new(Forum::new());
    assert_eq!(get(&site, &["exact", "104", "--parents"]).ok().ids(), [100, 101, 102, 103, 104, 105]);
    assert_eq!(get(&site, &["exact", "104"]).ok().ids(), [104, 105]);
}

#[test]
fn the_order_does_not_depend_on_how_many_requests_are_under_way() {
    let site = Site::new(Forum::with_a_big_story());
    let alone = get(&site, &["top", "--connections", "1"]).ok();
    let many = get(&site, &["top", "--connections", "64"]).ok();
    assert_eq!(alone.text(), many.text());
    assert_eq!(alone.ids().len(), 2001);
    let position: HashMap<u64, usize> = alone.ids().iter().enumerate().map(|(i, &id)| (id, i)).collect();
    for item in alone.items().iter().filter(|item| item["id"] != BIG) {
        assert!(position[&item["parent"].as_u64().unwrap()] < position[&item["id"].as_u64().unwrap()]);
    }
}

#[test]
fn the_last_items_and_their_later_comments_are_written_once() {
    let site = Site::new(Forum::new());
    let ran = get(&site, &["last", "205"]).ok();
    assert_eq!(ran.ids(), [&POLL_IDS[..], &[JOB]].concat());
    assert_eq!(site.asked("/v0/item/204.json"), 1);
    assert_eq!(get(&site, &["range", "101", "102"]).ok().ids(), [101, 102, 103, 104, 105]);
}

#[test]
fn a_range_goes_on_where_the_last_run_stopped() {
    let site = Site::new(Forum::new());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("max");
    let (save, from) = (path(&file), format!("@{}", path(&file)));
    get(&site, &["last", "105", "--save-max", save]).ok();
    site.state().forum.put(json!({"id": 405, "type": "comment", "by": "x", "parent": STORY, "text": "new"}));
    let ran = get(&site, &["range", &from, "--parents", "--save-max", save]).ok();
    assert_eq!(ran.ids(), [STORY, 405]);
    let ran = get(&site, &["range", &from, "--parents", "--save-max", save]).ok();
    assert_eq!((ran.ids(), std::fs::read_to_string(&file).unwrap().as_str()), (vec![], "405\n"));
}

#[test]
fn the_newest_items_are_asked_for_again_if_they_could_not_be_read_yet() {
    let mut forum = Forum::new();
    forum.items.insert(450, "null".to_owned());
    let site = Site::new(forum);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("max");
    let from = format!("@{}", path(&file));
    std::fs::write(&file, "299").unwrap();
    assert_eq!(get(&site, &["range", &from, "--save-max", path(&file)]).ok().ids(), [JOB]);
    site.state().forum.put(json!({"id": 450, "type": "story", "by": "x", "title": "late"}));
    assert_eq!(get(&site, &["range", &from, "--save-max", path(&file)]).ok().ids(), [450]);
}

#[test]
fn the_rate_holds_for_all_connections_together() {
    let site = Site::new(Forum::with_a_big_story());
    site.state().delay = Duration::from_millis(30);
    let begin = Instant::now();
    let url = site.url();
    hn2nntp(&["get", "range", "1000", "1060", "--no-kids", "--rate", "100", "--api", &url], b"").ok();
    let state = site.state();
    assert!(state.most_under_way > 1 && state.requests.len() >= 61, "{} requests", state.requests.len());
    // A server on a busy machine sees requests late, but never more of them than the rate allows until then.
    for (index, (arrival, ..)) in (0..).zip(&state.requests) {
        let earliest = Duration::from_millis(10) * index;
        assert!(*arrival - begin >= earliest, "request {index} after {:?}", *arrival - begin);
    }
}

#[test]
fn http_2_is_spoken_where_the_server_can() {
    let certificate = Certificate::new();
    let site = Site::with_tls(Forum::new(), &certificate);
    let url = site.url();
    let mut command = command(&["get", "top", "-s", "--rate", "0", "--api", &url]);
    command.env("SSL_CERT_FILE", &certificate.certificate);
    let ran = run(command, b"").ok();
    assert_eq!(ran.ids().len(), STORY_IDS.len() + POLL_IDS.len() + 1);
    let requests = site.state().requests.len();
    assert!(ran.stderr.contains(&format!("requests: {requests} in ")), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!(", {requests} of them by HTTP/2")), "{}", ran.stderr);
}

#[test]
fn statistics_and_progress_go_to_stderr() {
    let site = Site::new(Forum::new());
    site.state().delay = Duration::from_millis(60);
    let ran = get(&site, &["range", "100", "404", "-s", "-v", "--connections", "16"]).ok();
    assert_eq!(ran.ids(), [&STORY_IDS[..], &POLL_IDS, &[JOB]].concat());
    for line in [
        "written: 14 items: 1 stories, 1 jobs, 1 polls, 3 poll options, 8 comments",
        "skipped: 2 deleted, 1 dead, 283 missing, 5 broken",
        " queued",
    ] {
        assert!(ran.stderr.contains(line), "{line} in {}", ran.stderr);
    }
    assert_eq!(site.asked(&format!("/v0/item/{POLL}.json")), 1);
}
