//! The expressions of `--import-filter` and `--export-filter`.
//!
//! An expression is a disjunction (`||`) of conjunctions (`&&`) of terms `PROPERTY OPERATOR VALUE`. Several
//! expressions for one filter are joined as if written one after the other. The language is that of gpg's manual,
//! section "Filter expressions".

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::number;

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// Never empty.
    terms: Vec<Term>,
}

/// What is wrong with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FilterError {
    #[error("invalid flag in expression")]
    Flag,
    #[error("no field name given in expression")]
    NoProperty,
    #[error("invalid operator in expression")]
    Operator,
    #[error("no value given in expression")]
    NoValue,
    #[error("value given for an operator that takes none")]
    UnexpectedValue,
}

#[derive(Clone, Debug)]
struct Term {
    /// Begins a new conjunction.
    disjunction: bool,
    negated: bool,
    case_sensitive: bool,
    property: String,
    operator: Operator,
    value: Vec<u8>,
    /// The value as a number; 0 for any other text.
    number: i64,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Same,
    Contains,
    NonEmpty,
    IsTrue,
    /// Compares numbers.
    Number(fn(Ordering) -> bool),
    /// Compares texts.
    Text(fn(Ordering) -> bool),
}

/// How operators are written; `true` negates. A longer one comes before one that begins it.
const OPERATORS: [(&[u8], Operator, bool); 18] = [
    (b"=~", Operator::Contains, false),
    (b"!~", Operator::Contains, true),
    (b"<>", Operator::Same, true),
    (b"==", Operator::Number(Ordering::is_eq), false),
    (b"!=", Operator::Number(Ordering::is_eq), true),
    (b"<=", Operator::Number(Ordering::is_le), false),
    (b">=", Operator::Number(Ordering::is_ge), false),
    (b"<", Operator::Number(Ordering::is_lt), false),
    (b">", Operator::Number(Ordering::is_gt), false),
    (b"=", Operator::Same, false),
    (b"-z", Operator::NonEmpty, true),
    (b"-n", Operator::NonEmpty, false),
    (b"-f", Operator::IsTrue, true),
    (b"-t", Operator::IsTrue, false),
    (b"-le", Operator::Text(Ordering::is_le), false),
    (b"-ge", Operator::Text(Ordering::is_ge), false),
    (b"-lt", Operator::Text(Ordering::is_lt), false),
    (b"-gt", Operator::Text(Ordering::is_gt), false),
];

impl Filter {
    /// Adds the expression `text` to `filter`.
    pub(crate) fn add(filter: &mut Option<Self>, text: &[u8]) -> Result<(), FilterError> {
        let terms = parse(text)?;
        filter.get_or_insert(Self { terms: Vec::new() }).terms.extend(terms);
        Ok(())
    }

    /// Says whether the expression holds for something with these properties; one that it lacks is empty.
    pub(crate) fn selects<'a>(&self, property: impl Fn(&str) -> Option<Cow<'a, [u8]>>) -> bool {
        let mut rest = self.terms.as_slice();
        while let [_, others @ ..] = rest {
            let length = 1 + others.iter().take_while(|term| !term.disjunction).count();
            let (conjunction, later) = rest.split_at(length);
            if conjunction.iter().all(|term| term.holds(property(&term.property).as_deref().unwrap_or(b""))) {
                return true;
            }
            rest = later;
        }
        false
    }
}

impl Term {
    fn holds(&self, field: &[u8]) -> bool {
        (!field.is_empty() && self.matches(field)) != self.negated
    }

    fn matches(&self, field: &[u8]) -> bool {
        let folded =
            |text: &[u8]| if self.case_sensitive { text.to_vec() } else { text.to_ascii_lowercase() };
        let number = || number::prefixed(field).unwrap_or(i64::MAX);
        match self.operator {
            Operator::Same => folded(field) == folded(&self.value),
            Operator::Contains => {
                let (field, value) = (folded(field), folded(&self.value));
                field.windows(value.len()).any(|window| window == value)
            }
            Operator::NonEmpty => true,
            Operator::IsTrue => number() != 0,
            Operator::Number(holds) => holds(number().cmp(&self.number)),
            Operator::Text(holds) => holds(folded(field).cmp(&folded(&self.value))),
        }
    }
}

/// Flags before a property; once given they hold for the rest of the expression.
#[derive(Default)]
struct Flags {
    to_end: bool,
    case_sensitive: bool,
    untrimmed: bool,
}

fn parse(text: &[u8]) -> Result<Vec<Term>, FilterError> {
    let mut terms = Vec::new();
    let mut flags = Flags::default();
    let mut rest = trim_start(text);
    let mut disjunction = rest.starts_with(b"||");
    if disjunction || rest.starts_with(b"&&") {
        rest = &rest[2..];
    }
    loop {
        rest = read_flags(trim_start(rest), &mut flags)?;
        let end = if flags.to_end { None } else { connection(rest) };
        terms.push(term(&rest[..end.unwrap_or(rest.len())], disjunction, &flags)?);
        let Some(end) = end else { return Ok(terms) };
        disjunction = rest[end] == b'|';
        rest = &rest[end + 2..];
    }
}

fn read_flags<'a>(mut text: &'a [u8], flags: &mut Flags) -> Result<&'a [u8], FilterError> {
    while let [b'-', flag, rest @ ..] = text {
        match flag {
            b'-' => flags.to_end = true,
            b'c' => flags.case_sensitive = true,
            b't' => flags.untrimmed = true,
            _ => return Err(FilterError::Flag),
        }
        text = trim_start(rest);
    }
    Ok(text)
}

/// Finds the next `&&` or `||`. As in gpg, a single `&` or `|` hides a later double one.
fn connection(text: &[u8]) -> Option<usize> {
    let double = |byte: u8| {
        let at = text.iter().position(|&other| other == byte)?;
        (text.get(at + 1) == Some(&byte)).then_some(at)
    };
    match (double(b'&'), double(b'|')) {
        (Some(and), Some(or)) => Some(and.min(or)),
        (and, or) => and.or(or),
    }
}

fn term(text: &[u8], disjunction: bool, flags: &Flags) -> Result<Term, FilterError> {
    let at = text.iter().position(|byte| b"=<>!~-".contains(byte)).filter(|&at| at > 0);
    let at = at.ok_or(FilterError::NoProperty)?;
    let (name, rest) = text.split_at(at);
    let property = String::from_utf8_lossy(name.trim_ascii()).into_owned();
    let found = OPERATORS.iter().find(|(written, ..)| rest.starts_with(written));
    let (written, operator, negated) = found.ok_or(FilterError::Operator)?;
    let value = &rest[written.len()..];
    let value = if matches!(operator, Operator::NonEmpty | Operator::IsTrue) {
        if !trim_start(value).is_empty() {
            return Err(FilterError::UnexpectedValue);
        }
        &[]
    } else {
        read_value(value, flags)?
    };
    Ok(Term {
        disjunction,
        negated: *negated,
        case_sensitive: flags.case_sensitive,
        property,
        operator: *operator,
        value: value.to_vec(),
        number: number::prefixed(value).unwrap_or(i64::MAX),
    })
}

/// A value that begins like an operator needs a space before it.
fn read_value<'a>(text: &'a [u8], flags: &Flags) -> Result<&'a [u8], FilterError> {
    if text.first().is_none_or(|first| b"=<>!~".contains(first)) {
        return Err(FilterError::Operator);
    }
    let value = match text {
        [b' ' | b'\t', rest @ ..] => rest,
        _ => text,
    };
    let value = if flags.untrimmed { value } else { value.trim_ascii() };
    if value.is_empty() { Err(FilterError::NoValue) } else { Ok(value) }
}

fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(text.len());
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(expressions: &[&str]) -> Filter {
        let mut filter = None;
        for expression in expressions {
            Filter::add(&mut filter, expression.as_bytes()).expect("valid expression");
        }
        filter.expect("at least one expression")
    }

    fn selects(expressions: &[&str], uid: &str) -> bool {
        filter(expressions).selects(|name| (name == "uid").then(|| uid.as_bytes().into()))
    }

    #[test]
    fn conjunctions_bind_tighter_than_disjunctions() {
        let manual = ["uid =~ Alfa", "&& uid !~ Test", "|| uid =~ Alpha", "uid !~ Test"];
        let one = ["uid =~ Alfa && uid !~ Test || uid =~ Alpha && uid !~ Test"];
        for (uid, expected) in
            [("an alfa", true), ("ALPHA", true), ("alfa test", false), ("alpha test", false), ("x", false)]
        {
            assert_eq!(selects(&manual, uid), expected, "{uid}");
            assert_eq!(selects(&one, uid), expected, "{uid}");
        }
    }

    #[test]
    fn flags_make_a_match_case_sensitive_untrimmed_or_last_to_the_end() {
        assert!(!selects(&["-c uid =~ alfa"], "Alfa"));
        assert!(selects(&["-- uid = a && b"], "a && b"));
        assert!(selects(&["-t uid =  x "], " x "));
        assert!(!selects(&["uid =  x "], " x "));
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        assert!(selects(&["uid == 0x10"], "16"));
        assert!(selects(&["uid < 9"], "-1"));
        assert!(selects(&["uid >= 9"], "10"));
        assert!(selects(&["uid -lt 9"], "10"));
        assert!(selects(&["uid -gt 2020-01-01"], "2021-05-05"));
        assert!(selects(&["uid -t"], "1"));
        assert!(selects(&["uid -f"], "0"));
        assert!(selects(&["uid <> x"], "y"));
    }

    #[test]
    fn a_missing_property_is_empty_and_matches_only_a_negated_term() {
        assert!(selects(&["nothing -z"], "x"));
        assert!(!selects(&["nothing -n"], "x"));
        assert!(selects(&["nothing !~ x"], "x"));
        assert!(!selects(&["nothing < 9"], "x"));
    }

    #[test]
    fn faulty_expressions_are_refused() {
        let error = |text: &str| Filter::add(&mut None, text.as_bytes()).expect_err(text);
        assert_eq!(error("-x uid = a"), FilterError::Flag);
        assert_eq!(error("= a"), FilterError::NoProperty);
        assert_eq!(error("uid"), FilterError::NoProperty);
        assert_eq!(error("uid ~ a"), FilterError::Operator);
        assert_eq!(error("uid =~"), FilterError::Operator);
        assert_eq!(error("uid =~ "), FilterError::NoValue);
        assert_eq!(error("uid ==="), FilterError::Operator);
        assert_eq!(error("uid -n x"), FilterError::UnexpectedValue);
        assert_eq!(error("uid = a &&"), FilterError::NoProperty);
    }
}
