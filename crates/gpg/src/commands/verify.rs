//! `--verify`: signatures in a message, in clear text, or over other files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use keyhoard::find::shown;
use keyhoard::message::{
    Allowed, Announced, Container, DataSignature, Detached, Error, Event, Opener, Result, SessionKey, Sink,
    Standing, Unlock, Verifier, decrypt,
};

use super::{Session, signatures};
use crate::code::Code;
use crate::input;
use crate::status::Status;

/// Verifies the signatures in the file that the first argument names, over the other files if there are any.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let arguments = session.arguments.clone();
    let (name, data) = match arguments.as_slice() {
        [] => (None, &[][..]),
        [name, data @ ..] => (Some(&name[..]), data),
    };
    let Ok(input) = open(session, name)? else { return Ok(()) };
    if data.is_empty() { inline(session, input, name) } else { detached(session, input, data) }
}

fn open(session: &mut Session<'_>, name: Option<&[u8]>) -> anyhow::Result<std::result::Result<File, Code>> {
    let opened = input::open(name, session.streams);
    if let Err(code) = opened {
        session.streams.error(format_args!("verify signatures failed: {code}"));
        session.streams.status_failure("verify", code);
    }
    Ok(opened)
}

/// Verifies the signatures of a message with its content.
fn inline(session: &mut Session<'_>, input: File, name: Option<&[u8]>) -> anyhow::Result<()> {
    let mut input = BufReader::new(input);
    let is_empty = input.fill_buf()?.is_empty();
    let mut nowhere = Nowhere::default();
    let mut verifier = Verifier::new(&mut nowhere);
    let allowed = Allowed { unencrypted: true, unprotected: false };
    let read = decrypt(&mut input, allowed, &mut NoKeys, &mut verifier);
    match read.and_then(|()| verifier.finish()) {
        Ok(found) if found.is_empty() => unexpected(session),
        Ok(found) => {
            if nowhere.announced.as_ref().is_some_and(|announced| announced.has_unknown) {
                signatures::tell_unknown_digest(session);
            }
            signatures::tell(session, found, nowhere.announced.as_ref()).map(drop)?;
        }
        Err(Error::Detached) => return beside(session, name),
        Err(Error::NoMessage) => nothing(session, is_empty),
        Err(Error::NoKey) => unexpected(session),
        Err(error) => session.streams.error(format_args!("verify signatures failed: {error}")),
    }
    Ok(())
}

/// Verifies signatures over the file that is called as they are, without the suffix.
fn beside(session: &mut Session<'_>, name: Option<&[u8]>) -> anyhow::Result<()> {
    const SUFFIXES: [&[u8]; 3] = [b".sig", b".sign", b".asc"];
    let name = name.filter(|name| !input::is_stream(Some(name)));
    let data = name.and_then(|name| SUFFIXES.iter().find_map(|suffix| name.strip_suffix(*suffix)));
    if let (Some(name), Some(data)) = (name, data)
        && let Ok(signature) = input::open(Some(name), session.streams)
        && std::path::Path::new(std::ffi::OsStr::new(&*String::from_utf8_lossy(data))).exists()
    {
        session.streams.info(format_args!("assuming signed data in '{}'", shown(data)));
        return detached(session, signature, &[data.to_vec()]);
    }
    session.streams.error("no signed data");
    session.streams.error("can't hash datafile: No data");
    Ok(())
}

/// Verifies signatures over files, one after the other.
fn detached(session: &mut Session<'_>, signature: File, data: &[Vec<u8>]) -> anyhow::Result<()> {
    let mut signature = BufReader::new(signature);
    let is_empty = signature.fill_buf()?.is_empty();
    match over(session, &mut signature, data)? {
        Ok(found) => signatures::tell(session, found, None).map(drop)?,
        Err(Error::NoMessage | Error::Malformed(_)) => {
            nothing(session, is_empty);
        }
        Err(error) => session.streams.error(format_args!("verify signatures failed: {error}")),
    }
    Ok(())
}

fn over(
    session: &mut Session<'_>,
    signature: &mut (dyn Read + Send),
    data: &[Vec<u8>],
) -> anyhow::Result<Result<Vec<DataSignature>>> {
    let detached = match Detached::read(signature) {
        Ok(detached) => detached,
        Err(error) => return Ok(Err(error)),
    };
    let mut content: Box<dyn Read> = Box::new(io::empty());
    for name in data {
        match input::open_silently(Some(name)) {
            Ok(file) => content = Box::new(content.chain(file)),
            Err(error) => {
                let code = input::code(&error);
                session.streams.error(format_args!("can't open signed data '{}'", shown(name)));
                session.streams.error(format_args!("can't hash datafile: {code}"));
                return Ok(Ok(Vec::new()));
            }
        }
    }
    Ok(detached.over(content.as_mut()))
}

/// Tells that there are no signatures at all.
fn nothing(session: &mut Session<'_>, is_empty: bool) {
    if !is_empty {
        session.streams.error("no valid OpenPGP data found.");
        session.streams.status(&Status::NoData { what: 1 });
    }
    session.streams.status(&Status::NoData { what: 2 });
    session.streams.error("the signature could not be verified.");
    session.streams.continue_info(b"Please remember that the signature file (.sig or .asc)");
    session.streams.continue_info(b"should be the first file given on the command line.");
}

/// Tells that there is something else than signatures.
fn unexpected(session: &mut Session<'_>) {
    session.streams.status(&Status::Unexpected);
    session.streams.error("verify signatures failed: Unexpected error");
    session.streams.status_failure_value("verify", Code::Unexpected.bare());
}

/// Takes content that nobody wants to see.
#[derive(Default)]
struct Nowhere {
    /// The digests that the headers of clear text name.
    announced: Option<Announced>,
}

impl Sink for Nowhere {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        if let Event::ClearText(announced) = event {
            self.announced = Some(announced.clone());
        }
        Ok(())
    }

    fn data(&mut self, _: &[u8], _: Standing) -> Result<()> {
        Ok(())
    }
}

/// Opens nothing: what is encrypted is not verified but decrypted.
struct NoKeys;

impl Unlock for NoKeys {
    fn session_key(
        &mut self,
        _: &[Opener],
        _: &Container,
        _: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        Err(Error::NoKey)
    }
}
