//! Columns that line up.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::style::{Style, Styled};

/// A cell's text and look.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    style: Option<Style>,
    right: bool,
}

impl Cell {
    /// Makes a cell that begins at the left.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: None, right: false }
    }

    /// Makes a cell that ends at the right, for numbers.
    pub(crate) fn number(value: impl ToString) -> Self {
        Self { text: value.to_string(), style: None, right: true }
    }

    /// Gives the cell a style.
    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style: Some(style), ..self }
    }
}

/// Rows of cells, written once all widths are known.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Writes the rows; columns are two blanks apart and nothing pads a row's last cell.
    pub(crate) fn write(&self, out: &mut impl Write, colour: bool) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        self.rows.iter().try_for_each(|row| write_row(out, row, &widths, colour))
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max().unwrap_or(0)
    }
}

fn write_row(out: &mut impl Write, row: &[Cell], widths: &[usize], colour: bool) -> io::Result<()> {
    for (column, cell) in row.iter().enumerate() {
        let padding = widths[column] - cell.text.width();
        let (before, after) = match (cell.right, column + 1 == row.len()) {
            (true, _) => (padding, 0),
            (false, true) => (0, 0),
            (false, false) => (0, padding),
        };
        let gap = if column == 0 { "" } else { "  " };
        write!(out, "{gap}{:before$}", "")?;
        match cell.style {
            Some(style) => write!(out, "{}", Styled::new(style, &cell.text, colour))?,
            None => write!(out, "{}", cell.text)?,
        }
        write!(out, "{:after$}", "")?;
    }
    writeln!(out)
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
    fn wide_characters_count_twice_and_colours_not_at_all() {
        let rows: [&[Cell]; 2] =
            [&[Cell::new("山").styled(Style::Good), Cell::new("x")], &[Cell::new("abc"), Cell::new("y")]];
        assert_eq!(written(&rows, true), "\x1b[32m山\x1b[0m   x\nabc  y\n");
    }
}
