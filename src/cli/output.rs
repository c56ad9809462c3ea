//! `Output`: what a command prints on stdout, a table or lines for people, JSON for programs.

use std::fmt::Display;
use std::io::{self, Write};

use chrono::{DateTime, Utc};
use serde::Serialize;

#[derive(Clone, Copy, Debug)]
pub struct Output {
    json: bool,
}

impl Output {
    pub fn new(json: bool) -> Self {
        Output { json }
    }

    /// Whether `--json` was given.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// One line of text.
    pub fn line(&self, text: impl Display) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        out.flush()
    }

    /// A value as one line of JSON, so that scripts can read a command's output line by line.
    pub fn value(&self, value: &impl Serialize) -> io::Result<()> {
        self.line(serde_json::to_string(value)?)
    }

    /// With `--json` the items as one array; else a table, where `row` makes an item's cells in the order of `headers`.
    pub fn rows<T: Serialize>(&self, items: &[T], headers: &[&str], row: impl Fn(&T) -> Vec<String>) -> io::Result<()> {
        self.list(&items, items, headers, row)
    }

    /// With `--json` the API's whole answer; else a table of its items.
    pub fn list<T>(
        &self,
        answer: &impl Serialize,
        items: &[T],
        headers: &[&str],
        row: impl Fn(&T) -> Vec<String>,
    ) -> io::Result<()> {
        if self.json {
            return self.value(answer);
        }
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        let mut out = io::stdout().lock();
        out.write_all(table(headers, &rows).as_bytes())?;
        out.flush()
    }

    /// With `--json` the value; else the text that `text` makes of it.
    pub fn either<T: Serialize>(&self, value: &T, text: impl FnOnce(&T) -> String) -> io::Result<()> {
        if self.json { self.value(value) } else { self.line(text(value)) }
    }
}

/// A time as tables and texts show it, in UTC.
pub fn time(at: DateTime<Utc>) -> String {
    at.format("%F %T").to_string()
}

const MAX_CELL_CHARS: usize = 200;

/// The cell without control characters, and cut: text from a file or from upstream must not move the cursor.
fn shown(cell: &str) -> String {
    let mut text: String =
        cell.chars().take(MAX_CELL_CHARS).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if cell.chars().nth(MAX_CELL_CHARS).is_some() {
        text.push('…');
    }
    text
}

/// Columns as wide as their widest cell, two spaces apart, no trailing blanks.
fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let mut widths: Vec<usize> = headers.iter().map(|header| header.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let headers: Vec<String> = headers.iter().map(|header| header.to_uppercase()).collect();
    let mut text = String::new();
    for row in std::iter::once(&headers).chain(&rows) {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// `1 task`, `2 tasks`.
pub fn counted(number: impl Into<i64>, noun: &str) -> String {
    match number.into() {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "task")), ["0 tasks", "1 task", "2 tasks"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["7".to_owned(), "payload_fetch".to_owned()], vec!["12345".to_owned(), String::new()]];
        assert_eq!(table(&["id", "role"], &rows), "ID     ROLE\n7      payload_fetch\n12345\n");
    }

    #[test]
    fn a_cell_is_one_short_line_whatever_it_holds() {
        let rows = [vec!["a\u{1b}[31m\nb".to_owned()], vec!["n".repeat(70_000)]];
        let text = table(&["name"], &rows);
        assert!(text.starts_with("NAME\na [31m b\nnnn") && text.ends_with("n…\n"), "{text}");
        assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(MAX_CELL_CHARS + 1));
    }
}
