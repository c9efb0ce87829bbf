//! The whole way: from the site to a real INN, by `rnews` and by `hn2nntp post`, and back by NNTP.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::forum::{BIG, Forum, JOB, POLL, POLL_IDS, STORY, STORY_IDS};
use crate::get::get;
use crate::inn::Inn;
use crate::program::{Ran, command, hn2nntp, path};
use crate::site::Site;

/// The articles of the forum: its items but for the options of the poll.
const ARTICLES: usize = STORY_IDS.len() + POLL_IDS.len() - 3 + 1;

fn batch(forum: Forum) -> Vec<u8> {
    let items = get(&Site::new(forum), &["top"]).ok();
    hn2nntp(&["convert"], &items.stdout).ok().stdout
}

pub(crate) fn post(server: &str, spool: &Path, more: &[&str], batch: &[u8]) -> Ran {
    hn2nntp(&[&["post", "--server", server, "--spool", path(spool), "-v"], more].concat(), batch)
}

fn id(item: u64) -> String {
    format!("<{item}@news.ycombinator.com.invalid>")
}

/// Returns which article replies to which, as newsreaders see it: by the last of the References.
fn threads(inn: &Inn) -> BTreeMap<String, Option<String>> {
    let overview = inn.overview();
    let fields = overview.iter().map(|line| line.split('\t').collect::<Vec<_>>());
    fields
        .map(|fields| {
            (
                fields[4].to_owned(),
                fields[5].split(' ').next_back().filter(|id| !id.is_empty()).map(str::to_owned),
            )
        })
        .collect()
}

/// Returns the same as the site has it; replies to what was left out are there, too.
fn expected_threads(forum: &Forum) -> BTreeMap<String, Option<String>> {
    let items = get(&Site::new(forum.clone()), &["top"]).ok().items();
    let articles = items.iter().filter(|item| item["type"] != "pollopt");
    articles.map(|item| (id(item["id"].as_u64().unwrap()), item["parent"].as_u64().map(id))).collect()
}

#[test]
fn rnews_takes_everything_once_and_the_threads_are_those_of_the_site() {
    let inn = Inn::started();
    let batch = batch(Forum::new());
    inn.rnews(&batch).ok();
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
    assert_eq!(inn.articles().len(), ARTICLES);
    inn.rnews(&batch).ok();
    assert_eq!(inn.articles().len(), ARTICLES);
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let inn = Inn::started();
    let batch = batch(Forum::new());
    inn.rnews(&batch).ok();
    let batch = String::from_utf8(batch).unwrap();
    let mut written: Vec<String> = Vec::new();
    let mut rest = batch.as_str();
    while let Some((head, after)) = rest.split_once('\n') {
        let size: usize = head.strip_prefix("#! rnews ").unwrap().parse().unwrap();
        let (article, next) = after.split_at(size);
        written.push(article.strip_prefix("Path: hn2nntp!not-for-mail\n").unwrap().to_owned());
        rest = next;
    }
    let read: Vec<String> = inn.articles().iter().map(|article| article.as_posted()).collect();
    assert_eq!(read, written);
    // Among them one whose text begins with dots.
    assert!(read.iter().any(|article| article.contains("\n.dots\n\n..and more\n")));
}

#[test]
fn the_headers_are_those_of_the_items() {
    let inn = Inn::started();
    inn.rnews(&batch(Forum::new())).ok();
    let articles = inn.articles();
    let article =
        |item: u64| articles.iter().find(|article| article.header("Message-ID") == Some(id(item))).unwrap();
    let forum = Forum::new();
    for item in [STORY, JOB, POLL, 105] {
        let said: Value = serde_json::from_str(&forum.items[&item]).unwrap();
        let by = said["by"].as_str().unwrap();
        let from = format!("\"{by}\" <{by}@news.ycombinator.com.invalid>");
        assert_eq!(article(item).header("From").unwrap(), from);
        assert_eq!(article(item).header("Newsgroups").unwrap(), "news.ycombinator");
        let archived = format!("<https://news.ycombinator.com/item?id={item}>");
        assert_eq!(article(item).header("Archived-At").unwrap(), archived);
    }
    assert_eq!(article(STORY).header("X-HN-Score").unwrap(), "57");
    assert_eq!(article(STORY).header("X-HN-Link").unwrap(), "https://example.org/?a=b&c=d");
    assert_eq!(article(JOB).header("Subject").unwrap(), "Acme is hiring");
    assert_eq!(article(204).header("Subject").unwrap(), "Re: Which editor?");
    let ancestors = [100, 101, 102, 103, 104].map(id).join(" ");
    assert_eq!(article(105).header("References").unwrap(), ancestors);
    assert!(
        article(POLL).0.join("\n").contains("* vi & vim (1 point)\n* Emacs (2 points)\n* *ed* (3 points)\n")
    );
}

#[test]
fn each_way_of_posting_delivers_everything_and_a_second_run_posts_nothing() {
    let batch = batch(Forum::new());
    for method in ["stream", "ihave", "post", "auto"] {
        let inn = Inn::started();
        let spool = tempfile::tempdir().unwrap();
        let posted =
            |n, there| format!("hn2nntp: {n} articles posted, {there} were there, 0 refused, 0 waiting\n");
        let first = post(&inn.address(), spool.path(), &["--method", method], &batch).ok();
        assert_eq!(first.stderr, posted(ARTICLES, 0), "{method}");
        assert_eq!(threads(&inn), expected_threads(&Forum::new()), "{method}");
        let second = post(&inn.address(), spool.path(), &["--method", method], &batch).ok();
        assert_eq!(second.stderr, posted(0, ARTICLES), "{method}");
        assert_eq!(fs::read_dir(spool.path()).unwrap().count(), 0, "{method}");
    }
}

#[test]
fn two_thousand_comments_arrive_in_their_thread() {
    let inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    let ran = post(&inn.address(), spool.path(), &[], &batch(Forum::with_a_big_story())).ok();
    assert_eq!(ran.stderr, "hn2nntp: 2001 articles posted, 0 were there, 0 refused, 0 waiting\n");
    let threads = threads(&inn);
    assert_eq!(threads.len(), 2001);
    assert_eq!(threads, expected_threads(&Forum::with_a_big_story()));
    assert_eq!(threads[&id(BIG)], None);
}

#[test]
fn nothing_is_lost_while_the_server_is_down() {
    let mut inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    inn.stop();
    let down = post(&inn.address(), spool.path(), &[], &batch(Forum::new()));
    assert_eq!(down.code, Some(1));
    let waiting = format!("{ARTICLES} articles wait in {} for the next run\n", path(spool.path()));
    assert!(down.stderr.contains("cannot reach it") && down.stderr.contains(&waiting), "{}", down.stderr);
    inn.start();
    let up = post(&inn.address(), spool.path(), &[], b"").ok();
    assert_eq!(
        up.stderr,
        format!("hn2nntp: {ARTICLES} articles posted, 0 were there, 0 refused, 0 waiting\n")
    );
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
}

#[test]
fn what_the_server_refuses_for_good_is_put_aside_with_the_reason() {
    let inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    let ran = post(&inn.address(), spool.path(), &["--method", "ihave"], &batch(with_an_old_job()));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains(&format!("{} is refused: 437 ", id(JOB))), "{}", ran.stderr);
    assert!(
        ran.stderr
            .ends_with(&format!("{} articles posted, 0 were there, 1 refused, 0 waiting\n", ARTICLES - 1))
    );
    let names: HashMap<String, String> = fs::read_dir(spool.path().join("refused"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    let name = "300@news.ycombinator.com.invalid";
    assert!(names[name].contains("\nSubject: Acme is hiring\n"));
    assert!(names[&format!("{name}.reason")].starts_with("437 "));
}

#[test]
fn an_old_article_is_taken_if_it_says_that_it_is_injected_now() {
    let inn = Inn::started();
    let items = get(&Site::new(with_an_old_job()), &["top"]).ok();
    inn.rnews(&hn2nntp(&["convert", "--injection-date"], &items.stdout).ok().stdout).ok();
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
}

/// Returns the forum with a job of the year 1970.
fn with_an_old_job() -> Forum {
    let mut forum = Forum::new();
    let old = forum.items[&JOB].replace("\"time\":", "\"time\":1,\"was\":");
    forum.items.insert(JOB, old);
    forum
}

/// A server that says these words to each connection, one line for each that it hears, then nothing more.
fn says(lines: &'static [&'static str], hangs_up: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for connection in listener.incoming() {
            let mut connection = BufReader::new(connection.unwrap());
            for line in lines {
                connection.get_mut().write_all(line.as_bytes()).unwrap();
                let mut heard = String::new();
                connection.read_line(&mut heard).unwrap();
            }
            if !hangs_up {
                open.push(connection);
            }
        }
    });
    address
}

#[test]
fn nothing_is_lost_to_a_server_that_hangs_up_or_falls_silent_in_the_middle() {
    // Which of these it is depends on who is faster.
    const HUNG_UP: &[&str] = &["it closed the connection", "the connection broke"];
    let inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    let greeting: &[&str] = &["200 hello\r\n", "101 list\r\nVERSION 2\r\nSTREAMING\r\n.\r\n", "203 ok\r\n"];
    let taking: &[&str] = &["200 hello\r\n", "101 list\r\nVERSION 2\r\nIHAVE\r\n.\r\n", "335 go on\r\n"];
    let mut batch = batch(Forum::new());
    for (lines, hangs_up, complaints) in [
        (greeting, true, HUNG_UP),
        (greeting, false, &["no answer in time"]),
        (taking, true, HUNG_UP),
        (&["nonsense\r\n"], true, &["which is no NNTP"]),
        (&["400 busy\r\n"], true, &["greeting: it answers \"400 busy\""]),
    ] {
        let ran = post(&says(lines, hangs_up), spool.path(), &["--timeout", "1"], &batch);
        batch.clear();
        assert!(
            complaints.iter().any(|complaint| ran.stderr.contains(complaint)),
            "{complaints:?}: {}",
            ran.stderr
        );
        assert!(
            ran.code == Some(1) && ran.stderr.ends_with(&format!(" {ARTICLES} waiting\n")),
            "{}",
            ran.stderr
        );
    }
    post(&inn.address(), spool.path(), &[], b"").ok();
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
}

#[test]
fn nothing_is_lost_by_who_is_killed() {
    let inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    let silent = says(&[], false);
    let mut child = command(&["post", "--server", &silent, "--spool", path(spool.path())])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&batch(Forum::new())).unwrap();
    // The names of unfinished files begin with a dot.
    let finished = |name: &str| !name.starts_with('.');
    let names =
        || fs::read_dir(spool.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    while names().filter(|name| finished(name)).count() < ARTICLES {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    post(&inn.address(), spool.path(), &[], b"").ok();
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
}

#[test]
fn replies_of_a_later_run_join_the_thread() {
    let inn = Inn::started();
    let site = Site::new(Forum::new());
    let send = |arguments: &[&str]| {
        let batch = hn2nntp(&["convert"], &get(&site, arguments).ok().stdout).ok().stdout;
        inn.rnews(&batch).ok();
    };
    // Deep comments first, each alone, without what they reply to; then the rest.
    for item in ["105", "103", "108"] {
        send(&["exact", item, "--no-kids"]);
    }
    send(&["top"]);
    assert_eq!(threads(&inn), expected_threads(&Forum::new()));
}

#[test]
fn input_that_is_no_batch_is_one_clear_line() {
    let inn = Inn::started();
    let spool = tempfile::tempdir().unwrap();
    let ran = post(&inn.address(), spool.path(), &[], b"Path: x\n\nhello\n");
    assert_eq!(ran.code, Some(1));
    let says = "hn2nntp: article 1: \"#! rnews SIZE\" should stand here, as hn2nntp convert writes it; ";
    assert!(ran.stderr.starts_with(says), "{}", ran.stderr);
    let ran = post(&inn.address(), spool.path(), &[], b"#! rnews 6\nA: b\n\n");
    assert!(ran.stderr.starts_with("hn2nntp: article 1: skipped: it has no message ID\n"), "{}", ran.stderr);
    assert_eq!(post(&inn.address(), spool.path(), &[], b"").ok().code, Some(0));
}
