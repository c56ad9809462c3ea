//! An operator's list in a file (proxies, stores): text in, numbered lines out, read as CSV rows below a
//! header.
//!
//! One line is one entry. Blank lines and lines that begin with `#` are left out. It must not know the
//! meaning of a row.

use std::fmt::Display;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::de::DeserializeOwned;

const MAX_LINES: usize = 100_000;

/// Columns that a CSV list may have; the first `required` ones are mandatory.
pub struct Columns {
    pub known: &'static [&'static str],
    pub required: usize,
}

/// The first line of a CSV list.
pub struct Header(StringRecord);

/// The non-empty lines, with their numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim_matches(' ')));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
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
            return Err(at(file, number, format!("the maximum number of lines is {MAX_LINES}")));
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
        let names: StringRecord = cells(line)?.iter().map(str::to_ascii_lowercase).collect();
        if names.len() == 1 && line.contains([';', '\t']) {
            return Err("columns must be separated by commas".to_owned());
        }
        let twice = names.iter().enumerate().find(|(n, name)| names.iter().take(*n).any(|before| before == *name));
        if let Some(name) = names.iter().find(|name| !columns.known.contains(name)) {
            return Err(format!("unknown column '{name}': the columns are {}", columns.known.join(", ")));
        }
        if let Some((_, name)) = twice {
            return Err(format!("column '{name}' is there twice"));
        }
        let (required, _) = columns.known.split_at(columns.required);
        match required.iter().find(|required| !names.iter().any(|name| name == **required)) {
            Some(name) => Err(format!("the column '{name}' is missing")),
            None => Ok(Header(names)),
        }
    }

    /// Whether the line names this column, which makes it a header.
    pub fn names(line: &str, column: &str) -> bool {
        cells(line).is_ok_and(|cells| cells.iter().any(|cell| cell.eq_ignore_ascii_case(column)))
    }

    /// Reads a line below the header; every field of `T` must be one of the known columns.
    pub fn row<T: DeserializeOwned>(&self, line: &str) -> Result<T, String> {
        let cells = cells(line)?;
        if cells.len() != self.0.len() {
            return Err(format!("its number of cells is {}, and the header's is {}", cells.len(), self.0.len()));
        }
        // without the error's own text, which may repeat a cell
        cells.deserialize(Some(&self.0)).map_err(|_| "a cell cannot be read".to_owned())
    }
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
        return Err("a quote must follow its comma without a blank".to_owned());
    }
    record.trim();
    Ok(record)
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
    #[case::a_quote_within_quotes_first("\"\"\"a\",", "\"a", "")]
    fn cells_are_read_as_csv(#[case] line: &str, #[case] name: &str, #[case] size: &str) {
        assert_eq!(row("Name,SIZE", line), Ok(Row { name: name.to_owned(), size: size.to_owned() }));
    }

    #[rstest]
    #[case::unknown("name,weight", "a,1", "unknown column 'weight': the columns are name, size, colour")]
    #[case::twice("name,size,name", "a,1,b", "column 'name' is there twice")]
    #[case::semicolons("name;size", "a;1", "columns must be separated by commas")]
    #[case::tabs("name\tsize", "a\t1", "columns must be separated by commas")]
    #[case::missing("size", "1", "the column 'name' is missing")]
    #[case::short("name,size", "a", "its number of cells is 1, and the header's is 2")]
    #[case::open_quote("name,size", "a,\"1", "a quote is not closed")]
    #[case::blank_before_quote("name,size", "a, \"1\"", "a quote must follow its comma without a blank")]
    fn what_is_no_row_is_refused(#[case] header: &str, #[case] line: &str, #[case] fault: &str) {
        assert_eq!(row(header, line), Err(fault.to_owned()));
    }

    #[rstest]
    #[case::unix("\u{feff}a\n\n# b\nc", &[(1, "a"), (4, "c")])]
    #[case::dos("# a\r\n \r\n c\r\n", &[(3, "c")])]
    fn lines_keep_the_numbers_that_an_editor_shows(#[case] text: &str, #[case] expected: &[(usize, &str)]) {
        assert_eq!(lines(text).collect::<Vec<_>>(), expected);
    }
}
