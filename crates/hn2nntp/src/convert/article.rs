//! Articles: headers of RFC 5536 and RFC 5322, two bodies of RFC 2046, written by a mail library.

use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::headers::text::Text;
use mail_builder::headers::{Header, HeaderType};
use mail_builder::mime::{BodyPart, MimePart};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::body::{Bodies, page};
use super::threads::ThreadPosition;
use crate::item::{Id, Item, Kind, Post, Submission};

/// The domain of made-up mail addresses and message IDs; `.invalid` is reserved (RFC 2606).
const DOMAIN: &str = "news.ycombinator.com.invalid";
/// The longest `References`, in bytes: the limit of RFC 5536 for a line, less the header's name.
const MAX_REFERENCES: usize = 980;
/// The longest word of a header that is not encoded, in bytes.
const MAX_WORD: usize = 900;

/// The settings of all articles of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) newsgroups: String,
    /// Leave out the HTML.
    pub(crate) text_only: bool,
    /// The value of `Injection-Date`; `None` leaves it out.
    pub(crate) injected: Option<OffsetDateTime>,
}

/// An article with line feeds as line ends, as news software stores it.
pub(crate) struct Article {
    pub(crate) id: Id,
    pub(crate) author: String,
    pub(crate) time: OffsetDateTime,
    pub(crate) bytes: Vec<u8>,
}

/// Returns the subject of an article: the title of a submission, or `Re:` and the title of the thread for a comment.
pub(crate) fn subject(item: &Item, post: &Post, position: &ThreadPosition<'_>) -> String {
    let first = position.ancestors.first().unwrap_or(&item.id);
    let title = match &post.kind {
        Kind::Submission(submission) => one_line(&submission.title),
        Kind::Comment | Kind::PollOption { .. } => one_line(position.title.unwrap_or_default()),
    };
    let title = if title.is_empty() { format!("Hacker News item {first}") } else { title };
    let replies = !matches!(post.kind, Kind::Submission(_)) && !title.starts_with("Re: ");
    if replies { format!("Re: {title}") } else { title }
}

impl Article {
    /// Makes an article.
    pub(crate) fn new(
        item: &Item,
        post: &Post,
        position: &ThreadPosition<'_>,
        subject: &str,
        bodies: &Bodies,
        settings: &Settings,
    ) -> Self {
        let mut message = MessageBuilder::new()
            .header("Path", Raw::new("hn2nntp!not-for-mail"))
            .header("From", author(&post.by))
            .header("Newsgroups", Raw::new(settings.newsgroups.as_str()))
            .header("Subject", subject_text(subject))
            .header("Date", date(post.time))
            .header("Message-ID", MessageId::new(message_id(item.id)));
        if let Some(&parent) = position.ancestors.last() {
            message = message
                .header("References", MessageId::new_list(references(&position.ancestors).into_iter()))
                .header("In-Reply-To", MessageId::new(message_id(parent)));
        }
        if let Some(injected) = settings.injected {
            message = message.header("Injection-Date", date(injected));
        }
        message = message.header("Archived-At", Raw::new(format!("<{}>", page(item.id))));
        if let Kind::Submission(submission) = &post.kind {
            message = with_submission(message, submission);
        }
        let crlf = message.body(body(item.id, bodies, settings.text_only)).write_to_vec().unwrap_or_default();
        Self { id: item.id, author: address(&post.by), time: post.time, bytes: without_returns(&crlf) }
    }
}

/// Returns the message ID of an item: the same in every run.
pub(crate) fn message_id(id: Id) -> String {
    format!("{id}@{DOMAIN}")
}

/// Returns the `References`: all ancestors, or the first and as many of the last as fit (RFC 5537,
/// section 3.4.4).
fn references(ancestors: &[Id]) -> Vec<String> {
    let size = |id: &Id| message_id(*id).len() + 3;
    let mut room = MAX_REFERENCES.saturating_sub(ancestors.first().map_or(0, size));
    let fits = |id: &&Id| {
        let fits = size(id) <= room;
        room = room.saturating_sub(size(id));
        fits
    };
    let last = ancestors.iter().skip(1).rev().take_while(fits).count();
    let (first, rest) = ancestors.split_at(ancestors.len().min(1));
    first.iter().chain(&rest[rest.len() - last..]).map(|&id| message_id(id)).collect()
}

fn with_submission<'x>(mut message: MessageBuilder<'x>, submission: &Submission) -> MessageBuilder<'x> {
    message = message.header("X-HN-Type", Raw::new(submission.what.name()));
    if let Some(score) = submission.score {
        message = message.header("X-HN-Score", Raw::new(score.to_string()));
    }
    if let Some(comments) = submission.comments {
        message = message.header("X-HN-Comments", Raw::new(comments.to_string()));
    }
    if let Some(link) = submission.link.as_deref().filter(|link| !one_line(link).is_empty()) {
        message = message.header("X-HN-Link", text(link));
    }
    message
}

/// Returns the text alone, or the text and then the HTML: readers show the last form that they support (RFC 2046,
/// section 5.1.4).
fn body(id: Id, bodies: &Bodies, text_only: bool) -> MimePart<'_> {
    let text = ContentType::new("text/plain").attribute("charset", "utf-8").attribute("format", "flowed");
    let text = MimePart::new(text, bodies.text.replace('\n', "\r\n"));
    if text_only {
        return text;
    }
    let html = ContentType::new("text/html").attribute("charset", "utf-8");
    let kind = ContentType::new("multipart/alternative").attribute("boundary", boundary(id, bodies));
    let html = MimePart::new(html, bodies.html.replace('\n', "\r\n"));
    MimePart::new(kind, BodyPart::Multipart(vec![text, html]))
}

/// Returns a boundary that occurs in neither body and is the same in every run.
fn boundary(id: Id, bodies: &Bodies) -> String {
    let free = |boundary: &String| !bodies.text.contains(boundary) && !bodies.html.contains(boundary);
    let mut candidates = (0_u64..).map(|number| format!("=_hn2nntp_{id}_{number}"));
    candidates.find(free).expect("bodies are finite, the candidates are not")
}

/// Returns a header's text: unchanged if it consists of short ASCII words, else encoded (RFC 2047).
fn text(value: &str) -> HeaderType<'static> {
    let value = one_line(value);
    let ascii = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let plain = ascii && !looks_encoded(&value) && value.split(' ').all(|word| word.len() <= MAX_WORD);
    if plain { Raw::new(value).into() } else { to_encode(value).into() }
}

/// Returns a subject's text. `Re: ` is not encoded, for readers that search for it without decoding.
fn subject_text(subject: &str) -> HeaderType<'static> {
    match (subject.strip_prefix("Re: "), text(subject)) {
        (Some(title), HeaderType::Text(_)) => Raw::new(format!("Re: {}", encoded(title))).into(),
        (_, text) => text,
    }
}

/// Returns text that the library encodes. It does not encode ASCII that looks encoded, unless a space ends it.
fn to_encode(text: String) -> Text<'static> {
    Text::new(if looks_encoded(&text) { text + " " } else { text })
}

fn looks_encoded(text: &str) -> bool {
    text.contains("=?")
}

/// Returns the encoded words of a text, with single spaces between them.
fn encoded(text: &str) -> String {
    let mut header = Vec::new();
    to_encode(text.to_owned()).write_header(&mut header, "Subject: Re: ".len());
    String::from_utf8_lossy(&header).split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn date(time: OffsetDateTime) -> Raw<'static> {
    Raw::new(time.format(&Rfc2822).expect("an item's year has four digits"))
}

fn author(name: &str) -> Address<'static> {
    Address::new_address(Some(one_line(name)).filter(|name| !name.is_empty()), address(name))
}

/// Returns the address of an author, with invalid characters replaced.
fn address(author: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let name: String = author.chars().take(64).map(|c| if allowed(c) { c } else { '_' }).collect();
    format!("{}@{DOMAIN}", if name.is_empty() { "unknown" } else { &name })
}

/// Returns the text with white space and control characters replaced by single spaces.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn without_returns(crlf: &[u8]) -> Vec<u8> {
    crlf.iter().copied().filter(|&byte| byte != b'\r').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn article(json: serde_json::Value, position: &ThreadPosition<'_>, text: &str) -> String {
        let item = Item::parse(json.to_string().as_bytes()).unwrap().unwrap();
        let crate::item::ItemStatus::Live(post) = &item.status else { panic!("it is live") };
        let bodies = Bodies { text: text.to_owned(), html: "<p>x</p>\n".to_owned() };
        let settings =
            Settings { newsgroups: "news.ycombinator".to_owned(), text_only: false, injected: None };
        let subject = subject(&item, post, position);
        String::from_utf8(Article::new(&item, post, position, &subject, &bodies, &settings).bytes).unwrap()
    }

    fn story(title: &str) -> String {
        let json = serde_json::json!({"id": 1, "type": "story", "time": 1175714200, "by": "dhouston",
            "title": title, "score": 104, "descendants": 71, "url": "http://www.getdropbox.com/u/2/screencast.html"});
        article(json, &ThreadPosition { ancestors: vec![], title: None }, "text\n")
    }

    fn comment(ancestors: Vec<Id>, title: Option<&str>) -> String {
        let parent = *ancestors.last().unwrap();
        let json =
            serde_json::json!({"id": 99_999_999, "type": "comment", "time": 1, "by": "a", "parent": parent});
        article(json, &ThreadPosition { ancestors, title }, "text\n")
    }

    fn header(article: &str, name: &str) -> String {
        let head = article.split_once("\n\n").unwrap().0.replace("\n ", " ").replace("\n\t", " ");
        let value = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        value.unwrap_or_else(|| panic!("no {name} in {head}")).to_owned()
    }

    #[test]
    fn a_story_has_the_headers_of_an_article() {
        assert!(
            story("My YC app").starts_with(
                "Path: hn2nntp!not-for-mail\n\
             From: \"dhouston\" <dhouston@news.ycombinator.com.invalid>\n\
             Newsgroups: news.ycombinator\n\
             Subject: My YC app\n\
             Date: Wed, 04 Apr 2007 19:16:40 +0000\n\
             Message-ID: <1@news.ycombinator.com.invalid>\n\
             Archived-At: <https://news.ycombinator.com/item?id=1>\n\
             X-HN-Type: story\n\
             X-HN-Score: 104\n\
             X-HN-Comments: 71\n\
             X-HN-Link: http://www.getdropbox.com/u/2/screencast.html\n\
             MIME-Version: 1.0\n\
             Content-Type: multipart/alternative;"
            ),
            "{}",
            story("My YC app")
        );
    }

    #[test]
    fn a_title_cannot_make_a_header() {
        let article = story("a\r\nControl: newgroup x\u{0}\u{1b}[1m");
        assert_eq!(header(&article, "Subject"), "a Control: newgroup x [1m");
        assert!(!article.contains("\nControl"));
    }

    #[test]
    fn a_title_of_other_letters_is_encoded() {
        assert_eq!(header(&story("Ünï — 世界"), "Subject"), "=?utf-8?B?w5xuw68g4oCUIOS4lueVjA==?=");
        assert!(story(&"Ж".repeat(300)).lines().all(|line| line.len() <= 78));
        assert_eq!(header(&story("=?utf-8?Q?x?="), "Subject"), "=?utf-8?B?PT91dGYtOD9RP3g/PSA=?=");
    }

    #[test]
    fn a_comment_refers_to_all_its_ancestors_and_replies_to_the_last() {
        let article = comment(vec![1, 2, 3], Some("Re: T"));
        let id = |id: u64| format!("<{id}@news.ycombinator.com.invalid>");
        assert_eq!(header(&article, "References"), format!("{} {} {}", id(1), id(2), id(3)));
        assert_eq!(header(&article, "In-Reply-To"), id(3));
        assert_eq!(header(&article, "Subject"), "Re: T");
        let encoded = comment(vec![1], Some("世界"));
        assert_eq!(header(&encoded, "Subject"), "Re: =?utf-8?B?5LiW55WM?=");
        assert_eq!(header(&comment(vec![7], None), "Subject"), "Re: Hacker News item 7");
    }

    #[test]
    fn long_references_keep_the_first_and_the_last() {
        let article = comment((1..=200).collect(), Some("T"));
        let references = header(&article, "References");
        assert!(
            references.len() <= MAX_REFERENCES && references.len() > MAX_REFERENCES - 60,
            "{}",
            references.len()
        );
        assert!(
            references.starts_with("<1@") && references.contains(" <199@") && references.contains(" <200@")
        );
    }

    #[test]
    fn the_boundary_is_not_in_the_text() {
        let json = serde_json::json!({"id": 1, "type": "story", "time": 1, "title": "T"});
        let text = "--=_hn2nntp_1_0--\n";
        let article = article(json, &ThreadPosition { ancestors: vec![], title: None }, text);
        assert!(article.contains("boundary=\"=_hn2nntp_1_1\""), "{article}");
    }

    #[test]
    fn an_author_becomes_an_address_whatever_the_name() {
        assert_eq!(address("a b@c"), format!("a_b_c@{DOMAIN}"));
        assert_eq!(address(""), format!("unknown@{DOMAIN}"));
    }
}
