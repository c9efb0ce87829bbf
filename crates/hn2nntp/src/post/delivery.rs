//! Offers articles to a server, by the best method that it allows.

use super::nntp::{Connection, NntpError, Reply};
use super::server::Method;
use super::spool::Waiting;

/// The number of articles that are sent at once when streaming, before the answers are read: so small that the answers
/// fit into the network's buffers.
const WINDOW: usize = 32;

/// The server's answer to an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    /// The server has it, or had it earlier.
    Duplicate,
    /// Refused for good.
    Refused(String),
    /// Refused for now.
    Later(String),
}

/// The method of offering articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Stream,
    Ihave,
    Post,
}

/// Chooses how to offer articles, and prepares the connection for it.
pub(crate) fn prepare(connection: &mut Connection, method: Method) -> Result<Way, NntpError> {
    let can = connection.capabilities()?;
    let can = |capability: &str| can.iter().any(|line| line.split(' ').next() == Some(capability));
    // A server without CAPABILITIES may support a method all the same, so it is tried.
    let silent = !can("VERSION");
    match method {
        Method::Stream | Method::Auto if (can("STREAMING") || silent) && stream(connection)? => {
            Ok(Way::Stream)
        }
        Method::Stream => Err(NntpError::NotAllowed("streaming")),
        Method::Ihave => Ok(Way::Ihave),
        Method::Auto if can("IHAVE") => Ok(Way::Ihave),
        Method::Auto | Method::Post => {
            if can("MODE-READER") || silent {
                greet_as_reader(connection)?;
            }
            Ok(Way::Post)
        }
    }
}

fn stream(connection: &mut Connection) -> Result<bool, NntpError> {
    Ok(connection.ask("MODE STREAM")?.code == 203)
}

fn greet_as_reader(connection: &mut Connection) -> Result<(), NntpError> {
    let reply = connection.ask("MODE READER")?;
    match reply.code {
        200 | 480 | 500 | 501 => Ok(()),
        201 => Err(NntpError::NotAllowed("posting")),
        _ => Err(NntpError::Unexpected { command: "MODE READER", reply }),
    }
}

/// Offers articles in order and reports the verdict on each; `read` returns an article's bytes, if it is still in the
/// spool.
///
/// # Errors
///
/// If the connection broke, or `read` or `report` failed; articles without a verdict may or may not have arrived.
pub(crate) fn offer<E: From<NntpError>>(
    connection: &mut Connection,
    way: Way,
    articles: &[Waiting],
    read: &mut impl FnMut(&Waiting) -> Result<Option<Vec<u8>>, E>,
    report: &mut impl FnMut(&Waiting, Verdict) -> Result<(), E>,
) -> Result<(), E> {
    match way {
        Way::Stream => {
            articles.chunks(WINDOW).try_for_each(|window| stream_window(connection, window, read, report))
        }
        Way::Ihave | Way::Post => articles.iter().try_for_each(|article| {
            let Some(bytes) = read(article)? else { return Ok(()) };
            let id = article.id.as_str();
            let verdict =
                if way == Way::Ihave { ihave(connection, id, &bytes) } else { post(connection, id, &bytes) };
            report(article, verdict?)
        }),
    }
}

/// Streams a window of articles: CHECK for all, TAKETHIS for those that the server wants (RFC 4644).
fn stream_window<E: From<NntpError>>(
    connection: &mut Connection,
    window: &[Waiting],
    read: &mut impl FnMut(&Waiting) -> Result<Option<Vec<u8>>, E>,
    report: &mut impl FnMut(&Waiting, Verdict) -> Result<(), E>,
) -> Result<(), E> {
    for article in window {
        connection.send(&format!("CHECK {}", article.id.as_str()))?;
    }
    connection.flush()?;
    let mut wanted = Vec::new();
    for article in window {
        let reply = connection.reply()?;
        match reply.code {
            238 => wanted.push(article),
            438 => report(article, Verdict::Duplicate)?,
            431 => report(article, Verdict::Later(reply.to_string()))?,
            _ => return Err(NntpError::Unexpected { command: "CHECK", reply }.into()),
        }
    }
    let mut sent = Vec::new();
    for article in wanted {
        if let Some(bytes) = read(article)? {
            connection.send(&format!("TAKETHIS {}", article.id.as_str()))?;
            connection.send_article(&bytes)?;
            sent.push(article);
        }
    }
    connection.flush()?;
    for article in sent {
        let reply = connection.reply()?;
        match reply.code {
            239 => report(article, Verdict::Accepted)?,
            439 => report(article, refused(&reply))?,
            _ => return Err(NntpError::Unexpected { command: "TAKETHIS", reply }.into()),
        }
    }
    Ok(())
}

fn ihave(connection: &mut Connection, id: &str, article: &[u8]) -> Result<Verdict, NntpError> {
    let mut reply = connection.ask(&format!("IHAVE {id}"))?;
    if reply.code == 335 {
        connection.send_article(article)?;
        connection.flush()?;
        reply = connection.reply()?;
    }
    match reply.code {
        235 => Ok(Verdict::Accepted),
        435 => Ok(Verdict::Duplicate),
        436 => Ok(Verdict::Later(reply.to_string())),
        437 => Ok(refused(&reply)),
        500 | 502 => Err(NntpError::NotAllowed("IHAVE")),
        _ => Err(NntpError::Unexpected { command: "IHAVE", reply }),
    }
}

/// Posts an article. POST has no answer of its own for duplicates, so STAT asks for them first.
fn post(connection: &mut Connection, id: &str, article: &[u8]) -> Result<Verdict, NntpError> {
    if connection.ask(&format!("STAT {id}"))?.code == 223 {
        return Ok(Verdict::Duplicate);
    }
    let mut reply = connection.ask("POST")?;
    if reply.code == 340 {
        connection.send_article(article)?;
        connection.flush()?;
        reply = connection.reply()?;
    }
    match reply.code {
        240 => Ok(Verdict::Accepted),
        441 => Ok(refused(&reply)),
        440 => Err(NntpError::NotAllowed("posting")),
        _ => Err(NntpError::Unexpected { command: "POST", reply }),
    }
}

/// Reads a refusal. After POST, or TAKETHIS of an article that another peer has sent meanwhile, its text may be another
/// server's answer.
fn refused(reply: &Reply) -> Verdict {
    let said = reply.to_string();
    let inner = reply.text.split(' ').next().unwrap_or_default();
    match inner {
        "435" | "438" => Verdict::Duplicate,
        "400" | "403" | "431" | "436" | "480" | "503" => Verdict::Later(said),
        _ if reply.text.to_ascii_lowercase().contains("duplicate") => Verdict::Duplicate,
        _ => Verdict::Refused(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whether_to_try_again() {
        let verdict = |code, text: &str| refused(&Reply { code, text: text.to_owned() });
        assert_eq!(verdict(441, "435 Duplicate"), Verdict::Duplicate);
        assert_eq!(verdict(439, "<1@x> Duplicate article"), Verdict::Duplicate);
        assert_eq!(verdict(441, "436 Try later"), Verdict::Later("441 436 Try later".to_owned()));
        assert_eq!(verdict(437, "No such group"), Verdict::Refused("437 No such group".to_owned()));
    }
}
