//! `Output`: a command's output on stdout: a table or lines for people, JSON for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use chrono::{DateTime, Utc};
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

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

    /// Prints a value as one line of JSON, so that scripts can read a command's output line by line.
    pub fn value(&self, value: &impl Serialize) -> io::Result<()> {
        self.line(serde_json::to_string(value)?)
    }

    /// Prints the items: with `--json` as one array; else as a table, where `row` makes an item's cells in
    /// the order of `headers`.
    pub fn rows<T: Serialize>(&self, items: &[T], headers: &[&str], row: impl Fn(&T) -> Vec<String>) -> io::Result<()> {
        self.list(&items, items, headers, row)
    }

    /// Prints the items: with `--json` as an object that holds them under `noun`; else as a table.
    pub fn listed<T: Serialize>(
        &self,
        noun: &str,
        items: &[T],
        headers: &[&str],
        row: impl Fn(&T) -> Vec<String>,
    ) -> io::Result<()> {
        self.list(&BTreeMap::from([(noun, items)]), items, headers, row)
    }

    /// Prints the API's whole answer with `--json`; else a table of its items.
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
        out.write_all(table(headers, &rows, room(&out)).as_bytes())?;
        out.flush()
    }

    /// Reports on stderr that a list was cut; with `--json` its `next_cursor` does.
    pub fn note_of_more(&self, has_more: bool, limit: i64) {
        if has_more {
            self.note(format_args!("only the first {limit} are shown; --limit shows more"));
        }
    }

    /// Reports on stderr that a list is empty, and how to get an item.
    pub fn note_of_none<T>(&self, items: &[T], text: impl Display) {
        if items.is_empty() {
            self.note(text);
        }
    }

    /// Prints a note about a table on stderr; the JSON for programs contains it already.
    pub fn note(&self, text: impl Display) {
        if !self.json {
            eprintln!("{text}");
        }
    }

    /// Prints the value with `--json`; else the result of `text`.
    pub fn either<T: Serialize>(&self, value: &T, text: impl FnOnce(&T) -> String) -> io::Result<()> {
        if self.json { self.value(value) } else { self.line(text(value)) }
    }
}

/// Formats a quantity; a censored one is a platform's cap.
pub fn amount(quantity: Option<i32>, is_censored: bool) -> Option<String> {
    quantity.map(|quantity| if is_censored { format!("{quantity} or more") } else { quantity.to_string() })
}

/// Formats a time in UTC, for tables and texts.
pub fn time(at: DateTime<Utc>) -> String {
    at.format("%F %T UTC").to_string()
}

/// Formats a number of bytes for tables, in decimal units, as vendors of traffic count.
pub fn bytes(count: i64) -> String {
    const UNITS: [(i64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.into_iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", count as f64 / size as f64),
        None => format!("{count} B"),
    }
}

const MAX_CELL_CHARS: usize = 200;
const GAP: &str = "  ";
/// Minimum width of a cut column: the width of a time.
const MIN_CUT: usize = 23;

/// The cell, or its beginning with a mark.
fn cut(cell: &str, width: usize) -> Cow<'_, str> {
    match cell.chars().nth(width) {
        None => cell.into(),
        Some(_) => cell.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The text without control characters, and cut: text from a file or from upstream must not move the cursor.
pub fn shown(text: &str, max_chars: usize) -> String {
    let plain: String =
        text.chars().take(max_chars + 1).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    cut(&plain, max_chars).into_owned()
}

/// Maximum width of a table: its terminal's, if it goes to one.
fn room(out: &io::StdoutLock) -> Option<usize> {
    let size = out.is_terminal().then(|| terminal_size_of(out)).flatten();
    size.map(|(Width(columns), _)| usize::from(columns))
}

/// Shrinks the widest columns until the table fits; columns of numbers, times and words this short stay
/// whole.
fn fit(widths: &mut [usize], room: usize) {
    loop {
        let needed: usize = widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
        let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > MIN_CUT) else { return };
        if needed <= room {
            return;
        }
        *widest -= 1;
    }
}

/// Makes columns as wide as their widest cell, two spaces apart, without trailing blanks.
fn table(headers: &[&str], rows: &[Vec<String>], room: Option<usize>) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| shown(cell, MAX_CELL_CHARS)).collect()).collect();
    let mut widths: Vec<usize> = headers.iter().map(|header| header.chars().count()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    if let Some(room) = room {
        fit(&mut widths, room);
    }
    let headers: Vec<String> = headers.iter().map(|header| header.to_uppercase()).collect();
    let mut text = String::new();
    for row in std::iter::once(&headers).chain(&rows) {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:width$}", cut(cell, *width))).collect();
        text.push_str(cells.join(GAP).trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["7".to_owned(), "payload_fetch".to_owned()], vec!["12345".to_owned(), String::new()]];
        assert_eq!(table(&["id", "role"], &rows, None), "ID     ROLE\n7      payload_fetch\n12345\n");
    }

    #[test]
    fn a_cell_is_one_short_line_whatever_it_holds() {
        let rows = [vec!["a\u{1b}[31m\nb".to_owned()], vec!["n".repeat(70_000)]];
        let text = table(&["name"], &rows, None);
        assert!(text.starts_with("NAME\na [31m b\nnnn") && text.ends_with("n…\n"), "{text}");
        assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(MAX_CELL_CHARS));
    }

    #[test]
    fn a_table_fits_its_terminal_by_its_longest_texts() {
        let row = vec!["4711".to_owned(), "Blue Ledger ".repeat(5), "2025-01-10 08:00:00 UTC".to_owned()];
        let text = table(&["id", "product", "crawled"], &[row], Some(60));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].chars().count(), 60, "{text}");
        assert!(
            lines[1].starts_with("4711  Blue Ledger Blue") && lines[1].ends_with("…  2025-01-10 08:00:00 UTC"),
            "{text}"
        );
    }
}
