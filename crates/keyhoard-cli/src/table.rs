//! Tables with aligned columns.

use std::fmt::Write as _;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::printable::{harmless, is_harmless};
use crate::style::{Style, Styled};

/// A cell with its text and style.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    /// The width on a terminal, in columns.
    width: usize,
    style: Option<Style>,
    is_right_aligned: bool,
}

impl Cell {
    /// Makes a left-aligned cell, in which control characters are escaped.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if !is_harmless(&text) {
            text = harmless(&text);
        }
        let width = if text.is_ascii() { text.len() } else { text.width() };
        Self { text, width, style: None, is_right_aligned: false }
    }

    /// Makes a right-aligned cell, for numbers.
    pub(crate) fn number(value: impl ToString) -> Self {
        Self { is_right_aligned: true, ..Self::new(value.to_string()) }
    }

    /// Sets the style.
    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style: Some(style), ..self }
    }
}

/// Rows of cells, written once the widths of all columns are known.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
}

impl Table {
    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        self.widths.resize(self.widths.len().max(row.len()), 0);
        self.widths.iter_mut().zip(&row).for_each(|(width, cell)| *width = cell.width.max(*width));
        self.rows.push(row);
    }

    /// Writes the rows. Two spaces separate columns; the last cell of a row is not padded.
    pub(crate) fn write(&self, out: &mut impl Write, colour: bool) -> io::Result<()> {
        let mut line = String::new();
        for row in &self.rows {
            line.clear();
            self.append(row, colour, &mut line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn append(&self, row: &[Cell], colour: bool, line: &mut String) {
        for (column, (cell, width)) in row.iter().zip(&self.widths).enumerate() {
            let padding = width - cell.width;
            if column > 0 {
                line.push_str("  ");
            }
            if cell.is_right_aligned {
                pad(line, padding);
            }
            match cell.style.filter(|_| colour) {
                Some(style) => {
                    // Writing to a string cannot fail.
                    let _ = write!(line, "{}", Styled::new(style, &cell.text, true));
                }
                None => line.push_str(&cell.text),
            }
            if !cell.is_right_aligned && column + 1 < row.len() {
                pad(line, padding);
            }
        }
        line.push('\n');
    }
}

fn pad(line: &mut String, count: usize) {
    line.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: &[&[Cell]], colour: bool) -> String {
        let mut table = Table::default();
        rows.iter().for_each(|row| table.push(row.iter().cloned()));
        let mut out = Vec::new();
        table.write(&mut out, colour).expect("a vector takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let rows: [&[Cell]; 2] = [
            &[Cell::number(7), Cell::new("a"), Cell::new("end")],
            &[Cell::number(12), Cell::new("bcd"), Cell::new("e")],
        ];
        assert_eq!(written(&rows, false), " 7  a    end\n12  bcd  e\n");
    }

    #[test]
    fn a_cell_cannot_change_what_the_terminal_shows() {
        let rows: [&[Cell]; 1] = [&[Cell::new("a\u{202e}\u{9b}2Jb"), Cell::new("x\n")]];
        assert_eq!(written(&rows, false), "a\\u{202e}\\u{9b}2Jb  x\\x0a\n");
    }

    #[test]
    fn wide_characters_count_twice_and_colours_not_at_all() {
        let rows: [&[Cell]; 2] =
            [&[Cell::new("山").styled(Style::Good), Cell::new("x")], &[Cell::new("abc"), Cell::new("y")]];
        assert_eq!(written(&rows, true), "\x1b[32m山\x1b[0m   x\nabc  y\n");
    }
}
