//! A server that answers what it should not.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use super::http::{read, serve};

/// What the server answers to every request.
#[derive(Clone, Debug)]
pub enum Lie {
    /// These bytes, as if they were what was asked for.
    Bytes(Vec<u8>),
    /// Bytes without an end, as fast as they are read.
    Endless(Vec<u8>),
    /// A length of ten gigabytes, and bytes without an end.
    TenGigabytes,
    /// A byte a second.
    Slow,
    /// Nothing.
    Silence,
    /// Nothing to the question which methods a path takes, and these bytes to everything else, or 404 if there are none.
    SilenceToOptions(Vec<u8>),
    /// Less than it says.
    CutShort(Vec<u8>),
    /// A redirect to this address.
    Redirect(String),
    /// This status.
    Status(u16),
    /// Bytes that are no HTTP.
    Garbage,
    /// Headers without an end.
    EndlessHeaders,
}

/// A server that lies, on a port of loopback.
#[derive(Debug)]
pub struct Liar {
    address: SocketAddr,
    /// How often it was asked which methods a path takes.
    questions: Arc<AtomicUsize>,
}

impl Liar {
    /// Starts a server that tells one lie.
    pub fn telling(lie: Lie) -> Liar {
        let questions = Arc::new(AtomicUsize::new(0));
        let of_thread = Arc::clone(&questions);
        let address = serve(move |stream| {
            // The client goes away in the middle, which is the point.
            let _ = tell(&lie, stream, &of_thread);
        });
        Liar { address, questions }
    }

    /// Returns how often it was asked which methods a path takes.
    pub fn questions(&self) -> usize {
        self.questions.load(Ordering::Relaxed)
    }

    /// Returns its address as a keyserver.
    pub fn hkp(&self) -> String {
        format!("hkp://{}", self.address)
    }

    /// Returns its address as a web server, to which it does not speak TLS.
    pub fn https(&self) -> String {
        format!("https://{}", self.address)
    }
}

fn tell(lie: &Lie, mut stream: TcpStream, questions: &AtomicUsize) -> std::io::Result<()> {
    if matches!(lie, Lie::Garbage) {
        return stream.write_all(&[0x00, 0xff, b'?'].repeat(1000));
    }
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = read(&mut reader)?;
    let asks_for_options = request.is_some_and(|request| request.method == "OPTIONS");
    questions.fetch_add(usize::from(asks_for_options), Ordering::Relaxed);
    let head =
        |length: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: application/pgp-keys\r\n{length}\r\n");
    match lie {
        Lie::SilenceToOptions(_) if asks_for_options => stay_silent(&stream),
        Lie::SilenceToOptions(bytes) if bytes.is_empty() => status(&mut stream, 404),
        Lie::Bytes(bytes) | Lie::SilenceToOptions(bytes) => {
            stream.write_all(
                head(&format!("Connection: close\r\nContent-Length: {}\r\n", bytes.len())).as_bytes(),
            )?;
            stream.write_all(bytes)
        }
        Lie::CutShort(bytes) => {
            stream.write_all(head(&format!("Content-Length: {}\r\n", bytes.len() + 1000)).as_bytes())?;
            stream.write_all(bytes)
        }
        Lie::Endless(bytes) => {
            stream.write_all(head("Connection: close\r\n").as_bytes())?;
            let many = bytes.repeat(1 + (64 << 10) / bytes.len());
            loop {
                stream.write_all(&many)?;
            }
        }
        Lie::TenGigabytes => {
            stream.write_all(head("Content-Length: 10737418240\r\n").as_bytes())?;
            loop {
                stream.write_all(&[0xff; 64 << 10])?;
            }
        }
        Lie::Slow => {
            stream.write_all(head("Content-Length: 100000\r\n").as_bytes())?;
            loop {
                stream.write_all(b"\xc6")?;
                sleep(Duration::from_secs(1));
            }
        }
        Lie::Silence => stay_silent(&stream),
        Lie::Redirect(target) => {
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nConnection: close\r\n");
            stream.write_all(format!("{head}Content-Length: 0\r\n\r\n").as_bytes())
        }
        Lie::Status(number) => status(&mut stream, *number),
        Lie::EndlessHeaders => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            loop {
                stream.write_all(&b"X-Header: ".repeat(1000))?;
            }
        }
        Lie::Garbage => Ok(()),
    }
}

fn status(stream: &mut TcpStream, number: u16) -> std::io::Result<()> {
    // Without `close` the client may send its next request before it sees the end of the connection.
    let head = format!("HTTP/1.1 {number} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(head.as_bytes())
}

/// Says nothing until the client has closed the connection.
fn stay_silent(stream: &TcpStream) -> std::io::Result<()> {
    while stream.peek(&mut [0])? > 0 {
        sleep(Duration::from_secs(1));
    }
    Ok(())
}
