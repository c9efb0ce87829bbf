//! Wraps long lines at 72 columns as `format=flowed` (RFC 3676): a line that ends with a space continues in the next
//! one, so that readers can fit paragraphs to their window.

use unicode_width::UnicodeWidthStr;

/// The longest line, in columns; a longer word is not broken.
const WIDTH: usize = 72;
/// The prefix of code lines, which are not wrapped.
const CODE: &str = "    ";
/// The line before a signature, whose space does not continue it (RFC 3676, section 4.3).
const SIGNATURE: &str = "-- ";

/// Wraps the lines.
pub(crate) fn flow(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.lines() {
        if line == SIGNATURE {
            out.push_str("-- \n");
        } else if line.starts_with(CODE) {
            push_line(&mut out, "", line.trim_end(), false);
        } else {
            let (marks, rest) = split_quote(line);
            wrap(&mut out, &marks, rest);
        }
    }
    out
}

/// Splits the quote marks (`>`, `> >`) off a line, and returns them without spaces, as the format requires.
fn split_quote(line: &str) -> (String, &str) {
    let rest = line.trim_start_matches(['>', ' ']);
    let depth = line[..line.len() - rest.len()].matches('>').count();
    if depth == 0 { (String::new(), line) } else { (">".repeat(depth), rest) }
}

fn wrap(out: &mut String, marks: &str, text: &str) {
    let mut line = String::new();
    let mut width = 0;
    // Less the marks, the space after them and the space that continues the line.
    let max_width = WIDTH.saturating_sub(marks.len() + 2).max(20);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let columns = word.width();
        if !line.is_empty() && width + 1 + columns > max_width {
            push_line(out, marks, &line, true);
            line.clear();
            width = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            width += 1;
        }
        line.push_str(word);
        width += columns;
    }
    push_line(out, marks, &line, false);
}

/// Appends one line, space-stuffed where a reader could misinterpret it (section 4.4).
fn push_line(out: &mut String, marks: &str, line: &str, continues: bool) {
    out.push_str(marks);
    let stuffed = [" ", ">", "From "].iter().any(|beginning| line.starts_with(beginning));
    if stuffed || !(marks.is_empty() || line.is_empty()) {
        out.push(' ');
    }
    out.push_str(line);
    out.push_str(if continues { " \n" } else { "\n" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Joins flowed lines by section 4.
    fn unflow(text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut continues = false;
        for line in text.lines() {
            let rest = line.trim_start_matches('>');
            let marks = &line[..line.len() - rest.len()];
            let content = rest.strip_prefix(' ').unwrap_or(rest);
            if continues {
                lines.last_mut().unwrap().push_str(content);
            } else if marks.is_empty() {
                lines.push(content.to_owned());
            } else {
                lines.push(format!("{marks} {content}"));
            }
            continues = content.ends_with(' ') && content != SIGNATURE;
        }
        lines
    }

    #[test]
    fn a_long_line_is_wrapped_and_says_that_it_goes_on() {
        let flowed = flow(&"word ".repeat(20));
        assert_eq!(flowed, format!("{}\n{}\n", "word ".repeat(14), "word ".repeat(6).trim_end()));
    }

    #[test]
    fn a_quote_stays_a_quote() {
        let flowed = flow(&format!("> {}", "word ".repeat(20)));
        assert!(
            flowed.lines().count() == 2 && flowed.lines().all(|line| line.starts_with("> word")),
            "{flowed}"
        );
        assert_eq!(flow("> > a\n>b\n>"), ">> a\n> b\n>\n");
    }

    #[test]
    fn code_addresses_and_signatures_are_left_as_they_are() {
        let long = "x".repeat(100);
        assert_eq!(flow(&format!("    a  {long}  b  ")), format!("     a  {long}  b\n"));
        assert_eq!(flow(&format!("see https://{long}")), format!("see \nhttps://{long}\n"));
        assert_eq!(flow("-- \nme"), "-- \nme\n");
    }

    #[test]
    fn a_line_that_begins_like_a_mailbox_entry_is_marked() {
        assert_eq!(flow("From here on"), " From here on\n");
    }

    proptest! {
        #[test]
        fn lines_fit_and_nothing_is_lost(words in proptest::collection::vec("[a-zé世>]{1,12}|From", 1..60), quoted: bool) {
            let text = format!("{}{}", if quoted { "> " } else { "" }, words.join(" "));
            let flowed = flow(&text);
            prop_assert!(flowed.lines().all(|line| line.width() <= WIDTH), "{flowed}");
            let letters = |text: &str| text.chars().filter(|c| !" >".contains(*c)).collect::<String>();
            prop_assert_eq!(unflow(&flowed).len(), 1);
            prop_assert_eq!(letters(&unflow(&flowed)[0]), letters(&text));
        }
    }
}
