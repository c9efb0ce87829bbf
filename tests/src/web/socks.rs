//! A SOCKS proxy (RFC 1928, RFC 1929) that resolves names itself, to one address, and notes its users.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::http::serve;

/// A SOCKS proxy on a port of loopback.
#[derive(Debug)]
pub struct Socks {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Socks {
    /// Starts a proxy that takes every connection to `target`.
    pub fn to(target: SocketAddr) -> Socks {
        Socks::start(target, String::new())
    }

    /// Starts a proxy that takes every connection to `target`, but those to `unknown`, a name that it does not find.
    pub fn without(unknown: &str, target: SocketAddr) -> Socks {
        Socks::start(target, unknown.to_owned())
    }

    fn start(target: SocketAddr, unknown: String) -> Socks {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&seen);
        let address = serve(move |stream| {
            // A client may go away at any time.
            let _ = pass(stream, target, &unknown, &of_thread);
        });
        Socks { address, seen }
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("socks5h://{}", self.address)
    }

    /// Returns the user and the host of each connection.
    pub fn seen(&self) -> Vec<(String, String)> {
        self.seen.lock().expect("no thread panics with it").clone()
    }
}

fn pass(
    mut client: TcpStream,
    target: SocketAddr,
    unknown: &str,
    seen: &Mutex<Vec<(String, String)>>,
) -> io::Result<()> {
    let [_, methods] = bytes(&mut client)?;
    let offered = variable(&mut client, methods)?;
    let mut user = String::new();
    if offered.contains(&2) {
        client.write_all(&[5, 2])?;
        let [_, length] = bytes(&mut client)?;
        user = String::from_utf8_lossy(&variable(&mut client, length)?).into_owned();
        let [length] = bytes(&mut client)?;
        variable(&mut client, length)?;
        client.write_all(&[1, 0])?;
    } else {
        client.write_all(&[5, 0])?;
    }
    let [_, _, _, kind] = bytes(&mut client)?;
    let host = match kind {
        3 => {
            let [length] = bytes(&mut client)?;
            String::from_utf8_lossy(&variable(&mut client, length)?).into_owned()
        }
        1 => format!("{:?}", bytes::<4>(&mut client)?),
        _ => format!("{:?}", bytes::<16>(&mut client)?),
    };
    let _port: [u8; 2] = bytes(&mut client)?;
    let is_unknown = host == unknown;
    seen.lock().expect("no thread panics with it").push((user, host));
    if is_unknown {
        // Host unreachable.
        return client.write_all(&[5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
    let mut server = TcpStream::connect(target)?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut from_client, &mut to_server));
    io::copy(&mut server, &mut client)?;
    Ok(())
}

fn bytes<const N: usize>(stream: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn variable(stream: &mut TcpStream, length: u8) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
