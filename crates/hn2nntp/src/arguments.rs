//! What can be typed. Help texts, shell completions and man pages come from here.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::item::Id;
use crate::post::server::{Method, Server};

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 nothing could be used, or something could not be done; 2 wrong arguments; 130 interrupted.

Examples:
  hn2nntp get top 30 | hn2nntp convert | rnews -N
  hn2nntp get top 30 | hn2nntp convert | hn2nntp post --server news.example.org
  hn2nntp get top 30 | hn2nntp convert --format maildir --output ~/Mail/hn";

/// Read Hacker News offline in any newsreader.
///
/// Downloads stories and comments and turns them into NetNews articles. It needs no configuration file.
#[derive(Debug, Parser)]
#[command(name = "hn2nntp", version, propagate_version = true, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Download items, and write each as one line of JSON.
    Get(Get),
    /// Turn lines of JSON into articles.
    Convert(Convert),
    /// Send articles to a news server.
    Post(Post),
    /// Write a completion script for a shell.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the man page.
    Man {
        /// Write a page for the program and one for each command into this directory.
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        directory: Option<PathBuf>,
    },
}

/// The arguments of `hn2nntp get`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is an item as the API describes it (https://github.com/HackerNews/API). If its ancestors were fetched too,
the field `thread` names them and the title of the story. Deleted, dead and broken items are counted and left out.

Examples:
  hn2nntp get top 30 > stories.jsonl
  hn2nntp get last 1000 --parents --save-max ~/.hn-max
  hn2nntp get range @$HOME/.hn-max --parents --save-max ~/.hn-max    # what is new since then")]
pub(crate) struct Get {
    #[command(subcommand)]
    pub(crate) what: What,

    /// Do not fetch the comments on the items.
    #[arg(long, global = true)]
    pub(crate) no_kids: bool,

    /// Also fetch what a comment replies to, up to the story.
    #[arg(long, global = true)]
    pub(crate) parents: bool,

    /// Send at most this many requests a second; 0 for no limit.
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = 20.0, value_parser = rate)]
    pub(crate) rate: f64,

    /// Have at most this many requests under way at a time.
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = 8,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) connections: u16,

    /// Try a request that failed this many times again, after 0.5, 1, 2, ... seconds.
    #[arg(long, global = true, value_name = "NUMBER", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(..=20))]
    pub(crate) retries: u32,

    /// Wait this long for an answer.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// Write the number of the last item to this file, where `range @FILE` goes on.
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save_max: Option<PathBuf>,

    /// The API's base address.
    #[arg(long, global = true, value_name = "URL", default_value = "https://hacker-news.firebaseio.com/v0")]
    pub(crate) api: String,

    /// Tell progress on stderr.
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,

    /// Write numbers to stderr at the end.
    #[arg(long, short, global = true)]
    pub(crate) statistics: bool,
}

/// Which items to get.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// The first stories of the front page.
    Top {
        /// How many.
        #[arg(default_value_t = 30)]
        number: usize,
    },
    /// The newest items.
    Last {
        /// How many.
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        number: u64,
    },
    /// These items.
    Exact {
        /// The items' numbers.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Id>,
    },
    /// All items from one number to another.
    Range {
        /// The first one: a number, or @FILE for the one after that which --save-max wrote there.
        #[arg(value_parser = From::parse)]
        from: From,
        /// The last one [default: the newest].
        to: Option<Id>,
    },
}

/// Where a range begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    At(Id),
    /// After the number in this file.
    After(PathBuf),
}

impl From {
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some("") => Err("a file name must follow the @".to_owned()),
            Some(path) => Ok(Self::After(path.into())),
            None => text.parse().map(Self::At).map_err(|_| "neither a number nor @FILE".to_owned()),
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if rate == 0.0 || (0.001..=1_000_000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err("neither 0 nor between 0.001 and 1000000".to_owned())
    }
}

/// The arguments of `hn2nntp convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads the lines that `hn2nntp get` writes from stdin. Articles of the same item have the same Message-ID in every run:
a news server takes each once.

Examples:
  hn2nntp get top 30 | hn2nntp convert | rnews -N
  hn2nntp get top 30 | hn2nntp convert --format mbox > hn.mbox
  hn2nntp convert --write-templates ~/hn-templates")]
pub(crate) struct Convert {
    /// How the articles are written.
    #[arg(long, value_enum, default_value_t = Format::Rnews)]
    pub(crate) format: Format,

    /// The maildir to deliver into; it is made if it is not there.
    #[arg(long, value_name = "DIRECTORY", required_if_eq("format", "maildir"), value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// The newsgroup, or several with commas between them.
    #[arg(long, value_name = "GROUP", default_value = "news.ycombinator", value_parser = newsgroups)]
    pub(crate) newsgroup: String,

    /// Write the text only, for readers that know no multipart/alternative, as slrn.
    #[arg(long)]
    pub(crate) text_only: bool,

    /// Take the bodies' templates article.txt and article.html from here, if they are there.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) template_dir: Option<PathBuf>,

    /// Write the built-in templates to this directory, to be changed there, and do nothing else.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) write_templates: Option<PathBuf>,

    /// Say that the articles are injected now: servers refuse old articles that do not.
    #[arg(long)]
    pub(crate) injection_date: bool,

    /// Say on stderr what was done.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// How articles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A batch for rnews and `hn2nntp post`, to stdout.
    Rnews,
    /// A mailbox (mboxrd), to stdout.
    Mbox,
    /// One file for each article, into the maildir named by --output.
    Maildir,
}

/// Checks a list of newsgroups' names (RFC 5536, section 3.1.4).
fn newsgroups(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-_".contains(c);
    let component = |part: &str| !part.is_empty() && part.chars().all(allowed);
    if text.split(',').all(|name| name.split('.').all(component)) && text.len() <= 900 {
        Ok(text.to_owned())
    } else {
        Err("not a newsgroup's name such as news.ycombinator".to_owned())
    }
}

/// The arguments of `hn2nntp post`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads a batch, as `hn2nntp convert` writes it, from stdin. Articles that the server has already are no error. Articles
that cannot be delivered now are kept in the spool and sent at the next run; those that the server refuses for good are
put into the spool's directory `refused`.

The password of --user is the first line of --password-file, or of the environment variable NNTP_PASSWORD.

Examples:
  hn2nntp get top 30 | hn2nntp convert | hn2nntp post --server localhost
  hn2nntp post --server localhost < /dev/null      # only what is spooled
  hn2nntp post --server news.example.org --tls --user me --password-file ~/.nntp < articles")]
pub(crate) struct Post {
    /// The news server; the port is 119, or 563 with --tls, unless it is given.
    #[arg(long, value_name = "HOST[:PORT]", value_parser = Server::parse)]
    pub(crate) server: Server,

    /// How articles are offered; auto is the best that the server allows.
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) method: Method,

    /// Where undelivered articles wait [default: hn2nntp/HOST:PORT in the XDG state directory].
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) spool: Option<PathBuf>,

    /// Talk TLS from the first byte (NNTPS).
    #[arg(long)]
    pub(crate) tls: bool,

    /// Log in under this name.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) user: Option<String>,

    /// The password is the first line of this file.
    #[arg(long, value_name = "FILE", requires = "user", value_hint = ValueHint::FilePath)]
    pub(crate) password_file: Option<PathBuf>,

    /// Wait this long for the server's answers.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// Say on stderr what was done.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_range_begins_at_a_number_or_after_a_file() {
        assert_eq!(From::parse("8863"), Ok(From::At(8863)));
        assert_eq!(From::parse("@max"), Ok(From::After("max".into())));
        assert!(From::parse("@").is_err() && From::parse("-1").is_err());
    }

    #[test]
    fn newsgroups_have_names_of_components() {
        assert!(newsgroups("news.ycombinator").is_ok() && newsgroups("a.b,c.d+e").is_ok());
        for wrong in ["", "a..b", "a b", "a,", "ä.b", "a.b\nX: y"] {
            assert!(newsgroups(wrong).is_err(), "{wrong}");
        }
    }
}
