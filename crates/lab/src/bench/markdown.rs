//! Tables in Markdown.

/// Writes the head of a table.
pub(super) fn table(heads: &[&str]) -> String {
    let rule = "|---".repeat(heads.len());
    format!("| {} |\n{rule}|\n", heads.join(" | "))
}

/// Writes a line of a table.
pub(super) fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
