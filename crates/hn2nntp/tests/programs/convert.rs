//! `hn2nntp convert`: what Python's `mailbox` and `email` read out of its output, and what it says of bad input.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::forum::{Forum, JOB, POLL, POLL_IDS, STORY, STORY_IDS};
use crate::get::get;
use crate::program::{Ran, hn2nntp, path, run};
use crate::site::Site;

fn items(forum: Forum) -> Vec<u8> {
    get(&Site::new(forum), &["top"]).ok().stdout
}

/// Reads a mailbox with Python.
fn python(form: &str, mailbox: &Path) -> Vec<Value> {
    let mut command = Command::new("python3");
    command.args([
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/read_mailbox.py"),
        form,
        path(mailbox),
    ]);
    run(command, b"").ok().items()
}

/// Converts to a mailbox, and reads that with Python.
fn mailbox(items: &[u8], more: &[&str]) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mbox");
    let ran = hn2nntp(&[&["convert", "--format", "mbox"], more].concat(), items).ok();
    fs::write(&file, ran.stdout).unwrap();
    python("mbox", &file)
}

fn message(messages: &[Value], id: u64) -> &Value {
    let id = format!("<{id}@news.ycombinator.com.invalid>");
    messages.iter().find(|message| message["headers"]["Message-ID"] == *id).unwrap()
}

#[test]
fn python_finds_every_message_and_no_defect() {
    let messages = mailbox(&items(Forum::new()), &[]);
    let ids: Vec<u64> = [&STORY_IDS[..], &POLL_IDS[..1], &POLL_IDS[4..], &[JOB]].concat();
    assert_eq!(messages.len(), ids.len());
    for id in ids {
        let message = message(&messages, id);
        assert_eq!(message["defects"], json!([]));
        assert_eq!(
            (&message["type"], &message["format"]),
            (&json!("multipart/alternative"), &json!("flowed"))
        );
    }
}

#[test]
fn headers_and_texts_come_out_as_they_were() {
    let messages = mailbox(&items(Forum::new()), &[]);
    let story = message(&messages, STORY);
    assert_eq!(story["headers"]["Subject"], "Ünï: a — “世界” story, <b>not</b> bold");
    assert!(
        story["text"]
            .as_str()
            .unwrap()
            .starts_with("https://example.org/?a=b&c=d\n\n57 points, 9 comments\n\n-- \n")
    );
    let reply = message(&messages, 104);
    assert_eq!(reply["headers"]["Subject"], "Re: Ünï: a — “世界” story, <b>not</b> bold");
    let text = reply["text"].as_str().unwrap();
    assert!(text.contains("\n\nÄÖÜ 世界 🙂\n\n-- \n") && text.lines().all(|line| line.len() <= 72), "{text}");
    assert!(reply["html"].as_str().unwrap().contains("<p>ÄÖÜ 世界 🙂</p>"));
    let code = message(&messages, 103)["text"].as_str().unwrap();
    // One space more than it was indented by: readers of format=flowed take it away.
    assert!(code.starts_with("       fn main() {\n           println!(\"<>\");\n       }\n\n"), "{code}");
    let quote = message(&messages, 102)["text"].as_str().unwrap();
    assert!(quote.starts_with("> First.\n\nA quote, and https://x.org/long\n\n"), "{quote}");
    let poll = message(&messages, POLL)["text"].as_str().unwrap();
    assert!(
        poll.starts_with(
            "Be \"honest\".\n\n* vi & vim (1 point)\n* Emacs (2 points)\n* *ed* (3 points)\n\n46 points"
        ),
        "{poll}"
    );
}

#[test]
fn lines_that_look_like_the_beginning_of_a_message_split_none() {
    let item = json!({"id": 5, "type": "story", "by": "x", "time": 1, "title": "From me to you",
        "text": "From here<p>From there<pre><code>From a@b Thu Jan  1 00:00:00 1970\n\nFrom c</code></pre>"});
    let messages = mailbox(item.to_string().as_bytes(), &[]);
    assert_eq!(messages.len(), 1);
    let text = messages[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(
            " From here\n\n From there\n\n     From a@b Thu Jan  1 00:00:00 1970\n\n     From c\n"
        ),
        "{text}"
    );
}

#[test]
fn a_long_title_of_any_letters_is_one_subject() {
    for title in [
        "Ж".repeat(200),
        "word ".repeat(40).trim_end().to_owned(),
        "x".repeat(1500),
        "=?utf-8?Q?no?=".to_owned(),
    ] {
        let item = json!({"id": 5, "type": "story", "by": "Ünï \"x\" <a@b>", "time": 1, "title": title});
        let messages = mailbox(item.to_string().as_bytes(), &[]);
        assert_eq!(messages[0]["headers"]["Subject"].as_str().unwrap().trim_end(), title);
        let reply = json!({"id": 6, "type": "comment", "by": "b", "time": 2, "parent": 5});
        let messages = mailbox(format!("{item}\n{reply}\n").as_bytes(), &[]);
        assert_eq!(messages[1]["headers"]["Subject"].as_str().unwrap().trim_end(), format!("Re: {title}"));
        assert_eq!(messages[0]["defects"], json!([]));
    }
}

#[test]
fn a_maildir_gets_each_article_once_in_any_number_of_runs() {
    let directory = tempfile::tempdir().unwrap();
    let maildir = directory.path().join("hn");
    let deliver = |items: &[u8]| {
        hn2nntp(&["convert", "--format", "maildir", "--output", path(&maildir), "-v"], items).ok().stderr
    };
    let items = items(Forum::new());
    assert_eq!(
        deliver(&items),
        "hn2nntp: 11 articles written, 0 were there, 3 items without article, 0 bad lines\n"
    );
    let messages = python("maildir", &maildir);
    assert_eq!(messages.len(), 11);
    assert!(messages.iter().all(|message| message["defects"] == json!([])));
    // A reader has seen one.
    let first = fs::read_dir(maildir.join("new")).unwrap().next().unwrap().unwrap();
    let seen = format!("{}:2,S", first.file_name().to_str().unwrap());
    fs::rename(first.path(), maildir.join("cur").join(seen)).unwrap();
    assert_eq!(
        deliver(&items),
        "hn2nntp: 0 articles written, 11 were there, 3 items without article, 0 bad lines\n"
    );
    assert_eq!(python("maildir", &maildir).len(), 11);
}

#[test]
fn templates_and_the_newsgroup_can_be_chosen() {
    let directory = tempfile::tempdir().unwrap();
    hn2nntp(&["convert", "--write-templates", path(directory.path())], b"").ok();
    let template = directory.path().join("article.txt");
    let text = fs::read_to_string(&template).unwrap();
    fs::write(&template, format!("by {{{{ author }}}}\n\n{text}")).unwrap();
    let arguments =
        ["--template-dir", path(directory.path()), "--newsgroup", "local.hn,local.test", "--injection-date"];
    let messages = mailbox(&items(Forum::new()), &arguments);
    let story = message(&messages, STORY);
    assert!(story["text"].as_str().unwrap().starts_with("by alice\n\nhttps://example.org/"));
    assert_eq!(story["headers"]["Newsgroups"], "local.hn,local.test");
    assert!(story["headers"]["Injection-Date"].as_str().unwrap().ends_with("+0000"));
    let wrong = hn2nntp(&["convert", "--template-dir", "/nowhere"], b"");
    assert_eq!((wrong.code, wrong.stderr.as_str()), (Some(1), "hn2nntp: /nowhere: not a directory\n"));
}

#[test]
fn without_html_an_article_is_one_text() {
    let items = items(Forum::new());
    let (both, alone) = (mailbox(&items, &[]), mailbox(&items, &["--text-only"]));
    for (both, alone) in both.iter().zip(&alone) {
        assert_eq!((&alone["type"], &alone["html"]), (&json!("text/plain"), &Value::Null));
        assert_eq!(alone["text"].as_str().unwrap().trim_end(), both["text"].as_str().unwrap().trim_end());
        assert_eq!((&alone["defects"], &alone["format"]), (&json!([]), &json!("flowed")));
    }
}

#[test]
fn bad_input_is_told_by_line_and_is_no_success() {
    let convert = |input: &[u8]| -> Ran { hn2nntp(&["convert"], input) };
    let bad = convert(b"<html>\n{\"id\": \"x\"}\n\xff\n");
    assert_eq!((bad.code, bad.text()), (Some(1), ""));
    let lines: Vec<&str> = bad.stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{}", bad.stderr);
    assert!(lines[0].starts_with("hn2nntp: line 1: skipped: not an item: expected value"));
    assert_eq!(lines[3], "hn2nntp: not one of the 3 lines could be used");
    // What can be used is used.
    let mixed =
        convert(b"oops\n{\"id\":1,\"type\":\"story\",\"title\":\"t\",\"time\":1,\"by\":\"a\"}\n").ok();
    assert!(mixed.text().starts_with("#! rnews ") && mixed.stderr.starts_with("hn2nntp: line 1: skipped: "));
    // Nothing new is no error: cron runs must stay quiet.
    let empty = convert(b"").ok();
    assert_eq!((empty.text(), empty.stderr.as_str()), ("", ""));
}
