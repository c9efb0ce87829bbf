//! The outputs of articles: a batch for `rnews`, a mailbox, or a maildir.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use super::article::Article;

/// The format of the time in the first line of a mailbox entry: that of C's `asctime`.
const ASCTIME: &[BorrowedFormatItem<'_>] = format_description!(
    "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]"
);

/// An output of articles.
pub(crate) enum Sink<W> {
    Rnews(W),
    Mbox(W),
    Maildir(Maildir),
}

impl<W: Write> Sink<W> {
    /// Writes an article and returns whether it was new.
    pub(crate) fn write(&mut self, article: &Article) -> io::Result<bool> {
        match self {
            Self::Rnews(output) => {
                writeln!(output, "#! rnews {}", article.bytes.len())?;
                output.write_all(&article.bytes)?;
            }
            Self::Mbox(output) => write_mbox(output, article)?,
            Self::Maildir(maildir) => return maildir.deliver(article),
        }
        Ok(true)
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Rnews(output) | Self::Mbox(output) => output.flush(),
            Self::Maildir(_) => Ok(()),
        }
    }
}

/// Writes an entry of a mailbox in the format mboxrd: lines that look like the first one of an entry, with any number
/// of `>` before it, get one more `>`, which a reader can remove again.
fn write_mbox(output: &mut impl Write, article: &Article) -> io::Result<()> {
    let time = article.time.format(ASCTIME).expect("the format has no part that a time lacks");
    writeln!(output, "From {} {time}", article.author)?;
    for line in article.bytes.split_inclusive(|&byte| byte == b'\n') {
        let unquoted = line.iter().position(|&byte| byte != b'>').unwrap_or(line.len());
        if line[unquoted..].starts_with(b"From ") {
            output.write_all(b">")?;
        }
        output.write_all(line)?;
    }
    output.write_all(b"\n")
}

/// A maildir: <https://cr.yp.to/proto/maildir.html>.
pub(crate) struct Maildir {
    root: PathBuf,
    /// The names of existing messages, without the flags that readers append.
    existing: HashSet<String>,
}

impl Maildir {
    /// Opens a maildir, and creates it if it does not exist.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let mut existing = HashSet::new();
        for part in ["tmp", "new", "cur"] {
            fs::create_dir_all(root.join(part))?;
        }
        for part in ["new", "cur"] {
            for entry in fs::read_dir(root.join(part))? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                existing.insert(name.split(':').next().unwrap_or_default().to_owned());
            }
        }
        Ok(Self { root: root.to_owned(), existing })
    }

    /// Writes the article, unless it exists; its name is the same in every run.
    fn deliver(&mut self, article: &Article) -> io::Result<bool> {
        let name = format!("{}.{}.hn2nntp", article.time.unix_timestamp(), article.id);
        if self.existing.contains(&name) {
            return Ok(false);
        }
        let unfinished = self.root.join("tmp").join(&name);
        let mut file = fs::File::create(&unfinished)?;
        file.write_all(&article.bytes)?;
        file.sync_all()?;
        fs::rename(unfinished, self.root.join("new").join(&name))?;
        self.existing.insert(name);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::OffsetDateTime;

    fn article(bytes: &[u8]) -> Article {
        Article { id: 7, author: "a@b".to_owned(), time: OffsetDateTime::UNIX_EPOCH, bytes: bytes.to_owned() }
    }

    #[test]
    fn a_batch_counts_bytes() {
        let mut batch = Vec::new();
        Sink::Rnews(&mut batch).write(&article("A: b\n\né\n".as_bytes())).unwrap();
        assert_eq!(batch, "#! rnews 9\nA: b\n\né\n".as_bytes());
    }

    #[test]
    fn a_line_that_looks_like_an_entry_is_quoted() {
        let mut mailbox = Vec::new();
        Sink::Mbox(&mut mailbox).write(&article(b"A: b\n\nFrom x\n>>From y\nFromage\n")).unwrap();
        let expected = "From a@b Thu Jan  1 00:00:00 1970\nA: b\n\n>From x\n>>>From y\nFromage\n\n";
        assert_eq!(String::from_utf8(mailbox).unwrap(), expected);
    }

    #[test]
    fn an_article_is_delivered_to_a_maildir_once_even_if_it_was_read() {
        let directory = tempfile::tempdir().unwrap();
        let deliver = || {
            let mut sink = Sink::<Vec<u8>>::Maildir(Maildir::open(directory.path()).unwrap());
            (sink.write(&article(b"A: b\n\n")).unwrap(), sink.write(&article(b"A: b\n\n")).unwrap())
        };
        assert_eq!(deliver(), (true, false));
        let name = directory.path().join("new/0.7.hn2nntp");
        assert_eq!(fs::read(&name).unwrap(), b"A: b\n\n");
        fs::rename(name, directory.path().join("cur/0.7.hn2nntp:2,S")).unwrap();
        assert_eq!(deliver(), (false, false));
        assert_eq!(fs::read_dir(directory.path().join("tmp")).unwrap().count(), 0);
    }
}
