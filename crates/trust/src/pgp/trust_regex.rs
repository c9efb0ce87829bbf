//! The regular expressions of trust signatures (RFC 9580, 5.2.3.22), as GnuPG understands them.
//!
//! GnuPG takes the `.` for an operator, and of the rest only the frame `<[^>]+[@.]` ... `>$` that it writes itself.
//! Before it compiles an expression, it puts a backslash before every other operator. What is left is a row of
//! characters, with escapes of its own, to be found anywhere in a user ID whatever the case of letters.

/// The user IDs to which a trust signature applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRegex {
    /// Whether it begins with a `<`, at least one character other than `>`, and an `@` or a dot.
    framed: bool,
    /// What follows; `None` if it cannot be read, and nothing matches.
    steps: Option<Vec<Step>>,
}

/// What must follow in a user ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// This character, compared with the upper case of what is there.
    Character(u32),
    /// Any character.
    Any,
    /// A character of the class, or one that is not.
    Class(Class, bool),
    /// The end of the user ID.
    End,
    /// The beginning of the user ID.
    Beginning,
    /// A word begins here.
    WordBegins,
    /// A word has just ended, or could have.
    WordEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Digit,
    Word,
    Space,
}

/// Characters that the rest of an expression cannot use as operators.
const OPERATORS: &[u8] = b"^[$()|*+?{";
const FRAME_BEGINS: &[u8] = b"<[^>]+[@.]";
const FRAME_ENDS: &[u8] = b">$";

impl TrustRegex {
    /// Reads an expression.
    pub fn new(expression: &[u8]) -> Self {
        let (framed, sanitized) = sanitize(expression);
        Self { framed, steps: compile(&sanitized) }
    }

    /// Returns whether a user ID is within the scope. GnuPG sees no further than the first NUL.
    pub fn admits(&self, user_id: &[u8]) -> bool {
        let text = Text(user_id.split(|&byte| byte == 0).next().unwrap_or_default());
        let Some(steps) = &self.steps else { return false };
        let fits = |start: usize| text.fits(start, steps);
        match self.framed {
            false => text.starts().any(fits),
            true => text.starts().any(|start| text.after_frame(start).any(fits)),
        }
    }
}

/// Puts a backslash before every operator, and cuts off the frame's beginning; says whether there was one.
fn sanitize(expression: &[u8]) -> (bool, Vec<u8>) {
    let inner = || expression.strip_prefix(FRAME_BEGINS)?.strip_suffix(FRAME_ENDS);
    let (framed, rest) = match inner() {
        Some(inner) => (true, inner),
        None => (false, expression),
    };
    let mut sanitized = Vec::with_capacity(rest.len() + FRAME_ENDS.len());
    let mut escaped = false;
    for &byte in rest {
        if !escaped && byte == b'\\' {
            escaped = true;
        } else if !escaped && OPERATORS.contains(&byte) {
            sanitized.push(b'\\');
        } else {
            escaped = false;
        }
        sanitized.push(byte);
    }
    if framed {
        // A backslash at the end of what is inside escapes the bracket.
        sanitized.extend(FRAME_ENDS);
    }
    (framed, sanitized)
}

/// Reads a sanitized expression; `None` if GnuPG cannot.
fn compile(sanitized: &[u8]) -> Option<Vec<Step>> {
    let text = Text(sanitized);
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some((character, length)) = text.decode(at) {
        let follows_character = matches!(steps.last(), Some(Step::Character(_)));
        at += length;
        match sanitized[at - length] {
            b'.' => steps.push(Step::Any),
            b'$' => steps.push(Step::End),
            b'\\' => match sanitized.get(at) {
                Some(&letter) => {
                    let (step, length) = escape(letter, &sanitized[at + 1..])?;
                    steps.push(step);
                    at += 1 + length;
                }
                // At the end of a row of characters it stands for itself.
                None if follows_character => steps.push(Step::Character(character)),
                None => return None,
            },
            _ => steps.push(Step::Character(upper(character))),
        }
    }
    Some(steps)
}

/// Reads what follows a backslash: a letter, and for some of them a number after it, whose length is returned too.
fn escape(letter: u8, rest: &[u8]) -> Option<(Step, usize)> {
    let numbered = |digits: usize| {
        let length = rest.iter().take(digits).take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(&rest[..length]).ok().filter(|text| !text.is_empty());
        (text.and_then(|text| u32::from_str_radix(text, 16).ok()).unwrap_or(letter.into()), length)
    };
    let (character, length) = match letter {
        b'A' => return Some((Step::Beginning, 0)),
        b'Z' => return Some((Step::End, 0)),
        b'<' | b'm' => return Some((Step::WordBegins, 0)),
        b'>' | b'M' => return Some((Step::WordEnded, 0)),
        b'd' | b'D' => return Some((Step::Class(Class::Digit, letter == b'd'), 0)),
        b'w' | b'W' => return Some((Step::Class(Class::Word, letter == b'w'), 0)),
        b's' | b'S' => return Some((Step::Class(Class::Space, letter == b's'), 0)),
        b'b' => (8, 0),
        b'e' => (27, 0),
        b'f' => (12, 0),
        b'n' => (10, 0),
        b'r' => (13, 0),
        b't' => (9, 0),
        b'v' => (11, 0),
        b'u' => numbered(4),
        b'U' => numbered(8),
        b'x' => numbered(2),
        // What is escaped keeps its case, so that small letters match nothing; bytes beyond ASCII never do.
        0x80.. => (u32::MAX, 0),
        other => (other.into(), 0),
    };
    (character != 0).then_some((Step::Character(character), length))
}

/// A user ID, or an expression, as GnuPG reads it: UTF-8, and where it is not, single bytes.
#[derive(Clone, Copy)]
struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Returns the character at a place, and its length; `None` at the end.
    fn decode(self, at: usize) -> Option<(u32, usize)> {
        let &lead = self.0.get(at)?;
        let length = claimed_length(lead);
        let valid = self
            .0
            .get(at..at + length)
            .and_then(|bytes| bytes.utf8_chunks().next())
            .map(|chunk| chunk.valid());
        match valid.and_then(|text| text.chars().next()) {
            Some(character) => Some((character.into(), length)),
            None => Some((lead.into(), 1)),
        }
    }

    /// Iterates over the offsets where a match may begin, including the end.
    fn starts(self) -> impl Iterator<Item = usize> + use<'a> {
        let next = move |&at: &usize| self.decode(at).map(|(_, length)| at + length);
        std::iter::successors(Some(0), next)
    }

    /// Iterates over the offsets after the beginning of the frame, if that is at `start`.
    fn after_frame(self, start: usize) -> impl Iterator<Item = usize> + use<'a> {
        let begins = self.0.get(start) == Some(&b'<');
        let inside =
            move || self.0.get(start + 1..).unwrap_or_default().iter().take_while(|byte| **byte != b'>');
        let last = if begins { start + 1 + inside().count() } else { 0 };
        let next = |&at: &usize| Some(at + claimed_length(*self.0.get(at)?));
        let joints: Vec<usize> =
            std::iter::successors(Some(start + 1), next).skip(1).take_while(|&at| at <= last).collect();
        joints.into_iter().filter(move |&at| matches!(self.0.get(at), Some(b'@' | b'.'))).map(|at| at + 1)
    }

    /// Returns whether all steps match, beginning at an offset.
    fn fits(self, start: usize, steps: &[Step]) -> bool {
        let mut at = start;
        steps.iter().all(|step| match self.step(at, *step) {
            Some(next) => {
                at = next;
                true
            }
            None => false,
        })
    }

    /// Returns the offset after a step; `None` if it does not match.
    fn step(self, at: usize, step: Step) -> Option<usize> {
        let here = self.decode(at).map(|(character, length)| (upper(character), at + length));
        let follows_word = at > 0 && is_word(self.0[at - 1]);
        let stay = |fits: bool| fits.then_some(at);
        match (step, here) {
            (Step::Character(wanted), Some((character, next))) => (character == wanted).then_some(next),
            (Step::Any, Some((_, next))) => Some(next),
            (Step::Class(class, within), Some((character, next))) => {
                (class.holds(character) == within).then_some(next)
            }
            (Step::Character(_) | Step::Any | Step::Class(..), None) => None,
            (Step::End, here) => stay(here.is_none()),
            (Step::Beginning, _) => stay(at == 0),
            // GnuPG looks at the low eight bits of a character here.
            (Step::WordBegins, here) => {
                stay(!follows_word && here.is_some_and(|(character, _)| is_word(character as u8)))
            }
            (Step::WordEnded, _) => stay(follows_word),
        }
    }
}

impl Class {
    fn holds(self, character: u32) -> bool {
        let Ok(byte) = u8::try_from(character) else { return false };
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_',
            Self::Space => b" \t\r\n\x0c\x0b".contains(&byte),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns how long a character is by its first byte.
fn claimed_length(lead: u8) -> usize {
    match lead {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => 1,
    }
}

/// Returns the upper case of a character, if that is a single one.
fn upper(character: u32) -> u32 {
    let Some(letter) = char::from_u32(character) else { return character };
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one.into(),
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(expression: &str, user_id: &str) -> bool {
        TrustRegex::new(expression.as_bytes()).admits(user_id.as_bytes())
    }

    #[test]
    fn the_frame_admits_a_domain_and_its_subdomains_alone() {
        let debian = r"<[^>]+[@.]debian\.org>$";
        assert!(admits(debian, "Ann <ann@debian.org>"));
        assert!(admits(debian, "Ann <ann@people.DEBIAN.org>"));
        assert!(!admits(debian, "Ann <ann@undebian.org>"));
        assert!(!admits(debian, "Ann <ann@debian.org> (work)"));
        assert!(!admits(debian, "Ann <ann@debian_org>"));
        assert!(!admits(debian, "<@debian.org>"));
        assert!(!admits(debian, "Ann <ann>, not <@debian.org>"));
    }

    #[test]
    fn a_plain_expression_is_looked_for_anywhere_and_its_dots_are_any_character() {
        assert!(admits("debian.org", "Ann <ann@debian-organ.example>"));
        assert!(admits("", "anybody"));
        assert!(!admits("debian.org", "Ann <ann@debian>"));
    }

    #[test]
    fn operators_outside_the_frame_stand_for_themselves() {
        assert!(admits("a+b", "xa+by"));
        assert!(!admits("a+b", "aab"));
        assert!(admits("(x|y)$", "(X|Y)$ and more"));
        assert!(!admits("^Ann", "Ann"));
        assert!(admits("[abc]{2}", "[abc]{2}"));
    }

    #[test]
    fn letters_have_no_case_unless_they_are_escaped() {
        assert!(admits("JÖRG", "jörg"));
        assert!(admits("straße", "STRAßE"));
        assert!(!admits(r"\can", "can"));
        assert!(admits(r"\CAN", "can"));
    }

    #[test]
    fn escapes_are_those_of_gnupg() {
        assert!(admits(r"a\.b", "a.b") && !admits(r"a\.b", "a-b"));
        assert!(admits(r"\d\D\w\W\s\S", "1aa- x"));
        assert!(admits(r"\AAnn\Z", "Ann") && !admits(r"\AAnn\Z", "Anne") && !admits(r"\AAnn", "Joann"));
        assert!(admits(r"\<ann\>", "an ann!") && !admits(r"\<ann", "joann"));
        // The end of a word is also where a word only might have ended.
        assert!(admits(r"an\>n", "ann"));
        assert!(admits(r"\x41nn", "ann") && !admits(r"\x61nn", "ann"));
        assert!(!admits(r"\x0", "anything"));
    }

    #[test]
    fn a_backslash_at_the_end_is_a_character_or_an_error() {
        assert!(admits(r"a\", r"a\"));
        assert!(!admits(r"\", r"\"));
        assert!(!admits(r".\", r"a\"));
        // Inside of the frame it escapes the bracket, which then ends a word.
        assert!(!admits(r"<[^>]+[@.]org\>$", "<ann@a.org>"));
        assert!(admits(r"<[^>]+[@.]org\>$", "<ann@a.org"));
    }

    #[test]
    fn what_stands_behind_a_nul_is_not_seen() {
        assert!(!admits("debian", "Ann\0debian"));
    }

    #[test]
    fn bytes_that_are_no_text_are_characters_of_their_own() {
        assert!(TrustRegex::new(b"J\xfcrgen").admits(b"J\xfcRGEN"));
        assert!(TrustRegex::new(b"J.rgen").admits(b"J\xfcrgen"));
        assert!(TrustRegex::new(br"<[^>]+[@.]debian\.org>$").admits(b"<J\xfcrgen@debian.org>"));
    }
}
