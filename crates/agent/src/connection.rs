//! The Assuan protocol, from the client's side (the manual of libassuan, "Assuan Protocol").
//!
//! Lines have at most 1,000 bytes. A command is answered by lines of data (`D`), status (`S`) and inquiries, and ends with
//! `OK` or `ERR`.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::{Error, Result};

/// The most bytes of a line, without its line feed.
const MAX_LINE: usize = 1000;

/// The most bytes of data that answer one command.
const MAX_DATA: usize = 4 << 20;

/// The most lines that answer one command.
const MAX_LINES: usize = 1 << 20;

/// How long the agent may take for an answer for which it asks nobody.
const MACHINE: Duration = Duration::from_secs(60);

/// Whom the agent may have to wait for before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nobody: the answer comes within a minute.
    Machine,
    /// The user, who enters a passphrase or looks for a card, or a card: there is no limit.
    User,
}

/// What is done with what comes before the end of an answer.
pub trait Respond {
    /// Is told of a status line.
    fn status(&mut self, keyword: &str, text: &str) {
        let _ = (keyword, text);
    }

    /// Is told of a status line whose text may be of any bytes.
    fn status_bytes(&mut self, keyword: &str, text: &[u8]) {
        self.status(keyword, &String::from_utf8_lossy(text));
    }

    /// Answers an inquiry; `None` cancels the command.
    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        // The agent waits for an answer to what it only tells.
        let _ = text;
        (keyword == "PINENTRY_LAUNCHED").then(Zeroizing::default)
    }
}

/// Answers nothing but what needs an answer, and passes on nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Respond for Silent {}

/// A connection to an Assuan server.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    /// What was read, from `start` on not used yet.
    buffer: Zeroizing<Vec<u8>>,
    start: usize,
}

impl Connection {
    /// Connects, and reads the greeting.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if nobody listens, else those of an answer.
    pub fn open(socket: &Path) -> Result<Self> {
        Self::over(UnixStream::connect(socket)?)
    }

    fn over(stream: UnixStream) -> Result<Self> {
        let buffer = Zeroizing::new(Vec::with_capacity(2 * MAX_LINE));
        let mut connection = Self { stream, buffer, start: 0 };
        connection.stream.set_read_timeout(Some(MACHINE))?;
        connection.answer(&mut Silent)?;
        Ok(connection)
    }

    /// Sends a command and returns the data of the answer.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the server says so, [`Error::Protocol`] and [`Error::Io`].
    pub fn transact(
        &mut self,
        command: &str,
        wait: Wait,
        respond: &mut dyn Respond,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.send(&[command])?;
        self.stream.set_read_timeout((wait == Wait::Machine).then_some(MACHINE))?;
        self.answer(respond)
    }

    /// Sends commands that ask nobody and have no inquiries at once, and returns what was answered to each.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] and [`Error::Io`].
    pub fn transact_all(&mut self, commands: &[String]) -> Result<Vec<Result<Zeroizing<Vec<u8>>>>> {
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        self.send(&commands)?;
        self.stream.set_read_timeout(Some(MACHINE))?;
        let answer = |_| match self.answer(&mut Silent) {
            Err(error @ (Error::Io(_) | Error::Protocol(_))) => Err(error),
            answered => Ok(answered),
        };
        commands.iter().map(answer).collect()
    }

    fn send(&mut self, commands: &[&str]) -> Result<()> {
        let mut lines = Zeroizing::new(Vec::with_capacity(commands.iter().map(|line| line.len() + 1).sum()));
        for command in commands {
            if command.len() > MAX_LINE || command.contains(['\n', '\r']) {
                return Err(Error::Protocol("a command is too long for a line"));
            }
            lines.extend_from_slice(command.as_bytes());
            lines.push(b'\n');
        }
        Ok(self.stream.write_all(&lines)?)
    }

    fn answer(&mut self, respond: &mut dyn Respond) -> Result<Zeroizing<Vec<u8>>> {
        let mut data = Zeroizing::new(Vec::new());
        for _ in 0..MAX_LINES {
            let line = self.line()?;
            match line.as_slice() {
                b"OK" => return Ok(data),
                [b'O', b'K', b' ', ..] => return Ok(data),
                [b'E', b'R', b'R', b' ', rest @ ..] => return Err(refused(rest)),
                [b'D', b' ', rest @ ..] => {
                    // The data moves to a new place before the old one would be left behind with secrets in it.
                    if data.capacity() - data.len() < rest.len() {
                        let mut larger = Zeroizing::new(Vec::with_capacity(2 * (data.len() + rest.len())));
                        larger.extend_from_slice(&data);
                        data = larger;
                    }
                    unescape(rest, &mut data)?;
                    if data.len() > MAX_DATA {
                        return Err(Error::Protocol("more data than the limit"));
                    }
                }
                [b'S', b' ', rest @ ..] => {
                    let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
                    let text = rest.get(end + 1..).unwrap_or_default();
                    respond.status_bytes(&String::from_utf8_lossy(&rest[..end]), text);
                }
                [b'I', b'N', b'Q', b'U', b'I', b'R', b'E', b' ', rest @ ..] => {
                    let text = String::from_utf8_lossy(rest);
                    let (keyword, text) = text.split_once(' ').unwrap_or((&text, ""));
                    let answer = respond.inquire(keyword, text);
                    self.answer_inquiry(answer.as_deref().map(Vec::as_slice))?;
                }
                [] | [b'#', ..] => {}
                _ => return Err(Error::Protocol("a line of no known kind")),
            }
        }
        Err(Error::Protocol("more lines than the limit"))
    }

    fn answer_inquiry(&mut self, answer: Option<&[u8]>) -> Result<()> {
        let Some(answer) = answer else { return Ok(self.stream.write_all(b"CAN\n")?) };
        // Each byte may take three.
        for part in answer.chunks((MAX_LINE - 2) / 3) {
            let mut line = Zeroizing::new(Vec::with_capacity(MAX_LINE + 1));
            line.extend_from_slice(b"D ");
            for &byte in part {
                match byte {
                    b'%' | b'\r' | b'\n' => line.extend_from_slice(format!("%{byte:02X}").as_bytes()),
                    _ => line.push(byte),
                }
            }
            line.push(b'\n');
            self.stream.write_all(&line)?;
        }
        Ok(self.stream.write_all(b"END\n")?)
    }

    /// Reads a line, without its line feed.
    fn line(&mut self) -> Result<Zeroizing<Vec<u8>>> {
        loop {
            let unread = &self.buffer[self.start..];
            if let Some(length) = unread.iter().position(|&byte| byte == b'\n') {
                let line = unread[..length].strip_suffix(b"\r").unwrap_or(&unread[..length]);
                let line = Zeroizing::new(line.to_vec());
                self.start += length + 1;
                return Ok(line);
            }
            if unread.len() > MAX_LINE + 1 {
                return Err(Error::Protocol("a line is too long"));
            }
            self.fill()?;
        }
    }

    /// Reads what there is, into the capacity that the buffer has, so that it never moves.
    fn fill(&mut self) -> Result<()> {
        let unread = self.buffer.len() - self.start;
        self.buffer.copy_within(self.start.., 0);
        self.start = 0;
        let capacity = self.buffer.capacity();
        self.buffer.resize(capacity, 0);
        let read = self.stream.read(&mut self.buffer[unread..]);
        self.buffer.truncate(unread + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(Error::Protocol("the connection was closed")),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads an error line: a number, of which the low 16 bits are libgpg-error's code, and a text.
fn refused(line: &[u8]) -> Error {
    let line = String::from_utf8_lossy(line);
    let (number, text) = line.split_once(' ').unwrap_or((&line, ""));
    let code = number.parse::<u32>().map_or(1, |number| number as u16);
    // The program's name follows in angle brackets.
    let text = text.rsplit_once(" <").map_or(text, |(text, _)| text);
    let text = text.chars().filter(|letter| !letter.is_control()).collect();
    Error::Refused { code, text }
}

fn unescape(line: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut rest = line;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let [high, low, after @ ..] = after else { return Err(Error::Protocol("an escape is cut short")) };
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(Error::Protocol("an escape is no number"));
        out.push((digit(*high)? << 4 | digit(*low)?) as u8);
        rest = after;
    }
    Ok(())
}

/// Takes the escapes of an argument or a status line away, as [`escaped`] makes them; what is no escape stays.
pub fn unescaped(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut unescaped = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        let escape = match (byte, after) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match escape {
            Some((high, low)) => {
                unescaped.push((high << 4 | low) as u8);
                rest = &after[2..];
            }
            None => unescaped.push(if *byte == b'+' { b' ' } else { *byte }),
        }
    }
    unescaped
}

/// Escapes text as an argument: a space becomes `+`.
pub fn escaped(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for &byte in text {
        match byte {
            b' ' => escaped.push('+'),
            b'%' | b'+' | b'"' | ..0x20 | 0x7f.. => escaped.push_str(&format!("%{byte:02X}")),
            _ => escaped.push(byte.into()),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Answers a connection with these bytes after the greeting; returns what came.
    fn answered(answer: Vec<u8>, respond: &mut dyn Respond) -> (Result<Vec<u8>>, Vec<u8>) {
        let (client, mut server) = UnixStream::pair().expect("sockets");
        server.write_all(b"OK hello\n").expect("room");
        let written = thread::spawn(move || {
            let _ = server.write_all(&answer);
            let _ = server.shutdown(std::net::Shutdown::Write);
            let mut received = Vec::new();
            let _ = server.read_to_end(&mut received);
            received
        });
        let mut connection = Connection::over(client).expect("a greeting");
        let result = connection.transact("NOP", Wait::Machine, respond).map(|data| data.to_vec());
        drop(connection);
        (result, written.join().expect("a thread"))
    }

    #[test]
    fn data_is_joined_and_unescaped() {
        let (data, _) = answered(b"D a%25b\n# comment\nS X y\nD %0A%0d.\nOK\n".to_vec(), &mut Silent);
        assert_eq!(data.expect("an answer"), b"a%b\n\r.");
    }

    #[test]
    fn an_error_has_the_code_without_its_source_and_the_text_without_the_programs_name() {
        let (data, _) = answered(b"ERR 67108881 No secret key <GPG Agent>\n".to_vec(), &mut Silent);
        let Err(Error::Refused { code, text }) = data else { panic!("{data:?}") };
        assert_eq!((code, text.as_str()), (17, "No secret key"));
    }

    #[test]
    fn what_the_protocol_does_not_allow_ends_the_answer() {
        for answer in [&b"WHAT\n"[..], b"D %4\nOK\n", b"D %zz\nOK\n", b"D abc"] {
            let (data, _) = answered(answer.to_vec(), &mut Silent);
            assert!(matches!(data, Err(Error::Protocol(_))), "{answer:?}: {data:?}");
        }
        let (data, _) = answered([b"D ".to_vec(), vec![b'x'; 5000]].concat(), &mut Silent);
        assert!(matches!(data, Err(Error::Protocol(_))), "{data:?}");
    }

    struct Secret;

    impl Respond for Secret {
        fn inquire(&mut self, keyword: &str, _: &str) -> Option<Zeroizing<Vec<u8>>> {
            (keyword == "PASSPHRASE").then(|| Zeroizing::new(b"50%\n".to_vec()))
        }
    }

    #[test]
    fn an_inquiry_is_answered_or_cancelled() {
        let (data, received) = answered(b"INQUIRE PASSPHRASE\nINQUIRE OTHER x\nOK\n".to_vec(), &mut Secret);
        assert_eq!(data.expect("an answer"), b"");
        assert_eq!(received, b"NOP\nD 50%25%0A\nEND\nCAN\n");
    }

    #[test]
    fn escapes_of_an_argument_are_taken_away_and_what_is_no_escape_stays() {
        assert_eq!(unescaped(escaped(b"a b+c%\n\"\xc3\0").as_bytes()), b"a b+c%\n\"\xc3\0");
        assert_eq!(unescaped(b"\x81%03%x1%4"), b"\x81\x03%x1%4");
    }

    #[test]
    fn an_argument_has_no_spaces_and_no_line_ends() {
        assert_eq!(escaped(b"a b+c%\n\"\xc3"), "a+b%2Bc%25%0A%22%C3");
    }
}
