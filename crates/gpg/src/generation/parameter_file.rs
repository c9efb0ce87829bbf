//! The lines of a parameter file (GnuPG's manual, "Unattended key generation").

use zeroize::Zeroizing;

/// Maximum length in bytes of a line that gpg reads, its end included.
const LONGEST_LINE: usize = 1024;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    Echo(Vec<u8>),
    DryRun,
    Commit,
    NoProtection,
    /// Write the key to this file, and not into a keyring.
    Pubring(Vec<u8>),
    /// Makes no difference any more.
    Harmless,
    /// A control statement that is not known, and its argument.
    Unknown(Vec<u8>, Vec<u8>),
    /// Its value may be a passphrase.
    Parameter(Keyword, Zeroizing<Vec<u8>>),
}

/// The name of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    KeyType,
    KeyLength,
    KeyCurve,
    KeyUsage,
    KeyGrip,
    SubkeyType,
    SubkeyLength,
    SubkeyCurve,
    SubkeyUsage,
    SubkeyGrip,
    NameReal,
    NameEmail,
    NameComment,
    ExpireDate,
    CreationDate,
    Passphrase,
    Preferences,
    Revoker,
    Handle,
    Keyserver,
}

const KEYWORDS: [(&str, Keyword); 21] = [
    ("Key-Type", Keyword::KeyType),
    ("Key-Length", Keyword::KeyLength),
    ("Key-Curve", Keyword::KeyCurve),
    ("Key-Usage", Keyword::KeyUsage),
    ("Keygrip", Keyword::KeyGrip),
    ("Key-Grip", Keyword::KeyGrip),
    ("Subkey-Type", Keyword::SubkeyType),
    ("Subkey-Length", Keyword::SubkeyLength),
    ("Subkey-Curve", Keyword::SubkeyCurve),
    ("Subkey-Usage", Keyword::SubkeyUsage),
    ("Subkey-Grip", Keyword::SubkeyGrip),
    ("Name-Real", Keyword::NameReal),
    ("Name-Email", Keyword::NameEmail),
    ("Name-Comment", Keyword::NameComment),
    ("Expire-Date", Keyword::ExpireDate),
    ("Creation-Date", Keyword::CreationDate),
    ("Passphrase", Keyword::Passphrase),
    ("Preferences", Keyword::Preferences),
    ("Revoker", Keyword::Revoker),
    ("Handle", Keyword::Handle),
    ("Keyserver", Keyword::Keyserver),
];

/// Reads the lines of a file, up to the first that is invalid, with what gpg says of it; empty lines and comments are
/// left out.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, Result<Statement, &'static str>)> {
    let lines = text.split_inclusive(|&byte| byte == b'\n').enumerate();
    let statements = lines.filter_map(|(index, line)| Some((index + 1, read(line)?)));
    let mut ended = false;
    statements.take_while(move |(_, statement)| !std::mem::replace(&mut ended, statement.is_err()))
}

fn read(line: &[u8]) -> Option<Result<Statement, &'static str>> {
    if line.len() > LONGEST_LINE {
        return Some(Err("line too long"));
    }
    let line = line.trim_ascii();
    match line.first() {
        None | Some(b'#') => None,
        Some(b'%') => Some(Ok(control(line))),
        Some(_) => Some(parameter(line)),
    }
}

fn control(line: &[u8]) -> Statement {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (keyword, argument) = line.split_at(end);
    let argument = argument.trim_ascii().to_vec();
    match keyword.to_ascii_lowercase().as_slice() {
        b"%echo" => Statement::Echo(argument),
        b"%dry-run" => Statement::DryRun,
        b"%commit" => Statement::Commit,
        b"%no-protection" => Statement::NoProtection,
        b"%pubring" => Statement::Pubring(argument),
        b"%secring" | b"%ask-passphrase" | b"%no-ask-passphrase" | b"%transient-key" => Statement::Harmless,
        _ => Statement::Unknown(keyword.to_vec(), argument),
    }
}

fn parameter(line: &[u8]) -> Result<Statement, &'static str> {
    let colon = line.iter().position(|&byte| byte == b':').filter(|&colon| colon > 0);
    let (name, value) = line.split_at(colon.ok_or("missing colon")?);
    let value = value[1..].trim_ascii();
    if value.is_empty() {
        return Err("missing argument");
    }
    let known = KEYWORDS.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name));
    let (_, keyword) = known.ok_or("unknown keyword")?;
    Ok(Statement::Parameter(*keyword, Zeroizing::new(value.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(keyword: Keyword, value: &[u8]) -> Result<Statement, &'static str> {
        Ok(Statement::Parameter(keyword, Zeroizing::new(value.to_vec())))
    }

    fn read_all(text: &str) -> Vec<(usize, Result<Statement, &'static str>)> {
        lines(text.as_bytes()).collect()
    }

    #[test]
    fn comments_and_empty_lines_say_nothing_and_white_space_around_does_not_count() {
        let read = read_all("# comment\n\n  Key-Type:  RSA \n\t%ECHO  two  words \n%no-protection");
        assert_eq!(
            read,
            [
                (3, parameter(Keyword::KeyType, b"RSA")),
                (4, Ok(Statement::Echo(b"two  words".to_vec()))),
                (5, Ok(Statement::NoProtection)),
            ]
        );
    }

    #[test]
    fn a_keyword_may_be_written_in_any_case_and_a_value_may_hold_colons() {
        let read = read_all("keyserver: hkp://a:1\nSUBKEY-GRIP: x");
        assert_eq!(read[0].1, parameter(Keyword::Keyserver, b"hkp://a:1"));
        assert_eq!(read[1].1, parameter(Keyword::SubkeyGrip, b"x"));
    }

    #[test]
    fn nothing_is_read_after_a_line_that_is_wrong() {
        assert_eq!(read_all("Key-Type RSA\nKey-Type: RSA"), [(1, Err("missing colon"))]);
        assert_eq!(read_all(": RSA"), [(1, Err("missing colon"))]);
        assert_eq!(read_all("Key-Type:  "), [(1, Err("missing argument"))]);
        assert_eq!(read_all("Foo: 1"), [(1, Err("unknown keyword"))]);
        assert_eq!(read_all(&"x".repeat(1025)), [(1, Err("line too long"))]);
    }

    #[test]
    fn a_control_statement_that_is_not_known_is_passed_on() {
        let read = read_all("%foo bar");
        assert_eq!(read, [(1, Ok(Statement::Unknown(b"%foo".to_vec(), b"bar".to_vec())))]);
    }
}
