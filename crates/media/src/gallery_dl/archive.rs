//! `Archive`: the archive by which gallery-dl knows what was downloaded before, as a file of SQLite.
//!
//! In: an entry for each file that is known. Out: a database with the one table that gallery-dl makes for itself. Rows
//! are the truth about what is downloaded, so the archive is written for each run and thrown away after it.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::Connection;

/// Table as gallery-dl makes it.
const TABLE: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
                     CREATE TABLE archive (entry TEXT PRIMARY KEY) WITHOUT ROWID";

/// Archive of gallery-dl. Its calls block.
pub struct Archive(Connection);

impl Archive {
    /// A new archive at `path`, in place of one that is there.
    pub fn create(path: &Path) -> io::Result<Archive> {
        // after a kill the empty file, an empty database, is the sign that a run had begun
        File::create(path)?;
        let connection = Connection::open(path).map_err(io::Error::other)?;
        connection.execute_batch(TABLE).map_err(io::Error::other)?;
        Ok(Archive(connection))
    }

    /// An entry that is there stays.
    pub fn add(&mut self, entries: impl Iterator<Item = String>) -> io::Result<()> {
        self.insert(entries).map_err(io::Error::other)
    }

    fn insert(&mut self, entries: impl Iterator<Item = String>) -> rusqlite::Result<()> {
        let transaction = self.0.transaction()?;
        let mut insert = transaction.prepare("INSERT OR IGNORE INTO archive (entry) VALUES (?1)")?;
        for entry in entries {
            insert.execute([entry])?;
        }
        drop(insert);
        transaction.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_each_entry_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive.sqlite3");
        std::fs::write(&path, "left by a run that was killed").unwrap();
        let mut archive = Archive::create(&path).unwrap();
        for page in [&["site_b", "site_a"][..], &["site_b"]] {
            archive.add(page.iter().map(|entry| (*entry).to_owned())).unwrap();
        }
        drop(archive);
        let archive = Connection::open(&path).unwrap();
        let mut entries = archive.prepare("SELECT entry FROM archive ORDER BY entry").unwrap();
        let entries: Vec<String> = entries.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(entries, ["site_a", "site_b"]);
    }
}
