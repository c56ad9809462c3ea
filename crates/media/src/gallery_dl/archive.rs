//! `write`: the archive by which gallery-dl knows what was downloaded before, as a file of SQLite.
//!
//! In: an entry for each file that is known. Out: a database with the one table that gallery-dl makes for itself:
//! `archive (entry TEXT PRIMARY KEY) WITHOUT ROWID`. Rows are the truth about what is downloaded, so the archive is
//! written for each run and thrown away after it. The format: <https://www.sqlite.org/fileformat2.html>.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

const PAGE: usize = 32 << 10;
/// Longer entries would need further pages, and no name of a file is as long.
const MAX_ENTRY: usize = 4 << 10;
/// The page of the table of tables, and the begin of the file.
const FIRST_PAGE: u32 = 1;
const TABLE: &str = "CREATE TABLE archive (entry TEXT PRIMARY KEY) WITHOUT ROWID";

const LEAF_OF_TABLE: u8 = 0x0d;
const LEAF_OF_INDEX: u8 = 0x0a;
const INTERIOR_OF_INDEX: u8 = 0x02;
/// The first bytes of the file.
const HEADER: usize = 100;

/// Writes a new archive at `path`. It blocks.
pub fn write(path: &Path, mut entries: Vec<String>) -> io::Result<()> {
    entries.retain(|entry| entry.len() <= MAX_ENTRY);
    entries.sort_unstable();
    entries.dedup();
    let mut file = BufWriter::new(File::create(path)?);
    let cells = entries.into_iter().map(|entry| (None, record(&[entry.as_bytes()], None))).collect();
    file.write_all(&[0; PAGE])?;
    let root = write_tree(&mut file, cells)?;
    let schema = record(&[b"table", b"archive", b"archive", TABLE.as_bytes()], Some(root));
    let mut first = Page::new(LEAF_OF_TABLE, HEADER, None);
    first.push(&[varint(schema.len()), varint(1), schema].concat());
    let mut first = first.bytes();
    first[..HEADER].copy_from_slice(&header(root));
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&first)?;
    file.flush()
}

/// A record with the page of all that sorts before it; none in a leaf.
type Cell = (Option<u32>, Vec<u8>);

/// Writes the pages of an index behind the first page, level by level from its leaves; returns its root, which is
/// the last page of the file.
fn write_tree(file: &mut impl Write, mut cells: Vec<Cell>) -> io::Result<u32> {
    let (mut number, mut last) = (FIRST_PAGE, None);
    loop {
        let (mut page, mut above) = (Vec::new(), Vec::new());
        let mut room = Page::ROOM;
        for cell in cells {
            let bytes = Page::bytes_of(&cell);
            if bytes > room {
                // the last record of a full page becomes the border between two pages, one level above
                let border: Option<Cell> = page.pop();
                let Some((before, record)) = border else { return Err(io::ErrorKind::InvalidData.into()) };
                number += 1;
                file.write_all(&Page::of_index(&page, before).bytes())?;
                above.push((Some(number), record));
                (page, room) = (Vec::new(), Page::ROOM);
            }
            room -= bytes;
            page.push(cell);
        }
        number += 1;
        file.write_all(&Page::of_index(&page, last).bytes())?;
        if above.is_empty() {
            return Ok(number);
        }
        (cells, last) = (above, Some(number));
    }
}

/// Cells from its end, and where each begins from its start.
struct Page {
    bytes: Vec<u8>,
    /// Where its own header begins.
    start: usize,
    pointers: usize,
    cells: u16,
    content: usize,
}

impl Page {
    const HEADER: usize = 12;
    const POINTER: usize = 2;
    const ROOM: usize = PAGE - Page::HEADER;

    fn new(kind: u8, start: usize, last: Option<u32>) -> Page {
        let mut bytes = vec![0; PAGE];
        bytes[start] = kind;
        let mut pointers = start + 8;
        if let Some(last) = last {
            bytes[pointers..pointers + 4].copy_from_slice(&last.to_be_bytes());
            pointers += 4;
        }
        Page { bytes, start, pointers, cells: 0, content: PAGE }
    }

    /// `last`: the page of all that sorts behind its records.
    fn of_index(cells: &[Cell], last: Option<u32>) -> Page {
        let kind = if last.is_some() { INTERIOR_OF_INDEX } else { LEAF_OF_INDEX };
        let mut page = Page::new(kind, 0, last);
        for (before, record) in cells {
            let before = before.map_or_else(Vec::new, |page: u32| page.to_be_bytes().to_vec());
            page.push(&[before, varint(record.len()), record.clone()].concat());
        }
        page
    }

    fn bytes_of((before, record): &Cell) -> usize {
        let pointer = if before.is_some() { 4 } else { 0 };
        pointer + varint(record.len()).len() + record.len() + Page::POINTER
    }

    fn push(&mut self, cell: &[u8]) {
        self.content -= cell.len();
        self.bytes[self.content..self.content + cell.len()].copy_from_slice(cell);
        let pointer = (self.content as u16).to_be_bytes();
        self.bytes[self.pointers..self.pointers + Page::POINTER].copy_from_slice(&pointer);
        self.pointers += Page::POINTER;
        self.cells += 1;
    }

    fn bytes(mut self) -> Vec<u8> {
        let (start, content) = (self.start, (self.content as u16).to_be_bytes());
        self.bytes[start + 3..start + 5].copy_from_slice(&self.cells.to_be_bytes());
        self.bytes[start + 5..start + 7].copy_from_slice(&content);
        self.bytes
    }
}

fn header(pages: u32) -> [u8; HEADER] {
    const FORMAT: u32 = 4;
    const UTF_8: u32 = 1;
    const VERSION: u32 = 3_045_000;
    let mut header = [0; HEADER];
    header[..16].copy_from_slice(b"SQLite format 3\0");
    header[16..18].copy_from_slice(&(PAGE as u16).to_be_bytes());
    // versions of the format, and shares of a page that are fixed
    header[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
    for (at, number) in [(24, 1), (28, pages), (40, 1), (44, FORMAT), (56, UTF_8), (92, 1), (96, VERSION)] {
        header[at..at + 4].copy_from_slice(&u32::to_be_bytes(number));
    }
    header
}

/// Texts, with a number before the last of them.
fn record(texts: &[&[u8]], number: Option<u32>) -> Vec<u8> {
    const FOUR_BYTES: u8 = 4;
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for (nth, text) in texts.iter().enumerate() {
        if let Some(number) = number.filter(|_| nth + 1 == texts.len()) {
            types.push(FOUR_BYTES);
            values.extend(number.to_be_bytes());
        }
        types.extend(varint(2 * text.len() + 13));
        values.extend(*text);
    }
    // the length counts itself, and is below 128
    [varint(types.len() + 1), types, values].concat()
}

/// Seven bits a byte, the highest first.
fn varint(number: usize) -> Vec<u8> {
    let mut bytes = vec![(number & 0x7f) as u8];
    let mut rest = number >> 7;
    while rest > 0 {
        bytes.insert(0, (rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_seven_bits_a_byte() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(127), [127]);
        assert_eq!(varint(128), [0x81, 0]);
        assert_eq!(varint(8_205), [0xc0, 0x0d]);
    }

    #[test]
    fn an_archive_is_whole_pages() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive.sqlite3");
        for (entries, pages) in [(0, 2), (10, 2), (5_000, 8)] {
            write(&path, (0..entries).map(|number| format!("site_entry-with-a-long-name_{number}")).collect()).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes.len(), pages * PAGE, "{entries}");
            assert_eq!(bytes[28..32], (pages as u32).to_be_bytes());
        }
    }
}
