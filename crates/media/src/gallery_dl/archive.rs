//! `write`: the archive by which gallery-dl knows what was downloaded before, as a file of SQLite.
//!
//! In: an entry for each file that is known. Out: a database with the one table that gallery-dl makes for itself. Rows
//! are the truth about what is downloaded, so the archive is written for each run and thrown away after it.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::Connection;

/// As gallery-dl makes it.
const TABLE: &str = "CREATE TABLE archive (entry TEXT PRIMARY KEY) WITHOUT ROWID";

/// Writes a new archive at `path`, in place of one that is there. It blocks.
pub fn write(path: &Path, entries: impl Iterator<Item = String>) -> io::Result<()> {
    // after a kill the empty file, an empty database, is the sign that a run had begun
    File::create(path)?;
    fill(path, entries).map_err(io::Error::other)
}

fn fill(path: &Path, entries: impl Iterator<Item = String>) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare("INSERT OR IGNORE INTO archive (entry) VALUES (?1)")?;
    for entry in entries {
        insert.execute([entry])?;
    }
    drop(insert);
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_each_entry_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive.sqlite3");
        std::fs::write(&path, "left by a run that was killed").unwrap();
        write(&path, ["site_b", "site_a", "site_b"].into_iter().map(str::to_owned)).unwrap();
        let archive = Connection::open(&path).unwrap();
        let mut entries = archive.prepare("SELECT entry FROM archive ORDER BY entry").unwrap();
        let entries: Vec<String> = entries.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(entries, ["site_a", "site_b"]);
    }
}
