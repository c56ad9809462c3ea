//! Brings the schema up to date: what `migrations/` has and the database has not, under one lock, in one transaction.
//!
//! Any number of processes may call [`up`] at once: one works, the others wait and find nothing left to do.
//! The rules for the files stand in `migrations/README.md`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::client::Client;
use super::error::DbError;
use super::pools::Db;

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// Names the lock among all advisory locks of the database ("drover").
const LOCK: i64 = 0x6472_6f76_6572;

/// Why the schema is not what this program needs. Only [`MigrateError::Db`] may pass by itself.
#[derive(Debug, Error)]
pub enum MigrateError {
    #[error("migration {0} was changed after it had been applied; restore its file, and put the change into a new one")]
    Changed(String),
    #[error(
        "the database has migration {0}, which this program does not know: it is older than the database; upgrade it"
    )]
    Unknown(String),
    #[error("migration file {0} is not named NNNN_subject.sql with a number of its own")]
    BadName(String),
    #[error("migration {name} failed, and nothing was changed")]
    Failed { name: String, source: DbError },
    #[error("the schema could not be compared with the migrations")]
    Db(#[from] DbError),
}

/// What [`up`] did, by name.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub applied: Vec<String>,
    pub objects: Vec<String>,
}

/// How the database compares with the files.
#[derive(Debug, Serialize)]
pub struct Status {
    pub applied: Vec<Applied>,
    pub pending: Vec<String>,
    /// Functions and views that differ from their files.
    pub objects: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Applied {
    pub version: i32,
    pub name: String,
    pub applied_at: DateTime<Utc>,
    #[serde(skip)]
    checksum: String,
}

impl Status {
    pub fn is_current(&self) -> bool {
        self.pending.is_empty() && self.objects.is_empty()
    }
}

/// Runs what is missing. On an error nothing of it has happened.
pub async fn up(db: &Db) -> Result<Report, MigrateError> {
    Files::embedded()?.up(db).await
}

/// Compares without changing anything; the faults that [`up`] would refuse are errors here too.
pub async fn status(db: &Db) -> Result<Status, MigrateError> {
    Files::embedded()?.status(db).await
}

/// Changes when any of the files does.
pub fn fingerprint() -> String {
    let all: Vec<&str> = MIGRATIONS.iter().chain(OBJECTS).flat_map(|(name, sql)| [*name, *sql]).collect();
    checksum(&all.join("\0"))
}

/// The files to compare the database with: those in this program, or a test's own.
struct Files {
    migrations: Vec<Migration>,
    objects: Vec<Object>,
}

struct Migration {
    version: i32,
    name: String,
    sql: String,
}

struct Object {
    name: String,
    sql: String,
}

impl Files {
    fn embedded() -> Result<Files, MigrateError> {
        Files::new(MIGRATIONS, OBJECTS)
    }

    fn new(migrations: &[(&str, &str)], objects: &[(&str, &str)]) -> Result<Files, MigrateError> {
        let migrations: Vec<_> = migrations.iter().map(|file| Migration::new(*file)).collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some(twin) = migrations.iter().find(|migration| !seen.insert(migration.version)) {
            return Err(MigrateError::BadName(twin.name.clone()));
        }
        let objects = objects.iter().map(|(name, sql)| Object { name: (*name).to_owned(), sql: (*sql).to_owned() });
        Ok(Files { migrations, objects: objects.collect() })
    }

    async fn up(&self, db: &Db) -> Result<Report, MigrateError> {
        let tx = db.begin_maintenance().await?;
        tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        tx.batch(include_str!("sql/migrate/bookkeeping.sql")).await?;
        let status = self.compare(&tx).await?;
        if status.is_current() {
            tx.rollback().await?;
            return Ok(Report::default());
        }
        let pending = self.migrations.iter().filter(|migration| status.pending.contains(&migration.name));
        for migration in pending {
            migration.apply(&tx).await?;
        }
        // dropping one may take others with it, and a migration may have dropped any
        for object in &self.objects {
            object.make(&tx).await?;
        }
        tx.commit().await?;
        Ok(Report { applied: status.pending, objects: self.objects.iter().map(|object| object.name.clone()).collect() })
    }

    async fn status(&self, db: &Db) -> Result<Status, MigrateError> {
        let client = db.maintenance_client().await?;
        let books = client.query_one("SELECT to_regclass('schema_objects') IS NOT NULL", &[]).await?;
        if books.get(0) {
            return self.compare(&client).await;
        }
        self.against(Vec::new(), &BTreeMap::new())
    }

    async fn compare(&self, client: &Client) -> Result<Status, MigrateError> {
        let rows = client.query(include_str!("sql/migrate/applied.sql"), &[]).await?;
        let applied = rows.iter().map(|row| Applied {
            version: row.get("version"),
            name: row.get("name"),
            applied_at: row.get("applied_at"),
            checksum: row.get("checksum"),
        });
        let rows = client.query("SELECT name, checksum FROM schema_objects", &[]).await?;
        let made = rows.iter().map(|row| (row.get("name"), row.get("checksum"))).collect();
        self.against(applied.collect(), &made)
    }

    /// The rule itself: `made` holds the checksums of the objects by name.
    fn against(&self, applied: Vec<Applied>, made: &BTreeMap<String, String>) -> Result<Status, MigrateError> {
        for done in &applied {
            let Some(file) = self.migrations.iter().find(|migration| migration.version == done.version) else {
                return Err(MigrateError::Unknown(done.name.clone()));
            };
            if checksum(&file.sql) != done.checksum {
                return Err(MigrateError::Changed(file.name.clone()));
            }
        }
        let is_pending = |version: i32| applied.iter().all(|done| done.version != version);
        let pending = self.migrations.iter().filter(|migration| is_pending(migration.version));
        let pending = pending.map(|migration| migration.name.clone()).collect();
        let differs = |object: &&Object| made.get(&object.name) != Some(&checksum(&object.sql));
        let objects = self.objects.iter().filter(differs).map(|object| object.name.clone()).collect();
        Ok(Status { applied, pending, objects })
    }
}

impl Migration {
    fn new((name, sql): (&str, &str)) -> Result<Migration, MigrateError> {
        let bad = || MigrateError::BadName(name.to_owned());
        let (number, _) = name.split_once('_').ok_or_else(bad)?;
        let version = number.parse().map_err(|_| bad())?;
        Ok(Migration { version, name: name.to_owned(), sql: sql.to_owned() })
    }

    async fn apply(&self, tx: &Client) -> Result<(), MigrateError> {
        tx.batch(&self.sql).await.map_err(|source| MigrateError::Failed { name: self.name.clone(), source })?;
        let note = include_str!("sql/migrate/note_migration.sql");
        tx.execute(note, &[&self.version, &self.name, &checksum(&self.sql)]).await?;
        Ok(())
    }
}

impl Object {
    async fn make(&self, tx: &Client) -> Result<(), MigrateError> {
        tx.batch(&self.sql).await.map_err(|source| MigrateError::Failed { name: self.name.clone(), source })?;
        tx.execute(include_str!("sql/migrate/note_object.sql"), &[&self.name, &checksum(&self.sql)]).await?;
        Ok(())
    }
}

/// The same on every checkout, whatever its line endings.
fn checksum(sql: &str) -> String {
    Sha256::digest(sql.replace("\r\n", "\n")).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: (&str, &str) = ("0001_first", "CREATE TABLE a ()");
    const THIRD: (&str, &str) = ("0003_third", "CREATE TABLE c ()");

    fn applied((name, sql): (&str, &str)) -> Applied {
        let version = Migration::new((name, sql)).unwrap().version;
        Applied { version, name: name.to_owned(), applied_at: DateTime::UNIX_EPOCH, checksum: checksum(sql) }
    }

    #[test]
    fn a_migration_that_landed_late_is_pending_too() {
        let files = Files::new(&[FIRST, ("0002_second", ""), THIRD], &[]).unwrap();
        let status = files.against(vec![applied(FIRST), applied(THIRD)], &BTreeMap::new()).unwrap();
        assert_eq!(status.pending, ["0002_second"]);
    }

    #[test]
    fn an_applied_migration_without_a_file_is_refused_wherever_it_stands() {
        let files = Files::new(&[THIRD], &[]).unwrap();
        let error = files.against(vec![applied(FIRST)], &BTreeMap::new()).unwrap_err();
        assert!(matches!(error, MigrateError::Unknown(name) if name == FIRST.0));
    }

    #[test]
    fn line_endings_change_no_checksum() {
        assert_eq!(checksum("a;\r\nb;\r\n"), checksum("a;\nb;\n"));
        assert_ne!(checksum("a;"), checksum("b;"));
    }

    #[test]
    fn names_are_a_number_and_a_subject_and_numbers_are_unique() {
        for bad in ["first", "x_first", "0001"] {
            assert!(matches!(Files::new(&[(bad, "")], &[]), Err(MigrateError::BadName(name)) if name == bad));
        }
        let twins = Files::new(&[FIRST, ("1_again", "")], &[]);
        assert!(matches!(twins, Err(MigrateError::BadName(name)) if name == "1_again"));
    }

    #[test]
    fn the_files_of_this_program_are_in_order() {
        let files = Files::embedded().unwrap();
        assert!(!files.migrations.is_empty() && !files.objects.is_empty());
        assert!(files.migrations.is_sorted_by_key(|migration| migration.version));
    }
}
