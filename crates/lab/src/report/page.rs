//! The page of a report.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::section::{Section, Table};
use crate::machine::Machine;

/// The contents of a report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Page {
    /// The time of its start, in UTC.
    pub(crate) begun: String,
    /// The command line.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    pub(crate) programs: Vec<Program>,
    /// The programs that are not on this machine.
    pub(crate) missing: Vec<String>,
    /// Whether it was interrupted before everything was measured.
    pub(crate) interrupted: bool,
    pub(crate) sections: Vec<Section>,
}

/// A program that was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) version: String,
}

const STYLE: &str = include_str!("style.css");

/// The number of rows above which a table is folded.
const MAX_UNFOLDED_ROWS: usize = 30;

/// Writes the page.
pub(crate) fn html(page: &Page) -> String {
    let title = "OpenPGP programs, measured";
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                @if page.interrupted {
                    p.warning { "This was stopped before everything was measured; it shows what there is." }
                }
                @if let Some(warning) = page.machine.warning() { p.warning { (warning) } }
                @if page.sections.len() > 1 {
                    nav { ul { @for (number, section) in page.sections.iter().enumerate() {
                        li { a href=(format!("#section{number}")) { (section.title) } ": " (section.conclusion) }
                    } } }
                }
                @for (number, section) in page.sections.iter().enumerate() { (section_of(number, section)) }
                (conditions(page))
            }
        }
    };
    document.into_string()
}

fn section_of(number: usize, section: &Section) -> Markup {
    html! {
        section id=(format!("section{number}")) {
            h2 { (section.title) }
            p.conclusion { (section.conclusion) }
            p { (section.question) }
            @for warning in &section.warnings { p.warning { (warning) } }
            @for group in &section.plots {
                h3 { (group.title) }
                div.plots { @for plot in &group.plots { (plot.figure()) } }
            }
            @for table in &section.tables { (table_of(table)) }
            @if !section.notes.is_empty() {
                h3 { "Notes" }
                ul { @for note in &section.notes { li { (note) } } }
            }
            @if !section.commands.is_empty() {
                details {
                    summary { "Exact commands" }
                    p { "HOME is the directory that each program has for itself." }
                    (cells(&Table::new("", &["work", "program", "command"], section.commands.iter()
                        .map(|command| vec![command.task.clone(), command.subject.clone(), command.line.clone()])
                        .collect())))
                }
            }
        }
    }
}

fn table_of(table: &Table) -> Markup {
    let cells = cells(table);
    html! {
        @if table.rows.len() > MAX_UNFOLDED_ROWS {
            details { summary { (table.title) } (cells) }
        } @else {
            h3 { (table.title) }
            (cells)
        }
    }
}

/// Returns a table, which scrolls horizontally if it is too wide.
fn cells(Table { head, rows, .. }: &Table) -> Markup {
    html! {
        div.table tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

fn conditions(page: &Page) -> Markup {
    let Machine { processor, cores, memory_gib, system, kernel, governor, load } = &page.machine;
    html! {
        section {
            h2 { "How this was measured" }
            ul {
                li { (cores) " cores of " (processor) ", " (memory_gib) " GiB, " (system) ", Linux " (kernel) }
                li { "clock governed by: " (governor) "; load at the beginning: " (format!("{load:.2}")) }
                li { "begun " (page.begun) " UTC with: " code { (page.command) } }
            }
            p {
                "Whole processes, from just before they are started until their end is known, output thrown away. A first \
                 time that does not count, then rounds in which every program has its turn. Medians with intervals that \
                 hold the true median with a probability of 95 % (bootstrap). Ratios are taken between the runs of the \
                 same round. User and system time and peak memory are of the process and its children, without servers \
                 that it talks to. Each program works in directories of its own."
            }
            (table_of(&Table::new("Programs", &["name", "version"], page.programs.iter()
                .map(|program| vec![program.name.clone(), program.version.clone()]).collect())))
            @if !page.missing.is_empty() { p { "Not on this machine: " (page.missing.join("; ")) "." } }
        }
    }
}
