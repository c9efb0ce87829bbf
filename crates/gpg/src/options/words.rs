//! Lists of words, as `--import-options`, `--export-options`, `--list-options` and `--verify-options` take them.
//!
//! Words are separated by spaces or commas, may be abbreviated and prefixed with `no-`, and some take a value
//! after an equals sign, in quotes if it contains a separator.

use super::refusal::{Outcome, Refusal};

/// A word of a list, and what it sets.
pub(crate) struct Word<T: 'static> {
    /// The word, without `no-`.
    name: &'static str,
    meaning: Meaning<T>,
    /// One line for `help`; empty for words of old configurations.
    help: &'static str,
}

/// The effect of a word, which `no-` reverses.
enum Meaning<T> {
    Flag(fn(&mut T) -> &mut bool),
    Flags(fn(&mut T, bool)),
    /// Gets the text after the equals sign; `false` refuses it.
    Value(fn(&mut T, bool, Option<&str>) -> bool),
}

/// A word for one flag.
pub(crate) const fn flag<T>(
    name: &'static str,
    flag: fn(&mut T) -> &mut bool,
    help: &'static str,
) -> Word<T> {
    Word { name, meaning: Meaning::Flag(flag), help }
}

/// A word for several flags.
pub(crate) const fn flags<T>(name: &'static str, set: fn(&mut T, bool), help: &'static str) -> Word<T> {
    Word { name, meaning: Meaning::Flags(set), help }
}

/// A word with a value.
pub(crate) const fn value<T>(
    name: &'static str,
    set: fn(&mut T, bool, Option<&str>) -> bool,
    help: &'static str,
) -> Word<T> {
    Word { name, meaning: Meaning::Value(set), help }
}

/// A word without effect.
pub(crate) const fn ignored<T>(name: &'static str, help: &'static str) -> Word<T> {
    flags(name, |_, _| {}, help)
}

impl<T> Word<T> {
    fn set(&self, target: &mut T, on: bool, value: Option<&str>) -> bool {
        match self.meaning {
            Meaning::Flag(flag) => *flag(target) = on,
            Meaning::Flags(set) => set(target, on),
            Meaning::Value(set) => return set(target, on, value),
        }
        true
    }
}

/// Reads the list `text` into `target`; `title` names the list in a complaint, as in "invalid import options".
pub(crate) fn read<T>(title: &str, words: &[Word<T>], text: &[u8], target: &mut T) -> Outcome {
    if text == b"help" {
        return Err(Refusal::Help(help(words)));
    }
    let text = String::from_utf8_lossy(text);
    for token in tokens(&text) {
        let wrong = |what: &str| Refusal::Complaint(format!("invalid {title}: {what} '{token}'"));
        let name = &token[..token.find([' ', '=']).unwrap_or(token.len())];
        let value = token.split_once('=').map(|(_, value)| unquote(value));
        let (name, on) = match name.split_at_checked(3) {
            Some((prefix, name)) if prefix.eq_ignore_ascii_case("no-") => (name, false),
            _ => (name, true),
        };
        if !find(words, name).map_err(wrong)?.set(target, on, value) {
            return Err(wrong("bad value in"));
        }
    }
    Ok(())
}

/// Finds the first word that begins with `name`; an incomplete name must not fit any later one. Fails with what is wrong.
fn find<'a, T>(words: &'a [Word<T>], name: &str) -> Result<&'a Word<T>, &'static str> {
    let fits =
        |word: &&Word<T>| word.name.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let mut fitting = words.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (None, _) => Err("unknown option"),
        (Some(word), Some(_)) if word.name.len() != name.len() => Err("ambiguous option"),
        (Some(word), _) => Ok(word),
    }
}

fn help<T>(words: &[Word<T>]) -> String {
    let shown = || words.iter().filter(|word| !word.help.is_empty());
    let width = shown().map(|word| word.name.len()).max().unwrap_or(0) + 2;
    shown().map(|word| format!("{:width$}{}\n", word.name, word.help)).collect()
}

/// Splits a list into words with their values.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    let tokens = std::iter::from_fn(move || {
        let text = rest?;
        let end = token_end(text);
        rest = text.get(end + 1..);
        Some(&text[..end])
    });
    tokens.filter(|token| !token.is_empty())
}

/// Returns the byte index of the end of the first token: a separator that is neither before nor inside a value.
fn token_end(text: &str) -> usize {
    let Some(name_end) = text.find([' ', ',', '=']) else { return text.len() };
    let value = text[name_end..].trim_start_matches([' ', '=']);
    let value_start = text.len() - value.len();
    if !text[name_end..value_start].contains('=') {
        return name_end;
    }
    let length = match value.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map(|end| end + 2),
        None => value.find([' ', ',']),
    };
    length.map_or(text.len(), |length| value_start + length)
}

fn unquote(value: &str) -> &str {
    match value.split_once('"') {
        Some((_, quoted)) => quoted.split_once('"').map_or(quoted, |(inner, _)| inner),
        None => value.trim_start_matches(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Debug, PartialEq)]
    struct Flags {
        clean: bool,
        minimal: bool,
        shown: Option<String>,
    }

    const WORDS: &[Word<Flags>] = &[
        flag("import-clean", |flags| &mut flags.clean, "clean"),
        flags("import-minimal", |flags, on| flags.minimal = on, "less"),
        ignored("import-clean-sigs", ""),
        value("show", Flags::show, ""),
    ];

    impl Flags {
        fn show(&mut self, on: bool, value: Option<&str>) -> bool {
            self.shown = value.filter(|_| on).map(str::to_owned);
            value != Some("bad")
        }
    }

    fn parse(text: &str) -> Result<Flags, Refusal> {
        let mut flags = Flags::default();
        read("import options", WORDS, text.as_bytes(), &mut flags).map(|()| flags)
    }

    #[test]
    fn words_are_separated_by_spaces_and_commas_and_no_takes_them_back() {
        let flags = parse("import-clean, IMPORT-MINIMAL ,,no-import-clean").expect("good words");
        assert_eq!(flags, Flags { clean: false, minimal: true, shown: None });
    }

    #[test]
    fn a_word_may_be_abbreviated_until_it_is_ambiguous() {
        assert!(parse("import-m").expect("unambiguous").minimal);
        assert!(parse("import-clean").expect("a whole word wins over a longer one").clean);
        assert!(matches!(parse("import-c"), Err(Refusal::Complaint(text)) if text.contains("ambiguous")));
        assert!(matches!(parse("x"), Err(Refusal::Complaint(text)) if text.contains("unknown option 'x'")));
    }

    #[test]
    fn a_value_follows_an_equals_sign_and_may_be_quoted() {
        assert_eq!(parse("show=a,import-clean").expect("good").shown.as_deref(), Some("a"));
        assert_eq!(parse("show = \"1,2\" import-clean").expect("good").shown.as_deref(), Some("1,2"));
        assert!(parse("show=\"1,2\",import-clean").expect("good").clean);
        assert!(matches!(parse("show=bad"), Err(Refusal::Complaint(_))));
    }

    #[test]
    fn help_lists_the_words_that_are_still_of_use() {
        let Err(Refusal::Help(text)) = parse("help") else { panic!("help is not an option") };
        assert_eq!(text, "import-clean    clean\nimport-minimal  less\n");
    }
}
