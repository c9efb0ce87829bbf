//! `hn2nntp convert`: converts lines of JSON to articles.
//!
//! The input is read twice, the second time from a temporary file: [`threads`] needs all items before the first article
//! can be written. [`clean`], [`plain`] and [`flow`] convert HTML to text, [`body`] fills the templates, [`article`]
//! adds the headers, [`sink`] writes.

mod article;
mod body;
mod clean;
mod flow;
mod plain;
pub(crate) mod sink;
mod threads;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};

use thiserror::Error;

pub(crate) use self::article::Settings;
use self::article::{Article, subject};
pub(crate) use self::body::{TemplateError, Templates, write_built_in};
use self::sink::Sink;
use self::threads::Threads;
use crate::item::{Id, Item, ItemStatus, Kind, Post};

/// The longest line that is read, in bytes; far longer than the longest answer of the API.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Why articles could not be written.
#[derive(Debug, Error)]
pub(crate) enum ConvertError {
    #[error("cannot read the items")]
    Input(#[source] io::Error),
    #[error("cannot keep the items in a temporary file")]
    Keep(#[source] io::Error),
    #[error("cannot write the articles")]
    Output(#[source] io::Error),
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// The results of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Converted {
    /// Articles that were written.
    pub(crate) articles: u64,
    /// Articles that existed already.
    pub(crate) known: u64,
    /// Lines without an article of their own: poll options, deleted, dead and repeated items.
    pub(crate) without: u64,
    /// Lines that could not be used.
    pub(crate) bad: u64,
}

/// Reads lines of JSON and writes articles.
pub(crate) fn run(
    input: impl Read,
    templates: &Templates,
    settings: &Settings,
    sink: &mut Sink<impl Write>,
) -> Result<Converted, ConvertError> {
    let mut converted = Converted::default();
    let mut threads = Threads::default();
    let mut kept = tempfile::tempfile().map_err(ConvertError::Keep)?;
    record(BufReader::new(input), &mut kept, &mut threads, &mut converted)?;
    kept.rewind().map_err(ConvertError::Keep)?;

    let mut written = HashSet::new();
    for line in BufReader::new(kept).lines() {
        let line = line.map_err(ConvertError::Keep)?;
        let Ok(Some(item)) = Item::parse(line.as_bytes()) else { continue };
        match make(&item, &threads, templates, settings, &mut written)? {
            None => converted.without += 1,
            Some(article) => match sink.write(&article).map_err(ConvertError::Output)? {
                true => converted.articles += 1,
                false => converted.known += 1,
            },
        }
    }
    sink.flush().map_err(ConvertError::Output)?;
    Ok(converted)
}

/// Reads all lines, keeps those that are items, and records their relations.
fn record(
    mut input: impl BufRead,
    kept: &mut File,
    threads: &mut Threads,
    converted: &mut Converted,
) -> Result<(), ConvertError> {
    let mut kept = BufWriter::new(kept);
    let mut line = Vec::new();
    for number in 1_u64.. {
        if !next_line(&mut input, &mut line).map_err(ConvertError::Input)? {
            break;
        }
        let said = match line.trim_ascii() {
            [] => continue,
            line if line.len() > MAX_LINE => format!("longer than {MAX_LINE} bytes"),
            line => match Item::parse(line) {
                Ok(Some(item)) => {
                    threads.record(&item);
                    kept.write_all(line).and_then(|()| kept.write_all(b"\n")).map_err(ConvertError::Keep)?;
                    continue;
                }
                Ok(None) => "null is no item".to_owned(),
                Err(error) => error.to_string(),
            },
        };
        eprintln!("hn2nntp: line {number}: skipped: {said}");
        converted.bad += 1;
    }
    kept.flush().map_err(ConvertError::Keep)
}

/// Reads one line, or one byte more than the limit of one that is too long. Returns `false` at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.take(MAX_LINE as u64 + 1).read_until(b'\n', line)?;
    if line.len() > MAX_LINE && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// Makes the article of an item, unless it has none or was written already.
fn make(
    item: &Item,
    threads: &Threads,
    templates: &Templates,
    settings: &Settings,
    written: &mut HashSet<Id>,
) -> Result<Option<Article>, ConvertError> {
    let ItemStatus::Live(post @ Post { kind: Kind::Submission(_) | Kind::Comment, .. }) = &item.status else {
        return Ok(None);
    };
    if !written.insert(item.id) {
        return Ok(None);
    }
    let position = threads.position(item);
    let subject = subject(item, post, &position);
    let bodies = templates.render(item, post, &subject, &threads.options(item))?;
    Ok(Some(Article::new(item, post, &position, &subject, &bodies, settings)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn convert(input: &[u8]) -> (String, Converted) {
        let settings =
            Settings { newsgroups: "news.ycombinator".to_owned(), text_only: false, injected: None };
        let mut batch = Vec::new();
        let templates = Templates::load(None).unwrap();
        let converted = run(input, &templates, &settings, &mut Sink::Rnews(&mut batch)).unwrap();
        (String::from_utf8(batch).unwrap(), converted)
    }

    const STORY: &str = r#"{"id":1,"type":"story","by":"a","time":1,"title":"T"}"#;
    const COMMENT: &str = r#"{"id":2,"type":"comment","by":"b","time":2,"parent":1,"text":"yes"}"#;

    #[test]
    fn the_order_of_the_lines_changes_only_the_order_of_the_articles() {
        let (forward, _) = convert(format!("{STORY}\n{COMMENT}\n").as_bytes());
        let (backward, _) = convert(format!("{COMMENT}\n{STORY}").as_bytes());
        let articles = |batch: &str| {
            let mut articles: Vec<String> = batch.split("#! rnews ").map(str::to_owned).collect();
            articles.sort();
            articles
        };
        assert_eq!(articles(&forward), articles(&backward));
        assert!(forward.contains("\nSubject: Re: T\n"));
    }

    #[test]
    fn bad_lines_are_counted_and_the_others_used() {
        let (_, converted) = convert(format!("{{\n{STORY}\n\nnull\n\u{fffd}\n{STORY}\n").as_bytes());
        assert_eq!(converted, Converted { articles: 1, known: 0, without: 1, bad: 3 });
        assert_eq!(convert(b"\xff\xfe").1.bad, 1);
    }

    #[test]
    fn a_line_without_end_is_skipped_in_bounded_memory() {
        let endless = io::repeat(b'x').take(3 * MAX_LINE as u64).chain(&b"\n"[..]).chain(STORY.as_bytes());
        let settings = Settings { newsgroups: "n".to_owned(), text_only: false, injected: None };
        let sink = &mut Sink::Rnews(io::sink());
        let converted = run(endless, &Templates::load(None).unwrap(), &settings, sink).unwrap();
        assert_eq!((converted.bad, converted.articles), (1, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_an_item_says_the_batch_is_well_formed(
            by in "\\PC{0,20}", title in any::<String>(), text in any::<String>(), url in any::<String>(),
            time in 0..253_402_300_800_i64, comment: bool,
        ) {
            let kind = if comment { "comment" } else { "story" };
            let item = serde_json::json!({"id": 5, "type": kind, "parent": comment.then_some(3), "by": by, "title": title,
                "text": text, "url": url, "time": time});
            let (batch, converted) = convert(item.to_string().as_bytes());
            prop_assert_eq!(converted.articles, 1);
            let (first, article) = batch.split_once('\n').unwrap();
            prop_assert_eq!(first, format!("#! rnews {}", article.len()));
            let (head, body) = article.split_once("\n\n").unwrap();
            for line in head.lines() {
                prop_assert!(line.len() <= 998 && line.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\t'), "{line:?}");
                prop_assert!(line.starts_with([' ', '\t']) || line.contains(": "), "{line:?}");
            }
            prop_assert!(body.lines().all(|line| line.len() <= 998 && line.is_ascii()), "{body}");
        }
    }
}
