//! Articles that wait for delivery, one file each, so that a killed process loses none.
//!
//! An article is stored here before it is offered, and removed after the server has accepted it. Articles that the
//! server refuses for good are moved to the directory `refused`, with the reason in a file beside them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::batch::{Article, MessageId};

/// The directory of refused articles.
const REFUSED: &str = "refused";

/// A spool directory.
pub(crate) struct Spool {
    directory: PathBuf,
}

/// An article in the spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) id: MessageId,
    name: String,
}

impl Spool {
    /// Opens a spool, and creates it if it does not exist.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// Stores an article.
    pub(crate) fn add(&self, article: &Article) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&self.directory)?;
        file.write_all(&article.bytes)?;
        file.persist(self.directory.join(file_name(&article.id)))?;
        Ok(())
    }

    /// Returns the waiting articles, lower numbers first, so that articles are delivered before their replies.
    pub(crate) fn waiting(&self) -> io::Result<Vec<Waiting>> {
        let mut waiting = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let (Some(id), true) = (message_id(&name), entry.file_type()?.is_file()) {
                waiting.push(Waiting { id, name });
            }
        }
        waiting.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
        Ok(waiting)
    }

    /// Reads an article. Returns `None` if another process has delivered it meanwhile.
    pub(crate) fn read(&self, waiting: &Waiting) -> io::Result<Option<Vec<u8>>> {
        found(fs::read(self.directory.join(&waiting.name)))
    }

    /// Removes a delivered article.
    pub(crate) fn remove(&self, waiting: &Waiting) -> io::Result<()> {
        found(fs::remove_file(self.directory.join(&waiting.name))).map(drop)
    }

    /// Moves a refused article to `refused`.
    pub(crate) fn move_to_refused(&self, waiting: &Waiting, reason: &str) -> io::Result<()> {
        let refused = self.refused();
        fs::create_dir_all(&refused)?;
        fs::write(refused.join(format!("{}.reason", waiting.name)), format!("{reason}\n"))?;
        found(fs::rename(self.directory.join(&waiting.name), refused.join(&waiting.name))).map(drop)
    }

    /// Returns the directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory of refused articles.
    pub(crate) fn refused(&self) -> PathBuf {
        self.directory.join(REFUSED)
    }
}

/// Returns the name of an article's file: the message ID without its brackets, percent-encoded.
fn file_name(id: &MessageId) -> String {
    let inner = id.as_str().trim_matches(['<', '>']);
    let mut name = String::with_capacity(inner.len());
    for (position, byte) in inner.bytes().enumerate() {
        let harmless =
            byte.is_ascii_alphanumeric() || b"@_-".contains(&byte) || (byte == b'.' && position > 0);
        if harmless {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

/// Returns the message ID of the article in a file of this name, if one can be there.
fn message_id(name: &str) -> Option<MessageId> {
    let mut inner = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '%' {
            inner.push(char::from(u8::from_str_radix(rest.get(..2)?, 16).ok()?));
            rest = &rest[2..];
        } else {
            inner.push(c);
        }
    }
    MessageId::parse(&format!("<{inner}>")).filter(|id| file_name(id) == name)
}

/// Turns "not found" into `None`.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn article(id: &str) -> Article {
        Article::new(format!("Message-ID: {id}\n\n").into_bytes()).unwrap()
    }

    #[test]
    fn what_was_added_waits_in_the_order_of_the_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path()).unwrap();
        for id in ["<10@x>", "<9@x>", "<9@x>"] {
            spool.add(&article(id)).unwrap();
        }
        fs::write(directory.path().join(".unfinished"), "").unwrap();
        let waiting = spool.waiting().unwrap();
        assert_eq!(
            waiting.iter().map(|waiting| waiting.id.as_str()).collect::<Vec<_>>(),
            ["<9@x>", "<10@x>"]
        );
        assert_eq!(spool.read(&waiting[0]).unwrap().unwrap(), article("<9@x>").bytes);
        spool.remove(&waiting[0]).unwrap();
        spool.move_to_refused(&waiting[1], "437 No").unwrap();
        assert_eq!(spool.waiting().unwrap(), []);
        assert_eq!(fs::read_to_string(directory.path().join("refused/10@x.reason")).unwrap(), "437 No\n");
    }

    #[test]
    fn two_processes_may_deliver_the_same_article() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path()).unwrap();
        spool.add(&article("<1@x>")).unwrap();
        let waiting = spool.waiting().unwrap().remove(0);
        spool.remove(&waiting).unwrap();
        assert_eq!(spool.read(&waiting).unwrap(), None);
        spool.remove(&waiting).unwrap();
    }

    proptest! {
        #[test]
        fn a_file_name_stands_for_one_message_id_and_is_harmless(inner in "[!-;=?-~]{1,80}") {
            let id = MessageId::parse(&format!("<{inner}>")).unwrap();
            let name = file_name(&id);
            prop_assert!(!name.contains('/') && !name.starts_with('.') && name.len() < 255);
            prop_assert_eq!(message_id(&name), Some(id));
        }

        #[test]
        fn no_name_panics(name in any::<String>()) {
            let _ = message_id(&name);
        }
    }
}
