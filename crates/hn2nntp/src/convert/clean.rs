//! Cleans an item's HTML: the result is well-formed, with a few harmless elements, nested a few levels deep.
//!
//! The site writes simple HTML; a mirror or a compromised site might send anything. Every mail reader can show the
//! result, and every parser can read it in linear time: building a tree like a browser needs quadratic time and memory
//! for some input.

use std::cell::RefCell;

use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The deepest nesting of elements; the tags of deeper ones are dropped, their text is kept.
const MAX_DEPTH: usize = 16;

/// Returns the name that an element is written with, if it is kept.
fn kept(name: &LocalName) -> Option<&'static str> {
    const KEPT: [&str; 10] = ["p", "pre", "blockquote", "ul", "ol", "li", "a", "i", "b", "code"];
    let name = match &**name {
        "em" => "i",
        "strong" => "b",
        "tt" => "code",
        name => name,
    };
    KEPT.into_iter().find(|kept| *kept == name)
}

/// Says whether an element contains blocks, and so is closed only by its own end tag.
fn is_container(element: &str) -> bool {
    matches!(element, "blockquote" | "ul" | "ol" | "li")
}

/// Returns the HTML with a few harmless elements only, each of them closed.
pub(crate) fn clean(html: &str) -> String {
    let tokenizer =
        Tokenizer::new(Sink::default(), TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() });
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let mut writer = tokenizer.sink.0.into_inner();
    writer.close_to(0);
    writer.html
}

#[derive(Default)]
struct Sink(RefCell<Writer>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut writer = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => writer.text(&text),
            Token::TagToken(tag) if &*tag.name == "br" => writer.html.push_str("<br>"),
            Token::TagToken(tag) => match (kept(&tag.name), tag.kind) {
                (Some(element), TagKind::StartTag) => writer.open(element, &tag),
                (Some(element), TagKind::EndTag) => writer.close(element),
                (None, _) => {}
            },
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[derive(Default)]
struct Writer {
    html: String,
    /// The open elements, the innermost last.
    open: Vec<&'static str>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '\n' | '\t' => self.html.push(c),
                c if c.is_control() => {}
                c => self.html.push(c),
            }
        }
    }

    fn open(&mut self, element: &'static str, tag: &Tag) {
        match element {
            "a" | "i" | "b" | "code" if self.open.contains(&element) => return,
            "a" | "i" | "b" | "code" => {}
            "li" => {
                let list = self.open.iter().rposition(|open| matches!(*open, "ul" | "ol"));
                let Some(list) = list else { return };
                self.close_to(list + 1);
            }
            // A new paragraph closes the last one; the first text of an item is in none.
            _ => {
                let container = self.open.iter().rposition(|open| is_container(open));
                self.close_to(container.map_or(0, |position| position + 1));
            }
        }
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        match (element, link_target(tag)) {
            ("a", None) => return,
            ("a", Some(target)) => {
                self.html.push_str("<a href=\"");
                let target: String = target.split('"').collect::<Vec<_>>().join("%22");
                self.text(&target);
                self.html.push_str("\">");
            }
            _ => self.html.push_str(&format!("<{element}>")),
        }
        self.open.push(element);
    }

    fn close(&mut self, element: &str) {
        let container = self.open.iter().rposition(|open| is_container(open)).unwrap_or(0);
        let position = self.open.iter().rposition(|&open| open == element);
        if let Some(position) = position.filter(|&position| position >= container || is_container(element)) {
            self.close_to(position);
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let element = self.open.pop().expect("longer than depth, so not empty");
            self.html.push_str(&format!("</{element}>"));
        }
    }
}

/// Returns the target of a link, if it is a web or mail address.
fn link_target(tag: &Tag) -> Option<StrTendril> {
    let target = tag.attrs.iter().find(|attribute| &*attribute.name.local == "href")?.value.clone();
    let known = ["http://", "https://", "mailto:"];
    known.iter().any(|scheme| target.starts_with(scheme)).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_the_site_makes_is_kept_and_closed() {
        let site = "One<p>&gt; two <i>three</i><p><pre><code>  a &lt; b\n</code></pre>\n\
                    <a href=\"https:&#x2F;&#x2F;x.y&#x2F;?a&amp;b\" rel=\"nofollow\">z</a>";
        assert_eq!(
            clean(site),
            "One<p>&gt; two <i>three</i></p><p></p><pre><code>  a &lt; b\n</code></pre>\n\
             <a href=\"https://x.y/?a&amp;b\">z</a>"
        );
    }

    #[test]
    fn what_could_do_harm_is_dropped() {
        for (html, cleaned) in [
            ("<script>x()</script>", "x()"),
            ("<img src=x onerror=y>a", "a"),
            ("<a href=\"javascript:x\">a</a>", "a"),
            ("<a href='https://x\"onclick=y'>a</a>", "<a href=\"https://x%22onclick=y\">a</a>"),
            ("<i onclick=x>a", "<i>a</i>"),
            ("<!-- a -->b\u{1b}[1m\0", "b[1m"),
            ("</p></i></div>a", "a"),
            ("<i>a<blockquote>b</i>c</blockquote>", "<i>a</i><blockquote>bc</blockquote>"),
        ] {
            assert_eq!(clean(html), cleaned, "{html}");
        }
    }

    /// Returns the depth of nesting, if all elements are closed in order.
    fn nesting(html: &str) -> Option<usize> {
        let (mut open, mut deepest) = (Vec::new(), 0);
        for tag in html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
            match tag.strip_prefix('/') {
                Some(name) => (open.pop() == Some(name)).then_some(())?,
                None if tag == "br" => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
            deepest = deepest.max(open.len());
        }
        open.is_empty().then_some(deepest)
    }

    proptest! {
        #[test]
        fn whatever_comes_in_what_comes_out_is_well_formed_and_shallow(
            pieces in proptest::collection::vec(
                "<(p|pre|i|b|code|a href=\"https://x\"|ul|ol|li|blockquote|br|script|table)>|</(p|pre|i|a|ul|li|blockquote|code)>|[<>&\"' a-z]{0,6}|.{0,4}",
                0..80),
        ) {
            let cleaned = clean(&pieces.concat());
            prop_assert!(nesting(&cleaned).is_some_and(|depth| depth <= MAX_DEPTH), "{cleaned}");
            prop_assert_eq!(clean(&cleaned), cleaned);
        }
    }
}
