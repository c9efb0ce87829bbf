//! What a card says of its holder, its flags, and its data for any use: `name`, `url`, `login`, `lang`, `salutation`,
//! `cafpr`, `forcesig`, `uif`, `privatedo`, `readcert`, `writecert`, `fetch`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use engine::foreign_text::printable;
use rustix::fs::{OFlags, fcntl_setfl};
use zeroize::Zeroizing;

use super::access::{CardAccess, Outcome};
use super::command::Line;
use crate::code::Code;
use crate::commands::network;
use crate::render::digits::hex_text;

/// The most bytes that are read from a file.
const MAX_FILE: u64 = 16_384;

/// The certificate that a card keeps for authentication.
const CERTIFICATE: &str = "OPENPGP.3";

/// Asks for the holder's name and sets it.
pub(super) fn name(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let outcome = match ask_name(access)? {
        Ok(name) => {
            let outcome = access.set("DISP-NAME", &name);
            if let Err(failure) = &outcome {
                access.streams.error(format_args!("error setting Name: {failure}"));
            }
            outcome
        }
        Err(code) => Err(code.into()),
    };
    access.report(&outcome);
    Ok(())
}

/// Asks for the parts of a name, and joins them as ISO 7501-1 has it.
fn ask_name(access: &mut CardAccess<'_>) -> anyhow::Result<Result<Vec<u8>, Code>> {
    const MOST: usize = 39;
    let surname = ask_part(access, "keygen.smartcard.surname", "Cardholder's surname: ")?;
    let given = ask_part(access, "keygen.smartcard.givenname", "Cardholder's given name: ")?;
    if surname.is_empty() && given.is_empty() {
        return Ok(Err(Code::CANCELLED));
    }
    let joined = [surname.as_slice(), b"<<", &given].concat();
    let name: Vec<u8> = joined.iter().map(|&byte| if byte == b' ' { b'<' } else { byte }).collect();
    if name.len() > MOST {
        access.tell(format!("Error: Combined name too long (limit is {MOST} characters).\n"));
        return Ok(Err(Code::TOO_LARGE));
    }
    Ok(Ok(name))
}

fn ask_part(access: &mut CardAccess<'_>, keyword: &'static str, text: &str) -> anyhow::Result<Vec<u8>> {
    loop {
        let part = access.line(keyword, text)?;
        let complaint = match () {
            () if part.iter().any(|byte| !matches!(byte, b' '..=b'~')) => {
                "Only plain ASCII is currently allowed."
            }
            () if part.contains(&b'<') => "The \"<\" character may not be used.",
            () if part.windows(2).any(|pair| pair == b"  ") => "Double spaces are not allowed.",
            () => return Ok(part),
        };
        access.tell(format!("Error: {complaint}\n"));
    }
}

pub(super) fn url(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let url = access.line("cardedit.change_url", "URL to retrieve public key: ")?;
    set(access, "PUBKEY-URL", &url, "error setting URL");
    Ok(())
}

/// Sets the account to what a file has (`< FILE`), or to the answer.
pub(super) fn login(access: &mut CardAccess<'_>, argument: &[u8]) -> anyhow::Result<()> {
    let login = match argument.strip_prefix(b"<") {
        Some(file) => read(access, file),
        None => Some(access.line("cardedit.change_login", "Login data (account name): ")?.into()),
    };
    if let Some(login) = login {
        set(access, "LOGIN-DATA", &login, "error setting login data");
    }
    Ok(())
}

pub(super) fn languages(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let languages = access.line("cardedit.change_lang", "Language preferences: ")?;
    if languages.len() > 8 || languages.len() % 2 == 1 {
        access.tell("Error: invalid length of preference string.\n");
    } else if !languages.iter().all(u8::is_ascii_lowercase) {
        access.tell("Error: invalid characters in preference string.\n");
    } else {
        set(access, "DISP-LANG", &languages, "error setting lang");
    }
    Ok(())
}

pub(super) fn salutation(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let text = "Salutation (M = Mr., F = Ms., or space): ";
    let answer = access.line("cardedit.change_sex", text)?;
    // ISO 5218.
    let value: &[u8] = match answer.as_slice() {
        b"" => b"9",
        b"M" | b"m" => b"1",
        b"F" | b"f" => b"2",
        _ => {
            access.tell("Error: invalid response.\n");
            return Ok(());
        }
    };
    set(access, "DISP-SEX", value, "error setting salutation");
    Ok(())
}

/// Asks for the fingerprint of a certification authority.
pub(super) fn authority(access: &mut CardAccess<'_>, number: u32) -> anyhow::Result<()> {
    if !(1..=3).contains(&number) {
        access.tell("usage: cafpr N\n       1 <= N <= 3\n");
        return Ok(());
    }
    let answer = access.line("cardedit.change_cafpr", "CA fingerprint: ")?;
    match fingerprint(&answer) {
        Some(bytes) => set(access, &format!("CA-FPR-{number}"), &bytes, "error setting cafpr"),
        None => access.tell("Error: invalid formatted fingerprint.\n"),
    }
    Ok(())
}

/// Reads 20 or 32 bytes, between which spaces and colons may stand.
fn fingerprint(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b' ' | b'\t' | b':')).collect();
    let (pairs, odd) = digits.as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect();
    bytes.filter(|bytes| odd.is_empty() && matches!(bytes.len(), 20 | 32))
}

/// Sets a data object for any use to what a file has (`N < FILE`), or to the answer.
pub(super) fn private(access: &mut CardAccess<'_>, line: &Line) -> anyhow::Result<()> {
    let number = line.number();
    if !(1..=4).contains(&number) {
        access.tell("usage: privatedo N\n       1 <= N <= 4\n");
        return Ok(());
    }
    let file = line.argument.iter().position(|&byte| byte == b'<').map(|at| &line.argument[at + 1..]);
    let data = match file {
        Some(file) => read(access, file),
        None => Some(access.line("cardedit.change_private_do", "Private DO data: ")?.into()),
    };
    if let Some(data) = data {
        set(access, &format!("PRIVATE-DO-{number}"), &data, "error setting private DO");
    }
    Ok(())
}

/// Writes the card's certificate into a file (`3 > FILE`).
pub(super) fn read_certificate(access: &mut CardAccess<'_>, line: &Line) {
    if line.number() != 3 {
        return access.tell("usage: readcert 3 > FILE\n");
    }
    let Some(name) = line.after_number().strip_prefix(b">") else {
        return access.tell("usage error: redirection to file required\n");
    };
    let name = name.trim_ascii_start();
    let outcome = access.command(&format!("SCD READCERT {CERTIFICATE}"));
    match &outcome {
        Ok((_, certificate)) => {
            if let Err(error) = fs::write(Path::new(OsStr::from_bytes(name)), certificate.as_slice()) {
                access.tell(format!("can't create '{}': {}\n", printable(name), system(&error)));
                let outcome: Outcome<()> = Err(Code::GENERAL.into());
                return access.report(&outcome);
            }
        }
        Err(failure) => {
            let text = format!("error reading certificate from card: {failure}");
            access.streams.error(text);
        }
    }
    access.report(&outcome);
}

/// Puts the certificate of a file onto the card (`3 < FILE`).
pub(super) fn write_certificate(access: &mut CardAccess<'_>, line: &Line) {
    if line.number() != 3 {
        return access.tell("usage: writecert 3 < FILE\n");
    }
    let Some(name) = line.after_number().strip_prefix(b"<") else {
        return access.tell("usage error: redirection to file required\n");
    };
    let Some(certificate) = read(access, name) else { return };
    let outcome = access.send(&format!("SCD WRITECERT {CERTIFICATE}"), Some(("CERTDATA", &certificate)));
    access.finish("error writing certificate to card", outcome);
}

/// Gets the certificate that the card names: from its URL, or else the one of its first key from a keyserver.
pub(super) fn fetch(access: &mut CardAccess<'_>) -> anyhow::Result<()> {
    let url = match access.attribute("PUBKEY-URL") {
        Ok(card) => card.url.unwrap_or_default(),
        Err(failure) => {
            access.streams.error(format_args!("error retrieving URL from card: {failure}"));
            return Ok(());
        }
    };
    let fingerprint = match access.attribute("KEY-FPR") {
        Ok(card) => hex_text(&card.keys[0].fingerprint),
        Err(failure) => {
            access.streams.error(format_args!("error retrieving key fingerprint from card: {failure}"));
            return Ok(());
        }
    };
    if !url.is_empty() {
        network::fetch_keys::run(&[url], access.settings, access.streams)
    } else if !fingerprint.is_empty() {
        network::receive::run(&[fingerprint.into_bytes()], access.settings, access.streams)
    } else {
        Ok(())
    }
}

/// Has the card ask for the PIN for each signature, or no longer.
pub(super) fn toggle_signature_pin(access: &mut CardAccess<'_>) {
    match access.attribute("CHV-STATUS") {
        Ok(card) => {
            let value = [u8::from(!card.pin_is_remembered)];
            let outcome = access.set("CHV-STATUS-1", &value);
            access.finish("error toggling signature PIN flag", outcome);
        }
        Err(failure) => access.streams.error(format_args!("error getting current status: {failure}")),
    }
}

/// Has the card ask for a touch of its button, or no longer.
pub(super) fn touch(access: &mut CardAccess<'_>, line: &Line) {
    let value = match line.after_number() {
        b"off" => 0,
        b"on" => 1,
        b"permanent" => 2,
        _ => u8::MAX,
    };
    if !(1..=3).contains(&line.number()) || value == u8::MAX {
        return access.tell("usage: uif N [on|off|permanent]\n       1 <= N <= 3\n");
    }
    match access.attribute("EXTCAP") {
        Ok(card) if !card.capabilities.has_button => {
            access.streams.error("This command is not supported by this card");
            access.tell("\n");
        }
        Ok(_) => {
            // General feature management: a button (specification 4.4.3.6).
            const BUTTON: u8 = 0x20;
            if let Err(failure) = access.set(&format!("UIF-{}", line.number()), &[value, BUTTON]) {
                access.streams.error(format_args!("error for setup UIF: {failure}"));
            }
        }
        Err(failure) => access.streams.error(format_args!("error getting card info: {failure}")),
    }
}

fn set(access: &mut CardAccess<'_>, name: &str, value: &[u8], what: &str) {
    let outcome = access.set(name, value);
    access.finish(what, outcome);
}

/// Reads a file, or tells why not.
fn read(access: &mut CardAccess<'_>, name: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let name = name.trim_ascii_start();
    match read_file(Path::new(OsStr::from_bytes(name))) {
        Ok(Some(bytes)) => Some(bytes),
        Ok(None) => {
            access.tell(format!("'{}' is too large\n", printable(name)));
            None
        }
        Err(error) => {
            access.tell(format!("can't open '{}': {}\n", printable(name), system(&error)));
            None
        }
    }
}

/// Reads a file with something for a card; `None` if it is too large for that.
///
/// # Errors
///
/// Also if it is a named pipe that nobody writes into: nothing at all would be put onto the card.
pub(crate) fn read_file(path: &Path) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // To open a named pipe waits for somebody who writes; to read one waits only while there is somebody.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    fcntl_setfl(&file, OFlags::empty())?;
    // It never grows, so that no copy of a secret is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE as usize + 1));
    (&file).take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.is_empty() && file.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other("nobody writes into this pipe"));
    }
    Ok((bytes.len() as u64 <= MAX_FILE).then_some(bytes))
}

/// Returns the system's words for an error.
fn system(error: &io::Error) -> String {
    let code = error.raw_os_error().and_then(Code::of_system);
    code.map_or_else(|| error.to_string(), |code| code.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_what_a_card_may_take() {
        let read = |path| read_file(Path::new(path)).map(|read| read.map(|bytes| bytes.len()));
        assert!(matches!(read("/dev/null"), Ok(Some(0))));
        assert!(matches!(read("/dev/zero"), Ok(None)), "it has no end");
        assert!(read("/nonexistent").is_err());
    }

    #[test]
    fn a_named_pipe_that_nobody_writes_into_is_refused_at_once() {
        let pipe = std::env::temp_dir().join(format!("keyhoard-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
        assert!(made.success());
        let without_writer = read_file(&pipe);
        let mut writer = File::options().read(true).write(true).open(&pipe).expect("both ends");
        writer.write_all(&[0; MAX_FILE as usize + 1]).expect("written");
        let with_writer = read_file(&pipe);
        fs::remove_file(&pipe).expect("it was made");
        assert!(without_writer.is_err_and(|error| error.to_string().contains("nobody writes")));
        assert!(matches!(with_writer, Ok(None)), "what is written is read, and too large");
    }

    #[test]
    fn a_fingerprint_may_have_spaces_and_colons() {
        let plain = "0123456789012345678901234567890123456789";
        let spaced = "0123 4567 8901 2345 6789  01:23:45:67 8901 2345 6789";
        assert_eq!(fingerprint(spaced.as_bytes()), fingerprint(plain.as_bytes()));
        assert_eq!(fingerprint(plain.as_bytes()).map(|bytes| bytes.len()), Some(20));
        assert_eq!(fingerprint(b"0123"), None);
        assert_eq!(fingerprint(b"x"), None);
    }
}
