//! The store list as a CSV file with a header. Pure: text in, stores or all faults out, each with file and line.

use std::collections::HashMap;

use csv::StringRecord;

use super::draft::Draft;
use crate::db::stores::NewStore;

/// More stores than there are.
const MAX_STORES: usize = 100_000;

/// Reads the list; `file` is only for the messages. Lines that begin with `#` are skipped.
pub fn parse(file: &str, text: &str) -> Result<Vec<NewStore>, Vec<String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| vec![format!("{file}: {error}")])?.clone();
    header_fault(&header).map_or(Ok(()), |fault| Err(vec![format!("{file} line 1: {fault}")]))?;

    let mut list = List { file, text, read: (0, 1), stores: Vec::new(), faults: Vec::new(), lines: HashMap::new() };
    for (n, record) in reader.records().enumerate() {
        if n == MAX_STORES {
            list.faults.push(format!("{file}: a list may have {MAX_STORES} stores at most"));
            break;
        }
        match record {
            Ok(record) => list.take(&record, &header),
            Err(error) => list.refuse(&error),
        }
    }
    if list.faults.is_empty() { Ok(list.stores) } else { Err(list.faults) }
}

fn header_fault(header: &StringRecord) -> Option<String> {
    let blank = StringRecord::from(vec![""; header.len()]);
    match blank.deserialize::<Draft>(Some(header)) {
        Ok(_) if header.iter().any(|name| name == "name") => None,
        Ok(_) => Some("the column 'name' is missing".to_owned()),
        Err(error) => Some(plain(&error)),
    }
}

struct List<'a> {
    file: &'a str,
    text: &'a str,
    /// How far lines have been counted: the byte, and its line's number.
    read: (usize, u64),
    stores: Vec<NewStore>,
    faults: Vec<String>,
    /// Where each platform id was first seen.
    lines: HashMap<(&'static str, String), u64>,
}

impl List<'_> {
    fn take(&mut self, record: &StringRecord, header: &StringRecord) {
        let line = self.line_at(record.position());
        match record.deserialize::<Draft>(Some(header)) {
            Ok(draft) => match draft.check() {
                Ok(store) => self.keep(line, store),
                Err(faults) => faults.into_iter().for_each(|fault| self.fault(line, &fault)),
            },
            Err(error) => self.fault(line, &plain(&error)),
        }
    }

    fn keep(&mut self, line: u64, store: NewStore) {
        if let Some(id) = &store.platform_dispensary_id {
            let key = (store.platform.name(), id.clone());
            if let Some(first) = self.lines.get(&key) {
                let fault = format!("platform_dispensary_id '{id}' is in line {first} already");
                return self.fault(line, &fault);
            }
            self.lines.insert(key, line);
        }
        self.stores.push(store);
    }

    fn refuse(&mut self, error: &csv::Error) {
        let line = self.line_at(error.position());
        self.fault(line, &plain(error));
    }

    /// The reader says where it began to look for a record: before the blank lines and comments above it, and in a file with
    /// CRLF before the LF.
    fn line_at(&mut self, began: Option<&csv::Position>) -> u64 {
        let (mut at, mut line) = self.read;
        let began = began.map_or(at, |position| position.byte() as usize);
        while let Some(end) = self.text[at..].find('\n').map(|end| at + end + 1) {
            let row = self.text[at..end].trim();
            if at >= began && !row.is_empty() && !row.starts_with('#') {
                break;
            }
            (at, line) = (end, line + 1);
        }
        self.read = (at, line);
        line
    }

    fn fault(&mut self, line: u64, what: &str) {
        self.faults.push(format!("{} line {line}: {what}", self.file));
    }
}

/// What is wrong, without the reader's own idea of where.
fn plain(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells where the header has {expected_len}")
        }
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn names_may_hold_commas_and_columns_come_in_any_order() {
        let text = "\u{feff}state,name,menu_url\r\n# closed ones are left out\r\naz,\"Shop, The\",https://dutchie.com/dispensary/the-shop\r\n";
        let stores = parse("stores.csv", text).unwrap();
        assert_eq!((stores.len(), stores[0].name.as_str()), (1, "Shop, The"));
        assert_eq!(stores[0].state.as_deref(), Some("AZ"));
    }

    #[rstest]
    #[case::dos("name,slug,state\r\nA1,a1,AZ\r\nB1,b1,Arizona\r\n", 3)]
    #[case::blank_lines("\nname,slug,state\n\nA1,a1,AZ\n\nB1,b1,Arizona\n", 6)]
    #[case::comments("name,slug,state\n# one\n# two\nB1,b1,Arizona", 4)]
    #[case::a_quoted_break("name,slug,state\nA1,\"a\n1\",AZ\nB1,b1,Arizona", 4)]
    fn lines_are_counted_as_an_editor_does(#[case] text: &str, #[case] line: usize) {
        let faults = parse("s.csv", text).unwrap_err();
        let expected = format!("s.csv line {line}: state 'ARIZONA' is not two letters such as AZ");
        assert_eq!(faults.last(), Some(&expected), "{faults:?}");
    }

    #[test]
    fn all_faults_come_at_once_with_their_lines() {
        let text = "name,platform_dispensary_id,state\nA,1,Arizona\nB,2,AZ\nC,2,AZ\n,3,AZ\nD\n";
        let faults = parse("stores.csv", text).unwrap_err();
        let expected = [
            "stores.csv line 2: state 'ARIZONA' is not two letters such as AZ",
            "stores.csv line 4: platform_dispensary_id '2' is in line 3 already",
            "stores.csv line 5: name is missing",
            "stores.csv line 6: 1 cells where the header has 3",
        ];
        assert_eq!(faults, expected);
    }

    #[rstest]
    #[case::unknown_column("name,colour\nA,red\n", "unknown field `colour`")]
    #[case::no_name("slug\na\n", "the column 'name' is missing")]
    #[case::empty("", "the column 'name' is missing")]
    fn a_bad_header_is_refused(#[case] text: &str, #[case] fault: &str) {
        let faults = parse("stores.csv", text).unwrap_err();
        assert!(faults.len() == 1 && faults[0].contains(fault), "{faults:?}");
    }
}
