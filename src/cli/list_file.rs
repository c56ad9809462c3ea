//! An operator's list in a file (proxies, stores): text in, numbered lines out, read as CSV rows below a
//! header.
//!
//! One line is one entry. Empty lines and rows are left out, and so are lines that begin with `#`, unless they have as many
//! cells as the header. It must not know the meaning of a row.

use std::fmt::Display;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::de::DeserializeOwned;

use export::csv_cell;

const MAX_LINES: usize = 100_000;

/// Columns that a CSV list may have; the first `required` ones are mandatory.
pub struct Columns {
    pub known: &'static [&'static str],
    pub required: usize,
}

/// The first line of a CSV list.
pub struct Header(StringRecord);

/// The lines that hold something, with their numbers from 1. A spreadsheet's first line `sep=,` holds nothing.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim_matches(' ')));
    let mut filled = numbered.filter(|(_, line)| !is_empty(line)).peekable();
    let _ = filled.next_if(|(_, line)| is_separator(line));
    filled
}

/// Whether a line above a header, or of a list without one, is left out.
pub fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// A line that is left out below this header, or in a list without one.
pub fn comment(text: &str, header: Option<&str>) -> String {
    let line = format!("# {text}");
    let names = header.and_then(|header| cells(header).ok());
    match names.is_some_and(|names| !Header::named(names).is_comment(&line)) {
        true => line.replace(',', ";"),
        false => line,
    }
}

/// A refused line, with all its faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine<'a> {
    pub number: usize,
    pub text: &'a str,
    pub faults: Vec<String>,
}

/// Passes every line to `read`; returns the refused ones. An error if the list is too long.
pub fn read_lines<'a>(
    file: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
    mut read: impl FnMut(usize, &'a str) -> Result<(), Vec<String>>,
) -> Result<Vec<BadLine<'a>>, String> {
    let mut bad = Vec::new();
    for (number, text) in lines {
        if number > MAX_LINES {
            return Err(at(file, number, format!("there are too many lines; the maximum is {MAX_LINES}")));
        }
        let result = match text.contains(char::is_control) {
            true => Err(vec!["control characters (CR, LF, NUL and the like) are refused".to_owned()]),
            false => read(number, text),
        };
        bad.extend(result.err().map(|faults| BadLine { number, text, faults }));
    }
    Ok(bad)
}

/// All faults with file and line.
pub fn faults(file: &str, bad: &[BadLine<'_>]) -> Vec<String> {
    let of_line = |line: &BadLine<'_>| line.faults.iter().map(|fault| at(file, line.number, fault)).collect::<Vec<_>>();
    bad.iter().flat_map(of_line).collect()
}

/// `proxies.csv line 14: port 99999 is out of range (1–65535)`
pub fn at(file: &str, line: usize, what: impl Display) -> String {
    format!("{file} line {line}: {what}")
}

impl Header {
    /// Reads a header; its names may be written in any case.
    pub fn parse(line: &str, columns: &Columns) -> Result<Header, String> {
        let Header(names) = Header::named(cells(line)?);
        if names.len() == 1 && line.contains([';', '\t']) {
            return Err("columns must be separated by commas".to_owned());
        }
        let twice = names.iter().enumerate().find(|(n, name)| names.iter().take(*n).any(|before| before == *name));
        if let Some(name) = names.iter().find(|name| !columns.known.contains(name)) {
            return Err(format!("unknown column '{name}': the columns are {}", columns.known.join(", ")));
        }
        if let Some((_, name)) = twice {
            return Err(format!("column '{name}' appears twice"));
        }
        let (required, _) = columns.known.split_at(columns.required);
        match required.iter().find(|required| !names.iter().any(|name| name == **required)) {
            Some(name) => Err(format!("the column '{name}' is missing")),
            None => Ok(Header(names)),
        }
    }

    fn named(mut names: StringRecord) -> Header {
        names.truncate(filled(&names));
        Header(names.iter().map(str::to_ascii_lowercase).collect())
    }

    /// Whether a line below the header is left out. Every line has as many cells as a header of one.
    pub fn is_comment(&self, line: &str) -> bool {
        is_comment(line) && (self.0.len() < 2 || self.cells(line).is_err())
    }

    /// Cuts the cells to the number of names: empty ones behind them are a spreadsheet's.
    fn cells(&self, line: &str) -> Result<StringRecord, String> {
        let mut cells = cells(line)?;
        if filled(&cells) <= self.0.len() && cells.len() > self.0.len() {
            cells.truncate(self.0.len());
        }
        if cells.len() != self.0.len() {
            return Err(format!("its number of cells is {}, but the header's is {}", cells.len(), self.0.len()));
        }
        Ok(cells)
    }

    /// Whether the line names this column, which makes it a header.
    pub fn names(line: &str, column: &str) -> bool {
        cells(line).is_ok_and(|cells| cells.iter().any(|cell| cell.eq_ignore_ascii_case(column)))
    }

    /// Reads a line below the header; every field of `T` must be one of the known columns.
    pub fn row<T: DeserializeOwned>(&self, line: &str) -> Result<T, String> {
        let cells = self.cells(line)?;
        // without the error's own text, which may repeat a cell
        cells.deserialize(Some(&self.0)).map_err(|_| "a cell cannot be read".to_owned())
    }
}

/// Whether a line has no cell with a text.
fn is_empty(line: &str) -> bool {
    line.chars().all(|char| matches!(char, ',' | '"' | ' ' | '\t'))
        && (line.trim().is_empty() || cells(line).is_ok_and(|cells| filled(&cells) == 0))
}

/// Whether a spreadsheet reads the line as the name of its separator, the comma.
fn is_separator(line: &str) -> bool {
    let bare = line.replace('"', "").to_ascii_lowercase();
    bare.strip_prefix("sep=,").is_some_and(|rest| rest.chars().all(|char| char == ','))
}

/// Number of cells up to the last one with a text.
fn filled(cells: &StringRecord) -> usize {
    cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).last().map_or(0, |(last, _)| last + 1)
}

/// The cells of one CSV line, trimmed.
fn cells(line: &str) -> Result<StringRecord, String> {
    // the CSV reader would take the rest of the text for the cell
    if line.matches('"').count() % 2 == 1 {
        return Err("a quote is not closed".to_owned());
    }
    let mut record = StringRecord::new();
    let mut reader = ReaderBuilder::new().has_headers(false).trim(Trim::None).from_reader(line.as_bytes());
    reader.read_record(&mut record).map_err(|_| "not a line of CSV".to_owned())?;
    // the CSV reader would take such a quote for a part of the cell
    if record.iter().any(|cell| cell.starts_with(' ') && cell.trim_start().starts_with('"')) {
        return Err("an opening quote must follow its comma without a space".to_owned());
    }
    record.trim();
    Ok(record.iter().map(csv_cell::unescaped).collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    const COLUMNS: Columns = Columns { known: &["name", "size", "colour"], required: 1 };

    #[derive(Debug, PartialEq, Deserialize)]
    struct Row {
        name: String,
        #[serde(default)]
        size: String,
    }

    fn row(header: &str, line: &str) -> Result<Row, String> {
        Header::parse(header, &COLUMNS)?.row(line)
    }

    #[rstest]
    #[case::plain("a,1", "a", "1")]
    #[case::blanks_around_cells(" a , 1 ", "a", "1")]
    #[case::quoted("\"a, \"\"b\"\"\",\"1\"", "a, \"b\"", "1")]
    #[case::a_formula_that_was_exported("'=a,'-", "=a", "-")]
    #[case::an_apostrophe("'a,'1", "'a", "'1")]
    #[case::a_quote_within_quotes_first("\"\"\"a\",", "\"a", "")]
    fn cells_are_read_as_csv(#[case] line: &str, #[case] name: &str, #[case] size: &str) {
        assert_eq!(row("Name,SIZE", line), Ok(Row { name: name.to_owned(), size: size.to_owned() }));
    }

    #[rstest]
    #[case::behind_the_header("name,size,,", "a,1,,")]
    #[case::in_the_header_alone("name,size,,", "a,1")]
    #[case::in_the_row_alone("name,size", "a,1,,,\"\", ")]
    #[case::quoted_names("\"name\",\"Size\"", "\"a\",\"1\"")]
    fn empty_columns_behind_the_last_one_are_left_out(#[case] header: &str, #[case] line: &str) {
        assert_eq!(row(header, line), Ok(Row { name: "a".to_owned(), size: "1".to_owned() }));
    }

    #[rstest]
    #[case::a_row("#1 Shop,2", false)]
    #[case::a_row_with_empty_columns("# Shop,,,", false)]
    #[case::a_quoted_row("\"# Shop, The\",1", false)]
    #[case::words("# ours", true)]
    #[case::words_with_commas("# Mesa, Tempe, and others", true)]
    #[case::an_open_quote("# 5\" wide, or more", true)]
    #[case::another_row("a", false)]
    fn a_row_may_begin_with_a_hash(#[case] line: &str, #[case] is_comment: bool) {
        assert_eq!(Header::parse("name,size", &COLUMNS).unwrap().is_comment(line), is_comment);
    }

    #[rstest]
    #[case::plain("line 3: it is wrong", Some("name,size"), "# line 3: it is wrong")]
    #[case::like_a_row("line 3: wrong, or not", Some("name,size,"), "# line 3: wrong; or not")]
    #[case::unlike_a_row("line 3: wrong, or not", Some("name,size,colour"), "# line 3: wrong, or not")]
    #[case::without_a_header("line 3: wrong, or not", None, "# line 3: wrong, or not")]
    fn a_comment_is_never_a_row(#[case] text: &str, #[case] header: Option<&str>, #[case] line: &str) {
        assert_eq!(comment(text, header), line);
    }

    #[rstest]
    #[case::unknown("name,weight", "a,1", "unknown column 'weight': the columns are name, size, colour")]
    #[case::twice("name,size,name", "a,1,b", "column 'name' appears twice")]
    #[case::semicolons("name;size", "a;1", "columns must be separated by commas")]
    #[case::tabs("name\tsize", "a\t1", "columns must be separated by commas")]
    #[case::missing("size", "1", "the column 'name' is missing")]
    #[case::long("name,size", "a,1,2,", "its number of cells is 4, but the header's is 2")]
    #[case::short("name,size", "a", "its number of cells is 1, but the header's is 2")]
    #[case::open_quote("name,size", "a,\"1", "a quote is not closed")]
    #[case::blank_before_quote("name,size", "a, \"1\"", "an opening quote must follow its comma without a space")]
    fn what_is_no_row_is_refused(#[case] header: &str, #[case] line: &str, #[case] fault: &str) {
        assert_eq!(row(header, line), Err(fault.to_owned()));
    }

    #[rstest]
    #[case::unix("\u{feff}a\n\n# b\nc", &[(1, "a"), (3, "# b"), (4, "c")])]
    #[case::dos("a\r\n \r\n c\r\n", &[(1, "a"), (3, "c")])]
    #[case::separator("\u{feff}sep=,\r\na,b\r\n", &[(2, "a,b")])]
    #[case::separator_as_a_row("\n\"SEP=,\",,\na,b", &[(3, "a,b")])]
    #[case::separator_below_a_line("a\nsep=,", &[(1, "a"), (2, "sep=,")])]
    #[case::empty_rows("a,b\n,\n , ,\n\"\",\"\"\n\t\nc,d\n,,", &[(1, "a,b"), (6, "c,d")])]
    #[case::quotes_that_hold_something("\",\"\n\"", &[(1, "\",\""), (2, "\"")])]
    fn lines_keep_the_numbers_that_an_editor_shows(#[case] text: &str, #[case] expected: &[(usize, &str)]) {
        assert_eq!(lines(text).collect::<Vec<_>>(), expected);
    }
}
