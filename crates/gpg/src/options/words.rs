//! Lists of words, as `--import-options`, `--export-options`, `--list-options` and `--verify-options` take them.
//!
//! Words are separated by spaces or commas, may be abbreviated and prefixed with `no-`, and some take a value
//! after an equals sign, in quotes if it contains a separator.

use super::refusal::Refusal;

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
    Nothing,
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
    Word { name, meaning: Meaning::Nothing, help }
}

impl<T> Word<T> {
    fn set(&self, target: &mut T, on: bool, value: Option<&str>) -> bool {
        match self.meaning {
            Meaning::Flag(flag) => *flag(target) = on,
            Meaning::Flags(set) => set(target, on),
            Meaning::Value(set) => return set(target, on, value),
            Meaning::Nothing => {}
        }
        true
    }
}

/// Reads the list `text` into `target`; `title` names the list in a complaint, as in "invalid import options".
pub(crate) fn read<T>(
    title: &str,
    words: &[Word<T>],
    text: &[u8],
    target: &mut T,
) -> std::result::Result<(), Refusal> {
    if text == b"help" {
        return Err(Refusal::Help(help(words)));
    }
    let text = String::from_utf8_lossy(text);
    for token in tokens(&text) {
        let wrong = |what: &str| Refusal::Complaint(format!("invalid {title}: {what} '{}'", token.whole));
        let (name, on) = match token.name.get(..3) {
            Some(prefix) if prefix.eq_ignore_ascii_case("no-") => (&token.name[3..], false),
            _ => (token.name, true),
        };
        match find(words, name) {
            Found::One(word) if word.set(target, on, token.value.as_deref()) => {}
            Found::One(_) => return Err(wrong("bad value in")),
            Found::Several => return Err(wrong("ambiguous option")),
            Found::None => return Err(wrong("unknown option")),
        }
    }
    Ok(())
}

enum Found<'a, T: 'static> {
    None,
    One(&'a Word<T>),
    Several,
}

/// Finds the first word that begins with `name`; an incomplete name must not fit any later one.
fn find<'a, T>(words: &'a [Word<T>], name: &str) -> Found<'a, T> {
    let fits =
        |word: &&Word<T>| word.name.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let mut fitting = words.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (None, _) => Found::None,
        (Some(word), Some(_)) if word.name.len() != name.len() => Found::Several,
        (Some(word), _) => Found::One(word),
    }
}

fn help<T>(words: &[Word<T>]) -> String {
    let shown = || words.iter().filter(|word| !word.help.is_empty());
    let width = shown().map(|word| word.name.len()).max().unwrap_or(0) + 2;
    shown().map(|word| format!("{:width$}{}\n", word.name, word.help)).collect()
}

fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: Some(text) }
}

struct Tokens<'a> {
    rest: Option<&'a str>,
}

struct Token<'a> {
    whole: &'a str,
    name: &'a str,
    value: Option<String>,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let text = self.rest?;
            let end = token_end(text);
            self.rest = text.get(end + 1..);
            let whole = &text[..end];
            if whole.is_empty() {
                continue;
            }
            let name = &whole[..whole.find([' ', '=']).unwrap_or(whole.len())];
            let value = whole.split_once('=').map(|(_, value)| unquote(value));
            return Some(Token { whole, name, value });
        }
    }
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

fn unquote(value: &str) -> String {
    match value.split_once('"') {
        Some((_, quoted)) => quoted.split_once('"').map_or(quoted, |(inner, _)| inner).to_owned(),
        None => value.trim_start_matches(' ').to_owned(),
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

    fn parse(text: &str) -> std::result::Result<Flags, Refusal> {
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
