//! Colours, where a person is looking.

use std::fmt;

/// What a piece of text is, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// What the eye is to find first.
    Strong,
    /// What matters less.
    Faint,
    /// All is well.
    Good,
    /// Look at this.
    Warning,
    /// This is wrong.
    Error,
    /// A name by which something can be asked for.
    Name,
}

/// Ends every style.
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

/// Text with a style that shows only where colours are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styled<T> {
    style: Option<Style>,
    text: T,
}

impl<T> Styled<T> {
    /// Gives `text` a style if `colour` says so.
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

/// Splits off the sequence that begins or ends a style at the beginning of a text; it is empty if there is none.
pub(crate) fn split_sequence(text: &str) -> (&str, &str) {
    let codes = Style::ALL.map(Style::code).into_iter().chain([END]);
    let length = codes.filter(|code| text.starts_with(code)).map(str::len).max();
    text.split_at(length.unwrap_or_default())
}

/// Says whether the environment allows colours (<https://no-color.org>).
pub(crate) fn allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
