//! Converts cleaned HTML to text that is not wrapped: a paragraph is one line.

use html2text::config::{self, Config};
use html2text::render::{TaggedLine, TextDecorator};

/// The width of the text, in columns: so large that no paragraph is broken.
const WIDTH: usize = 10_000;
/// The prefix of a line of code.
const CODE_INDENT: &str = "    ";

/// Returns the text: code indented, links as addresses, emphasis as `*stars*`, quotes as `> quotes`.
///
/// `html` is what [`clean`](super::clean::clean) returns.
pub(crate) fn plain(html: &str) -> String {
    let lines = reader().lines_from_read(html.as_bytes(), WIDTH).unwrap_or_default();
    let mut text = String::with_capacity(html.len());
    for line in &lines {
        let line = plain_line(line);
        // At most one empty line in a row, and none at the beginning.
        if !line.is_empty() || !(text.is_empty() || text.ends_with("\n\n")) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn plain_line(line: &TaggedLine<Vec<Mark>>) -> String {
    let mut text = String::new();
    let pieces: Vec<(&str, &[Mark])> =
        line.tagged_strings().map(|piece| (piece.s.as_str(), piece.tag.as_slice())).collect();
    if pieces.iter().any(|(_, marks)| marks.contains(&Mark::Code)) {
        text.push_str(CODE_INDENT);
    }
    for run in pieces.chunk_by(|(_, a), (_, b)| link(a).is_some() && link(a) == link(b)) {
        let words: String = run.iter().map(|&(words, _)| words).collect();
        match run.first().and_then(|(_, marks)| link(marks)) {
            Some(target) => push_link(&mut text, &words, target),
            None => text.push_str(&words),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn link(marks: &[Mark]) -> Option<&str> {
    marks.iter().find_map(|mark| match mark {
        Mark::Link(target) => Some(target.as_str()),
        _ => None,
    })
}

/// Appends a link. The site shortens long addresses in the text (`https://example.org/lo...`).
fn push_link(text: &mut String, words: &str, target: &str) {
    let shown = words.strip_suffix("...").unwrap_or(words);
    if target.starts_with(shown.trim()) {
        text.push_str(target);
    } else {
        text.push_str(&format!("{words} <{target}>"));
    }
}

fn reader() -> Config<Marks> {
    config::with_decorator(Marks).raw_mode(true)
}

/// The kind of a part of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    None,
    Code,
    Link(String),
}

/// The decoration of the text with marks, as the site's authors type them.
#[derive(Clone, Debug)]
struct Marks;

impl TextDecorator for Marks {
    type Annotation = Mark;

    fn decorate_link_start(&mut self, url: &str) -> (String, Mark) {
        (String::new(), Mark::Link(url.to_owned()))
    }

    fn decorate_link_end(&mut self) -> String {
        String::new()
    }

    fn decorate_em_start(&self) -> (String, Mark) {
        ("*".to_owned(), Mark::None)
    }

    fn decorate_em_end(&self) -> String {
        "*".to_owned()
    }

    fn decorate_strong_start(&self) -> (String, Mark) {
        self.decorate_em_start()
    }

    fn decorate_strong_end(&self) -> String {
        self.decorate_em_end()
    }

    fn decorate_strikeout_start(&self) -> (String, Mark) {
        Default::default()
    }

    fn decorate_strikeout_end(&self) -> String {
        String::new()
    }

    fn decorate_code_start(&self) -> (String, Mark) {
        Default::default()
    }

    fn decorate_code_end(&self) -> String {
        String::new()
    }

    fn decorate_preformat_first(&self) -> Mark {
        Mark::Code
    }

    fn decorate_preformat_cont(&self) -> Mark {
        Mark::Code
    }

    fn decorate_image(&mut self, _source: &str, title: &str) -> (String, Mark) {
        (title.to_owned(), Mark::None)
    }

    fn header_prefix(&self, _level: usize) -> String {
        String::new()
    }

    fn quote_prefix(&self) -> String {
        "> ".to_owned()
    }

    fn unordered_item_prefix(&self) -> String {
        "* ".to_owned()
    }

    fn ordered_item_prefix(&self, number: i64) -> String {
        format!("{number}. ")
    }

    fn make_subblock_decorator(&self) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::super::clean::clean;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paragraphs_are_one_line_each_with_an_empty_one_between() {
        assert_eq!(plain(&clean("One\n  two<p>three<p><p>four<br>five")), "One two\n\nthree\n\nfour\nfive");
    }

    #[test]
    fn links_show_where_they_lead() {
        let link = |words: &str| plain(&clean(&format!("see <a href=\"https://x.y/long\">{words}</a>.")));
        assert_eq!(link("https://x.y/long"), "see https://x.y/long.");
        assert_eq!(link("https://x.y/lo..."), "see https://x.y/long.");
        assert_eq!(link("<i>my</i> page"), "see *my* page <https://x.y/long>.");
    }

    #[test]
    fn code_is_indented_and_keeps_its_lines() {
        let html = "A<p><pre><code>  fn a() {\n\n  }\n</code></pre>\nb";
        assert_eq!(plain(&clean(html)), "A\n\n      fn a() {\n\n      }\n\nb");
    }

    #[test]
    fn quotes_emphasis_and_lists_keep_their_marks() {
        let html = "&gt; <i>so</i> &amp; so<ul><li>a<li>b</ul><blockquote>c<p>d</blockquote>";
        assert_eq!(plain(&clean(html)), "> *so* & so\n* a\n* b\n\n> c\n>\n> d");
    }

    proptest! {
        #[test]
        fn any_html_becomes_text(
            pieces in proptest::collection::vec(
                "<(p|pre|i|code|a href=\"https://x\"|ul|ol|li|blockquote|br)>|</(p|pre|i|a|ul|blockquote)>|[<>& a-z\n]{0,9}|\\PC{0,4}",
                0..60),
        ) {
            let text = plain(&clean(&pieces.concat()));
            prop_assert!(!text.contains("\n\n\n"), "{text:?}");
        }
    }

    #[test]
    fn the_longest_text_becomes_no_more_than_some_megabytes() {
        for piece in [
            "<p>",
            "<b>x",
            "<i>x<p>",
            "<blockquote>",
            "<li>",
            "<ul><li>",
            "<a href=\"https://x\">",
            "x ",
            "<pre>\n",
            "<ol><li>a<p>",
        ] {
            let html = piece.repeat(128 * 1024 / piece.len());
            assert!(plain(&clean(&html)).len() < 16 * 1024 * 1024, "{piece}");
        }
    }
}
