//! Owner trust: setting it, and GnuPG's text format for it.

use std::fmt::Write;

use cert::{Fingerprint, Timestamp};
use store::{AssignedTrust, Store};
use trust::OwnerTrust;

use crate::Result;
use crate::retry::transact;

/// Owner trust that a key is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The primary key.
    pub key: Fingerprint,
    /// What is assigned; `None` removes owner trust.
    pub trust: Option<AssignedTrust>,
}

/// What `--trusted-key` says of a key in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionNames {
    /// The option is not given: what it said in an earlier run holds.
    Nothing,
    /// It names other keys only, or none.
    Others,
    /// It names this key.
    ThisKey,
}

/// Decides how far a key's owner is trusted to certify others, by what is stored and what `--trusted-key` says.
pub fn effective(assigned: Option<AssignedTrust>, option: OptionNames) -> OwnerTrust {
    match (assigned, option) {
        (_, OptionNames::ThisKey) => OwnerTrust::Ultimate,
        (Some(assigned), OptionNames::Others) if assigned.is_by_option() => OwnerTrust::Unknown,
        (Some(assigned), _) => OwnerTrust::from_number(assigned.value()),
        (None, _) => OwnerTrust::Unknown,
    }
}

/// Why a line of GnuPG's text has no owner trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No colon follows the hexadecimal digits.
    #[error("colon missing")]
    Colon,
    /// There are not as many digits as in a fingerprint.
    #[error("invalid fingerprint")]
    Fingerprint,
    /// No number follows the colon.
    #[error("ownertrust value missing")]
    Value,
    /// The number is no owner trust.
    #[error("unknown owner trust; the values are 2 to 6, plus 128 for a disabled key")]
    Number,
}

impl Assignment {
    /// Sets a key's owner trust, or removes it; whether the key is disabled does not change.
    ///
    /// `before` is what was assigned so far.
    pub fn new(key: Fingerprint, trust: OwnerTrust, before: Option<AssignedTrust>) -> Self {
        let disabled = before.is_some_and(|before| before.disabled);
        Self { key, trust: AssignedTrust::from_number(AssignedTrust::new(trust.number(), disabled).number()) }
    }

    /// Disables a key, or enables it again, and leaves alone how far its owner is trusted.
    ///
    /// `before` is what was assigned so far.
    pub fn disabling(key: Fingerprint, disabled: bool, before: Option<AssignedTrust>) -> Self {
        Self { key, trust: before.unwrap_or_default().with_disabled(disabled) }
    }

    /// Reads a line of `gpg --export-ownertrust`, without its end; `None` for one that gives nothing.
    ///
    /// Of a number only the low eight bits are kept, as in GnuPG. 32 digits are the fingerprint of a version 3 key,
    /// which is not supported; 64 are one of a version 6 key.
    ///
    /// # Errors
    ///
    /// What GnuPG says is wrong with the line.
    pub fn read(line: &[u8]) -> std::result::Result<Option<Self>, LineError> {
        if line.starts_with(b"#") {
            return Ok(None);
        }
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if line.get(digits) != Some(&b':') {
            return Err(LineError::Colon);
        }
        let (digits, rest) = line.split_at(digits);
        let version = match digits.len() {
            32 => 3,
            40 => 4,
            64 => 6,
            _ => return Err(LineError::Fingerprint),
        };
        let number = leading_number(&rest[1..]).ok_or(LineError::Value)?;
        let key = Fingerprint::new(version, &bytes(digits));
        let given = key.zip(AssignedTrust::from_number(number));
        Ok(given.map(|(key, trust)| Self { key, trust: Some(trust) }))
    }

    /// Reads such a line strictly: any number but one of owner trust is an error.
    ///
    /// # Errors
    ///
    /// What is wrong with the line.
    pub fn read_exactly(line: &[u8]) -> std::result::Result<Option<Self>, LineError> {
        let given = Self::read(line)?;
        let is_remark = line.starts_with(b"#");
        if is_remark || is_owner_trust(line) { Ok(given) } else { Err(LineError::Number) }
    }
}

/// Says whether the second field of a line is a number of owner trust, or 0, and nothing else.
fn is_owner_trust(line: &[u8]) -> bool {
    let field = line.split(|&byte| byte == b':').nth(1).unwrap_or_default();
    let number = std::str::from_utf8(field.trim_ascii()).ok().and_then(|text| text.parse::<u8>().ok());
    let value = number.map(|number| AssignedTrust::from_number(number).map_or(0, AssignedTrust::value));
    matches!(value, Some(0 | 2..=6))
}

/// Returns the number that C's `scanf` reads at the beginning of a text.
fn leading_number(text: &[u8]) -> Option<u8> {
    let text = text.trim_ascii_start();
    let (negative, text) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let number =
        digits.clone().fold(0_u8, |number, digit| number.wrapping_mul(10).wrapping_add(digit - b'0'));
    let number = if negative { number.wrapping_neg() } else { number };
    (digits.count() > 0).then_some(number)
}

/// Returns the bytes of hexadecimal digits.
pub(crate) fn bytes(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
    digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

/// Returns the lines that [`Assignment::read`] reads.
pub fn lines(given: &[(Fingerprint, AssignedTrust)]) -> String {
    let mut text = String::new();
    for (key, trust) in given {
        writeln!(text, "{key}:{}:", trust.number()).expect("a string takes everything");
    }
    text
}

/// Sets owner trust in one transaction. Keys need not be here.
///
/// # Errors
///
/// The database's errors; then nothing was given.
pub fn assign(store: &dyn Store, given: &[Assignment], command: &str, now: Timestamp) -> Result<()> {
    assign_as(store, given, TrustHolder::User, command, now)
}

/// Whose owner trust it is, in a database that several users share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustHolder {
    /// That of the user who asks: of their role on the server.
    User,
    /// That of everybody who uses the database, unless they decide otherwise themselves.
    Everybody,
}

/// Sets the owner trust of the user or of everybody, as [`assign`] does.
///
/// # Errors
///
/// Those of [`assign`], and [`store::Error::NotForEverybody`].
pub fn assign_as(
    store: &dyn Store,
    given: &[Assignment],
    holder: TrustHolder,
    command: &str,
    now: Timestamp,
) -> Result<()> {
    if given.is_empty() {
        return Ok(());
    }
    transact(store, command, now, |transaction| {
        if holder == TrustHolder::Everybody {
            transaction.decide_for_everybody()?;
        }
        given.iter().try_for_each(|given| Ok(transaction.set_owner_trust(&given.key, given.trust)?))
    })
}

/// Makes keys ultimately trusted by an option, and forgets others that an earlier run of it named; a key that is disabled
/// stays so. In a database that several users share what everybody decided counts again.
///
/// # Errors
///
/// The database's errors; then nothing has changed.
pub fn replace_options(
    store: &dyn Store,
    named: &[(Fingerprint, Option<AssignedTrust>)],
    forgotten: &[(Fingerprint, AssignedTrust)],
    command: &str,
    now: Timestamp,
) -> Result<()> {
    if named.is_empty() && forgotten.is_empty() {
        return Ok(());
    }
    transact(store, command, now, |transaction| {
        for (key, given) in forgotten {
            transaction.forget_owner_trust(&[*key])?;
            if given.disabled {
                transaction.set_owner_trust(key, Some(AssignedTrust::new(0, true)))?;
            }
        }
        for (key, before) in named {
            let disabled = before.is_some_and(|before| before.disabled);
            transaction.set_owner_trust(key, Some(AssignedTrust::ultimate_by_option(disabled)))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789ABCDEF01234567";

    fn number(rest: &str) -> std::result::Result<Option<u8>, LineError> {
        Assignment::read(format!("{KEY}{rest}").as_bytes()).map(number_of)
    }

    fn number_of(given: Option<Assignment>) -> Option<u8> {
        given.and_then(|given| given.trust).map(AssignedTrust::number)
    }

    #[test]
    fn what_is_written_is_read() {
        let key = Fingerprint::V4(std::array::from_fn(|index| index as u8));
        let trust = AssignedTrust::new(6, true);
        let text = lines(&[(key, trust)]);
        assert_eq!(text, "000102030405060708090A0B0C0D0E0F10111213:134:\n");
        let read = Assignment::read(text.trim_end().as_bytes()).expect("a line");
        assert_eq!(read, Some(Assignment { key, trust: Some(trust) }));
    }

    #[test]
    fn numbers_are_read_as_gnupg_reads_them() {
        let read = [":5:", ": 5", ":+5x", ":261:", ":-1:"].map(number);
        assert_eq!(read, [Ok(Some(5)), Ok(Some(5)), Ok(Some(5)), Ok(Some(5)), Ok(Some(255))]);
        assert_eq!([":0:", ":256:"].map(number), [Ok(None), Ok(None)]);
    }

    #[test]
    fn a_line_that_gives_nothing_says_why() {
        assert_eq!(Assignment::read(b""), Err(LineError::Colon));
        assert_eq!(number(""), Err(LineError::Colon));
        assert_eq!(number("x:5:"), Err(LineError::Colon));
        assert_eq!(number("00:5:"), Err(LineError::Fingerprint));
        assert_eq!(number("::"), Err(LineError::Value));
        assert_eq!(Assignment::read(b"# a remark"), Ok(None));
    }

    #[test]
    fn read_exactly_a_number_that_is_no_owner_trust_is_an_error() {
        let read = |rest: &str| Assignment::read_exactly(format!("{KEY}{rest}").as_bytes());
        for rest in [":300:", ":256:", ":-1:", ":5x:", ":1:", ":7:", ":44:"] {
            assert_eq!(read(rest), Err(LineError::Number), "{rest}");
        }
        let number = |rest| read(rest).map(number_of);
        assert_eq!(
            [":2:", ":6:\r", ": 5", ":134:", ":0:"].map(number),
            [2, 6, 5, 134, 0].map(|number| { Ok(Some(number).filter(|number| *number != 0)) })
        );
        assert_eq!(Assignment::read_exactly(b"# a remark"), Ok(None));
    }

    #[test]
    fn a_new_owner_trust_leaves_alone_whether_a_key_is_disabled() {
        let key = Fingerprint::V4([7; 20]);
        let [never, disabled] = [false, true].map(|disabled| Some(AssignedTrust::new(3, disabled)));
        assert_eq!(Assignment::new(key, OwnerTrust::Full, disabled).trust, Some(AssignedTrust::new(5, true)));
        assert_eq!(Assignment::new(key, OwnerTrust::Unknown, never).trust, None);
        assert_eq!(Assignment::disabling(key, true, never).trust, disabled);
        assert_eq!(Assignment::disabling(key, false, None).trust, None);
        let by_option = AssignedTrust::ultimate_by_option(true);
        assert_eq!(Assignment::disabling(key, false, Some(by_option)).trust, by_option.with_disabled(false));
        assert_eq!(Assignment::new(key, OwnerTrust::Unknown, Some(by_option)).trust, disabled_alone());
    }

    fn disabled_alone() -> Option<AssignedTrust> {
        Some(AssignedTrust::new(0, true))
    }

    #[test]
    fn what_an_option_gave_counts_until_it_names_other_keys_and_the_users_word_always_does() {
        let by_option = Some(AssignedTrust::ultimate_by_option(false));
        let full = Some(AssignedTrust::new(5, false));
        let each = [OptionNames::Nothing, OptionNames::Others, OptionNames::ThisKey];
        let effective = |assigned| each.map(|option| effective(assigned, option));
        let ultimate = OwnerTrust::Ultimate;
        assert_eq!(effective(by_option), [ultimate, OwnerTrust::Unknown, ultimate]);
        assert_eq!(effective(full), [OwnerTrust::Full, OwnerTrust::Full, ultimate]);
        assert_eq!(effective(None), [OwnerTrust::Unknown, OwnerTrust::Unknown, ultimate]);
    }
}
