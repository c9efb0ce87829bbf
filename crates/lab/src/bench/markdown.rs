//! Tables in Markdown.

/// Writes the head of a table.
pub(super) fn table(heads: &[impl AsRef<str>]) -> String {
    let rule = "|---".repeat(heads.len());
    format!("{}{rule}|\n", line(heads))
}

/// Writes a line of a table.
pub(super) fn line(cells: &[impl AsRef<str>]) -> String {
    format!("| {} |\n", cells.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" | "))
}

/// A table with a column for each measurement.
pub(super) struct Columns<'a, T> {
    measured: &'a [T],
    pub(super) text: String,
}

impl<'a, T> Columns<'a, T> {
    /// Makes a table without rows; `head` returns the heading of a column.
    pub(super) fn new(measured: &'a [T], head: impl Fn(&T) -> String) -> Self {
        let heads: Vec<String> =
            [String::from("work")].into_iter().chain(measured.iter().map(head)).collect();
        Self { measured, text: table(&heads) }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, name: &str, value: impl Fn(&T) -> String) {
        let cells: Vec<String> =
            [name.to_owned()].into_iter().chain(self.measured.iter().map(value)).collect();
        self.text.push_str(&line(&cells));
    }
}
