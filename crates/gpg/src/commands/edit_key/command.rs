//! The commands by their names.

use engine::configuration::Compat;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditCommand {
    Quit,
    Save,
    Help,
    Fingerprint,
    Keygrip,
    List,
    SelectUserId,
    SelectSubkey,
    Check,
    ChangeUsage,
    CrossCertify,
    Sign,
    AddUserId,
    AddPhoto,
    DeleteUserId,
    AddSubkey,
    AddCardSubkey,
    MoveToCard,
    RestoreToCard,
    MoveToTpm,
    AddDecryptionSubkey,
    DeleteSubkey,
    AddRevoker,
    DeleteSignature,
    Expire,
    Primary,
    Preferences,
    ShowPreferences,
    SetPreferences,
    Keyserver,
    Notation,
    Passphrase,
    Trust,
    RevokeSignature,
    RevokeUserId,
    RevokeKey,
    Enable,
    Disable,
    ShowPhoto,
    Clean,
    Minimize,
    Nothing,
    Unknown,
}

impl EditCommand {
    /// Says whether it changes a card at once, before anything is saved.
    pub(super) fn changes_card(self) -> bool {
        matches!(self, Self::AddCardSubkey | Self::MoveToCard | Self::RestoreToCard)
    }
}

/// Which secret key a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// That of the primary key.
    Primary,
    /// That of any of the keys.
    Any,
}

/// A name of a command.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) command: EditCommand,
    pub(super) needs: Needs,
    /// What `help` says; other names of a command and rare ones are not in it.
    pub(super) help: &'static str,
    /// The first version of GnuPG whose help lists it.
    pub(super) since: Compat,
}

const fn row(name: &'static str, command: EditCommand, needs: Needs, help: &'static str) -> Row {
    Row { name, command, needs, help, since: Compat::V2_2 }
}

impl Row {
    const fn new_in_2_4(self) -> Self {
        Self { since: Compat::V2_4, ..self }
    }
}

/// The commands in gpg's order, in which the first match counts.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row("quit", EditCommand::Quit, Needs::Nothing, "leave, without saving unless you say so"),
    row("q", EditCommand::Quit, Needs::Nothing, ""),
    row("save", EditCommand::Save, Needs::Nothing, "save, then leave"),
    row("help", EditCommand::Help, Needs::Nothing, "list the commands"),
    row("?", EditCommand::Help, Needs::Nothing, ""),
    row("fpr", EditCommand::Fingerprint, Needs::Nothing, "show the fingerprint; 'fpr *' those of subkeys too"),
    row("grip", EditCommand::Keygrip, Needs::Nothing, "show the keygrips"),
    row("list", EditCommand::List, Needs::Nothing, "show the key and its user IDs"),
    row("l", EditCommand::List, Needs::Nothing, ""),
    row("uid", EditCommand::SelectUserId, Needs::Nothing, "select user ID N, or take it out; 0 for none, * for all"),
    row("key", EditCommand::SelectSubkey, Needs::Nothing, "select subkey N, or take it out; 0 for none, * for all"),
    row("check", EditCommand::Check, Needs::Nothing, "check signatures"),
    row("c", EditCommand::Check, Needs::Nothing, ""),
    row("change-usage", EditCommand::ChangeUsage, Needs::Primary, ""),
    row("cross-certify", EditCommand::CrossCertify, Needs::Primary, ""),
    row("backsign", EditCommand::CrossCertify, Needs::Primary, ""),
    row("sign", EditCommand::Sign, Needs::Nothing, "certify the selected user IDs [* see below]"),
    row("s", EditCommand::Sign, Needs::Nothing, ""),
    row("lsign", EditCommand::Sign, Needs::Nothing, "certify them for yourself only"),
    row("tsign", EditCommand::Sign, Needs::Nothing, "certify them, and trust the owner's certifications"),
    row("nrsign", EditCommand::Sign, Needs::Nothing, "certify them irrevocably"),
    row("debug", EditCommand::Nothing, Needs::Nothing, ""),
    row("adduid", EditCommand::AddUserId, Needs::Primary, "add a user ID"),
    row("addphoto", EditCommand::AddPhoto, Needs::Primary, "add a photograph"),
    row("deluid", EditCommand::DeleteUserId, Needs::Nothing, "remove the selected user IDs"),
    row("delphoto", EditCommand::DeleteUserId, Needs::Nothing, ""),
    row("addkey", EditCommand::AddSubkey, Needs::Primary, "add a subkey"),
    row("addcardkey", EditCommand::AddCardSubkey, Needs::Primary, "add a subkey on a smartcard"),
    row("keytocard", EditCommand::MoveToCard, Needs::Any, "move a key to a smartcard"),
    row("keytotpm", EditCommand::MoveToTpm, Needs::Any, "have the agent lock a key with the machine's TPM").new_in_2_4(),
    row("bkuptocard", EditCommand::RestoreToCard, Needs::Any, "move a key from a backup to a smartcard"),
    row("delkey", EditCommand::DeleteSubkey, Needs::Nothing, "remove the selected subkeys"),
    row("addrevoker", EditCommand::AddRevoker, Needs::Primary, "name a key that may revoke this one"),
    row("addadsk", EditCommand::AddDecryptionSubkey, Needs::Primary, "add the key of another to decrypt, too").new_in_2_4(),
    row("delsig", EditCommand::DeleteSignature, Needs::Nothing, "remove signatures of the selected user IDs"),
    row("expire", EditCommand::Expire, Needs::Any, "set when the key or the selected subkeys end"),
    row("primary", EditCommand::Primary, Needs::Primary, "make the selected user ID the primary one"),
    row("toggle", EditCommand::List, Needs::Primary, ""),
    row("t", EditCommand::List, Needs::Primary, ""),
    row("pref", EditCommand::Preferences, Needs::Nothing, "show preferences, as letters and numbers"),
    row("showpref", EditCommand::ShowPreferences, Needs::Nothing, "show preferences, as names"),
    row("setpref", EditCommand::SetPreferences, Needs::Primary, "set the preferences of the selected user IDs"),
    row("updpref", EditCommand::SetPreferences, Needs::Primary, ""),
    row("keyserver", EditCommand::Keyserver, Needs::Primary, "set the keyserver that the selected user IDs prefer"),
    row("notation", EditCommand::Notation, Needs::Primary, "set a notation of the selected user IDs"),
    row("passwd", EditCommand::Passphrase, Needs::Any, "change the passphrase"),
    row("password", EditCommand::Passphrase, Needs::Any, ""),
    row("trust", EditCommand::Trust, Needs::Nothing, "set how far you trust the owner"),
    row("revsig", EditCommand::RevokeSignature, Needs::Nothing, "revoke certifications of the selected user IDs"),
    row("revuid", EditCommand::RevokeUserId, Needs::Primary, "revoke the selected user IDs"),
    row("revphoto", EditCommand::RevokeUserId, Needs::Primary, ""),
    row("revkey", EditCommand::RevokeKey, Needs::Primary, "revoke the key or the selected subkeys"),
    row("enable", EditCommand::Enable, Needs::Nothing, "use the key again"),
    row("disable", EditCommand::Disable, Needs::Nothing, "do not use the key"),
    row("showphoto", EditCommand::ShowPhoto, Needs::Nothing, "name the selected photographs"),
    row("clean", EditCommand::Clean, Needs::Nothing, "remove what is unusable of the selected user IDs"),
    row("minimize", EditCommand::Minimize, Needs::Nothing, "the same, and certifications by others"),
];

/// A line that the user gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) command: EditCommand,
    pub(super) needs: Needs,
    /// The letters before `sign`.
    pub(super) prefix: Vec<u8>,
    /// The rest of the line.
    pub(super) argument: Vec<u8>,
}

impl Line {
    /// Reads a line without white space around it. A number selects a user ID; any case will do, but no abbreviation.
    pub(super) fn read(line: &[u8]) -> Self {
        let plain =
            |command| Self { command, needs: Needs::Nothing, prefix: Vec::new(), argument: Vec::new() };
        match line.first() {
            None => return plain(EditCommand::List),
            Some(4) => return plain(EditCommand::Quit),
            Some(b'0'..=b'9') => {
                return Self { argument: line.to_vec(), ..plain(EditCommand::SelectUserId) };
            }
            Some(_) => {}
        }
        let end = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
        let (word, argument) = (line[..end].trim_ascii(), line[end..].trim_ascii().to_vec());
        for row in ROWS {
            let is_tail = row.name == "sign" && word.len() >= 4;
            let (prefix, name) = if is_tail { word.split_at(word.len() - 4) } else { (&[][..], word) };
            if name.eq_ignore_ascii_case(row.name.as_bytes()) {
                return Self { command: row.command, needs: row.needs, prefix: prefix.to_vec(), argument };
            }
        }
        Self { argument, ..plain(EditCommand::Unknown) }
    }

    /// Returns the number in the argument, as C's `atoi` reads it.
    pub(super) fn number(&self) -> i64 {
        crate::number::decimal(&self.argument).unwrap_or(i64::from(i32::MAX))
    }

    /// Says whether the argument is a star.
    pub(super) fn is_star(&self) -> bool {
        matches!(self.argument.as_slice(), [b'*'] | [b'*', b' ' | b'\t', ..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_in_any_case_and_its_argument() {
        let line = Line::read(b"UID  2");
        assert_eq!((line.command, line.number()), (EditCommand::SelectUserId, 2));
        assert_eq!(Line::read(b"2").command, EditCommand::SelectUserId);
        assert_eq!(Line::read(b"").command, EditCommand::List);
        assert_eq!(Line::read(b"q").command, EditCommand::Quit);
        assert_eq!(Line::read(b"qui").command, EditCommand::Unknown);
        assert!(Line::read(b"key *").is_star());
    }

    #[test]
    fn whatever_ends_in_sign_certifies() {
        let line = Line::read(b"tnrLsign");
        assert_eq!((line.command, line.prefix.as_slice()), (EditCommand::Sign, &b"tnrL"[..]));
        assert_eq!(Line::read(b"backsign").command, EditCommand::CrossCertify);
    }
}
