//! HTTP/1.1, as far as a test server needs it.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path with the query.
    pub(super) target: String,
    pub(super) body: Vec<u8>,
    /// Whether the client waits for the end of the connection, as with HTTP/1.0.
    is_last: bool,
}

impl Request {
    /// Returns a value of the query, decoded.
    pub(super) fn query(&self, name: &str) -> Option<Vec<u8>> {
        let (_, query) = self.target.split_once('?')?;
        form_value(query.as_bytes(), name)
    }
}

/// Returns a value of a form, decoded.
pub(super) fn form_value(form: &[u8], name: &str) -> Option<Vec<u8>> {
    let fields = form.split(|&byte| byte == b'&');
    let value = fields.filter_map(|field| field.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).next()?;
    Some(decoded(value))
}

/// Decodes percent signs and plus signs.
pub(super) fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut decoded = Vec::new();
    while let Some(&byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits: String = bytes.by_ref().take(2).map(|&digit| char::from(digit)).collect();
                u8::from_str_radix(&digits, 16).unwrap_or(b'?')
            }
            b'+' => b' ',
            other => other,
        });
    }
    decoded
}

/// Starts a server: every connection in a thread of its own, for as long as the test runs.
pub(super) fn serve(handle: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = handle.clone();
            thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Answers the requests of a connection until the client closes it.
pub(super) fn answer_all(stream: TcpStream, answer: impl Fn(&Request) -> (u16, &'static str, Vec<u8>)) {
    // An answer goes out at once, not when the client has confirmed the one before.
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(&stream);
    while let Ok(Some(request)) = read(&mut reader) {
        let (status, kind, body) = answer(&request);
        let kind = match request.method.as_str() {
            "OPTIONS" => format!("Allow: GET, POST, OPTIONS\r\nAccept: {kind}"),
            _ => format!("Content-Type: {kind}"),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Status\r\n{kind}\r\nContent-Length: {length}\r\n\r\n");
        if (&stream).write_all(&[head.as_bytes(), &body].concat()).is_err() || request.is_last {
            break;
        }
    }
}

/// Reads a request; `None` at the end of the connection.
pub(super) fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_last = words.next().as_deref() == Some("HTTP/1.0");
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let header = header.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, target, body, is_last }))
}
