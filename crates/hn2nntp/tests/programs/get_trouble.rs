//! `hn2nntp get` when something is wrong.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::forum::{Forum, STORY_IDS, UNUSABLE};
use crate::get::get;
use crate::program::{command, hn2nntp, path};
use crate::site::{Fault, Site};

#[test]
fn a_request_that_fails_for_a_while_is_sent_again() {
    let site = Site::new(Forum::new());
    site.state().fail(101, 2, Fault::Status(503, None));
    site.state().fail(102, 1, Fault::CutOff);
    site.state().fail(103, 1, Fault::Status(429, Some(1)));
    let begin = Instant::now();
    let ran = get(&site, &["top", "1", "-s"]).ok();
    assert_eq!(ran.ids(), STORY_IDS);
    assert!(ran.stderr.contains("4 retries"), "{}", ran.stderr);
    // Half a second and one second for the first, one second for the third, one after the other.
    assert!(begin.elapsed() >= Duration::from_millis(2500), "{:?}", begin.elapsed());
}

#[test]
fn an_item_that_the_server_refuses_is_skipped() {
    let site = Site::new(Forum::new());
    site.state().fail(101, 99, Fault::Status(403, None));
    site.state().fail(110, 99, Fault::Status(500, None));
    let ran = get(&site, &["top", "1", "-s", "--retries", "1"]).ok();
    assert_eq!(ran.ids(), [100, 108]);
    assert!(ran.stderr.contains("/item/101.json: the server says 403 Forbidden"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 deleted, 1 dead, 0 missing, 3 broken"), "{}", ran.stderr);
    assert_eq!((site.asked("/v0/item/101.json"), site.asked("/v0/item/110.json")), (1, 2));
}

#[test]
fn if_nothing_can_be_used_the_exit_code_says_so() {
    let site = Site::new(Forum::new());
    let unusable: Vec<String> = UNUSABLE.iter().map(u64::to_string).collect();
    let arguments = [&["exact"][..], &unusable.iter().map(String::as_str).collect::<Vec<_>>()].concat();
    let ran = get(&site, &arguments);
    assert_eq!((ran.code, ran.text()), (Some(1), ""));
    for line in [
        "401.json: not an item: EOF",
        "item 402: has no title",
        "item 403: unknown type \"song\"",
        "404.json: not an item: it is item 5",
        "hn2nntp: not one of the items could be used\n",
    ] {
        assert!(ran.stderr.contains(line), "{line} in {}", ran.stderr);
    }
}

#[test]
fn a_server_that_cannot_be_reached_is_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("max");
    let arguments =
        ["get", "last", "9", "--retries", "0", "--api", "http://127.0.0.1:1/v0", "--save-max", path(&file)];
    let ran = hn2nntp(&arguments, b"");
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(1), 1));
    let says = "hn2nntp: cannot reach http://127.0.0.1:1/v0/maxitem.json: ";
    assert!(
        ran.stderr.starts_with(says) && ran.stderr.ends_with("is the network up, is --api right?\n"),
        "{}",
        ran.stderr
    );
    assert!(!file.exists());
    let ran = hn2nntp(&["get", "range", &format!("@{}", path(&file))], b"");
    assert!(ran.stderr.contains("a first run makes it: hn2nntp get last 1000 --save-max"), "{}", ran.stderr);
    assert_eq!(hn2nntp(&["get", "top", "--api", "gopher://x"], b"").code, Some(1));
    assert_eq!(hn2nntp(&["get", "range", "@"], b"").code, Some(2));
}

#[test]
fn a_server_that_dies_leaves_complete_lines_and_the_next_run_goes_on_there() {
    let site = Site::new(Forum::with_a_big_story());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("max");
    fs::write(&file, "999").unwrap();
    let from = format!("@{}", path(&file));
    let arguments = ["range", &from, "--no-kids", "--retries", "0", "--save-max", path(&file)];
    site.state().dies_after = Some(500);
    let first = get(&site, &arguments);
    assert_eq!(first.code, Some(1));
    let written = first.ids();
    assert!(written.len() > 400 && written.len() < 500, "{}", written.len());
    assert!(
        first
            .stderr
            .starts_with(&format!("hn2nntp: {} items were written, then: cannot reach", written.len()))
    );
    site.state().dies_after = None;
    let second = get(&site, &arguments).ok();
    assert_eq!([written, second.ids()].concat(), (1000..=3000).collect::<Vec<_>>());
}

#[test]
fn a_server_that_fails_every_request_ends_the_run() {
    let site = Site::new(Forum::with_a_big_story());
    for id in 1100..=3000 {
        site.state().fail(id, 99, Fault::Status(500, None));
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("max");
    let ran = get(&site, &["range", "1000", "--no-kids", "--retries", "0", "--save-max", path(&file)]);
    assert_eq!((ran.code, ran.ids().len()), (Some(1), 100));
    assert_eq!(fs::read_to_string(&file).unwrap(), "1099\n");
}

/// Runs `get range 1000` with its output to this file or a pipe, and interrupts it after some items; returns its output.
fn interrupted(site: &Site, mark: &Path, file: Option<&Path>) -> String {
    let url = site.url();
    let save = path(mark);
    let mut command =
        command(&["get", "range", "1000", "--no-kids", "--rate", "300", "--api", &url, "--save-max", save]);
    match file {
        Some(file) => command.stdout(File::create(file).unwrap()),
        None => command.stdout(Stdio::piped()),
    };
    let mut child = command.spawn().unwrap();
    while site.state().requests.len() < 40 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("sh").args(["-c", "kill -INT $0", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text).unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    file.map_or(text, |file| fs::read_to_string(file).unwrap())
}

#[test]
fn an_interrupted_run_leaves_complete_lines_and_the_next_one_goes_on_there() {
    let site = Site::new(Forum::with_a_big_story());
    let directory = tempfile::tempdir().unwrap();
    let (mark, file) = (directory.path().join("max"), directory.path().join("items"));
    let text = interrupted(&site, &mark, Some(&file));
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap();
    let ids: Vec<u64> = text.lines().map(id).collect();
    assert_eq!(ids, (1000..1000 + ids.len() as u64).collect::<Vec<_>>());
    assert!(text.ends_with('\n') && (20..2001).contains(&ids.len()), "{}", ids.len());
    assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{}\n", ids.last().unwrap()));
}

#[test]
fn an_interrupted_run_that_wrote_to_a_pipe_is_repeated_for_the_reader_may_have_died_too() {
    let site = Site::new(Forum::with_a_big_story());
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("max");
    assert!(interrupted(&site, &mark, None).ends_with("}\n"));
    assert!(!mark.exists());
}

#[test]
fn a_reader_that_has_enough_ends_the_run_in_silence() {
    let site = Site::new(Forum::with_a_big_story());
    let directory = tempfile::tempdir().unwrap();
    let (url, mark) = (site.url(), directory.path().join("max"));
    let mut child =
        command(&["get", "range", "1000", "--rate", "0", "--api", &url, "--save-max", path(&mark)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(1), vec![]));
    assert!(!mark.exists());
}
