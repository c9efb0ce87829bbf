//! Colours and other styles of text on a terminal.

use std::fmt;

/// The style of a text, by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading.
    Strong,
    /// A detail.
    Faint,
    /// A good result.
    Good,
    /// Something that needs attention.
    Warning,
    /// Something that is wrong.
    Error,
    /// A name or number that commands take as an argument.
    Name,
}

/// The sequence that ends every style.
const END: &str = "\x1b[0m";

impl Style {
    const ALL: [Self; 6] = [Self::Strong, Self::Faint, Self::Good, Self::Warning, Self::Error, Self::Name];

    fn code(self) -> &'static str {
        match self {
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Warning => "\x1b[33m",
            Self::Error => "\x1b[1;31m",
            Self::Name => "\x1b[36m",
        }
    }
}

/// Text with a style, which is applied only where colours are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styled<T> {
    style: Option<Style>,
    text: T,
}

impl<T> Styled<T> {
    /// Applies a style to a text if `colour` is true.
    pub(crate) fn new(style: Style, text: T, colour: bool) -> Self {
        Self { style: colour.then_some(style), text }
    }
}

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            Some(style) => write!(f, "{}{}{END}", style.code(), self.text),
            None => self.text.fmt(f),
        }
    }
}

/// Splits a text after the sequence with which it begins, if it begins or ends a style; the first part may be empty.
pub(crate) fn split_sequence(text: &str) -> (&str, &str) {
    let codes = Style::ALL.map(Style::code).into_iter().chain([END]);
    let length = codes.filter(|code| text.starts_with(code)).map(str::len).max();
    text.split_at(length.unwrap_or_default())
}

/// Returns whether the environment allows colours (<https://no-color.org>).
pub(crate) fn allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
