//! The NNTP protocol (RFC 3977): commands, replies, articles on the wire.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_platform_verifier::BuilderVerifierExt;
use thiserror::Error;

use super::server::Server;

/// The longest accepted line of an answer, in bytes; RFC 3977 allows 512.
const MAX_REPLY: u64 = 4096;
/// The largest number of lines of an answer.
const MAX_LINES: usize = 1000;

/// Why a server cannot be used.
#[derive(Debug, Error)]
pub(crate) enum NntpError {
    #[error("cannot reach it: {0}")]
    Connect(io::Error),
    #[error("cannot talk TLS: {0}")]
    Tls(String),
    #[error("the connection broke: {}", broken(.0))]
    Broken(#[from] io::Error),
    #[error("it closed the connection")]
    Closed,
    #[error("it answers {0:?}, which is no NNTP")]
    Form(String),
    #[error("{command}: it answers \"{reply}\"")]
    Unexpected { command: &'static str, reply: Reply },
    #[error("it allows no {0}")]
    NotAllowed(&'static str),
}

/// A server's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.text)
    }
}

/// A connection to a server, after its greeting.
pub(crate) struct Connection {
    stream: BufReader<Box<dyn Stream>>,
}

/// A plain or an encrypted stream.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

impl Connection {
    /// Connects and reads the greeting. `timeout` limits each read and write.
    pub(crate) fn open(server: &Server, tls: bool, timeout: Duration) -> Result<Self, NntpError> {
        let tcp = connect(server, tls, timeout).map_err(NntpError::Connect)?;
        tcp.set_read_timeout(Some(timeout))?;
        tcp.set_write_timeout(Some(timeout))?;
        tcp.set_nodelay(true)?;
        let stream: Box<dyn Stream> = if tls { Box::new(encrypt(tcp, &server.host)?) } else { Box::new(tcp) };
        let mut connection = Self { stream: BufReader::new(stream) };
        let greeting = connection.reply()?;
        match greeting.code {
            200 | 201 => Ok(connection),
            _ => Err(NntpError::Unexpected { command: "greeting", reply: greeting }),
        }
    }

    /// Sends a command and returns the answer's first line.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Reply, NntpError> {
        self.send(command)?;
        self.flush()?;
        self.reply()
    }

    /// Returns the capabilities of the server, one with its arguments per line; none if it does not list them.
    pub(crate) fn capabilities(&mut self) -> Result<Vec<String>, NntpError> {
        if self.ask("CAPABILITIES")?.code != 101 {
            return Ok(Vec::new());
        }
        let mut lines = Vec::new();
        loop {
            let line = self.line()?;
            match line.as_str() {
                "." => return Ok(lines),
                _ if lines.len() >= MAX_LINES => return Err(NntpError::Form(line)),
                _ => lines.push(line),
            }
        }
    }

    /// Authenticates (RFC 4643).
    pub(crate) fn log_in(&mut self, user: &str, password: &str) -> Result<(), NntpError> {
        let mut reply = self.ask(&format!("AUTHINFO USER {user}"))?;
        if reply.code == 381 {
            reply = self.ask(&format!("AUTHINFO PASS {password}"))?;
        }
        if reply.code == 281 { Ok(()) } else { Err(NntpError::Unexpected { command: "AUTHINFO", reply }) }
    }

    /// Sends a command without reading its answer.
    pub(crate) fn send(&mut self, command: &str) -> Result<(), NntpError> {
        self.write(format!("{command}\r\n").as_bytes())
    }

    /// Sends an article: lines end with CR LF, a dot before each that begins with one, a dot at the end.
    pub(crate) fn send_article(&mut self, article: &[u8]) -> Result<(), NntpError> {
        self.write(&wire_format(article))
    }

    /// Flushes the connection.
    pub(crate) fn flush(&mut self) -> Result<(), NntpError> {
        Ok(self.stream.get_mut().flush()?)
    }

    /// Reads an answer's first line.
    pub(crate) fn reply(&mut self) -> Result<Reply, NntpError> {
        let line = self.line()?;
        let code = line.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()));
        match code.and_then(|code| code.parse().ok()) {
            Some(code) => Ok(Reply { code, text: line[3..].trim().to_owned() }),
            None => Err(NntpError::Form(line)),
        }
    }

    fn line(&mut self) -> Result<String, NntpError> {
        let mut line = Vec::new();
        self.stream.by_ref().take(MAX_REPLY).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(NntpError::Closed);
        }
        let printable = |c: char| if c.is_control() { '?' } else { c };
        let text: String = String::from_utf8_lossy(line.trim_ascii_end()).chars().map(printable).collect();
        if line.ends_with(b"\n") { Ok(text) } else { Err(NntpError::Form(text)) }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), NntpError> {
        Ok(self.stream.get_mut().write_all(bytes)?)
    }
}

fn connect(server: &Server, tls: bool, timeout: Duration) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (server.host.as_str(), server.port(tls)).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn encrypt(tcp: TcpStream, host: &str) -> Result<StreamOwned<ClientConnection, TcpStream>, NntpError> {
    let failed = |error: &dyn fmt::Display| NntpError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| failed(&error))?
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(&error))?;
    let client = ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))?;
    let mut stream = StreamOwned::new(client, tcp);
    stream.conn.complete_io(&mut stream.sock).map_err(|error| failed(&error))?;
    Ok(stream)
}

fn wire_format(article: &[u8]) -> Vec<u8> {
    let mut wire = Vec::with_capacity(article.len() + article.len() / 32 + 8);
    for line in article.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.first() == Some(&b'.') {
            wire.push(b'.');
        }
        wire.extend_from_slice(line);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b".\r\n");
    wire
}

fn broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_doubled_and_lines_end_with_cr_lf() {
        assert_eq!(
            wire_format(b"A: b\n\n.\n..x\ny.\r\nend"),
            b"A: b\r\n\r\n..\r\n...x\r\ny.\r\nend\r\n.\r\n"
        );
        assert_eq!(wire_format(b""), b".\r\n");
    }
}
