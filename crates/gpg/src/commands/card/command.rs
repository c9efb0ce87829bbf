//! The commands of `--edit-card` by their names.

/// A command of `--edit-card`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardCommand {
    Admin,
    Authority,
    Fetch,
    FactoryReset,
    ForceSignaturePin,
    Generate,
    Help,
    KeyDerivation,
    KeyAlgorithms,
    Language,
    List,
    Login,
    Name,
    Nothing,
    OpenPgp,
    Passwd,
    PrivateData,
    Quit,
    ReadCertificate,
    Salutation,
    Touch,
    Unblock,
    Unknown,
    Url,
    Verify,
    WriteCertificate,
}

/// A name of a command, whether it needs the Admin PIN, and what `help` says of it, if anything.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) command: CardCommand,
    pub(super) is_for_admins: bool,
    pub(super) help: &'static str,
}

const fn row(name: &'static str, command: CardCommand, help: &'static str) -> Row {
    Row { name, command, is_for_admins: false, help }
}

const fn admin(name: &'static str, command: CardCommand, help: &'static str) -> Row {
    Row { name, command, is_for_admins: true, help }
}

/// All commands.
pub(super) const ROWS: [Row; 30] = [
    row("quit", CardCommand::Quit, "leave"),
    row("q", CardCommand::Quit, ""),
    row("admin", CardCommand::Admin, "allow the commands that change the card, or no longer"),
    row("help", CardCommand::Help, "show the commands"),
    row("?", CardCommand::Help, ""),
    row("list", CardCommand::List, "show the card"),
    row("l", CardCommand::List, ""),
    row("debug", CardCommand::Nothing, ""),
    admin("name", CardCommand::Name, "set the name of the holder"),
    admin("url", CardCommand::Url, "set where the holder's certificate is"),
    row("fetch", CardCommand::Fetch, "get the certificate from there, or from a keyserver"),
    admin("login", CardCommand::Login, "set the holder's account"),
    admin("lang", CardCommand::Language, "set the languages that the holder prefers"),
    admin("salutation", CardCommand::Salutation, "set how the holder is addressed"),
    admin("sex", CardCommand::Salutation, ""),
    admin("cafpr", CardCommand::Authority, "set the fingerprint of a certification authority"),
    admin("forcesig", CardCommand::ForceSignaturePin, "ask for the PIN for each signature, or no longer"),
    admin("generate", CardCommand::Generate, "have the card make new keys, and a certificate of them"),
    row("passwd", CardCommand::Passwd, "change the PINs"),
    row("verify", CardCommand::Verify, "enter the PIN and show the card"),
    row("unblock", CardCommand::Unblock, "set a new PIN with the Reset Code"),
    admin("factory-reset", CardCommand::FactoryReset, "delete everything on the card"),
    admin("kdf-setup", CardCommand::KeyDerivation, "derive what the card compares from the PINs"),
    admin("key-attr", CardCommand::KeyAlgorithms, "set the algorithms of new keys"),
    admin("uif", CardCommand::Touch, "ask for a touch of the button (N on, off, permanent)"),
    row("openpgp", CardCommand::OpenPgp, "choose the OpenPGP application of the card"),
    row("privatedo", CardCommand::PrivateData, ""),
    row("readcert", CardCommand::ReadCertificate, ""),
    admin("writecert", CardCommand::WriteCertificate, ""),
    row("", CardCommand::List, ""),
];

/// A line: the command, and what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) command: CardCommand,
    pub(super) is_for_admins: bool,
    pub(super) argument: Vec<u8>,
}

impl Line {
    /// Reads a line without white space around it.
    pub(super) fn read(line: &[u8]) -> Self {
        const END_OF_INPUT: u8 = 4;
        if line.first() == Some(&END_OF_INPUT) {
            return Self { command: CardCommand::Quit, is_for_admins: false, argument: Vec::new() };
        }
        let space = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
        let (word, argument) = line.split_at(space);
        let found = ROWS.iter().find(|row| row.name.as_bytes().eq_ignore_ascii_case(word.trim_ascii()));
        Self {
            command: found.map_or(CardCommand::Unknown, |row| row.command),
            is_for_admins: found.is_some_and(|row| row.is_for_admins),
            argument: argument.trim_ascii().to_vec(),
        }
    }

    /// Returns the number that the argument begins with; 0 without one.
    pub(super) fn number(&self) -> u32 {
        self.digits()
            .iter()
            .fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    }

    /// Returns the argument after the number.
    pub(super) fn after_number(&self) -> &[u8] {
        self.argument[self.digits().len()..].trim_ascii_start()
    }

    fn digits(&self) -> &[u8] {
        let length = self.argument.iter().take_while(|byte| byte.is_ascii_digit()).count();
        &self.argument[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_in_any_case_with_a_number_and_the_rest() {
        let line = Line::read(b"UIF  2 on");
        assert_eq!((line.command, line.is_for_admins), (CardCommand::Touch, true));
        assert_eq!((line.number(), line.after_number()), (2, &b"on"[..]));
        assert_eq!(Line::read(b"").command, CardCommand::List);
        assert_eq!(Line::read(b"\x04").command, CardCommand::Quit);
        assert_eq!(Line::read(b"cafpr x").number(), 0);
        assert_eq!(Line::read(b"nonsense").command, CardCommand::Unknown);
    }
}
