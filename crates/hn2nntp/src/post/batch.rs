//! The articles of a batch for `rnews`.

use std::io::{self, BufRead, Read};

use thiserror::Error;

/// The longest accepted article, in bytes.
const MAX_ARTICLE: u64 = 16 * 1024 * 1024;
/// The longest message ID (RFC 3977, section 3.6).
const MAX_MESSAGE_ID: usize = 250;
/// The longest line before an article in a batch, in bytes.
const MAX_HEAD: u64 = 64;

/// What is wrong with a batch.
#[derive(Debug, Error)]
pub(crate) enum BatchError {
    #[error("cannot read the articles")]
    Input(#[from] io::Error),
    #[error("article {number}: \"#! rnews SIZE\" should stand here, as hn2nntp convert writes it")]
    Form { number: u64 },
    #[error("article {number}: has {size} bytes, more than {MAX_ARTICLE}")]
    Long { number: u64, size: u64 },
    #[error("article {number}: ends after {there} of {size} bytes")]
    Short { number: u64, there: u64, size: u64 },
}

/// An article and its message ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Article {
    pub(crate) id: MessageId,
    pub(crate) bytes: Vec<u8>,
}

/// A message ID with its angle brackets: printable ASCII without spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageId(String);

impl MessageId {
    /// Reads a message ID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('<')?.strip_suffix('>')?;
        let printable = inner.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte));
        (printable && !inner.is_empty() && text.len() <= MAX_MESSAGE_ID).then(|| Self(text.to_owned()))
    }

    /// Returns it with its angle brackets.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Article {
    /// Makes an article of bytes with a message ID.
    pub(crate) fn new(bytes: Vec<u8>) -> Option<Self> {
        let head = bytes.split(|&byte| byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
        let mut values = head.filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            line[..colon].eq_ignore_ascii_case(b"Message-ID").then(|| line[colon + 1..].trim_ascii())
        });
        let id = MessageId::parse(str::from_utf8(values.next()?).ok()?)?;
        Some(Self { id, bytes })
    }
}

/// Reads the next article's bytes, or `None` at the end of the batch; `number` counts them from 1.
pub(crate) fn next_article(input: &mut impl BufRead, number: u64) -> Result<Option<Vec<u8>>, BatchError> {
    let mut head = Vec::new();
    input.by_ref().take(MAX_HEAD).read_until(b'\n', &mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let size = str::from_utf8(&head).ok().and_then(|head| head.strip_prefix("#! rnews "));
    let size: Option<u64> = size.and_then(|size| size.strip_suffix('\n')?.trim_end().parse().ok());
    let size = size.ok_or(BatchError::Form { number })?;
    if size > MAX_ARTICLE {
        return Err(BatchError::Long { number, size });
    }
    let mut bytes = Vec::new();
    let there = input.by_ref().take(size).read_to_end(&mut bytes)? as u64;
    if there < size { Err(BatchError::Short { number, there, size }) } else { Ok(Some(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn articles_are_split_by_their_sizes() {
        let mut batch = &b"#! rnews 4\na\n\nb#! rnews 0\n"[..];
        assert_eq!(next_article(&mut batch, 1).unwrap(), Some(b"a\n\nb".to_vec()));
        assert_eq!(next_article(&mut batch, 2).unwrap(), Some(vec![]));
        assert_eq!(next_article(&mut batch, 3).unwrap(), None);
    }

    #[test]
    fn what_is_no_batch_is_said() {
        for (batch, says) in [
            ("Path: x\n", "article 1: \"#! rnews SIZE\" should stand here, as hn2nntp convert writes it"),
            ("#! rnews 9\nabc", "article 1: ends after 3 of 9 bytes"),
            ("#! rnews 99999999999\n", "article 1: has 99999999999 bytes, more than 16777216"),
            ("#! rnews x\n", "article 1: \"#! rnews SIZE\" should stand here, as hn2nntp convert writes it"),
        ] {
            assert_eq!(next_article(&mut batch.as_bytes(), 1).unwrap_err().to_string(), says);
        }
    }

    #[test]
    fn the_message_id_is_found_in_the_head_only() {
        let id = |article: &str| Article::new(article.as_bytes().to_vec()).map(|article| article.id.0);
        assert_eq!(id("A: b\nmessage-id:  <a@b> \n\n"), Some("<a@b>".to_owned()));
        assert_eq!(id("A: b\r\nMessage-ID: <a@b>\r\n\r\n"), Some("<a@b>".to_owned()));
        for wrong in [
            "A: b\n\nMessage-ID: <a@b>\n",
            "Message-ID: a@b\n",
            "Message-ID: <a b>\n",
            "Message-ID: <>\n",
            "",
        ] {
            assert_eq!(id(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 0..300_usize) {
            let _ = next_article(&mut bytes.as_slice(), 1);
            let batch = [format!("#! rnews {size}\n").as_bytes(), &bytes].concat();
            let _ = next_article(&mut batch.as_slice(), 1).map(|article| article.and_then(Article::new));
        }
    }
}
